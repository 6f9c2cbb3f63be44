//! What is measured on one file.

use std::path::Path;

use super::files::with_input;
use super::input::Input;
use super::load;
use super::work::{self, Job, Work};
use crate::{Choice, measure};

pub struct Line {
    pub name: String,
    pub tensors: usize,
    head_len: usize,
    /// Whether each accepts the header.
    accepted: Vec<bool>,
    times: Vec<f64>,
    instructions: Option<Vec<u64>>,
}

impl Line {
    pub fn measure(name: &str, path: &Path, choice: &Choice) -> Self {
        eprintln!("{name} …");
        let peers = choice.peers.as_deref().map(load);
        let works = work::all(peers.is_some());
        let mut arguments = vec!["headers".as_ref(), path.as_os_str()];
        arguments.extend(choice.peers.as_ref().map(|path| path.as_os_str()));
        let count = || measure::instructions(&arguments, works.len());
        with_input(path, false, peers.as_ref(), |input| Self {
            name: name.to_owned(),
            tensors: input.names.len(),
            head_len: input.head.len(),
            accepted: check(input, works, name),
            times: measure::times(
                input,
                &works.iter().map(|work| work.on_file).collect::<Vec<_>>(),
            ),
            instructions: choice.callgrind.then(count).flatten(),
        })
    }

    pub fn megabytes_per_second(&self, job: Job) -> f64 {
        self.head_len as f64 / self.times[job as usize] / 1e6
    }

    /// How many times the work of `ours` that of `theirs` is, in time, in instructions; nothing if
    /// they refuse the file.
    pub fn ratios(&self, ours: Job, theirs: Job) -> Option<(f64, Option<f64>)> {
        let (ours, theirs) = (ours as usize, theirs as usize);
        let count = |counts: &Vec<u64>| counts[theirs] as f64 / counts[ours] as f64;
        let ratios = (self.times[theirs] / self.times[ours], self.instructions.as_ref().map(count));
        self.accepted[theirs].then_some(ratios)
    }
}

/// Who accepts the header; they must find the same in it.
fn check(input: &mut Input<'_>, works: &[Work], name: &str) -> Vec<bool> {
    let ours = works[Job::Scan as usize].found.and_then(|find| find(input));
    let accepts = |(i, work): (usize, &Work)| {
        let Some(find) = work.found else { return true };
        let found = find(input);
        assert!(found.is_none() || found == ours, "{name}, work {i}: {found:?}, not {ours:?}");
        found.is_some()
    };
    works.iter().enumerate().map(accepts).collect()
}
