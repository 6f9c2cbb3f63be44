//! How fast headers are read, by this crate and by others.

pub mod files;
pub mod input;
mod line;
mod peers;
mod table;
pub mod work;

use crate::Choice;
use line::Line;

pub use line::count;

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
