//! The only arithmetic on sizes and offsets: what a tensor needs, gaps, overlaps, coverage.
//!
//! All in 64 bits on every machine, so that a 32-bit one can judge the header of a 600 GB file.

use crate::{Dtype, ErrorKind};

/// The element count of a shape, dimension by dimension.
#[derive(Clone, Copy)]
pub(crate) struct ElementCount(u64);

impl ElementCount {
    /// That of a scalar.
    pub(crate) const ONE: Self = Self(1);

    /// Multiplies from the outermost dimension on, as the reference does: an overflow counts even
    /// when a dimension of zero follows, and can't happen when one went before.
    #[inline(always)]
    pub(crate) const fn times(self, dim: u64) -> Result<Self, ErrorKind> {
        match self.0.checked_mul(dim) {
            Some(count) => Ok(Self(count)),
            None => Err(ErrorKind::SizeOverflow),
        }
    }

    /// The bytes that as many elements of `dtype` fill; with an error the size in bits.
    #[inline(always)]
    pub(crate) const fn bytes(self, dtype: Dtype) -> Result<u64, (ErrorKind, u64)> {
        match self.0.checked_mul(dtype.bits()) {
            Some(bits) if bits % 8 == 0 => Ok(bits / 8),
            Some(bits) => Err((ErrorKind::PartialByte, bits)),
            None => Err((ErrorKind::SizeOverflow, 0)),
        }
    }
}

/// Whether `data_offsets` agree with the size in bytes, and with the data section beginning
/// `data_start` bytes into the file.
#[inline(always)]
pub(crate) const fn check_offsets(
    begin: u64,
    end: u64,
    size: u64,
    data_start: u64,
) -> Result<(), ErrorKind> {
    match end.checked_sub(begin) {
        None => Err(ErrorKind::OffsetsReversed),
        Some(len) if len != size => Err(ErrorKind::SizeMismatch),
        Some(_) => match end.checked_add(data_start) {
            Some(_) => Ok(()),
            None => Err(ErrorKind::SizeOverflow),
        },
    }
}

/// Tensors laid one behind the other, in offset order.
#[derive(Clone, Copy)]
pub(crate) struct Tiling {
    /// Where the last one ends.
    end: u64,
    gaps_allowed: bool,
}

impl Tiling {
    pub(crate) const fn new(gaps_allowed: bool) -> Self {
        Self { end: 0, gaps_allowed }
    }

    /// Lays the next tensor; the number of an error is the bytes of the gap or of the overlap.
    #[inline(always)]
    pub(crate) const fn lay(&mut self, begin: u64, end: u64) -> Result<(), (ErrorKind, u64)> {
        if begin < self.end {
            let shared_end = if end < self.end { end } else { self.end };
            return Err((ErrorKind::Overlap, shared_end.wrapping_sub(begin)));
        }
        if begin > self.end && !self.gaps_allowed {
            return Err((ErrorKind::Gap, begin.wrapping_sub(self.end)));
        }
        self.end = end;
        Ok(())
    }
}

/// Compares where the last tensor ends with the length of the data section.
pub(crate) const fn check_end(
    end: u64,
    data_len: u64,
    gaps_allowed: bool,
) -> Result<(), (ErrorKind, u64)> {
    if data_len < end {
        return Err((ErrorKind::DataTruncated, end.wrapping_sub(data_len)));
    }
    if data_len > end && !gaps_allowed {
        return Err((ErrorKind::TrailingBytes, data_len.wrapping_sub(end)));
    }
    Ok(())
}
