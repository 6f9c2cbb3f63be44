//! Headers made by a grammar, well-formed ones and broken ones, compared with the reference crate.
// The reference judges sizes in `usize`; ours are 64 bits wide everywhere.
#![cfg(target_pointer_width = "64")]

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;

use common::oracle::Difference;
use common::{entry_points, file, oracle};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use safetensors_core::Dtype;

/// White space, mostly none.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![12 => Just(String::new()), 1 => "[ \n\r\t]{1,3}"]
}

/// A character of a string, spelled in one of the ways that JSON has for it.
fn spelled(c: char) -> impl Strategy<Value = String> {
    let mut units = [0; 2];
    let lower: String = c.encode_utf16(&mut units).iter().map(|u| format!("\\u{u:04x}")).collect();
    let upper: String = c.encode_utf16(&mut units).iter().map(|u| format!("\\u{u:04X}")).collect();
    let short = match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '/' => "\\/".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\0'..='\x1f' => lower.clone(),
        _ => c.to_string(),
    };
    prop_oneof![10 => Just(short), 1 => Just(lower), 1 => Just(upper)]
}

/// A string with its quotes.
fn string(text: &str) -> BoxedStrategy<String> {
    let chars: Vec<_> = text.chars().map(spelled).collect();
    chars.prop_map(|parts| format!("\"{}\"", parts.concat())).boxed()
}

/// Any text, often short, so that some are equal.
fn any_string() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ab./]{0,2}",
        2 => "[a-z]{1,12}\\.(weight|bias)",
        1 => any::<String>(),
        1 => "[\\x00-\\x1f\"\\\\/\u{7f}-\u{2030}\u{1f600}-\u{1f64f}]{0,6}",
        1 => Just("__metadata__".to_owned()),
    ]
    .prop_flat_map(|text| string(&text))
}

/// A value of an unknown field.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1e400",
            "-1.5E-7",
            "12345678901234567890123"
        ])
        .prop_map(str::to_owned),
        any_string(),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            (vec((inner.clone(), space()), 0..4)).prop_map(|items| {
                let items: Vec<_> = items.into_iter().map(|(item, space)| space + &item).collect();
                format!("[{}]", items.join(","))
            }),
            vec((any_string(), space(), inner), 0..3).prop_map(|items| {
                let items: Vec<_> =
                    items.into_iter().map(|(key, space, v)| format!("{key}{space}:{v}")).collect();
                format!("{{{}}}", items.join(","))
            }),
        ]
    })
}

/// How a description is spelled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Object,
    /// As the reference takes it, too.
    Array,
    /// Its dtype as the reference takes it, too.
    DtypeMap,
}

/// A tensor that is yet to be laid: name, dtype, shape, an unknown field, and how it is spelled.
type Plan = (String, Dtype, Vec<u64>, Option<(String, String)>, Form);

fn plan() -> impl Strategy<Value = Plan> {
    let dims = prop_oneof![4 => vec(0_u64..5, 0..4), 1 => Just(vec![8])];
    let unknown =
        prop_oneof![6 => Just(None), 1 => ("\"x\"|\"dtyp\"|\"\"", value()).prop_map(Some)];
    let form =
        prop_oneof![40 => Just(Form::Object), 1 => Just(Form::Array), 1 => Just(Form::DtypeMap)];
    (any_string(), select(Dtype::ALL.to_vec()), dims, unknown, form)
}

