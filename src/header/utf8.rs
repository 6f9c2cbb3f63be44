//! The check that a header is UTF-8 ([Unicode 16, table 3-7](https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G27506)).
//!
//! `core::str::from_utf8` says the same, with twice the code and a table, which is a tenth of what
//! a small machine has for all of the parser.

use crate::raw::{self, FAST};

/// Where the first byte stands that does not belong to a well-formed sequence's beginning.
pub(crate) const fn first_error(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        if FAST && raw::byte(bytes, at).is_ascii() {
            at = at.wrapping_add(raw::ascii_bytes(raw::range(bytes, at, bytes.len())));
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
    let lead = raw::byte(bytes, at);
    let (len, least) = match lead.leading_ones() {
        0 => return if at < bytes.len() { 1 } else { 0 },
        2 => (2, 0x80),
        3 => (3, 0x800),
        4 => (4, 0x1_0000),
        _ => return 0,
    };
    let mut code = raw::small(lead) & (0x7f >> len);
    let mut i = 1;
    while i < len {
        let byte = raw::byte(bytes, at.wrapping_add(i));
        if byte & 0xc0 != 0x80 {
            return 0;
        }
        code = code << 6 | raw::small(byte & 0x3f);
        i = i.wrapping_add(1);
    }
    // Not in the shortest form, half of a surrogate pair, or beyond Unicode.
    if code < least || char::from_u32(raw::position(code)).is_none() {
        return 0;
    }
    len
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
        let mut bytes = [b'a'; 140];
        for before in [0, 7, 60, 63, 136] {
            for a in EDGES {
                for b in EDGES {
                    for c in EDGES {
                        for d in EDGES {
                            bytes[before..before + 4].copy_from_slice(&[a, b, c, d]);
                            for len in [before + 1, before + 2, before + 3, before + 4, 140] {
                                let expected = core::str::from_utf8(&bytes[..len]);
                                let expected = expected.err().map(|error| error.valid_up_to());
                                assert_eq!(first_error(&bytes[..len]), expected);
                            }
                        }
                    }
                }
            }
            bytes = [b'a'; 140];
        }
    }
}
