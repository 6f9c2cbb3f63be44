//! JSON in a metadata value is decoded as serde_json decodes it, or refused; what was decoded is
//! encoded and decoded again to the same.
#![no_main]

use std::collections::BTreeMap;
use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use safetensors_core::{Error, ErrorKind, Text, encode_json};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// Something of each that types have.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Target {
    s: String,
    n: Option<i16>,
    l: Vec<(u8, bool)>,
    m: BTreeMap<String, Kind>,
    i: BTreeMap<i8, String>,
    t: Option<Box<Target>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    A,
    B(u64),
    C { c: char },
}

fuzz_target!(|input: &[u8]| {
    let Ok(json) = str::from_utf8(input) else { return };
    if let Some(target) = check::<Target>(json) {
        again(&target);
    }
    check::<Kind>(json);
    check::<String>(json);
    check::<Vec<Option<i64>>>(json);
    check::<BTreeMap<u32, IgnoredAny>>(json);
});

fn decode<T: DeserializeOwned>(json: &str) -> Result<T, Error> {
    Text::from(json).decode_json(&mut vec![0; 2 * json.len()])
}

fn check<T: DeserializeOwned + Debug>(json: &str) -> Option<T> {
    let expected = serde_json::from_str::<T>(json);
    match decode::<T>(json) {
        Ok(found) => {
            match expected {
                Ok(expected) => assert_eq!(format!("{found:?}"), format!("{expected:?}")),
                // An integer may be -0 here.
                Err(error) => assert!(json.contains("-0"), "{error}"),
            }
            Some(found)
        }
        Err(error) => {
            let skipped = serde_json::from_str::<IgnoredAny>(json).is_ok();
            match error.kind() {
                ErrorKind::JsonMismatch => assert!(skipped),
                // serde_json skips half a surrogate pair, and goes deeper.
                ErrorKind::JsonTooDeep | ErrorKind::UnpairedSurrogate => {}
                _ => assert!(!skipped, "{error}"),
            }
            None
        }
    }
}

fn again(target: &Target) {
    let mut buffer = vec![0; 1 << 16];
    match encode_json(target, &mut buffer) {
        Ok(json) => assert_eq!(&decode::<Target>(json).unwrap(), target),
        Err(error) => {
            // Keys that are no strings, and characters, are not written.
            let unwritten = format!("{target:?}");
            assert_eq!(error.kind(), ErrorKind::NotJson);
            assert!(unwritten.contains("C {") || !unwritten.contains("i: {}") || has_keys(target));
        }
    }
}

fn has_keys(target: &Target) -> bool {
    !target.i.is_empty() || target.t.as_deref().is_some_and(has_keys)
}
