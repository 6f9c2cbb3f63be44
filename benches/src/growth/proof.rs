//! The proof that names which were chosen to have one hash still have one.
//!
//! The crate does not show its hash, but what it costs: with a new hash those names would be as
//! good as any, and the attacks none.

use std::hint::black_box;
use std::process::ExitCode;

use safetensors_core::{Index, Slot};

use super::attacks;
use super::collide::Names;
use super::header::fill;
use crate::measure;

/// So many times the instructions that other names take are the least for these.
const LEAST: f64 = 1.2;
const LEN: usize = 1_000_000;

struct Input {
    /// With names of one hash, and with names of as many hashes.
    heads: [Vec<u8>; 2],
    slots: Vec<Slot>,
}

/// Prints and returns whether names of one hash cost more than others.
pub fn check() -> bool {
    let Some(counts) = measure::instructions(&["growth".as_ref()], 2) else { return true };
    let ratio = counts[0] as f64 / counts[1] as f64;
    println!(
        "parse, names of one hash: ×{ratio:.2} of the instructions of others (at least {LEAST})."
    );
    ratio >= LEAST
}

/// What callgrind runs.
pub fn count() -> ExitCode {
    let mut names = Names::of_one_hash("");
    let one = fill(LEN, |head, _| attacks::add(head, &names.next().unwrap()));
    let many = fill(LEN, |head, i| attacks::add(head, &format!("{i:024}")));
    let slots = vec![Slot::EMPTY; LEN / attacks::EMPTY.len()];
    let mut input = Input { heads: [one, many], slots };
    measure::count(&mut input, &[parse::<0> as fn(&mut Input), parse::<1>])
}

fn parse<const I: usize>(input: &mut Input) {
    black_box(Index::build(black_box(&input.heads[I]), &mut input.slots).unwrap());
}
