//! Every truncation of every small case of the corpus, and all 255 other values of every byte of
//! its header (the length prefix included), have the verdict of the oracle from every entry point.
//!
//! Small are files of at most 512 bytes.

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

#[test]
fn neighbours_of_small_cases() {
    let cases: Vec<Case> = corpus::cases(&corpus::committed().join("expected.jsonl"))
        .filter(|case| case.bytes.len() <= SMALL)
        .collect();

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

    let total = total.into_inner().unwrap();
    println!("{} cases: {total:?}", cases.len());
    assert_eq!((cases.len(), total.accepted, total.refused), (585, 104_428, 11_752_620));
    assert_eq!(total.differences.into_values().collect::<Vec<_>>(), [2_890, 1_789, 562]);
}
