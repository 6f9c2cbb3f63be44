//! Files in storage that is waited for.

use core::fmt;

use super::part::Part;
#[cfg(feature = "checksum")]
use super::reads::Digest;
use super::reads::{self, Cursor, Decode, Fill, Opening, Reads};
use super::{AsyncSource, StorageError};
use crate::{Element, Elements, Index, Metadata, Options, Slot, TensorInfo};

/// A [`StoredSafeTensors`](crate::StoredSafeTensors) whose source is waited for.
///
/// A future of it that is dropped before it is ready leaves everything as it was but the contents of the
/// buffers: what was asked for can be asked for again.
///
/// ```
/// use safetensors_core::{AsyncSource, AsyncStoredSafeTensors, Slot, StorageError};
///
/// async fn sum<S: AsyncSource>(flash: S) -> Result<f32, StorageError<S::Error>> {
///     let mut header = [0; 1024];
///     let mut slots = [Slot::EMPTY; 8];
///     let mut model = AsyncStoredSafeTensors::open(flash, &mut header, &mut slots).await?;
///
///     // All numbers of a tensor, converted on the way through a buffer for their bytes.
///     let bias = model.tensor("fc1.bias").unwrap();
///     let mut numbers = [0.0; 32];
///     model.convert_into(&bias, &mut numbers, &mut [0; 64]).await?;
///     let mut sum = numbers.iter().sum();
///
///     // A tensor of 8 KiB with 100 bytes of memory.
///     let weight = model.tensor("fc1.weight").unwrap();
///     let mut buffer = [0; 100];
///     let mut chunks = model.chunks(&weight);
///     while let Some(elements) = chunks.next(&mut buffer).await? {
///         sum += elements.values()?.sum::<f32>();
///     }
///     Ok(sum)
/// }
/// # let file = include_bytes!("../../examples/digits/digits.safetensors");
/// # let flash = async |offset: u64, to: &mut [u8]| {
/// #     to.copy_from_slice(&file[offset as usize..][..to.len()]);
/// #     Ok::<_, core::convert::Infallible>(to.len())
/// # };
/// # assert!(embassy_futures::block_on(sum(flash))?.is_finite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AsyncStoredSafeTensors<'header, 'slots, S> {
    source: S,
    index: Index<'header, 'slots>,
}

impl<'header, 'slots, S: AsyncSource> AsyncStoredSafeTensors<'header, 'slots, S> {
    /// [`StoredSafeTensors::open`](crate::StoredSafeTensors::open).
    ///
    /// # Errors
    /// The same.
    pub async fn open(
        source: S,
        header: &'header mut [u8],
        slots: &'slots mut [Slot],
    ) -> Result<Self, StorageError<S::Error>> {
        Options::new().open_async(source, header, slots).await
    }

