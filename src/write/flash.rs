//! A file in NOR flash: what is erased and written when, whether or not the flash is waited for.
//!
//! The block with the size of the header comes last, so that a file which was cut off never looks like
//! one: where its size should be there are ones, and no header is that large.

use super::error::{WriteError, WriteErrorKind};
use super::plan::Plan;
use crate::header::PREFIX_LEN;
use crate::raw;

/// What the flash is like, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub(super) write_size: usize,
    pub(super) erase_size: usize,
    pub(super) capacity: usize,
}

impl Geometry {
    /// Whether the sizes are such as the traits demand.
    pub(super) const fn is_sound(write_size: usize, erase_size: usize) -> bool {
        write_size > 0 && erase_size > 0 && raw::remainder(erase_size, write_size) == 0
    }
}

/// What the flash is to do.
pub(super) enum Access<'a> {
    Erase(u32, u32),
    Write(u32, &'a [u8]),
}

/// Which part is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The sector with the size of the header is to be erased, before anything else: an old file is
    /// none from then on.
    EraseFirst,
    EraseRest,
    Pages,
    /// Everything came; what is left of the page is next.
    LastPage,
    /// The block with the size of the header.
    Head,
    Done,
}

/// A file on its way into flash, page by page.
pub(super) struct Pages<'buffer> {
    /// The block with the first 8 bytes, and a page of what follows.
    head: &'buffer mut [u8],
    page: &'buffer mut [u8],
    /// How much of the page is filled.
    filled: usize,
    write_size: usize,
    stage: Stage,
    start: u32,
    /// Of the sectors that hold the size of the header.
    head_end: u32,
    end: u32,
    /// Where the page goes.
    place: u32,
    file_len: u64,
    taken: u64,
    failed: bool,
}

impl<'buffer> Pages<'buffer> {
    pub(super) fn new(
        geometry: Geometry,
        start: u32,
        plan: &Plan<'_>,
        buffer: &'buffer mut [u8],
    ) -> Result<Self, WriteError> {
        let Geometry { write_size, erase_size, capacity } = geometry;
        let fail = |kind, number| Err(WriteError::of_file(kind, number));
        let sector = raw::wide(erase_size).max(1);
        let begin = u64::from(start);
        if begin.checked_next_multiple_of(sector) != Some(begin) {
            return fail(WriteErrorKind::Misaligned, sector);
        }
        let head_len = PREFIX_LEN.checked_next_multiple_of(write_size).unwrap_or(usize::MAX);
        let needed = head_len.saturating_add(write_size);
        let (head, page) = match buffer.split_at_mut_checked(head_len) {
            Some((head, page)) if page.len() >= write_size => (head, page),
            _ => return fail(WriteErrorKind::BufferTooSmall, raw::wide(needed)),
        };
        let whole = page.len().saturating_sub(raw::remainder(page.len(), write_size));
        let page = page.split_at_mut_checked(whole).map_or(&mut [][..], |(page, _)| page);
        let (prefix_len, file_len) = (raw::wide(PREFIX_LEN), plan.file_len());
        let sectors_end = |len: u64| {
            let end = begin.saturating_add(len).checked_next_multiple_of(sector);
            // Beyond every capacity.
            end.unwrap_or(u64::MAX)
        };
        let end = sectors_end(file_len);
        let capacity = raw::wide(capacity).min(u32::MAX.into());
        if end > capacity {
            return fail(WriteErrorKind::FlashTooSmall, end.wrapping_sub(capacity));
        }
        let address = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
        Ok(Self {
            place: address(begin.saturating_add(raw::wide(head_len))),
            head,
            page,
            filled: 0,
            write_size,
            stage: Stage::EraseFirst,
            start,
            head_end: address(sectors_end(prefix_len)),
            end: address(end),
            file_len,
            taken: 0,
            failed: false,
        })
    }

    /// What the flash is to do before more is taken. From here until that is [done](Self::done) the
    /// file counts as lost.
    pub(super) fn due(&mut self) -> Option<Access<'_>> {
        if self.stage == Stage::EraseRest && self.head_end == self.end {
            self.stage = Stage::Pages;
        }
        if self.stage == Stage::LastPage && self.filled == 0 {
            self.stage = Stage::Head;
        }
        let access = match self.stage {
            Stage::EraseFirst => Access::Erase(self.start, self.head_end),
            Stage::EraseRest => Access::Erase(self.head_end, self.end),
            Stage::Pages if self.filled < self.page.len() => return None,
            Stage::Pages | Stage::LastPage => {
                Access::Write(self.place, raw::range(self.page, 0, self.filled))
            }
            Stage::Head => Access::Write(self.start, self.head),
            Stage::Done => return None,
        };
        if self.failed {
            return None;
        }
        self.failed = true;
        Some(access)
    }

    /// The flash did what was due.
    pub(super) fn done(&mut self) {
        self.failed = false;
        self.stage = match self.stage {
            Stage::EraseFirst => Stage::EraseRest,
            Stage::EraseRest => Stage::Pages,
            stage @ (Stage::Pages | Stage::LastPage) => {
                let written = u32::try_from(self.filled).unwrap_or(u32::MAX);
                self.place = self.place.saturating_add(written);
                self.filled = 0;
                stage
            }
            Stage::Head | Stage::Done => Stage::Done,
        };
    }

    /// Takes some of the file's next bytes; none after a failure, or behind its end.
    pub(super) fn take(&mut self, bytes: &[u8]) -> usize {
        if self.failed {
            return 0;
        }
        let left = raw::size(self.file_len.saturating_sub(self.taken)).unwrap_or(usize::MAX);
        let bytes = raw::range(bytes, 0, bytes.len().min(left));
        let head = raw::size(self.taken).and_then(|at| self.head.get_mut(at..));
        let len = match head {
            Some([]) | None => {
                let page = self.page.get_mut(self.filled..).unwrap_or_default();
                let len = fill(page, bytes);
                self.filled = self.filled.wrapping_add(len);
                len
            }
            Some(head) => fill(head, bytes),
        };
        self.taken = self.taken.wrapping_add(raw::wide(len));
        len
    }

    /// That all of the file came; what is still [due](Self::due) then is the end of it.
    ///
    /// Flash is written in blocks, so the last one is filled up with what erased flash holds.
    pub(super) fn close(&mut self) -> Result<(), WriteError> {
        let missing = self.file_len.saturating_sub(self.taken);
        if self.failed {
            return Err(WriteError::of_file(WriteErrorKind::SinkFull, self.taken));
        }
        if missing > 0 {
            return Err(WriteError::of_file(WriteErrorKind::MissingData, missing));
        }
        let unused = raw::size(self.taken).and_then(|at| self.head.get_mut(at..));
        unused.unwrap_or_default().fill(0xff);
        let whole = self.filled.checked_next_multiple_of(self.write_size).unwrap_or(usize::MAX);
        self.page.get_mut(self.filled..whole).unwrap_or_default().fill(0xff);
        self.filled = whole.min(self.page.len());
        self.stage = Stage::LastPage;
        Ok(())
    }
}

/// Copies as much as there is and as there is room for.
fn fill(to: &mut [u8], from: &[u8]) -> usize {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    to.len().min(from.len())
}
