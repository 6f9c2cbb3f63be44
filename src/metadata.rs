//! The pairs of `__metadata__`, read from the header when asked.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use crate::header::entry;
use crate::header::scan::Cursor;
use crate::header::text::Text;

/// The `__metadata__` of a file: keys and values, both text.
///
/// It borrows the header and walks it again whenever it is asked, so a look-up takes time linear
/// in the length of the metadata.
#[derive(Clone, Copy)]
pub struct Metadata<'data> {
    /// Behind the opening bracket.
    cursor: Cursor<'data>,
}

impl<'data> Metadata<'data> {
    /// The metadata at `at`, where a checked value of `__metadata__` stands; `None` for null.
    pub(crate) const fn at(bytes: &'data [u8], at: usize) -> Option<Self> {
        let mut cursor = Cursor::new(bytes, at);
        if cursor.peek() != b'{' {
            return None;
        }
        cursor.advance(1);
        Some(Self { cursor })
    }

    /// The pairs in header order.
    #[must_use]
    pub const fn iter(&self) -> Pairs<'data> {
        Pairs { cursor: self.cursor, first: true }
    }

    /// The value of `key`, compared unescaped. Of keys given twice, which a parse refuses, the
    /// first counts.
    #[must_use]
    pub const fn value(&self, key: &str) -> Option<Text<'data>> {
        let mut pairs = self.iter();
        while let Some((name, value)) = pairs.next_pair() {
            if name.is(key) {
                return Some(value);
            }
        }
        None
    }

    /// Where the pair of `key` stands; of keys given twice the first. Without such a pair the error
    /// says where one would be added, and whether it would be the only one.
    pub(crate) fn find(&self, key: &Text<'_>) -> Result<Place, (usize, bool)> {
        let mut pairs = self.iter();
        let mut before = None;
        while let Some((at, name, value)) = pairs.next_placed() {
            let end = pairs.cursor.at;
            if name == *key {
                // The quotes belong to it.
                let value = end.saturating_sub(value.raw().len()).saturating_sub(2)..end;
                let behind = pairs.next_placed().map(|(at, ..)| at.saturating_sub(1));
                return Ok(Place { start: at.saturating_sub(1), value, before, behind });
            }
            before = Some(end);
        }
        Err((before.unwrap_or(pairs.cursor.at), before.is_none()))
    }

    /// Where each pair stands, its opening quote, and its key.
    #[cfg(feature = "std")]
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, Text<'data>)> {
        let mut pairs = self.iter();
        core::iter::from_fn(move || pairs.next_placed())
            .map(|(at, key, _)| (at.saturating_sub(1), key))
    }

    /// The number of pairs.
    #[must_use]
    pub const fn len(&self) -> usize {
        let mut pairs = self.iter();
        let mut len: usize = 0;
        while pairs.next_pair().is_some() {
            len = len.wrapping_add(1);
        }
        len
    }

    /// Whether there are no pairs.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.iter().next_pair().is_none()
    }
}

/// Where a pair stands in the header, quotes included.
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) value: Range<usize>,
    /// The end of the pair before it.
    pub(crate) before: Option<usize>,
    /// The start of the pair behind it.
    pub(crate) behind: Option<usize>,
}

impl<'data> IntoIterator for Metadata<'data> {
    type Item = (Text<'data>, Text<'data>);
    type IntoIter = Pairs<'data>;

    fn into_iter(self) -> Pairs<'data> {
        self.iter()
    }
}

impl<'data> IntoIterator for &Metadata<'data> {
    type Item = (Text<'data>, Text<'data>);
    type IntoIter = Pairs<'data>;

    fn into_iter(self) -> Pairs<'data> {
        self.iter()
    }
}

impl fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let mut separator = "";
        for (key, value) in self {
            f.write_str(separator)?;
            key.fmt(f)?;
            f.write_str(": ")?;
            value.fmt(f)?;
            separator = ", ";
        }
        f.write_str("}")
    }
}

/// The pairs of a [`Metadata`], in header order.
#[derive(Clone, Copy)]
pub struct Pairs<'data> {
    cursor: Cursor<'data>,
    first: bool,
}

impl<'data> Pairs<'data> {
    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_pair(&mut self) -> Option<(Text<'data>, Text<'data>)> {
        match self.next_placed() {
            Some((_, key, value)) => Some((key, value)),
            None => None,
        }
    }

    /// The next pair, and where its key stands (behind the opening quote).
    pub(crate) const fn next_placed(&mut self) -> Option<(usize, Text<'data>, Text<'data>)> {
        let cursor = &mut self.cursor;
        if cursor.skip_space() == b'}' {
            return None;
        }
        let Ok(true) = cursor.next_key(self.first) else {
            return None;
        };
        self.first = false;
        let at = cursor.at;
        let Ok(key) = entry::key(cursor) else {
            return None;
        };
        cursor.skip_space();
        cursor.advance(1);
        match entry::text(cursor) {
            Ok(value) => Some((at, key, value)),
            Err(_) => None,
        }
    }
}

impl<'data> Iterator for Pairs<'data> {
    type Item = (Text<'data>, Text<'data>);

    fn next(&mut self) -> Option<Self::Item> {
        self.next_pair()
    }
}

impl FusedIterator for Pairs<'_> {}

impl fmt::Debug for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Metadata { cursor: self.cursor }.fmt(f)
    }
}
