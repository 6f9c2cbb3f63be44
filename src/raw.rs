//! The one place that indexes, casts and adds: what `const fn` cannot do through traits.
//!
//! Iterators, `get`, `?`, `u64::from` and slice comparison are not available in a `const fn`, so the
//! functions here replace them. Each one is total: an index out of range reads as zero or as an
//! empty slice, and nothing here can panic. The rest of the core is denied indexing, `as` and
//! unchecked arithmetic.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects
)]

use core::cmp::Ordering;

/// Bytes in a machine word; strings are searched a word at a time.
pub(crate) const WORD: usize = size_of::<usize>();

/// The byte at `at`, or 0 behind the end. JSON has no use for a NUL, so the scanner needs no
/// second test for the end of the header.
#[inline(always)]
pub(crate) const fn byte(bytes: &[u8], at: usize) -> u8 {
    if at < bytes.len() { bytes[at] } else { 0 }
}

/// The `N` bytes that begin at `at`, when there are as many.
#[inline(always)]
pub(crate) const fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    match bytes.split_at_checked(at) {
        Some((_, rest)) => rest.first_chunk(),
        None => None,
    }
}

/// The word that begins at `at`, its first byte the least significant.
#[inline(always)]
pub(crate) const fn word(bytes: &[u8], at: usize) -> Option<usize> {
    match chunk(bytes, at) {
        Some(chunk) => Some(usize::from_le_bytes(*chunk)),
        None => None,
    }
}

/// The bytes `start..end`, or none when that is not a range of `bytes`.
#[inline]
pub(crate) const fn range(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    match bytes.split_at_checked(end) {
        Some((head, _)) => match head.split_at_checked(start) {
            Some((_, range)) => range,
            None => &[],
        },
        None => &[],
    }
}

/// Whether the bytes at `at` begin with `literal`.
#[inline(always)]
pub(crate) const fn starts_with<const N: usize>(bytes: &[u8], at: usize, literal: &[u8; N]) -> bool {
    match chunk::<N>(bytes, at) {
        Some(chunk) => {
            let mut same = true;
            let mut i = 0;
            while i < N {
                same &= chunk[i] == literal[i];
                i += 1;
            }
            same
        }
        None => false,
    }
}

/// Compares as `[u8]` does.
pub(crate) const fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let mut i = 0;
    loop {
        match (word(a, i), word(b, i)) {
            (Some(x), Some(y)) if x == y => i += WORD,
            _ => break,
        }
    }
    loop {
        if i >= a.len() || i >= b.len() {
            return order(a.len() as u64, b.len() as u64);
        }
        if a[i] != b[i] {
            return order(a[i] as u64, b[i] as u64);
        }
        i += 1;
    }
}

/// Compares as `u64` does.
pub(crate) const fn order(a: u64, b: u64) -> Ordering {
    if a < b {
        Ordering::Less
    } else if a > b {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// A 32-bit hash of text that is given a word at a time.
#[derive(Clone, Copy)]
pub(crate) struct Hasher(usize);

impl Hasher {
    /// The multiplier is π's fraction, odd, cut to the machine's word.
    const FACTOR: usize = 0x243f_6a88_85a3_08d3_u64 as usize;

    pub(crate) const fn new() -> Self {
        Self(0)
    }

    #[inline(always)]
    pub(crate) const fn word(self, word: usize) -> Self {
        Self((self.0.rotate_left(5) ^ word).wrapping_mul(Self::FACTOR))
    }

    /// Ends the text: `rest` holds its last `len % WORD` bytes, zeros above.
    #[inline(always)]
    pub(crate) const fn finish(self, rest: usize, len: usize) -> u32 {
        let hash = self.word(rest).word(len).0;
        (hash ^ (hash >> (usize::BITS / 2))).wrapping_mul(Self::FACTOR).rotate_left(usize::BITS / 2) as u32
    }

    /// The hash of `bytes`.
    pub(crate) const fn hash(bytes: &[u8]) -> u32 {
        let mut hasher = Self::new();
        let mut at = 0;
        while let Some(word) = word(bytes, at) {
            hasher = hasher.word(word);
            at += WORD;
        }
        let mut rest = 0;
        let mut i = bytes.len();
        while i > at {
            i -= 1;
            rest = rest << 8 | bytes[i] as usize;
        }
        hasher.finish(rest, bytes.len())
    }
}

/// `usize` as `u64`, on every machine.
#[inline(always)]
pub(crate) const fn wide(n: usize) -> u64 {
    n as u64
}

/// `u32` as `usize`; all supported machines have at least 32 bits.
#[inline(always)]
pub(crate) const fn index(n: u32) -> usize {
    n as usize
}

/// `n` as `u32`, which positions in a header are (its length is limited to that when it is read).
#[inline(always)]
pub(crate) const fn position(n: usize) -> u32 {
    n as u32
}

/// `n` as `usize`, when this machine can count as far.
#[inline(always)]
pub(crate) const fn size(n: u64) -> Option<usize> {
    if n as usize as u64 == n { Some(n as usize) } else { None }
}
