//! Sinks that write a file to NOR flash.

use core::fmt;

use super::error::WriteError;
use super::flash::{Access, Geometry, Pages};
use super::plan::Plan;
use super::stream::StreamError;

macro_rules! check_sizes {
    ($flash:ident) => {
        const {
            assert!(
                Geometry::is_sound($flash::WRITE_SIZE, $flash::ERASE_SIZE),
                "WRITE_SIZE must not be 0, and ERASE_SIZE must be a multiple of it"
            );
        }
    };
}

#[cfg(feature = "embedded-storage-03")]
mod sync {
    use embedded_storage::nor_flash::NorFlash;

    use super::*;
    use crate::Sink;

    /// A [`Sink`] that writes a planned file to a `NorFlash` of embedded-storage: the driver itself or
    /// `&mut` of it.
    ///
    /// It erases what the file needs, writes pages as large as the caller's buffer, and the block with
    /// the first 8 bytes last of all, in [`finish`](Self::finish). A file that is cut off, by a reset
    /// or an error, therefore never looks like a file; neither does an old one whose place it takes, as
    /// the first sector is erased before anything else. (What the flash leaves undefined, if the power
    /// fails within that erase or that last write, is not in its hands.)
    ///
    /// ```
    /// # use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
    /// # struct Flash(Vec<u8>);
    /// # impl ErrorType for Flash { type Error = NorFlashErrorKind; }
    /// # impl ReadNorFlash for Flash {
    /// #     const READ_SIZE: usize = 1;
    /// #     fn read(&mut self, offset: u32, to: &mut [u8]) -> Result<(), NorFlashErrorKind> {
    /// #         to.copy_from_slice(&self.0[offset as usize..][..to.len()]); Ok(())
    /// #     }
    /// #     fn capacity(&self) -> usize { self.0.len() }
    /// # }
    /// # impl NorFlash for Flash {
    /// #     const WRITE_SIZE: usize = 4;
    /// #     const ERASE_SIZE: usize = 4096;
    /// #     fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
    /// #         self.0[from as usize..to as usize].fill(0xff); Ok(())
    /// #     }
    /// #     fn write(&mut self, offset: u32, from: &[u8]) -> Result<(), NorFlashErrorKind> {
    /// #         self.0[offset as usize..][..from.len()].copy_from_slice(from); Ok(())
    /// #     }
    /// # }
    /// # let mut flash = Flash(vec![0; 16384]);
    /// use safetensors_core::{Dtype, NorFlashSink, SafeTensors, TensorSpec, WriteOptions};
    ///
    /// let mut tensors = [TensorSpec::new("bias", Dtype::U8, &[3]).with_data(&[1, 2, 3])];
    /// let plan = WriteOptions::new().plan(&mut tensors, None)?;
    ///
    /// let mut buffer = [0; 256];
    /// let sink = NorFlashSink::new(&mut flash, 8192, &plan, &mut buffer)?;
    /// plan.stream(sink)?.finish()?.finish()?;
    /// # let file = &flash.0[8192..][..plan.file_len() as usize];
    /// # assert_eq!(SafeTensors::scan(file).unwrap().tensors(), 1);
    /// # Ok::<(), safetensors_core::StreamError<NorFlashErrorKind>>(())
    /// ```
    #[must_use = "the file is not complete before `finish`"]
    pub struct NorFlashSink<'buffer, F> {
        flash: F,
        pages: Pages<'buffer>,
    }

    impl<'buffer, F: NorFlash> NorFlashSink<'buffer, F> {
        /// A sink for the file of `plan`, which is to begin at the byte `start` of the flash.
        ///
        /// Nothing is done to the flash yet. Up to the next multiple of `ERASE_SIZE` it belongs to the
        /// file. `buffer` holds 8 bytes, rounded up to a multiple of `WRITE_SIZE`, and behind them a
        /// page: as many multiples of `WRITE_SIZE` as fit, written at once.
        ///
        /// # Errors
        /// [`Misaligned`](crate::WriteErrorKind::Misaligned) if `start` is not a multiple of
        /// `ERASE_SIZE`, [`FlashTooSmall`](crate::WriteErrorKind::FlashTooSmall) if the flash ends
        /// before the file does, [`BufferTooSmall`](crate::WriteErrorKind::BufferTooSmall).
        pub fn new(
            flash: F,
            start: u32,
            plan: &Plan<'_>,
            buffer: &'buffer mut [u8],
        ) -> Result<Self, WriteError> {
            check_sizes!(F);
            let geometry = Geometry {
                write_size: F::WRITE_SIZE,
                erase_size: F::ERASE_SIZE,
                capacity: flash.capacity(),
            };
            let pages = Pages::new(geometry, start, plan, buffer)?;
            Ok(Self { flash, pages })
        }

        /// Ends the file: writes what is left of it and then its first bytes, and gives the flash back.
        ///
        /// # Errors
        /// [`MissingData`](crate::WriteErrorKind::MissingData) if not all of the file came,
        /// [`SinkFull`](crate::WriteErrorKind::SinkFull) if the flash failed before, and its own error.
        pub fn finish(mut self) -> Result<F, StreamError<F::Error>> {
            self.pages.close()?;
            self.access().map_err(StreamError::Sink)?;
            Ok(self.flash)
        }

        fn access(&mut self) -> Result<(), F::Error> {
            while let Some(access) = self.pages.due() {
                match access {
                    Access::Erase(from, to) => self.flash.erase(from, to)?,
                    Access::Write(place, bytes) => self.flash.write(place, bytes)?,
                }
                self.pages.done();
            }
            Ok(())
        }
    }

    impl<F: NorFlash> Sink for NorFlashSink<'_, F> {
        type Error = F::Error;

        fn write(&mut self, bytes: &[u8]) -> Result<usize, F::Error> {
            self.access()?;
            Ok(self.pages.take(bytes))
        }
    }

    impl<F> fmt::Debug for NorFlashSink<'_, F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("NorFlashSink { .. }")
        }
    }
}

