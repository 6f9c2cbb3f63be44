//! JSON that users keep inside of metadata values, as their own types.
//!
//! serde-json-core does the work. It is made for text that one has written oneself, so nothing gets
//! to it before the scanner has checked it, escapes are resolved beforehand, and a guard stands
//! between it and the types.

mod guard;
mod measure;

use core::str;

use serde::{Deserialize, Serialize};
use serde_json_core::de::Deserializer;

use crate::header::scan::{self, Cursor, MAX_DEPTH};
use crate::header::text::Text;
use crate::{Error, ErrorKind, raw};
use guard::Guard;
use measure::measure;

/// The deepest nesting of arrays and objects in a value: types are decoded by recursion.
const DEPTH: u8 = 16;

impl Text<'_> {
    /// The value that this text, most likely a metadata value, spells as JSON.
    ///
    /// ```
    /// use safetensors_core::Header;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Quantization<'a> {
    ///     scheme: &'a str,
    ///     scale: f32,
    ///     zero_point: i8,
    /// }
    ///
    /// # let header = r#"{"__metadata__":{
    /// #     "quantization":"{\"scheme\":\"per-tensor\",\"scale\":0.125,\"zero_point\":-3}"
    /// # }}"#;
    /// # let mut file = (header.len() as u64).to_le_bytes().to_vec();
    /// # file.extend_from_slice(header.as_bytes());
    /// // "quantization": "{\"scheme\":\"per-tensor\",\"scale\":0.125,\"zero_point\":-3}"
    /// let text = Header::read(&file)?.metadata().unwrap().value("quantization").unwrap();
    /// let mut scratch = [0; 128];
    /// let found: Quantization<'_> = text.decode_json(&mut scratch)?;
    /// assert_eq!((found.scheme, found.scale, found.zero_point), ("per-tensor", 0.125, -3));
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// `scratch` must hold the text. Strings are borrowed from it, their escapes resolved, except
    /// for those that contain a quote or a backslash: they need room of their own behind the text,
    /// as much as the longest of them takes, and can't be borrowed. A field that may be such a
    /// string must be of a type that owns its text, as `heapless::String` does.
    ///
    /// The JSON is checked by the rules of the header, also what the type ignores, and may be
    /// nested 16 deep. Beyond that:
    /// - A number that a float can't hold, and `null` for a float, are refused; they don't become
    ///   infinite or NaN.
    /// - `-0` is 0 for a signed integer.
    /// - Keys of a map may be strings, variants of an enum, and integers (in quotes, as JSON demands).
    /// - Types that ask what is there (untagged enums, `serde_json::Value`), and bytes, are not
    ///   supported.
    ///
    /// # Errors
    /// [`ErrorKind::BufferTooSmall`], with the bytes needed as its number; what is behind the text
    /// is counted once there is room for the text itself. The errors of the JSON grammar, from
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) to
    /// [`TrailingCharacters`](ErrorKind::TrailingCharacters), and
    /// [`JsonTooDeep`](ErrorKind::JsonTooDeep), at a byte of the unescaped text (so
    /// [`Error::display`] knows no name for it). [`ErrorKind::JsonMismatch`] if the value does not
    /// fit the type.
    pub fn decode_json<'a, T: Deserialize<'a>>(&self, scratch: &'a mut [u8]) -> Result<T, Error> {
        let len = self.decode_into(scratch)?.len();
        let (text, _) = scratch.split_at_mut_checked(len).unwrap_or_default();
        check(text)?;
        let resolved = resolve_escapes(text);
        let (json, room) = scratch.split_at_mut_checked(resolved.len).unwrap_or_default();
        if room.len() < resolved.longest_escaped {
            let needed = resolved.len.saturating_add(resolved.longest_escaped);
            return Err(Error::new(ErrorKind::BufferTooSmall, 0, raw::wide(needed)));
        }
        let mut deserializer = Deserializer::new(json, Some(room));
        let value = T::deserialize(Guard(&mut deserializer));
        match (value, deserializer.end()) {
            (Ok(value), Ok(_)) => Ok(value),
            // Neither tells where.
            _ => Err(Error::new(ErrorKind::JsonMismatch, 0, 0)),
        }
    }
}

