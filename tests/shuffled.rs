//! Tensors in any header order: accepted, found, put in offset order; and refused when one byte is
//! out of place.

mod common;

use common::{entry_points, file};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use safetensors_core::{ErrorKind, SafeTensors, Slot};

/// Name, begin and end.
type Tensor = (String, u64, u64);

/// Names, lengths and offsets of tensors of U8, in a header order that `keys` shuffle.
fn laid(lengths: &[u64], keys: &[u64], prefix: &str) -> Vec<Tensor> {
    let mut offset = 0;
    let mut tensors: Vec<_> = lengths
        .iter()
        .zip(keys)
        .enumerate()
        .map(|(i, (len, key))| {
            let begin = offset;
            offset += len;
            (*key, (format!("{prefix}{i}"), begin, offset))
        })
        .collect();
    tensors.sort();
    tensors.into_iter().map(|(_, tensor)| tensor).collect()
}

fn written(tensors: &[Tensor]) -> Vec<u8> {
    let entries: Vec<_> = tensors
        .iter()
        .map(|(name, begin, end)| {
            let len = end.saturating_sub(*begin);
            format!(
                "\"{name}\":{{\"dtype\":\"U8\",\"shape\":[{len}],\"data_offsets\":[{begin},{end}]}}"
            )
        })
        .collect();
    let data_len = tensors.iter().map(|(_, _, end)| *end).max().unwrap_or(0);
    file(format!("{{{}}}", entries.join(",")), &vec![0; data_len as usize])
}

/// The error from every entry point.
fn error(tensors: &[Tensor]) -> (ErrorKind, u64) {
    let error = entry_points::ask(&written(tensors)).unwrap_err();
    (error.kind(), error.number())
}

fn tensors() -> impl Strategy<Value = Vec<Tensor>> {
    let len = prop_oneof![Just(0_u64), 1_u64..4, 1_u64..5000];
    (vec((len, any::<u64>()), 0..200), "[a-z]{0,9}").prop_map(|(tensors, prefix)| {
        let (lengths, keys): (Vec<_>, Vec<_>) = tensors.into_iter().unzip();
        laid(&lengths, &keys, &prefix)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_order_is_accepted(tensors in tensors()) {
        let listing = entry_points::ask(&written(&tensors)).unwrap();
        let mut expected: Vec<_> = tensors
            .into_iter()
            .map(|(name, begin, end)| (name, "U8".to_owned(), vec![end - begin], begin, end))
            .collect();
        expected.sort();
        prop_assert_eq!(listing.tensors, expected);
    }

    #[test]
    fn a_byte_out_of_place_is_refused(tensors in tensors(), pick in any::<usize>()) {
        let solid: Vec<_> = (0..tensors.len()).filter(|i| tensors[*i].1 < tensors[*i].2).collect();
        prop_assume!(!solid.is_empty());
        let i = solid[pick % solid.len()];
        let (_, begin, end) = tensors[i];
        let last = tensors.iter().map(|(_, _, end)| *end).max().unwrap();
        let changed = |change: &dyn Fn(&mut Vec<Tensor>)| {
            let mut changed = tensors.clone();
            change(&mut changed);
            error(&changed)
        };

        // One byte shorter at its end. If it is the last one, so is the file.
        let shorter = |tensors: &mut Vec<Tensor>| tensors[i].2 -= 1;
        // One byte longer at its end: the first byte of the next is in both, if there is a next.
        let longer = |tensors: &mut Vec<Tensor>| tensors[i].2 += 1;
        if tensors.iter().any(|(_, begin, _)| *begin >= end) {
            // What begins behind it does so one byte later, and the data ends later.
            let later = changed(&|tensors| shift(tensors, end));
            prop_assert_eq!(later, (ErrorKind::Gap, 1));
        }
        if end < last {
            prop_assert_eq!(changed(&shorter), (ErrorKind::Gap, 1));
            prop_assert_eq!(changed(&longer).0, ErrorKind::Overlap);
        }
        if begin > 0 {
            let earlier = changed(&|tensors| tensors[i].1 -= 1);
            prop_assert_eq!(earlier.0, ErrorKind::Overlap);
        }
        if end - begin > 1 {
            let inside = ("inside".to_owned(), begin + 1, begin + 1);
            let inside = changed(&|tensors| tensors.insert(pick % tensors.len(), inside.clone()));
            prop_assert_eq!(inside.0, ErrorKind::Overlap);
        }
        if tensors.len() > 1 {
            let other = (i + 1) % tensors.len();
            let twice = changed(&|tensors| tensors[i].0 = tensors[other].0.clone());
            prop_assert_eq!(twice.0, ErrorKind::DuplicateName);
        }
    }

    #[test]
    fn the_data_ends_with_the_last_tensor(tensors in tensors()) {
        let bytes = written(&tensors);
        let longer = entry_points::ask(&[&bytes[..], &[0]].concat()).unwrap_err();
        prop_assert_eq!((longer.kind(), longer.number()), (ErrorKind::TrailingBytes, 1));
        if tensors.iter().any(|(_, _, end)| *end > 0) {
            let shorter = entry_points::ask(&bytes[..bytes.len() - 1]).unwrap_err();
            prop_assert_eq!((shorter.kind(), shorter.number()), (ErrorKind::DataTruncated, 1));
        }
    }
}

/// Moves the tensors that begin at `from` or behind it by one byte.
fn shift(tensors: &mut [Tensor], from: u64) {
    for (_, begin, end) in tensors.iter_mut().filter(|(_, begin, _)| *begin >= from) {
        *begin += 1;
        *end += 1;
    }
}

#[test]
fn many_names_with_long_equal_prefixes() {
    let lengths: Vec<_> = (0..5000).map(|i| i % 3).collect();
    let keys: Vec<_> = (0..5000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let tensors = laid(&lengths, &keys, &"layers.".repeat(30));
    let bytes = written(&tensors);
    let mut slots = vec![Slot::EMPTY; tensors.len()];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    for (name, begin, end) in &tensors {
        assert_eq!(model.tensor(name).unwrap().info().data_offsets(), (*begin, *end));
    }
}

#[test]
fn all_empty_at_one_place() {
    let keys: Vec<_> = (0..300_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let mut tensors = laid(&[0; 300], &keys, "t");
    tensors.insert(100, ("solid".to_owned(), 0, 7));
    let listing = entry_points::ask(&written(&tensors)).unwrap();
    assert_eq!(listing.tensors.len(), 301);
    // A second one with data at the same place overlaps.
    tensors.insert(200, ("second".to_owned(), 0, 7));
    assert_eq!(error(&tensors).0, ErrorKind::Overlap);
}

#[test]
fn metadata_behind_the_tensors_with_no_slot_to_spare() {
    let keys: Vec<_> = (0..9).map(|i| format!("\"k{i}\":\"v\"")).collect();
    let tensor = r#""a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let header = |keys: &[String]| format!("{{{tensor},\"__metadata__\":{{{}}}}}", keys.join(","));
    let good = file(header(&keys), &[0]);
    assert_eq!(entry_points::ask(&good).unwrap().metadata.unwrap().len(), 9);

    let mut twice = keys;
    twice[8] = "\"k\\u0030\":\"v\"".to_owned();
    let bad = file(header(&twice), &[0]);
    let error = entry_points::ask(&bad).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateKey);
}
