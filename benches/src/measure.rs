//! Times in turn, and instructions under callgrind.

use std::ffi::OsStr;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// An odd number, for the median.
const ROUNDS: usize = 7;
/// What takes longer has fewer: so many where a round of all takes as long as this.
const LONG_ROUNDS: [(Duration, usize); 2] =
    [(Duration::from_secs(5), 1), (Duration::from_millis(500), 3)];
/// The least that one measurement takes, so that neither the clock's grain nor a short interruption
/// shows.
const LEAST: Duration = Duration::from_millis(5);

/// The median time of each piece of work, in seconds. All take turns in every round, so that a
/// machine that changes its speed changes it for all.
pub fn times<T, W: Fn(&mut T)>(input: &mut T, works: &[W]) -> Vec<f64> {
    let mut round = Duration::ZERO;
    let repeats = works.iter().map(|work| {
        let mut repeats = 1;
        let mut time = run(work, input, 1);
        while time < LEAST {
            repeats *= 2;
            time = run(work, input, repeats);
        }
        round += time;
        repeats
    });
    let repeats: Vec<u32> = repeats.collect();
    let long = LONG_ROUNDS.iter().find(|(time, _)| round >= *time);
    let rounds = long.map_or(ROUNDS, |(_, rounds)| *rounds);
    let mut times = vec![Vec::with_capacity(rounds); works.len()];
    for _ in 0..rounds {
        for ((times, repeats), work) in times.iter_mut().zip(&repeats).zip(works) {
            times.push(run(work, input, *repeats).as_secs_f64() / f64::from(*repeats));
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[rounds / 2]
    };
    times.into_iter().map(median).collect()
}

fn run<T>(work: impl Fn(&mut T), input: &mut T, repeats: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        work(input);
    }
    start.elapsed()
}

/// The instructions of each of the `works` that this program [counts](count) when it is called with
/// these arguments; `None` without valgrind.
///
/// It runs itself under callgrind, which counts within [`counted`] and writes one file at each return
/// from it.
pub fn instructions(arguments: &[&OsStr], works: usize) -> Option<Vec<u64>> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--toggle-collect=counted", "--dump-after=counted"]);
    command.arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(std::env::current_exe().unwrap()).arg("count").args(arguments);
    let output = command.stdin(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let parts = (1..=works).map(|part| {
        let text = std::fs::read_to_string(folder.path().join(format!("out.{part}"))).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
        total.trim().parse().unwrap()
    });
    Some(parts.collect())
}

/// What callgrind runs.
pub fn count<T, W: Fn(&mut T)>(input: &mut T, works: &[W]) -> ExitCode {
    for work in works {
        counted(&mut || black_box(work)(input));
    }
    ExitCode::SUCCESS
}

/// Its name is told to callgrind.
#[inline(never)]
#[unsafe(no_mangle)]
extern "Rust" fn counted(work: &mut dyn FnMut()) {
    black_box(work)();
}