/// A well-formed header and its data, but for names that happen to be equal and sizes that do not
/// fill bytes.
fn header() -> impl Strategy<Value = (String, usize)> {
    let metadata = prop_oneof![
        2 => Just(None),
        1 => Just(Some("null".to_owned())),
        3 => vec((any_string(), any_string()), 0..4).prop_map(|pairs| {
            let pairs: Vec<_> = pairs.into_iter().map(|(key, v)| format!("{key}:{v}")).collect();
            Some(format!("{{{}}}", pairs.join(",")))
        }),
    ];
    (vec(plan(), 0..6), metadata, vec(space(), 8), any::<u64>()).prop_map(
        |(plans, metadata, spaces, order)| {
            let mut offset = 0;
            let mut entries: Vec<String> = Vec::new();
            for (name, dtype, shape, unknown, form) in plans {
                let elements: u64 = shape.iter().product();
                let end = offset + elements * dtype.bitsize() as u64 / 8;
                let shape = format!("{shape:?}").replace(", ", &format!(",{}", spaces[0]));
                let dtype = match form {
                    Form::DtypeMap => format!("{{\"{dtype}\":null}}"),
                    _ => format!("\"{dtype}\""),
                };
                let offsets = format!("[{offset}{},{end}]", spaces[3]);
                entries.push(if form == Form::Array {
                    format!("{name}:[{dtype},{shape},{offsets}]")
                } else {
                    let mut fields = vec![
                        format!("\"dtype\":{}{dtype}", spaces[1]),
                        format!("\"shape\"{}:{shape}", spaces[2]),
                        format!("\"data_offsets\":{offsets}"),
                    ];
                    fields.extend(unknown.map(|(key, value)| format!("{key}:{value}")));
                    let fields = rotated(fields, order);
                    format!("{name}:{{{}{}}}", fields.join(","), spaces[4])
                });
                offset = end;
            }
            entries.extend(metadata.map(|value| format!("\"__metadata__\":{value}")));
            let entries = rotated(entries, order >> 8);
            let header =
                format!("{}{{{}{}}}{}", spaces[5], entries.join(","), spaces[6], spaces[7]);
            (header, offset as usize)
        },
    )
}

fn rotated(mut items: Vec<String>, by: u64) -> Vec<String> {
    // Order as it came is the usual one.
    if by.is_multiple_of(3) && !items.is_empty() {
        let by = by as usize % items.len();
        items.rotate_left(by);
    }
    items
}

/// One change that may break a header.
#[derive(Clone, Debug)]
enum Change {
    Remove(usize, usize),
    Insert(usize, &'static str),
    Repeat(usize, usize),
    Digit(usize, u8),
}

fn change() -> impl Strategy<Value = Change> {
    let piece = select(vec![
        "0",
        "1",
        "-",
        ".0",
        "e1",
        ",",
        ":",
        "\"",
        "{",
        "}",
        "[",
        "]",
        " ",
        "\u{a0}",
        "null",
        "\\",
        "\\u",
        "\"dtype\":\"U8\",",
        "[[",
        "\0",
        "\u{1f600}",
    ]);
    prop_oneof![
        (any::<usize>(), 1_usize..4).prop_map(|(at, len)| Change::Remove(at, len)),
        (any::<usize>(), piece).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (any::<usize>(), 1_usize..60).prop_map(|(at, len)| Change::Repeat(at, len)),
        (any::<usize>(), b'0'..=b'9').prop_map(|(at, digit)| Change::Digit(at, digit)),
    ]
}

fn apply(header: &mut Vec<u8>, change: &Change) {
    let len = header.len();
    match *change {
        Change::Remove(at, count) => {
            let at = at % (len + 1);
            header.drain(at..len.min(at + count));
        }
        Change::Insert(at, piece) => {
            let at = at % (len + 1);
            header.splice(at..at, piece.bytes());
        }
        Change::Repeat(at, count) => {
            let at = at % (len + 1);
            let piece = header[at..len.min(at + count)].to_vec();
            header.splice(at..at, piece);
        }
        Change::Digit(at, digit) => {
            let digits: Vec<_> = (0..len).filter(|i| header[*i].is_ascii_digit()).collect();
            if !digits.is_empty() {
                header[digits[at % digits.len()]] = digit;
            }
        }
    }
}

/// How often which answer was right.
#[derive(Debug, Default)]
struct Counts {
    accepted: u32,
    refused: u32,
    /// Of these, the answers in which we differ from the reference on purpose.
    differences: BTreeMap<Difference, u32>,
}

/// Compares what `strategy` makes, always the same.
fn compare(cases: u32, strategy: impl Strategy<Value = Vec<u8>>) -> Counts {
    let counts = RefCell::new(Counts::default());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, rng)
        .run(&strategy, |bytes| {
            let (expected, difference) = oracle::expect(&bytes);
            let answer = entry_points::ask(&bytes);
            prop_assert_eq!(answer.as_ref().ok(), expected.as_ref(), "{:?}", answer);
            let mut counts = counts.borrow_mut();
            match expected {
                Some(_) => counts.accepted += 1,
                None => counts.refused += 1,
            }
            if let Some(difference) = difference {
                *counts.differences.entry(difference).or_default() += 1;
            }
            Ok(())
        })
        .unwrap();
    let counts = counts.into_inner();
    println!("{counts:?}");
    counts
}

