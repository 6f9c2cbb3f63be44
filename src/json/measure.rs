//! How long a value is as JSON, and whether serde-json-core may be asked to write it: it panics at
//! some types, and writes others so that nobody can read them again.

use core::fmt::{self, Display, Write};

use serde::Serialize;
use serde::ser::{
    Error, Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, Serializer,
};

use super::DEPTH;
use crate::ErrorKind;

/// How many bytes serde-json-core will write; `None` if it may not be asked to.
pub(super) fn measure<T: Serialize + ?Sized>(value: &T) -> Option<usize> {
    let mut measure = Measure { len: 0, depth: 0, key: false };
    value.serialize(&mut measure).ok().map(|()| measure.len)
}

/// Counts what would be written.
struct Measure {
    len: usize,
    /// Of the arrays and objects that are open.
    depth: u8,
    /// Whether a key is due, which must be a string.
    key: bool,
}

/// The value can't be written.
#[derive(Debug)]
struct Refused;

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ErrorKind::NotJson.message())
    }
}

impl core::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: Display>(_message: T) -> Self {
        Refused
    }
}

type Measured = Result<(), Refused>;

/// The name that tells serde-json-core that a string has its escapes already.
const ESCAPED: &str = "__serde_json_core_escaped_string__";

impl Measure {
    fn add(&mut self, len: usize) {
        self.len = self.len.saturating_add(len);
    }

    /// What is not a string.
    fn plain(&mut self, len: usize) -> Measured {
        if self.key {
            return Err(Refused);
        }
        self.add(len);
        Ok(())
    }

    fn integer(&mut self, sign: usize, digits: u64) -> Measured {
        let rest = digits.checked_ilog10().and_then(|log| usize::try_from(log).ok()).unwrap_or(0);
        self.plain(rest.saturating_add(1).saturating_add(sign))
    }

    fn float(&mut self, finite: bool, value: impl Serialize) -> Measured {
        match serde_json_core::to_slice(&value, &mut [0; 32]) {
            Ok(len) if finite => self.plain(len),
            _ => Err(Refused),
        }
    }

    /// A part of a string.
    fn characters(&mut self, text: &str) {
        for byte in text.bytes() {
            self.add(match byte {
                b'"' | b'\\' | b'\x08' | b'\x0c' | b'\n' | b'\r' | b'\t' => 2,
                0..=0x1f => 6,
                _ => 1,
            });
        }
    }

    /// A name that is written as it is, and a colon.
    fn name(&mut self, name: &str) -> Measured {
        if name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
            return Err(Refused);
        }
        self.add(name.len());
        self.add("\"\":".len());
        Ok(())
    }

    fn open(&mut self) -> Measured {
        if self.depth >= DEPTH {
            return Err(Refused);
        }
        self.depth = self.depth.saturating_add(1);
        self.plain(1)
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.add(1);
    }

    fn items(&mut self) -> Result<Items<'_>, Refused> {
        self.open()?;
        Ok(Items { measure: self, first: true })
    }
}

impl<'m> Serializer for &'m mut Measure {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Items<'m>;
    type SerializeTuple = Items<'m>;
    type SerializeTupleStruct = Items<'m>;
    type SerializeTupleVariant = Impossible<(), Refused>;
    type SerializeMap = Items<'m>;
    type SerializeStruct = Items<'m>;
    type SerializeStructVariant = Items<'m>;

    fn serialize_bool(self, value: bool) -> Measured {
        self.plain(if value { "true".len() } else { "false".len() })
    }

    fn serialize_i8(self, value: i8) -> Measured {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Measured {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Measured {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Measured {
        self.integer(usize::from(value < 0), value.unsigned_abs())
    }

    fn serialize_u8(self, value: u8) -> Measured {
        self.integer(0, value.into())
    }

    fn serialize_u16(self, value: u16) -> Measured {
        self.integer(0, value.into())
    }

    fn serialize_u32(self, value: u32) -> Measured {
        self.integer(0, value.into())
    }

    fn serialize_u64(self, value: u64) -> Measured {
        self.integer(0, value)
    }

    fn serialize_f32(self, value: f32) -> Measured {
        self.float(value.is_finite(), value)
    }

    fn serialize_f64(self, value: f64) -> Measured {
        self.float(value.is_finite(), value)
    }

    /// serde-json-core panics.
    fn serialize_char(self, _value: char) -> Measured {
        Err(Refused)
    }

    fn serialize_str(self, text: &str) -> Measured {
        self.add("\"\"".len());
        self.characters(text);
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Measured {
        self.add("\"\"".len());
        fmt::write(&mut Characters(self), format_args!("{value}")).map_err(|_| Refused)
    }

    /// serde-json-core writes them as they are.
    fn serialize_bytes(self, _value: &[u8]) -> Measured {
        Err(Refused)
    }

    fn serialize_none(self) -> Measured {
        self.plain("null".len())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Measured {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Measured {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Measured {
        self.serialize_none()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Measured {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Measured {
        // Nobody checks that they are escapes.
        if name == ESCAPED { Err(Refused) } else { value.serialize(self) }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Measured {
        let mut items = self.items()?;
        items.field(variant, value)?;
        items.finish()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'m>, Refused> {
        self.items()
    }

    fn serialize_tuple(self, _len: usize) -> Result<Items<'m>, Refused> {
        self.items()
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Items<'m>, Refused> {
        self.items()
    }

    /// serde-json-core panics.
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant, Refused> {
        Err(Refused)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Items<'m>, Refused> {
        self.items()
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Items<'m>, Refused> {
        self.items()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'m>, Refused> {
        self.open()?;
        self.name(variant)?;
        self.items()
    }
}

/// Counts the characters of what is written piece by piece.
struct Characters<'m>(&'m mut Measure);

impl Write for Characters<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.characters(text);
        Ok(())
    }
}

/// An array or object that is open.
struct Items<'m> {
    measure: &'m mut Measure,
    first: bool,
}

impl Items<'_> {
    fn comma(&mut self) {
        if !self.first {
            self.measure.add(1);
        }
        self.first = false;
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Measured {
        self.comma();
        value.serialize(&mut *self.measure)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Measured {
        self.comma();
        self.measure.name(name)?;
        value.serialize(&mut *self.measure)
    }

    fn finish(self) -> Measured {
        self.measure.close();
        Ok(())
    }
}

impl SerializeSeq for Items<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Measured {
        self.item(value)
    }

    fn end(self) -> Measured {
        self.finish()
    }
}

impl SerializeTuple for Items<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Measured {
        self.item(value)
    }

    fn end(self) -> Measured {
        self.finish()
    }
}

impl SerializeTupleStruct for Items<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Measured {
        self.item(value)
    }

    fn end(self) -> Measured {
        self.finish()
    }
}

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Measured {
        self.comma();
        self.measure.key = true;
        key.serialize(&mut *self.measure)?;
        self.measure.key = false;
        self.measure.add(1);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Measured {
        value.serialize(&mut *self.measure)
    }

    fn end(self) -> Measured {
        self.finish()
    }
}

impl SerializeStruct for Items<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Measured {
        self.field(key, value)
    }

    fn end(self) -> Measured {
        self.finish()
    }
}

impl SerializeStructVariant for Items<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Measured {
        self.field(key, value)
    }

    fn end(self) -> Measured {
        self.measure.close();
        self.finish()
    }
}
