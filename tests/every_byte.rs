//! Every truncation of every small case of the corpus, and all 255 other values of every byte of
//! its header (the length prefix included), have the verdict of the oracle from every entry point.
//!
//! Small are files of at most 512 bytes. Of those every sixteenth is taken, and all of them when the
//! environment variable `SAFETENSORS_FULL` is 1. Either way the same ones each time.
// The reference judges sizes in `usize`; ours are 64 bits wide everywhere.
#![cfg(target_pointer_width = "64")]

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use common::corpus::{self, Case};
use common::oracle::Difference;
use common::{entry_points, oracle};

const SMALL: usize = 512;

/// How often which verdict was given.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    accepted: usize,
    refused: usize,
    differences: BTreeMap<Difference, usize>,
}

impl Counts {
    fn check(&mut self, name: &str, bytes: &[u8]) {
        let (expected, difference) = oracle::expect(bytes);
        let answer = entry_points::ask(bytes);
        assert_eq!(answer.as_ref().ok(), expected.as_ref(), "{name}: {answer:?} for {bytes:?}");
        match expected {
            Some(_) => self.accepted += 1,
            None => self.refused += 1,
        }
        if let Some(difference) = difference {
            *self.differences.entry(difference).or_default() += 1;
        }
    }

    /// Tries all neighbours of a case.
    fn check_around(&mut self, case: &Case) {
        for len in 0..case.bytes.len() {
            self.check(&case.name, &case.bytes[..len]);
        }
        let prefix = case.bytes.first_chunk().map_or(0, |prefix| u64::from_le_bytes(*prefix));
        let header_end = usize::try_from(prefix).unwrap_or(0).saturating_add(8);
        let mut bytes = case.bytes.clone();
        for at in 0..header_end.min(bytes.len()) {
            let original = bytes[at];
            for value in (0..=255).filter(|value| *value != original) {
                bytes[at] = value;
                self.check(&case.name, &bytes);
            }
            bytes[at] = original;
        }
    }

    fn add(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.refused += other.refused;
        for (difference, count) in other.differences {
            *self.differences.entry(difference).or_default() += count;
        }
    }
}

/// The small cases of the corpus.
fn small_cases() -> Vec<Case> {
    // The recipes make large ones.
    ["expected.jsonl", "matrix.jsonl", "mutations.jsonl"]
        .iter()
        .flat_map(|list| corpus::cases(&corpus::committed().join(list)).collect::<Vec<_>>())
        .filter(|case| case.bytes.len() <= SMALL)
        .collect()
}

/// The counts of all cases, which the machine's cores share.
fn check_all(cases: &[Case]) -> Counts {
    let total = Mutex::new(Counts::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut counts = Counts::default();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    counts.check_around(case);
                }
                total.lock().unwrap_or_else(PoisonError::into_inner).add(counts);
            });
        }
    });
    total.into_inner().unwrap()
}

#[test]
fn neighbours_of_small_cases() {
    let mut cases = small_cases();
    let full = std::env::var_os("SAFETENSORS_FULL").is_some_and(|value| value == "1");
    if !full {
        cases = cases.into_iter().step_by(16).collect();
    }
    let Counts { accepted, refused, differences } = check_all(&cases);
    println!("{} cases: {accepted} accepted, {refused} refused, {differences:?}", cases.len());
    let differences: Vec<_> = differences.into_values().collect();
    if full {
        assert_eq!((cases.len(), accepted, refused), (4_828, 758_324, 127_656_147));
        assert_eq!(differences, [27_604, 35_341, 30_035]);
    } else {
        assert_eq!((cases.len(), accepted, refused), (302, 34_000, 7_531_782));
        assert_eq!(differences, [2_939, 1_967, 1_079]);
    }
}
