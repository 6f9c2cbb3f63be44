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
    /// That which is tried first.
    const FIRST: Self = Self { chained: true, seed: 0 };

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
        set_bucket(slots, 0, (way * Self::NUMBERS) | raw::position(slots.len()));
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
    build_from(bytes, slots, Way::FIRST)
}

/// [`build`] from one way on, whose hash the slots have.
#[inline(always)]
const fn build_from(bytes: &[u8], slots: &mut [Slot], mut way: Way) -> Result<(), (u32, u32)> {
    if slots.is_empty() {
        return Ok(());
    }
    while FAST && way.chained && slots.len() > 1 {
        if tri!(chain(bytes, slots)) {
            way.set(slots);
            return Ok(());
        }
        if way.seed + 1 == Hasher::SEEDS {
            break;
        }
        way.seed += 1;
        hash_again(bytes, slots, way.seed);
    }
    sort(bytes, slots, way.seed)
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

/// The slot whose tensor is called `name`.
#[cfg_attr(target_pointer_width = "64", inline(always))]
pub(crate) const fn find<'slots>(
    bytes: &[u8],
    slots: &'slots [Slot],
    name: &str,
) -> Option<&'slots Slot> {
    let way = Way::of(slots);
    let hash = Text::new(name.as_bytes(), false).hash(way.seed);
    if !way.chained {
        return search(bytes, slots, name, hash);
    }
    let mut next = at(slots, bucket(hash, slots.len())).bucket;
    while let Some(number) = next.checked_sub(1) {
        let slot = at(slots, raw::index(number));
        if slot.hash == hash && slot.name(bytes).is(name) {
            return Some(slot);
        }
        next = if slot.item < next { slot.item } else { 0 };
    }
    None
}

/// [`find`] among slots that are sorted.
#[cfg_attr(target_pointer_width = "64", cold)]
#[cfg_attr(not(target_pointer_width = "64"), inline(always))]
const fn search<'slots>(
    bytes: &[u8],
    slots: &'slots [Slot],
    name: &str,
    hash: u32,
) -> Option<&'slots Slot> {
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
            Ordering::Equal => return Some(slot),
            Ordering::Less => high = middle,
            Ordering::Greater => low = middle + 1,
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]
mod tests {
    extern crate std;

    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    /// Header text that has these names, and slots for them as a walk leaves them.
    fn slots_of(names: &[String]) -> (Vec<u8>, Vec<Slot>) {
        let mut bytes = Vec::new();
        let mut slots = Vec::new();
        for name in names {
            bytes.push(b'"');
            let (at, mut slot) = (bytes.len(), Slot::EMPTY);
            // Every other one as escapes.
            let escaped = slots.len() % 2 == 1;
            for byte in name.bytes() {
                match escaped {
                    true => bytes.extend(format!("\\u{byte:04x}").bytes()),
                    false => bytes.push(byte),
                }
            }
            slot.set_key(at, Text::new(&bytes[at..], escaped));
            bytes.push(b'"');
            slots.push(slot);
        }
        (bytes, slots)
    }

    /// Names of all lengths around those of one word and two, and some that only their ends tell apart.
    fn names(count: usize) -> Vec<String> {
        let name = |i: usize| match i % 3 {
            0 => format!("{}{i}", "x".repeat(i % 41)),
            1 => format!("{i}{}", "x".repeat(i % 41)),
            _ => format!("{i}"),
        };
        (0..count).map(name).collect()
    }

    fn assert_found(bytes: &[u8], slots: &[Slot], names: &[String]) {
        assert_eq!(used(slots), names.len());
        for (i, name) in names.iter().enumerate() {
            let found = find(bytes, slots, name).map(|slot| slot.name);
            assert_eq!(found, Some(slots[i].name), "{name}");
            assert!(find(bytes, slots, &format!("{name}y")).is_none());
        }
    }

    /// Slots as a walk leaves them, but for the hash.
    fn slots_for(way: Way, names: &[String]) -> (Vec<u8>, Vec<Slot>) {
        let (bytes, mut slots) = slots_of(names);
        if way.seed > 0 {
            hash_again(&bytes, &mut slots, way.seed);
        }
        (bytes, slots)
    }

    /// Every way there is, from the first to the last.
    fn ways() -> impl Iterator<Item = Way> {
        let chained = (0..Hasher::SEEDS).map(|seed| Way { chained: true, seed });
        chained.chain([Way { chained: false, seed: Hasher::SEEDS - 1 }])
    }

    #[test]
    fn every_way_finds_every_name() {
        for way in ways() {
            for count in [1, 2, 3, 10, 500] {
                let names = names(count);
                let (bytes, mut slots) = slots_for(way, &names);
                assert_eq!(build_from(&bytes, &mut slots, way), Ok(()));
                let chained = Way::of(&slots).chained;
                assert_eq!(chained, FAST && count > 1 && way.chained);
                assert_found(&bytes, &slots, &names);
            }
        }
    }

    #[test]
    fn every_way_finds_a_name_given_twice() {
        for way in ways() {
            for (first, second) in [(0, 1), (3, 8), (98, 99), (0, 99)] {
                let mut names = names(100);
                names[second] = names[first].clone();
                let (bytes, mut slots) = slots_for(way, &names);
                let places = (slots[first].name, slots[second].name);
                let (a, b) = build_from(&bytes, &mut slots, way).err().unwrap_or_default();
                assert_eq!((a.min(b), a.max(b)), places);
            }
        }
    }

    /// Names that were chosen to have one chain are hashed again, with as many seeds as they were
    /// chosen for.
    #[test]
    fn a_long_chain_is_left_for_another_hash() {
        const COUNT: usize = 60;
        for seeds in 1..3 {
            let one_chain = |name: &String| {
                let text = Text::new(name.as_bytes(), false);
                (0..seeds).all(|seed| bucket(text.hash(seed), COUNT) == 7)
            };
            let names = (0..).map(|i| format!("{i}")).filter(one_chain).take(COUNT);
            let names: Vec<_> = names.collect();
            let (bytes, mut slots) = slots_of(&names);
            assert_eq!(build(&bytes, &mut slots), Ok(()));
            let way = Way::of(&slots);
            assert_eq!((way.chained, way.seed), if FAST { (true, seeds) } else { (false, 0) });
            assert_found(&bytes, &slots, &names);
        }
    }
}
