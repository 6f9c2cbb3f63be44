//! How fast files are written into memory, beside the reference: what models have for a header, and
//! their data if it is small.

mod input;
mod work;

use std::path::Path;
use std::process::ExitCode;

use crate::headers::files;
use crate::{Choice, lines, measure};
use input::{Input, Model};

const LEGEND: &str = "\
write: a plan, and the file into a buffer of the caller, in MB/s of the file. reference: its serialize,
into a Vec, with the copy of the metadata that it takes. memcpy of the file: the floor. Files of more
than 64 KiB of data have none: the first dimension of each tensor is 0.";

const NARROW: usize = 2;

/// Prints the table.
pub fn print(choice: &Choice) {
    let mut files = files::all();
    files.retain(|(name, _)| choice.has(name) && name.ends_with(".offset"));
    if files.is_empty() {
        return;
    }
    let heads = ["write", "tensors", "MB/s", "reference", "memcpy"];
    lines::print_heads(choice.markdown, NARROW, &heads.map(str::to_owned));
    for (name, path) in files {
        let cells = cells(name, &path, choice.callgrind);
        lines::print(choice.markdown, NARROW, &cells);
    }
    println!("\n{LEGEND}\n");
}

fn cells(name: String, path: &Path, callgrind: bool) -> Vec<String> {
    let model = Model::read(path);
    let mut input = Input::new(&model);
    input.check();
    let len = input.file.len();
    let times = measure::times(&mut input, &work::ALL);
    let count = || measure::instructions(&["writes".as_ref(), path.as_os_str()], work::ALL.len());
    let counts = callgrind.then(count).flatten();
    let speed = len as f64 / times[0] / 1e6;
    let mut cells = vec![name, model.tensors.len().to_string(), format!("{speed:.0}")];
    for i in 1..work::ALL.len() {
        let instructions = counts.as_ref().map(|counts| counts[i] as f64 / counts[0] as f64);
        cells.push(lines::ratios(times[i] / times[0], instructions));
    }
    cells
}

/// What callgrind runs.
pub fn count(path: &Path) -> ExitCode {
    let model = Model::read(path);
    measure::count(&mut Input::new(&model), &work::ALL)
}
