//! A tensor: what the header says of it, and its bytes.

use core::fmt;

use crate::header::info::TensorInfo;
use crate::header::text::Text;
use crate::{Dtype, Shape};

/// A tensor of a file that was parsed: its description and its data, borrowed.
#[derive(Clone, Copy)]
pub struct TensorView<'data> {
    info: TensorInfo<'data>,
    data: &'data [u8],
}

impl<'data> TensorView<'data> {
    pub(crate) const fn new(info: TensorInfo<'data>, data: &'data [u8]) -> Self {
        Self { info, data }
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> Text<'data> {
        self.info.name()
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.info.dtype()
    }

    /// The dimensions.
    #[must_use]
    pub const fn shape(&self) -> Shape<'data> {
        self.info.shape()
    }

    /// The elements as they stand in the file: little-endian, row-major, sub-byte ones packed.
    /// As long as dtype and shape demand.
    #[must_use]
    pub const fn data(&self) -> &'data [u8] {
        self.data
    }

    /// What the header says, with the place in the file.
    #[must_use]
    pub const fn info(&self) -> TensorInfo<'data> {
        self.info
    }
}

/// What the header says, without the data.
impl fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TensorView(")?;
        fmt::Debug::fmt(&self.info, f)?;
        f.write_str(")")
    }
}
