//! A tensor: what the header says of it, and its bytes.

use core::fmt;

use crate::header::info::TensorInfo;
use crate::header::text::Text;
use crate::{Dtype, Elements, Shape};

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

    /// The numbers: as a slice, one by one, copied, or converted to `f32`.
    ///
    /// ```
    /// # use safetensors_core::{SafeTensors, Slot};
    /// # let file = include_bytes!("../examples/digits/digits.safetensors");
    /// let mut slots = [Slot::EMPTY; 8];
    /// let model = SafeTensors::parse(file, &mut slots)?;
    /// let bias = model.tensor("fc2.bias").unwrap();
    /// let mut numbers = [0.0; 10];
    /// bias.elements().convert_into(&mut numbers)?;
    /// assert!(numbers[0] > 0.0);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    #[must_use]
    pub const fn elements(&self) -> Elements<'data> {
        Elements::of(self.dtype(), self.data, self.info.place())
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
