//! How fast numbers are converted.

mod buffers;
mod table;
mod work;

use std::process::ExitCode;

use crate::{Choice, measure};
use buffers::with_buffers;
use table::Table;

/// A matrix of 1024 × 1024, whose `f32` fill 4 MiB: more than the caches of a core hold, as the
/// tensors of a model are.
const LARGE: usize = 1 << 20;
/// What is converted piece by piece: 16 KiB of `f32`, in the first-level cache beside their source.
/// What the processor can do, if memory can.
const SMALL: usize = 1 << 12;

/// Prints the table, and returns whether its floors hold.
pub fn print(choice: &Choice) -> bool {
    let rows: Vec<_> = work::ROWS.iter().filter(|row| choice.has(row.name)).collect();
    if rows.is_empty() {
        return true;
    }
    // All, so that every piece of work is measured among the same others.
    let works = work::all();
    let times = [LARGE, SMALL].map(|len| with_buffers(len, |b| measure::times(b, &works)));
    let count = || measure::instructions(&["numbers".as_ref()], works.len());
    let instructions = choice.callgrind.then(count).flatten();
    let mut table = Table::new(choice.markdown, times, instructions);
    rows.into_iter().for_each(|row| table.add(row));
    table.finish()
}

/// What callgrind runs: the small ones, as instructions are the same for each element.
pub fn count() -> ExitCode {
    with_buffers(SMALL, |buffers| measure::count(buffers, &work::all()))
}
