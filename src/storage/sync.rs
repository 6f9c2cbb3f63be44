//! Files in storage that answers at once.

use core::fmt;

use super::part::Part;
#[cfg(feature = "checksum")]
use super::reads::Digest;
use super::reads::{self, Cursor, Decode, Fill, Opening, Reads};
use super::{Source, StorageError};
use crate::{Element, Elements, Index, Metadata, Options, Slot, TensorInfo};

/// A file in storage that is not memory mapped, checked by every rule: the header is in the caller's
/// buffer, the data stays where it is and is read when asked for.
///
/// Everything that is read is a [`Part`]: a tensor ([`TensorInfo`]), or a part of one
/// ([`TensorInfo::slice`]). It is read whole, or in [chunks](Self::chunks) if it is larger than the memory.
///
/// ```
/// use safetensors_core::{Slot, StoredSafeTensors, TensorIndexer};
///
/// # let file = include_bytes!("../../examples/digits/digits.safetensors");
/// # let flash = |offset: u64, to: &mut [u8]| {
/// #     to.copy_from_slice(&file[offset as usize..][..to.len()]);
/// #     Ok::<_, core::convert::Infallible>(to.len())
/// # };
/// let mut header = [0; 1024];
/// let mut slots = [Slot::EMPTY; 8];
/// let mut model = StoredSafeTensors::open(flash, &mut header, &mut slots)?;
///
/// // All numbers of a tensor, converted on the way through a buffer for their bytes.
/// let bias = model.tensor("fc1.bias").unwrap();
/// let mut numbers = [0.0; 32];
/// model.convert_into(&bias, &mut numbers, &mut [0; 64])?;
///
/// // Every other of the first eight columns, as bytes.
/// let weight = model.tensor("fc1.weight").unwrap(); // F32, [32, 64]
/// let part = weight.slice((.., TensorIndexer::from(..8).step(2)))?;
/// let mut bytes = [0; 32 * 4 * 4];
/// model.copy_bytes_into(&part, &mut bytes)?;
///
/// // A tensor of 8 KiB with 100 bytes of memory.
/// let mut sum = 0.0;
/// let mut buffer = [0; 100];
/// let mut chunks = model.chunks(&weight);
/// while let Some(elements) = chunks.next(&mut buffer)? {
///     sum += elements.values()?.sum::<f32>();
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoredSafeTensors<'header, 'slots, S> {
    source: S,
    index: Index<'header, 'slots>,
}

impl<'header, 'slots, S: Source> StoredSafeTensors<'header, 'slots, S> {
    /// Reads the header of the file at the beginning of `source` into `header`, checks it, and fills
    /// `slots`. Bytes behind the file do no harm.
    ///
    /// What is read is 8 bytes and then the header, if it fits `header` and the limit. Time: as
    /// [`Index::build`].
    ///
    /// # Errors
    /// Those of [`Index::build`]; [`BufferTooSmall`](crate::ErrorKind::BufferTooSmall) with the number
    /// of bytes that `header` must have; [`DataTruncated`](crate::ErrorKind::DataTruncated) if the
    /// source knows its [capacity](Source::capacity) and ends before the last tensor does;
    /// [`StorageError::Source`].
    pub fn open(
        source: S,
        header: &'header mut [u8],
        slots: &'slots mut [Slot],
    ) -> Result<Self, StorageError<S::Error>> {
        Options::new().open(source, header, slots)
    }

