//! Slots, the caller's memory: filled with one tensor each, put in offset order, and made an index
//! by name that needs no memory of its own.
//!
//! # The index
//! `n` slots have `n` buckets; the hash of a name says which is its own. The numbers of the slots,
//! sorted by bucket, stand in the field `Slot::item` of slot 0, slot 1 and so on; where a
//! bucket begins among them stands in `Slot::bucket`. Within a bucket (about one name) they are
//! sorted by hash and name, so a look-up is a binary search in it, and names that were chosen to
//! have one hash cost a heapsort and a longer search, never quadratic time.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use core::cmp::Ordering;

use crate::header::entry::{self, RawEntries, RawEntry};
use crate::header::scan::{Cursor, tri};
use crate::header::text::Text;
use crate::header::{Header, PREFIX_LEN};
use crate::layout::Tiling;
use crate::raw;
use crate::{Error, ErrorKind, Slot};

/// What a header was found to hold.
pub(crate) struct Filled {
    pub(crate) tensors: usize,
    /// Where the value of `__metadata__` stands; 0 when there is none.
    pub(crate) metadata: usize,
    /// Where the last tensor ends.
    pub(crate) tiling: Tiling,
}

/// Checks every rule of a header; the first slots become the tensors in offset order and the index
/// by name.
pub(crate) const fn fill(header: Header<'_>, slots: &mut [Slot]) -> Result<Filled, Error> {
    let bytes = header.bytes();
    let walk = tri!(walk(bytes, slots));
    if walk.needed() > slots.len() {
        return Err(Error::new(
            ErrorKind::TooFewSlots,
            0,
            raw::wide(walk.needed()),
        ));
    }
    if walk.keys_unchecked {
        // The metadata came when most slots were taken: give it all of them, then walk again.
        tri!(check_keys(bytes, walk.metadata, slots));
        tri!(self::walk(bytes, slots));
    }
    let (slots, _) = slots.split_at_mut(walk.tensors);
    sort_by_offset(slots);
    let tiling = tri!(lay(header, slots));
    tri!(check_twice(bytes, slots, ErrorKind::DuplicateName));
    Ok(Filled {
        tensors: walk.tensors,
        metadata: walk.metadata,
        tiling,
    })
}

/// What [`walk`] saw.
struct Walk {
    tensors: usize,
    metadata: usize,
    keys: usize,
    keys_unchecked: bool,
}

impl Walk {
    const fn needed(&self) -> usize {
        if self.tensors < self.keys {
            self.keys
        } else {
            self.tensors
        }
    }
}

