//! The tables and the floors.

use super::files::has_floors;
use super::line::Line;
use super::work::Job;
use crate::floors::{Floor, Misses};
use crate::{Choice, lines};

/// A kind of work: how many times as long others take for it as this crate.
struct Table {
    title: &'static str,
    ours: Job,
    columns: &'static [Column],
    /// Those in C++.
    cpp: &'static [Column],
    legend: &'static str,
}

/// Another one, and below which ratio a promise is broken.
type Column = (&'static str, Job, Floor);

const TABLES: [Table; 4] = [
    Table {
        title: "scan",
        ours: Job::Scan,
        columns: &[
            ("reference", Job::ReferenceParse, Floor::Both(8.0)),
            ("json-core", Job::CoreJson, Floor::None),
            ("sonic", Job::SonicEntries, Floor::Time(1.0)),
            ("sonic+", Job::SonicFields, Floor::None),
            ("simd tape", Job::SimdTape, Floor::None),
            ("memchr", Job::Memchr, Floor::None),
            ("memcpy", Job::Memcpy, Floor::None),
        ],
        cpp: &[],
        legend: "\
scan: every rule but duplicates, without slots. reference: its parse. json-core: serde-json-core into
types that keep nothing. sonic: sonic-rs lazily, entries only; sonic+: with fields and numbers. simd
tape: simd-json as a tape, with the copy that it writes on. memchr, memcpy of the header: floors.",
    },
    Table {
        title: "parse",
        ours: Job::Parse,
        columns: &[
            ("reference", Job::ReferenceParse, Floor::Both(6.0)),
            ("sonic", Job::SonicDom, Floor::None),
            ("simd-json", Job::SimdDom, Floor::None),
        ],
        cpp: &[("glaze", Job::GlazeParse, Floor::None), ("st-cpp", Job::CppParse, Floor::None)],
        legend: "\
parse: every rule, into slots. sonic, simd-json: into a tree of values, which checks none of the format.
glaze: into types and a hash map; st-cpp: safetensors-cpp, which checks no offsets in that.",
    },
    Table {
        title: "parse, look up all",
        ours: Job::LookUps,
        columns: &[
            ("reference", Job::ReferenceLookUps, Floor::Both(5.0)),
            ("simd-json", Job::SimdLookUps, Floor::None),
        ],
        cpp: &[("glaze", Job::GlazeLookUps, Floor::None), ("st-cpp", Job::CppLookUps, Floor::None)],
        legend: "\
parse, look up all: the same, and every name looked up once. The tree of sonic-rs has no index for that.",
    },
    Table {
        title: "header alone",
        ours: Job::Open,
        columns: &[
            ("reference", Job::ReferenceParse, Floor::None),
            ("Metadata", Job::ReferenceMetadata, Floor::None),
        ],
        cpp: &[],
        legend: "\
header alone: every rule, into slots, from the bytes of the header. reference: its parse, which takes the
whole file; Metadata: what it makes of the header, by way of serde_json.",
    },
];

const LEGEND: &str = "\
MB/s of header; how many times as long others take (how many times as many instructions): above 1 this
crate is faster.";

/// The cells that are not ratios, but for the first.
const NARROW: usize = 2;

/// Prints the tables, and returns whether all floors hold.
pub fn print(measured: &[Line], choice: &Choice) -> bool {
    let mut misses = Misses::default();
    let mut floors = Vec::new();
    for table in &TABLES {
        let cpp = if choice.peers.is_some() { table.cpp } else { &[] };
        let columns: Vec<Column> = table.columns.iter().chain(cpp).copied().collect();
        let heads = [table.title, "tensors", "MB/s"].into_iter();
        let heads = heads.chain(columns.iter().map(|(title, ..)| *title));
        lines::print_heads(choice.markdown, NARROW, &heads.map(str::to_owned).collect::<Vec<_>>());
        for line in measured {
            print_line(table, &columns, line, choice.markdown, &mut misses);
        }
        println!("\n{}\n", table.legend);
        for (title, _, floor) in columns {
            if let Floor::Both(floor) | Floor::Time(floor) = floor {
                floors.push(format!("{}/{title} {floor}", table.title));
            }
        }
    }
    println!("{LEGEND}\n\nFloors: {}.", floors.join(", "));
    misses.finish()
}

fn print_line(table: &Table, columns: &[Column], line: &Line, markdown: bool, misses: &mut Misses) {
    let speed = line.megabytes_per_second(table.ours);
    let mut cells = vec![line.name.clone(), line.tensors.to_string(), format!("{speed:.0}")];
    for (title, theirs, floor) in columns {
        let Some((time, instructions)) = line.ratios(table.ours, *theirs) else {
            cells.push("refused".to_owned());
            continue;
        };
        cells.push(lines::ratios(time, instructions));
        let floor = if has_floors(&line.name) { *floor } else { Floor::None };
        let name = format!("{} {}/{title}", line.name, table.title);
        misses.compare(floor, (time, instructions), &name);
    }
    lines::print(markdown, NARROW, &cells);
}
