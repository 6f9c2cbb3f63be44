//! Entries that are spelled as every known writer spells them: the fields in the order `dtype`, `shape`,
//! `data_offsets`, no escapes, and no white space, or a space behind each comma and colon, which is how
//! Python's `json` writes.
//!
//! It takes less than half of what [`entry`](super::entry) does with any spelling. Small machines do
//! without it, as its size counts more there.

use super::description::RawTensor;
use super::entry::METADATA_KEY;
use super::scan::Cursor;
use super::text::Text;
use crate::Dtype;
use crate::layout::ElementCount;
use crate::raw::{self, FAST};

/// `Some` or leave.
macro_rules! some {
    ($option:expr) => {
        match $option {
            Some(value) => value,
            None => return None,
        }
    };
}

/// What an entry most likely has in common with the one before. Nothing on small machines.
#[derive(Clone, Copy)]
pub(super) struct Guess([Last; if FAST { 1 } else { 0 }]);

/// The tensor before.
#[derive(Clone, Copy)]
struct Last {
    dtype: Dtype,
    /// As it is spelled, with the quote behind it.
    dtype_text: Start,
    /// Where it ends, which is where the next begins,
    end: u64,
    /// and as that is spelled.
    end_text: Start,
}

impl Guess {
    pub(super) const NONE: Self = Self(
        [Last { dtype: Dtype::BOOL, dtype_text: Start::NONE, end: 0, end_text: Start::NONE }; _],
    );
}

/// The first bytes of a text.
#[derive(Clone, Copy)]
struct Start {
    /// As many bytes,
    len: usize,
    /// the first the least significant,
    bytes: u128,
    /// and ones for them.
    mask: u128,
}

impl Start {
    /// What no text begins with.
    const NONE: Self = Self { len: 0, bytes: 1, mask: 0 };

    /// The first `len` bytes of a text that goes on behind them.
    #[inline(always)]
    const fn of(text: &[u8], len: usize) -> Self {
        match text.first_chunk() {
            Some(next) => {
                let mask = raw::first_bytes(len);
                Self { len, bytes: u128::from_le_bytes(*next) & mask, mask }
            }
            None => Self::NONE,
        }
    }

    /// What follows these bytes, if `text` begins with them.
    #[inline(always)]
    const fn strip<'data>(&self, text: &'data [u8]) -> Option<&'data [u8]> {
        let next = u128::from_le_bytes(*some!(text.first_chunk()));
        if next & self.mask != self.bytes {
            return None;
        }
        let (_, rest) = some!(text.split_at_checked(self.len));
        Some(rest)
    }
}

/// Takes an entry that is spelled in the usual way, `SPACED` or not, with the comma before it unless it
/// is the `first`; otherwise the cursor stays where it is.
#[inline(always)]
pub(super) const fn take<'data, const SPACED: bool>(
    cursor: &mut Cursor<'data>,
    first: bool,
    guess: &mut Guess,
) -> Option<RawTensor<'data>> {
    /// What follows one of the two literals.
    macro_rules! after {
        ($rest:expr, $spaced:literal, $dense:literal) => {
            some!(if SPACED { after($rest, $spaced) } else { after($rest, $dense) })
        };
    }
    let [last] = guess.0.as_mut_slice() else { return None };
    let len = cursor.bytes.len();
    let (_, rest) = some!(cursor.bytes.split_at_checked(cursor.at));
    let rest = if first { rest } else { after!(rest, b", ", b",") };
    let rest = some!(after(rest, b"\""));
    let name_at = len.wrapping_sub(rest.len());
    let (name, rest) = some!(plain(rest));
    let rest = after!(rest, b"\": {\"dtype\": \"", b"\":{\"dtype\":\"");
    let (dtype, rest) = some!(dtype(rest, last));
    let rest = after!(rest, b", \"shape\": [", b",\"shape\":[");
    let shape = len.wrapping_sub(rest.len());
    let (count, rest) = some!(elements::<SPACED>(rest));
    let rest = after!(rest, b"], \"data_offsets\": [", b"],\"data_offsets\":[");
    let offsets = len.wrapping_sub(rest.len()).wrapping_sub(1);
    let (begin, rest) = some!(begin(rest, last));
    let rest = after!(rest, b", ", b",");
    let (end, rest) = some!(end(rest, last));
    let rest = some!(after(rest, b"]}"));
    if raw::equal(name, METADATA_KEY.as_bytes()) {
        return None;
    }
    cursor.at = len.wrapping_sub(rest.len());
    let name = Text::new(name, false);
    Some(RawTensor { name, name_at, shape, offsets, begin, end, count, dtype })
}