#[test]
fn well_formed_headers() {
    let files = header().prop_map(|(header, data)| file(header, &vec![0; data]));
    let counts = compare(30_000, files);
    assert!(counts.accepted > 10_000 && counts.refused > 5_000);
    let differences: Vec<_> = counts.differences.into_iter().collect();
    let [(Difference::V1, twice), (Difference::V2, forms), (Difference::V3, numbers)] =
        differences[..]
    else {
        panic!("{differences:?}");
    };
    assert!(twice > 500 && forms > 1_000 && numbers > 300);
}

#[test]
fn broken_headers() {
    let more_data = prop_oneof![20 => Just(0_usize), 1 => 1_usize..3];
    let strategy = (header(), vec(change(), 1..3), more_data);
    let files = strategy.prop_map(|((header, data), changes, more_data)| {
        let mut header = header.into_bytes();
        for change in &changes {
            apply(&mut header, change);
        }
        file(header, &vec![0; data + more_data])
    });
    let counts = compare(60_000, files);
    assert!(counts.accepted > 5_000 && counts.refused > 30_000);
    assert!(counts.differences.len() == 3 && counts.differences.values().all(|n| *n > 100));
}

/// The oracle is right where it does not simply repeat what the reference says.
#[test]
fn the_oracle_knows_the_differences() {
    use Difference::{V1, V2, V3};
    let fields = r#""dtype":"U8","shape":[1],"data_offsets":[0,1]"#;
    let empty = r#""dtype":"U8","shape":[0],"data_offsets":[0,0]"#;
    let unknown = |value: &str| format!(r#"{{"a":{{"x":{value},{fields}}}}}"#);
    let cases = [
        (unknown("1e308"), true, None),
        (format!(r#"{{"a":{{{empty}}},"\u0061":{{{fields}}}}}"#), false, Some(V1)),
        (format!(r#"{{"__metadata__":{{"k":"","k":""}},"a":{{{fields}}}}}"#), false, Some(V1)),
        // What is given twice elsewhere doesn't matter.
        (unknown(r#"{"k":1,"k":1}"#), true, None),
        (r#"{"a":["U8",[1],[0,1]]}"#.to_owned(), false, Some(V2)),
        (r#"{"a":{"dtype":{"U8":null},"shape":[1],"data_offsets":[0,1]}}"#.into(), false, Some(V2)),
        (unknown("-1E+999"), true, Some(V3)),
        (unknown(r#"["1e999",1e999]"#), true, Some(V3)),
        // The reference calls it too great before it sees what is wrong with it.
        (unknown("1e999.5"), false, None),
        (unknown("01e999"), false, None),
        // Wrong by itself, and where an integer must stand.
        (r#"{"a":{"dtype":"number out of range"}}"#.to_owned(), false, None),
        (r#"{"a":{"dtype":"U8","shape":[1e999],"data_offsets":[0,1]}}"#.to_owned(), false, None),
        // Two differences in one file.
        (format!(r#"{{"a":{{{empty}}},"a":{{"x":1e999,{fields}}}}}"#), false, Some(V1)),
    ];
    for (header, accepted, difference) in cases {
        let (listing, found) = oracle::expect(&file(&header, &[0]));
        assert_eq!((listing.is_some(), found), (accepted, difference), "{header}");
    }
}