    /// Reads the bytes of a part to the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// [`BufferTooSmall`](crate::ErrorKind::BufferTooSmall) if they are more than `to` holds;
    /// [`DataTruncated`](crate::ErrorKind::DataTruncated) if the source ends before they do, with the
    /// bytes that are missing of the file; [`StorageError::Source`].
    pub fn copy_bytes_into<'to>(
        &mut self,
        part: &impl Part,
        to: &'to mut [u8],
    ) -> Result<&'to mut [u8], StorageError<S::Error>> {
        let mut cursor = Cursor::new(part, self.index.file_len());
        let to = cursor.room(to)?;
        read(&mut self.source, &mut Fill::new(&mut cursor, to))?;
        Ok(to)
    }

    /// Reads the elements of a part to the beginning of `to` and returns them there. Their bytes come
    /// through `scratch`; the longer it is, the fewer reads it takes.
    ///
    /// # Errors
    /// Those of [`copy_bytes_into`](Self::copy_bytes_into), also if `scratch` does not hold one
    /// element; [`DtypeMismatch`](crate::ErrorKind::DtypeMismatch) if they are no `T`.
    pub fn copy_into<'to, T: Element>(
        &mut self,
        part: &impl Part,
        to: &'to mut [T],
        scratch: &mut [u8],
    ) -> Result<&'to mut [T], StorageError<S::Error>> {
        let to = reads::room(part, to, reads::copy)?;
        let cursor = Cursor::new(part, self.index.file_len());
        read(&mut self.source, &mut Decode::new(cursor, scratch, &mut *to, reads::copy)?)?;
        Ok(to)
    }

    /// Reads the elements of a part, converted to `f32` as [`Elements::convert_into`] does it, to the
    /// beginning of `to` and returns them there. Their bytes come through `scratch`; the longer it is,
    /// the fewer reads it takes.
    ///
    /// # Errors
    /// Those of [`copy_bytes_into`](Self::copy_bytes_into), also if `scratch` does not hold one
    /// element, for F6 four; [`NotReal`](crate::ErrorKind::NotReal) for complex numbers.
    pub fn convert_into<'to>(
        &mut self,
        part: &impl Part,
        to: &'to mut [f32],
        scratch: &mut [u8],
    ) -> Result<&'to mut [f32], StorageError<S::Error>> {
        let to = reads::room(part, to, reads::convert)?;
        let cursor = Cursor::new(part, self.index.file_len());
        read(&mut self.source, &mut Decode::new(cursor, scratch, &mut *to, reads::convert)?)?;
        Ok(to)
    }

    /// Compares the file with the [`Checksum`](crate::Checksum) in its metadata. Reads all of it, through
    /// `scratch`; the longer that is, the fewer reads it takes.
    ///
    /// # Errors
    /// [`ChecksumMissing`](crate::ErrorKind::ChecksumMissing),
    /// [`ChecksumInvalid`](crate::ErrorKind::ChecksumInvalid),
    /// [`ChecksumMismatch`](crate::ErrorKind::ChecksumMismatch);
    /// [`BufferTooSmall`](crate::ErrorKind::BufferTooSmall) if `scratch` is empty;
    /// [`DataTruncated`](crate::ErrorKind::DataTruncated); [`StorageError::Source`].
    #[cfg(feature = "checksum")]
    pub fn check_checksum(&mut self, scratch: &mut [u8]) -> Result<(), StorageError<S::Error>> {
        let mut digest = Digest::new(&self.index, scratch)?;
        read(&mut self.source, &mut digest)?;
        Ok(digest.finish()?)
    }

    /// The elements of a part, chunk by chunk.
    pub fn chunks<P: Part>(&mut self, part: &P) -> Chunks<'_, S, P> {
        let cursor = Cursor::new(part, self.index.file_len());
        Chunks { source: &mut self.source, cursor }
    }
}

impl<'header, 'slots, S> StoredSafeTensors<'header, 'slots, S> {
    /// The header and the index by name.
    #[must_use]
    pub const fn index(&self) -> Index<'header, 'slots> {
        self.index
    }

    /// [`Index::tensor`].
    #[must_use]
    pub const fn tensor(&self, name: &str) -> Option<TensorInfo<'header>> {
        self.index.tensor(name)
    }

    /// [`Index::metadata`].
    #[must_use]
    pub const fn metadata(&self) -> Option<Metadata<'header>> {
        self.index.metadata()
    }

    /// Gives the source back.
    #[must_use]
    pub fn into_source(self) -> S {
        self.source
    }
}

impl<S> fmt::Debug for StoredSafeTensors<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredSafeTensors(")?;
        self.index.fmt(f)?;
        f.write_str(")")
    }
}

/// The elements of a tensor or a part of it, read chunk by chunk; made by
/// [`StoredSafeTensors::chunks`].
pub struct Chunks<'m, S, P: Part> {
    source: &'m mut S,
    cursor: Cursor<P::Ranges>,
}

impl<S: Source, P: Part> Chunks<'_, S, P> {
    /// Reads the next elements, as many as fit, to the beginning of `to`; `None` behind the last one.
    ///
    /// Elements of less than a byte come in whole bytes: F4 in twos, F6 in fours. The runs of a slice
    /// are put together. After an error the same elements are next.
    ///
    /// # Errors
    /// [`BufferTooSmall`](crate::ErrorKind::BufferTooSmall) if `to` does not hold one element, with the
    /// bytes needed; [`DataTruncated`](crate::ErrorKind::DataTruncated) if the source ends before they
    /// do, with the bytes that are missing of the file; [`StorageError::Source`].
    pub fn next<'to>(
        &mut self,
        to: &'to mut [u8],
    ) -> Result<Option<Elements<'to>>, StorageError<S::Error>> {
        let Some(to) = self.cursor.next_chunk(to)? else { return Ok(None) };
        let mut cursor = self.cursor.clone();
        read(self.source, &mut Fill::new(&mut cursor, to))?;
        self.cursor = cursor;
        Ok(Some(self.cursor.elements(to)))
    }
}

impl<S, P: Part> fmt::Debug for Chunks<'_, S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks { .. }")
    }
}

impl Options {
    /// [`StoredSafeTensors::open`] with these options.
    ///
    /// # Errors
    /// Those of [`StoredSafeTensors::open`].
    pub fn open<'header, 'slots, S: Source>(
        &self,
        mut source: S,
        header: &'header mut [u8],
        slots: &'slots mut [Slot],
    ) -> Result<StoredSafeTensors<'header, 'slots, S>, StorageError<S::Error>> {
        let capacity = source.capacity().map_err(StorageError::Source)?;
        let mut opening = Opening::new(*self, header, capacity);
        read(&mut source, &mut opening)?;
        Ok(StoredSafeTensors { source, index: opening.finish(slots)? })
    }
}

fn read<S: Source>(source: &mut S, reads: &mut impl Reads) -> Result<(), StorageError<S::Error>> {
    while let Some((offset, to)) = reads.wanted() {
        let len = source.read(offset, to).map_err(StorageError::Source)?;
        reads.got(len)?;
    }
    Ok(())
}
