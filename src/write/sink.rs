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
/// `embedded_io::Write`.
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

/// A [`Sink`] that writes to a `std::io::Write`: the writer itself or `&mut` of it.
///
/// The header comes in pieces of up to 128 bytes, so a file is worth a `BufWriter`. That is not
/// flushed at the end.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct StdIo<W>(pub W);

#[cfg(feature = "std")]
impl<W: std::io::Write> Sink for StdIo<W> {
    type Error = std::io::Error;

    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// A [`Sink`] that writes to an `embedded_io::Write`: the writer itself or `&mut` of it. It is not
/// flushed at the end.
#[cfg(feature = "embedded-io-07")]
#[derive(Clone, Copy)]
pub struct EmbeddedIo<W>(pub W);

#[cfg(feature = "embedded-io-07")]
impl<W> core::fmt::Debug for EmbeddedIo<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("EmbeddedIo(..)")
    }
}

#[cfg(feature = "embedded-io-07")]
impl<W: embedded_io::Write> Sink for EmbeddedIo<W> {
    type Error = W::Error;

    fn write(&mut self, bytes: &[u8]) -> Result<usize, W::Error> {
        self.0.write(bytes)
    }
}
