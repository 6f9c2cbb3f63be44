//! The header as JSON, byte for byte as the reference writes it.

use core::slice;

use super::spec::{MetadataPair, SpecDims, TensorSpec};
use crate::digits::{MAX_DIGITS, hex, spell};
use crate::header::text::Text;
use crate::{Dtype, raw};

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
    pub(super) fn put_zeros(&mut self, count: u64) {
        let room = core::mem::take(&mut self.0);
        let count = raw::size(count).unwrap_or(usize::MAX);
        let (to, rest) = room.split_at_mut_checked(count).unwrap_or_default();
        to.fill(0);
        self.0 = rest;
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
    let mut crumbs = Crumbs::new(tensors, metadata);
    while let Some(text) = crumbs.put_next(sink) {
        if let Some(text) = text {
            string(&text, sink);
        }
    }
}

/// A header in crumbs, which can be left and taken up between any two of them.
pub(super) struct Crumbs<'p> {
    step: Step,
    /// What stands before the next entry.
    separator: &'static [u8],
    pairs: slice::Iter<'p, MetadataPair<'p>>,
    /// The value of the pair.
    value: Text<'p>,
    tensors: slice::Iter<'p, TensorSpec<'p>>,
    /// Of the tensor: the dimensions to come and what stands before the next one, dtype and place.
    dims: SpecDims<'p>,
    comma: &'static [u8],
    dtype: Dtype,
    place: (u64, u64),
}

/// What comes next.
#[derive(Clone, Copy)]
enum Step {
    OpenMetadata,
    Open,
    Key,
    Value,
    Name,
    Dtype,
    Dim,
    End,
    Done,
}

impl<'p> Crumbs<'p> {
    pub(super) fn new(
        tensors: &'p [TensorSpec<'p>],
        metadata: Option<&'p [MetadataPair<'p>]>,
    ) -> Self {
        Self {
            step: if metadata.is_some() { Step::OpenMetadata } else { Step::Open },
            separator: b"",
            pairs: metadata.unwrap_or_default().iter(),
            value: Text::from(""),
            tensors: tensors.iter(),
            dims: SpecDims::U64([].iter()),
            comma: b"",
            dtype: Dtype::BOOL,
            place: (0, 0),
        }
    }

    /// Puts the next few bytes, at most [`LONGEST_CRUMB`]; a text that is returned comes behind them,
    /// in quotes. `None` at the end.
    #[inline(always)]
    pub(super) fn put_next(&mut self, sink: &mut impl Put) -> Option<Option<Text<'p>>> {
        let mut text = None;
        self.step = match self.step {
            Step::OpenMetadata => {
                sink.put(b"{\"__metadata__\":{");
                Step::Key
            }
            Step::Open => {
                sink.put(b"{");
                Step::Name
            }
            Step::Key => match self.pairs.next() {
                Some(pair) => {
                    sink.put(core::mem::replace(&mut self.separator, b","));
                    text = Some(pair.key);
                    self.value = pair.value;
                    Step::Value
                }
                None => {
                    sink.put(b"}");
                    self.separator = b",";
                    Step::Name
                }
            },
            Step::Value => {
                sink.put(b":");
                text = Some(self.value);
                Step::Key
            }
            Step::Name => match self.tensors.next() {
                Some(tensor) => {
                    sink.put(core::mem::replace(&mut self.separator, b","));
                    text = Some(tensor.name());
                    (self.dims, self.comma) = (tensor.shape().iter(), b"");
                    (self.dtype, self.place) = (tensor.dtype(), tensor.data_offsets());
                    Step::Dtype
                }
                None => {
                    sink.put(b"}");
                    Step::Done
                }
            },
            Step::Dtype => {
                sink.put(b":{\"dtype\":\"");
                sink.put(self.dtype.name().as_bytes());
                sink.put(b"\",\"shape\":[");
                Step::Dim
            }
            Step::Dim => match self.dims.next() {
                Some(dim) => {
                    sink.put(core::mem::replace(&mut self.comma, b","));
                    number(dim, sink);
                    Step::Dim
                }
                None => {
                    sink.put(b"],\"data_offsets\":[");
                    number(self.place.0, sink);
                    Step::End
                }
            },
            Step::End => {
                sink.put(b",");
                number(self.place.1, sink);
                sink.put(b"]}");
                Step::Name
            }
            Step::Done => return None,
        };
        Some(text)
    }
}

/// The beginning of the offsets and a number.
pub(super) const LONGEST_CRUMB: usize = 18 + MAX_DIGITS;

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
                character(byte, sink);
            }
        }
    }
    sink.put(b"\"");
}

/// A byte of a string, escaped if it must be.
pub(super) fn character(byte: u8, sink: &mut impl Put) {
    match short_escape(byte) {
        None => sink.put(&[byte]),
        Some(b'u') => sink.put(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 0xf)]),
        Some(letter) => sink.put(&[b'\\', letter]),
    }
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
