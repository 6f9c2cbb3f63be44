//! The one place that indexes, casts and adds: what `const fn` cannot do through traits.
//!
//! Iterators, `get`, `?`, `u64::from` and slice comparison are not available in a `const fn`, so the
//! functions here replace them. Each one is total: an index out of range reads as zero or as an
//! empty slice, and nothing here can panic. The rest of the core is denied indexing, `as` and
//! unchecked arithmetic.
#![allow(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use core::cmp::Ordering;

/// Bytes in a machine word; strings are searched a word at a time.
pub(crate) const WORD: usize = size_of::<usize>();

/// Whether the machine is one where speed counts more than the size of the code. Both settings give
/// the same results; the tests ask for the small one on large machines.
pub(crate) const FAST: bool = WORD >= 8 && !cfg!(safetensors_core_small);

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

/// The two words that begin at `at`.
#[inline(always)]
pub(crate) const fn two_words(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    match chunk::<{ 2 * WORD }>(bytes, at) {
        Some(chunk) => match (chunk.first_chunk(), chunk.last_chunk()) {
            (Some(first), Some(second)) => {
                Some((usize::from_le_bytes(*first), usize::from_le_bytes(*second)))
            }
            _ => None,
        },
        None => None,
    }
}

/// The bytes `start..end`, or none when that is not a range of `bytes`.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn range(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    match bytes.split_at_checked(end) {
        Some((head, _)) => match head.split_at_checked(start) {
            Some((_, range)) => range,
            None => &[],
        },
        None => &[],
    }
}

/// Moves the bytes `start..end` so that they begin at `to`, if there is room. What `copy_within`
/// does, which can panic as far as a linker can see.
pub(crate) fn shift(bytes: &mut [u8], start: usize, end: usize, to: usize) {
    /// As many at once; they are all read before one is written.
    const BLOCK: usize = if FAST { 64 } else { WORD };
    let len = end.saturating_sub(start);
    let mut moved = 0;
    while moved < len {
        let step = if len - moved < BLOCK { 1 } else { BLOCK };
        // From the side to which they move.
        let at = if to > start { len - moved - step } else { moved };
        let (from, to) = (start.wrapping_add(at), to.wrapping_add(at));
        if step == 1 {
            let byte = byte(bytes, from);
            if let Some(place) = bytes.get_mut(to) {
                *place = byte;
            }
        } else if let Some(block) = chunk::<BLOCK>(bytes, from).copied()
            && let Some(place) = bytes.get_mut(to..).and_then(|rest| rest.first_chunk_mut())
        {
            *place = block;
        }
        moved += step;
    }
}

/// Marks (with its highest bit) each byte of `word` that is a quote, a backslash or a control
/// character. Marks above the lowest one may be wrong: a borrow runs upwards.
#[inline(always)]
pub(crate) const fn special_bytes(word: usize) -> usize {
    const ONES: usize = usize::MAX / 0xff;
    const HIGH: usize = ONES << 7;
    const QUOTES: usize = ONES.wrapping_mul(b'"' as usize);
    const BACKSLASHES: usize = ONES.wrapping_mul(b'\\' as usize);
    const SPACES: usize = ONES.wrapping_mul(b' ' as usize);
    let quote = (word ^ QUOTES).wrapping_sub(ONES);
    let backslash = (word ^ BACKSLASHES).wrapping_sub(ONES);
    let control = word.wrapping_sub(SPACES);
    (quote | backslash | control) & !word & HIGH
}

/// How many bytes stand before the first that is [special](special_bytes).
#[cold]
#[inline(never)]
pub(crate) const fn plain_bytes(bytes: &[u8; 2 * WORD]) -> usize {
    let (first, second) = words(bytes);
    match special_bytes(first) {
        0 => WORD + (special_bytes(second).trailing_zeros() / 8) as usize,
        special => (special.trailing_zeros() / 8) as usize,
    }
}

