//! The index by name, inside the slots.
//!
//! A hash table with chains: the hash of a name says which slot has the head of its chain, in
//! [`Slot::bucket`], and each slot of the chain says which is the next, in [`Slot::item`]. Both are a
//! slot's number and one, 0 for none. A slot is put before those that are there already, so the
//! numbers of a chain descend, which ends a walk through slots that are not what they should be.
//!
//! Names that were chosen to share a chain would make it long. When the steps through all chains are
//! more than a few for each name, all names are hashed again by SipHash, whose key is a hash of the whole
//! header: to choose names for it takes a header that has the key already. Should that take too many
//! steps as well, and always on small machines, the slots' numbers are sorted by hash and name
//! instead, and stand in [`Slot::item`] of slot 0, slot 1 and so on; then a look-up is a binary search.
//! So the time is never quadratic.
//!
//! Slots 0 and 1 are the heads of no chain: [`Slot::bucket`] of the one says how many slots are in use and
//! how names are found, that of the other is the key.

use core::cmp::Ordering;

use super::at;
use super::heap::{self, By};
use crate::Slot;
use crate::header::scan::tri;
use crate::header::text::Text;
use crate::raw::{self, FAST};
use crate::siphash::SipHasher;

/// How names are found.
#[derive(Clone, Copy)]
struct Way {
    /// By chains, or sorted.
    chained: bool,
    /// Hashed by SipHash with this key.
    key: Option<u32>,
}

impl Way {
    /// What small machines have.
    const SORTED: Self = Self { chained: false, key: None };

    /// Stand above the number of slots, which is less, as each takes 50 bytes of a header of 2³² at most.
    const CHAINED: u32 = 1 << 31;
    const KEYED: u32 = 1 << 30;

    /// That of `slots`, which are all in use.
    #[inline(always)]
    const fn of(slots: &[Slot]) -> Self {
        if !FAST {
            return Self::SORTED;
        }
        let way = at(slots, 0).bucket;
        let key = if way & Self::KEYED != 0 { Some(at(slots, 1).bucket) } else { None };
        Self { chained: way & Self::CHAINED != 0, key }
    }

    const fn set(self, slots: &mut [Slot]) {
        let mut way = raw::position(slots.len());
        if FAST && self.chained {
            way |= Self::CHAINED;
        }
        if FAST && let Some(key) = self.key {
            way |= Self::KEYED;
            set_bucket(slots, 1, key);
        }
        set_bucket(slots, 0, way);
    }
}

/// How many of `slots` are in use, of which the first is asked.
pub(crate) const fn used(slots: &[Slot]) -> usize {
    let used = at(slots, 0).bucket;
    let used = raw::index(if FAST { used & !(Way::CHAINED | Way::KEYED) } else { used });
    if used < slots.len() { used } else { slots.len() }
}

/// Builds the index by name; an error says where two equal names stand.
pub(super) const fn build(bytes: &[u8], slots: &mut [Slot]) -> Result<(), (u32, u32)> {
    if slots.is_empty() {
        return Ok(());
    }
    let mut way = Way { chained: slots.len() > 2, key: None };
    if FAST && way.chained {
        if tri!(chain(bytes, slots)) {
            way.set(slots);
            return Ok(());
        }
        let key = raw::low_bits(SipHasher::hash(bytes, [0, 0]));
        hash_with(bytes, slots, key);
        way.key = Some(key);
        if tri!(chain(bytes, slots)) {
            way.set(slots);
            return Ok(());
        }
    }
    sort(bytes, slots, way)
}

/// The slot, other than 0 and 1, that has the head of a hash's chain: the hash as a fraction of 2³²,
/// times their number.
#[inline(always)]
const fn bucket(hash: u32, slots: usize) -> usize {
    let scaled = (raw::wide32(hash) * raw::wide(slots.saturating_sub(2))) >> 32;
    match raw::size(scaled) {
        Some(bucket) => bucket + 2,
        None => 0,
    }
}

/// As many steps through chains each slot may take when all are chained; half a step is what to expect.
const STEPS: usize = 4;

