//! The corpus: verdict, listing and metadata of every case, from every entry point.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::corpus::{self, Case};
use common::{Listing, entry_points};
use safetensors_core::ErrorKind;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Runs the cases of a list; returns how many were accepted and how many refused.
fn run(list: &Path) -> (usize, usize) {
    let mut counts = (0, 0);
    for case in corpus::cases(list) {
        let line = &case.line;
        let ours = line.get("ours");
        let verdict = &ours.unwrap_or(line)["verdict"];
        let answer = entry_points::ask(&case.bytes);
        match answer {
            Ok(listing) => {
                assert_eq!(verdict, "accept", "{}", case.name);
                counts.0 += 1;
                // Of a file that only we accept the reference has no listing.
                if line["verdict"] == "accept" {
                    compare(&case, &listing);
                }
            }
            Err(error) => {
                let shown = error.display(&case.bytes).to_string();
                assert_eq!(verdict, "reject", "{}: {shown}", case.name);
                counts.1 += 1;
                if let Some(reference) = line.get("error") {
                    assert!(fits(error.kind(), reference), "{}: {shown}", case.name);
                }
                if let Some(ours) = ours {
                    // Of two faults either may be met first.
                    let because = ours["because"].as_str().unwrap();
                    let fits = match error.kind() {
                        ErrorKind::DuplicateName | ErrorKind::DuplicateKey => {
                            because.contains("V1")
                        }
                        ErrorKind::TensorNotObject | ErrorKind::DtypeNotString => {
                            because.contains("V2")
                        }
                        // The first of two tensors of one name may be at fault by itself.
                        _ => because.contains("V1"),
                    };
                    assert!(fits, "{}: {shown}", case.name);
                }
            }
        }
    }
    println!("{}: {} accepted, {} refused", list.display(), counts.0, counts.1);
    counts
}

/// Whether an error is one for which the reference may have given its own, of this name. Of two
/// faults either may be met first, but not before the header is read.
fn fits(kind: ErrorKind, reference: &Value) -> bool {
    use ErrorKind::{FileTooShort, HeaderTooLarge, HeaderTruncated, InvalidUtf8};
    match reference.as_str().unwrap() {
        "HeaderTooSmall" => kind == FileTooShort,
        "HeaderTooLarge" => kind == HeaderTooLarge,
        "InvalidHeaderLength" => kind == HeaderTruncated,
        "InvalidHeader" => kind == InvalidUtf8,
        "MetadataIncompleteBuffer"
        | "InvalidHeaderDeserialization"
        | "InvalidOffset"
        | "TensorInvalidInfo"
        | "ValidationOverflow"
        | "MisalignedSlice" => {
            !matches!(kind, FileTooShort | HeaderTooLarge | HeaderTruncated | InvalidUtf8)
        }
        other => panic!("{other}"),
    }
}

/// Compares a listing with that of the corpus, where long strings and lists stand as digests.
fn compare(case: &Case, listing: &Listing) {
    let tensors = case.line["tensors"].as_array().unwrap();
    assert_eq!(listing.tensors.len(), tensors.len(), "{}", case.name);
    for ((name, dtype, shape, begin, end), expected) in listing.tensors.iter().zip(tensors) {
        assert!(same_text(&expected[0], name), "{}: {name}", case.name);
        assert_eq!(expected[1], **dtype, "{}", case.name);
        assert!(same_list(&expected[2], shape), "{}: {shape:?}", case.name);
        assert_eq!(expected[3], serde_json::json!([begin, end]), "{}", case.name);
    }
    match &case.line["metadata"] {
        Value::Null => assert_eq!(listing.metadata, None, "{}", case.name),
        expected => {
            let expected: BTreeMap<_, _> = expected.as_object().unwrap().iter().collect();
            let found = listing.metadata.as_ref().unwrap();
            assert_eq!(found.len(), expected.len(), "{}", case.name);
            for ((key, value), (expected_key, expected_value)) in found.iter().zip(expected) {
                assert_eq!(key, expected_key, "{}", case.name);
                assert!(same_text(expected_value, value), "{}: {value}", case.name);
            }
        }
    }
}

fn same_text(expected: &Value, found: &str) -> bool {
    match expected.get("$long") {
        Some(long) => long[0] == found.len() && long[1] == digest(found),
        None => expected == found,
    }
}

fn same_list(expected: &Value, found: &[u64]) -> bool {
    match expected.get("$long_ints") {
        Some(long) => {
            long[0] == found.len() && long[1] == digest(&serde_json::to_string(found).unwrap())
        }
        None => *expected == serde_json::json!(found),
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn files() {
    assert_eq!(run(&corpus::committed().join("expected.jsonl")), (207, 400));
}

#[test]
fn matrix() {
    assert_eq!(run(&corpus::committed().join("matrix.jsonl")), (706, 2695));
}

#[test]
fn mutations() {
    assert_eq!(run(&corpus::committed().join("mutations.jsonl")), (312, 586));
}

#[test]
fn recipes() {
    assert_eq!(run(&corpus::committed().join("recipes.jsonl")), (11, 19));
}

/// Any other folder of cases, named by `SAFETENSORS_CORPUS`.
#[test]
fn other_folder() {
    let Some(folder) = std::env::var_os("SAFETENSORS_CORPUS") else { return };
    let mut lists: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    lists.sort();
    assert!(!lists.is_empty());
    for list in lists {
        run(&list);
    }
}
