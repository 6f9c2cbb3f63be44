//! Tensors in any header order: accepted, found, put in offset order; and refused when one byte is
//! out of place.

mod common;

use common::{entry_points, file};
use proptest::collection::vec;
use proptest::prelude::*;
use safetensors_core::{ErrorKind, SafeTensors, Slot};

/// Names, lengths and offsets of tensors of U8, in a header order that `keys` shuffle.
fn laid(lengths: &[u64], keys: &[u64], prefix: &str) -> Vec<(String, u64, u64)> {
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

fn written(tensors: &[(String, u64, u64)]) -> Vec<u8> {
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

fn kind(tensors: &[(String, u64, u64)]) -> ErrorKind {
    let bytes = written(tensors);
    SafeTensors::parse(&bytes, &mut vec![Slot::EMPTY; tensors.len()]).unwrap_err().kind()
}

fn tensors() -> impl Strategy<Value = Vec<(String, u64, u64)>> {
    let len = prop_oneof![Just(0_u64), 1_u64..4, 1_u64..5000];
    (vec((len, any::<u64>()), 1..200), "[a-z]{0,9}").prop_map(|(tensors, prefix)| {
        let (lengths, keys): (Vec<_>, Vec<_>) = tensors.into_iter().unzip();
        laid(&lengths, &keys, &prefix)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

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
    fn a_tensor_out_of_place_is_refused(tensors in tensors(), pick in any::<usize>()) {
        let solid: Vec<_> = (0..tensors.len()).filter(|i| tensors[*i].1 < tensors[*i].2).collect();
        prop_assume!(!solid.is_empty());
        let i = solid[pick % solid.len()];
        let last = tensors.iter().map(|(_, _, end)| *end).max().unwrap();

        // One byte shorter at its end: a gap, or the file is too long.
        let mut shorter = tensors.clone();
        shorter[i].2 -= 1;
        if tensors[i].2 < last {
            prop_assert_eq!(kind(&shorter), ErrorKind::Gap);
        }
        // One byte longer at its end: it overlaps with the next, if there is one.
        let mut longer = tensors.clone();
        longer[i].2 += 1;
        if tensors[i].2 < last {
            prop_assert_eq!(kind(&longer), ErrorKind::Overlap);
        }
        // An empty one in the middle of it.
        if tensors[i].2 - tensors[i].1 > 1 {
            let mut inside = tensors.clone();
            inside.push(("inside".to_owned(), tensors[i].1 + 1, tensors[i].1 + 1));
            prop_assert_eq!(kind(&inside), ErrorKind::Overlap);
        }
        // The name of another.
        if tensors.len() > 1 {
            let mut twice = tensors.clone();
            let other = (i + 1) % tensors.len();
            twice[i].0 = tensors[other].0.clone();
            prop_assert_eq!(kind(&twice), ErrorKind::DuplicateName);
        }
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
    assert_eq!(kind(&tensors), ErrorKind::Overlap);
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
