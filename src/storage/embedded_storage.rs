//! Drivers of flash, as sources.

use core::fmt;

use crate::raw;

/// A [`Source`](crate::Source) of a `ReadStorage` of embedded-storage, or an
/// [`AsyncSource`](crate::AsyncSource) of one of embedded-storage-async.
#[derive(Clone, Copy)]
pub struct EmbeddedStorage<S>(pub S);

impl<S> fmt::Debug for EmbeddedStorage<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmbeddedStorage(..)")
    }
}

/// A [`Source`](crate::Source) of a `ReadNorFlash` of embedded-storage, or an
/// [`AsyncSource`](crate::AsyncSource) of one of embedded-storage-async: the driver itself or `&mut` of
/// it.
///
/// The flash reads multiples of its `READ_SIZE` only. What begins and ends at such goes straight into
/// the caller's buffer; the rest of it through a buffer of 64 bytes on the stack. A `READ_SIZE` beyond
/// that does not compile:
///
/// ```compile_fail,E0080
/// # use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
/// # struct Flash;
/// # impl ErrorType for Flash { type Error = NorFlashErrorKind; }
/// impl ReadNorFlash for Flash {
///     const READ_SIZE: usize = 128;
/// #   fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), NorFlashErrorKind> { Ok(()) }
/// #   fn capacity(&self) -> usize { 0 }
///     // …
/// }
/// # use safetensors_core::{NorFlashSource, Slot, StoredSafeTensors};
/// let model = StoredSafeTensors::open(NorFlashSource(Flash), &mut [0; 64], &mut [Slot::EMPTY]);
/// ```
#[derive(Clone, Copy)]
pub struct NorFlashSource<F>(pub F);

impl<F> fmt::Debug for NorFlashSource<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NorFlashSource(..)")
    }
}

/// Bytes on the stack for what is not aligned.
const BOUNCE: usize = 64;

/// How to read some of what is wanted.
enum Access {
    /// There is nothing.
    End,
    /// So many bytes straight to where they are wanted.
    Direct { start: u32, len: usize },
    /// So many bytes to the stack; those wanted begin behind the first few.
    Bounced { start: u32, len: usize, skip: usize },
}

impl Access {
    /// The first access for `wanted` bytes at `offset`, if a flash of `capacity` bytes is read in
    /// multiples of `read_size`.
    fn first(offset: u64, wanted: usize, read_size: usize, capacity: usize) -> Self {
        let whole = |len| whole(len, read_size);
        let (Ok(offset), Some(at)) = (u32::try_from(offset), raw::size(offset)) else {
            return Self::End;
        };
        let left = whole(capacity).saturating_sub(at);
        let wanted = wanted.min(left);
        let skip = raw::remainder(at, read_size);
        if wanted == 0 {
            return Self::End;
        }
        if skip == 0 && wanted >= read_size {
            return Self::Direct { start: offset, len: whole(wanted) };
        }
        let start = offset.wrapping_sub(u32::try_from(skip).unwrap_or(0));
        let len = skip.saturating_add(wanted).checked_next_multiple_of(read_size);
        let len = len.unwrap_or(usize::MAX).min(whole(BOUNCE));
        Self::Bounced { start, len, skip }
    }
}

/// The greatest multiple of `size` that is no more than `len`.
fn whole(len: usize, size: usize) -> usize {
    len.wrapping_sub(raw::remainder(len, size))
}

/// Copies what was read to the stack to where it is wanted, and says how much.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    to.len().min(from.len())
}

macro_rules! check_read_size {
    ($flash:ident) => {
        const {
            assert!(
                $flash::READ_SIZE > 0 && $flash::READ_SIZE <= BOUNCE,
                "READ_SIZE must be from 1 to 64 bytes"
            );
        }
    };
}

#[cfg(feature = "embedded-storage-03")]
mod sync {
    use embedded_storage::ReadStorage;
    use embedded_storage::nor_flash::ReadNorFlash;

    use super::*;
    use crate::Source;

    impl<S: ReadStorage> Source for EmbeddedStorage<S> {
        type Error = S::Error;

        fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, S::Error> {
            match Access::first(offset, to.len(), 1, self.0.capacity()) {
                Access::Direct { start, len } => {
                    let to = to.get_mut(..len).unwrap_or_default();
                    self.0.read(start, to).map(|()| len)
                }
                _ => Ok(0),
            }
        }

        fn capacity(&mut self) -> Result<Option<u64>, S::Error> {
            Ok(Some(raw::wide(self.0.capacity())))
        }
    }

    impl<F: ReadNorFlash> Source for NorFlashSource<F> {
        type Error = F::Error;

        fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, F::Error> {
            check_read_size!(F);
            match Access::first(offset, to.len(), F::READ_SIZE, self.0.capacity()) {
                Access::End => Ok(0),
                Access::Direct { start, len } => {
                    let to = to.get_mut(..len).unwrap_or_default();
                    self.0.read(start, to).map(|()| len)
                }
                Access::Bounced { start, len, skip } => {
                    let mut bounce = [0; BOUNCE];
                    self.0.read(start, bounce.get_mut(..len).unwrap_or_default())?;
                    Ok(copy(raw::range(&bounce, skip, len), to))
                }
            }
        }

        fn capacity(&mut self) -> Result<Option<u64>, F::Error> {
            Ok(Some(raw::wide(whole(self.0.capacity(), F::READ_SIZE))))
        }
    }
}

#[cfg(feature = "embedded-storage-async-04")]
mod asynchronous {
    use embedded_storage_async::ReadStorage;
    use embedded_storage_async::nor_flash::ReadNorFlash;

    use super::*;
    use crate::AsyncSource;

    impl<S: ReadStorage> AsyncSource for EmbeddedStorage<S> {
        type Error = S::Error;

        async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, S::Error> {
            match Access::first(offset, to.len(), 1, self.0.capacity()) {
                Access::Direct { start, len } => {
                    let to = to.get_mut(..len).unwrap_or_default();
                    self.0.read(start, to).await.map(|()| len)
                }
                _ => Ok(0),
            }
        }

        async fn capacity(&mut self) -> Result<Option<u64>, S::Error> {
            Ok(Some(raw::wide(self.0.capacity())))
        }
    }

    impl<F: ReadNorFlash> AsyncSource for NorFlashSource<F> {
        type Error = F::Error;

        async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, F::Error> {
            check_read_size!(F);
            match Access::first(offset, to.len(), F::READ_SIZE, self.0.capacity()) {
                Access::End => Ok(0),
                Access::Direct { start, len } => {
                    let to = to.get_mut(..len).unwrap_or_default();
                    self.0.read(start, to).await.map(|()| len)
                }
                Access::Bounced { start, len, skip } => {
                    let mut bounce = [0; BOUNCE];
                    self.0.read(start, bounce.get_mut(..len).unwrap_or_default()).await?;
                    Ok(copy(raw::range(&bounce, skip, len), to))
                }
            }
        }

        async fn capacity(&mut self) -> Result<Option<u64>, F::Error> {
            Ok(Some(raw::wide(whole(self.0.capacity(), F::READ_SIZE))))
        }
    }
}
