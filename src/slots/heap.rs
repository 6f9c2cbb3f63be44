//! A heapsort: it needs no memory and has no bad case.

use super::names::{compare, item, swap_items};
use super::order::is_before;
use super::{at, swap};
use crate::Slot;

/// What is sorted, by what.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// The slots, by where their data is.
    Offset,
    /// The items of the index, by hash and name.
    Name,
}

/// Sorts `start..end`.
pub(super) const fn sort(bytes: &[u8], slots: &mut [Slot], start: usize, end: usize, by: By) {
    let mut len = end - start;
    let mut root = len / 2;
    loop {
        if root > 0 {
            // Not all is a heap yet; what is below `root` is.
            root -= 1;
        } else if len > 1 {
            len -= 1;
            exchange(slots, start, start + len, by);
        } else {
            return;
        }
        sift_down(bytes, slots, start, root, len, by);
    }
}

/// Lets what is at `root` in the heap of `len` at `start` sink to its place.
const fn sift_down(
    bytes: &[u8],
    slots: &mut [Slot],
    start: usize,
    root: usize,
    len: usize,
    by: By,
) {
    let mut root = root;
    loop {
        let mut child = 2 * root + 1;
        if child >= len {
            return;
        }
        if child + 1 < len && less(bytes, slots, start + child, start + child + 1, by) {
            child += 1;
        }
        if !less(bytes, slots, start + root, start + child, by) {
            return;
        }
        exchange(slots, start + root, start + child, by);
        root = child;
    }
}

const fn less(bytes: &[u8], slots: &[Slot], a: usize, b: usize, by: By) -> bool {
    match by {
        By::Offset => is_before(at(slots, a), at(slots, b)),
        By::Name => compare(bytes, item(slots, a), item(slots, b)).is_lt(),
    }
}

const fn exchange(slots: &mut [Slot], a: usize, b: usize, by: By) {
    match by {
        By::Offset => swap(slots, a, b),
        By::Name => swap_items(slots, a, b),
    }
}
