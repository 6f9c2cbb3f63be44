//! The description of a tensor: dtype, shape and data_offsets, each by itself and together.

use super::entry::{key, text};
use super::scan::{Cursor, tri};
use super::text::Text;
use crate::layout::{self, ElementCount};
use crate::raw::{self, FAST};
use crate::{Dtype, ErrorKind};

/// The description of a tensor, with the places where errors are reported.
pub(crate) struct Description {
    pub(crate) dtype: Dtype,
    pub(crate) shape: ShapeValue,
    pub(crate) offsets: Offsets,
}

#[derive(Clone, Copy)]
pub(crate) struct ShapeValue {
    /// Behind the opening bracket.
    pub(crate) at: usize,
    count: ElementCount,
}

#[derive(Clone, Copy)]
pub(crate) struct Offsets {
    /// At the opening bracket.
    pub(crate) at: usize,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Takes the description of a tensor and checks it. An error comes with its number.
#[inline(always)]
pub(crate) const fn description(cursor: &mut Cursor<'_>) -> Result<Description, (ErrorKind, u64)> {
    let description = match usual(cursor) {
        Some(description) => description,
        None => tri!(any(cursor)),
    };
    let Description { dtype, shape, offsets } = description;
    let size = match shape.count.bytes(dtype) {
        Ok(size) => size,
        Err(error) => {
            cursor.at = shape.at;
            return Err(error);
        }
    };
    let data_start = raw::wide(cursor.bytes.len());
    if let Err(kind) = layout::check_offsets(offsets.begin, offsets.end, size, data_start) {
        cursor.at = offsets.at;
        let number = if let ErrorKind::SizeMismatch = kind { size } else { 0 };
        return Err((kind, number));
    }
    Ok(description)
}

/// Takes a description that is spelled as every known writer does, without white space and with
/// the fields in this order; otherwise `None`, and the cursor stays. It saves most of the work of
/// [`any`], but not on small machines, where its size counts more.
#[inline(always)]
const fn usual(cursor: &mut Cursor<'_>) -> Option<Description> {
    if !FAST {
        return None;
    }
    let mut ahead = *cursor;
    if !ahead.take(b"{\"dtype\":") {
        return None;
    }
    let Ok(dtype) = dtype_value(&mut ahead) else {
        return None;
    };
    if !ahead.take(b",\"shape\":[") {
        return None;
    }
    let mut shape = ShapeValue { at: ahead.at, count: ElementCount::ONE };
    if !ahead.take(b"]") {
        loop {
            let Some(dim) = ahead.short_unsigned() else {
                return None;
            };
            let Ok(count) = shape.count.times(dim) else {
                return None;
            };
            shape.count = count;
            if !ahead.take(b",") {
                break;
            }
        }
        if !ahead.take(b"]") {
            return None;
        }
    }
    if !ahead.take(b",\"data_offsets\":[") {
        return None;
    }
    let at = ahead.at.wrapping_sub(1);
    let Some(begin) = ahead.short_unsigned() else {
        return None;
    };
    if !ahead.take(b",") {
        return None;
    }
    let Some(end) = ahead.short_unsigned() else {
        return None;
    };
    if !ahead.take(b"]}") {
        return None;
    }
    *cursor = ahead;
    Some(Description { dtype, shape, offsets: Offsets { at, begin, end } })
}

/// Takes a description, whatever the order of its fields and however it is spelled.
const fn any(cursor: &mut Cursor<'_>) -> Result<Description, (ErrorKind, u64)> {
    /// `tri!` for errors without a number.
    macro_rules! plain {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(kind) => return Err((kind, 0)),
            }
        };
    }
    plain!(cursor.expect(b'{', ErrorKind::TensorNotObject));
    let (mut dtype, mut shape, mut offsets) = (None, None, None);
    let mut first = true;
    while plain!(cursor.next_key(first)) {
        first = false;
        let start = cursor.at;
        let twice = match plain!(field(cursor)) {
            Field::Dtype => dtype.replace(plain!(dtype_value(cursor))).is_some(),
            Field::Shape => shape.replace(plain!(shape_value(cursor))).is_some(),
            Field::Offsets => offsets.replace(plain!(offsets_value(cursor))).is_some(),
            Field::Unknown => {
                plain!(cursor.skip_value(2));
                false
            }
        };
        if twice {
            cursor.at = start;
            return Err((ErrorKind::DuplicateField, 0));
        }
    }
    let missing = match (dtype, shape, offsets) {
        (Some(dtype), Some(shape), Some(offsets)) => {
            return Ok(Description { dtype, shape, offsets });
        }
        (None, _, _) => 0,
        (_, None, _) => 1,
        _ => 2,
    };
    // Reported at the bracket that ends the description without the field.
    cursor.at = cursor.at.wrapping_sub(1);
    Err((ErrorKind::MissingField, missing))
}