#[cfg(feature = "embedded-storage-async-04")]
mod asynchronous {
    use embedded_storage_async::nor_flash::NorFlash;

    use super::*;
    use crate::AsyncSink;

    /// An [`AsyncSink`] that writes a planned file to a `NorFlash` of embedded-storage-async: what
    /// `NorFlashSink` (feature `embedded-storage-03`) is for flash that is waited for.
    ///
    /// It erases what the file needs, writes pages as large as the caller's buffer, and the block with
    /// the first 8 bytes last of all, in [`finish`](Self::finish). A file that is cut off, by a reset,
    /// an error or a future that was dropped, therefore never looks like a file; neither does an old
    /// one whose place it takes, as the first sector is erased before anything else. (What the flash
    /// leaves undefined, if the power fails within that erase or that last write, is not in its hands.)
    ///
    /// ```
    /// use embedded_storage_async::nor_flash::NorFlash;
    /// use safetensors_core::{AsyncNorFlashSink, Dtype, StreamError, TensorSpec, WriteOptions};
    ///
    /// async fn save<F: NorFlash>(flash: F, bias: &[u8; 3]) -> Result<F, StreamError<F::Error>> {
    ///     let mut tensors = [TensorSpec::new("bias", Dtype::U8, &[3]).with_data(bias)];
    ///     let plan = WriteOptions::new().plan(&mut tensors, None)?;
    ///     let mut buffer = [0; 256];
    ///     let sink = AsyncNorFlashSink::new(flash, 0, &plan, &mut buffer)?;
    ///     plan.stream_async(sink).await?.finish().await?.finish().await
    /// }
    /// ```
    #[must_use = "the file is not complete before `finish`"]
    pub struct AsyncNorFlashSink<'buffer, F> {
        flash: F,
        pages: Pages<'buffer>,
    }

    impl<'buffer, F: NorFlash> AsyncNorFlashSink<'buffer, F> {
        /// A sink for the file of `plan`, which is to begin at the byte `start` of the flash.
        ///
        /// Nothing is done to the flash yet. Up to the next multiple of `ERASE_SIZE` it belongs to the
        /// file. `buffer` holds 8 bytes, rounded up to a multiple of `WRITE_SIZE`, and behind them a
        /// page: as many multiples of `WRITE_SIZE` as fit, written at once.
        ///
        /// # Errors
        /// [`Misaligned`](crate::WriteErrorKind::Misaligned) if `start` is not a multiple of
        /// `ERASE_SIZE`, [`FlashTooSmall`](crate::WriteErrorKind::FlashTooSmall) if the flash ends
        /// before the file does, [`BufferTooSmall`](crate::WriteErrorKind::BufferTooSmall).
        pub fn new(
            flash: F,
            start: u32,
            plan: &Plan<'_>,
            buffer: &'buffer mut [u8],
        ) -> Result<Self, WriteError> {
            check_sizes!(F);
            let geometry = Geometry {
                write_size: F::WRITE_SIZE,
                erase_size: F::ERASE_SIZE,
                capacity: flash.capacity(),
            };
            let pages = Pages::new(geometry, start, plan, buffer)?;
            Ok(Self { flash, pages })
        }

        /// Ends the file: writes what is left of it and then its first bytes, and gives the flash back.
        ///
        /// # Errors
        /// [`MissingData`](crate::WriteErrorKind::MissingData) if not all of the file came,
        /// [`SinkFull`](crate::WriteErrorKind::SinkFull) if the flash failed before, and its own error.
        pub async fn finish(mut self) -> Result<F, StreamError<F::Error>> {
            self.pages.close()?;
            self.access().await.map_err(StreamError::Sink)?;
            Ok(self.flash)
        }

        async fn access(&mut self) -> Result<(), F::Error> {
            while let Some(access) = self.pages.due() {
                match access {
                    Access::Erase(from, to) => self.flash.erase(from, to).await?,
                    Access::Write(place, bytes) => self.flash.write(place, bytes).await?,
                }
                self.pages.done();
            }
            Ok(())
        }
    }

    impl<F: NorFlash> AsyncSink for AsyncNorFlashSink<'_, F> {
        type Error = F::Error;

        async fn write(&mut self, bytes: &[u8]) -> Result<usize, F::Error> {
            self.access().await?;
            Ok(self.pages.take(bytes))
        }
    }

    impl<F> fmt::Debug for AsyncNorFlashSink<'_, F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("AsyncNorFlashSink { .. }")
        }
    }
}

#[cfg(feature = "embedded-storage-async-04")]
pub use asynchronous::AsyncNorFlashSink;
#[cfg(feature = "embedded-storage-03")]
pub use sync::NorFlashSink;
