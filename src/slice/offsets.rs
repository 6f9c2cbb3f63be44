//! Nested loops over places in the data.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use crate::digits::Decimal;

/// So many steps of so many bytes.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) len: u64,
    pub(super) step: i64,
}

impl Loop {
    /// One step, which is none.
    pub(super) const NONE: Self = Self { len: 1, step: 0 };
}

/// Where contiguous runs begin in the data of a tensor, the last loop the innermost.
#[derive(Clone, Copy)]
pub(super) struct Offsets<const N: usize> {
    loops: [Loop; N],
    /// How far each loop is.
    done: [u64; N],
    next: u64,
    left: u64,
}

impl<const N: usize> Offsets<N> {
    pub(super) const fn new(loops: [Loop; N], start: u64, left: u64) -> Self {
        Self { loops, done: [0; N], next: start, left }
    }

    /// The number of runs to come.
    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let offset = self.next;
        for (each, done) in self.loops.iter().zip(&mut self.done).rev() {
            *done = done.wrapping_add(1);
            if *done < each.len {
                self.next = self.next.wrapping_add_signed(each.step);
                break;
            }
            // Back to the start of this loop, and one step of the loop around it.
            let steps = each.len.wrapping_sub(1).cast_signed();
            self.next = self.next.wrapping_add_signed(each.step.wrapping_mul(steps).wrapping_neg());
            *done = 0;
        }
        Some(offset)
    }

    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.left) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}

/// The ranges of a file where the bytes of a [`Slice`](super::Slice) lie, in the order of its
/// elements.
#[derive(Clone)]
pub struct ByteRanges<const N: usize> {
    offsets: Offsets<N>,
    data_start: u64,
    run_len: u64,
}

impl<const N: usize> ByteRanges<N> {
    pub(super) const fn new(offsets: Offsets<N>, data_start: u64, run_len: u64) -> Self {
        Self { offsets, data_start, run_len }
    }
}

impl<const N: usize> Iterator for ByteRanges<N> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let start = self.data_start.wrapping_add(self.offsets.next()?);
        Some(start..start.wrapping_add(self.run_len))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }
}

impl<const N: usize> FusedIterator for ByteRanges<N> {}

/// How many there are.
impl<const N: usize> fmt::Debug for ByteRanges<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByteRanges { len: ")?;
        Decimal(self.offsets.left()).fmt(f)?;
        f.write_str(" }")
    }
}
