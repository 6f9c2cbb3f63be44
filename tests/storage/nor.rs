//! NOR flash as it is: read, written and erased in blocks; a write clears bits, an erase sets them;
//! a word is written once between erases; and the power fails at any moment.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use embedded_storage::ReadStorage;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

use crate::device::later;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NorError {
    /// Somebody broke the rules.
    Refused(&'static str),
    /// The power failed in this call.
    Cut(usize),
}

impl fmt::Display for NorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for NorError {}

impl NorFlashError for NorError {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

/// What was done: where, and to how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read(u32, usize),
    Write(u32, usize),
    Erase(u32, u32),
}

pub(crate) struct State {
    pub(crate) bytes: Vec<u8>,
    /// The words that were written since they were erased.
    written: Vec<bool>,
    pub(crate) log: Vec<Access>,
    /// In which call the power fails, and which part of it is done by then, in percent.
    pub(crate) cut: Option<(usize, usize)>,
    /// Whether it comes back.
    pub(crate) comes_back: bool,
}

/// Flash with these sizes. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Nor<const READ: usize, const WRITE: usize, const ERASE: usize>(
    pub(crate) Rc<RefCell<State>>,
);

impl<const READ: usize, const WRITE: usize, const ERASE: usize> Nor<READ, WRITE, ERASE> {
    /// All of it is written.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let written = vec![true; bytes.len()];
        let (log, cut) = (Vec::new(), None);
        Self(Rc::new(RefCell::new(State { bytes, written, log, cut, comes_back: false })))
    }

    /// The part of the next call that is done before the power fails, if it does.
    fn call(&self, access: Access, len: usize) -> Result<usize, (usize, NorError)> {
        let mut state = self.0.borrow_mut();
        let call = state.log.len();
        state.log.push(access);
        match state.cut {
            Some((at, percent)) if at == call => Err((len * percent / 100, NorError::Cut(at))),
            Some((at, _)) if at < call && !state.comes_back => Err((0, NorError::Cut(at))),
            _ => Ok(len),
        }
    }

    fn check(&self, from: u64, to: u64, size: usize) -> Result<(), NorError> {
        if to > self.0.borrow().bytes.len() as u64 || from > to {
            return Err(NorError::Refused("out of bounds"));
        }
        if !from.is_multiple_of(size as u64) || !to.is_multiple_of(size as u64) {
            return Err(NorError::Refused("not aligned"));
        }
        Ok(())
    }

    fn do_read(&self, offset: u32, to: &mut [u8], size: usize) -> Result<(), NorError> {
        self.check(offset.into(), u64::from(offset) + to.len() as u64, size)?;
        self.call(Access::Read(offset, to.len()), 0).map_err(|(_, error)| error)?;
        to.copy_from_slice(&self.0.borrow().bytes[offset as usize..][..to.len()]);
        Ok(())
    }

    fn do_erase(&self, from: u32, to: u32) -> Result<(), NorError> {
        self.check(from.into(), to.into(), ERASE)?;
        let result = self.call(Access::Erase(from, to), (to - from) as usize);
        let done = result.unwrap_or_else(|(done, _)| done);
        let mut state = self.0.borrow_mut();
        state.bytes[from as usize..][..done].fill(0xff);
        state.written[from as usize..][..done].fill(false);
        result.map(|_| ()).map_err(|(_, error)| error)
    }

    fn do_write(&self, offset: u32, bytes: &[u8]) -> Result<(), NorError> {
        self.check(offset.into(), u64::from(offset) + bytes.len() as u64, WRITE)?;
        let result = self.call(Access::Write(offset, bytes.len()), bytes.len());
        let mut done = result.unwrap_or_else(|(done, _)| done);
        if WRITE > 8 {
            // A long word is written, or it is not.
            done = done / WRITE * WRITE;
        }
        let mut state = self.0.borrow_mut();
        for (i, byte) in bytes[..done].iter().enumerate() {
            let at = offset as usize + i;
            if std::mem::replace(&mut state.written[at], true) {
                return Err(NorError::Refused("written twice"));
            }
            state.bytes[at] &= byte;
        }
        result.map(|_| ()).map_err(|(_, error)| error)
    }

    fn size(&self) -> usize {
        self.0.borrow().bytes.len()
    }
}

impl<const R: usize, const W: usize, const E: usize> ErrorType for Nor<R, W, E> {
    type Error = NorError;
}

impl<const R: usize, const W: usize, const E: usize> ReadNorFlash for Nor<R, W, E> {
    const READ_SIZE: usize = R;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorError> {
        self.do_read(offset, bytes, R)
    }

    fn capacity(&self) -> usize {
        self.size()
    }
}

impl<const R: usize, const W: usize, const E: usize> NorFlash for Nor<R, W, E> {
    const WRITE_SIZE: usize = W;
    const ERASE_SIZE: usize = E;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorError> {
        self.do_erase(from, to)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorError> {
        self.do_write(offset, bytes)
    }
}

impl<const R: usize, const W: usize, const E: usize> ReadStorage for Nor<R, W, E> {
    type Error = NorError;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorError> {
        self.do_read(offset, bytes, 1)
    }

    fn capacity(&self) -> usize {
        self.size()
    }
}

mod awaited {
    use embedded_storage_async::ReadStorage;
    use embedded_storage_async::nor_flash::{NorFlash, ReadNorFlash};

    use super::{Nor, NorError, later};

    impl<const R: usize, const W: usize, const E: usize> ReadNorFlash for Nor<R, W, E> {
        const READ_SIZE: usize = R;

        async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorError> {
            later(1).await;
            self.do_read(offset, bytes, R)
        }

        fn capacity(&self) -> usize {
            self.size()
        }
    }

    impl<const R: usize, const W: usize, const E: usize> NorFlash for Nor<R, W, E> {
        const WRITE_SIZE: usize = W;
        const ERASE_SIZE: usize = E;

        async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorError> {
            later(2).await;
            self.do_erase(from, to)
        }

        async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorError> {
            later(1).await;
            self.do_write(offset, bytes)
        }
    }

    impl<const R: usize, const W: usize, const E: usize> ReadStorage for Nor<R, W, E> {
        type Error = NorError;

        async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorError> {
            later(1).await;
            self.do_read(offset, bytes, 1)
        }

        fn capacity(&self) -> usize {
            self.size()
        }
    }
}