/// As many steps a comparison of names counts, which is seldom in vain: only for those of one hash.
const COMPARISON: usize = 64;

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
            let mut step = 1;
            if other.hash == hash {
                if compare(bytes, at(slots, i), other).is_eq() {
                    return Err((name, other.name));
                }
                step = COMPARISON;
            }
            if steps < step {
                return Ok(false);
            }
            steps -= step;
            next = other.item;
        }
        i += 1;
    }
    Ok(true)
}

/// Hashes the names with `key`, and empties the chains.
#[cold]
const fn hash_with(bytes: &[u8], slots: &mut [Slot], key: u32) {
    let mut rest = slots;
    while let Some((slot, others)) = rest.split_first_mut() {
        slot.hash = slot.name(bytes).hash_with(key);
        slot.bucket = 0;
        rest = others;
    }
}

/// Sorts the slots' numbers by hash and name; an error says where two equal names stand.
#[cfg_attr(target_pointer_width = "64", cold)]
#[cfg_attr(not(target_pointer_width = "64"), inline(always))]
const fn sort(bytes: &[u8], slots: &mut [Slot], way: Way) -> Result<(), (u32, u32)> {
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
    Way { chained: false, ..way }.set(slots);
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
    let text = Text::new(name.as_bytes(), false);
    let hash = match way.key {
        Some(key) if FAST => text.hash_with(key),
        _ => text.hash(),
    };
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

    /// Slots in which names are to be found in this way.
    #[allow(clippy::type_complexity)]
    fn build_with(way: Way, names: &[String]) -> (Vec<u8>, Vec<Slot>, Result<(), (u32, u32)>) {
        let (bytes, mut slots) = slots_of(names);
        if let Some(key) = way.key {
            hash_with(&bytes, &mut slots, key);
        }
        let built = match way.chained {
            true => chain(&bytes, &mut slots).map(|chained| {
                assert!(chained);
                way.set(&mut slots);
            }),
            false => sort(&bytes, &mut slots, way),
        };
        (bytes, slots, built)
    }

    /// Every way there is.
    fn ways() -> impl Iterator<Item = Way> {
        let keys = [None, Some(0), Some(0x0123_4567)];
        let ways =
            keys.into_iter().flat_map(|key| [false, true].map(|chained| Way { chained, key }));
        ways.filter(|way| FAST || !way.chained && way.key.is_none())
    }

    #[test]
    fn every_way_finds_every_name() {
        for way in ways() {
            for count in [3, 4, 10, 500] {
                let names = names(count);
                let (bytes, slots, built) = build_with(way, &names);
                assert_eq!(built, Ok(()));
                assert_eq!((Way::of(&slots).chained, Way::of(&slots).key), (way.chained, way.key));
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
                let (_, slots, built) = build_with(way, &names);
                let (a, b) = built.err().unwrap_or_default();
                assert_eq!((a.min(b), a.max(b)), (slots[first].name, slots[second].name));
            }
        }
    }

    #[test]
    fn few_names() {
        for count in 1..5 {
            let names = names(count);
            let (bytes, mut slots) = slots_of(&names);
            assert_eq!(build(&bytes, &mut slots), Ok(()));
            assert_eq!(Way::of(&slots).chained, FAST && count > 2);
            assert_found(&bytes, &slots, &names);
        }
    }

    /// Names that were chosen to have one chain are hashed with a key, which depends on the header.
    #[test]
    fn a_long_chain_is_left_for_a_hash_with_a_key() {
        const COUNT: usize = 60;
        let one_chain = |name: &String| {
            let text = Text::new(name.as_bytes(), false);
            bucket(text.hash(), COUNT) == 7
        };
        let names: Vec<_> = (0..).map(|i| format!("{i}")).filter(one_chain).take(COUNT).collect();
        let (bytes, mut slots) = slots_of(&names);
        assert_eq!(build(&bytes, &mut slots), Ok(()));
        let way = Way::of(&slots);
        assert_eq!((way.chained, way.key.is_some()), (FAST, FAST));
        assert_found(&bytes, &slots, &names);
        let (mut other, mut others) = slots_of(&names);
        other.push(b' ');
        assert_eq!(build(&other, &mut others), Ok(()));
        assert_eq!(FAST, Way::of(&others).key != way.key);
    }
}
