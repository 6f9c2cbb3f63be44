//! Verdict, listing and metadata are those of the reference crate, but for the differences on the
//! compatibility page.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use safetensors_core::{SafeTensors, Slot};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    fuzz::mutate(data, size, max_size, seed)
});

fuzz_target!(|input: &[u8]| {
    let bytes = common::fuzzed(input);
    let (expected, _) = common::oracle::expect(&bytes);
    // Each entry takes more than one byte, so there are slots enough.
    let accepted = SafeTensors::parse(&bytes, &mut vec![Slot::EMPTY; input.len()]).is_ok();
    assert_eq!(accepted, expected.is_some());
    if accepted {
        assert_eq!(common::entry_points::ask(&bytes).ok(), expected);
    }
});
