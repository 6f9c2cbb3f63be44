//! What can be read of a file: tensors and parts of them.

use core::iter::Once;
use core::ops::Range;

use crate::slice::{ByteRanges, Slice};
use crate::{Dtype, TensorInfo};

/// A whole tensor ([`TensorInfo`]) or a part of one ([`Slice`]), of which the bytes can be read.
///
/// The trait is sealed.
pub trait Part: sealed::Part {}

impl Part for TensorInfo<'_> {}

impl<const N: usize> Part for Slice<'_, N> {}

pub(super) mod sealed {
    use super::{Dtype, Range};

    pub trait Part {
        type Ranges: Iterator<Item = Range<u64>> + Clone;

        /// Where the bytes lie in the file, in the order of the elements.
        fn ranges(&self) -> Self::Ranges;

        /// How many these are.
        fn byte_len(&self) -> u64;

        fn element_count(&self) -> u64;

        fn dtype(&self) -> Dtype;

        /// Where in the file the tensor is described.
        fn place(&self) -> u64;
    }
}

impl sealed::Part for TensorInfo<'_> {
    type Ranges = Once<Range<u64>>;

    fn ranges(&self) -> Self::Ranges {
        core::iter::once(self.byte_range())
    }

    fn byte_len(&self) -> u64 {
        self.data_len()
    }

    fn element_count(&self) -> u64 {
        self.shape().element_count()
    }

    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn place(&self) -> u64 {
        self.place()
    }
}

impl<const N: usize> sealed::Part for Slice<'_, N> {
    type Ranges = ByteRanges<N>;

    fn ranges(&self) -> Self::Ranges {
        self.byte_ranges()
    }

    fn byte_len(&self) -> u64 {
        self.byte_len()
    }

    fn element_count(&self) -> u64 {
        self.element_count()
    }

    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn place(&self) -> u64 {
        self.place()
    }
}
