//! Sorting in place, without memory and without a panic.

use core::cmp::Ordering;

use crate::raw::FAST;

/// Sorts by `compare`, which orders all items: on small machines a heapsort, which has no bad case and
/// takes little code.
pub(super) fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if FAST {
        return items.sort_unstable_by(compare);
    }
    let mut len = items.len();
    let mut root = len >> 1;
    loop {
        if root > 0 {
            // Not all is a heap yet; what is below `root` is.
            root = root.wrapping_sub(1);
        } else if len > 1 {
            len = len.wrapping_sub(1);
            swap(items, 0, len);
        } else {
            return;
        }
        sift_down(items, root, len, &compare);
    }
}

/// Lets what is at `root` in the heap of `len` sink to its place.
fn sift_down<T>(
    items: &mut [T],
    mut root: usize,
    len: usize,
    compare: &impl Fn(&T, &T) -> Ordering,
) {
    let less = |items: &[T], a: usize, b: usize| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b).is_lt(),
        _ => false,
    };
    loop {
        let left = root.wrapping_mul(2).wrapping_add(1);
        let right = left.wrapping_add(1);
        if left >= len {
            return;
        }
        let child = if right < len && less(items, left, right) { right } else { left };
        if !less(items, root, child) {
            return;
        }
        swap(items, root, child);
        root = child;
    }
}

fn swap<T>(items: &mut [T], a: usize, b: usize) {
    // Not `swap`, which would panic.
    if let Ok([a, b]) = items.get_disjoint_mut([a, b]) {
        core::mem::swap(a, b);
    }
}

/// Of two neighbours that are equal, the one that `number` says came later.
pub(super) fn duplicate<T>(
    sorted: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
    number: impl Fn(&T) -> u32,
) -> Option<u32> {
    sorted.windows(2).find_map(|pair| match pair {
        [a, b] if compare(a, b).is_eq() => Some(number(a).max(number(b))),
        _ => None,
    })
}
