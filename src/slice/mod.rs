//! Parts of tensors, without copying: which bytes they are.

mod indexer;
mod offsets;
mod view;

use core::fmt;
use core::iter::FusedIterator;

pub use indexer::{Indices, TensorIndexer};
pub use offsets::ByteRanges;
pub use view::{Runs, TensorSlice};

use crate::header::info::TensorInfo;
use crate::shape::{Dims, write_dims};
use crate::{Dtype, Error, ErrorKind, raw};
use indexer::Axis;
use offsets::{Loop, Offsets};

/// A part of a tensor, cut out along its dimensions: where its bytes lie in the file.
///
/// Made by [`TensorInfo::slice`], of the header alone, so that a tensor in a file far away can be
/// read in parts; [`TensorSlice`] has the bytes as well.
#[derive(Clone, Copy)]
pub struct Slice<'data, const N: usize> {
    dtype: Dtype,
    /// Where the tensor is described, and where its data begins, in the file.
    place: u64,
    data_start: u64,
    axes: [Axis; N],
    /// The dimensions behind those.
    rest: Dims<'data>,
    element_count: u64,
    /// The length of a contiguous run in bytes, and where each begins in the data.
    run_len: u64,
    offsets: Offsets<N>,
}

impl<'data, const N: usize> Slice<'data, N> {
    pub(crate) fn new(
        info: &TensorInfo<'data>,
        indexers: [TensorIndexer; N],
    ) -> Result<Self, Error> {
        let shape = info.shape();
        let fail = |kind, number| Err(Error::new(kind, info.place(), raw::wide(number)));
        let mut axes = [Axis::NONE; N];
        let mut dims = [0; N];
        let mut rest = shape.iter();
        let taken = axes.iter_mut().zip(&mut dims).zip(indexers);
        for (i, ((axis, dim), indexer)) in taken.enumerate() {
            let Some(found) = rest.next() else {
                return fail(ErrorKind::TooManyIndices, shape.rank());
            };
            *dim = found;
            *axis = match indexer.resolve(found) {
                Ok(axis) => axis,
                Err(kind) => return fail(kind, i),
            };
        }
        let inner = rest.fold(1, u64::wrapping_mul);
        let element_count = axes.iter().fold(inner, |count, axis| count.wrapping_mul(axis.len));
        let (run_len, offsets) = if element_count == 0 {
            (0, Offsets::new([Loop::NONE; N], 0, 0))
        } else {
            match runs(&axes, &dims, inner.wrapping_mul(info.dtype().bits())) {
                Some(runs) => runs,
                None => return fail(ErrorKind::SplitByte, 0),
            }
        };
        let (dtype, place, data_start) = (info.dtype(), info.place(), info.byte_range().start);
        Ok(Self { dtype, place, data_start, axes, rest, element_count, run_len, offsets })
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The dimensions of the part, outermost first, without those of which one index was taken.
    #[must_use]
    pub fn dims(&self) -> SliceDims<'data, N> {
        SliceDims { axes: self.axes, next: 0, rest: self.rest }
    }

    /// The number of elements.
    #[must_use]
    pub const fn element_count(&self) -> u64 {
        self.element_count
    }

    /// Where in the file the tensor is described.
    pub(crate) const fn place(&self) -> u64 {
        self.place
    }

    /// The number of bytes.
    pub(crate) const fn byte_len(&self) -> u64 {
        self.run_len.wrapping_mul(self.offsets.left())
    }

    /// The contiguous runs of bytes, as ranges in the file, in the order of the elements.
    ///
    /// ```
    /// # use safetensors_core::{Index, Slot};
    /// # let head = include_bytes!("../../examples/digits/digits.safetensors");
    /// # let mut slots = [Slot::EMPTY; 8];
    /// # let index = Index::build(head, &mut slots)?;
    /// let bias = index.tensor("fc2.bias").unwrap();
    /// assert_eq!(bias.byte_range(), 8_928..8_968);
    /// let slice = bias.slice((1..9,))?;
    /// let range = slice.byte_ranges().next().unwrap();
    /// assert_eq!(range, 8_932..8_964);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    #[must_use]
    pub fn byte_ranges(&self) -> ByteRanges<N> {
        ByteRanges::new(self.offsets, self.data_start, self.run_len)
    }
}

/// The length of the contiguous runs, in bytes, and where they begin; `None` if a byte is split.
/// `inner` is the bits of all that is taken whole behind the axes.
///
/// There must be elements: then the tensor is shorter than 2⁶⁴ bits, and nothing wraps.
fn runs<const N: usize>(
    axes: &[Axis; N],
    dims: &[u64; N],
    inner: u64,
) -> Option<(u64, Offsets<N>)> {
    let mut loops = [Loop::NONE; N];
    let mut free = loops.iter_mut().rev();
    let (mut start, mut run, mut stride) = (0_u64, inner, inner);
    let (mut runs, mut split) = (1_u64, 0);
    // From the innermost outwards: what is taken one after the other lengthens the run, until
    // something is left out; what is around that is a loop.
    for (axis, dim) in axes.iter().zip(dims).rev() {
        start = start.wrapping_add(axis.start.wrapping_mul(stride));
        if axis.len == 1 {
            // Neither.
        } else if runs == 1 && axis.step == 1 && stride == run {
            run = run.wrapping_mul(axis.len);
        } else if let Some(free) = free.next() {
            let bits = axis.step.unsigned_abs().wrapping_mul(stride);
            let step = (bits >> 3).cast_signed();
            let step = if axis.step < 0 { step.wrapping_neg() } else { step };
            *free = Loop { len: axis.len, step };
            runs = runs.wrapping_mul(axis.len);
            split |= bits;
        }
        stride = stride.wrapping_mul(*dim);
    }
    if (start | run | split) & 7 != 0 {
        return None;
    }
    Some((run >> 3, Offsets::new(loops, start >> 3, runs)))
}

impl<const N: usize> fmt::Debug for Slice<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slice { dtype: ")?;
        f.write_str(self.dtype.name())?;
        f.write_str(", dims: ")?;
        self.dims().fmt(f)?;
        f.write_str(" }")
    }
}

/// The dimensions of a [`Slice`].
#[derive(Clone)]
pub struct SliceDims<'data, const N: usize> {
    axes: [Axis; N],
    next: usize,
    rest: Dims<'data>,
}

impl<const N: usize> Iterator for SliceDims<'_, N> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        while let Some(axis) = self.axes.get(self.next) {
            self.next = self.next.wrapping_add(1);
            if !axis.selected {
                return Some(axis.len);
            }
        }
        self.rest.next()
    }
}

impl<const N: usize> FusedIterator for SliceDims<'_, N> {}

/// As `[2, 3]`.
impl<const N: usize> fmt::Debug for SliceDims<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(self.clone(), f)
    }
}

impl<'data> TensorInfo<'data> {
    /// The part of the tensor that `indices` take; see [`TensorView::slice`](crate::TensorView::slice).
    ///
    /// # Errors
    /// The same.
    pub fn slice<const N: usize>(
        &self,
        indices: impl Indices<N>,
    ) -> Result<Slice<'data, N>, Error> {
        Slice::new(self, indices.into_indexers())
    }
}
