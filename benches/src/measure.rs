//! Times in turn, and instructions under callgrind.

use std::ffi::OsStr;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
/// The least that one measurement takes, so that neither the clock's grain nor a short interruption
/// shows.
const LEAST: Duration = Duration::from_millis(5);

/// The median time of each piece of work, in seconds. All take turns in every round, so that a
/// machine that changes its speed changes it for all.
pub fn times<T, W: Fn(&mut T)>(input: &mut T, works: &[W]) -> Vec<f64> {
    let repeats = works.iter().map(|work| {
        let mut repeats = 1;
        run(work, input, 1);
        while run(work, input, repeats) < LEAST {
            repeats *= 2;
        }
        repeats
    });
    let repeats: Vec<u32> = repeats.collect();
    let mut times = vec![Vec::with_capacity(ROUNDS); works.len()];
    for _ in 0..ROUNDS {
        for ((times, repeats), work) in times.iter_mut().zip(&repeats).zip(works) {
            times.push(run(work, input, *repeats).as_secs_f64() / f64::from(*repeats));
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
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
