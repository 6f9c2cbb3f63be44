//! sonic-rs, lazily and as a tree of values.

use std::hint::black_box;

use sonic_rs::{JsonContainerTrait, JsonValueTrait, LazyValue, Value};

use crate::headers::input::{Found, Input};
use crate::headers::work::Work;

/// The entries without a look into them: the least that it can do.
pub const ENTRIES: Work = Work::of_head(entries, found);
/// The entries, the fields in them, and the numbers in those: what it takes to find a tensor, but
/// for checks.
pub const FIELDS: Work = Work::of_head(fields, found);
pub const DOM: Work = Work::of_head(dom, found_in_dom);

fn entries(input: &mut Input<'_>) {
    for entry in sonic_rs::to_object_iter(black_box(input.json())) {
        black_box(entry.unwrap());
    }
}

fn fields(input: &mut Input<'_>) {
    black_box(found(input));
}

fn found(input: &mut Input<'_>) -> Option<Found> {
    let mut found = Found::default();
    for entry in sonic_rs::to_object_iter(black_box(input.json())) {
        for field in entry.ok()?.1.into_object_iter()? {
            let (key, value) = field.ok()?;
            let (begin, end) = last_numbers(value)?;
            if key == "data_offsets" {
                found.add(begin, end);
            }
        }
    }
    Some(found)
}

/// The last two numbers of an array, or of what has none.
fn last_numbers(value: LazyValue<'_>) -> Option<(u64, u64)> {
    let mut last = (0, 0);
    for number in black_box(value).into_array_iter().into_iter().flatten() {
        last = (last.1, number.ok()?.as_u64()?);
    }
    Some(last)
}

fn tree(input: &Input<'_>) -> sonic_rs::Result<Value> {
    sonic_rs::from_slice(black_box(input.json()))
}

fn dom(input: &mut Input<'_>) {
    let _ = black_box(tree(input));
}

fn found_in_dom(input: &mut Input<'_>) -> Option<Found> {
    let tree = tree(input).ok()?;
    let tensors = tree.as_object()?.iter().filter(|(name, _)| *name != "__metadata__");
    let offsets = tensors.map(|(_, tensor)| {
        let offsets = tensor.get("data_offsets")?;
        Some((offsets.get(0)?.as_u64()?, offsets.get(1)?.as_u64()?))
    });
    offsets.collect()
}
