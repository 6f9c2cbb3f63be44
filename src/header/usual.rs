//! Entries that are spelled as every known writer spells them: without white space, the fields in the
//! order `dtype`, `shape`, `data_offsets`, no escapes.
//!
//! It takes a third of the time of what [`entry`](super::entry) does with any spelling. Small machines do
//! without it, as its size counts more there.

use super::description::RawTensor;
use super::entry::METADATA_KEY;
use super::scan::Cursor;
use super::text::Text;
use crate::Dtype;
use crate::layout::ElementCount;
use crate::raw::{self, FAST};

/// What an entry most likely has in common with the one before. Nothing on small machines.
#[derive(Clone, Copy)]
pub(super) struct Guess([Last; if FAST { 1 } else { 0 }]);

/// The tensor before.
#[derive(Clone, Copy)]
struct Last {
    dtype: Dtype,
    /// Where it ends, which is where the next begins.
    end: u64,
    /// As many bytes that number takes,
    end_len: usize,
    /// and is spelled in, the first the least significant.
    end_digits: u128,
}

impl Guess {
    pub(super) const NONE: Self =
        Self([Last { dtype: Dtype::BOOL, end: 0, end_len: 0, end_digits: 1 }; _]);
}

/// `Some` or leave.
macro_rules! some {
    ($option:expr) => {
        match $option {
            Some(value) => value,
            None => return None,
        }
    };
}

/// Takes an entry that is spelled in the usual way, with the comma before it unless it is the `first`;
/// otherwise `false`, and the cursor stays where it is.
#[inline(always)]
pub(super) const fn take<'data>(
    cursor: &mut Cursor<'data>,
    first: bool,
    guess: &mut Guess,
    tensor: &mut RawTensor<'data>,
) -> bool {
    let [last] = guess.0.as_mut_slice() else { return false };
    match entry(cursor, first, last, tensor) {
        Some(at) => {
            cursor.at = at;
            true
        }
        None => false,
    }
}

/// Returns where the entry ends.
#[inline(always)]
const fn entry<'data>(
    cursor: &Cursor<'data>,
    first: bool,
    last: &mut Last,
    tensor: &mut RawTensor<'data>,
) -> Option<usize> {
    let len = cursor.bytes.len();
    let (_, rest) = some!(cursor.bytes.split_at_checked(cursor.at));
    let rest = if first { rest } else { some!(after(rest, b",")) };
    let rest = some!(after(rest, b"\""));
    tensor.name_at = len.wrapping_sub(rest.len());
    let (name, rest) = some!(plain(rest));
    let rest = some!(after(rest, b"\":{\"dtype\":\""));
    let (dtype, rest) = some!(dtype(rest, last));
    let rest = some!(after(rest, b",\"shape\":["));
    tensor.shape = len.wrapping_sub(rest.len());
    let (count, rest) = some!(shape(rest));
    let rest = some!(after(rest, b"],\"data_offsets\":["));
    tensor.offsets = len.wrapping_sub(rest.len()).wrapping_sub(1);
    let (begin, rest) = some!(begin(rest, last));
    let rest = some!(after(rest, b","));
    let (end, rest) = some!(end(rest, last));
    let rest = some!(after(rest, b"]}"));
    if raw::equal(name, METADATA_KEY.as_bytes()) {
        return None;
    }
    tensor.name = Text::new(name, false);
    tensor.dtype = dtype;
    tensor.count = count;
    tensor.begin = begin;
    tensor.end = end;
    Some(len.wrapping_sub(rest.len()))
}

/// What follows `literal`, if that stands here.
#[inline(always)]
const fn after<'data, const N: usize>(rest: &'data [u8], literal: &[u8; N]) -> Option<&'data [u8]> {
    let (here, rest) = some!(rest.split_first_chunk());
    if raw::same(here, literal) { Some(rest) } else { None }
}

/// The characters up to a quote, and from it on; `None` if there is an escape among them, or what is no
/// string.
#[inline(always)]
const fn plain(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut ahead = rest;
    loop {
        let (word, more) = some!(ahead.split_first_chunk());
        let special = raw::special_bytes(usize::from_le_bytes(*word));
        if special != 0 {
            let len = rest.len().wrapping_sub(ahead.len());
            let len = len.wrapping_add(raw::index(special.trailing_zeros() / 8));
            return rest.split_at_checked(len);
        }
        ahead = more;
    }
}

/// The dtype, behind its quote.
#[inline(always)]
const fn dtype<'data>(rest: &'data [u8], last: &mut Last) -> Option<(Dtype, &'data [u8])> {
    // Tensors of one dtype mostly stand together.
    let next = u64::from_le_bytes(*some!(rest.first_chunk()));
    if let Some(len) = last.dtype.leads(next) {
        let (_, rest) = some!(rest.split_at_checked(len));
        return Some((last.dtype, rest));
    }
    let (name, rest) = some!(plain(rest));
    last.dtype = some!(Dtype::from_bytes(name));
    Some((last.dtype, some!(after(rest, b"\""))))
}

/// The number of elements, up to the closing bracket.
#[inline(always)]
const fn shape(rest: &[u8]) -> Option<(ElementCount, &[u8])> {
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
        match rest {
            [b',', rest @ ..] => ahead = rest,
            _ => return Some((count, rest)),
        }
    }
}

/// Where the tensor begins.
#[inline(always)]
const fn begin<'data>(rest: &'data [u8], last: &Last) -> Option<(u64, &'data [u8])> {
    let next = u128::from_le_bytes(*some!(rest.first_chunk()));
    if raw::first_bytes(next, last.end_len) != last.end_digits {
        return number(rest);
    }
    let (_, rest) = some!(rest.split_at_checked(last.end_len));
    Some((last.end, rest))
}

/// Where the tensor ends.
#[inline(always)]
const fn end<'data>(rest: &'data [u8], last: &mut Last) -> Option<(u64, &'data [u8])> {
    let next = u128::from_le_bytes(*some!(rest.first_chunk()));
    let (end, rest_behind) = some!(number(rest));
    last.end = end;
    last.end_len = rest.len().wrapping_sub(rest_behind.len());
    last.end_digits = raw::first_bytes(next, last.end_len);
    Some((end, rest_behind))
}

/// A number of up to 15 digits without a zero in front. What follows is not looked at.
#[inline(always)]
const fn number(rest: &[u8]) -> Option<(u64, &[u8])> {
    let next = u64::from_le_bytes(*some!(rest.first_chunk()));
    let (value, len) = raw::digits8(next);
    if len == 0 || (len > 1 && raw::starts_with(rest, 0, b"0")) {
        return None;
    }
    let (_, rest) = some!(rest.split_at_checked(len));
    if len < 8 {
        return Some((value, rest));
    }
    let next = u64::from_le_bytes(*some!(rest.first_chunk()));
    let (low, len) = raw::digits8(next);
    if len == 8 {
        return None;
    }
    let (_, rest) = some!(rest.split_at_checked(len));
    Some((value.wrapping_mul(raw::power_of_ten(len)).wrapping_add(low), rest))
}
