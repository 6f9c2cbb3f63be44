//! The header as JSON, byte for byte as the reference writes it.

use super::spec::{MetadataPair, TensorSpec};
use crate::header::text::{MAX_DIGITS, Text, spell};
use crate::raw;

/// What takes the bytes of a header. One walk feeds all of them, so that what is counted is what is
/// written.
pub(crate) trait Put {
    fn put(&mut self, bytes: &[u8]);
}

/// Counts.
#[derive(Default)]
pub(crate) struct Counter(pub(crate) u64);

impl Put for Counter {
    fn put(&mut self, bytes: &[u8]) {
        self.0 = self.0.saturating_add(raw::wide(bytes.len()));
    }
}

/// Fills a buffer from its beginning; what has no room is left out.
pub(crate) struct Filler<'to>(pub(crate) &'to mut [u8]);

impl Filler<'_> {
    /// The room that is left.
    pub(super) const fn left(&self) -> usize {
        self.0.len()
    }
}

impl Put for Filler<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let room = core::mem::take(&mut self.0);
        let (to, rest) = room.split_at_mut_checked(bytes.len()).unwrap_or_default();
        to.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.0 = rest;
    }
}

/// Writes the header's object, without what pads it.
pub(super) fn header(
    tensors: &[TensorSpec<'_>],
    metadata: Option<&[MetadataPair<'_>]>,
    sink: &mut impl Put,
) {
    sink.put(b"{");
    let mut separator: &[u8] = b"";
    if let Some(pairs) = metadata {
        sink.put(b"\"__metadata__\":{");
        for pair in pairs {
            sink.put(separator);
            string(&pair.key, sink);
            sink.put(b":");
            string(&pair.value, sink);
            separator = b",";
        }
        sink.put(b"}");
        separator = b",";
    }
    for tensor in tensors {
        sink.put(separator);
        string(&tensor.name(), sink);
        sink.put(b":{\"dtype\":\"");
        sink.put(tensor.dtype().name().as_bytes());
        sink.put(b"\",\"shape\":[");
        let mut comma: &[u8] = b"";
        tensor.shape().each(|dim| {
            sink.put(comma);
            number(dim, sink);
            comma = b",";
        });
        sink.put(b"],\"data_offsets\":[");
        let (begin, end) = tensor.data_offsets();
        number(begin, sink);
        sink.put(b",");
        number(end, sink);
        sink.put(b"]}");
        separator = b",";
    }
    sink.put(b"}");
}

fn number(number: u64, sink: &mut impl Put) {
    sink.put(spell(number, 10, &mut [0; MAX_DIGITS]));
}

/// A string in quotes, with those escapes that JSON demands, spelled as serde_json does.
pub(crate) fn string(text: &Text<'_>, sink: &mut impl Put) {
    sink.put(b"\"");
    match text.as_plain() {
        Some(plain) if plain.iter().all(|byte| short_escape(*byte).is_none()) => sink.put(plain),
        _ => {
            let mut bytes = text.bytes();
            while let Some(byte) = bytes.next() {
                match short_escape(byte) {
                    None => sink.put(&[byte]),
                    Some(b'u') => {
                        sink.put(b"\\u00");
                        sink.put(&[hex(byte >> 4), hex(byte & 0xf)]);
                    }
                    Some(letter) => sink.put(&[b'\\', letter]),
                }
            }
        }
    }
    sink.put(b"\"");
}

/// The character behind the backslash, if this one must be escaped.
const fn short_escape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        0..=0x1f => b'u',
        _ => return None,
    })
}

const fn hex(digit: u8) -> u8 {
    raw::byte(b"0123456789abcdef", raw::small(digit))
}
