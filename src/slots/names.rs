//! The index by name, inside the slots.
//!
//! A hash table with chains: the hash of a name says which slot has the head of its chain, in
//! [`Slot::bucket`], and each slot of the chain says which is the next, in [`Slot::item`]. Both are a
//! slot's number and one, 0 for none. A slot is put before those that are there already, so the
//! numbers of a chain descend, which ends a walk through slots that are not what they should be.
//!
//! Names that were chosen to share a chain would make it long. When the steps through all chains are
//! more than a few for each name, all are hashed again in [another way](Hasher). Should that happen
//! with each of them, and always on small machines, the slots' numbers are sorted by hash and name
//! instead, and stand in [`Slot::item`] of slot 0, slot 1 and so on; then a look-up is a binary search.
//! So the time is never quadratic.
//!
//! Slot 0 is the head of no chain: its [`Slot::bucket`] says how many slots are in use, and how.

use core::cmp::Ordering;

use super::at;
use super::heap::{self, By};
use crate::Slot;
use crate::header::scan::tri;
use crate::header::text::Text;
use crate::raw::{self, FAST, Hasher};

/// How names are found.
#[derive(Clone, Copy)]
struct Way {
    /// By chains, or sorted.
    chained: bool,
    /// Which hash.
    seed: u32,
}

impl Way {
    /// The header has fewer tensors than this, as each takes 50 bytes of 2³².
    const NUMBERS: u32 = 1 << 27;

    /// That of `slots`, which are all in use.
    #[inline(always)]
    const fn of(slots: &[Slot]) -> Self {
        if !FAST {
            return Self { chained: false, seed: 0 };
        }
        let way = at(slots, 0).bucket / Self::NUMBERS;
        Self { chained: way % 2 == 1, seed: way / 2 }
    }

    const fn set(self, slots: &mut [Slot]) {
        let way = if !FAST { 0 } else { self.seed * 2 + if self.chained { 1 } else { 0 } };
        set_bucket(slots, 0, way * Self::NUMBERS | raw::position(slots.len()));
    }
}

/// How many of `slots` are in use, of which the first is asked.
pub(crate) const fn used(slots: &[Slot]) -> usize {
    let used = at(slots, 0).bucket;
    let used = raw::index(if FAST { used % Way::NUMBERS } else { used });
    if used < slots.len() { used } else { slots.len() }
}

/// Builds the index by name; an error says where two equal names stand.
pub(super) const fn build(bytes: &[u8], slots: &mut [Slot]) -> Result<(), (u32, u32)> {
    if slots.is_empty() {
        return Ok(());
    }
    let mut seed = 0;
    while FAST && slots.len() > 1 && seed < Hasher::SEEDS {
        if seed > 0 {
            hash_again(bytes, slots, seed);
        }
        if tri!(chain(bytes, slots)) {
            Way { chained: true, seed }.set(slots);
            return Ok(());
        }
        seed += 1;
    }
    sort(bytes, slots, if seed > 0 { seed - 1 } else { 0 })
}

/// The slot, other than slot 0, that has the head of a hash's chain: the hash as a fraction of 2³²,
/// times their number.
#[inline(always)]
const fn bucket(hash: u32, slots: usize) -> usize {
    let scaled = (raw::wide32(hash) * raw::wide(slots.saturating_sub(1))) >> 32;
    match raw::size(scaled) {
        Some(bucket) => bucket + 1,
        None => 0,
    }
}

/// As many steps through chains each slot may take when all are chained; half a step is what to expect.
const STEPS: usize = 4;

/// Puts each slot into its chain, whose heads are all 0; `false` if that takes too many steps. An error
/// says where two equal names stand.
const fn chain(bytes: &[u8], slots: &mut [Slot]) -> Result<bool, (u32, u32)> {
    let len = slots.len();
    let mut steps = STEPS * len;
    let mut i = 0;
    while i < len {
        let Slot { hash, name, .. } = *at(slots, i);
        let bucket = bucket(hash, len);
        let mut next = at(slots, bucket).bucket;
        set_item(slots, i, next);
        set_bucket(slots, bucket, raw::position(i + 1));
        while next > 0 {
            let other = at(slots, raw::index(next - 1));
            if other.hash == hash && compare(bytes, at(slots, i), other).is_eq() {
                return Err((name, other.name));
            }
            if steps == 0 {
                return Ok(false);
            }
            steps -= 1;
            next = other.item;
        }
        i += 1;
    }
    Ok(true)
}

/// Takes the names' hashes of another seed, and empties the chains.
#[cold]
const fn hash_again(bytes: &[u8], slots: &mut [Slot], seed: u32) {
    let mut rest = slots;
    while let Some((slot, others)) = rest.split_first_mut() {
        slot.hash = slot.name(bytes).hash(seed);
        slot.bucket = 0;
        rest = others;
    }
}

/// Sorts the slots' numbers by hash and name; an error says where two equal names stand.
#[cfg_attr(target_pointer_width = "64", cold)]
#[cfg_attr(not(target_pointer_width = "64"), inline(always))]
const fn sort(bytes: &[u8], slots: &mut [Slot], seed: u32) -> Result<(), (u32, u32)> {
    let len = slots.len();
    let mut i = 0;
    while i < len {
        set_item(slots, i, raw::position(i));
        i += 1;
    }
    heap::sort(bytes, slots, 0, len, By::Name);
    i = 1;
    while i < len {
        let (a, b) = (item(slots, i - 1), item(slots, i));
        if compare(bytes, a, b).is_eq() {
            return Err((a.name, b.name));
        }
        i += 1;
    }
    Way { chained: false, seed }.set(slots);
    Ok(())
}

#[inline(always)]
pub(super) const fn set_bucket(slots: &mut [Slot], i: usize, bucket: u32) {
    if i < slots.len() {
        slots[i].bucket = bucket;
    }
}

#[inline(always)]
const fn set_item(slots: &mut [Slot], i: usize, item: u32) {
    if i < slots.len() {
        slots[i].item = item;
    }
}

/// The slot that item `i` stands for, when they are sorted.
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

/// The number of the slot whose tensor is called `name`.
#[cfg_attr(target_pointer_width = "64", inline(always))]
pub(crate) const fn find(bytes: &[u8], slots: &[Slot], name: &str) -> Option<usize> {
    let way = Way::of(slots);
    let hash = Text::new(name.as_bytes(), false).hash(way.seed);
    if !way.chained {
        return search(bytes, slots, name, hash);
    }
    let mut next = at(slots, bucket(hash, slots.len())).bucket;
    while let Some(number) = next.checked_sub(1) {
        let slot = at(slots, raw::index(number));
        if slot.hash == hash && slot.name(bytes).is(name) {
            return Some(raw::index(number));
        }
        next = if slot.item < next { slot.item } else { 0 };
    }
    None
}

/// [`find`] among slots that are sorted.
#[cfg_attr(target_pointer_width = "64", cold)]
#[cfg_attr(not(target_pointer_width = "64"), inline(always))]
const fn search(bytes: &[u8], slots: &[Slot], name: &str, hash: u32) -> Option<usize> {
    let name = Text::new(name.as_bytes(), false);
    let (mut low, mut high) = (0, slots.len());
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
