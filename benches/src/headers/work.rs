//! What is measured, each on a whole file and on a header alone.
//!
//! Times are those of files. Instructions are those of headers, as valgrind can't map the largest
//! files: that leaves the comparison with the file's length out of ours, and the reference's layout
//! check out of the reference's, in whose favour it is.

use std::hint::black_box;

use reference::tensor::Metadata;
use safetensors_core::{Header, Index, SafeTensors, Slot};
use sonic_rs::{JsonValueTrait, LazyValue};

/// What a piece of work gets.
pub struct Input<'a> {
    pub file: &'a [u8],
    /// The file up to the end of its header.
    pub head: &'a [u8],
    /// In header order.
    pub names: &'a [String],
    /// As many as a parse needs.
    pub slots: &'a mut [Slot],
}

impl<'a> Input<'a> {
    fn json(&self) -> &'a [u8] {
        &self.head[8..]
    }
}

pub type Work = fn(&mut Input<'_>);

/// A piece of work; an index into [`ALL`] and into what was measured.
#[derive(Clone, Copy)]
pub enum Job {
    Scan,
    Parse,
    Lookups,
    ReferenceParse,
    ReferenceLookups,
    SonicEntries,
    SonicFields,
}

/// On files, on headers; in the order of [`Job`].
pub const ALL: [(Work, Work); 7] = [
    (scan, head_scan),
    (parse, head_parse),
    (lookups, head_lookups),
    (reference_parse, head_reference_parse),
    (reference_lookups, head_reference_lookups),
    (sonic_entries, sonic_entries),
    (sonic_fields, sonic_fields),
];

fn scan(input: &mut Input<'_>) {
    black_box(SafeTensors::scan(black_box(input.file)).unwrap());
}

fn head_scan(input: &mut Input<'_>) {
    black_box(Header::read(black_box(input.head)).unwrap().scan().unwrap());
}

fn parse(input: &mut Input<'_>) {
    black_box(SafeTensors::parse(black_box(input.file), input.slots).unwrap());
}

fn head_parse(input: &mut Input<'_>) {
    black_box(Index::build(black_box(input.head), input.slots).unwrap());
}

fn lookups(input: &mut Input<'_>) {
    let model = SafeTensors::parse(black_box(input.file), input.slots).unwrap();
    for name in input.names {
        black_box(model.tensor(name).unwrap().data());
    }
}

fn head_lookups(input: &mut Input<'_>) {
    let index = Index::build(black_box(input.head), input.slots).unwrap();
    for name in input.names {
        black_box(index.tensor(name).unwrap().data_offsets());
    }
}

fn reference_parse(input: &mut Input<'_>) {
    black_box(reference::SafeTensors::deserialize(black_box(input.file)).unwrap());
}

fn head_reference_parse(input: &mut Input<'_>) {
    let json = std::str::from_utf8(black_box(input.json())).unwrap();
    black_box(serde_json::from_str::<Metadata>(json).unwrap());
}

fn reference_lookups(input: &mut Input<'_>) {
    let model = reference::SafeTensors::deserialize(black_box(input.file)).unwrap();
    for name in input.names {
        black_box(model.tensor(name).unwrap().data());
    }
}

fn head_reference_lookups(input: &mut Input<'_>) {
    let json = std::str::from_utf8(black_box(input.json())).unwrap();
    let metadata: Metadata = serde_json::from_str(json).unwrap();
    for name in input.names {
        // What `SafeTensors::tensor` of the reference does before it slices.
        black_box(metadata.info(name).unwrap().data_offsets);
    }
}

/// The entries without a look into them: the least that sonic-rs can do.
fn sonic_entries(input: &mut Input<'_>) {
    for entry in sonic_rs::to_object_iter(black_box(input.json())) {
        black_box(entry.unwrap());
    }
}

/// The entries, the fields in them, and the numbers in those: what it takes to find a tensor, but
/// for checks.
fn sonic_fields(input: &mut Input<'_>) {
    for entry in sonic_rs::to_object_iter(black_box(input.json())) {
        let (_, value) = entry.unwrap();
        for field in value.into_object_iter().unwrap() {
            sonic_field(field.unwrap().1);
        }
    }
}

fn sonic_field(value: LazyValue<'_>) {
    if !value.is_array() {
        black_box(value);
        return;
    }
    for number in value.into_array_iter().unwrap() {
        black_box(number.unwrap().as_u64().unwrap());
    }
}
