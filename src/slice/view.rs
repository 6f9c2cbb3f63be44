//! Parts of tensors with their bytes.

use core::fmt;
use core::iter::FusedIterator;

use super::offsets::Offsets;
use super::{Indices, Slice, SliceDims};
use crate::digits::Decimal;
use crate::elements::{Element, Elements};
use crate::{Dtype, Error, TensorView, buffer, raw};

/// A part of a tensor, cut out along its dimensions, with the bytes; made by [`TensorView::slice`].
#[derive(Clone, Copy)]
pub struct TensorSlice<'data, const N: usize> {
    slice: Slice<'data, N>,
    data: &'data [u8],
}

impl<'data> TensorView<'data> {
    /// The part of the tensor that `indices` take, as numpy's basic indexing does; nothing is copied.
    ///
    /// `indices` are a tuple of integers and ranges, or an array of
    /// [`TensorIndexer`](crate::TensorIndexer), one for each of the first dimensions.
    ///
    /// ```
    /// # use safetensors_core::{SafeTensors, Slot, TensorIndexer};
    /// # let file = include_bytes!("../../examples/digits/digits.safetensors");
    /// # let mut slots = [Slot::EMPTY; 8];
    /// # let model = SafeTensors::parse(file, &mut slots)?;
    /// let weight = model.tensor("fc1.weight").unwrap(); // [32, 64]
    ///
    /// // The third row lies in one piece.
    /// let row = weight.slice((2,))?;
    /// assert_eq!(row.elements().unwrap().len(), 64);
    ///
    /// // Every other of the last eight columns does not; it can be copied.
    /// let columns = weight.slice((.., TensorIndexer::from(-8..).step(2)))?;
    /// assert!(columns.dims().eq([32, 4]));
    /// let mut numbers = [0.0; 32 * 4];
    /// columns.convert_into(&mut numbers)?;
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TooManyIndices`](crate::ErrorKind::TooManyIndices),
    /// [`IndexOutOfRange`](crate::ErrorKind::IndexOutOfRange) for a single index (a range is cut to
    /// its dimension), [`ZeroStep`](crate::ErrorKind::ZeroStep), and
    /// [`SplitByte`](crate::ErrorKind::SplitByte) if a part of the slice does not begin and end
    /// between bytes, which can be for elements of less than a byte.
    pub fn slice<const N: usize>(
        &self,
        indices: impl Indices<N>,
    ) -> Result<TensorSlice<'data, N>, Error> {
        Ok(TensorSlice { slice: self.info().slice(indices)?, data: self.data() })
    }
}

impl<'data, const N: usize> TensorSlice<'data, N> {
    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.slice.dtype()
    }

    /// The dimensions of the part, outermost first, without those of which one index was taken.
    #[must_use]
    pub fn dims(&self) -> SliceDims<'data, N> {
        self.slice.dims()
    }

    /// The number of elements.
    #[must_use]
    pub const fn element_count(&self) -> u64 {
        self.slice.element_count()
    }

    /// The contiguous runs of bytes, in the order of the elements.
    #[must_use]
    pub fn runs(&self) -> Runs<'data, N> {
        Runs { offsets: self.slice.offsets, run_len: self.slice.run_len, data: self.data }
    }

    /// The elements, if they lie in one piece.
    #[must_use]
    pub fn elements(&self) -> Option<Elements<'data>> {
        let mut runs = self.runs();
        match runs.offsets.left() {
            0 => Some(self.part(&[])),
            1 => runs.next().map(|run| self.part(run)),
            _ => None,
        }
    }

    /// Copies the bytes to the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// [`BufferTooSmall`](crate::ErrorKind::BufferTooSmall) if they are more than `to` holds.
    pub fn copy_bytes_into<'to>(&self, to: &'to mut [u8]) -> Result<&'to mut [u8], Error> {
        self.fill(self.slice.byte_len(), to, |run, to| {
            let to = buffer::prefix(to, run.bytes().len(), self.slice.place)?;
            // Not `copy_from_slice`, as the linker can't see that the lengths are equal.
            to.iter_mut().zip(run.bytes()).for_each(|(to, from)| *to = *from);
            Ok(to.len())
        })
    }

    /// Copies the elements to the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// Those of [`Elements::copy_into`].
    pub fn copy_into<'to, T: Element>(&self, to: &'to mut [T]) -> Result<&'to mut [T], Error> {
        self.fill(self.element_count(), to, |run, to| Ok(run.copy_into(to)?.len()))
    }

    /// Converts the elements to `f32` at the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// Those of [`Elements::convert_into`].
    pub fn convert_into<'to>(&self, to: &'to mut [f32]) -> Result<&'to mut [f32], Error> {
        self.fill(self.element_count(), to, |run, to| Ok(run.convert_into(to)?.len()))
    }

    /// Fills `len` items of `to`, run by run; `copy` says how many it has filled.
    fn fill<'to, T>(
        &self,
        len: u64,
        to: &'to mut [T],
        copy: impl Fn(Elements<'data>, &mut [T]) -> Result<usize, Error>,
    ) -> Result<&'to mut [T], Error> {
        // Of no elements, so that their dtype is checked even if there are none.
        copy(self.part(&[]), &mut [])?;
        let to = buffer::prefix(to, raw::size(len).unwrap_or(usize::MAX), self.slice.place)?;
        let mut rest = &mut *to;
        for run in self.runs() {
            let done = copy(self.part(run), rest)?;
            rest = rest.split_at_mut_checked(done).map_or(&mut [], |(_, rest)| rest);
        }
        Ok(to)
    }

    fn part(&self, bytes: &'data [u8]) -> Elements<'data> {
        Elements::of(self.dtype(), bytes, self.slice.place)
    }
}

impl<const N: usize> fmt::Debug for TensorSlice<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TensorSlice(")?;
        self.slice.fmt(f)?;
        f.write_str(")")
    }
}

/// The contiguous runs of bytes of a [`TensorSlice`].
#[derive(Clone)]
pub struct Runs<'data, const N: usize> {
    offsets: Offsets<N>,
    run_len: u64,
    data: &'data [u8],
}

impl<'data, const N: usize> Iterator for Runs<'data, N> {
    type Item = &'data [u8];

    fn next(&mut self) -> Option<&'data [u8]> {
        let start = self.offsets.next()?;
        let end = start.wrapping_add(self.run_len);
        let (start, end) = (raw::size(start)?, raw::size(end)?);
        Some(raw::range(self.data, start, end))
    }

    /// They are not more than the data has bytes.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = raw::size(self.offsets.left()).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl<const N: usize> ExactSizeIterator for Runs<'_, N> {}

impl<const N: usize> FusedIterator for Runs<'_, N> {}

/// How many there are.
impl<const N: usize> fmt::Debug for Runs<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runs { len: ")?;
        Decimal(self.offsets.left()).fmt(f)?;
        f.write_str(" }")
    }
}
