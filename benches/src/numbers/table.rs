//! The table.

use super::SMALL;
use super::work::{ROWS, Row};
use crate::floors::{Floor, Misses};
use crate::lines;

const FLOOR: Floor = Floor::Both(0.9);

const LEGEND: &str = "\
µs for 1,048,576 and for 4,096 numbers; copies: how many times as long as a copy of as many f32.
instr.: instructions for each number. half: how many times as long the crate half takes (how many
times as many instructions); above 1 this crate is faster. With the feature std half uses the
processor's own instructions for F16 (F16C), and so does this crate; without, both have none.";

/// What was measured of a row, or of a part of it.
struct Cells {
    /// Large and small, in seconds.
    times: [f64; 2],
    instructions: Option<u64>,
}

pub struct Table {
    markdown: bool,
    times: [Vec<f64>; 2],
    instructions: Option<Vec<u64>>,
    misses: Misses,
}

const NARROW: usize = 5;

impl Table {
    pub fn new(markdown: bool, times: [Vec<f64>; 2], instructions: Option<Vec<u64>>) -> Self {
        let build = if cfg!(feature = "std") { "numbers (std)" } else { "numbers (core)" };
        let heads =
            [build, "1Mi µs", "copies", "4Ki µs", "copies", "instr.", "half 1Mi", "half 4Ki"];
        lines::print_heads(markdown, NARROW, &heads.map(str::to_owned));
        Self { markdown, times, instructions, misses: Misses::default() }
    }

    /// Of a piece of work in the order of [`work::all`](super::work::all).
    fn cells(&self, i: usize) -> Cells {
        Cells {
            times: [self.times[0][i], self.times[1][i]],
            instructions: self.instructions.as_ref().map(|counts| counts[i]),
        }
    }

    pub fn add(&mut self, row: &Row) {
        let i = ROWS.iter().position(|other| other.name == row.name).unwrap();
        let (copy, ours) = (self.cells(0), self.cells(1 + i));
        let mut cells = vec![row.name.to_owned()];
        for (ours, copy) in ours.times.iter().zip(copy.times) {
            cells.push(format!("{:.3}", ours * 1e6));
            cells.push(format!("{:.2}", ours / copy));
        }
        cells.push(match ours.instructions {
            Some(count) => format!("{:.2}", count as f64 / SMALL as f64),
            None => String::new(),
        });
        if row.half.is_some() {
            let before = ROWS[..i].iter().filter(|row| row.half.is_some()).count();
            let half = self.cells(1 + ROWS.len() + before);
            let [large, small] = [0, 1].map(|size| half.times[size] / ours.times[size]);
            let by_instructions = half.instructions.zip(ours.instructions);
            let by_instructions = by_instructions.map(|(half, ours)| half as f64 / ours as f64);
            cells.push(format!("{large:.2}"));
            cells.push(lines::ratios(small, by_instructions));
            self.misses.compare(FLOOR, (large, by_instructions), row.name);
        } else {
            cells.extend(["".to_owned(), "".to_owned()]);
        }
        lines::print(self.markdown, NARROW, &cells);
    }

    pub fn finish(self) -> bool {
        println!("\n{LEGEND}");
        self.misses.finish()
    }
}
