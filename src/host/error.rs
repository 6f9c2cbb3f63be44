//! Why a file was not loaded.

use core::fmt;
use std::io;
use std::vec::Vec;

use crate::header::locate::name_around;
use crate::{Error, Text};

/// Why a file was not loaded. Its message says what is wrong, in which tensor, and at which byte.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    Io(io::Error),
    /// The file was read and is not valid.
    Invalid(Invalid),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An [`Error`] together with the header it was found in, from which its message takes the name of
/// the tensor.
#[derive(Clone)]
pub struct Invalid {
    error: Error,
    head: Vec<u8>,
}

impl Invalid {
    /// `head` is the beginning of the file, as far as it was read.
    pub(super) fn new(error: Error, head: Vec<u8>) -> Self {
        Self { error, head }
    }

    /// The rule that is broken, the byte at which it is, and a number that tells more.
    #[must_use]
    pub fn error(&self) -> Error {
        self.error
    }

    /// The name of the tensor in whose description the error is. `None` if it is elsewhere, or if
    /// the error comes before the name ends.
    #[must_use]
    pub fn tensor(&self) -> Option<Text<'_>> {
        match name_around(&self.head, self.error.offset()) {
            Some((false, name)) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.display(&self.head).fmt(f)
    }
}

impl fmt::Debug for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invalid").field("error", &self.error).finish_non_exhaustive()
    }
}
