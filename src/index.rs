//! The header with its slots: every rule checked, look-up by name.

use core::fmt;
use core::iter::FusedIterator;
use core::slice;

use crate::digits::Decimal;
use crate::header::Header;
use crate::header::entries::{Entries, Entry};
use crate::header::info::TensorInfo;
use crate::header::text::Text;
use crate::slots;
use crate::{Error, Metadata, Options, Slot, raw};

/// A header that was checked by every rule, with the caller's slots as the index by name.
///
/// It needs the beginning of the file only ([`Header::len_from_prefix`] says how much), so it
/// serves a file that is fetched piece by piece; [`SafeTensors`](crate::SafeTensors) has the data
/// as well.
#[derive(Clone, Copy)]
pub struct Index<'data, 'slots> {
    header: Header<'data>,
    /// Of the tensors, in offset order.
    slots: &'slots [Slot],
    metadata: MetadataPlace,
}

/// Where the metadata is.
#[derive(Clone, Copy)]
enum MetadataPlace {
    /// Nobody looked yet.
    Unknown,
    None,
    At(u32),
}

impl<'data, 'slots> Index<'data, 'slots> {
    /// Checks the header at the beginning of `bytes` and fills `slots`: as many as
    /// [`Scan::slots_needed`](crate::Scan::slots_needed) says, more do no harm.
    ///
    /// Everything is checked but the length of the data section, which is not at hand;
    /// [`Index::data_len`] says what it must be. Time: n log n in the length of the header, and
    /// linear if the tensors come in offset order and no names were chosen to have one hash.
    ///
    /// ```
    /// # use safetensors_core::{Index, Slot};
    /// let head = b"\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ";
    /// let mut slots = [Slot::EMPTY; 8];
    /// let index = Index::build(head, &mut slots)?;
    /// assert_eq!(index.tensor("w").unwrap().byte_range(), 64..72);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Every [`ErrorKind`](crate::ErrorKind) up to `TooFewSlots` but `DataTruncated` and
    /// `TrailingBytes`.
    pub const fn build(bytes: &'data [u8], slots: &'slots mut [Slot]) -> Result<Self, Error> {
        Options::new().index(bytes, slots)
    }

    pub(crate) const fn of(
        header: Header<'data>,
        slots: &'slots mut [Slot],
    ) -> Result<Self, Error> {
        let found = match slots::fill(header, slots) {
            Ok(found) => found,
            Err(error) => return Err(error),
        };
        let metadata = match found.metadata {
            0 => MetadataPlace::None,
            at => MetadataPlace::At(raw::position(at)),
        };
        let slots = match slots.split_at_checked(found.tensors) {
            Some((slots, _)) => slots,
            None => &[],
        };
        Ok(Self { header, slots, metadata })
    }

    /// The index again, from the bytes and the slots of one that was built before: those in use, or
    /// the whole array.
    ///
    /// Costs nothing and checks nothing. Other bytes or slots than those give wrong answers, never
    /// a panic.
    #[must_use]
    pub const fn with_slots(bytes: &'data [u8], slots: &'slots [Slot]) -> Self {
        let slots = match slots.split_at_checked(slots::used(slots)) {
            Some((slots, _)) => slots,
            None => &[],
        };
        Self { header: Header::trusted(bytes), slots, metadata: MetadataPlace::Unknown }
    }

