//! Why something can't be read.

use core::fmt;

use crate::Error;

/// Why a file in storage can't be read: it is wrong, or its storage failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageError<E> {
    /// The file is not valid, it ends too early, or something does not fit it or a buffer.
    /// [`Error::display`] with the buffer of the header adds the name of the tensor.
    Format(Error),
    /// The source failed.
    Source(E),
}

impl<E> From<Error> for StorageError<E> {
    fn from(error: Error) -> Self {
        Self::Format(error)
    }
}

impl<E: fmt::Display> fmt::Display for StorageError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for StorageError<E> {}
