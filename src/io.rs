//! Readers and writers of `std` and embedded-io, as sources and sinks.

/// A [`Sink`](crate::Sink) that writes to a `std::io::Write`, or a [`Source`](crate::Source) of what is
/// `Read` and `Seek`: the value itself or `&mut` of it.
///
/// The header is written in pieces of up to 128 bytes, so a file is worth a `BufWriter`. That is not
/// flushed at the end.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct StdIo<W>(pub W);

#[cfg(feature = "std")]
mod std_io {
    use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};

    use super::StdIo;
    use crate::{Sink, Source};

    impl<W: Write> Sink for StdIo<W> {
        type Error = Error;

        fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
            uninterrupted(|| self.0.write(bytes))
        }
    }

    impl<R: Read + Seek> Source for StdIo<R> {
        type Error = Error;

        fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, Error> {
            self.0.seek(SeekFrom::Start(offset))?;
            uninterrupted(|| self.0.read(to))
        }

        fn capacity(&mut self) -> Result<Option<u64>, Error> {
            self.0.seek(SeekFrom::End(0)).map(Some)
        }
    }

    fn uninterrupted(mut call: impl FnMut() -> Result<usize, Error>) -> Result<usize, Error> {
        loop {
            match call() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// A [`Sink`](crate::Sink) that writes to an `embedded_io::Write`, or a [`Source`](crate::Source) of what
/// is `Read` and `Seek`: the value itself or `&mut` of it. It is not flushed at the end.
///
/// With the feature `embedded-io-async-07` it is an [`AsyncSink`](crate::AsyncSink) and an
/// [`AsyncSource`](crate::AsyncSource) of the traits of embedded-io-async.
#[cfg(any(feature = "embedded-io-07", feature = "embedded-io-async-07"))]
#[derive(Clone, Copy)]
pub struct EmbeddedIo<W>(pub W);

#[cfg(any(feature = "embedded-io-07", feature = "embedded-io-async-07"))]
impl<W> core::fmt::Debug for EmbeddedIo<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("EmbeddedIo(..)")
    }
}

#[cfg(feature = "embedded-io-07")]
mod embedded {
    use embedded_io::{Read, Seek, SeekFrom, Write};

    use super::EmbeddedIo;
    use crate::{Sink, Source};

    impl<W: Write> Sink for EmbeddedIo<W> {
        type Error = W::Error;

        fn write(&mut self, bytes: &[u8]) -> Result<usize, W::Error> {
            self.0.write(bytes)
        }
    }

    impl<R: Read + Seek> Source for EmbeddedIo<R> {
        type Error = R::Error;

        fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, R::Error> {
            self.0.seek(SeekFrom::Start(offset))?;
            self.0.read(to)
        }

        fn capacity(&mut self) -> Result<Option<u64>, R::Error> {
            self.0.seek(SeekFrom::End(0)).map(Some)
        }
    }
}

#[cfg(feature = "embedded-io-async-07")]
mod embedded_async {
    use embedded_io_async::{Read, Seek, SeekFrom, Write};

    use super::EmbeddedIo;
    use crate::{AsyncSink, AsyncSource};

    impl<W: Write> AsyncSink for EmbeddedIo<W> {
        type Error = W::Error;

        async fn write(&mut self, bytes: &[u8]) -> Result<usize, W::Error> {
            self.0.write(bytes).await
        }
    }

    impl<R: Read + Seek> AsyncSource for EmbeddedIo<R> {
        type Error = R::Error;

        async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, R::Error> {
            self.0.seek(SeekFrom::Start(offset)).await?;
            self.0.read(to).await
        }

        async fn capacity(&mut self) -> Result<Option<u64>, R::Error> {
            self.0.seek(SeekFrom::End(0)).await.map(Some)
        }
    }
}
