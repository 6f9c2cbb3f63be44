//! Slots, the caller's memory: filled with one tensor each, put in offset order, and made an index
//! by name that needs no memory of its own.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod heap;
mod names;
mod order;

pub(crate) use names::{find, used};

use crate::header::description::RawTensor;
use crate::header::entry::{self, RawEntries, Taken};
use crate::header::scan::{Cursor, tri};
use crate::header::{Header, PREFIX_LEN};
use crate::layout::Tiling;
use crate::raw;
use crate::{Error, ErrorKind, Slot};

/// Checks every rule of a header; the first slots become the tensors in offset order and the index
/// by name.
pub(crate) const fn fill(header: Header<'_>, slots: &mut [Slot]) -> Result<Walk, Error> {
    let bytes = header.bytes();
    let mut keys_checked = false;
    let walk = loop {
        let walk = tri!(walk(bytes, slots));
        if walk.needed() > slots.len() {
            return Err(Error::new(ErrorKind::TooFewSlots, 0, raw::wide(walk.needed())));
        }
        if keys_checked || !walk.keys_unchecked {
            break walk;
        }
        // The metadata came when most slots were taken: give it all of them, then walk again.
        tri!(check_keys(bytes, walk.metadata, slots));
        keys_checked = true;
    };
    // Should there be no tensor, the first slot says so.
    names::set_bucket(slots, 0, 0);
    let Some((slots, _)) = slots.split_at_mut_checked(walk.tensors) else {
        return Err(Error::new(ErrorKind::TooFewSlots, 0, raw::wide(walk.needed())));
    };
    order::sort_by_offset(slots);
    tri!(lay(header, slots));
    tri!(check_twice(bytes, slots, ErrorKind::DuplicateName));
    Ok(walk)
}

/// What a header was found to hold.
pub(crate) struct Walk {
    pub(crate) tensors: usize,
    /// Where the value of `__metadata__` stands; 0 when there is none.
    pub(crate) metadata: usize,
    keys: usize,
    keys_unchecked: bool,
}

impl Walk {
    const fn needed(&self) -> usize {
        if self.tensors < self.keys { self.keys } else { self.tensors }
    }
}

/// Puts the tensors into the slots, as far as these reach. Metadata keys are checked on the way if
/// the slots that are still free suffice.
const fn walk(bytes: &[u8], slots: &mut [Slot]) -> Result<Walk, Error> {
    let mut walk = Walk { tensors: 0, metadata: 0, keys: 0, keys_unchecked: false };
    let mut entries = tri!(RawEntries::open(bytes, PREFIX_LEN));
    let mut tensor = RawTensor::EMPTY;
    loop {
        let free = match slots.split_at_mut_checked(walk.tensors) {
            Some((_, free)) => free,
            None => &mut [],
        };
        match tri!(entries.next(&mut tensor, free)) {
            Taken::Tensor => {
                if let Some((slot, _)) = free.split_first_mut() {
                    slot.set_tensor(&tensor);
                }
                walk.tensors += 1;
            }
            Taken::Metadata { at, keys } => {
                walk.metadata = at;
                walk.keys = keys;
                match free.split_at_mut_checked(keys) {
                    Some((keys, _)) => tri!(check_twice(bytes, keys, ErrorKind::DuplicateKey)),
                    None => walk.keys_unchecked = true,
                }
            }
            Taken::End => return Ok(walk),
        }
    }
}

/// Whether no key of the metadata at `at` is given twice; there are enough slots.
const fn check_keys(bytes: &[u8], at: usize, slots: &mut [Slot]) -> Result<(), Error> {
    let mut cursor = Cursor::new(bytes, at);
    let keys = match entry::metadata(&mut cursor, slots) {
        Ok(keys) => keys,
        Err(_) => 0,
    };
    match slots.split_at_mut_checked(keys) {
        Some((keys, _)) => check_twice(bytes, keys, ErrorKind::DuplicateKey),
        None => Ok(()),
    }
}

/// Builds the index of the strings in `slots`; if two are equal that is an error `kind`, at the
/// later one, with the earlier one as its number.
const fn check_twice(bytes: &[u8], slots: &mut [Slot], kind: ErrorKind) -> Result<(), Error> {
    match names::build(bytes, slots) {
        Ok(()) => Ok(()),
        Err((a, b)) if a < b => Err(Error::new(kind, raw::wide32(b), raw::wide32(a))),
        Err((a, b)) => Err(Error::new(kind, raw::wide32(a), raw::wide32(b))),
    }
}

/// Lays the tensors, which are in offset order, one behind the other.
const fn lay(header: Header<'_>, slots: &[Slot]) -> Result<(), Error> {
    let mut tiling = Tiling::new(header.gaps_allowed());
    let mut i = 0;
    while i < slots.len() {
        let slot = at(slots, i);
        if let Err((kind, number)) = tiling.lay(slot.begin, slot.end) {
            let at = offsets_at(header.bytes(), slot);
            return Err(Error::new(kind, raw::wide(at), number));
        }
        i += 1;
    }
    Ok(())
}

/// Where the `data_offsets` of a tensor stand.
#[cold]
const fn offsets_at(bytes: &[u8], slot: &Slot) -> usize {
    let name = raw::index(slot.name);
    let mut tensor = RawTensor::EMPTY;
    match RawEntries::reopen(bytes, name).next(&mut tensor, &mut []) {
        Ok(Taken::Tensor) => tensor.offsets,
        _ => name,
    }
}

/// Slot `i`, or an empty one behind the end: nothing here can panic.
#[inline(always)]
const fn at(slots: &[Slot], i: usize) -> &Slot {
    if i < slots.len() { &slots[i] } else { &Slot::EMPTY }
}

#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn put(slots: &mut [Slot], i: usize, slot: Slot) {
    if i < slots.len() {
        slots[i] = slot;
    }
}

#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn swap(slots: &mut [Slot], a: usize, b: usize) {
    // Not `slice::swap`, with which all of memmove is linked.
    let (slot_a, slot_b) = (*at(slots, a), *at(slots, b));
    put(slots, a, slot_b);
    put(slots, b, slot_a);
}
