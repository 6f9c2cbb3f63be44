//! How fast headers are read.

mod files;
mod table;
mod work;

use std::path::Path;
use std::process::ExitCode;

use crate::{Choice, measure};
use table::{Line, Table};

/// Prints the table, and returns whether its floors hold.
pub fn print(choice: &Choice) -> bool {
    let mut files = files::all();
    files.retain(|(name, _)| choice.has(name));
    if files.is_empty() {
        return true;
    }
    let mut table = Table::new(choice.markdown);
    for (name, path) in files {
        table.add(&name, &Line::measure(&path, choice.callgrind));
    }
    table.finish()
}

/// What callgrind runs.
pub fn count(path: &Path) -> ExitCode {
    files::with_input(path, true, |input| measure::count(input, &work::ALL.map(|(_, work)| work)))
}
