//! A file that is read and written a few bytes at once.

use std::convert::Infallible;

use embedded_io::{ErrorType, Read, Seek, SeekFrom, Write};

use crate::device::later;

pub(crate) struct Disk {
    pub(crate) bytes: Vec<u8>,
    at: u64,
}

impl Disk {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), at: 0 }
    }

    fn do_read(&mut self, to: &mut [u8]) -> usize {
        let rest = self.bytes.get(self.at as usize..).unwrap_or_default();
        let len = to.len().min(rest.len()).min(13);
        to[..len].copy_from_slice(&rest[..len]);
        self.at += len as u64;
        len
    }

    fn do_seek(&mut self, to: SeekFrom) -> u64 {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(back) => self.bytes.len().wrapping_add_signed(back as isize) as u64,
            SeekFrom::Current(way) => self.at.wrapping_add_signed(way),
        };
        self.at
    }

    fn do_write(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(13);
        self.bytes.extend_from_slice(&bytes[..len]);
        len
    }
}

impl ErrorType for Disk {
    type Error = Infallible;
}

impl Read for Disk {
    fn read(&mut self, to: &mut [u8]) -> Result<usize, Infallible> {
        Ok(self.do_read(to))
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, Infallible> {
        Ok(self.do_seek(to))
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        Ok(self.do_write(bytes))
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

mod awaited {
    use embedded_io_async::{Read, Seek, SeekFrom, Write};

    use super::{Disk, Infallible, later};

    impl Read for Disk {
        async fn read(&mut self, to: &mut [u8]) -> Result<usize, Infallible> {
            later(1).await;
            Ok(self.do_read(to))
        }
    }

    impl Seek for Disk {
        async fn seek(&mut self, to: SeekFrom) -> Result<u64, Infallible> {
            later(1).await;
            Ok(self.do_seek(to))
        }
    }

    impl Write for Disk {
        async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
            later(1).await;
            Ok(self.do_write(bytes))
        }

        async fn flush(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }
}
