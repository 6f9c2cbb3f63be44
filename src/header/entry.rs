//! The entries of a header: descriptions of tensors and `__metadata__`, checked one by one.

use super::description::{self, RawTensor};
use super::scan::{Cursor, tri};
use super::text::Text;
use super::usual::{self, Guess};
use crate::raw::{self, FAST};
use crate::{Error, ErrorKind, Slot};

/// The key whose value is not a tensor.
pub(crate) const METADATA_KEY: &str = "__metadata__";

/// What [`RawEntries::next`] took.
pub(crate) enum Taken {
    Tensor,
    /// The value of `__metadata__`, which stands at `at` and has so many keys.
    Metadata {
        at: usize,
        keys: usize,
    },
    /// The end of the header.
    End,
}

/// Walks the entries of a header; the caller stops at the first error.
#[derive(Clone, Copy)]
pub(crate) struct RawEntries<'data> {
    pub(crate) cursor: Cursor<'data>,
    pub(crate) first: bool,
    pub(crate) metadata_seen: bool,
    guess: Guess,
}

impl<'data> RawEntries<'data> {
    /// The entries of the header that begins at `start`.
    pub(crate) const fn open(bytes: &'data [u8], start: usize) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes, start);
        match cursor.expect(b'{', ErrorKind::ExpectedObject) {
            Ok(()) => Ok(Self::resume(cursor, true, false)),
            Err(kind) => Err(at(kind, &cursor)),
        }
    }

    /// The entry whose name stands at `name`, behind its opening quote.
    pub(crate) const fn reopen(bytes: &'data [u8], name: usize) -> Self {
        Self::resume(Cursor::new(bytes, name.wrapping_sub(1)), true, false)
    }

    /// The entries from the cursor on, of which the `first` has no comma before it.
    pub(crate) const fn resume(cursor: Cursor<'data>, first: bool, metadata_seen: bool) -> Self {
        Self { cursor, first, metadata_seen, guess: Guess::NONE }
    }

    /// Takes the next entry: a tensor is put into `tensor`; if it is the metadata its keys are put
    /// into `keys`, as far as that reaches.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    pub(crate) const fn next(
        &mut self,
        tensor: &mut RawTensor<'data>,
        keys: &mut [Slot],
    ) -> Result<Taken, Error> {
        if let Some(usual) = usual::take::<false>(&mut self.cursor, self.first, &mut self.guess) {
            self.first = false;
            *tensor = usual;
            return checked(Ok(()), &mut self.cursor, tensor);
        }
        if !FAST {
            return self.any(tensor, keys);
        }
        // What is borrowed by a call can't stay in registers.
        let mut own = RawTensor::EMPTY;
        let taken = self.any(&mut own, keys);
        *tensor = own;
        taken
    }

    /// [`next`](Self::next) for an entry that is spelled in any way.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    #[cfg_attr(not(target_pointer_width = "64"), inline)]
    const fn any(
        &mut self,
        tensor: &mut RawTensor<'data>,
        keys: &mut [Slot],
    ) -> Result<Taken, Error> {
        let cursor = &mut self.cursor;
        if let Some(usual) = usual::take::<true>(cursor, self.first, &mut self.guess) {
            self.first = false;
            *tensor = usual;
            return checked(Ok(()), cursor, tensor);
        }
        match cursor.next_key(self.first) {
            Ok(true) => {}
            Ok(false) => return self.close(),
            Err(kind) => return Err(at(kind, cursor)),
        }
        self.first = false;
        tensor.name_at = cursor.at;
        tensor.name = match key(cursor) {
            Ok(name) => name,
            Err(kind) => return Err(at(kind, cursor)),
        };
        if is_metadata(tensor.name) {
            return self.metadata(tensor.name_at, keys);
        }
        let taken = description::take(cursor, tensor);
        checked(taken, cursor, tensor)
    }

    /// Takes the value of `__metadata__`, whose key stands at `name_at`.
    const fn metadata(&mut self, name_at: usize, keys: &mut [Slot]) -> Result<Taken, Error> {
        if self.metadata_seen {
            return Err(Error::new(ErrorKind::DuplicateField, raw::wide(name_at), 0));
        }
        self.metadata_seen = true;
        let cursor = &mut self.cursor;
        cursor.skip_space();
        let value = cursor.at;
        match metadata(cursor, keys) {
            Ok(keys) => Ok(Taken::Metadata { at: value, keys }),
            Err(kind) => Err(at(kind, cursor)),
        }
    }

    const fn close(&mut self) -> Result<Taken, Error> {
        self.cursor.skip_space();
        if self.cursor.at < self.cursor.bytes.len() {
            return Err(at(ErrorKind::TrailingCharacters, &self.cursor));
        }
        Ok(Taken::End)
    }
}

