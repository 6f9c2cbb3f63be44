//! The least that there is to do with bytes, to know how far anybody is from it.

use std::hint::black_box;

use crate::headers::input::Input;
use crate::headers::work::Work;

/// A search for what is not there.
pub const MEMCHR: Work = Work { on_file: memchr, on_head: memchr, found: None };
/// A copy.
pub const MEMCPY: Work = Work { on_file: memcpy, on_head: memcpy, found: None };

fn memchr(input: &mut Input<'_>) {
    assert_eq!(black_box(memchr::memchr(0, black_box(input.json()))), None);
}

fn memcpy(input: &mut Input<'_>) {
    input.scratch.clear();
    input.scratch.extend_from_slice(black_box(input.json()));
    black_box(&input.scratch);
}
