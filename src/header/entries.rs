//! The entries of a header as a lazy, fallible iterator.

use core::fmt;
use core::iter::FusedIterator;

use super::description::RawTensor;
use super::entry::{RawEntries, Taken};
use super::info::TensorInfo;
use super::scan::Cursor;
use super::{Header, PREFIX_LEN};
use crate::digits::Decimal;
use crate::{Error, Metadata, raw};

/// An entry of a header.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Entry<'data> {
    /// The description of a tensor.
    Tensor(TensorInfo<'data>),
    /// The value of `__metadata__`; `None` if it is null.
    Metadata(Option<Metadata<'data>>),
}

/// The place of an entry in a header, which borrows nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    at: u32,
    first: bool,
    metadata_seen: bool,
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Position(")?;
        Decimal(raw::wide32(self.at)).fmt(f)?;
        f.write_str(")")
    }
}

/// The entries of a [`Header`], each checked when it is taken. Ends after the first error.
#[derive(Clone, Copy)]
pub struct Entries<'data> {
    state: State<'data>,
}

#[derive(Clone, Copy)]
enum State<'data> {
    Start(Header<'data>),
    Inside(RawEntries<'data>),
    End,
}

impl<'data> Entries<'data> {
    pub(crate) const fn of(header: Header<'data>) -> Self {
        Self { state: State::Start(header) }
    }

    pub(crate) const fn at(header: Header<'data>, position: Position) -> Self {
        let Position { at, first, metadata_seen } = position;
        let cursor = Cursor::new(header.bytes(), raw::index(at));
        Self { state: State::Inside(RawEntries::resume(cursor, first, metadata_seen)) }
    }

    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_entry(&mut self) -> Option<Result<Entry<'data>, Error>> {
        let mut entries = match self.state {
            State::End => return None,
            State::Inside(entries) => entries,
            State::Start(header) => match RawEntries::open(header.bytes(), PREFIX_LEN) {
                Ok(entries) => entries,
                Err(error) => return self.fail(error),
            },
        };
        let bytes = entries.cursor.bytes;
        let mut tensor = RawTensor::EMPTY;
        let entry = match entries.next(&mut tensor, &mut []) {
            Ok(Taken::Tensor) => Entry::Tensor(TensorInfo::new(bytes, &tensor)),
            Ok(Taken::Metadata { at, .. }) => Entry::Metadata(Metadata::at(bytes, at)),
            Ok(Taken::End) => {
                self.state = State::End;
                return None;
            }
            Err(error) => return self.fail(error),
        };
        self.state = State::Inside(entries);
        Some(Ok(entry))
    }

    /// Where the next entry begins, for [`Header::entries_from`]. `None` before the first entry and
    /// at the end.
    #[must_use]
    pub const fn position(&self) -> Option<Position> {
        match self.state {
            State::Inside(RawEntries { cursor, first, metadata_seen, .. }) => {
                Some(Position { at: raw::position(cursor.at), first, metadata_seen })
            }
            State::Start(_) | State::End => None,
        }
    }

    const fn fail(&mut self, error: Error) -> Option<Result<Entry<'data>, Error>> {
        self.state = State::End;
        Some(Err(error))
    }
}

impl<'data> Iterator for Entries<'data> {
    type Item = Result<Entry<'data>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry()
    }
}

impl FusedIterator for Entries<'_> {}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entries { .. }")
    }
}