/// How many bytes stand before the first that is [special](special_bytes), a space or an exclamation
/// mark, of which names are seldom made: that is found with less.
#[inline(always)]
pub(crate) const fn harmless_bytes(bytes: &[u8; 2 * WORD]) -> usize {
    const ONES: usize = usize::MAX / 0xff;
    const HIGH: usize = ONES << 7;
    const BACKSLASHES: usize = ONES.wrapping_mul(b'\\' as usize);
    const HASHES: usize = ONES.wrapping_mul(b'#' as usize);
    /// Marks others, too, but none that is not ASCII, nor below the first that it should.
    const fn marks(word: usize) -> usize {
        (word.wrapping_sub(HASHES) | (word ^ BACKSLASHES).wrapping_sub(ONES)) & !word
    }
    let (first, second) = words(bytes);
    let (first, second) = (marks(first), marks(second));
    if (first | second) & HIGH == 0 {
        return 2 * WORD;
    }
    match first & HIGH {
        0 => WORD + ((second & HIGH).trailing_zeros() / 8) as usize,
        first => (first.trailing_zeros() / 8) as usize,
    }
}

/// How many bytes at the start of `bytes` are ASCII, or less: as far as some steps tell.
#[inline(always)]
pub(crate) const fn ascii_bytes(bytes: &[u8]) -> usize {
    const HIGH: u128 = (u128::MAX / 0xff) << 7;
    // In a text of other characters the blocks would be tried in vain.
    let Some((first, mut rest)) = bytes.split_first_chunk() else { return 0 };
    let others = u128::from_le_bytes(*first) & HIGH;
    if others != 0 {
        return (others.trailing_zeros() / 8) as usize;
    }
    while let Some((block, more)) = rest.split_first_chunk::<128>() {
        let mut all = 0;
        let (mut words, _) = block.as_chunks();
        while let [word, others @ ..] = words {
            all |= u128::from_le_bytes(*word);
            words = others;
        }
        if all & HIGH != 0 {
            break;
        }
        rest = more;
    }
    bytes.len() - rest.len()
}

/// Whether the bytes at `at` begin with `literal`.
#[inline(always)]
pub(crate) const fn starts_with<const N: usize>(
    bytes: &[u8],
    at: usize,
    literal: &[u8; N],
) -> bool {
    if !FAST {
        return equal(range(bytes, at, at.wrapping_add(N)), literal);
    }
    match chunk(bytes, at) {
        Some(chunk) => same(chunk, literal),
        None => false,
    }
}

/// Whether both are the same bytes, of which there are few: a comparison of words, which may overlap.
#[inline(always)]
pub(crate) const fn same<const N: usize>(a: &[u8; N], b: &[u8; N]) -> bool {
    /// Whether both begin, or end, with the same word.
    macro_rules! words {
        ($chunk:ident, $word:ident) => {
            match (a.$chunk(), b.$chunk()) {
                (Some(a), Some(b)) => $word::from_le_bytes(*a) == $word::from_le_bytes(*b),
                _ => false,
            }
        };
    }
    const { assert!(N <= 32) };
    match N {
        0 => true,
        1 => words!(first_chunk, u8),
        2 => words!(first_chunk, u16),
        3 => words!(first_chunk, u16) && words!(last_chunk, u8),
        4..8 => words!(first_chunk, u32) && words!(last_chunk, u32),
        8..13 => words!(first_chunk, u64) && words!(last_chunk, u32),
        13..17 => words!(first_chunk, u64) && words!(last_chunk, u64),
        17..21 => words!(first_chunk, u128) && words!(last_chunk, u32),
        _ => words!(first_chunk, u128) && words!(last_chunk, u128),
    }
}

/// Ones for the lowest `len` bytes.
#[inline(always)]
pub(crate) const fn first_bytes(len: usize) -> u128 {
    const MASKS: [u128; 16] = {
        let mut masks = [0; 16];
        let mut i = 1;
        while i < masks.len() {
            masks[i] = masks[i - 1] << 8 | 0xff;
            i += 1;
        }
        masks
    };
    if len < MASKS.len() { MASKS[len] } else { u128::MAX }
}

