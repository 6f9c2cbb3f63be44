//! What a header says of one tensor.

use core::fmt;
use core::ops::Range;

use super::description::RawTensor;
use super::scan::Cursor;
use super::text::Text;
use crate::digits::Decimal;
use crate::{Dtype, Shape, Slot, raw};

/// What a header says of a tensor.
#[derive(Clone, Copy)]
pub struct TensorInfo<'data> {
    name: Text<'data>,
    dtype: Dtype,
    shape: Shape<'data>,
    begin: u64,
    end: u64,
    data_start: u64,
}

impl<'data> TensorInfo<'data> {
    pub(crate) const fn new(bytes: &'data [u8], tensor: &RawTensor<'data>) -> Self {
        Self {
            name: tensor.name,
            dtype: tensor.dtype,
            shape: Shape::new(Cursor::new(bytes, tensor.shape)),
            begin: tensor.begin,
            end: tensor.end,
            data_start: raw::wide(bytes.len()),
        }
    }

    /// The tensor that `slot` points to, `bytes` being the header that it was made from.
    pub(crate) const fn from_slot(bytes: &'data [u8], slot: &Slot) -> Self {
        Self {
            name: slot.name(bytes),
            dtype: slot.dtype,
            shape: Shape::new(Cursor::new(bytes, raw::index(slot.shape))),
            begin: slot.begin,
            end: slot.end,
            data_start: raw::wide(bytes.len()),
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> Text<'data> {
        self.name
    }

    /// Where in the file the shape is described.
    pub(crate) const fn place(&self) -> u64 {
        raw::wide(self.shape.place())
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The dimensions.
    #[must_use]
    pub const fn shape(&self) -> Shape<'data> {
        self.shape
    }

    /// Where the data begins and ends, in bytes from the start of the data section, as the header
    /// has it.
    #[must_use]
    pub const fn data_offsets(&self) -> (u64, u64) {
        (self.begin, self.end)
    }

    /// Where the data stands, in bytes from the start of the file.
    #[must_use]
    pub const fn byte_range(&self) -> Range<u64> {
        self.data_start.wrapping_add(self.begin)..self.data_start.wrapping_add(self.end)
    }

    /// The length of the data in bytes.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.end.wrapping_sub(self.begin)
    }
}

impl fmt::Debug for TensorInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TensorInfo { name: ")?;
        fmt::Debug::fmt(&self.name, f)?;
        f.write_str(", dtype: ")?;
        f.write_str(self.dtype.name())?;
        f.write_str(", shape: ")?;
        fmt::Display::fmt(&self.shape, f)?;
        f.write_str(", data_offsets: [")?;
        Decimal(self.begin).fmt(f)?;
        f.write_str(", ")?;
        Decimal(self.end).fmt(f)?;
        f.write_str("] }")
    }
}
