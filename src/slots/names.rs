//! The index by name, inside the slots.
//!
//! `n` slots have `n` buckets; the hash of a name says which is its own. The numbers of the slots,
//! sorted by bucket, stand in the field `Slot::item` of slot 0, slot 1 and so on; where a
//! bucket begins among them stands in `Slot::bucket`. Within a bucket (about one name) they are
//! sorted by hash and name, so a look-up is a binary search in it, and names that were chosen to
//! have one hash cost a heapsort and a longer search, never quadratic time. On small machines there
//! is one bucket.

use core::cmp::Ordering;

use super::at;
use super::heap::{self, By};
use crate::Slot;
use crate::header::scan::tri;
use crate::header::text::Text;
use crate::raw::{self, FAST};

/// The bucket of a hash among `buckets`: the hash as a fraction of 2³², times their number, so
/// buckets ascend with the hash.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn bucket(hash: u32, buckets: usize) -> usize {
    let scaled = (raw::wide32(hash) * raw::wide(buckets)) >> 32;
    match raw::size(scaled) {
        Some(bucket) => bucket,
        None => 0,
    }
}

/// Builds the index by name; an error says where two equal names stand.
pub(super) const fn build(bytes: &[u8], slots: &mut [Slot]) -> Result<(), (u32, u32)> {
    let len = slots.len();
    if FAST {
        fill_buckets(slots);
    } else {
        let mut i = 0;
        while i < len {
            set_item(slots, i, raw::position(i));
            i += 1;
        }
    }
    let mut bucket = 0;
    while bucket < len {
        let (start, end) = bucket_range(slots, bucket);
        if end - start > SMALL || !FAST {
            heap::sort(bytes, slots, start, end, By::Name);
            tri!(check_items(bytes, slots, start, end));
        } else {
            tri!(insert_items(bytes, slots, start, end));
        }
        if !FAST {
            break;
        }
        bucket += 1;
    }
    set_bucket(slots, 0, raw::position(len));
    Ok(())
}

/// Buckets up to this length are left to an insertion sort.
const SMALL: usize = 8;

/// Sorts the items `start..end` by hash and name; an error says where two equal names stand.
const fn insert_items(
    bytes: &[u8],
    slots: &mut [Slot],
    start: usize,
    end: usize,
) -> Result<(), (u32, u32)> {
    let mut next = start + 1;
    while next < end {
        let mut i = next;
        while i > start {
            let (a, b) = (item(slots, i - 1), item(slots, i));
            match compare(bytes, a, b) {
                Ordering::Less => break,
                Ordering::Equal => return Err((a.name, b.name)),
                Ordering::Greater => swap_items(slots, i - 1, i),
            }
            i -= 1;
        }
        next += 1;
    }
    Ok(())
}

/// Puts the numbers of the slots into their buckets: a counting sort. It counts, sums up, and puts
/// each item before what its bucket has already.
const fn fill_buckets(slots: &mut [Slot]) {
    let len = slots.len();
    let mut i = 0;
    while i < len {
        let bucket = bucket(at(slots, i).hash, len);
        set_bucket(slots, bucket, at(slots, bucket).bucket + 1);
        i += 1;
    }
    let mut sum = 0;
    i = 0;
    while i < len {
        sum += at(slots, i).bucket;
        set_bucket(slots, i, sum);
        i += 1;
    }
    while i > 0 {
        i -= 1;
        let bucket = bucket(at(slots, i).hash, len);
        let place = at(slots, bucket).bucket.wrapping_sub(1);
        set_bucket(slots, bucket, place);
        set_item(slots, raw::index(place), raw::position(i));
    }
}

/// How many of `slots` are in use, of which the first is asked.
pub(crate) const fn used(slots: &[Slot]) -> usize {
    let used = raw::index(at(slots, 0).bucket);
    if used < slots.len() { used } else { slots.len() }
}

#[inline(always)]
pub(super) const fn set_bucket(slots: &mut [Slot], i: usize, start: u32) {
    if i < slots.len() {
        slots[i].bucket = start;
    }
}

#[inline(always)]
const fn set_item(slots: &mut [Slot], i: usize, item: u32) {
    if i < slots.len() {
        slots[i].item = item;
    }
}

/// The items of a bucket.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn bucket_range(slots: &[Slot], bucket: usize) -> (usize, usize) {
    if !FAST {
        return (0, slots.len());
    }
    let len = slots.len();
    let start = if bucket == 0 { 0 } else { raw::index(at(slots, bucket).bucket) };
    let end = if bucket + 1 < len { raw::index(at(slots, bucket + 1).bucket) } else { len };
    if start <= end && end <= len { (start, end) } else { (0, 0) }
}

/// The slot that item `i` stands for.
#[inline(always)]
pub(super) const fn item(slots: &[Slot], i: usize) -> &Slot {
    at(slots, raw::index(at(slots, i).item))
}

/// Orders two slots by hash, then by name.
pub(super) const fn compare(bytes: &[u8], a: &Slot, b: &Slot) -> Ordering {
    if a.hash != b.hash {
        return raw::order(raw::wide32(a.hash), raw::wide32(b.hash));
    }
    a.name(bytes).compare(&b.name(bytes))
}

/// Exchanges items `a` and `b`.
pub(super) const fn swap_items(slots: &mut [Slot], a: usize, b: usize) {
    let (item_a, item_b) = (at(slots, a).item, at(slots, b).item);
    set_item(slots, a, item_b);
    set_item(slots, b, item_a);
}

/// Whether no two of the sorted items `start..end` are equal.
const fn check_items(
    bytes: &[u8],
    slots: &[Slot],
    start: usize,
    end: usize,
) -> Result<(), (u32, u32)> {
    let mut i = start + 1;
    while i < end {
        let (a, b) = (item(slots, i - 1), item(slots, i));
        if compare(bytes, a, b).is_eq() {
            return Err((a.name, b.name));
        }
        i += 1;
    }
    Ok(())
}

/// The number of the slot whose tensor is called `name`.
pub(crate) const fn find(bytes: &[u8], slots: &[Slot], name: &str) -> Option<usize> {
    let name = Text::new(name.as_bytes(), false);
    let hash = name.hash();
    let (mut low, mut high) = bucket_range(slots, bucket(hash, slots.len()));
    while low < high {
        let middle = low + (high - low) / 2;
        let slot = item(slots, middle);
        let order = if hash == slot.hash {
            name.compare(&slot.name(bytes))
        } else {
            raw::order(raw::wide32(hash), raw::wide32(slot.hash))
        };
        match order {
            Ordering::Equal => return Some(raw::index(at(slots, middle).item)),
            Ordering::Less => high = middle,
            Ordering::Greater => low = middle + 1,
        }
    }
    None
}