    /// [`StoredSafeTensors::copy_bytes_into`](crate::StoredSafeTensors::copy_bytes_into).
    ///
    /// # Errors
    /// The same.
    pub async fn copy_bytes_into<'to>(
        &mut self,
        part: &impl Part,
        to: &'to mut [u8],
    ) -> Result<&'to mut [u8], StorageError<S::Error>> {
        let mut cursor = Cursor::new(part, self.index.file_len());
        let to = cursor.room(to)?;
        read(&mut self.source, &mut Fill::new(&mut cursor, to)).await?;
        Ok(to)
    }

    /// [`StoredSafeTensors::copy_into`](crate::StoredSafeTensors::copy_into).
    ///
    /// # Errors
    /// The same.
    pub async fn copy_into<'to, T: Element>(
        &mut self,
        part: &impl Part,
        to: &'to mut [T],
        scratch: &mut [u8],
    ) -> Result<&'to mut [T], StorageError<S::Error>> {
        let to = reads::room(part, to, reads::copy)?;
        let cursor = Cursor::new(part, self.index.file_len());
        read(&mut self.source, &mut Decode::new(cursor, scratch, &mut *to, reads::copy)?).await?;
        Ok(to)
    }

    /// [`StoredSafeTensors::convert_into`](crate::StoredSafeTensors::convert_into).
    ///
    /// # Errors
    /// The same.
    pub async fn convert_into<'to>(
        &mut self,
        part: &impl Part,
        to: &'to mut [f32],
        scratch: &mut [u8],
    ) -> Result<&'to mut [f32], StorageError<S::Error>> {
        let to = reads::room(part, to, reads::convert)?;
        let cursor = Cursor::new(part, self.index.file_len());
        read(&mut self.source, &mut Decode::new(cursor, scratch, &mut *to, reads::convert)?)
            .await?;
        Ok(to)
    }

    /// [`StoredSafeTensors::check_checksum`](crate::StoredSafeTensors::check_checksum).
    ///
    /// # Errors
    /// The same.
    #[cfg(feature = "checksum")]
    pub async fn check_checksum(
        &mut self,
        scratch: &mut [u8],
    ) -> Result<(), StorageError<S::Error>> {
        let mut digest = Digest::new(&self.index, scratch)?;
        read(&mut self.source, &mut digest).await?;
        Ok(digest.finish()?)
    }

    /// The elements of a part, chunk by chunk.
    pub fn chunks<P: Part>(&mut self, part: &P) -> AsyncChunks<'_, S, P> {
        let cursor = Cursor::new(part, self.index.file_len());
        AsyncChunks { source: &mut self.source, cursor }
    }
}

impl<'header, 'slots, S> AsyncStoredSafeTensors<'header, 'slots, S> {
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

impl<S> fmt::Debug for AsyncStoredSafeTensors<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsyncStoredSafeTensors(")?;
        self.index.fmt(f)?;
        f.write_str(")")
    }
}

/// The elements of a tensor or a part of it, read chunk by chunk; made by
/// [`AsyncStoredSafeTensors::chunks`].
pub struct AsyncChunks<'m, S, P: Part> {
    source: &'m mut S,
    cursor: Cursor<P::Ranges>,
}

impl<S: AsyncSource, P: Part> AsyncChunks<'_, S, P> {
    /// [`Chunks::next`](crate::Chunks::next).
    ///
    /// # Errors
    /// The same.
    pub async fn next<'to>(
        &mut self,
        to: &'to mut [u8],
    ) -> Result<Option<Elements<'to>>, StorageError<S::Error>> {
        let Some(to) = self.cursor.next_chunk(to)? else { return Ok(None) };
        let mut cursor = self.cursor.clone();
        read(self.source, &mut Fill::new(&mut cursor, to)).await?;
        self.cursor = cursor;
        Ok(Some(self.cursor.elements(to)))
    }
}

impl<S, P: Part> fmt::Debug for AsyncChunks<'_, S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsyncChunks { .. }")
    }
}

impl Options {
    /// [`AsyncStoredSafeTensors::open`] with these options.
    ///
    /// # Errors
    /// Those of [`StoredSafeTensors::open`](crate::StoredSafeTensors::open).
    pub async fn open_async<'header, 'slots, S: AsyncSource>(
        &self,
        mut source: S,
        header: &'header mut [u8],
        slots: &'slots mut [Slot],
    ) -> Result<AsyncStoredSafeTensors<'header, 'slots, S>, StorageError<S::Error>> {
        let capacity = source.capacity().await.map_err(StorageError::Source)?;
        let mut opening = Opening::new(*self, header, capacity);
        read(&mut source, &mut opening).await?;
        Ok(AsyncStoredSafeTensors { source, index: opening.finish(slots)? })
    }
}

async fn read<S: AsyncSource>(
    source: &mut S,
    reads: &mut impl Reads,
) -> Result<(), StorageError<S::Error>> {
    while let Some((offset, to)) = reads.wanted() {
        let len = source.read(offset, to).await.map_err(StorageError::Source)?;
        reads.got(len)?;
    }
    Ok(())
}