/// Whether both are the same bytes.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if FAST && let (Some(last_a), Some(last_b)) = (a.last_chunk(), b.last_chunk()) {
        let (mut a, mut b) = (a, b);
        while let Some((x, rest_a)) = a.split_first_chunk::<16>() {
            let Some((y, rest_b)) = b.split_first_chunk() else { return false };
            if !same(x, y) {
                return false;
            }
            (a, b) = (rest_a, rest_b);
        }
        // The rest is the end of these, and what stands before it is equal.
        return same::<16>(last_a, last_b);
    }
    if FAST && a.len() >= 8 {
        return same_at::<8>(a, b, 0) && same_at::<8>(a, b, a.len() - 8);
    }
    if FAST && a.len() >= 4 {
        return same_at::<4>(a, b, 0) && same_at::<4>(a, b, a.len() - 4);
    }
    if FAST && a.len() >= 2 {
        return same_at::<2>(a, b, 0) && same_at::<2>(a, b, a.len() - 2);
    }
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether the `N` bytes at `at` are the same in both.
#[inline(always)]
const fn same_at<const N: usize>(a: &[u8], b: &[u8], at: usize) -> bool {
    match chunk(b, at) {
        Some(chunk) => starts_with::<N>(a, at, chunk),
        None => false,
    }
}

/// Compares as `[u8]` does.
pub(crate) const fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    while FAST
        && let Some((x, more_a)) = rest_a.split_first_chunk()
        && let Some((y, more_b)) = rest_b.split_first_chunk()
    {
        let (x, y) = (u64::from_be_bytes(*x), u64::from_be_bytes(*y));
        if x != y {
            return order(x, y);
        }
        (rest_a, rest_b) = (more_a, more_b);
    }
    loop {
        match (rest_a, rest_b) {
            ([x, more_a @ ..], [y, more_b @ ..]) => {
                if *x != *y {
                    return order(*x as u64, *y as u64);
                }
                (rest_a, rest_b) = (more_a, more_b);
            }
            _ => return order(rest_a.len() as u64, rest_b.len() as u64),
        }
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

#[cfg(target_pointer_width = "64")]
type DoubleWord = u128;
#[cfg(not(target_pointer_width = "64"))]
type DoubleWord = u64;

/// A 32-bit hash of text that is given two words at a time.
#[derive(Clone, Copy)]
pub(crate) struct Hasher(usize);

impl Hasher {
    /// Digits of π, odd, cut to the machine's word.
    const FACTORS: [usize; 2] =
        [0x243f_6a88_85a3_08d3_u64 as usize, 0x1319_8a2e_0370_7345_u64 as usize];

    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Multiplies two words that depend on the text to twice their length and folds the halves,
    /// so that every bit of the text has its effect on every bit of the hash. The words themselves
    /// are folded in too, for one that was chosen to be zero hides the other in the product.
    #[inline(always)]
    pub(crate) const fn add(self, first: usize, second: usize) -> Self {
        let (a, b) = (self.0 ^ first ^ Self::FACTORS[0], second ^ Self::FACTORS[1]);
        let product = (a as DoubleWord).wrapping_mul(b as DoubleWord);
        Self(
            (product >> usize::BITS) as usize
                ^ product as usize
                ^ a
                ^ b.rotate_left(usize::BITS / 2),
        )
    }

    /// Ends the text of `len` bytes: the words hold its last `len % (2 * WORD)`, zeros behind.
    #[inline(always)]
    pub(crate) const fn finish(self, first: usize, second: usize, len: usize) -> u32 {
        let hash = (self.add(first, second).0 ^ len).wrapping_mul(Self::FACTORS[0]);
        (hash >> (usize::BITS - 32)) as u32
    }

    /// The hash of `bytes`.
    #[inline(always)]
    pub(crate) const fn hash(bytes: &[u8]) -> u32 {
        let mut hasher = Self::new();
        let mut rest = bytes;
        while let Some((two, more)) = rest.split_first_chunk() {
            let (first, second) = words(two);
            hasher = hasher.add(first, second);
            rest = more;
        }
        let (first, second) = last_words(bytes, rest);
        hasher.finish(first, second, bytes.len())
    }
}

/// Both words, the first byte of each the least significant.
#[inline(always)]
const fn words(bytes: &[u8; 2 * WORD]) -> (usize, usize) {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(second)) => {
            (usize::from_le_bytes(*first), usize::from_le_bytes(*second))
        }
        _ => (0, 0),
    }
}

