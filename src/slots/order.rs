//! Slots put in offset order, in place.

use super::heap::{self, By};
use super::{at, put, swap};
use crate::Slot;
use crate::raw::FAST;

/// Sorts by where the tensors begin; of those that begin at one place, the empty ones first.
///
/// Small machines use the heapsort that they have anyway. Elsewhere this is a radix exchange sort,
/// from the highest bit down. The part at `start` that is still to be sorted is found from the bit
/// in which it differs from the part before it, so there is no stack. It takes at most one pass
/// for each bit of the greatest offset, whatever the order.
#[inline(never)]
pub(super) const fn sort_by_offset(slots: &mut [Slot]) {
    if in_offset_order(slots) {
        return;
    }
    if !FAST {
        let len = slots.len();
        return heap::sort(&[], slots, 0, len, By::Offset);
    }
    let mut start = 0;
    let mut bits = u64::BITS;
    while start < slots.len() {
        // The part: from `start` on, what agrees in all bits but the lowest `bits`.
        let first = at(slots, start).begin;
        let prefix = high_bits(first, bits);
        let mut end = start + 1;
        let mut differing = 0;
        while end < slots.len() && high_bits(at(slots, end).begin, bits) == prefix {
            differing |= at(slots, end).begin ^ first;
            end += 1;
        }
        if differing == 0 {
            empty_first(slots, start, end);
        } else if end - start <= SMALL {
            insertion_sort(slots, start, end);
        } else {
            bits = u64::BITS - 1 - differing.leading_zeros();
            partition(slots, start, end, bits);
            continue;
        }
        if end < slots.len() {
            bits =
                u64::BITS - 1 - (at(slots, end).begin ^ at(slots, end - 1).begin).leading_zeros();
        }
        start = end;
    }
}

/// Parts up to this length are left to an insertion sort.
const SMALL: usize = 12;

const fn insertion_sort(slots: &mut [Slot], start: usize, end: usize) {
    let mut next = start + 1;
    while next < end {
        let slot = *at(slots, next);
        let mut hole = next;
        while hole > start && is_before(&slot, at(slots, hole - 1)) {
            let moved = *at(slots, hole - 1);
            put(slots, hole, moved);
            hole -= 1;
        }
        put(slots, hole, slot);
        next += 1;
    }
}

/// Whether `a` belongs before `b` in offset order.
pub(super) const fn is_before(a: &Slot, b: &Slot) -> bool {
    a.begin < b.begin || (a.begin == b.begin && a.end < b.end)
}

/// Whether the tensors come in offset order as they are.
const fn in_offset_order(slots: &[Slot]) -> bool {
    let mut i = 1;
    while i < slots.len() {
        if is_before(at(slots, i), at(slots, i - 1)) {
            return false;
        }
        i += 1;
    }
    true
}

const fn high_bits(value: u64, low: u32) -> u64 {
    match value.checked_shr(low) {
        Some(high) => high,
        None => 0,
    }
}

/// Moves those of `slots[start..end]` to the front whose bit `bit` is clear.
const fn partition(slots: &mut [Slot], start: usize, end: usize, bit: u32) {
    let (mut low, mut high) = (start, end);
    while low < high {
        if high_bits(at(slots, low).begin, bit) & 1 == 0 {
            low += 1;
        } else {
            high -= 1;
            swap(slots, low, high);
        }
    }
}

/// Of `slots[start..end]`, which begin at one place, moves those with data behind those without.
/// If several have data they overlap, which is found later.
const fn empty_first(slots: &mut [Slot], start: usize, end: usize) {
    let (mut low, mut high) = (start, end);
    while low < high {
        let slot = at(slots, low);
        if slot.begin == slot.end {
            low += 1;
        } else {
            high -= 1;
            swap(slots, low, high);
        }
    }
}
