//! The header in pieces, each made when it is asked for.

use super::json::{Crumbs, Filler, LONGEST_CRUMB, Put, character};
use super::plan::Plan;
use crate::header::text::Bytes;
use crate::raw;

/// The header comes in crumbs; a sink gets pieces of so many bytes.
pub(super) const PIECE: usize = 128;

/// Room for a crumb and a quote that are begun just before the end of a piece.
const SPARE: usize = LONGEST_CRUMB + 1;

/// What [`Plan::put_header`] puts at once, piece by piece.
pub(super) struct Pieces<'p> {
    crumbs: Crumbs<'p>,
    /// The string that is being written.
    text: Option<Bytes<'p>>,
    /// The spaces that are still to come.
    padding: u64,
    piece: Piece,
    /// How much of it was given away.
    given: usize,
}

impl<'p> Pieces<'p> {
    pub(super) fn new(plan: &Plan<'p>) -> Self {
        let mut piece = Piece { bytes: [0; PIECE + SPARE], len: 0 };
        piece.put(&plan.prefix());
        Self { crumbs: plan.crumbs(), text: None, padding: plan.padding(), piece, given: 0 }
    }

    /// The next piece; all but the last are of one length.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        self.piece.remove(self.given);
        while self.piece.len < PIECE && self.add().is_some() {}
        self.given = self.piece.len.min(PIECE);
        let piece = raw::range(&self.piece.bytes, 0, self.given);
        (!piece.is_empty()).then_some(piece)
    }

    /// Adds a crumb, if there are more.
    fn add(&mut self) -> Option<()> {
        if let Some(text) = &mut self.text {
            while self.piece.len < PIECE {
                match text.next() {
                    Some(byte) => character(byte, &mut self.piece),
                    None => {
                        self.piece.put(b"\"");
                        self.text = None;
                        break;
                    }
                }
            }
        } else if let Some(text) = self.crumbs.put_next(&mut self.piece) {
            if let Some(text) = text {
                self.piece.put(b"\"");
                self.text = Some(text.bytes());
            }
        } else {
            self.padding = self.padding.checked_sub(1)?;
            self.piece.put(b" ");
        }
        Some(())
    }
}

struct Piece {
    bytes: [u8; PIECE + SPARE],
    len: usize,
}

impl Piece {
    /// Removes so many from the beginning.
    fn remove(&mut self, count: usize) {
        raw::shift(&mut self.bytes, count, self.len, 0);
        self.len = self.len.saturating_sub(count);
    }
}

impl Put for Piece {
    fn put(&mut self, bytes: &[u8]) {
        Filler(self.bytes.get_mut(self.len..).unwrap_or_default()).put(bytes);
        self.len = self.len.wrapping_add(bytes.len());
    }
}