/// `rest`, the end of `bytes` and fewer than two words, as two words with zeros behind.
#[inline(always)]
const fn last_words(bytes: &[u8], rest: &[u8]) -> (usize, usize) {
    if let Some(two) = bytes.last_chunk() {
        // One load of the last two words, from which the bytes before are shifted out.
        let (first, second) = words(two);
        let both = (second as DoubleWord) << usize::BITS | first as DoubleWord;
        let both = both.unbounded_shr(8 * (2 * WORD).saturating_sub(rest.len()) as u32);
        return (both as usize, (both >> usize::BITS) as usize);
    }
    match rest.split_first_chunk() {
        Some((first, rest)) => (usize::from_le_bytes(*first), last_word(bytes, rest)),
        None => (last_word(bytes, rest), 0),
    }
}

/// `rest`, the end of `bytes` and less than a word, as a word with zeros behind.
#[inline(always)]
const fn last_word(bytes: &[u8], rest: &[u8]) -> usize {
    if let Some(word) = bytes.last_chunk() {
        return usize::from_le_bytes(*word)
            .unbounded_shr(8 * WORD.saturating_sub(rest.len()) as u32);
    }
    let mut word = 0;
    let mut rest = rest;
    while let [others @ .., byte] = rest {
        word = word << 8 | *byte as usize;
        rest = others;
    }
    word
}

/// Reads decimal digits: the value of those in `next`, the first its least significant byte, that come
/// before any other character, and how many they are.
#[inline(always)]
pub(crate) const fn digits8(next: u64) -> (u64, usize) {
    // Digits become 0 to 9; whatever else gets its highest bit set below. A carry runs upwards, so
    // the lowest mark is right.
    let values = next ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let len = others.trailing_zeros() / 8;
    if len == 0 {
        return (0, 0);
    }
    // The first digit is in the lowest byte: zeros are shifted in before it. Then neighbours are
    // joined to numbers of two digits, of four, of eight.
    let digits = values << (64 - 8 * len);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    (low.wrapping_add(high) >> 32, len as usize)
}

/// The value of the 4 hexadecimal digits at `at`.
#[inline(always)]
pub(crate) const fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let Some(digits) = chunk::<4>(bytes, at) else { return None };
    let (mut unit, mut all) = (0, 0);
    let mut i = 0;
    while i < digits.len() {
        let digit = hex_digit(digits[i]);
        unit = unit << 4 | digit;
        all |= digit;
        i += 1;
    }
    // What is not a digit has a value over 15, which shows in the bits of all.
    if all > 0xf { None } else { Some(unit) }
}

/// The value of a hexadecimal digit; more than 15 for anything else.
#[inline(always)]
pub(crate) const fn hex_digit(byte: u8) -> u32 {
    let digit = byte.wrapping_sub(b'0');
    // Letters of both cases differ by this bit.
    let letter = (byte | 0x20).wrapping_sub(b'a');
    if digit <= 9 {
        digit as u32
    } else if letter <= 5 {
        letter as u32 + 10
    } else {
        0x10
    }
}

/// 10 to the power of `exponent`, which is 8 at most.
#[inline(always)]
pub(crate) const fn power_of_ten(exponent: usize) -> u64 {
    const POWERS: [u64; 9] =
        [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    if exponent < POWERS.len() { POWERS[exponent] } else { 0 }
}

/// `a / b`, and 0 where that is not a number.
#[inline(always)]
pub(crate) const fn quotient(a: usize, b: usize) -> usize {
    match a.checked_div(b) {
        Some(quotient) => quotient,
        None => 0,
    }
}

/// What `a / b` leaves, and 0 where that is not a number.
#[inline(always)]
pub(crate) const fn remainder(a: usize, b: usize) -> usize {
    match a.checked_rem(b) {
        Some(rest) => rest,
        None => 0,
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

/// `u8` as `usize`.
#[inline(always)]
pub(crate) const fn small(n: u8) -> usize {
    n as usize
}

/// `u32` as `u64`.
#[inline(always)]
pub(crate) const fn wide32(n: u32) -> u64 {
    n as u64
}

/// The code point of a character.
#[inline(always)]
pub(crate) const fn code(character: char) -> u32 {
    character as u32
}

/// The character of an ASCII byte.
#[inline(always)]
pub(crate) const fn ascii(byte: u8) -> char {
    byte as char
}

/// The lowest 32 bits of `n`.
#[inline(always)]
pub(crate) const fn low_bits(n: u64) -> u32 {
    n as u32
}

/// The lowest 8 bits of `n`.
#[inline(always)]
pub(crate) const fn low_byte(n: usize) -> u8 {
    n as u8
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
