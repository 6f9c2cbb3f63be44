//! Buffers of the caller.

use crate::{Error, ErrorKind, raw};

/// The first `len` items of a buffer that something of the tensor described at `place` goes into.
pub(crate) fn prefix<T>(buffer: &mut [T], len: usize, place: u64) -> Result<&mut [T], Error> {
    match buffer.split_at_mut_checked(len) {
        Some((prefix, _)) => Ok(prefix),
        None => Err(Error::new(ErrorKind::BufferTooSmall, place, raw::wide(len))),
    }
}
