//! Slots, the caller's memory: filled with one tensor each, put in offset order, and made an index
//! by name that needs no memory of its own.
//!
//! # The index
//! `n` slots have `n` buckets; the hash of a name says which is its own. The numbers of the slots,
//! sorted by bucket, stand in the field [`Slot::item`] of slot 0, slot 1 and so on; where a
//! bucket begins among them stands in [`Slot::bucket`]. Within a bucket (about one name) they are
//! sorted by hash and name, so a look-up is a binary search in it, and names that were chosen to
//! have one hash cost a heapsort and a longer search, never quadratic time.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use core::cmp::Ordering;
use core::fmt;

use crate::header::entry::{self, RawEntries, RawEntry, RawTensor};
use crate::header::scan::tri;
use crate::header::text::Text;
use crate::header::{Header, PREFIX_LEN};
use crate::layout::Tiling;
use crate::raw;
use crate::{Dtype, Error, ErrorKind, Metadata};

/// Memory for one tensor, given by the caller of a parse and filled by it.
///
/// A slot holds positions in the header and offsets, and borrows nothing, so it can lie in an
/// array, in a `Vec`, or in a `const`.
#[derive(Clone, Copy)]
pub struct Slot {
    /// Where the name stands, behind its opening quote.
    pub(crate) name: u32,
    /// Where the first dimension stands, behind the opening bracket.
    pub(crate) shape: u32,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Of the name.
    hash: u32,
    /// Slot `i`: where bucket `i` begins in the sequence of items.
    bucket: u32,
    /// Slot `i`: item `i` of the sequence, the number of a slot.
    item: u32,
    pub(crate) dtype: Dtype,
}

impl Slot {
    /// A slot that nothing was put in.
    pub const EMPTY: Self =
        Self { name: 0, shape: 0, begin: 0, end: 0, hash: 0, bucket: 0, item: 0, dtype: Dtype::BOOL };

    const fn tensor(tensor: &RawTensor<'_>) -> Self {
        Self {
            name: raw::position(tensor.name_at),
            shape: raw::position(tensor.shape),
            begin: tensor.begin,
            end: tensor.end,
            hash: tensor.name.hash(),
            dtype: tensor.dtype,
            ..Self::EMPTY
        }
    }

    const fn key(at: usize, key: Text<'_>) -> Self {
        Self { name: raw::position(at), hash: key.hash(), ..Self::EMPTY }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slot { .. }")
    }
}

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
    let walk = tri!(walk(bytes, slots, true));
    if walk.needed() > slots.len() {
        return Err(Error::new(ErrorKind::TooFewSlots, 0, raw::wide(walk.needed())));
    }
    if walk.keys_unchecked {
        // The metadata came when most slots were taken: check it with all, then walk again.
        tri!(check_keys(bytes, walk.metadata, slots));
        tri!(self::walk(bytes, slots, false));
    }
    let (slots, _) = slots.split_at_mut(walk.tensors);
    sort_by_offset(slots);
    let tiling = tri!(lay(header, slots));
    match build_index(bytes, slots) {
        Ok(()) => Ok(Filled { tensors: walk.tensors, metadata: walk.metadata, tiling }),
        Err((name, other)) => Err(twice(ErrorKind::DuplicateName, name, other)),
    }
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
        if self.tensors < self.keys { self.keys } else { self.tensors }
    }
}

/// Puts the tensors into the slots, as far as these reach. Metadata keys are checked on the way if
/// the slots that are still free suffice.
const fn walk(bytes: &[u8], slots: &mut [Slot], check_keys: bool) -> Result<Walk, Error> {
    let mut walk = Walk { tensors: 0, metadata: 0, keys: 0, keys_unchecked: false };
    let mut entries = tri!(RawEntries::open(bytes, PREFIX_LEN));
    while let Some(entry) = tri!(entries.next()) {
        match entry {
            RawEntry::Tensor(tensor) => {
                if walk.tensors < slots.len() {
                    slots[walk.tensors] = Slot::tensor(&tensor);
                }
                walk.tensors += 1;
            }
            RawEntry::Metadata { at, keys } => {
                walk.metadata = at;
                walk.keys = keys;
                if check_keys && keys > 1 {
                    match slots.split_at_mut_checked(walk.tensors) {
                        Some((_, free)) if keys <= free.len() => {
                            tri!(self::check_keys(bytes, at, free));
                        }
                        _ => walk.keys_unchecked = true,
                    }
                }
            }
        }
    }
    Ok(walk)
}

/// Whether no key of the metadata at `at` is given twice; there are enough slots.
const fn check_keys(bytes: &[u8], at: usize, slots: &mut [Slot]) -> Result<(), Error> {
    let Some(metadata) = Metadata::at(bytes, at) else { return Ok(()) };
    let mut pairs = metadata.iter();
    let mut keys = 0;
    while let Some((at, key, _)) = pairs.next_placed() {
        if keys < slots.len() {
            slots[keys] = Slot::key(at, key);
            keys += 1;
        }
    }
    let (slots, _) = slots.split_at_mut(keys);
    match build_index(bytes, slots) {
        Ok(()) => Ok(()),
        Err((key, other)) => Err(twice(ErrorKind::DuplicateKey, key, other)),
    }
}

/// The error for two equal strings: at the later, with the earlier as its number.
#[cold]
const fn twice(kind: ErrorKind, a: u32, b: u32) -> Error {
    if a < b {
        Error::new(kind, b as u64, a as u64)
    } else {
        Error::new(kind, a as u64, b as u64)
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
    match RawEntries::reopen(bytes, name).next() {
        Ok(Some(RawEntry::Tensor(tensor))) => tensor.offsets,
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
        if differing != 0 {
            bits = u64::BITS - 1 - differing.leading_zeros();
            partition(slots, start, end, bits);
            continue;
        }
        empty_first(slots, start, end);
        if end < slots.len() {
            bits = u64::BITS - 1 - (slots[end].begin ^ slots[start].begin).leading_zeros();
        }
        start = end;
    }
}

/// Whether the tensors come in offset order as they are.
const fn in_offset_order(slots: &[Slot]) -> bool {
    let mut i = 1;
    while i < slots.len() {
        let (before, slot) = (&slots[i - 1], &slots[i]);
        if slot.begin < before.begin || (slot.begin == before.begin && slot.end < before.end) {
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
    let scaled = (hash as u64 * raw::wide(buckets)) >> 32;
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
    let start = if bucket < len { raw::index(slots[bucket].bucket) } else { len };
    let end = if bucket + 1 < len { raw::index(slots[bucket + 1].bucket) } else { len };
    if start <= end && end <= len { (start, end) } else { (0, 0) }
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
        return raw::order(a.hash as u64, b.hash as u64);
    }
    let a = entry::text_at(bytes, raw::index(a.name));
    a.compare(&entry::text_at(bytes, raw::index(b.name)))
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
            && compare(bytes, item(slots, start + child), item(slots, start + child + 1)).is_lt()
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
const fn check_items(bytes: &[u8], slots: &[Slot], start: usize, end: usize) -> Result<(), (u32, u32)> {
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
            name.compare(&entry::text_at(bytes, raw::index(slot.name)))
        } else {
            raw::order(hash as u64, slot.hash as u64)
        };
        match order {
            Ordering::Equal => return Some(raw::index(slots[middle].item)),
            Ordering::Less => high = middle,
            Ordering::Greater => low = middle + 1,
        }
    }
    None
}
