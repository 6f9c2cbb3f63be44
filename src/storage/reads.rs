//! What is read next and what becomes of it, whether or not the source is waited for.

use core::ops::Range;

use super::Part;
#[cfg(feature = "checksum")]
use crate::Checksum;
use crate::elements::bytes_at_once;
use crate::header::PREFIX_LEN;
use crate::header::foreign::foreign_format;
use crate::{Dtype, Element, Elements, Error, ErrorKind, Index, Options, Slot, buffer, raw};

/// Something that takes several reads.
pub(super) trait Reads {
    /// Where some bytes are wanted from, and where they go; `None` if nothing is wanted any more.
    fn wanted(&mut self) -> Option<(u64, &mut [u8])>;

    /// So many of them are there. None means that the source ends where they were wanted from.
    fn got(&mut self, len: usize) -> Result<(), Error>;
}

// ── the header ──

/// The 8 bytes of the header size, then the header.
pub(super) struct Opening<'header> {
    options: Options,
    header: &'header mut [u8],
    prefix: [u8; PREFIX_LEN],
    /// How long both are, as far as that is known.
    len: usize,
    filled: usize,
    capacity: Option<u64>,
}

impl<'header> Opening<'header> {
    pub(super) fn new(options: Options, header: &'header mut [u8], capacity: Option<u64>) -> Self {
        Self { options, header, prefix: [0; PREFIX_LEN], len: PREFIX_LEN, filled: 0, capacity }
    }

    /// Checks what was read.
    pub(super) fn finish<'slots>(
        self,
        slots: &'slots mut [Slot],
    ) -> Result<Index<'header, 'slots>, Error> {
        let index = self.options.index(raw::range(self.header, 0, self.len), slots)?;
        match self.capacity {
            Some(capacity) if capacity < index.file_len() => {
                let missing = index.file_len().wrapping_sub(capacity);
                Err(Error::new(ErrorKind::DataTruncated, capacity, missing))
            }
            _ => Ok(index),
        }
    }

    /// The header size is there: checks it before as many bytes are read.
    fn sized(&mut self) -> Result<(), Error> {
        self.len = self.options.len_from_prefix(self.prefix)?;
        if let Some(capacity) = self.capacity
            && capacity < raw::wide(self.len)
        {
            return Err(self.truncated(capacity));
        }
        let to = buffer::prefix(self.header, self.len, 0)?;
        to.iter_mut().zip(self.prefix).for_each(|(to, byte)| *to = byte);
        Ok(())
    }

    /// That the source ends after so many bytes, before the header does: what [`Header::read`](crate::Header::read)
    /// says of them.
    fn truncated(&self, found: u64) -> Error {
        let start = raw::range(&self.prefix, 0, self.filled.min(PREFIX_LEN));
        let kind = match foreign_format(start) {
            Some(kind) => return Error::new(kind, 0, 0),
            None if self.filled < PREFIX_LEN => ErrorKind::FileTooShort,
            None => ErrorKind::HeaderTruncated,
        };
        Error::new(kind, found, raw::wide(self.len).saturating_sub(found))
    }

    fn rest(&mut self) -> &mut [u8] {
        let buffer =
            if self.filled < PREFIX_LEN { &mut self.prefix[..] } else { &mut *self.header };
        buffer.get_mut(self.filled..self.len).unwrap_or_default()
    }
}

impl Reads for Opening<'_> {
    fn wanted(&mut self) -> Option<(u64, &mut [u8])> {
        let offset = raw::wide(self.filled);
        let rest = self.rest();
        (!rest.is_empty()).then_some((offset, rest))
    }

    fn got(&mut self, len: usize) -> Result<(), Error> {
        let len = len.min(self.rest().len());
        if len == 0 {
            return Err(self.truncated(raw::wide(self.filled)));
        }
        let before = self.filled;
        self.filled = before.wrapping_add(len);
        if before < PREFIX_LEN && self.filled == PREFIX_LEN { self.sized() } else { Ok(()) }
    }
}

// ── data ──

/// How far a part of a file is read.
#[derive(Clone)]
pub(super) struct Cursor<R> {
    /// The runs of bytes behind this one.
    ranges: R,
    run: Range<u64>,
    /// The bytes that are still to come.
    left: u64,
    dtype: Dtype,
    place: u64,
    file_len: u64,
}

