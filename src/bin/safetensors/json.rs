//! JSON that is written as it is made, and is safe to look at in a terminal.

use std::io::{self, Write};

use safetensors_core::{Metadata, Shape, Text};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::ser::Formatter;

use crate::shown;

/// Writes `value` and a line end.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, Visible))?;
    out.write_all(b"\n")
}

/// Compact JSON in which everything is an escape sequence that a terminal would act upon.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if shown::is_visible(character) {
                write!(writer, "{character}")?;
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// For fields that hold a [`Text`].
pub(crate) fn text<S: Serializer>(text: &Text<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(text)
}

/// For fields that may hold a [`Text`].
pub(crate) fn optional_text<S: Serializer>(
    text: &Option<Text<'_>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => serializer.collect_str(text),
        None => serializer.serialize_none(),
    }
}

/// For fields that hold a [`Shape`].
pub(crate) fn shape<S: Serializer>(shape: &Shape<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(shape)
}

/// For fields that may hold [`Metadata`]: an object with the keys in the order of the file.
pub(crate) fn metadata<S: Serializer>(
    metadata: &Option<Metadata<'_>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(metadata) = metadata else {
        return serializer.serialize_none();
    };
    let mut map = serializer.serialize_map(None)?;
    for (key, value) in metadata {
        map.serialize_entry(&Displayed(key), &Displayed(value))?;
    }
    map.end()
}

/// The pairs alone, none if there is no metadata.
pub(crate) struct Pairs<'data>(pub(crate) Option<Metadata<'data>>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_map(Some(0))?.end(),
            metadata => self::metadata(&metadata, serializer),
        }
    }
}

/// A text as a key or a value of its own.
pub(crate) struct Displayed<'data>(pub(crate) Text<'data>);

impl Serialize for Displayed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
