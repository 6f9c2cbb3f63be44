//! Numbers in digits. The formatting of `core` can panic as far as a linker can see.

use core::{fmt, str};

use crate::raw;

/// A number in decimal.
pub(crate) struct Decimal(pub(crate) u64);

impl Decimal {
    pub(crate) fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        digits(self.0, 10, f)
    }
}

/// A number in hexadecimal.
pub(crate) struct Hex(pub(crate) u32);

impl Hex {
    pub(crate) fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        digits(u64::from(self.0), 16, f)
    }
}

fn digits(number: u64, base: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = &mut [0; MAX_DIGITS];
    f.write_str(str::from_utf8(spell(number, base, text)).unwrap_or(""))
}

/// As many digits as the largest number has.
pub(crate) const MAX_DIGITS: usize = 20;

/// Writes a number to the end of `text` and returns it there.
pub(crate) const fn spell(number: u64, base: u64, text: &mut [u8; MAX_DIGITS]) -> &[u8] {
    let mut left = number;
    let mut start = MAX_DIGITS;
    let mut free: &mut [u8] = text;
    while let Some((to, others)) = free.split_last_mut() {
        let (digit, rest) = match (left.checked_rem(base), left.checked_div(base)) {
            (Some(digit), Some(rest)) => (digit, rest),
            _ => (0, 0),
        };
        *to = match raw::size(digit) {
            Some(digit) => raw::byte(HEX, digit),
            None => b'0',
        };
        start = others.len();
        left = rest;
        if left == 0 {
            break;
        }
        free = others;
    }
    raw::range(text, start, MAX_DIGITS)
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The digit of a number below 16.
pub(crate) const fn hex(digit: u8) -> u8 {
    raw::byte(HEX, raw::small(digit))
}

/// `number` as 8 hexadecimal digits, zeros before it.
pub(crate) const fn hex8(number: u32) -> [u8; 8] {
    let mut text = [b'0'; MAX_DIGITS];
    spell(raw::wide32(number), 16, &mut text);
    match text.last_chunk() {
        Some(digits) => *digits,
        None => [b'0'; 8],
    }
}
