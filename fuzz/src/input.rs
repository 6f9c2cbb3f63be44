//! What a fuzzer's bytes choose.

use safetensors_core::Dtype;

/// Bytes that are taken from the front; behind the last one there are zeros.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// A byte.
    pub fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    /// So many bytes.
    pub fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_at(N.min(self.0.len()));
        self.0 = rest;
        let mut array = [0; N];
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    /// All bytes that are left, but at most `len`.
    pub fn rest(self, len: usize) -> &'a [u8] {
        &self.0[..len.min(self.0.len())]
    }

    /// A number below `n`, which is at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// A dtype.
    pub fn dtype(&mut self) -> Dtype {
        Dtype::ALL[self.below(Dtype::ALL.len())]
    }

    /// Yes or no.
    pub fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    /// A small number, mostly; one time in eight any, or one of the ends.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            small @ 0..224 => i64::from(small % 24) - 12,
            224..228 => i64::MIN,
            228..232 => i64::MAX,
            _ => i64::from_le_bytes(self.take()) >> (self.byte() % 64),
        }
    }

    /// A number, three times in four.
    pub fn optional_number(&mut self) -> Option<i64> {
        (self.byte() % 4 != 0).then(|| self.number())
    }

    /// A small dimension, mostly; one time in eight any.
    pub fn dim(&mut self) -> u64 {
        match self.byte() {
            small @ 0..224 => u64::from(small % 9),
            _ => u64::from_le_bytes(self.take()) >> (self.byte() % 64),
        }
    }

    /// A short text of characters that are written in different ways; one time in eight
    /// `__metadata__`, and so now and then the same twice.
    pub fn text(&mut self) -> String {
        const CHARACTERS: [char; 14] = [
            'a',
            'b',
            'c',
            '"',
            '\\',
            '/',
            '\n',
            '\0',
            '\u{1}',
            '\u{1f}',
            '\u{7f}',
            'é',
            '\u{2028}',
            '\u{1f600}',
        ];
        match self.below(8) {
            7 => "__metadata__".into(),
            len => (0..len.min(4)).map(|_| CHARACTERS[self.below(14)]).collect(),
        }
    }
}
