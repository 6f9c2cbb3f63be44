//! Data that is read piece by piece.

use std::io::{self, Read};
use std::vec;

/// Reads to the end, a block at a time, which may be changed.
pub(super) fn each_block(
    reader: &mut impl Read,
    mut each: impl FnMut(&mut [u8]),
) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        match reader.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(len) => each(block.get_mut(..len).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// So many bytes of data are in memory at once.
const BLOCK: usize = 1 << 16;
