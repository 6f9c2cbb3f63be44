//! What a fuzzer's bytes choose.

use safetensors_core::Dtype;

/// Bytes that are taken from the front; behind the last one there are zeros.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_at(N.min(self.0.len()));
        self.0 = rest;
        let mut array = [0; N];
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    /// All bytes that are left, but at most `len`.
    pub(crate) fn rest(self, len: usize) -> &'a [u8] {
        &self.0[..len.min(self.0.len())]
    }

    /// A number below `n`, which is at most 256.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    pub(crate) fn dtype(&mut self) -> Dtype {
        Dtype::ALL[self.below(Dtype::ALL.len())]
    }

    /// A small number, mostly; one time in eight any, or one of the ends.
    pub(crate) fn number(&mut self) -> i64 {
        match self.byte() {
            small @ 0..224 => i64::from(small % 24) - 12,
            224..228 => i64::MIN,
            228..232 => i64::MAX,
            _ => i64::from_le_bytes(self.take()) >> (self.byte() % 64),
        }
    }

    pub(crate) fn optional_number(&mut self) -> Option<i64> {
        (self.byte() % 4 != 0).then(|| self.number())
    }

    /// A small dimension, mostly; one time in eight any.
    pub(crate) fn dim(&mut self) -> u64 {
        match self.byte() {
            small @ 0..224 => u64::from(small % 9),
            _ => u64::from_le_bytes(self.take()) >> (self.byte() % 64),
        }
    }
}