/// A field of a tensor's description.
enum Field {
    Dtype,
    Shape,
    Offsets,
    Unknown,
}

/// Takes a field's key and the colon.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn field(cursor: &mut Cursor<'_>) -> Result<Field, ErrorKind> {
    // Almost always a field is spelled plainly: then it is known without walking its letters.
    let (field, len) = if raw::starts_with(cursor.bytes, cursor.at, b"dtype\"") {
        (Field::Dtype, 6)
    } else if raw::starts_with(cursor.bytes, cursor.at, b"shape\"") {
        (Field::Shape, 6)
    } else if raw::starts_with(cursor.bytes, cursor.at, b"data_offsets\"") {
        (Field::Offsets, 13)
    } else {
        return rare_field(cursor);
    };
    cursor.advance(len);
    tri!(cursor.expect(b':', ErrorKind::ExpectedColon));
    Ok(field)
}

/// [`field`] for one that is unknown or spelled with escapes.
const fn rare_field(cursor: &mut Cursor<'_>) -> Result<Field, ErrorKind> {
    let key = tri!(key(cursor));
    if key.as_plain().is_none() {
        if key.is("dtype") {
            return Ok(Field::Dtype);
        } else if key.is("shape") {
            return Ok(Field::Shape);
        } else if key.is("data_offsets") {
            return Ok(Field::Offsets);
        }
    }
    Ok(Field::Unknown)
}

#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn dtype_value(cursor: &mut Cursor<'_>) -> Result<Dtype, ErrorKind> {
    tri!(cursor.expect(b'"', ErrorKind::DtypeNotString));
    let start = cursor.at;
    let name = tri!(text(cursor));
    let dtype = match name.as_plain() {
        Some(plain) => Dtype::from_bytes(plain),
        None => dtype_escaped(name),
    };
    match dtype {
        Some(dtype) => Ok(dtype),
        None => {
            cursor.at = start;
            Err(ErrorKind::UnknownDtype)
        }
    }
}

const fn dtype_escaped(name: Text<'_>) -> Option<Dtype> {
    let mut rest = Dtype::ALL;
    while let Some((dtype, others)) = rest.split_first() {
        if name.is(dtype.name()) {
            return Some(*dtype);
        }
        rest = others;
    }
    None
}

/// Takes a shape.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn shape_value(cursor: &mut Cursor<'_>) -> Result<ShapeValue, ErrorKind> {
    tri!(cursor.expect(b'[', ErrorKind::ShapeNotArray));
    let at = cursor.at;
    let mut count = ElementCount::ONE;
    let mut first = true;
    while tri!(cursor.next_item(first, b']')) {
        first = false;
        let dim = cursor.at;
        count = match count.times(tri!(cursor.unsigned())) {
            Ok(count) => count,
            Err(kind) => {
                cursor.at = dim;
                return Err(kind);
            }
        };
    }
    Ok(ShapeValue { at, count })
}

/// Takes `data_offsets`.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn offsets_value(cursor: &mut Cursor<'_>) -> Result<Offsets, ErrorKind> {
    let byte = cursor.skip_space();
    let at = cursor.at;
    if byte != b'[' {
        return cursor.fail(ErrorKind::OffsetsNotPair);
    }
    cursor.advance(1);
    if cursor.skip_space() == b']' {
        return Err(ErrorKind::OffsetsNotPair);
    }
    let begin = tri!(cursor.unsigned());
    tri!(cursor.expect(b',', ErrorKind::OffsetsNotPair));
    cursor.skip_space();
    let end = tri!(cursor.unsigned());
    tri!(cursor.expect(b']', ErrorKind::OffsetsNotPair));
    Ok(Offsets { at, begin, end })
}
