//! Text that is put together in a `const`, for the compiler to show.

use core::str;

use crate::Error;
use crate::digits::{MAX_DIGITS, spell};
use crate::error::Piece;
use crate::header::quoted::Shown;
use crate::header::text::{Bytes, Text};
use crate::raw;

/// What does not fit is left out at the end; names are cut before.
pub(super) struct Message {
    bytes: [u8; 1024],
    len: usize,
}

/// So many bytes of a name or a path are shown.
const NAME: usize = 200;

impl Message {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }

    pub(super) const fn words(&mut self, words: &str) {
        let mut rest = words.as_bytes();
        while let Some((byte, others)) = rest.split_first() {
            let Some((_, [to, ..])) = self.bytes.split_at_mut_checked(self.len) else { return };
            *to = *byte;
            self.len = self.len.wrapping_add(1);
            rest = others;
        }
    }

    /// The end of a long one.
    pub(super) const fn path(&mut self, path: &str) {
        let mut start = path.len().saturating_sub(NAME);
        if start > 0 {
            self.words("…");
        }
        while !path.is_char_boundary(start) {
            start = start.wrapping_add(1);
        }
        if let Some((_, end)) = path.split_at_checked(start) {
            self.words(end);
        }
    }

    pub(super) const fn number(&mut self, number: u64) {
        self.spelled(number, 10);
    }

    const fn spelled(&mut self, number: u64, base: u64) {
        if let Ok(digits) = str::from_utf8(spell(number, base, &mut [0; MAX_DIGITS])) {
            self.words(digits);
        }
    }

    /// As [`Text::quoted`] shows it, but not all of a long one.
    pub(super) const fn quoted(&mut self, text: &Text<'_>) {
        self.words("\"");
        let start = self.len;
        let mut bytes = text.bytes();
        while let Some(character) = next_char(&mut bytes) {
            if self.len.wrapping_sub(start) > NAME {
                self.words("…");
                break;
            }
            match Shown::of(character) {
                Shown::Itself => self.words(character.encode_utf8(&mut [0; 4])),
                Shown::Escape(escape) => self.words(escape),
                Shown::Code => {
                    self.words("\\u{");
                    self.spelled(raw::wide32(raw::code(character)), 16);
                    self.words("}");
                }
            }
        }
        self.words("\"");
    }

    /// As [`Error::display`] shows it.
    pub(super) const fn error(&mut self, error: &Error, input: &[u8]) {
        if let Some((metadata, name)) = error.display(input).place() {
            self.words(if metadata { "metadata " } else { "tensor " });
            self.quoted(&name);
            self.words(": ");
        }
        let pieces = error.pieces();
        let mut rest: &[Piece] = &pieces;
        while let Some((piece, others)) = rest.split_first() {
            match piece {
                Piece::Words(words) => self.words(words),
                Piece::Number(number) => self.number(*number),
                Piece::Digits(digits) => {
                    if let Ok(digits) = str::from_utf8(digits) {
                        self.words(digits);
                    }
                }
            }
            rest = others;
        }
    }

    #[track_caller]
    pub(super) const fn panic(&self) -> ! {
        match str::from_utf8(raw::range(&self.bytes, 0, self.len)) {
            Ok(text) => panic!("{}", text),
            // A character was cut at the end of what there is room for.
            Err(_) => panic!("the model can't be included"),
        }
    }
}

/// The next character, of bytes that are UTF-8.
const fn next_char(bytes: &mut Bytes<'_>) -> Option<char> {
    let Some(first) = bytes.next() else { return None };
    // The length is in the leading ones, which also are no part of the code.
    let (mut left, bits) = match first.leading_ones() {
        0 => (0_u32, first),
        2 => (1, first & 0x1f),
        3 => (2, first & 0x0f),
        _ => (3, first & 0x07),
    };
    let mut code: u32 = raw::position(raw::small(bits));
    while left > 0 {
        let Some(byte) = bytes.next() else { return None };
        code = code << 6 | raw::position(raw::small(byte & 0x3f));
        left = left.wrapping_sub(1);
    }
    char::from_u32(code)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    extern crate std;

    use std::string::ToString;
    use std::{fs, vec};

    use super::Message;
    use crate::{SafeTensors, Slot, raw};

    /// What the compiler says of a broken file is what the program would.
    #[test]
    fn errors_read_as_at_run_time() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases/reject");
        let mut compared = 0;
        for file in fs::read_dir(folder).unwrap() {
            let file = fs::read(file.unwrap().path()).unwrap();
            let parsed = SafeTensors::parse(&file, &mut vec![Slot::EMPTY; 500]).err();
            // A few are those that only the reference refuses.
            let Some(error) = parsed else { continue };
            let mut message = Message::new();
            message.error(&error, &file);
            let text = std::str::from_utf8(raw::range(&message.bytes, 0, message.len)).unwrap();
            assert_eq!(text, error.display(&file).to_string());
            compared += 1;
        }
        assert_eq!(compared, 376);
    }
}
