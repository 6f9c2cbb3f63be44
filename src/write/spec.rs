//! What is to be written.

use core::fmt;
use core::slice;

use crate::header::text::Text;
use crate::layout::ElementCount;
use crate::shape::{Dims, write_dims};
use crate::{Dtype, ErrorKind, Shape, TensorInfo, TensorView, raw};

/// A tensor that is to be written: name, dtype, shape, and the data if it is at hand.
///
#[derive(Clone, Copy)]
pub struct TensorSpec<'a> {
    name: Text<'a>,
    dtype: Dtype,
    shape: ShapeSpec<'a>,
    data: Option<&'a [u8]>,
    /// What a plan finds: the place in the data section.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The place among the tensors as they were given.
    pub(super) number: u32,
}

impl<'a> TensorSpec<'a> {
    /// A tensor whose data is not at hand yet. The length of it follows from dtype and shape.
    #[must_use]
    pub fn new(name: impl Into<Text<'a>>, dtype: Dtype, shape: impl Into<ShapeSpec<'a>>) -> Self {
        let (name, shape) = (name.into(), shape.into());
        Self { name, dtype, shape, data: None, begin: 0, end: 0, number: 0 }
    }

    /// The same with its data: the elements as they stand in a file, little-endian and row-major.
    /// [`Elements`](crate::Elements)`::copy_from` and `convert_from` make such bytes.
    #[must_use]
    pub const fn with_data(self, data: &'a [u8]) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> Text<'a> {
        self.name
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The dimensions.
    #[must_use]
    pub const fn shape(&self) -> ShapeSpec<'a> {
        self.shape
    }

    /// Which of the tensors it was, counted from 0, when they were given to be
    /// [planned](crate::WriteOptions::plan), which may put them in another order.
    #[must_use]
    pub const fn index(&self) -> usize {
        raw::index(self.number)
    }

    /// Where the data is to stand, in bytes from the start of the data section, once it is
    /// [planned](crate::WriteOptions::plan).
    #[must_use]
    pub const fn data_offsets(&self) -> (u64, u64) {
        (self.begin, self.end)
    }

    /// The data, if it is at hand.
    #[must_use]
    pub const fn data(&self) -> Option<&'a [u8]> {
        self.data
    }

    /// The length of the data in bytes, which dtype and shape demand.
    pub(super) fn data_len(&self) -> Result<u64, (ErrorKind, u64)> {
        let mut count = ElementCount::ONE;
        for dim in self.shape.iter() {
            count = count.times(dim).map_err(|kind| (kind, 0))?;
        }
        count.bytes(self.dtype)
    }
}

/// What is there already, to be written again: with the data.
impl<'a> From<TensorView<'a>> for TensorSpec<'a> {
    fn from(tensor: TensorView<'a>) -> Self {
        Self::from(tensor.info()).with_data(tensor.data())
    }
}

impl<'a> From<TensorInfo<'a>> for TensorSpec<'a> {
    fn from(tensor: TensorInfo<'a>) -> Self {
        Self::new(tensor.name(), tensor.dtype(), tensor.shape())
    }
}

impl fmt::Debug for TensorSpec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TensorSpec { name: ")?;
        fmt::Debug::fmt(&self.name, f)?;
        f.write_str(", dtype: ")?;
        f.write_str(self.dtype.name())?;
        f.write_str(", shape: ")?;
        fmt::Debug::fmt(&self.shape, f)?;
        f.write_str(if self.data.is_some() { ", with data }" } else { " }" })
    }
}

/// The dimensions of a tensor that is to be written: a slice of `u64` or `usize`, an array of `u64`,
/// or the [`Shape`] of a tensor that was read.
#[derive(Clone, Copy)]
pub struct ShapeSpec<'a>(Repr<'a>);

#[derive(Clone, Copy)]
enum Repr<'a> {
    U64(&'a [u64]),
    Usize(&'a [usize]),
    Shape(Shape<'a>),
}

impl<'a> ShapeSpec<'a> {
    /// The dimensions, outermost first.
    pub(crate) fn iter(&self) -> SpecDims<'a> {
        match self.0 {
            Repr::U64(dims) => SpecDims::U64(dims.iter()),
            Repr::Usize(dims) => SpecDims::Usize(dims.iter()),
            Repr::Shape(shape) => SpecDims::Shape(shape.iter()),
        }
    }
}

/// The dimensions of a [`ShapeSpec`].
pub(crate) enum SpecDims<'a> {
    U64(slice::Iter<'a, u64>),
    Usize(slice::Iter<'a, usize>),
    Shape(Dims<'a>),
}

impl Iterator for SpecDims<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Self::U64(dims) => dims.next().copied(),
            Self::Usize(dims) => dims.next().map(|dim| raw::wide(*dim)),
            Self::Shape(dims) => dims.next(),
        }
    }
}

impl<'a> From<&'a [u64]> for ShapeSpec<'a> {
    fn from(dims: &'a [u64]) -> Self {
        Self(Repr::U64(dims))
    }
}

impl<'a, const N: usize> From<&'a [u64; N]> for ShapeSpec<'a> {
    fn from(dims: &'a [u64; N]) -> Self {
        Self(Repr::U64(dims))
    }
}

impl<'a> From<&'a [usize]> for ShapeSpec<'a> {
    fn from(dims: &'a [usize]) -> Self {
        Self(Repr::Usize(dims))
    }
}

impl<'a> From<Shape<'a>> for ShapeSpec<'a> {
    fn from(shape: Shape<'a>) -> Self {
        Self(Repr::Shape(shape))
    }
}

/// As `[2, 3]`.
impl fmt::Debug for ShapeSpec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(self.iter(), f)
    }
}

/// A pair of `__metadata__` that is to be written.
#[derive(Clone, Copy)]
pub struct MetadataPair<'a> {
    pub(super) key: Text<'a>,
    pub(super) value: Text<'a>,
    /// The place among the pairs as they were given.
    pub(super) number: u32,
}

impl<'a> MetadataPair<'a> {
    /// A key and its value: `str`, or texts of a file that was read.
    #[must_use]
    pub fn new(key: impl Into<Text<'a>>, value: impl Into<Text<'a>>) -> Self {
        Self { key: key.into(), value: value.into(), number: 0 }
    }

    /// The key.
    #[must_use]
    pub const fn key(&self) -> Text<'a> {
        self.key
    }

    /// The value.
    #[must_use]
    pub const fn value(&self) -> Text<'a> {
        self.value
    }
}

impl fmt::Debug for MetadataPair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MetadataPair(")?;
        fmt::Debug::fmt(&self.key, f)?;
        f.write_str(", ")?;
        fmt::Debug::fmt(&self.value, f)?;
        f.write_str(")")
    }
}
