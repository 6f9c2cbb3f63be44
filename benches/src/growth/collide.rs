//! Names that were chosen to have one hash.
//!
//! The hash of the crate for machines of 64 bits is stated here once more, so that whoever changes it
//! there has to think of an attack on the new one here. It takes two words at a time,
//! and what it keeps from those before is only XORed to the next first word. So the first word that
//! makes up for any two words before it is known: the difference between what they leave and what is
//! to be hashed. About one in 3000 is made of printable ASCII. Names of one hash have all 64 bits of
//! the state before the end in common, so nothing that is computed from that state tells them apart.

use std::sync::LazyLock;

const FACTORS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// What `state` becomes with two more words.
fn add(state: u64, first: u64, second: u64) -> u64 {
    let (a, b) = (state ^ first ^ FACTORS[0], second ^ FACTORS[1]);
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64 ^ a ^ b.rotate_left(32)
}

/// The hash of a text of `len` bytes whose last, less than two words, are given.
fn finish(state: u64, first: u64, second: u64, len: usize) -> u32 {
    ((add(state, first, second) ^ len as u64).wrapping_mul(FACTORS[0]) >> 32) as u32
}

/// The state after the words of `text`, which come in pairs.
fn state(text: &[u8]) -> u64 {
    let (blocks, []) = text.as_chunks::<16>() else { panic!("no whole blocks") };
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    blocks.iter().fold(0, |state, block| add(state, word(&block[..8]), word(&block[8..])))
}

/// Digits, letters and some more: 64 characters.
pub const ALPHABET: [u8; 64] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz.";

/// `count` of these characters for a number.
fn letters(number: u64, count: u32) -> u64 {
    (0..count).fold(0, |word, i| {
        word << 8 | u64::from(ALPHABET[(number >> (6 * i)) as usize % ALPHABET.len()])
    })
}

/// Whether the eight bytes of `word` are ASCII that may stand in a string as they are.
fn is_printable(word: u64) -> bool {
    word & 0x8080_8080_8080_8080 == 0
        && word.to_le_bytes().iter().all(|byte| !matches!(byte, 0..=0x1f | b'"' | b'\\'))
}

/// Names without end, all of one length.
pub struct Names {
    prefix: Vec<u8>,
    state: u64,
    /// What the words before the last one and the last one itself are to come to: the same gives the
    /// same hash.
    targets: Vec<u64>,
    tried: u64,
}

/// The bytes behind the prefix: two words that differ, and one that makes up for it.
pub const TAIL: usize = 24;

impl Names {
    /// Names of one hash.
    pub fn of_one_hash(prefix: &str) -> Self {
        Self::new(prefix, vec![0x5555_5555_5555_5555])
    }

    /// Names of 256 hashes that are so small that up to 2²¹ names come into one bucket.
    pub fn of_one_bucket(prefix: &str) -> Self {
        let len = prefix.len() + TAIL;
        let targets = (0..).filter(|target| finish(0, *target, 0, len) >> 11 == 0);
        Self::new(prefix, targets.take(256).collect())
    }

    fn new(prefix: &str, targets: Vec<u64>) -> Self {
        let prefix = prefix.as_bytes().to_vec();
        Self { state: state(&prefix), prefix, targets, tried: 0 }
    }

    /// Goes on with names of another hash.
    pub fn change_hash(&mut self) {
        self.targets[0] = self.targets[0].wrapping_add(1);
    }
}

impl Iterator for Names {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            // The first word, but for two letters that take turns, and the second.
            let turn = self.tried >> 12;
            let words = [letters(turn, 6) << 16, 0x6168_6168_6168_6168];
            let target = self.targets[turn as usize % self.targets.len()];
            while self.tried >> 12 == turn {
                let first = words[0] | PAIRS[self.tried as usize % PAIRS.len()];
                let last = add(self.state, first, words[1]) ^ target;
                self.tried += 1;
                if is_printable(last) {
                    let tail = [first, words[1], last].map(u64::to_le_bytes);
                    let name = [&self.prefix, tail.as_flattened()].concat();
                    return Some(String::from_utf8(name).unwrap());
                }
            }
        }
    }
}

/// All pairs of letters.
static PAIRS: LazyLock<Vec<u64>> = LazyLock::new(|| (0..1 << 12).map(|i| letters(i, 2)).collect());