impl<R: Iterator<Item = Range<u64>>> Cursor<R> {
    pub(super) fn new(part: &impl Part<Ranges = R>, file_len: u64) -> Self {
        Self {
            ranges: part.ranges(),
            run: 0..0,
            left: part.byte_len(),
            dtype: part.dtype(),
            place: part.place(),
            file_len,
        }
    }

    pub(super) fn elements<'b>(&self, bytes: &'b [u8]) -> Elements<'b> {
        Elements::of(self.dtype, bytes, self.place)
    }

    /// The beginning of `to`, for all bytes that are to come.
    pub(super) fn room<'to>(&self, to: &'to mut [u8]) -> Result<&'to mut [u8], Error> {
        let len = raw::size(self.left).unwrap_or(usize::MAX);
        buffer::prefix(to, len, self.place)
    }

    /// How many of `room` bytes the next chunk fills: as many whole elements as fit. 0 behind the
    /// last one.
    fn chunk(&self, room: usize) -> Result<usize, Error> {
        let unit = bytes_at_once(self.dtype);
        let whole = room.saturating_sub(raw::remainder(room, unit));
        match whole.min(raw::size(self.left).unwrap_or(usize::MAX)) {
            0 if self.left > 0 => {
                Err(Error::new(ErrorKind::BufferTooSmall, self.place, raw::wide(unit)))
            }
            len => Ok(len),
        }
    }

    /// The beginning of `to`, for the next chunk, if there is one.
    pub(super) fn next_chunk<'to>(
        &self,
        to: &'to mut [u8],
    ) -> Result<Option<&'to mut [u8]>, Error> {
        let len = self.chunk(to.len())?;
        Ok(if len == 0 { None } else { to.get_mut(..len) })
    }

    /// The bytes of this run that are not read yet, at most as many as `room`.
    fn run_len(&self, room: usize) -> usize {
        let left = self.run.end.saturating_sub(self.run.start);
        raw::size(left).unwrap_or(usize::MAX).min(room)
    }

    fn wanted<'b>(&mut self, to: &'b mut [u8]) -> Option<(u64, &'b mut [u8])> {
        if to.is_empty() {
            return None;
        }
        while self.run.is_empty() {
            self.run = self.ranges.next()?;
        }
        let len = self.run_len(to.len());
        Some((self.run.start, to.get_mut(..len)?))
    }

    /// How many of the bytes that were wanted for `room` are there.
    fn got(&mut self, len: usize, room: usize) -> Result<usize, Error> {
        let len = len.min(self.run_len(room));
        if len == 0 {
            let end = self.run.start;
            let missing = self.file_len.saturating_sub(end);
            return Err(Error::new(ErrorKind::DataTruncated, end, missing));
        }
        self.run.start = self.run.start.wrapping_add(raw::wide(len));
        self.left = self.left.saturating_sub(raw::wide(len));
        Ok(len)
    }
}

/// The next bytes of a part, as they are.
pub(super) struct Fill<'a, R> {
    cursor: &'a mut Cursor<R>,
    to: &'a mut [u8],
    filled: usize,
}

impl<'a, R> Fill<'a, R> {
    pub(super) fn new(cursor: &'a mut Cursor<R>, to: &'a mut [u8]) -> Self {
        Self { cursor, to, filled: 0 }
    }
}

impl<R: Iterator<Item = Range<u64>>> Reads for Fill<'_, R> {
    fn wanted(&mut self) -> Option<(u64, &mut [u8])> {
        self.cursor.wanted(self.to.get_mut(self.filled..).unwrap_or_default())
    }

    fn got(&mut self, len: usize) -> Result<(), Error> {
        let len = self.cursor.got(len, self.to.len().saturating_sub(self.filled))?;
        self.filled = self.filled.wrapping_add(len);
        Ok(())
    }
}

