//! This crate.

use std::hint::black_box;

use safetensors_core::{Header, Index, SafeTensors};

use crate::headers::input::{Found, Input};
use crate::headers::work::Work;

/// Without slots.
pub const SCAN: Work = Work { on_file: scan, on_head: head_scan, found: Some(found) };
/// Into slots.
pub const PARSE: Work = Work { on_file: parse, on_head: open, found: Some(found) };
/// Into slots, and each name looked up.
pub const LOOK_UPS: Work =
    Work { on_file: look_ups, on_head: head_look_ups, found: Some(found_by_names) };
/// Into slots, with nothing but the header at hand.
pub const OPEN: Work = Work::of_head(open, found);

fn scan(input: &mut Input<'_>) {
    black_box(SafeTensors::scan(black_box(input.file)).unwrap());
}

fn head_scan(input: &mut Input<'_>) {
    black_box(Header::read(black_box(input.head)).unwrap().scan().unwrap());
}

fn parse(input: &mut Input<'_>) {
    black_box(SafeTensors::parse(black_box(input.file), input.slots).unwrap());
}

fn open(input: &mut Input<'_>) {
    black_box(Index::build(black_box(input.head), input.slots).unwrap());
}

fn look_ups(input: &mut Input<'_>) {
    let model = SafeTensors::parse(black_box(input.file), input.slots).unwrap();
    for name in input.names {
        black_box(model.tensor(name).unwrap().data());
    }
}

fn head_look_ups(input: &mut Input<'_>) {
    let index = Index::build(black_box(input.head), input.slots).unwrap();
    for name in input.names {
        black_box(index.tensor(name).unwrap().data_offsets());
    }
}

fn found(input: &mut Input<'_>) -> Option<Found> {
    let index = Index::build(input.head, input.slots).unwrap();
    Some(index.iter().map(|tensor| tensor.data_offsets()).collect())
}

fn found_by_names(input: &mut Input<'_>) -> Option<Found> {
    let index = Index::build(input.head, input.slots).unwrap();
    input.names.iter().map(|name| Some(index.tensor(name)?.data_offsets())).collect()
}
