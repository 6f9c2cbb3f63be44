//! Slots and positions of another file, or of none: wrong answers perhaps, but never a panic and
//! never an endless walk.

mod common;

use std::hint::black_box;

use common::corpus::{self, Case};
use common::file;
use safetensors_core::{Header, Index, Position, SafeTensors, Slot};

/// The greatest file that is taken.
const SMALL: usize = 512;

/// Asks everything that slots have to do with.
fn ask_everything(bytes: &[u8], slots: &[Slot]) {
    let model = SafeTensors::with_slots(bytes, slots);
    let index = Index::with_slots(bytes, slots);
    assert!(model.len() <= slots.len());
    let _ = black_box((index.data_len(), model.data(), index.header().scan()));
    let _ =
        black_box((index.check_file_len(bytes.len() as u64), index.header().deviations().count()));
    for name in ["", "a", "weight", "__metadata__"] {
        let _ = black_box((model.tensor(name), index.tensor(name)));
    }
    for view in model.iter_by_offset().chain(model.by_offset(0)).chain(model.iter()) {
        let _ = black_box((format!("{view:?}"), view.info().byte_range(), view.info().data_len()));
        let _ = black_box((view.shape().element_count(), view.shape().dim(3), view.data()));
        let name = view.name();
        let _ = black_box((name.len(), name.chars().count(), name.decode_into(&mut [0; 64])));
        let _ = black_box(model.tensor(&name.to_string()));
    }
    let _ = black_box(format!("{:?}", model.metadata()));
}

/// Takes the entries from a position of another header; there are never more than bytes.
fn walk_from(header: Header<'_>, position: Position) {
    let entries = header.entries_from(position);
    assert!(entries.count() <= header.json().len() + 1);
}

fn positions(header: Header<'_>) -> Vec<Position> {
    let mut entries = header.entries();
    let mut positions = Vec::new();
    while entries.next().is_some() {
        positions.extend(entries.position());
    }
    positions
}

#[test]
fn of_another_file() {
    let cases: Vec<Case> = corpus::cases(&corpus::committed().join("expected.jsonl"))
        .filter(|case| case.bytes.len() <= SMALL)
        .collect();
    let mut others = 0;
    for given in cases.iter().step_by(7) {
        let mut slots = [Slot::EMPTY; 64];
        let Ok(model) = SafeTensors::parse(&given.bytes, &mut slots) else { continue };
        let slots = model.index().slots();
        let positions = positions(model.index().header());
        for other in &cases {
            ask_everything(&other.bytes, slots);
            others += 1;
            let Ok(header) = Header::read(&other.bytes) else { continue };
            positions.iter().for_each(|position| walk_from(header, *position));
        }
    }
    assert_eq!(others, 18_720);
}

/// The file that was parsed, with one byte changed or cut off since.
#[test]
fn of_a_file_that_changed() {
    let header = concat!(
        r#"{"__metadata__":{"k":"\n"},"\ud83d\ude00":{"dtype":"F32","shape":[2,1],"data_offsets":"#,
        r#"[4,12]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}"#
    );
    let mut bytes = file(header, &[0; 12]);
    let mut slots = [Slot::EMPTY; 2];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    let positions = positions(model.index().header());
    for len in 0..bytes.len() {
        ask_everything(&bytes[..len], &slots);
    }
    for at in 0..bytes.len() {
        let original = bytes[at];
        for value in 0..=255 {
            bytes[at] = value;
            ask_everything(&bytes, &slots);
            if let Ok(header) = Header::read(&bytes) {
                positions.iter().for_each(|position| walk_from(header, *position));
            }
        }
        bytes[at] = original;
    }
}

/// Slots that nothing was put in.
#[test]
fn of_no_file() {
    let bytes = file(r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#, &[0]);
    for slots in [&[][..], &[Slot::EMPTY], &[Slot::EMPTY; 5]] {
        ask_everything(&bytes, slots);
        ask_everything(b"", slots);
        ask_everything(b"\xff\xff\xff\xff\xff\xff\xff\xff", slots);
    }
}
