//! Headers made by a grammar, well-formed ones and broken ones, compared with the reference crate.

mod common;

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

/// A tensor that is yet to be laid: name, dtype, shape, an unknown field.
type Plan = (String, Dtype, Vec<u64>, Option<(String, String)>);

fn plan() -> impl Strategy<Value = Plan> {
    let dims = prop_oneof![4 => vec(0_u64..5, 0..4), 1 => Just(vec![8])];
    let unknown =
        prop_oneof![6 => Just(None), 1 => ("\"x\"|\"dtyp\"|\"\"", value()).prop_map(Some)];
    (any_string(), select(Dtype::ALL.to_vec()), dims, unknown)
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
            for (name, dtype, shape, unknown) in plans {
                let elements: u64 = shape.iter().product();
                let end = offset + elements * dtype.bitsize() as u64 / 8;
                let shape = format!("{shape:?}").replace(", ", &format!(",{}", spaces[0]));
                let mut fields = vec![
                    format!("\"dtype\":{}\"{dtype}\"", spaces[1]),
                    format!("\"shape\"{}:{shape}", spaces[2]),
                    format!("\"data_offsets\":[{offset}{},{end}]", spaces[3]),
                ];
                fields.extend(unknown.map(|(key, value)| format!("{key}:{value}")));
                let fields = rotated(fields, order);
                entries.push(format!("{name}:{{{}{}}}", fields.join(","), spaces[4]));
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
    if by % 3 == 0 && !items.is_empty() {
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

/// Compares what `strategy` makes; returns how many were accepted and how many refused.
fn compare(cases: u32, strategy: impl Strategy<Value = Vec<u8>>) -> (u32, u32) {
    let counts = std::cell::Cell::new((0, 0));
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, rng)
        .run(&strategy, |bytes| {
            let (expected, _) = oracle::expect(&bytes);
            let answer = entry_points::ask(&bytes);
            prop_assert_eq!(answer.as_ref().ok(), expected.as_ref(), "{:?}", answer);
            let (accepted, refused) = counts.get();
            counts.set(match expected {
                Some(_) => (accepted + 1, refused),
                None => (accepted, refused + 1),
            });
            Ok(())
        })
        .unwrap();
    println!("{:?}", counts.get());
    counts.get()
}

#[test]
fn well_formed_headers() {
    let files = header().prop_map(|(header, data)| file(header, &vec![0; data]));
    let (accepted, refused) = compare(30_000, files);
    assert!(accepted > 10_000 && refused > 5_000);
}

#[test]
fn broken_headers() {
    let files = (header(), vec(change(), 1..3)).prop_map(|((header, data), changes)| {
        let mut header = header.into_bytes();
        for change in &changes {
            apply(&mut header, change);
        }
        file(header, &vec![0; data])
    });
    let (accepted, refused) = compare(60_000, files);
    assert!(accepted > 2_000 && refused > 30_000);
}
