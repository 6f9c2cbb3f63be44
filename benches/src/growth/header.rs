//! Headers of a given length.

/// The length of a file's first field.
const PREFIX: usize = 8;

/// A header of at most `len` bytes of JSON: as many members as there is room for. `member` gets the
/// bytes, to which it adds member `i`, and its number.
pub fn fill(len: usize, member: impl FnMut(&mut Vec<u8>, usize)) -> Vec<u8> {
    fill_around(len, "{", "}", member)
}

/// The same with something else before and behind the members.
pub fn fill_around(
    len: usize,
    open: &str,
    close: &str,
    mut member: impl FnMut(&mut Vec<u8>, usize),
) -> Vec<u8> {
    let end = PREFIX + len - close.len();
    let mut head = Vec::with_capacity(end + 4096);
    head.extend([0; PREFIX]);
    head.extend(open.as_bytes());
    for i in 0.. {
        let before = head.len();
        if i > 0 {
            head.push(b',');
        }
        member(&mut head, i);
        if head.len() > end {
            head.truncate(before);
            break;
        }
    }
    head.extend(close.as_bytes());
    finish(head)
}

/// Sets the length in front.
pub fn finish(mut head: Vec<u8>) -> Vec<u8> {
    let len = (head.len() - PREFIX) as u64;
    head[..PREFIX].copy_from_slice(&len.to_le_bytes());
    head
}

/// Numbers in an order that is always the same and looks like none.
pub struct Random(pub u64);

impl Random {
    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }

    /// The numbers below `len`, shuffled.
    pub fn order(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for i in (1..len).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}
