//! Owners of their slots (feature `heapless-09`): the same answers as with borrowed slots, wherever
//! the owner is moved to; names and shapes as values.
#![cfg(feature = "heapless-09")]

mod common;

use common::file;
use safetensors_core::{
    Error, ErrorKind, Index, Options, OwnedIndex, OwnedSafeTensors, SafeTensors, Shape, Slot, Text,
};

const DIGITS: &[u8] = include_bytes!("../examples/digits/digits.safetensors");

/// Name, shape and data of each tensor in header order, then of each in offset order.
fn listing(model: SafeTensors<'_, '_>) -> Vec<(String, Vec<u64>, Vec<u8>)> {
    model
        .iter()
        .chain(model.iter_by_offset())
        .map(|view| (view.name().to_string(), view.shape().iter().collect(), view.data().to_vec()))
        .collect()
}

/// A header with one tensor, described with `shape`.
fn one_tensor(name: &str, shape: &str, len: usize) -> Vec<u8> {
    let description = format!("{{\"dtype\":\"U8\",\"shape\":{shape},\"data_offsets\":[0,{len}]}}");
    file(format!("{{\"{name}\":{description}}}"), &vec![7; len])
}

#[test]
fn an_owner_goes_where_it_is_wanted() {
    fn load() -> Result<OwnedSafeTensors<'static, 6>, Error> {
        let model = OwnedSafeTensors::parse(DIGITS)?;
        // The slots it had here are overwritten before anybody asks it.
        Ok(model.clone())
    }

    let mut slots = [Slot::EMPTY; 6];
    let expected = listing(SafeTensors::parse(DIGITS, &mut slots).unwrap());
    assert_eq!(expected.len(), 8);

    let boxed = Box::new(load().unwrap());
    assert_eq!(listing(boxed.view()), expected);
    let moved = std::thread::spawn(move || {
        let model = *boxed;
        assert_eq!(model.view().tensor("fc1.weight").unwrap().shape(), [32, 64]);
        model
    });
    let model = moved.join().unwrap();
    let view = model.view();
    assert_eq!((view.len(), view.index().slots().len()), (4, 4));
    assert!(view.tensor("fc3.bias").is_none());
    assert_eq!(view.metadata().unwrap().value("format").unwrap(), "pt");
    assert_eq!(format!("{model:?}"), "OwnedSafeTensors { tensors: 4, .. }");
    // The data outlives the owner.
    let bias = view.tensor("fc2.bias").unwrap().data();
    drop(model);
    assert_eq!(bias, &DIGITS[8_928..8_968]);
}

#[test]
fn a_struct_can_hold_the_bytes_of_a_caller_and_their_owner() {
    struct Loaded<'data> {
        model: OwnedSafeTensors<'data, 1>,
        index: OwnedIndex<'data, 1>,
    }

    fn load(bytes: &[u8]) -> Loaded<'_> {
        Loaded {
            model: OwnedSafeTensors::parse(bytes).unwrap(),
            index: OwnedIndex::build(bytes).unwrap(),
        }
    }

    let bytes = one_tensor("w", "[2,3]", 6);
    let loaded = load(&bytes);
    assert_eq!(loaded.model.view().tensor("w").unwrap().data(), [7; 6]);
    assert_eq!(loaded.index.view().tensor("w").unwrap().shape(), [2, 3]);
    assert_eq!(format!("{:?}", loaded.index), "OwnedIndex { tensors: 1, .. }");
}

#[test]
fn an_index_is_the_one_that_was_built() {
    let mut slots = [Slot::EMPTY; 6];
    let expected = Index::build(DIGITS, &mut slots).unwrap();
    let owned = OwnedIndex::<6>::build(DIGITS).unwrap().clone();
    let index = owned.view();
    assert_eq!(index.data_len(), expected.data_len());
    assert_eq!(index.header().json(), expected.header().json());
    assert!(index.names().eq(expected.names()));
    for name in expected.names() {
        let name = name.as_str().unwrap();
        let (found, expected) = (index.tensor(name).unwrap(), expected.tensor(name).unwrap());
        assert_eq!(found.data_offsets(), expected.data_offsets());
        assert_eq!(found.shape(), expected.shape());
    }
    assert_eq!(index.metadata().unwrap().value("format").unwrap(), "pt");
}

/// The model has 4 tensors, and 6 keys in its metadata.
#[test]
fn too_few_slots() {
    fn message<const N: usize>() -> [String; 2] {
        let model = OwnedSafeTensors::<N>::parse(DIGITS).unwrap_err();
        let index = OwnedIndex::<N>::build(DIGITS).unwrap_err();
        [model.to_string(), index.to_string()]
    }

    assert_eq!(message::<0>(), ["too few slots, 6 needed"; 2]);
    assert_eq!(message::<5>(), ["too few slots, 6 needed"; 2]);
    assert!(OwnedSafeTensors::<6>::parse(DIGITS).is_ok());
}

/// A parse needs slots for the metadata keys, but keeps those of the tensors only.
#[test]
fn metadata_keys_need_slots() {
    let metadata = r#""__metadata__":{"a":"1","b":"2","c":"3"}"#;
    let tensor = r#""w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let bytes = file(format!("{{{metadata},{tensor}}}"), &[7]);
    assert_eq!(SafeTensors::scan(&bytes).unwrap().slots_needed(), 3);
    let error = OwnedSafeTensors::<2>::parse(&bytes).unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::TooFewSlots, 3));
    let model = OwnedSafeTensors::<3>::parse(&bytes).unwrap();
    assert_eq!((model.view().len(), model.view().index().slots().len()), (1, 1));
    assert_eq!(model.view().metadata().unwrap().len(), 3);
    assert_eq!(OwnedIndex::<3>::build(&bytes).unwrap().view().metadata().unwrap().len(), 3);
}

