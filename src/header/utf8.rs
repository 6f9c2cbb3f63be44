//! The check that a header is UTF-8 ([Unicode 16, table 3-7](https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G27506)).
//!
//! `core::str::from_utf8` says the same, with twice the code and a table, which is a tenth of what
//! a small machine has for all of the parser.

use crate::raw::{self, FAST};

/// Where the first byte stands that does not belong to a well-formed sequence's beginning.
pub(crate) const fn first_error(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        while FAST && raw::is_ascii32(bytes, at) {
            at = at.wrapping_add(32);
        }
        match sequence(bytes, at) {
            0 => return if at < bytes.len() { Some(at) } else { None },
            len => at = at.wrapping_add(len),
        }
    }
    None
}

/// The length of the well-formed sequence at `at`; 0 if there is none.
#[inline(always)]
const fn sequence(bytes: &[u8], at: usize) -> usize {
    let second = raw::byte(bytes, at.wrapping_add(1));
    let (len, second_is_right) = match raw::byte(bytes, at) {
        0..=0x7f => return if at < bytes.len() { 1 } else { 0 },
        0xc2..=0xdf => (2, matches!(second, 0x80..=0xbf)),
        0xe0 => (3, matches!(second, 0xa0..=0xbf)),
        0xed => (3, matches!(second, 0x80..=0x9f)),
        0xe1..=0xef => (3, matches!(second, 0x80..=0xbf)),
        0xf0 => (4, matches!(second, 0x90..=0xbf)),
        0xf1..=0xf3 => (4, matches!(second, 0x80..=0xbf)),
        0xf4 => (4, matches!(second, 0x80..=0x8f)),
        _ => return 0,
    };
    let mut continued = second_is_right;
    let mut i = 2;
    while i < len {
        continued &= raw::byte(bytes, at.wrapping_add(i)) & 0xc0 == 0x80;
        i = i.wrapping_add(1);
    }
    if continued { len } else { 0 }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::first_error;

    /// Every sequence of up to 4 bytes whose bytes are at the edges of the ranges, alone and at
    /// each place around a word.
    #[test]
    fn agrees_with_core() {
        const EDGES: [u8; 25] = [
            0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
            0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        let mut bytes = [b'a'; 40];
        for before in [0, 7, 16, 31, 36] {
            for a in EDGES {
                for b in EDGES {
                    for c in EDGES {
                        for d in EDGES {
                            bytes[before..before + 4].copy_from_slice(&[a, b, c, d]);
                            for len in [before + 1, before + 2, before + 3, before + 4, 40] {
                                let expected = core::str::from_utf8(&bytes[..len]);
                                let expected = expected.err().map(|error| error.valid_up_to());
                                assert_eq!(first_error(&bytes[..len]), expected);
                            }
                        }
                    }
                }
            }
            bytes = [b'a'; 40];
        }
    }
}
