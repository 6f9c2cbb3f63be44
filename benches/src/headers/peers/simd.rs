//! simd-json, as a tape and as a tree of values. It writes on its input, of which it gets a copy each
//! time; its other memory is used again.

use std::hint::black_box;

use simd_json::borrowed::{self, Value};
use simd_json::prelude::*;

use crate::headers::input::{Found, Input};
use crate::headers::work::Work;

/// All values one behind the other: the least that it can do.
pub const TAPE: Work = Work::of_head(tape, found);
pub const DOM: Work = Work::of_head(dom, found);
pub const LOOK_UPS: Work = Work::of_head(look_ups, found_by_names);

/// A copy of the header, and what else it takes to read it.
fn copied<'i>(input: &'i mut Input<'_>) -> (&'i mut [u8], &'i mut simd_json::Buffers) {
    input.scratch.clear();
    input.scratch.extend_from_slice(black_box(input.json()));
    (&mut input.scratch, &mut input.simd_json)
}

fn tape(input: &mut Input<'_>) {
    let (json, buffers) = copied(input);
    let _ = black_box(simd_json::to_tape_with_buffers(json, buffers));
}

fn tree<'i>(input: &'i mut Input<'_>) -> simd_json::Result<Value<'i>> {
    let (json, buffers) = copied(input);
    borrowed::to_value_with_buffers(json, buffers)
}

fn dom(input: &mut Input<'_>) {
    let _ = black_box(tree(input));
}

fn look_ups(input: &mut Input<'_>) {
    let names = input.names;
    let Ok(tree) = tree(input) else { return };
    for name in names {
        black_box(tree.get(name.as_str()));
    }
}

fn offsets(tensor: &Value<'_>) -> Option<(u64, u64)> {
    let offsets = tensor.get("data_offsets")?;
    Some((offsets.get_idx(0)?.as_u64()?, offsets.get_idx(1)?.as_u64()?))
}

fn found(input: &mut Input<'_>) -> Option<Found> {
    let tree = tree(input).ok()?;
    let tensors = tree.as_object()?.iter().filter(|(name, _)| *name != "__metadata__");
    tensors.map(|(_, tensor)| offsets(tensor)).collect()
}

fn found_by_names(input: &mut Input<'_>) -> Option<Found> {
    let names = input.names;
    let tree = tree(input).ok()?;
    names.iter().map(|name| offsets(tree.get(name.as_str())?)).collect()
}
