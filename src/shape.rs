//! Shapes, read from the header when asked: any rank, no memory.

use core::fmt;
use core::iter::FusedIterator;

use crate::digits::Decimal;
use crate::header::scan::Cursor;
use crate::{Error, ErrorKind, buffer, raw};

/// The dimensions of a tensor, outermost first; a scalar has none.
///
/// It borrows the header and reads it again whenever it is asked.
#[derive(Clone, Copy)]
pub struct Shape<'data> {
    /// Before the first dimension, behind the opening bracket.
    cursor: Cursor<'data>,
}

impl<'data> Shape<'data> {
    /// `cursor` must be behind the bracket that opens an array of integers which was checked.
    pub(crate) const fn new(cursor: Cursor<'data>) -> Self {
        Self { cursor }
    }

    /// Where its opening bracket stands in the header.
    pub(crate) const fn place(&self) -> usize {
        self.cursor.at.saturating_sub(1)
    }

    /// The number of dimensions.
    #[must_use]
    pub const fn rank(&self) -> usize {
        let mut dims = self.iter();
        let mut rank: usize = 0;
        while dims.next_dim().is_some() {
            rank = rank.wrapping_add(1);
        }
        rank
    }

    /// The dimension `axis`, counted from the outermost.
    #[must_use]
    pub const fn dim(&self, axis: usize) -> Option<u64> {
        let mut dims = self.iter();
        let mut left = axis;
        while left > 0 {
            if dims.next_dim().is_none() {
                return None;
            }
            left = left.wrapping_sub(1);
        }
        dims.next_dim()
    }

    /// The number of elements: the product of all dimensions, 1 for a scalar.
    #[must_use]
    pub const fn element_count(&self) -> u64 {
        let mut dims = self.iter();
        let mut count: u64 = 1;
        while let Some(dim) = dims.next_dim() {
            // Does not wrap: a shape whose product overflows was refused.
            count = count.wrapping_mul(dim);
        }
        count
    }

    /// All dimensions, if there are `N`; usable in a `const`.
    ///
    /// ```
    /// # use safetensors_core::{SafeTensors, Slot};
    /// # let file = include_bytes!("../examples/digits/digits.safetensors");
    /// # let mut slots = [Slot::EMPTY; 8];
    /// # let model = SafeTensors::parse(file, &mut slots)?;
    /// let weight = model.tensor("fc1.weight").unwrap();
    /// let Some([rows, columns]) = weight.shape().to_array() else { panic!("not a matrix") };
    /// assert_eq!((rows, columns), (32, 64));
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    #[must_use]
    pub const fn to_array<const N: usize>(&self) -> Option<[u64; N]> {
        let mut array = [0; N];
        let mut rest: &mut [u64] = &mut array;
        let mut dims = self.iter();
        while let Some((to, others)) = rest.split_first_mut() {
            *to = match dims.next_dim() {
                Some(dim) => dim,
                None => return None,
            };
            rest = others;
        }
        if dims.next_dim().is_some() { None } else { Some(array) }
    }

    /// Copies the dimensions to the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if they are more than `to` holds,
    /// [`DimensionTooLarge`](ErrorKind::DimensionTooLarge) if one is more than a `T` holds.
    pub fn copy_into<'to, T: TryFrom<u64>>(&self, to: &'to mut [T]) -> Result<&'to mut [T], Error> {
        let place = raw::wide(self.place());
        let to = buffer::prefix(to, self.rank(), place)?;
        for (to, dim) in to.iter_mut().zip(self) {
            *to = T::try_from(dim)
                .map_err(|_| Error::new(ErrorKind::DimensionTooLarge, place, dim))?;
        }
        Ok(to)
    }

    /// Copies the strides to the beginning of `to` and returns them there: how many elements lie
    /// between two neighbours along each dimension. Tensors in a file are row-major, so the last is 1.
    ///
    /// ```
    /// # use safetensors_core::{SafeTensors, Slot};
    /// # let file = include_bytes!("../examples/digits/digits.safetensors");
    /// # let mut slots = [Slot::EMPTY; 8];
    /// # let model = SafeTensors::parse(file, &mut slots)?;
    /// let weight = model.tensor("fc1.weight").unwrap();
    /// assert_eq!(weight.shape(), [32, 64]);
    /// assert_eq!(weight.shape().strides_into(&mut [0; 4])?, [64, 1]);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if there are more dimensions than `to` holds,
    /// [`SizeOverflow`](ErrorKind::SizeOverflow) if a stride does not fit 64 bits, as can be if there
    /// are no elements.
    pub fn strides_into<'to>(&self, to: &'to mut [u64]) -> Result<&'to mut [u64], Error> {
        let to = self.copy_into(to)?;
        let mut stride: u64 = 1;
        for (i, to) in to.iter_mut().enumerate().rev() {
            let dim = core::mem::replace(to, stride);
            if i > 0 {
                stride = stride.checked_mul(dim).ok_or(Error::new(
                    ErrorKind::SizeOverflow,
                    raw::wide(self.place()),
                    0,
                ))?;
            }
        }
        Ok(to)
    }

    /// The dimensions, outermost first.
    #[must_use]
    pub const fn iter(&self) -> Dims<'data> {
        Dims { cursor: self.cursor, first: true }
    }
}

impl<'data> IntoIterator for Shape<'data> {
    type Item = u64;
    type IntoIter = Dims<'data>;

    fn into_iter(self) -> Dims<'data> {
        self.iter()
    }
}

impl<'data> IntoIterator for &Shape<'data> {
    type Item = u64;
    type IntoIter = Dims<'data>;

    fn into_iter(self) -> Dims<'data> {
        self.iter()
    }
}

impl PartialEq for Shape<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Shape<'_> {}

/// With integers of any type.
impl<T: Copy + TryInto<u64>> PartialEq<[T]> for Shape<'_> {
    fn eq(&self, other: &[T]) -> bool {
        let mut dims = self.iter();
        other.iter().all(|other| match (dims.next(), (*other).try_into()) {
            (Some(dim), Ok(other)) => dim == other,
            _ => false,
        }) && dims.next().is_none()
    }
}

impl<T: Copy + TryInto<u64>> PartialEq<&[T]> for Shape<'_> {
    fn eq(&self, other: &&[T]) -> bool {
        *self == **other
    }
}

impl<T: Copy + TryInto<u64>, const N: usize> PartialEq<[T; N]> for Shape<'_> {
    fn eq(&self, other: &[T; N]) -> bool {
        *self == other[..]
    }
}

/// As `[2, 3]`.
impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(self.iter(), f)
    }
}

/// Dimensions in brackets.
pub(crate) fn write_dims(
    dims: impl Iterator<Item = u64>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("[")?;
    let mut separator = "";
    for dim in dims {
        f.write_str(separator)?;
        Decimal(dim).fmt(f)?;
        separator = ", ";
    }
    f.write_str("]")
}

impl fmt::Debug for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The dimensions of a [`Shape`].
#[derive(Clone, Copy)]
pub struct Dims<'data> {
    cursor: Cursor<'data>,
    first: bool,
}

impl Dims<'_> {
    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_dim(&mut self) -> Option<u64> {
        if self.cursor.skip_space() == b']' {
            return None;
        }
        match (self.cursor.next_item(self.first, b']'), self.cursor.unsigned()) {
            (Ok(true), Ok(dim)) => {
                self.first = false;
                Some(dim)
            }
            _ => None,
        }
    }
}

impl FusedIterator for Dims<'_> {}

impl Iterator for Dims<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.next_dim()
    }
}

impl fmt::Debug for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shape { cursor: self.cursor }.fmt(f)
    }
}
