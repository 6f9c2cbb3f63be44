//! The length prefix, its limit, and the header's entries one by one, without memory.

pub(crate) mod description;
pub(crate) mod deviation;
pub(crate) mod entries;
pub(crate) mod entry;
pub(crate) mod foreign;
pub(crate) mod info;
pub(crate) mod locate;
pub(crate) mod quoted;
pub(crate) mod scan;
pub(crate) mod text;
mod usual;
mod utf8;

use core::fmt;

use crate::digits::Decimal;
use crate::layout::{self, Tiling};
use crate::raw;
use crate::{Error, ErrorKind, Metadata, Options};
use description::RawTensor;
use entries::{Entries, Position};
use entry::{RawEntries, Taken};
use foreign::foreign_format;

/// Bytes of the header size, with which a file begins.
pub const PREFIX_LEN: usize = 8;

/// The header of a file, not checked yet beyond its length and its UTF-8.
///
/// It needs no memory and only the first bytes of the file, which makes it the entry for what is
/// not at hand as a whole: [`Header::len_from_prefix`] says how many bytes to fetch,
/// [`Header::read`] takes them, and each tensor gives its [byte range](crate::TensorInfo::byte_range) in
/// the file, in 64 bits on every machine. [`Header::entries`] walks the entries,
/// [`Header::scan`] all of them at once, and [`Index::build`](crate::Index::build) checks every
/// rule.
#[derive(Clone, Copy)]
pub struct Header<'data> {
    /// The input from its first byte to the end of the header.
    bytes: &'data [u8],
    gaps_allowed: bool,
}

impl<'data> Header<'data> {
    /// From the first 8 bytes of a file, how long its beginning is: these 8 bytes and the header.
    /// As many bytes [`Header::read`] needs.
    ///
    /// ```
    /// # use safetensors_core::{ErrorKind, Header};
    /// assert_eq!(Header::len_from_prefix(*b"\x10\x27\0\0\0\0\0\0")?, 10_008);
    /// let error = Header::len_from_prefix(*b"version ").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::GitLfsPointer);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::HeaderTooLarge`] over the limit of 100,000,000 bytes, or, when the bytes are
    /// the beginning of something else, what that is: [`ErrorKind::GitLfsPointer`],
    /// [`ZipArchive`](ErrorKind::ZipArchive), [`Pickle`](ErrorKind::Pickle),
    /// [`Html`](ErrorKind::Html), [`Gzip`](ErrorKind::Gzip), [`Gguf`](ErrorKind::Gguf).
    /// [`Options::len_from_prefix`] has another limit.
    pub const fn len_from_prefix(prefix: [u8; PREFIX_LEN]) -> Result<usize, Error> {
        Options::new().len_from_prefix(prefix)
    }

    /// The header at the beginning of `bytes`, which may go on behind it.
    ///
    /// # Errors
    /// Those of [`Header::len_from_prefix`], [`ErrorKind::FileTooShort`],
    /// [`ErrorKind::HeaderTruncated`], [`ErrorKind::InvalidUtf8`].
    pub const fn read(bytes: &'data [u8]) -> Result<Self, Error> {
        Options::new().header(bytes)
    }

    pub(crate) const fn read_with(options: &Options, bytes: &'data [u8]) -> Result<Self, Error> {
        let Some(prefix) = bytes.first_chunk() else {
            return Err(match foreign_format(bytes) {
                Some(kind) => Error::new(kind, 0, 0),
                None => missing(ErrorKind::FileTooShort, bytes, PREFIX_LEN),
            });
        };
        let len = match options.len_from_prefix(*prefix) {
            Ok(len) => len,
            Err(error) => return Err(error),
        };
        let Some((bytes, _)) = bytes.split_at_checked(len) else {
            return Err(match foreign_format(bytes) {
                Some(kind) => Error::new(kind, 0, 0),
                None => missing(ErrorKind::HeaderTruncated, bytes, len),
            });
        };
        let header = raw::range(bytes, PREFIX_LEN, len);
        if let Some(at) = utf8::first_error(header) {
            return Err(match foreign_format(bytes) {
                Some(kind) => Error::new(kind, 0, 0),
                None => {
                    Error::new(ErrorKind::InvalidUtf8, raw::wide(PREFIX_LEN.wrapping_add(at)), 0)
                }
            });
        }
        Ok(Self { bytes, gaps_allowed: options.gaps_allowed() })
    }

    /// A header that was read and checked before.
    pub(crate) const fn trusted(bytes: &'data [u8]) -> Self {
        let len = match bytes.first_chunk() {
            Some(prefix) => match raw::size(u64::from_le_bytes(*prefix)) {
                Some(len) => len.saturating_add(PREFIX_LEN),
                None => 0,
            },
            None => 0,
        };
        Self { bytes: raw::range(bytes, 0, len), gaps_allowed: true }
    }

    /// The same of a file that may have no bytes behind the last tensor.
    #[cfg(feature = "std")]
    pub(crate) const fn strict(self) -> Self {
        Self { gaps_allowed: false, ..self }
    }

    /// Where the data section begins, in bytes from the start of the file: 8 and the header size.
    #[must_use]
    pub const fn data_start(&self) -> u64 {
        raw::wide(self.bytes.len())
    }