/// A tensor whose description was `taken`.
#[inline(always)]
const fn checked(
    taken: Result<(), (ErrorKind, u64)>,
    cursor: &mut Cursor<'_>,
    tensor: &RawTensor<'_>,
) -> Result<Taken, Error> {
    let checked = match taken {
        Ok(()) => description::check(cursor, tensor),
        Err(error) => Err(error),
    };
    match checked {
        Ok(()) => Ok(Taken::Tensor),
        Err((kind, number)) => Err(Error::new(kind, raw::wide(cursor.at), number)),
    }
}

#[cold]
const fn at(kind: ErrorKind, cursor: &Cursor<'_>) -> Error {
    Error::new(kind, raw::wide(cursor.at), 0)
}

/// The string whose first character stands at `start`, from a header that was checked.
pub(crate) const fn text_at(bytes: &[u8], start: usize) -> Text<'_> {
    match text(&mut Cursor::new(bytes, start)) {
        Ok(text) => text,
        Err(_) => Text::new(&[], false),
    }
}

/// Takes the rest of a string, from behind its opening quote to behind the closing one.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn text<'data>(cursor: &mut Cursor<'data>) -> Result<Text<'data>, ErrorKind> {
    let start = cursor.at;
    let escaped = tri!(cursor.string());
    Ok(Text::new(raw::range(cursor.bytes, start, cursor.at.wrapping_sub(1)), escaped))
}

/// Takes the rest of a key and the colon.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn key<'data>(cursor: &mut Cursor<'data>) -> Result<Text<'data>, ErrorKind> {
    let key = tri!(text(cursor));
    tri!(cursor.expect(b':', ErrorKind::ExpectedColon));
    Ok(key)
}

/// Whether a key at the root is `__metadata__`.
#[inline(always)]
const fn is_metadata(key: Text<'_>) -> bool {
    match key.as_plain() {
        Some(plain) if FAST => {
            plain.len() == METADATA_KEY.len() && raw::starts_with(plain, 0, b"__metadata__")
        }
        _ => key.is(METADATA_KEY),
    }
}

/// Takes the value of `__metadata__`: puts its keys into `slots`, as far as these reach, and counts
/// them.
pub(crate) const fn metadata(
    cursor: &mut Cursor<'_>,
    slots: &mut [Slot],
) -> Result<usize, ErrorKind> {
    if cursor.take(b"null") {
        return Ok(0);
    }
    if cursor.peek() != b'{' {
        return cursor.fail(ErrorKind::MetadataNotObject);
    }
    cursor.advance(1);
    let mut keys: usize = 0;
    while tri!(cursor.next_key(keys == 0)) {
        let at = cursor.at;
        let key = tri!(key(cursor));
        tri!(cursor.expect(b'"', ErrorKind::MetadataNotString));
        tri!(cursor.string());
        if let Some((_, [slot, ..])) = slots.split_at_mut_checked(keys) {
            slot.set_key(at, key);
        }
        keys = keys.wrapping_add(1);
    }
    Ok(keys)
}
