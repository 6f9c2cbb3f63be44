//! Elements one by one.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;

use super::Elements;
use super::element::Element;
use crate::digits::Decimal;
use crate::raw;

/// Elements as `T`; made by [`Elements::iter`].
#[derive(Clone)]
pub struct ElementIter<'data, T> {
    /// Whole elements.
    rest: &'data [u8],
    element: PhantomData<T>,
}

impl<'data, T: Element> ElementIter<'data, T> {
    pub(super) fn new(bytes: &'data [u8]) -> Self {
        Self { rest: bytes, element: PhantomData }
    }
}

impl<T: Element> Iterator for ElementIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let (bytes, rest) = self.rest.split_at_checked(size_of::<T>())?;
        self.rest = rest;
        Some(T::decode(bytes))
    }

    fn nth(&mut self, n: usize) -> Option<T> {
        let skipped = n.saturating_mul(size_of::<T>());
        self.rest = self.rest.split_at_checked(skipped).map_or(&[], |(_, rest)| rest);
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = raw::quotient(self.rest.len(), size_of::<T>());
        (left, Some(left))
    }
}

impl<T: Element> DoubleEndedIterator for ElementIter<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        let start = self.rest.len().checked_sub(size_of::<T>())?;
        let (rest, bytes) = self.rest.split_at_checked(start)?;
        self.rest = rest;
        Some(T::decode(bytes))
    }
}

impl<T: Element> ExactSizeIterator for ElementIter<'_, T> {}

impl<T: Element> FusedIterator for ElementIter<'_, T> {}

/// How many there are.
impl<T: Element> fmt::Debug for ElementIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ElementIter { len: ")?;
        Decimal(raw::wide(self.size_hint().0)).fmt(f)?;
        f.write_str(" }")
    }
}

/// Elements as `f32`; made by [`Elements::values`].
#[derive(Clone)]
pub struct Values<'data> {
    elements: Elements<'data>,
    left: Range<usize>,
}

impl<'data> Values<'data> {
    pub(super) const fn new(elements: Elements<'data>) -> Self {
        Self { elements, left: 0..elements.len() }
    }
}

impl Iterator for Values<'_> {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        self.elements.value(self.left.next()?)
    }

    fn nth(&mut self, n: usize) -> Option<f32> {
        self.elements.value(self.left.nth(n)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for Values<'_> {
    fn next_back(&mut self) -> Option<f32> {
        self.elements.value(self.left.next_back()?)
    }
}

impl ExactSizeIterator for Values<'_> {}

impl FusedIterator for Values<'_> {}

/// How many there are.
impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Values { len: ")?;
        Decimal(raw::wide(self.left.len())).fmt(f)?;
        f.write_str(" }")
    }
}
