//! The table and the floors.

use std::path::Path;

use super::files::{has_floors, with_input};
use super::work::{ALL, Job};
use crate::floors::{Floor, Misses};
use crate::{lines, measure};

/// A column: how many times the work of another is that of ours.
struct Column {
    title: &'static str,
    ours: Job,
    theirs: Job,
    floor: Floor,
}

const COLUMNS: [Column; 5] = [
    column("scan/ref", Job::Scan, Job::ReferenceParse, Floor::Both(8.0)),
    column("scan/sonic", Job::Scan, Job::SonicEntries, Floor::Time(1.0)),
    column("scan/sonic+", Job::Scan, Job::SonicFields, Floor::None),
    column("parse/ref", Job::Parse, Job::ReferenceParse, Floor::Both(6.0)),
    column("look-up/ref", Job::Lookups, Job::ReferenceLookups, Floor::Both(5.0)),
];

const fn column(title: &'static str, ours: Job, theirs: Job, floor: Floor) -> Column {
    Column { title, ours, theirs, floor }
}

const LEGEND: &str = "\
MB/s of header: scan without slots, parse into slots, parse and look up every name.
Ratios: how many times as long the other takes (how many times as many instructions).
ref: the safetensors crate, its parse, or parse and look-up of every name.
sonic: sonic-rs, lazily, entries only; sonic+: with fields and numbers.";

/// What was measured on one file.
pub struct Line {
    tensors: usize,
    head_len: usize,
    times: Vec<f64>,
    instructions: Option<Vec<u64>>,
}

impl Line {
    pub fn measure(path: &Path, callgrind: bool) -> Self {
        let count = || measure::instructions(&["headers".as_ref(), path.as_ref()], ALL.len());
        with_input(path, false, |input| Self {
            tensors: input.names.len(),
            head_len: input.head.len(),
            times: measure::times(input, &ALL.map(|(work, _)| work)),
            instructions: callgrind.then(count).flatten(),
        })
    }

    fn megabytes_per_second(&self, job: Job) -> f64 {
        self.head_len as f64 / self.times[job as usize] / 1e6
    }

    /// In time, in instructions.
    fn ratios(&self, column: &Column) -> (f64, Option<f64>) {
        let (ours, theirs) = (column.ours as usize, column.theirs as usize);
        let time = self.times[theirs] / self.times[ours];
        (time, self.instructions.as_ref().map(|counts| counts[theirs] as f64 / counts[ours] as f64))
    }
}

/// Prints lines as they come, and remembers which floors they miss.
pub struct Table {
    markdown: bool,
    misses: Misses,
}

/// The cells that are not ratios, but for the first.
const NARROW: usize = 4;

impl Table {
    pub fn new(markdown: bool) -> Self {
        let titles = COLUMNS.map(|column| column.title);
        let heads = ["header", "tensors", "scan", "parse", "look-up"];
        let heads: Vec<_> = heads.iter().chain(&titles).map(|head| head.to_string()).collect();
        lines::print_heads(markdown, NARROW, &heads);
        Self { markdown, misses: Misses::default() }
    }

    pub fn add(&mut self, name: &str, line: &Line) {
        let mut cells = vec![name.to_owned(), line.tensors.to_string()];
        for job in [Job::Scan, Job::Parse, Job::Lookups] {
            cells.push(format!("{:.0}", line.megabytes_per_second(job)));
        }
        for column in &COLUMNS {
            let (time, instructions) = line.ratios(column);
            cells.push(lines::ratios(time, instructions));
            let floor = if has_floors(name) { column.floor } else { Floor::None };
            let name = format!("{name} {}", column.title);
            self.misses.compare(floor, (time, instructions), &name);
        }
        lines::print(self.markdown, NARROW, &cells);
    }

    /// Whether all floors hold.
    pub fn finish(self) -> bool {
        println!("\n{LEGEND}");
        let floors = COLUMNS.iter().filter_map(|column| match column.floor {
            Floor::None => None,
            Floor::Both(floor) | Floor::Time(floor) => Some(format!("{} {floor}", column.title)),
        });
        println!("\nFloors: {}.", floors.collect::<Vec<_>>().join(", "));
        self.misses.finish()
    }
}
