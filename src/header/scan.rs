//! The JSON grammar ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)): the only code that walks
//! header bytes.
//!
//! A function that fails leaves the cursor where the error is. UTF-8 is checked before, for the
//! whole header at once.

use crate::ErrorKind;
use crate::raw::{self, FAST, WORD};

/// Evaluates to the value of an `Ok`; returns an `Err`. `?` is not available in a `const fn`.
macro_rules! tri {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}
pub(crate) use tri;

/// The deepest nesting of arrays and objects, the header's own object included: one less than
/// the 128 at which the reference's parser gives up.
pub(crate) const MAX_DEPTH: u8 = 127;

/// A place in the header.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'data> {
    /// The input from its first byte to the end of the header.
    pub(crate) bytes: &'data [u8],
    /// Where the cursor is; never behind the end of `bytes`.
    pub(crate) at: usize,
}

impl<'data> Cursor<'data> {
    pub(crate) const fn new(bytes: &'data [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The byte under the cursor, 0 at the end.
    #[inline(always)]
    pub(crate) const fn peek(&self) -> u8 {
        raw::byte(self.bytes, self.at)
    }

    #[inline(always)]
    pub(crate) const fn advance(&mut self, by: usize) {
        self.at = self.at.wrapping_add(by);
    }

    /// `kind`, unless the reason is that the header ends here.
    #[cold]
    pub(crate) const fn fail<T>(&self, kind: ErrorKind) -> Result<T, ErrorKind> {
        Err(if self.at >= self.bytes.len() { ErrorKind::UnexpectedEnd } else { kind })
    }

    /// Skips white space and returns the byte behind it.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn skip_space(&mut self) -> u8 {
        loop {
            let byte = self.peek();
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return byte;
            }
            self.advance(1);
        }
    }

    /// Takes `byte`, white space before it allowed.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn expect(&mut self, byte: u8, kind: ErrorKind) -> Result<(), ErrorKind> {
        if self.skip_space() != byte {
            return self.fail(kind);
        }
        self.advance(1);
        Ok(())
    }

    /// Steps to the next item of an array or object that ends with `close`, before its first byte.
    /// `false`: there is none, and the cursor is behind the `close`.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn next_item(&mut self, first: bool, close: u8) -> Result<bool, ErrorKind> {
        let mut byte = self.skip_space();
        if byte == close {
            self.advance(1);
            return Ok(false);
        }
        if !first {
            if byte != b',' {
                return self.fail(ErrorKind::ExpectedComma);
            }
            self.advance(1);
            byte = self.skip_space();
            if byte == close {
                return Err(if close == b'}' {
                    ErrorKind::ExpectedKey
                } else {
                    ErrorKind::ExpectedValue
                });
            }
        }
        Ok(true)
    }

    /// Steps to the next key of an object, behind its opening quote. `false`: there is none, and
    /// the cursor is behind the object.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn next_key(&mut self, first: bool) -> Result<bool, ErrorKind> {
        if !tri!(self.next_item(first, b'}')) {
            return Ok(false);
        }
        if self.peek() != b'"' {
            return self.fail(ErrorKind::ExpectedKey);
        }
        self.advance(1);
        Ok(true)
    }

    /// Takes the rest of a string, from behind its opening quote to behind the closing one.
    /// Returns whether it has escapes.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn string(&mut self) -> Result<bool, ErrorKind> {
        let mut escaped = false;
        loop {
            while FAST && let Some((first, second)) = raw::two_words(self.bytes, self.at) {
                let special = raw::special_bytes(first);
                if special != 0 {
                    self.advance(raw::index(special.trailing_zeros() / 8));
                    break;
                }
                self.advance(WORD);
                let special = raw::special_bytes(second);
                if special != 0 {
                    self.advance(raw::index(special.trailing_zeros() / 8));
                    break;
                }
                self.advance(WORD);
            }
            match self.peek() {
                b'"' => {
                    self.advance(1);
                    return Ok(escaped);
                }
                b'\\' => {
                    escaped = true;
                    if FAST && is_short_escape(raw::byte(self.bytes, self.at.wrapping_add(1))) {
                        self.advance(2);
                    } else {
                        tri!(self.escape());
                    }
                }
                0..=0x1f => return self.fail(ErrorKind::ControlCharacter),
                _ => self.advance(1),
            }
        }
    }

    /// Takes an escape sequence, both halves of a surrogate pair together.
    const fn escape(&mut self) -> Result<(), ErrorKind> {
        let start = *self;
        self.advance(1);
        match self.peek() {
            byte if is_short_escape(byte) => {
                self.advance(1);
                Ok(())
            }
            b'u' => {
                self.advance(1);
                let first = tri!(self.hex4());
                if !matches!(first, 0xd800..=0xdfff) {
                    return Ok(());
                }
                if first < 0xdc00 && raw::starts_with(self.bytes, self.at, b"\\u") {
                    self.advance(2);
                    if matches!(tri!(self.hex4()), 0xdc00..=0xdfff) {
                        return Ok(());
                    }
                }
                *self = start;
                Err(ErrorKind::UnpairedSurrogate)
            }
            _ => self.fail(ErrorKind::InvalidEscape),
        }
    }

    const fn hex4(&mut self) -> Result<u32, ErrorKind> {
        if FAST && let Some(unit) = raw::hex4(self.bytes, self.at) {
            self.advance(4);
            return Ok(unit);
        }
        let mut unit = 0;
        let mut left: u8 = 4;
        while left > 0 {
            let digit = raw::hex_digit(self.peek());
            if digit > 0xf {
                return self.fail(ErrorKind::InvalidEscape);
            }
            unit = unit << 4 | digit;
            self.advance(1);
            left = left.wrapping_sub(1);
        }
        Ok(unit)
    }

    /// Takes `literal` if it stands here.
    #[inline(always)]
    pub(crate) const fn take<const N: usize>(&mut self, literal: &[u8; N]) -> bool {
        let found = raw::starts_with(self.bytes, self.at, literal);
        if found {
            self.advance(N);
        }
        found
    }

    /// Takes an integer from 0 to 2⁶⁴ − 1 and nothing else that JSON calls a number.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn unsigned(&mut self) -> Result<u64, ErrorKind> {
        let start = self.at;
        let mut value: u64 = 0;
        loop {
            let (mut digits, mut len) = (0, 0);
            if FAST && let Some(next) = raw::chunk(self.bytes, self.at) {
                (digits, len) = raw::digits8(u64::from_le_bytes(*next));
            }
            if len == 0 {
                // One at a time: small machines, and the last bytes of a header.
                let digit = self.peek().wrapping_sub(b'0');
                if digit > 9 {
                    break;
                }
                (digits, len) = (raw::wide(raw::small(digit)), 1);
            }
            let sum = match value.checked_mul(raw::power_of_ten(len)) {
                Some(shifted) => shifted.checked_add(digits),
                None => None,
            };
            let Some(sum) = sum else {
                self.at = start;
                return Err(ErrorKind::NotUnsigned);
            };
            value = sum;
            self.advance(len);
            if len > 1 && len < 8 {
                break;
            }
        }
        let digits = self.at.wrapping_sub(start);
        let leading_zero = digits > 1 && raw::byte(self.bytes, start) == b'0';
        if digits == 0 || leading_zero || matches!(self.peek(), b'.' | b'e' | b'E') {
            self.at = start;
            return self.fail(ErrorKind::NotUnsigned);
        }
        Ok(value)
    }

    /// Takes any number. Its value may be beyond the range of a float: nobody asks for it.
    const fn number(&mut self) -> Result<(), ErrorKind> {
        if self.peek() == b'-' {
            self.advance(1);
        }
        if self.peek() == b'0' {
            self.advance(1);
        } else {
            tri!(self.digits());
        }
        if self.peek() == b'.' {
            self.advance(1);
            tri!(self.digits());
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.advance(1);
            if matches!(self.peek(), b'+' | b'-') {
                self.advance(1);
            }
            tri!(self.digits());
        }
        // What may not follow, as the second digit of 01, is found by who expects a comma.
        Ok(())
    }

    const fn digits(&mut self) -> Result<(), ErrorKind> {
        if !self.peek().is_ascii_digit() {
            return self.fail(ErrorKind::InvalidNumber);
        }
        while self.peek().is_ascii_digit() {
            self.advance(1);
        }
        Ok(())
    }

    const fn literal(&mut self, literal: &[u8]) -> Result<(), ErrorKind> {
        let rest = raw::range(self.bytes, self.at, self.bytes.len());
        let (here, cut_off) = match rest.split_at_checked(literal.len()) {
            Some((here, _)) => (here, false),
            None => (rest, true),
        };
        if !raw::equal(here, raw::range(literal, 0, here.len())) {
            return Err(ErrorKind::ExpectedValue);
        }
        if cut_off {
            return Err(ErrorKind::UnexpectedEnd);
        }
        self.advance(literal.len());
        Ok(())
    }

    /// Takes any value, checked, in constant memory: one bit for each array or object around it
    /// says which of the two it is. `depth` arrays and objects are open already.
    pub(crate) const fn skip_value(&mut self, depth: u8) -> Result<(), ErrorKind> {
        let mut open = Nesting { objects: 0, depth };
        loop {
            // A value begins here, or the first item of what was opened last.
            match self.skip_space() {
                b'"' => {
                    self.advance(1);
                    tri!(self.string());
                }
                byte @ (b'{' | b'[') => {
                    tri!(open.push(byte == b'{'));
                    self.advance(1);
                    if tri!(self.next_nested(&open, true)) {
                        continue;
                    }
                    open.pop();
                }
                b'-' | b'0'..=b'9' => tri!(self.number()),
                b't' => tri!(self.literal(b"true")),
                b'f' => tri!(self.literal(b"false")),
                b'n' => tri!(self.literal(b"null")),
                _ => return self.fail(ErrorKind::ExpectedValue),
            }
            // A value ended here; maybe what is around it does, too.
            loop {
                if open.depth == depth {
                    return Ok(());
                }
                if tri!(self.next_nested(&open, false)) {
                    break;
                }
                open.pop();
            }
        }
    }

    /// Steps to the next value of the innermost array or object, over its key.
    const fn next_nested(&mut self, open: &Nesting, first: bool) -> Result<bool, ErrorKind> {
        if !open.in_object() {
            return self.next_item(first, b']');
        }
        if !tri!(self.next_key(first)) {
            return Ok(false);
        }
        tri!(self.string());
        tri!(self.expect(b':', ErrorKind::ExpectedColon));
        Ok(true)
    }
}

