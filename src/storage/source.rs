//! Where a file is read from.

/// Something that gives the bytes at a place: flash, a file, a device behind a bus.
///
/// Every closure of that kind is one, so there is no need for a type of its own:
///
/// ```
/// use safetensors_core::{Slot, StoredSafeTensors};
///
/// let file = include_bytes!("../../examples/digits/digits.safetensors");
/// # #[derive(Debug)] struct Broken;
/// let chip = |offset: u64, to: &mut [u8]| -> Result<usize, Broken> {
///     let some = to.len().min(32);
///     to[..some].copy_from_slice(&file[offset as usize..][..some]);
///     Ok(some)
/// };
/// let mut header = [0; 1024];
/// let mut slots = [Slot::EMPTY; 8];
/// let model = StoredSafeTensors::open(chip, &mut header, &mut slots).unwrap();
/// assert_eq!(model.index().len(), 4);
/// ```
///
/// `EmbeddedStorage` and `NorFlashSource` (feature `embedded-storage-03`) make one of flash drivers,
/// `EmbeddedIo` (feature `embedded-io-07`) and `StdIo` (feature `std`) of what is `Read` and `Seek`.
pub trait Source {
    /// Why it could not read.
    type Error;

    /// Reads some of the bytes from `offset` on to the beginning of `to`, which is not empty, and says
    /// how many. If it says 0 it ends there.
    ///
    /// # Errors
    /// Its own.
    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, Self::Error>;

    /// How many bytes there are, if that is known: a file must not be longer, but may well be shorter.
    /// Asked once, when a file is opened.
    ///
    /// # Errors
    /// Its own.
    fn capacity(&mut self) -> Result<Option<u64>, Self::Error> {
        Ok(None)
    }

    /// What stands from `offset` on, as a source of its own: a file in the middle of a flash.
    fn starting_at(self, offset: u64) -> StartingAt<Self>
    where
        Self: Sized,
    {
        StartingAt { source: self, offset }
    }
}

impl<F, E> Source for F
where
    F: FnMut(u64, &mut [u8]) -> Result<usize, E>,
{
    type Error = E;

    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, E> {
        self(offset, to)
    }
}

/// A [`Source`] that is waited for. Every `async` closure of that kind is one.
///
/// `EmbeddedStorage` and `NorFlashSource` (feature `embedded-storage-async-04`) make one of flash
/// drivers, `EmbeddedIo` (feature `embedded-io-async-07`) of what is `Read` and `Seek`.
#[allow(async_fn_in_trait, reason = "executors of small machines have one thread")]
pub trait AsyncSource {
    /// Why it could not read.
    type Error;

    /// [`Source::read`].
    ///
    /// # Errors
    /// Its own.
    async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, Self::Error>;

    /// [`Source::capacity`].
    ///
    /// # Errors
    /// Its own.
    async fn capacity(&mut self) -> Result<Option<u64>, Self::Error> {
        Ok(None)
    }

    /// [`Source::starting_at`].
    fn starting_at(self, offset: u64) -> StartingAt<Self>
    where
        Self: Sized,
    {
        StartingAt { source: self, offset }
    }
}

impl<F, E> AsyncSource for F
where
    F: AsyncFnMut(u64, &mut [u8]) -> Result<usize, E>,
{
    type Error = E;

    async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, E> {
        self(offset, to).await
    }
}

/// A source without its first bytes; made by [`Source::starting_at`].
#[derive(Clone, Copy)]
pub struct StartingAt<S> {
    source: S,
    offset: u64,
}

impl<S: Source> Source for StartingAt<S> {
    type Error = S::Error;

    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, S::Error> {
        match self.offset.checked_add(offset) {
            Some(offset) => self.source.read(offset, to),
            None => Ok(0),
        }
    }

    fn capacity(&mut self) -> Result<Option<u64>, S::Error> {
        Ok(self.source.capacity()?.map(|capacity| capacity.saturating_sub(self.offset)))
    }
}

impl<S: AsyncSource> AsyncSource for StartingAt<S> {
    type Error = S::Error;

    async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, S::Error> {
        match self.offset.checked_add(offset) {
            Some(offset) => self.source.read(offset, to).await,
            None => Ok(0),
        }
    }

    async fn capacity(&mut self) -> Result<Option<u64>, S::Error> {
        Ok(self.source.capacity().await?.map(|capacity| capacity.saturating_sub(self.offset)))
    }
}

impl<S> core::fmt::Debug for StartingAt<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StartingAt { offset: ")?;
        crate::digits::Decimal(self.offset).fmt(f)?;
        f.write_str(", .. }")
    }
}
