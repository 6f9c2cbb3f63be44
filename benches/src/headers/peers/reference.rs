//! The reference, the crate safetensors.

use std::hint::black_box;

use reference::SafeTensors;
use reference::tensor::{Metadata, TensorInfo};

use crate::headers::input::{Found, Input};
use crate::headers::work::Work;

/// Its `read_metadata` and a slice: it compares the length of the file with the header, so that it needs
/// both.
pub const PARSE: Work = Work { on_file: parse, on_head: head_metadata, found: Some(found) };
pub const LOOK_UPS: Work =
    Work { on_file: look_ups, on_head: head_look_ups, found: Some(found_by_names) };
/// What it makes of a header alone, which its users have serde_json do.
pub const METADATA: Work = Work::of_head(head_metadata, found);

fn parse(input: &mut Input<'_>) {
    black_box(SafeTensors::deserialize(black_box(input.file)).unwrap());
}

fn look_ups(input: &mut Input<'_>) {
    let model = SafeTensors::deserialize(black_box(input.file)).unwrap();
    for name in input.names {
        black_box(model.tensor(name).unwrap().data());
    }
}

fn metadata(input: &Input<'_>) -> Metadata {
    let json = std::str::from_utf8(black_box(input.json())).unwrap();
    serde_json::from_str(json).unwrap()
}

fn head_metadata(input: &mut Input<'_>) {
    black_box(metadata(input));
}

fn head_look_ups(input: &mut Input<'_>) {
    let metadata = metadata(input);
    for name in input.names {
        // What `SafeTensors::tensor` does before it slices.
        black_box(metadata.info(name).unwrap().data_offsets);
    }
}

fn offsets(tensor: &TensorInfo) -> (u64, u64) {
    let (begin, end) = tensor.data_offsets;
    (begin as u64, end as u64)
}

fn found(input: &mut Input<'_>) -> Option<Found> {
    Some(metadata(input).tensors().values().map(|tensor| offsets(tensor)).collect())
}

fn found_by_names(input: &mut Input<'_>) -> Option<Found> {
    let metadata = metadata(input);
    input.names.iter().map(|name| metadata.info(name).map(offsets)).collect()
}
