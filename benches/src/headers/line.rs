//! What is measured on one file.

use std::path::Path;
use std::process::ExitCode;

use super::files::with_input;
use super::input::Input;
use super::peers::cpp::Peers;
use super::work::{self, Job, Work};
use crate::{Choice, measure};

pub struct Line {
    pub name: String,
    pub tensors: usize,
    head_len: usize,
    /// Of each [`Job`], and nothing of those who refuse the file.
    costs: Vec<Option<Cost>>,
}

#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    instructions: Option<u64>,
}

impl Line {
    pub fn measure(name: &str, path: &Path, choice: &Choice) -> Self {
        eprintln!("{name} …");
        let peers = choice.peers.as_deref().map(load);
        let works = work::all(peers.is_some());
        with_input(path, false, peers.as_ref(), |input| {
            let jobs = accepting(input, works, name);
            let on_file: Vec<_> = jobs.iter().map(|job| works[*job].on_file).collect();
            let times = measure::times(input, &on_file);
            let counts = choice.callgrind.then(|| instructions(&jobs, path, choice)).flatten();
            let mut costs = vec![None; works.len()];
            for (i, job) in jobs.into_iter().enumerate() {
                let instructions = counts.as_ref().map(|counts| counts[i]);
                costs[job] = Some(Cost { seconds: times[i], instructions });
            }
            let (tensors, head_len) = (input.names.len(), input.head.len());
            Self { name: name.to_owned(), tensors, head_len, costs }
        })
    }

    pub fn megabytes_per_second(&self, ours: Job) -> f64 {
        self.head_len as f64 / self.costs[ours as usize].unwrap().seconds / 1e6
    }

    /// How many times the work of `ours` that of `theirs` is, in time, in instructions; nothing if
    /// they refuse the file.
    pub fn ratios(&self, ours: Job, theirs: Job) -> Option<(f64, Option<f64>)> {
        let ours = self.costs[ours as usize].unwrap();
        let theirs = self.costs[theirs as usize]?;
        let instructions = theirs.instructions.zip(ours.instructions);
        let instructions = instructions.map(|(theirs, ours)| theirs as f64 / ours as f64);
        Some((theirs.seconds / ours.seconds, instructions))
    }
}

/// Which of the works accept the header. They must find the same in it.
fn accepting(input: &mut Input<'_>, works: &[Work], name: &str) -> Vec<usize> {
    let ours = works[Job::Scan as usize].found.and_then(|find| find(input));
    let mut accepts = |job: &usize| {
        let Some(find) = works[*job].found else { return true };
        let found = find(input);
        assert!(found.is_none() || found == ours, "{name}, work {job}: {found:?}, not {ours:?}");
        found.is_some()
    };
    (0..works.len()).filter(|job| accepts(job)).collect()
}

fn instructions(jobs: &[usize], path: &Path, choice: &Choice) -> Option<Vec<u64>> {
    let listed = jobs.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let mut arguments = vec!["headers".as_ref(), listed.as_ref(), path.as_os_str()];
    arguments.extend(choice.peers.as_ref().map(|path| path.as_os_str()));
    measure::instructions(&arguments, jobs.len())
}

/// What callgrind runs: these jobs, with numbers separated by commas.
pub fn count(jobs: &str, path: &Path, peers: Option<&Path>) -> ExitCode {
    let peers = peers.map(load);
    with_input(path, true, peers.as_ref(), |input| {
        let works = work::all(peers.is_some());
        let jobs = jobs.split(',').map(|job| works[job.parse::<usize>().unwrap()].on_head);
        measure::count(input, &jobs.collect::<Vec<_>>())
    })
}

fn load(path: &Path) -> Peers {
    Peers::load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