/// Decodes elements to the beginning of a buffer and says how many.
type Decoder<T> = fn(Elements<'_>, &mut [T]) -> Result<usize, Error>;

pub(super) fn copy<T: Element>(elements: Elements<'_>, to: &mut [T]) -> Result<usize, Error> {
    elements.copy_into(to).map(|to| to.len())
}

pub(super) fn convert(elements: Elements<'_>, to: &mut [f32]) -> Result<usize, Error> {
    elements.convert_into(to).map(|to| to.len())
}

/// The beginning of `to`, for all elements of a part, if these can be decoded.
pub(super) fn room<'to, T>(
    part: &impl Part,
    to: &'to mut [T],
    decode: Decoder<T>,
) -> Result<&'to mut [T], Error> {
    decode(Elements::of(part.dtype(), &[], part.place()), &mut [])?;
    let len = raw::size(part.element_count()).unwrap_or(usize::MAX);
    buffer::prefix(to, len, part.place())
}

/// A part decoded, chunk by chunk through a buffer for its bytes.
pub(super) struct Decode<'a, R, T> {
    cursor: Cursor<R>,
    scratch: &'a mut [u8],
    /// How long the chunk is, and how much of it is there.
    chunk: usize,
    filled: usize,
    /// Room for the elements that are still to come.
    to: &'a mut [T],
    decode: Decoder<T>,
}

impl<'a, R: Iterator<Item = Range<u64>>, T> Decode<'a, R, T> {
    pub(super) fn new(
        cursor: Cursor<R>,
        scratch: &'a mut [u8],
        to: &'a mut [T],
        decode: Decoder<T>,
    ) -> Result<Self, Error> {
        let chunk = cursor.chunk(scratch.len())?;
        Ok(Self { cursor, scratch, chunk, filled: 0, to, decode })
    }
}

impl<R: Iterator<Item = Range<u64>>, T> Reads for Decode<'_, R, T> {
    fn wanted(&mut self) -> Option<(u64, &mut [u8])> {
        self.cursor.wanted(self.scratch.get_mut(self.filled..self.chunk).unwrap_or_default())
    }

    fn got(&mut self, len: usize) -> Result<(), Error> {
        let len = self.cursor.got(len, self.chunk.saturating_sub(self.filled))?;
        self.filled = self.filled.wrapping_add(len);
        if self.filled < self.chunk {
            return Ok(());
        }
        let elements = self.cursor.elements(raw::range(self.scratch, 0, self.chunk));
        let done = (self.decode)(elements, self.to)?;
        let to = core::mem::take(&mut self.to);
        self.to = to.split_at_mut_checked(done).map_or(&mut [], |(_, rest)| rest);
        self.filled = 0;
        self.chunk = self.cursor.chunk(self.scratch.len())?;
        Ok(())
    }
}

/// All data, of which the checksum is made.
#[cfg(feature = "checksum")]
pub(super) struct Digest<'a> {
    checksum: Checksum,
    scratch: &'a mut [u8],
    next: Range<u64>,
}

#[cfg(feature = "checksum")]
impl<'a> Digest<'a> {
    pub(super) fn new(index: &Index<'_, '_>, scratch: &'a mut [u8]) -> Result<Self, Error> {
        if scratch.is_empty() {
            return Err(Error::new(ErrorKind::BufferTooSmall, 0, 1));
        }
        let header = index.header();
        let next = header.data_start()..index.file_len();
        Ok(Self { checksum: Checksum::of(&header)?, scratch, next })
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.checksum.check()
    }

    /// The bytes of the next read.
    fn room(&mut self) -> &mut [u8] {
        let left = self.next.end.saturating_sub(self.next.start);
        let len = raw::size(left).unwrap_or(usize::MAX).min(self.scratch.len());
        self.scratch.get_mut(..len).unwrap_or_default()
    }
}

#[cfg(feature = "checksum")]
impl Reads for Digest<'_> {
    fn wanted(&mut self) -> Option<(u64, &mut [u8])> {
        let offset = self.next.start;
        let room = self.room();
        (!room.is_empty()).then_some((offset, room))
    }

    fn got(&mut self, len: usize) -> Result<(), Error> {
        let len = len.min(self.room().len());
        if len == 0 {
            let missing = self.next.end.saturating_sub(self.next.start);
            return Err(Error::new(ErrorKind::DataTruncated, self.next.start, missing));
        }
        self.checksum.update(raw::range(self.scratch, 0, len));
        self.next.start = self.next.start.wrapping_add(raw::wide(len));
        Ok(())
    }
}
