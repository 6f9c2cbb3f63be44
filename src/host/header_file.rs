//! The header of a file, read without its data.

use core::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::vec::Vec;

use super::blocks::each_block;
use super::{Invalid, LoadError};
use crate::{Checksum, Error, ErrorKind, Header, Index, Options, PREFIX_LEN, Slot, raw};

/// The header of a file: read alone, checked by every rule, owned.
///
/// The length of the data is compared with that of the file, but the data is not read: a file of
/// 600 GB takes milliseconds. Its memory is the header and one slot for each tensor; a length that
/// a file states is not trusted for it.
///
/// ```
/// # use std::io::Write;
/// use safetensors_core::host::HeaderFile;
///
/// # let mut file = tempfile::NamedTempFile::new()?;
/// # file.write_all(b"\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}  12345678")?;
/// # let path = file.path();
/// let file = HeaderFile::open(path)?;
/// let w = file.index().tensor("w").unwrap();
/// assert_eq!((w.shape().element_count(), w.byte_range()), (2, 64..72));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HeaderFile {
    /// The file up to the end of the header.
    head: Vec<u8>,
    slots: Vec<Slot>,
    file_len: Option<u64>,
}

impl HeaderFile {
    /// Reads the header of the file at `path`. Of what is no regular file, as a pipe, the length
    /// is not known, and not checked.
    ///
    /// # Errors
    /// [`LoadError::Io`] if it can't be read, [`LoadError::Invalid`] if it is not valid.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Self::read(file, metadata.is_file().then_some(metadata.len()))
    }

    /// Reads a header from the beginning of a file that is `file_len` bytes long in all, and
    /// nothing behind it. Without the length it is not checked that the data is complete.
    ///
    /// # Errors
    /// Those of [`HeaderFile::open`].
    pub fn read(mut reader: impl Read, file_len: Option<u64>) -> Result<Self, LoadError> {
        let head = read_head(&mut reader, file_len)?;
        Self::check(&Options::new(), head, file_len)
    }

    /// [`HeaderFile::read`] with other options, of a header that is mended before it is checked.
    pub(super) fn read_mended(
        options: &Options,
        mut reader: impl Read,
        file_len: u64,
        mend: impl FnOnce(&mut [u8]),
    ) -> Result<Self, LoadError> {
        let mut head = read_head(&mut reader, Some(file_len))?;
        mend(&mut head);
        Self::check(options, head, Some(file_len))
    }

    /// Reads the data, which stands behind the header, to its end: it must be as long as the last tensor
    /// demands, and if the metadata has a [`Checksum`] the file must have it.
    ///
    /// # Errors
    /// Those of [`HeaderFile::open`].
    pub fn check_data(mut self, data: impl Read) -> Result<Self, LoadError> {
        match self.digest(data)? {
            Ok(file_len) => self.file_len = Some(file_len),
            Err(error) => return Err(self.refuse(error)),
        }
        Ok(self)
    }

    /// That the metadata has a [`Checksum`]; whether it is right is found out by
    /// [`check_data`](HeaderFile::check_data).
    ///
    /// # Errors
    /// [`LoadError::Invalid`].
    pub fn require_checksum(self) -> Result<Self, LoadError> {
        match Checksum::of(&self.index().header()) {
            Ok(_) => Ok(self),
            Err(error) => Err(self.refuse(error)),
        }
    }

    /// The length of the file, if it has the data and the checksum that it should have.
    pub(super) fn digest(&self, mut data: impl Read) -> io::Result<Result<u64, Error>> {
        let header = self.index().header();
        let mut checksum = match Checksum::of(&header) {
            Ok(checksum) => Some(checksum),
            Err(error) if error.kind() == ErrorKind::ChecksumMissing => None,
            Err(error) => return Ok(Err(error)),
        };
        let mut file_len = header.data_start();
        each_block(&mut data, |block| {
            file_len = file_len.saturating_add(raw::wide(block.len()));
            if let Some(checksum) = &mut checksum {
                checksum.update(block);
            }
        })?;
        let complete = header.strict().check_file_len(self.index().data_len(), file_len);
        let right = checksum.map_or(Ok(()), |checksum| checksum.check());
        Ok(complete.and(right).map(|()| file_len))
    }

    /// Checks every rule.
    fn check(options: &Options, head: Vec<u8>, file_len: Option<u64>) -> Result<Self, LoadError> {
        let mut slots = match slots_for(&head)? {
            Ok(slots) => slots,
            Err(error) => return Err(LoadError::Invalid(Invalid::new(error, head))),
        };
        let index = match options.index(&head, &mut slots) {
            Ok(index) => index,
            Err(error) => return Err(LoadError::Invalid(Invalid::new(error, head))),
        };
        if let Some(Err(error)) = file_len.map(|len| index.check_file_len(len)) {
            return Err(LoadError::Invalid(Invalid::new(error, head)));
        }
        let tensors = index.len();
        slots.truncate(tensors);
        Ok(Self { head, slots, file_len })
    }

    /// The checked header: the tensors, by name and in order, and the metadata.
    #[must_use]
    pub fn index(&self) -> Index<'_, '_> {
        Index::with_slots(&self.head, &self.slots)
    }

    /// That the file is not valid, for a rule that [`Options`] let pass.
    pub(super) fn refuse(self, error: Error) -> LoadError {
        LoadError::Invalid(Invalid::new(error, self.head))
    }

    pub(super) fn invalid(&self, error: Error) -> Invalid {
        Invalid::new(error, self.head.clone())
    }

    /// The file up to the end of the header.
    pub(super) fn into_head(self) -> Vec<u8> {
        self.head
    }

    /// The length of the whole file in bytes, if it is known.
    #[must_use]
    pub fn file_len(&self) -> Option<u64> {
        self.file_len
    }
}

impl fmt::Debug for HeaderFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderFile")
            .field("index", &self.index())
            .field("file_len", &self.file_len)
            .finish_non_exhaustive()
    }
}

/// Reads the prefix and the header and not a byte more. It comes out shorter if the file ends
/// before, or if the prefix is no header size; a parse says so.
pub(super) fn read_head(reader: &mut impl Read, file_len: Option<u64>) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    take(reader, PREFIX_LEN).read_to_end(&mut head)?;
    let len = match head.first_chunk() {
        Some(prefix) => Header::len_from_prefix(*prefix).unwrap_or(PREFIX_LEN),
        None => return Ok(head),
    };
    let left = len.saturating_sub(PREFIX_LEN);
    // Memory for all of it at once only if the file is that long; otherwise it grows with what
    // arrives.
    if file_len.is_some_and(|file_len| usize::try_from(file_len).is_ok_and(|there| there >= len)) {
        head.try_reserve_exact(left)?;
    }
    take(reader, left).read_to_end(&mut head)?;
    Ok(head)
}

fn take(reader: &mut impl Read, len: usize) -> io::Take<&mut impl Read> {
    reader.take(u64::try_from(len).unwrap_or(u64::MAX))
}

/// As many slots as the header needs; the inner error is that of the header.
fn slots_for(head: &[u8]) -> io::Result<Result<Vec<Slot>, Error>> {
    let needed = match Header::read(head).and_then(|header| header.scan()) {
        Ok(scan) => scan.slots_needed(),
        Err(error) => return Ok(Err(error)),
    };
    let mut slots = Vec::new();
    slots.try_reserve_exact(needed)?;
    slots.resize(needed, Slot::EMPTY);
    Ok(Ok(slots))
}
