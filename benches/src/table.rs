//! The table and the floors.

use std::path::Path;

use crate::files::{has_floors, with_input};
use crate::measure;
use crate::work::{ALL, Job};

/// A column: how many times the work of another is that of ours.
struct Column {
    title: &'static str,
    ours: Job,
    theirs: Job,
    floor: Floor,
}

/// Below which ratio a promise is broken.
enum Floor {
    None,
    /// By time, and nine tenths of it by instructions, which the reference has fewer of than its time
    /// tells: it allocates, and waits for memory.
    Both(f64),
    /// Instructions of vectors do more each, so that only time tells.
    Time(f64),
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
    times: [f64; ALL.len()],
    instructions: Option<[u64; ALL.len()]>,
}

impl Line {
    pub fn measure(path: &Path, callgrind: bool) -> Self {
        with_input(path, false, |input| Self {
            tensors: input.names.len(),
            head_len: input.head.len(),
            times: measure::times(input),
            instructions: callgrind.then(|| measure::instructions(path)).flatten(),
        })
    }

    fn megabytes_per_second(&self, job: Job) -> f64 {
        self.head_len as f64 / self.times[job as usize] / 1e6
    }

    /// In time, in instructions.
    fn ratios(&self, column: &Column) -> (f64, Option<f64>) {
        let (ours, theirs) = (column.ours as usize, column.theirs as usize);
        let time = self.times[theirs] / self.times[ours];
        (time, self.instructions.map(|counts| counts[theirs] as f64 / counts[ours] as f64))
    }
}

/// Prints lines as they come, and remembers which floors they miss.
pub struct Table {
    markdown: bool,
    missed_by_time: Vec<String>,
    missed_by_instructions: Vec<String>,
    counted: bool,
}

impl Table {
    pub fn new(markdown: bool) -> Self {
        let titles = COLUMNS.map(|column| column.title.to_owned());
        let heads = ["header", "tensors", "scan", "parse", "look-up"].map(str::to_owned);
        let table = Self {
            markdown,
            missed_by_time: Vec::new(),
            missed_by_instructions: Vec::new(),
            counted: false,
        };
        table.print(heads.iter().chain(&titles));
        if markdown {
            println!("|---|{}", "---:|".repeat(heads.len() + titles.len() - 1));
        }
        table
    }

    pub fn add(&mut self, name: &str, line: &Line) {
        let mut cells = vec![name.to_owned(), line.tensors.to_string()];
        for job in [Job::Scan, Job::Parse, Job::Lookups] {
            cells.push(format!("{:.0}", line.megabytes_per_second(job)));
        }
        for column in &COLUMNS {
            let (time, instructions) = line.ratios(column);
            cells.push(match instructions {
                Some(instructions) => format!("{time:.1} ({instructions:.1})"),
                None => format!("{time:.1}"),
            });
        }
        self.print(&cells);
        self.counted |= line.instructions.is_some();
        if has_floors(name) {
            self.compare_with_floors(name, line);
        }
    }

    fn compare_with_floors(&mut self, name: &str, line: &Line) {
        for column in &COLUMNS {
            let (time, instructions) = line.ratios(column);
            let (by_time, by_instructions) = match column.floor {
                Floor::None => (0.0, 0.0),
                Floor::Both(floor) => (floor, 0.9 * floor),
                Floor::Time(floor) => (floor, 0.0),
            };
            let miss = |ratio| format!("{name} {} {ratio:.2}", column.title);
            if time < by_time {
                self.missed_by_time.push(miss(time));
            }
            if let Some(instructions) = instructions.filter(|ratio| *ratio < by_instructions) {
                self.missed_by_instructions.push(miss(instructions));
            }
        }
    }

    fn print<'a>(&self, cells: impl IntoIterator<Item = &'a String>) {
        let mut line = String::new();
        for (i, cell) in cells.into_iter().enumerate() {
            line += &match (self.markdown, i) {
                (true, 0) => format!("| {cell} |"),
                (true, _) => format!(" {cell} |"),
                (false, 0) => format!("{cell:26}"),
                (false, 1..5) => format!("{cell:>8}"),
                (false, _) => format!("{cell:>14}"),
            };
        }
        println!("{line}");
    }

    /// Whether all floors hold, by instructions if there are any.
    pub fn finish(self) -> bool {
        println!("\n{LEGEND}");
        let floors = COLUMNS.iter().filter_map(|column| match column.floor {
            Floor::None => None,
            Floor::Both(floor) | Floor::Time(floor) => Some(format!("{} {floor}", column.title)),
        });
        println!("\nFloors: {}.", floors.collect::<Vec<_>>().join(", "));
        let verdict = |missed: &[String]| match missed {
            [] => "all hold".to_owned(),
            missed => format!("missed: {}", missed.join(", ")),
        };
        println!("By time: {}.", verdict(&self.missed_by_time));
        if !self.counted {
            return self.missed_by_time.is_empty();
        }
        println!(
            "By instructions (9/10 of the floors): {}.",
            verdict(&self.missed_by_instructions)
        );
        self.missed_by_instructions.is_empty()
    }
}
