//! [SipHash-1-3](https://www.aumasson.jp/siphash/siphash.pdf): who doesn't know the key can't choose texts
//! of one hash. Small machines have no use for it.

use crate::raw;

/// The hash of what is given a word at a time.
#[derive(Clone, Copy)]
pub(crate) struct SipHasher {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl SipHasher {
    pub(crate) const fn new(key: [u64; 2]) -> Self {
        let [k0, k1] = key;
        Self {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
        }
    }

    #[inline(always)]
    const fn round(self) -> Self {
        let Self { v0, v1, v2, v3 } = self;
        let (v0, v2) = (v0.wrapping_add(v1), v2.wrapping_add(v3));
        let (v1, v3) = (v1.rotate_left(13) ^ v0, v3.rotate_left(16) ^ v2);
        let v0 = v0.rotate_left(32);
        let (v2, v0) = (v2.wrapping_add(v1), v0.wrapping_add(v3));
        let (v1, v3) = (v1.rotate_left(17) ^ v2, v3.rotate_left(21) ^ v0);
        Self { v0, v1, v2: v2.rotate_left(32), v3 }
    }

    /// Takes 8 bytes, the first the least significant.
    #[inline(always)]
    pub(crate) const fn add(self, word: u64) -> Self {
        let mixed = Self { v3: self.v3 ^ word, ..self }.round();
        Self { v0: mixed.v0 ^ word, ..mixed }
    }

    /// Takes the last bytes, less than 8, with zeros behind; `len` is that of all.
    pub(crate) const fn finish(self, word: u64, len: u64) -> u64 {
        let mixed = self.add(word | (len << 56));
        let last = Self { v2: mixed.v2 ^ 0xff, ..mixed }.round().round().round();
        last.v0 ^ last.v1 ^ last.v2 ^ last.v3
    }

    /// The hash of `bytes`.
    pub(crate) const fn hash(bytes: &[u8], key: [u64; 2]) -> u64 {
        let mut hasher = Self::new(key);
        let (mut words, mut rest) = bytes.as_chunks();
        while let Some((word, others)) = words.split_first() {
            hasher = hasher.add(u64::from_le_bytes(*word));
            words = others;
        }
        let mut last = 0;
        while let Some((byte, others)) = rest.split_last() {
            last = (last << 8) | raw::wide(raw::small(*byte));
            rest = others;
        }
        hasher.finish(last, raw::wide(bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::hash::Hasher;
    use std::hash::DefaultHasher;

    use super::SipHasher;

    /// The hash with another key is by the authors' description, computed elsewhere.
    #[test]
    fn known_answers() {
        let mut text = [0; 16];
        for (i, byte) in text.iter_mut().zip(0..) {
            *i = byte;
        }
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(SipHasher::hash(&[], key), 0xabac_0158_050f_c4dc);
        assert_eq!(SipHasher::hash(&text, key), 0xcc4f_dd1a_7d90_8b66);
        let (fifteen, _) = text.split_at(15);
        assert_eq!(SipHasher::hash(fifteen, key), 0xd320_d86d_2a51_9956);
    }

    /// The standard library has it with a key of zeros.
    #[test]
    fn agrees_with_the_standard_library() {
        let text = *b"model.layers.11.mlp.down_proj.weight";
        for len in 0..=text.len() {
            let (text, _) = text.split_at(len);
            let mut hasher = DefaultHasher::new();
            hasher.write(text);
            assert_eq!(SipHasher::hash(text, [0, 0]), hasher.finish());
        }
    }
}
