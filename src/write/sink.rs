//! Where a stream goes.

/// Something that takes the bytes of a file one after the other, as a [`Stream`](crate::Stream)
/// gives them.
///
/// Every closure of that kind is one, so there is no need for a type of its own:
///
/// ```
/// use core::convert::Infallible;
/// use safetensors_core::WriteOptions;
///
/// let mut sent = Vec::new();
/// let port = |bytes: &[u8]| -> Result<usize, Infallible> {
///     let some = &bytes[..bytes.len().min(7)];
///     sent.extend_from_slice(some);
///     Ok(some.len())
/// };
/// WriteOptions::new().plan(&mut [], None)?.stream(port)?.finish()?;
/// assert_eq!(sent, b"\x08\0\0\0\0\0\0\0{}      ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `StdIo` (feature `std`) makes one of `std::io::Write`, `EmbeddedIo` (feature `embedded-io-07`) of
/// `embedded_io::Write`, `NorFlashSink` (feature `embedded-storage-03`) of flash.
pub trait Sink {
    /// Why it could not take any.
    type Error;

    /// Takes some of `bytes`, from their beginning, and says how many. If it says 0 it is full.
    ///
    /// # Errors
    /// Its own.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error>;
}

impl<F, E> Sink for F
where
    F: FnMut(&[u8]) -> Result<usize, E>,
{
    type Error = E;

    fn write(&mut self, bytes: &[u8]) -> Result<usize, E> {
        self(bytes)
    }
}

/// A [`Sink`] that is waited for. Every `async` closure of that kind is one.
///
/// `EmbeddedIo` (feature `embedded-io-async-07`) makes one of `embedded_io_async::Write`,
/// `AsyncNorFlashSink` (feature `embedded-storage-async-04`) of flash.
#[allow(async_fn_in_trait, reason = "executors of small machines have one thread")]
pub trait AsyncSink {
    /// Why it could not take any.
    type Error;

    /// [`Sink::write`].
    ///
    /// # Errors
    /// Its own.
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error>;
}

impl<F, E> AsyncSink for F
where
    F: AsyncFnMut(&[u8]) -> Result<usize, E>,
{
    type Error = E;

    async fn write(&mut self, bytes: &[u8]) -> Result<usize, E> {
        self(bytes).await
    }
}