    /// The JSON text of the header, with the white space around it.
    #[must_use]
    pub const fn json(&self) -> &'data [u8] {
        raw::range(self.bytes, PREFIX_LEN, self.bytes.len())
    }

    /// The entries in header order, each checked when it is taken.
    ///
    /// What one entry can't tell is not checked: whether names or metadata keys are given twice,
    /// whether tensors overlap or leave gaps, whether the data is as long as it should be.
    #[must_use]
    pub const fn entries(&self) -> Entries<'data> {
        Entries::of(*self)
    }

    /// The entries that [`Entries::position`] pointed to.
    ///
    /// This is how a walk goes on later without keeping a borrow of the header. A place that is no
    /// entry's start gives an error or other entries, never a panic.
    #[must_use]
    pub const fn entries_from(&self, position: Position) -> Entries<'data> {
        Entries::at(*self, position)
    }

    /// The metadata, when there is any that is not null. Walks the entries up to it; an error
    /// before it reads as none.
    #[must_use]
    pub const fn metadata(&self) -> Option<Metadata<'data>> {
        let Ok(mut entries) = RawEntries::open(self.bytes, PREFIX_LEN) else {
            return None;
        };
        let mut tensor = RawTensor::EMPTY;
        loop {
            match entries.next(&mut tensor, &mut []) {
                Ok(Taken::Metadata { at, .. }) => return Metadata::at(self.bytes, at),
                Ok(Taken::Tensor) => {}
                Ok(Taken::End) | Err(_) => return None,
            }
        }
    }

    /// Walks all entries once, without memory: checks each one, counts them, and checks the
    /// layout as well if they come in offset order, which is what every known writer does.
    ///
    /// Not checked, as that takes [slots](crate::Index::build): whether names or metadata keys are
    /// given twice, and the layout if [`Scan::in_offset_order`] is false.
    ///
    /// # Errors
    /// Those of the grammar and of single tensors: every [`ErrorKind`] from
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) to [`SizeMismatch`](ErrorKind::SizeMismatch)
    /// except for [`DuplicateKey`](ErrorKind::DuplicateKey) and
    /// [`DuplicateName`](ErrorKind::DuplicateName).
    pub const fn scan(&self) -> Result<Scan, Error> {
        let mut scan = Scan { tensors: 0, metadata_keys: 0, data_len: 0, in_offset_order: true };
        let mut tiling = Tiling::new(self.gaps_allowed);
        let mut entries = scan::tri!(RawEntries::open(self.bytes, PREFIX_LEN));
        let mut tensor = RawTensor::EMPTY;
        loop {
            match scan::tri!(entries.next(&mut tensor, &mut [])) {
                Taken::Tensor => {
                    scan.tensors = scan.tensors.wrapping_add(1);
                    // The first tensor out of its place ends the check of the layout.
                    if scan.in_offset_order && tiling.lay(tensor.begin, tensor.end).is_err() {
                        scan.in_offset_order = false;
                    }
                    if scan.data_len < tensor.end {
                        scan.data_len = tensor.end;
                    }
                }
                Taken::Metadata { keys, .. } => scan.metadata_keys = keys,
                Taken::End => return Ok(scan),
            }
        }
    }

    /// Whether a file of `file_len` bytes that begins with this header ends where its last tensor
    /// does, `data_len` bytes behind the header.
    pub(crate) const fn check_file_len(&self, data_len: u64, file_len: u64) -> Result<(), Error> {
        let data_start = self.data_start();
        let Some(found) = file_len.checked_sub(data_start) else {
            let missing = data_start.wrapping_sub(file_len);
            return Err(Error::new(ErrorKind::HeaderTruncated, file_len, missing));
        };
        match layout::check_end(data_len, found, self.gaps_allowed) {
            Ok(()) => Ok(()),
            // At the end of the shorter of the two.
            Err((kind @ ErrorKind::TrailingBytes, number)) => {
                Err(Error::new(kind, file_len.wrapping_sub(number), number))
            }
            Err((kind, number)) => Err(Error::new(kind, file_len, number)),
        }
    }

    pub(crate) const fn bytes(&self) -> &'data [u8] {
        self.bytes
    }

    pub(crate) const fn gaps_allowed(&self) -> bool {
        self.gaps_allowed
    }
}

impl fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Header { data_start: ")?;
        Decimal(self.data_start()).fmt(f)?;
        f.write_str(", .. }")
    }
}

/// What [`Header::scan`] found.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scan {
    tensors: usize,
    metadata_keys: usize,
    data_len: u64,
    in_offset_order: bool,
}

impl Scan {
    /// The number of tensors.
    #[must_use]
    pub const fn tensors(&self) -> usize {
        self.tensors
    }

    /// The number of keys in `__metadata__`.
    #[must_use]
    pub const fn metadata_keys(&self) -> usize {
        self.metadata_keys
    }

    /// How many slots a parse needs: one for each tensor, or for each metadata key when there are
    /// more of those.
    #[must_use]
    pub const fn slots_needed(&self) -> usize {
        if self.tensors < self.metadata_keys { self.metadata_keys } else { self.tensors }
    }

    /// Where the last tensor ends, in bytes from the start of the data section.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.data_len
    }

    /// Whether the tensors come in offset order, without overlap and (unless allowed) gaps. If
    /// not, they may lie well in another order, or badly; that takes slots to tell.
    #[must_use]
    pub const fn in_offset_order(&self) -> bool {
        self.in_offset_order
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scan { tensors: ")?;
        Decimal(raw::wide(self.tensors)).fmt(f)?;
        f.write_str(", metadata_keys: ")?;
        Decimal(raw::wide(self.metadata_keys)).fmt(f)?;
        f.write_str(", data_len: ")?;
        Decimal(self.data_len).fmt(f)?;
        f.write_str(", in_offset_order: ")?;
        f.write_str(if self.in_offset_order { "true" } else { "false" })?;
        f.write_str(" }")
    }
}

#[cold]
const fn missing(kind: ErrorKind, bytes: &[u8], needed: usize) -> Error {
    let missing = needed.saturating_sub(bytes.len());
    Error::new(kind, raw::wide(bytes.len()), raw::wide(missing))
}