    /// The same index with its slots elsewhere.
    #[cfg(feature = "heapless-09")]
    pub(crate) const fn rebound<'other>(&self, slots: &'other [Slot]) -> Index<'data, 'other> {
        Index { header: self.header, slots, metadata: self.metadata }
    }

    /// The slots in use, one for each tensor.
    #[must_use]
    pub const fn slots(&self) -> &'slots [Slot] {
        self.slots
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> Header<'data> {
        self.header
    }

    /// The number of tensors.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no tensors.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Where the last tensor ends, in bytes from the start of the data section, which is as long
    /// if there are no gaps.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        match self.slots.last() {
            Some(slot) => slot.end,
            None => 0,
        }
    }

    /// Where the last tensor ends, in bytes from the start of the file.
    pub(crate) const fn file_len(&self) -> u64 {
        self.header.data_start().wrapping_add(self.data_len())
    }

    /// Checks that a file of `file_len` bytes in all ends where its last tensor does: what
    /// [`SafeTensors::parse`](crate::SafeTensors::parse) checks beyond [`Index::build`], for a
    /// file of which only the header is at hand.
    ///
    /// An index [of slots](Index::with_slots) knows no [`Options`] and admits bytes behind the
    /// last tensor.
    ///
    /// ```
    /// # use safetensors_core::{ErrorKind, Index, Slot};
    /// let head = b"\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ";
    /// let mut slots = [Slot::EMPTY; 8];
    /// let index = Index::build(head, &mut slots)?;
    /// index.check_file_len(72)?;
    /// let error = index.check_file_len(70).unwrap_err();
    /// assert_eq!((error.kind(), error.number()), (ErrorKind::DataTruncated, 2));
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DataTruncated`](crate::ErrorKind::DataTruncated), [`TrailingBytes`](crate::ErrorKind::TrailingBytes),
    /// and [`HeaderTruncated`](crate::ErrorKind::HeaderTruncated) if the header alone is longer.
    pub const fn check_file_len(&self, file_len: u64) -> Result<(), Error> {
        self.header.check_file_len(self.data_len(), file_len)
    }

    /// The tensor called `name`, compared unescaped. Takes the time to hash the name.
    #[must_use]
    pub const fn tensor(&self, name: &str) -> Option<TensorInfo<'data>> {
        match slots::find(self.header.bytes(), self.slots, name) {
            Some(slot) => Some(TensorInfo::from_slot(self.header.bytes(), slot)),
            None => None,
        }
    }

    /// The tensor that is number `i` in offset order.
    #[must_use]
    pub const fn by_offset(&self, i: usize) -> Option<TensorInfo<'data>> {
        match self.slots.split_at_checked(i) {
            Some((_, [slot, ..])) => Some(TensorInfo::from_slot(self.header.bytes(), slot)),
            _ => None,
        }
    }

    /// The tensors in header order; walks the header again.
    #[must_use]
    pub const fn iter(&self) -> Infos<'data> {
        Infos { entries: self.header.entries() }
    }

    /// The tensors in the order of their data. Tensors without elements that share an offset keep
    /// no particular order.
    #[must_use]
    pub fn iter_by_offset(&self) -> InfosByOffset<'data, 'slots> {
        InfosByOffset { bytes: self.header.bytes(), slots: self.slots.iter() }
    }

    /// The names in header order; walks the header again.
    #[must_use]
    pub const fn names(&self) -> Names<'data> {
        Names { infos: self.iter() }
    }

    /// The metadata, when there is any that is not null.
    #[must_use]
    pub const fn metadata(&self) -> Option<Metadata<'data>> {
        match self.metadata {
            MetadataPlace::Unknown => self.header.metadata(),
            MetadataPlace::None => None,
            MetadataPlace::At(at) => Metadata::at(self.header.bytes(), raw::index(at)),
        }
    }
}

impl fmt::Debug for Index<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Index { tensors: ")?;
        Decimal(raw::wide(self.len())).fmt(f)?;
        f.write_str(", .. }")
    }
}

/// The tensors of an [`Index`] in header order.
#[derive(Clone, Copy, Debug)]
pub struct Infos<'data> {
    entries: Entries<'data>,
}

impl<'data> Infos<'data> {
    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_info(&mut self) -> Option<TensorInfo<'data>> {
        loop {
            match self.entries.next_entry() {
                Some(Ok(Entry::Tensor(info))) => return Some(info),
                Some(Ok(Entry::Metadata(_))) => {}
                // There is no error: the header was checked.
                Some(Err(_)) | None => return None,
            }
        }
    }
}

impl<'data> Iterator for Infos<'data> {
    type Item = TensorInfo<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_info()
    }
}

impl FusedIterator for Infos<'_> {}

/// The tensors of an [`Index`] in offset order.
#[derive(Clone)]
pub struct InfosByOffset<'data, 'slots> {
    bytes: &'data [u8],
    slots: slice::Iter<'slots, Slot>,
}

impl<'data> Iterator for InfosByOffset<'data, '_> {
    type Item = TensorInfo<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        self.slots.next().map(|slot| TensorInfo::from_slot(self.bytes, slot))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }
}

impl DoubleEndedIterator for InfosByOffset<'_, '_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.slots.next_back().map(|slot| TensorInfo::from_slot(self.bytes, slot))
    }
}

impl ExactSizeIterator for InfosByOffset<'_, '_> {}

impl FusedIterator for InfosByOffset<'_, '_> {}

impl fmt::Debug for InfosByOffset<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InfosByOffset { .. }")
    }
}

/// The names of an [`Index`] in header order.
#[derive(Clone, Copy, Debug)]
pub struct Names<'data> {
    infos: Infos<'data>,
}

impl<'data> Names<'data> {
    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_name(&mut self) -> Option<Text<'data>> {
        match self.infos.next_info() {
            Some(info) => Some(info.name()),
            None => None,
        }
    }
}

impl<'data> Iterator for Names<'data> {
    type Item = Text<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_name()
    }
}

impl FusedIterator for Names<'_> {}