#[test]
fn no_tensors_and_no_slots() {
    let bytes = file("{}", &[]);
    let model = OwnedSafeTensors::<0>::parse(&bytes).unwrap();
    assert!(model.view().is_empty() && model.view().metadata().is_none());
    let model = OwnedSafeTensors::<9>::parse(&bytes).unwrap();
    assert!(model.view().is_empty() && model.view().iter_by_offset().next().is_none());
    assert!(OwnedIndex::<9>::build(&bytes).unwrap().view().tensor("w").is_none());
}

#[test]
fn a_broken_file_is_an_error() {
    let error = OwnedSafeTensors::<6>::parse(&DIGITS[..DIGITS.len() - 1]).unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::DataTruncated, 1));
    let error = OwnedIndex::<6>::build(&DIGITS[..20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::HeaderTruncated);
}

#[test]
fn gaps() {
    let header = r#"{"w":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}}"#;
    let bytes = file(header, &[0, 0, 0, 0, 1, 2, 0, 0]);
    let error = OwnedSafeTensors::<1>::parse(&bytes).unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::Gap, 4));
    let options = Options::new().allow_gaps(true);
    let model = OwnedSafeTensors::<1>::parse_with(&options, &bytes).unwrap();
    assert_eq!(model.view().tensor("w").unwrap().data(), [1, 2]);
    let index = OwnedIndex::<1>::build_with(&options, &bytes).unwrap();
    assert!(index.view().check_file_len(bytes.len() as u64).is_ok());

    // The options are those of the index, not what an index of slots assumes.
    let bytes = one_tensor("w", "[2]", 2);
    let len = bytes.len() as u64;
    let strict = OwnedIndex::<1>::build(&bytes).unwrap();
    assert!(strict.view().check_file_len(len).is_ok());
    let error = strict.view().check_file_len(len + 3).unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::TrailingBytes, 3));
}

#[test]
fn a_limit_of_the_header() {
    let options = Options::new().header_limit(10);
    for error in [
        OwnedSafeTensors::<4>::parse_with(&options, DIGITS).unwrap_err(),
        OwnedIndex::<4>::build_with(&options, DIGITS).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::HeaderTooLarge);
    }
}

// ── names and shapes ──

#[test]
fn names_are_unescaped() {
    fn copy<const N: usize>(name: Text<'_>) -> Result<String, String> {
        let copy = name.to_heapless::<N>().map_err(|error| error.to_string())?;
        Ok(copy.as_str().to_owned())
    }

    // 2 + 1 + 4 + 1 + 1 bytes.
    let bytes = one_tensor(r#"\u00e9\n\ud83d\ude00\"x"#, "[1]", 1);
    let model = OwnedSafeTensors::<1>::parse(&bytes).unwrap();
    assert!(model.view().tensor("é\n😀\"x").is_some());
    let name = model.view().names().next().unwrap();
    assert_eq!(copy::<9>(name), Ok("é\n😀\"x".to_owned()));
    assert_eq!(copy::<64>(name), Ok("é\n😀\"x".to_owned()));
    for short in [copy::<0>(name), copy::<1>(name), copy::<5>(name), copy::<8>(name)] {
        assert_eq!(short, Err("buffer is too small, 9 needed".to_owned()));
    }

    let bytes = one_tensor("", "[1]", 1);
    let model = OwnedSafeTensors::<1>::parse(&bytes).unwrap();
    assert_eq!(copy::<0>(model.view().names().next().unwrap()), Ok(String::new()));
}

#[test]
fn shapes_of_a_higher_rank() {
    fn copy<const N: usize>(shape: Shape<'_>) -> Result<Vec<u64>, String> {
        let copy = shape.to_heapless::<N>().map_err(|error| error.to_string())?;
        Ok(copy.to_vec())
    }

    let bytes = one_tensor("w", "[1, 2 ,3]", 6);
    let model = OwnedSafeTensors::<1>::parse(&bytes).unwrap();
    let shape = model.view().by_offset(0).unwrap().shape();
    assert_eq!(copy::<3>(shape), Ok(vec![1, 2, 3]));
    assert_eq!(copy::<8>(shape), Ok(vec![1, 2, 3]));
    for short in [copy::<0>(shape), copy::<2>(shape)] {
        assert_eq!(short, Err("buffer is too small, 3 needed".to_owned()));
    }
    let error = shape.to_heapless::<2>().unwrap_err();
    assert_eq!((error.kind(), error.number()), (ErrorKind::BufferTooSmall, 3));

    let bytes = one_tensor("w", "[]", 1);
    let model = OwnedSafeTensors::<1>::parse(&bytes).unwrap();
    assert_eq!(copy::<0>(model.view().by_offset(0).unwrap().shape()), Ok(vec![]));
    let bytes = one_tensor("w", "[18446744073709551615,0]", 0);
    let model = OwnedSafeTensors::<1>::parse(&bytes).unwrap();
    assert_eq!(copy::<2>(model.view().by_offset(0).unwrap().shape()), Ok(vec![u64::MAX, 0]));
}