/// Whether a backslash and this character are an escape sequence.
#[inline(always)]
const fn is_short_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

/// The arrays and objects that are open, the innermost in the lowest bit.
struct Nesting {
    objects: u128,
    depth: u8,
}

impl Nesting {
    const fn push(&mut self, object: bool) -> Result<(), ErrorKind> {
        if self.depth >= MAX_DEPTH {
            return Err(ErrorKind::NestingTooDeep);
        }
        self.depth = self.depth.wrapping_add(1);
        self.objects = self.objects << 1 | if object { 1 } else { 0 };
        Ok(())
    }

    const fn pop(&mut self) {
        self.depth = self.depth.wrapping_sub(1);
        self.objects >>= 1;
    }

    const fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

/// The character that the escape sequence at the start of `text` stands for, and what follows it.
/// `text` was accepted by [`Cursor::string`].
pub(crate) const fn unescape(text: &[u8]) -> (char, &[u8]) {
    let mut cursor = Cursor::new(text, 2);
    let character = match raw::byte(text, 1) {
        b'u' => {
            let mut code = match cursor.hex4() {
                Ok(unit) => unit,
                Err(_) => 0,
            };
            if code & 0xf800 == 0xd800 {
                cursor.advance(2);
                let low = match cursor.hex4() {
                    Ok(unit) => unit,
                    Err(_) => 0,
                };
                code = 0x1_0000_u32.wrapping_add((code & 0x3ff) << 10 | low & 0x3ff);
            }
            match char::from_u32(code) {
                Some(character) => character,
                None => char::REPLACEMENT_CHARACTER,
            }
        }
        byte => raw::ascii(unescape_short(byte)),
    };
    (character, raw::range(text, cursor.at, text.len()))
}

/// The byte that a backslash and this one, which is no `u`, stand for.
#[inline(always)]
pub(crate) const fn unescape_short(byte: u8) -> u8 {
    match byte {
        b'b' => 0x8,
        b'f' => 0xc,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        // The quote, the slash and the backslash stand for themselves.
        byte => byte,
    }
}
