//! What to take along each dimension, as numpy understands it.

use core::fmt::{self, Write};
use core::num::NonZero;
use core::ops::{Range, RangeFrom, RangeFull, RangeTo};

use crate::ErrorKind;
use crate::digits::Decimal;

/// What to take along one dimension: one index, which removes the dimension, or a range with a step.
///
/// The meaning is that of [numpy's basic indexing](https://numpy.org/doc/stable/user/basics.indexing.html):
/// negative bounds count from the end, bounds outside the dimension are moved to its ends, a range
/// that ends before it begins is empty, a negative step goes backwards.
///
/// | numpy | here |
/// |---|---|
/// | `3`, `-1` | `3`, `-1` |
/// | `2:5`, `2:`, `:-1`, `:` | `2..5`, `2..`, `..-1`, `..` |
/// | `2:5:2`, `::-1` | `TensorIndexer::from(2..5).step(2)`, `TensorIndexer::ALL.step(-1)` |
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TensorIndexer(Repr);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Repr {
    Select(i64),
    Range { start: Option<i64>, end: Option<i64>, step: i64 },
}

/// What is taken along a dimension of known length.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    /// The first index, if there is one.
    pub(super) start: u64,
    pub(super) step: i64,
    /// How many indices.
    pub(super) len: u64,
    /// Whether the dimension is gone.
    pub(super) selected: bool,
}

impl Axis {
    pub(super) const NONE: Self = Self { start: 0, step: 1, len: 1, selected: true };
}

impl TensorIndexer {
    /// The whole dimension, `:`.
    pub const ALL: Self = Self::range(None, None, 1);

    /// One index; the result has no such dimension.
    #[must_use]
    pub const fn select(index: i64) -> Self {
        Self(Repr::Select(index))
    }

    /// `start:end:step`. A bound that is `None` is the end of the dimension from which, or to which,
    /// the step goes.
    #[must_use]
    pub const fn range(start: Option<i64>, end: Option<i64>, step: i64) -> Self {
        Self(Repr::Range { start, end, step })
    }

    /// The same range with another step. An index stays as it is.
    #[must_use]
    pub const fn step(self, step: i64) -> Self {
        match self.0 {
            Repr::Select(_) => self,
            Repr::Range { start, end, .. } => Self::range(start, end, step),
        }
    }

    /// What that is along a dimension of length `dim`. It may be any number of 64 bits, so signs need
    /// one more.
    pub(super) fn resolve(&self, dim: u64) -> Result<Axis, ErrorKind> {
        let len = i128::from(dim);
        match self.0 {
            Repr::Select(index) => match u64::try_from(from_start(index, len)) {
                Ok(start) if start < dim => Ok(Axis { start, ..Axis::NONE }),
                _ => Err(ErrorKind::IndexOutOfRange),
            },
            Repr::Range { start, end, step } => {
                let Some(distance) = NonZero::new(step.unsigned_abs()) else {
                    return Err(ErrorKind::ZeroStep);
                };
                let forwards = step > 0;
                // Backwards it begins at the last and ends before the first.
                let (low, high) = if forwards { (0, len) } else { (-1, len.wrapping_sub(1)) };
                let (first, behind) = if forwards { (low, high) } else { (high, low) };
                let bound = |bound| from_start(bound, len).max(low).min(high);
                let (start, end) = (start.map_or(first, bound), end.map_or(behind, bound));
                let way = if forwards { end.wrapping_sub(start) } else { start.wrapping_sub(end) };
                // None, if it ends before it begins.
                let way = u64::try_from(way).unwrap_or(0);
                let steps = way / distance;
                let len = steps.wrapping_add(u64::from(way % distance != 0));
                Ok(Axis { start: u64::try_from(start).unwrap_or(0), step, len, selected: false })
            }
        }
    }
}

/// An index counted from the start, if it is counted from the end.
fn from_start(index: i64, len: i128) -> i128 {
    let index = i128::from(index);
    if index < 0 { index.wrapping_add(len) } else { index }
}

/// As numpy writes it: `3`, `2:5`, `::-1`.
impl fmt::Debug for TensorIndexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Select(index) => write_number(Some(index), f),
            Repr::Range { start, end, step } => {
                write_number(start, f)?;
                f.write_char(':')?;
                write_number(end, f)?;
                if step != 1 {
                    f.write_char(':')?;
                    write_number(Some(step), f)?;
                }
                Ok(())
            }
        }
    }
}

fn write_number(number: Option<i64>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(number) = number else { return Ok(()) };
    if number < 0 {
        f.write_char('-')?;
    }
    Decimal(number.unsigned_abs()).fmt(f)
}

impl From<RangeFull> for TensorIndexer {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

/// Integers of other types than `i64` that are beyond its range become its ends, which lie outside
/// of every dimension as well.
macro_rules! from_integers {
    ($($integer:ty),*) => {
        $(
            impl From<$integer> for TensorIndexer {
                fn from(index: $integer) -> Self {
                    Self::select(i64::try_from(index).unwrap_or(i64::MAX))
                }
            }

            impl From<Range<$integer>> for TensorIndexer {
                fn from(range: Range<$integer>) -> Self {
                    let start = i64::try_from(range.start).unwrap_or(i64::MAX);
                    let end = i64::try_from(range.end).unwrap_or(i64::MAX);
                    Self::range(Some(start), Some(end), 1)
                }
            }

            impl From<RangeFrom<$integer>> for TensorIndexer {
                fn from(range: RangeFrom<$integer>) -> Self {
                    let start = i64::try_from(range.start).unwrap_or(i64::MAX);
                    Self::range(Some(start), None, 1)
                }
            }

            impl From<RangeTo<$integer>> for TensorIndexer {
                fn from(range: RangeTo<$integer>) -> Self {
                    let end = i64::try_from(range.end).unwrap_or(i64::MAX);
                    Self::range(None, Some(end), 1)
                }
            }
        )*
    };
}

// With `i32` among them a plain `0..2` has a type.
from_integers!(i32, i64, u32, u64, usize);

mod sealed {
    use super::TensorIndexer;

    pub trait Sealed<const N: usize> {
        fn into_indexers(self) -> [TensorIndexer; N];
    }
}

/// What to take along the first `N` dimensions of a tensor; of those behind everything is taken.
///
/// A tuple of up to eight integers and ranges, `(0..10, .., -1)`, or an array of [`TensorIndexer`].
/// The trait is sealed.
pub trait Indices<const N: usize>: sealed::Sealed<N> {}

impl<const N: usize> Indices<N> for [TensorIndexer; N] {}

impl<const N: usize> sealed::Sealed<N> for [TensorIndexer; N] {
    fn into_indexers(self) -> Self {
        self
    }
}

macro_rules! tuples {
    ($($n:literal: $($name:ident)*;)*) => {
        $(
            impl<$($name: Into<TensorIndexer>),*> Indices<$n> for ($($name,)*) {}

            impl<$($name: Into<TensorIndexer>),*> sealed::Sealed<$n> for ($($name,)*) {
                #[allow(non_snake_case)]
                fn into_indexers(self) -> [TensorIndexer; $n] {
                    let ($($name,)*) = self;
                    [$($name.into()),*]
                }
            }
        )*
    };
}

tuples! {
    0: ;
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}
