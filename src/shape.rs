//! Shapes, read from the header when asked: any rank, no memory.

use core::fmt;
use core::iter::FusedIterator;

use crate::header::scan::Cursor;
use crate::header::text::Decimal;

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

impl PartialEq<[u64]> for Shape<'_> {
    fn eq(&self, other: &[u64]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const N: usize> PartialEq<[u64; N]> for Shape<'_> {
    fn eq(&self, other: &[u64; N]) -> bool {
        *self == other[..]
    }
}

/// As `[2, 3]`.
impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        let mut separator = "";
        for dim in self {
            f.write_str(separator)?;
            Decimal(dim).fmt(f)?;
            separator = ", ";
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The dimensions of a [`Shape`].
#[derive(Clone)]
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