/// Puts the tensors into the slots, as far as these reach. Metadata keys are checked on the way if
/// the slots that are still free suffice.
const fn walk(bytes: &[u8], slots: &mut [Slot]) -> Result<Walk, Error> {
    let mut walk = Walk {
        tensors: 0,
        metadata: 0,
        keys: 0,
        keys_unchecked: false,
    };
    let mut entries = tri!(RawEntries::open(bytes, PREFIX_LEN));
    loop {
        let free = match slots.split_at_mut_checked(walk.tensors) {
            Some((_, free)) => free,
            None => &mut [],
        };
        match tri!(entries.next(free)) {
            Some(RawEntry::Tensor(tensor)) => {
                if let Some((slot, _)) = free.split_first_mut() {
                    *slot = Slot::tensor(&tensor);
                }
                walk.tensors += 1;
            }
            Some(RawEntry::Metadata { at, keys }) => {
                walk.metadata = at;
                walk.keys = keys;
                match free.split_at_mut_checked(keys) {
                    Some((keys, _)) => tri!(check_twice(bytes, keys, ErrorKind::DuplicateKey)),
                    None => walk.keys_unchecked = true,
                }
            }
            None => return Ok(walk),
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
    match build_index(bytes, slots) {
        Ok(()) => Ok(()),
        Err((a, b)) if a < b => Err(Error::new(kind, raw::wide32(b), raw::wide32(a))),
        Err((a, b)) => Err(Error::new(kind, raw::wide32(a), raw::wide32(b))),
    }
}

/// Lays the tensors, which are in offset order, one behind the other.
const fn lay(header: Header<'_>, slots: &mut [Slot]) -> Result<Tiling, Error> {
    let mut tiling = Tiling::new(header.gaps_allowed());
    let mut i = 0;
    while i < slots.len() {
        if let Err((kind, number)) = tiling.lay(slots[i].begin, slots[i].end) {
            let at = offsets_at(header.bytes(), &slots[i]);
            return Err(Error::new(kind, raw::wide(at), number));
        }
        i += 1;
    }
    Ok(tiling)
}

/// Where the `data_offsets` of a tensor stand.
#[cold]
const fn offsets_at(bytes: &[u8], slot: &Slot) -> usize {
    let name = raw::index(slot.name);
    match RawEntries::reopen(bytes, name).next(&mut []) {
        Ok(Some(RawEntry::Tensor(tensor))) => tensor.offsets.at,
        _ => name,
    }
}

/// Sorts by where the tensors begin; of those that begin at one place, the empty ones first.
///
/// A radix exchange sort, from the highest bit down. The part at `start` that is still to be
/// sorted is found from the bit in which it differs from the part before it, so there is no stack.
/// It takes at most one pass for each bit of the greatest offset, whatever the order.
const fn sort_by_offset(slots: &mut [Slot]) {
    if in_offset_order(slots) {
        return;
    }
    let mut start = 0;
    let mut bits = u64::BITS;
    while start < slots.len() {
        // The part: from `start` on, what agrees in all bits but the lowest `bits`.
        let prefix = high_bits(slots[start].begin, bits);
        let mut end = start + 1;
        let mut differing = 0;
        while end < slots.len() && high_bits(slots[end].begin, bits) == prefix {
            differing |= slots[end].begin ^ slots[start].begin;
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
            bits = u64::BITS - 1 - (slots[end].begin ^ slots[end - 1].begin).leading_zeros();
        }
        start = end;
    }
}

/// Parts up to this length are left to an insertion sort.
const SMALL: usize = 12;

const fn insertion_sort(slots: &mut [Slot], start: usize, end: usize) {
    let mut next = start + 1;
    while next < end && end <= slots.len() {
        let slot = slots[next];
        let mut hole = next;
        while hole > start && is_before(&slot, &slots[hole - 1]) {
            slots[hole] = slots[hole - 1];
            hole -= 1;
        }
        slots[hole] = slot;
        next += 1;
    }
}

/// Whether `a` belongs before `b` in offset order.
const fn is_before(a: &Slot, b: &Slot) -> bool {
    a.begin < b.begin || (a.begin == b.begin && a.end < b.end)
}

/// Whether the tensors come in offset order as they are.
const fn in_offset_order(slots: &[Slot]) -> bool {
    let mut i = 1;
    while i < slots.len() {
        if is_before(&slots[i], &slots[i - 1]) {
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
    while low < high && high <= slots.len() {
        if high_bits(slots[low].begin, bit) & 1 == 0 {
            low += 1;
        } else {
            high -= 1;
            slots.swap(low, high);
        }
    }
}

/// Of `slots[start..end]`, which begin at one place, moves those with data behind those without.
/// If several have data they overlap, which is found later.
const fn empty_first(slots: &mut [Slot], start: usize, end: usize) {
    let (mut low, mut high) = (start, end);
    while low < high && high <= slots.len() {
        if slots[low].begin == slots[low].end {
            low += 1;
        } else {
            high -= 1;
            slots.swap(low, high);
        }
    }
}

/// The bucket of a hash among `buckets`: the hash as a fraction of 2³², times their number, so
/// buckets ascend with the hash.
#[inline(always)]
const fn bucket(hash: u32, buckets: usize) -> usize {
    let scaled = (raw::wide32(hash) * raw::wide(buckets)) >> 32;
    match raw::size(scaled) {
        Some(bucket) => bucket,
        None => 0,
    }
}

/// Builds the index by name; an error says where two equal names stand.
const fn build_index(bytes: &[u8], slots: &mut [Slot]) -> Result<(), (u32, u32)> {
    // A counting sort by bucket: count, sum up, and put each item before what its bucket has.
    let len = slots.len();
    let mut i = 0;
    while i < len {
        let bucket = bucket(slots[i].hash, len);
        if bucket < len {
            slots[bucket].bucket += 1;
        }
        i += 1;
    }
    let mut sum = 0;
    i = 0;
    while i < len {
        sum += slots[i].bucket;
        slots[i].bucket = sum;
        i += 1;
    }
    while i > 0 {
        i -= 1;
        let bucket = bucket(slots[i].hash, len);
        if bucket < len {
            let item = slots[bucket].bucket.wrapping_sub(1);
            slots[bucket].bucket = item;
            if raw::index(item) < len {
                slots[raw::index(item)].item = raw::position(i);
            }
        }
    }
    while i < len {
        let (start, end) = bucket_range(slots, i);
        if end - start > 1 {
            sort_items(bytes, slots, start, end);
            tri!(check_items(bytes, slots, start, end));
        }
        i += 1;
    }
    Ok(())
}

/// The items of a bucket.
#[inline(always)]
const fn bucket_range(slots: &[Slot], bucket: usize) -> (usize, usize) {
    let len = slots.len();
    let start = if bucket < len {
        raw::index(slots[bucket].bucket)
    } else {
        len
    };
    let end = if bucket + 1 < len {
        raw::index(slots[bucket + 1].bucket)
    } else {
        len
    };
    if start <= end && end <= len {
        (start, end)
    } else {
        (0, 0)
    }
}

/// The slot that item `i` stands for.
#[inline(always)]
const fn item(slots: &[Slot], i: usize) -> &Slot {
    if i < slots.len() {
        let item = raw::index(slots[i].item);
        if item < slots.len() {
            return &slots[item];
        }
    }
    &Slot::EMPTY
}

/// Orders two slots by hash, then by name.
const fn compare(bytes: &[u8], a: &Slot, b: &Slot) -> Ordering {
    if a.hash != b.hash {
        return raw::order(raw::wide32(a.hash), raw::wide32(b.hash));
    }
    a.name(bytes).compare(&b.name(bytes))
}

/// Sorts the items `start..end` by hash and name: a heapsort, which needs no memory and has no
/// bad case.
const fn sort_items(bytes: &[u8], slots: &mut [Slot], start: usize, end: usize) {
    let mut len = end - start;
    let mut root = len / 2;
    while root > 0 {
        root -= 1;
        sift_down(bytes, slots, start, root, len);
    }
    while len > 1 {
        len -= 1;
        swap_items(slots, start, start + len);
        sift_down(bytes, slots, start, 0, len);
    }
}

/// Lets item `root` of the heap of `len` items at `start` sink to its place.
const fn sift_down(bytes: &[u8], slots: &mut [Slot], start: usize, root: usize, len: usize) {
    let mut root = root;
    loop {
        let mut child = 2 * root + 1;
        if child >= len {
            return;
        }
        if child + 1 < len
            && compare(
                bytes,
                item(slots, start + child),
                item(slots, start + child + 1),
            )
            .is_lt()
        {
            child += 1;
        }
        if !compare(bytes, item(slots, start + root), item(slots, start + child)).is_lt() {
            return;
        }
        swap_items(slots, start + root, start + child);
        root = child;
    }
}

const fn swap_items(slots: &mut [Slot], a: usize, b: usize) {
    if a < slots.len() && b < slots.len() {
        let item = slots[a].item;
        slots[a].item = slots[b].item;
        slots[b].item = item;
    }
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
            Ordering::Equal => return Some(raw::index(slots[middle].item)),
            Ordering::Less => high = middle,
            Ordering::Greater => low = middle + 1,
        }
    }
    None
}
