//! One header in several spellings: with a fast path or without, it says the same, and what is wrong
//! with it is the same at the same place.

mod common;

use common::file;
use safetensors_core::{Entry, Header, TensorInfo};

/// How what stands between the tokens of an entry is written: behind a comma, behind a colon.
const SPELLINGS: [(&str, &str); 4] = [("", ""), (" ", " "), ("", " "), ("\n  ", " ")];

/// Each is one entry; `,` and `:` outside of names become those of a spelling.
const ENTRIES: [&str; 6] = [
    r#""a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}"#,
    r#""a b!":{"dtype":"F32","shape":[],"data_offsets":[24,28]}"#,
    r#""":{"dtype":"F8_E4M3FNUZ","shape":[1],"data_offsets":[28,29]}"#,
    r#""é \" ü":{"dtype":"BF16","shape":[0,7],"data_offsets":[29,29]}"#,
    r#""!!  !!  !!  !!  !!  !!  !!":{"dtype":"BF16","shape":[100000000],"data_offsets":[29,200000029]}"#,
    r#""z":{"dtype":"U8","shape":[123456789012345],"data_offsets":[200000029,123456989012374]}"#,
];

/// What one of them may have wrong: as it should be, as it is.
const FAULTS: [(&str, &str); 22] = [
    ("\"a\"", "\"__metadata__\""),
    ("\"dtype\"", "\"Dtype\""),
    ("\"F32\"", "\"F32 \""),
    ("\"F32\"", "\"f32\""),
    ("\"F32\"", "32"),
    ("\"BF16\"", "\"BF1"),
    ("[2,3]", "[2,3,]"),
    ("[2,3]", "[02,3]"),
    ("[2,3]", "[2,-3]"),
    ("[2,3]", "[2.0,3]"),
    ("[2,3]", "[2,3e0]"),
    ("[2,3]", "[2,4]"),
    ("[2,3]", "[4294967296,4294967296]"),
    ("[1]", "[9223372036854775808]"),
    ("[1]", "[18446744073709551616]"),
    ("[1]", "1"),
    ("[0,24]", "[24,0]"),
    ("[0,24]", "[00,24]"),
    ("[0,24]", "[0,24,48]"),
    ("[0,24]", "[0]"),
    ("[28,29]", "[28,18446744073709551615]"),
    ("[123456789012345]", "[1234567890123456789]"),
];

/// The commas and colons outside of strings as this spelling has them.
fn spell(json: &str, (comma, colon): (&str, &str)) -> String {
    let (mut out, mut inside, mut escaped) = (String::new(), false, false);
    for character in json.chars() {
        out.push(character);
        match character {
            '"' if !escaped => inside = !inside,
            ',' if !inside => out.push_str(comma),
            ':' if !inside => out.push_str(colon),
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    out
}

/// What a header says up to its end or its first error: the kind and number of that, and the text from
/// there on, without spaces.
fn outcome(json: &str) -> (Vec<String>, Option<String>) {
    let bytes = file(json, &[]);
    let mut tensors = Vec::new();
    for entry in Header::read(&bytes).unwrap().entries() {
        match entry {
            Ok(Entry::Tensor(tensor)) => tensors.push(describe(&tensor)),
            Ok(Entry::Metadata(metadata)) => tensors.push(format!("{metadata:?}")),
            Err(error) => {
                let rest = &json[error.offset() as usize - 8..];
                let rest: String = rest.split_whitespace().collect();
                return (tensors, Some(format!("{:?} {} {rest}", error.kind(), error.number())));
            }
        }
    }
    (tensors, None)
}

fn describe(tensor: &TensorInfo<'_>) -> String {
    let shape: Vec<u64> = tensor.shape().iter().collect();
    format!("{} {} {shape:?} {:?}", tensor.name(), tensor.dtype(), tensor.data_offsets())
}

fn assert_same(json: &str) {
    let dense = outcome(json);
    for spelling in SPELLINGS {
        let spelled = spell(json, spelling);
        assert_eq!(outcome(&spelled), dense, "{spelled}");
    }
    // A space that no writer has.
    assert_eq!(outcome(&json.replace("]}", "] }")), dense);
}

#[test]
fn good_headers() {
    // However many bytes stand behind the last entry.
    for end in 0..20 {
        let json = format!("{{{}}}{}", ENTRIES.join(","), " ".repeat(end));
        assert_eq!(outcome(&json).0.len(), ENTRIES.len());
        assert_same(&json);
    }
}

#[test]
fn every_order_of_two() {
    for a in ENTRIES {
        for b in ENTRIES {
            assert_same(&format!("{{{a},{b}}}"));
        }
    }
}

#[test]
fn faults() {
    for (right, wrong) in FAULTS {
        for entry in ENTRIES.iter().filter(|entry| entry.contains(right)) {
            let faulty = entry.replace(right, wrong);
            for json in [format!("{{{faulty}}}"), format!("{{{},{faulty}}}", ENTRIES[5])] {
                assert!(outcome(&json).1.is_some(), "{json}");
                assert_same(&json);
            }
        }
    }
}

#[test]
fn cut_off() {
    let json = format!("{{{}}}", ENTRIES.join(","));
    for (end, _) in json.char_indices().skip(1) {
        assert!(outcome(&json[..end]).1.is_some());
        assert_same(&json[..end]);
    }
}

/// Names of every length around those of words, with a character of each kind at each place.
#[test]
fn names() {
    for len in 1..40 {
        for at in 0..len {
            for character in [" ", "!", "#", "é", r"\u0041", r#"\""#, "\u{7f}"] {
                let name = format!("{}{character}{}", "n".repeat(at), "n".repeat(len - at - 1));
                assert_same(&format!(
                    r#"{{"{name}":{{"dtype":"I8","shape":[3],"data_offsets":[0,3]}}}}"#
                ));
            }
        }
    }
}