/// What follows `literal`, if that stands here.
#[inline(always)]
const fn after<'data, const N: usize>(rest: &'data [u8], literal: &[u8; N]) -> Option<&'data [u8]> {
    let (here, rest) = some!(rest.split_first_chunk());
    if raw::same(here, literal) { Some(rest) } else { None }
}

/// The characters up to a quote, and from it on; `None` if there is an escape among them, or what is no
/// string, or little behind them.
#[inline(always)]
const fn plain(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut ahead = rest;
    loop {
        let (two, more) = some!(ahead.split_first_chunk());
        let harmless = raw::harmless_bytes(two);
        if harmless == two.len() {
            ahead = more;
            continue;
        }
        let (_, behind) = some!(ahead.split_at_checked(harmless));
        match behind {
            [b'"', ..] => return rest.split_at_checked(rest.len().wrapping_sub(behind.len())),
            [b' ' | b'!', ..] => (_, ahead) = some!(ahead.split_at_checked(raw::plain_bytes(two))),
            _ => return None,
        }
    }
}

/// The dtype, behind its quote.
#[inline(always)]
const fn dtype<'data>(rest: &'data [u8], last: &mut Last) -> Option<(Dtype, &'data [u8])> {
    // Tensors of one dtype mostly stand together.
    if let Some(rest) = last.dtype_text.strip(rest) {
        return Some((last.dtype, rest));
    }
    let (name, behind) = some!(plain(rest));
    last.dtype = some!(Dtype::from_bytes(name));
    last.dtype_text = Start::of(rest, name.len().wrapping_add(1));
    Some((last.dtype, some!(after(behind, b"\""))))
}

/// The number of elements, up to the closing bracket.
#[inline(always)]
const fn elements<const SPACED: bool>(rest: &[u8]) -> Option<(ElementCount, &[u8])> {
    let mut count = ElementCount::ONE;
    if let [b']', ..] = rest {
        return Some((count, rest));
    }
    let mut ahead = rest;
    loop {
        let (dim, rest) = some!(number(ahead));
        count = match count.times(dim) {
            Ok(count) => count,
            Err(_) => return None,
        };
        ahead = match rest {
            [b',', b' ', rest @ ..] if SPACED => rest,
            [b',', rest @ ..] => rest,
            _ => return Some((count, rest)),
        };
    }
}

/// Where the tensor begins.
#[inline(always)]
const fn begin<'data>(rest: &'data [u8], last: &Last) -> Option<(u64, &'data [u8])> {
    match last.end_text.strip(rest) {
        Some(rest) => Some((last.end, rest)),
        None => number(rest),
    }
}

/// Where the tensor ends.
#[inline(always)]
const fn end<'data>(rest: &'data [u8], last: &mut Last) -> Option<(u64, &'data [u8])> {
    let (end, behind) = some!(number(rest));
    last.end = end;
    last.end_text = Start::of(rest, rest.len().wrapping_sub(behind.len()));
    Some((end, behind))
}

/// A number of up to 15 digits without a zero in front. What follows is not looked at.
#[inline(always)]
const fn number(rest: &[u8]) -> Option<(u64, &[u8])> {
    let Some(next) = rest.first_chunk() else { return short_number(rest) };
    let (value, len) = raw::digits8(u64::from_le_bytes(*next));
    if len == 0 || (len > 1 && raw::starts_with(rest, 0, b"0")) {
        return None;
    }
    let (_, rest) = some!(rest.split_at_checked(len));
    if len < 8 {
        return Some((value, rest));
    }
    let (low, len) = raw::digits8(u64::from_le_bytes(*some!(rest.first_chunk())));
    if len == 8 {
        return None;
    }
    let (_, rest) = some!(rest.split_at_checked(len));
    Some((value.wrapping_mul(raw::power_of_ten(len)).wrapping_add(low), rest))
}

/// [`number`] where fewer than 8 bytes are left, at the end of a header.
#[cold]
const fn short_number(rest: &[u8]) -> Option<(u64, &[u8])> {
    let mut next = [0; 8];
    let mut ahead = rest;
    let mut to: &mut [u8] = &mut next;
    while let (Some((byte, more)), Some((place, places))) =
        (ahead.split_first(), to.split_first_mut())
    {
        *place = *byte;
        (ahead, to) = (more, places);
    }
    let (value, len) = raw::digits8(u64::from_le_bytes(next));
    if len == 0 || (len > 1 && raw::starts_with(rest, 0, b"0")) {
        return None;
    }
    let (_, rest) = some!(rest.split_at_checked(len));
    Some((value, rest))
}
