//! Times in turn, and instructions under callgrind.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::files::with_input;
use crate::work::{ALL, Input, Work};

const ROUNDS: usize = 9;
/// The least that one measurement takes, so that neither the clock's grain nor a short interruption
/// shows.
const LEAST: Duration = Duration::from_millis(20);

/// The median time of each piece of work, in seconds. All take turns in every round, so that a
/// machine that changes its speed changes it for all.
pub fn times(input: &mut Input<'_>) -> [f64; ALL.len()] {
    let repeats = ALL.map(|(work, _)| {
        let mut repeats = 1;
        run(work, input, 1);
        while run(work, input, repeats) < LEAST {
            repeats *= 2;
        }
        repeats
    });
    let mut times = ALL.map(|_| Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        for ((times, repeats), (work, _)) in times.iter_mut().zip(repeats).zip(ALL) {
            times.push(run(work, input, repeats).as_secs_f64() / f64::from(repeats));
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    })
}

fn run(work: Work, input: &mut Input<'_>, repeats: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        work(input);
    }
    start.elapsed()
}

/// The instructions of each piece of work; `None` without valgrind.
///
/// This program runs itself under callgrind, which counts within [`counted`] and writes one file at
/// each return from it.
pub fn instructions(path: &Path) -> Option<[u64; ALL.len()]> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--toggle-collect=counted", "--dump-after=counted"]);
    command.arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(std::env::current_exe().unwrap()).arg("count").arg(path);
    let output = command.stdin(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut part = 0;
    Some(ALL.map(|_| {
        part += 1;
        let text = std::fs::read_to_string(folder.path().join(format!("out.{part}"))).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
        total.trim().parse().unwrap()
    }))
}

/// What callgrind runs.
pub fn count(path: &Path) {
    with_input(path, true, |input| ALL.iter().for_each(|(_, work)| counted(*work, input)));
}

/// Its name is told to callgrind.
#[inline(never)]
#[unsafe(no_mangle)]
extern "Rust" fn counted(work: Work, input: &mut Input<'_>) {
    black_box(work)(input);
}
