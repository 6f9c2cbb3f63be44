//! The memory for one tensor.

use core::fmt;

use crate::Dtype;
use crate::header::description::RawTensor;
use crate::header::entry;
use crate::header::text::Text;
use crate::raw::{self, FAST};

/// Memory for one tensor, given by the caller of a parse and filled by it.
///
/// A slot holds positions in the header and offsets, and borrows nothing, so it can lie in an
/// array, in a `Vec`, or in a `const`.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Where the name stands, behind its opening quote.
    pub(crate) name: u32,
    /// Where the first dimension stands, behind the opening bracket.
    pub(crate) shape: u32,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Of the name.
    pub(crate) hash: u32,
    /// The head of a chain of the index by name.
    pub(crate) bucket: u32,
    /// The next of a chain, or an item of the sorted index.
    pub(crate) item: u32,
    pub(crate) dtype: Dtype,
    /// The length of the name, little-endian; [`Slot::LONG`] if that is no answer.
    name_len: [u8; 3],
}

impl Slot {
    /// A slot that nothing was put in.
    pub const EMPTY: Self = Self {
        name: 0,
        shape: 0,
        begin: 0,
        end: 0,
        hash: 0,
        bucket: 0,
        item: 0,
        dtype: Dtype::BOOL,
        name_len: [0; 3],
    };

    /// Stands for a name that is scanned again: it has escapes, its length does not fit, or the
    /// machine is small.
    const LONG: u32 = 0xff_ffff;

    /// Makes this the slot of a tensor.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn set_tensor(&mut self, tensor: &RawTensor<'_>) {
        self.set_key(tensor.name_at, tensor.name);
        self.shape = raw::position(tensor.shape);
        self.begin = tensor.begin;
        self.end = tensor.end;
        self.dtype = tensor.dtype;
    }

    /// Makes this the slot of the string `text` at `at`.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) const fn set_key(&mut self, at: usize, text: Text<'_>) {
        self.name = raw::position(at);
        let len = match text.as_plain() {
            Some(plain) if FAST && plain.len() < raw::index(Self::LONG) => {
                raw::position(plain.len())
            }
            _ => Self::LONG,
        };
        let [a, b, c, _] = len.to_le_bytes();
        self.name_len = [a, b, c];
        self.hash = text.hash();
        self.bucket = 0;
    }

    /// The name, `bytes` being the header that the slot was made from.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn name<'data>(&self, bytes: &'data [u8]) -> Text<'data> {
        let start = raw::index(self.name);
        let [a, b, c] = self.name_len;
        let len = u32::from_le_bytes([a, b, c, 0]);
        if !FAST || len == Self::LONG {
            return entry::text_at(bytes, start);
        }
        let len = raw::index(len);
        Text::new(raw::range(bytes, start, start.wrapping_add(len)), false)
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot { .. }")
    }
}
