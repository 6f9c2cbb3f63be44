//! The numbers of a tensor, in nested brackets.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::string::String;
use std::vec;

use super::Tensor;
use crate::{Dtype, raw};

/// How a language writes arrays and numbers.
pub(super) trait Language {
    const OPEN: &str;
    const CLOSE: &str;

    /// Appends the number that these bytes are.
    fn number(dtype: Dtype, bytes: &[u8], to: &mut String);
}

/// Behind so many characters a line ends.
const WIDTH: usize = 96;

/// Writes the elements of a tensor as its array is written, and reads them as it goes.
pub(super) fn write<L: Language>(
    mut file: &File,
    tensor: &Tensor<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let info = tensor.info;
    let size = size_of_number(info.dtype());
    file.seek(SeekFrom::Start(info.byte_range().start))?;
    // A multiple of the size of all numbers.
    let mut block = vec![0; 1 << 16];
    let mut line = String::new();
    let (mut left, mut done) = (info.data_len(), 0_u64);
    tensor.dims.iter().for_each(|_| line.push_str(L::OPEN));
    while left > 0 {
        let len = raw::size(left).unwrap_or(usize::MAX).min(block.len());
        let block = block.get_mut(..len).unwrap_or_default();
        file.read_exact(block)?;
        left = left.saturating_sub(raw::wide(len));
        for bytes in block.chunks_exact(size) {
            if done > 0 {
                let ended = ended(&tensor.dims, done);
                (0..ended).for_each(|_| line.push_str(L::CLOSE));
                line.push(',');
                if ended > 0 || line.len() > WIDTH {
                    writeln!(out, "{line}")?;
                    line.clear();
                } else {
                    line.push(' ');
                }
                (0..ended).for_each(|_| line.push_str(L::OPEN));
            }
            L::number(info.dtype(), bytes, &mut line);
            done = done.saturating_add(1);
        }
    }
    tensor.dims.iter().for_each(|_| line.push_str(L::CLOSE));
    write!(out, "{line}")
}

/// How many of the innermost arrays end before element number `done`.
fn ended(dims: &[u64], done: u64) -> usize {
    let mut len: u64 = 1;
    let is_end = |dim: &&u64| {
        len = len.saturating_mul(**dim);
        done.checked_rem(len) == Some(0)
    };
    // The outermost ends with the last element.
    dims.iter().skip(1).rev().take_while(is_end).count()
}

/// The bytes of a number; C64 has two.
pub(super) fn size_of_number(dtype: Dtype) -> usize {
    match dtype {
        Dtype::C64 => 4,
        _ => raw::quotient(dtype.bitsize(), 8).max(1),
    }
}

/// The bits of a number.
pub(super) fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// A two's complement of so many bits.
pub(super) fn signed(bits: u64, len: u32) -> i64 {
    let unused = 64_u32.wrapping_sub(len);
    (bits << unused).cast_signed() >> unused
}
