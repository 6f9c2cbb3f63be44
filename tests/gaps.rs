//! The option that admits gaps: in every header order, and never an overlap.

mod common;

use common::file;
use safetensors_core::{ErrorKind, Options, SafeTensors, Slot};

const RANGES: [(u64, u64); 3] = [(4, 8), (16, 17), (32, 40)];

fn description(name: usize, begin: u64, end: u64) -> String {
    format!(
        "\"t{name}\":{{\"dtype\":\"U8\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}",
        end - begin
    )
}

/// The file with tensors at `ranges`, in that header order.
fn with_ranges(ranges: &[(u64, u64)], data_len: usize) -> Vec<u8> {
    let entries: Vec<_> =
        ranges.iter().enumerate().map(|(i, (begin, end))| description(i, *begin, *end)).collect();
    file(format!("{{{}}}", entries.join(",")), &vec![0; data_len])
}

fn orders() -> [[usize; 3]; 6] {
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
}

#[test]
fn gaps_pass_in_every_order_if_allowed() {
    let options = Options::new().allow_gaps(true);
    for order in orders() {
        let ranges = order.map(|i| RANGES[i]);
        let bytes = with_ranges(&ranges, 64);
        let mut slots = [Slot::EMPTY; 3];
        let model = options.parse(&bytes, &mut slots).unwrap();
        let found: Vec<_> = model.iter_by_offset().map(|view| view.info().data_offsets()).collect();
        assert_eq!(found, RANGES);
        let lengths: Vec<_> = model.iter_by_offset().map(|view| view.data().len()).collect();
        assert_eq!(lengths, [4, 1, 8]);
        assert_eq!(options.index(&bytes, &mut [Slot::EMPTY; 3]).unwrap().data_len(), 40);
        assert!(options.scan(&bytes).is_ok());

        let error = SafeTensors::parse(&bytes, &mut [Slot::EMPTY; 3]).unwrap_err();
        assert_eq!((error.kind(), error.number()), (ErrorKind::Gap, 4));
    }
}

#[test]
fn overlaps_never_pass() {
    let options = Options::new().allow_gaps(true);
    for order in orders() {
        let mut ranges = RANGES;
        ranges[1] = (7, 17);
        let bytes = with_ranges(&order.map(|i| ranges[i]), 64);
        let error = options.parse(&bytes, &mut [Slot::EMPTY; 3]).unwrap_err();
        assert_eq!((error.kind(), error.number()), (ErrorKind::Overlap, 1));
    }
}

#[test]
fn tensors_without_data_lie_anywhere_but_inside_others() {
    let options = Options::new().allow_gaps(true);
    for order in orders() {
        for (empty, fits) in [(0, true), (2, true), (4, true), (5, false), (8, true), (12, true)] {
            let ranges = [(4, 8), (12, 16), (empty, empty)];
            let bytes = with_ranges(&order.map(|i| ranges[i]), 16);
            let mut slots = [Slot::EMPTY; 3];
            match options.parse(&bytes, &mut slots) {
                Ok(model) => assert!(fits && model.by_offset(2).unwrap().data().len() == 4),
                Err(error) => assert!(!fits && error.kind() == ErrorKind::Overlap),
            }
        }
    }
}

#[test]
fn data_without_tensors() {
    let bytes = file("{}", &[0; 3]);
    assert!(Options::new().allow_gaps(true).parse(&bytes, &mut []).is_ok());
    let error = SafeTensors::parse(&bytes, &mut []).unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::TrailingBytes, 3));
}

#[test]
fn the_data_must_reach_the_last_tensor() {
    let options = Options::new().allow_gaps(true);
    let bytes = with_ranges(&RANGES, 39);
    let error = options.parse(&bytes, &mut [Slot::EMPTY; 3]).unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::DataTruncated, 1));
    assert_eq!(options.scan(&bytes).unwrap_err(), error);

    let mut slots = [Slot::EMPTY; 3];
    let index = options.index(&bytes, &mut slots).unwrap();
    let len = bytes.len() as u64;
    assert_eq!(index.check_file_len(len).unwrap_err(), error);
    assert!(index.check_file_len(len + 1).is_ok());
    assert!(index.check_file_len(len + 100).is_ok());
}
