//! Saving: how long it takes beside `cp` of the same bytes, and how much memory.
//!
//! All write the file anew and sync it; what `cp` and the reference leave to others is done after them.

mod work;

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::{Choice, lines};
use work::{NAMES, WORKS};

const ROUNDS: usize = 9;
/// Bytes of data.
const LEN: usize = 256 << 20;
/// As many tensors hold it.
const TENSORS: usize = 256;

/// How many times as long as `cp` a save may take.
const LIMIT: f64 = 1.15;
/// What the median of a run may have on top on a machine that does other work as well.
const NOISE: f64 = 1.3;

/// Prints the table, and returns whether the limits hold.
pub fn print(choice: &Choice) -> bool {
    // Where this program is, as the usual folder may be no disk.
    let here = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir_in(here.parent().unwrap()).unwrap();
    let source = folder.path().join("source");
    work::make(&source, TENSORS, LEN / TENSORS);
    File::open(&source).unwrap().sync_all().unwrap();
    let mut seconds = vec![Vec::new(); NAMES.len()];
    let mut memory = vec![0; NAMES.len()];
    for _ in 0..ROUNDS {
        for (i, name) in NAMES.iter().enumerate() {
            let target = folder.path().join("target");
            let _ = std::fs::remove_file(&target);
            let (time, bytes) = in_a_process(name, &source, &target);
            seconds[i].push(time);
            memory[i] = bytes.max(memory[i]);
        }
    }
    let medians: Vec<f64> = seconds
        .into_iter()
        .map(|mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        })
        .collect();
    let heads = ["", "÷ cp", "MB/s", "memory, MB"].map(str::to_owned);
    lines::print_heads(choice.markdown, heads.len(), &heads);
    let mut holds = true;
    for (i, name) in NAMES.iter().enumerate() {
        let ratio = medians[i] / medians[0];
        let speed = LEN as f64 / 1e6 / medians[i];
        let memory = if i == 0 { "".into() } else { format!("{:.1}", memory[i] as f64 / 1e6) };
        let cells = [(*name).to_owned(), format!("{ratio:.2}"), format!("{speed:.0}"), memory];
        lines::print(choice.markdown, heads.len(), &cells);
        holds &= !name.starts_with("this crate") || ratio <= LIMIT * NOISE;
    }
    println!("Budget: {LIMIT} times as long as cp.");
    holds
}

/// Runs one of the works in a process of its own: seconds, and bytes of memory beyond its input.
fn in_a_process(name: &str, source: &Path, target: &Path) -> (f64, u64) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["save", name]).arg(source).arg(target).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (seconds, bytes) = text.trim().split_once(' ').unwrap();
    (seconds.parse().unwrap(), bytes.parse().unwrap())
}

/// What that process does.
pub fn run(name: &str, source: &Path, target: &Path) -> ExitCode {
    let i = NAMES.iter().position(|other| *other == name).unwrap();
    let (seconds, bytes) = WORKS[i](source, target);
    println!("{seconds} {bytes}");
    ExitCode::SUCCESS
}