/// Writes `value` as JSON into `to`, without white space, to be kept in a metadata value; the
/// opposite of [`Text::decode_json`].
///
/// ```
/// use safetensors_core::{MetadataPair, encode_json};
/// use serde::Serialize;
///
/// #[derive(Serialize)]
/// struct Labels<'a> {
///     labels: [&'a str; 2],
///     threshold: f32,
/// }
///
/// let labels = Labels { labels: ["cat", "\"dog\""], threshold: 0.5 };
/// let json = encode_json(&labels, &mut [0; 64])?.to_owned();
/// assert_eq!(json, r#"{"labels":["cat","\"dog\""],"threshold":0.5}"#);
/// // For a file that is written; `Editor::set_metadata` puts it into one that is there.
/// let pair = MetadataPair::new("labels", &*json);
/// # Ok::<(), safetensors_core::Error>(())
/// ```
///
/// The value is serialized twice: to measure it, then to write it.
///
/// # Errors
/// [`ErrorKind::BufferTooSmall`], with the bytes needed as its number. [`ErrorKind::NotJson`] for
/// what JSON, or serde-json-core, has no form for: a float that is not finite, a map key that is
/// neither a string nor a variant of an enum, bytes, a `char`, a variant with several unnamed
/// fields, integers of 128 bits, names (of fields, and of variants with fields) that would need
/// escapes, and what is nested more than 16 deep, which [`Text::decode_json`] does not admit.
pub fn encode_json<'a, T: Serialize + ?Sized>(
    value: &T,
    to: &'a mut [u8],
) -> Result<&'a str, Error> {
    let Some(len) = measure(value) else {
        return Err(Error::new(ErrorKind::NotJson, 0, 0));
    };
    let Some((to, _)) = to.split_at_mut_checked(len) else {
        return Err(Error::new(ErrorKind::BufferTooSmall, 0, raw::wide(len)));
    };
    match (serde_json_core::to_slice(value, to), str::from_utf8(to)) {
        (Ok(written), Ok(json)) if written == len => Ok(json),
        // A type that serializes itself in another way each time.
        _ => Err(Error::new(ErrorKind::NotJson, 0, 0)),
    }
}

/// Whether `text` is JSON, and not nested too deep to be decoded by recursion.
fn check(text: &[u8]) -> Result<(), Error> {
    let mut cursor = Cursor::new(text, 0);
    let checked = cursor.skip_value(MAX_DEPTH.saturating_sub(DEPTH)).and_then(|()| {
        cursor.skip_space();
        if cursor.at < text.len() { Err(ErrorKind::TrailingCharacters) } else { Ok(()) }
    });
    checked.map_err(|kind| {
        let kind = if kind == ErrorKind::NestingTooDeep { ErrorKind::JsonTooDeep } else { kind };
        Error::new(kind, raw::wide(cursor.at), 0)
    })
}

/// What [`resolve_escapes`] left of a text.
struct Resolved {
    len: usize,
    /// The length of the longest string in which there are still escapes, once these are resolved.
    longest_escaped: usize,
}

/// Resolves the escapes in checked JSON, which makes it shorter, but for two: a quote and a
/// backslash keep one before them, so that strings end where they did. serde-json-core takes every
/// other character as it is, control characters too.
fn resolve_escapes(json: &mut [u8]) -> Resolved {
    let mut resolved = Resolved { len: 0, longest_escaped: 0 };
    let (mut string_len, mut escapes) = (0_usize, false);
    let mut from: usize = 0;
    while from < json.len() {
        let byte = raw::byte(json, from);
        if byte == b'\\' {
            let (character, rest) = scan::unescape(raw::range(json, from, json.len()));
            from = json.len().saturating_sub(rest.len());
            if matches!(character, '"' | '\\') {
                escapes = true;
                resolved.push(json, byte);
            }
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                string_len = string_len.saturating_add(1);
                resolved.push(json, byte);
            }
            continue;
        }
        from = from.saturating_add(1);
        resolved.push(json, byte);
        string_len = string_len.saturating_add(1);
        if byte == b'"' {
            // A string begins or ends; what stands between strings has no escapes.
            if escapes {
                resolved.longest_escaped =
                    resolved.longest_escaped.max(string_len.saturating_sub(1));
            }
            (string_len, escapes) = (0, false);
        }
    }
    resolved
}

impl Resolved {
    /// Writes where there is nothing left to read.
    fn push(&mut self, json: &mut [u8], byte: u8) {
        if let Some(to) = json.get_mut(self.len) {
            *to = byte;
        }
        self.len = self.len.saturating_add(1);
    }
}
