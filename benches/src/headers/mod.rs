//! How fast headers are read, by this crate and by others.

mod files;
mod input;
mod line;
mod peers;
mod table;
mod work;

use std::path::Path;
use std::process::ExitCode;

use crate::{Choice, measure};
use line::Line;
use peers::cpp::Peers;

/// Prints the tables, and returns whether their floors hold.
pub fn print(choice: &Choice) -> bool {
    let mut files = files::all();
    files.retain(|(name, _)| choice.has(name));
    if files.is_empty() {
        return true;
    }
    let lines: Vec<_> =
        files.iter().map(|(name, path)| Line::measure(name, path, choice)).collect();
    table::print(&lines, choice)
}

/// What callgrind runs.
pub fn count(path: &Path, peers: Option<&Path>) -> ExitCode {
    let peers = peers.map(load);
    files::with_input(path, true, peers.as_ref(), |input| {
        let works: Vec<_> =
            work::all(input.cpp.is_some()).iter().map(|work| work.on_head).collect();
        measure::count(input, &works)
    })
}

fn load(path: &Path) -> Peers {
    Peers::load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
