//! JSON in metadata values (feature `serde-json-core-07`): nothing is decoded that serde_json would
//! not decode to the same value, whatever the text; what is encoded is decoded again.
#![cfg(feature = "serde-json-core-07")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Debug;

use common::file;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use safetensors_core::{
    Editor, Error, ErrorKind, Header, MetadataPair, Text, WriteOptions, encode_json,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json_core::str::EscapedStr;

/// Calls `check` with the metadata value that the header spells as `spelled`, quotes included.
fn with_spelled<R>(spelled: &str, check: impl FnOnce(Text<'_>) -> R) -> R {
    let bytes = file(format!("{{\"__metadata__\":{{\"k\":{spelled}}}}}"), &[]);
    check(Header::read(&bytes).unwrap().metadata().unwrap().value("k").unwrap())
}

/// Calls `check` with the metadata value `value`.
fn with_value<R>(value: &str, check: impl FnOnce(Text<'_>) -> R) -> R {
    with_spelled(&serde_json::to_string(value).unwrap(), |text| {
        assert_eq!(text, value);
        check(text)
    })
}

fn decode<T: DeserializeOwned>(value: &str) -> Result<T, Error> {
    with_value(value, |text| text.decode_json(&mut vec![0xaa; 2 * value.len()]))
}

fn nested(depth: usize, inner: &str) -> String {
    format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))
}

// ── what types can be ──

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Target {
    name: String,
    numbers: Vec<i64>,
    small: Option<i8>,
    scale: Option<f64>,
    kind: Option<Kind>,
    by_id: BTreeMap<i16, String>,
    by_kind: BTreeMap<Simple, u32>,
    flags: (bool, bool),
    inner: Option<Box<Target>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    New(u8),
    Tuple(u8, String),
    Struct { x: bool },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Simple {
    Input,
    Output,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Quantization<'a> {
    scheme: &'a str,
    scale: f32,
    zero_point: Option<i8>,
}

#[test]
fn a_struct_that_borrows() {
    let value = r#" { "scheme" : "per-tensor" , "scale" : 0.125 , "ignored" : [ { } ] } "#;
    with_value(value, |text| {
        let mut scratch = vec![0; value.len()];
        let found: Quantization<'_> = text.decode_json(&mut scratch).unwrap();
        let expected = Quantization { scheme: "per-tensor", scale: 0.125, zero_point: None };
        assert_eq!(found, expected);
    });
}

#[test]
fn types_without_a_heap() {
    use heapless::linear_map::LinearMap;

    #[derive(Deserialize)]
    struct Labels {
        names: heapless::Vec<heapless::String<8>, 2>,
        by_id: LinearMap<u8, heapless::String<8>, 2>,
    }

    let value = r#"{"names":["a\"b","c\\d"],"by_id":{"0":"cat","17":"dog\n"}}"#;
    let found: Labels = decode(value).unwrap();
    assert_eq!(found.names, ["a\"b", "c\\d"]);
    assert_eq!(found.by_id.get(&0).unwrap(), "cat");
    assert_eq!(found.by_id.get(&17).unwrap(), "dog\n");
    // One string, one name, one pair too many.
    for value in [
        r#"{"names":["123456789"],"by_id":{}}"#,
        r#"{"names":["a","b","c"],"by_id":{}}"#,
        r#"{"names":[],"by_id":{"1":"","2":"","3":""}}"#,
    ] {
        let error = decode::<Labels>(value).err().unwrap();
        assert_eq!(error.to_string(), "JSON value does not fit the type");
    }
}

#[test]
fn keys_of_maps() {
    fn keys<K: DeserializeOwned + Ord>(key: &str) -> Option<Vec<K>> {
        let map = decode::<BTreeMap<K, u8>>(&format!("{{\"{key}\":1}}"));
        map.ok().map(|map| map.into_keys().collect())
    }

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    struct Id(u32);

    assert_eq!(keys::<u32>("4294967295"), Some(vec![u32::MAX]));
    assert_eq!(keys::<u64>("18446744073709551615"), Some(vec![u64::MAX]));
    assert_eq!(keys::<i64>("-9223372036854775808"), Some(vec![i64::MIN]));
    assert_eq!(keys::<i8>("-1"), Some(vec![-1]));
    assert_eq!(keys::<i8>(r"\u002d1"), Some(vec![-1]));
    assert_eq!(keys::<Id>("7"), Some(vec![Id(7)]));
    assert_eq!(keys::<Simple>("output"), Some(vec![Simple::Output]));
    assert_eq!(keys::<char>(r"\ud83d\ude00"), Some(vec!['😀']));
    assert_eq!(keys::<String>(r"-1\n"), Some(vec!["-1\n".to_owned()]));
    for refused in
        ["", "-", "+1", " 1", "1 ", "01", "-0", "1.0", "1e3", "0x1", "256", "-129", "١", "\\\"1"]
    {
        assert_eq!((keys::<u8>(refused), keys::<i8>(refused)), (None, None), "{refused}");
        let json = format!("{{\"{refused}\":1}}");
        assert!(serde_json::from_str::<BTreeMap<u8, u8>>(&json).is_err(), "{refused}");
    }
    assert_eq!(keys::<u64>("18446744073709551616"), None);
    assert_eq!(keys::<i64>("-9223372036854775809"), None);
    assert_eq!(keys::<Simple>("neither"), None);
    // Types of which serde-json-core panics.
    assert_eq!(keys::<bool>("true"), None);
    assert_eq!(keys::<()>("null"), None);
    assert_eq!(keys::<Option<u8>>("1"), None);
    assert_eq!(keys::<(u8, u8)>("1"), None);
    assert_eq!(keys::<BTreeMap<u8, u8>>("1"), None);
    assert_eq!(keys::<Vec<u8>>("1"), None);
    // What could be one of these is a string to whoever wants a string.
    with_value(r#"{"1":{"-1":[]}}"#, |text| {
        let mut scratch = [0; 32];
        let found: BTreeMap<&str, BTreeMap<&str, [u8; 0]>> =
            text.decode_json(&mut scratch).unwrap();
        assert!(found["1"]["-1"].is_empty());
    });
}

#[test]
fn every_kind_of_variant() {
    assert_eq!(decode::<Kind>(r#""Unit""#).unwrap(), Kind::Unit);
    assert_eq!(decode::<Kind>(r#"{"Unit":null}"#).unwrap(), Kind::Unit);
    assert_eq!(decode::<Kind>(r#"{"New":255}"#).unwrap(), Kind::New(255));
    assert_eq!(decode::<Kind>(r#"{"Tuple":[1,"\""]}"#).unwrap(), Kind::Tuple(1, "\"".to_owned()));
    assert_eq!(decode::<Kind>(r#"{"\u0053truct":{"x":true}}"#).unwrap(), Kind::Struct { x: true });
    for refused in [
        r#""New""#,
        r#"{}"#,
        r#"{"New":1,"Unit":null}"#,
        r#"{"New":256}"#,
        r#"{"Tuple":[1]}"#,
        r#"{"Tuple":[1,"",2]}"#,
        r#"{"Struct":{}}"#,
        "null",
        "[]",
    ] {
        let error = decode::<Kind>(refused).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::JsonMismatch, "{refused}");
    }
}

// ── numbers ──

/// What is not in the text does not get into a float: neither infinity nor NaN.
#[test]
fn floats() {
    fn mismatch<T: DeserializeOwned + Debug>(value: &str) {
        let error = decode::<T>(value).unwrap_err();
        assert_eq!(error.to_string(), "JSON value does not fit the type", "{value}");
    }

    mismatch::<f64>("1e400");
    mismatch::<f64>("-1e400");
    mismatch::<f32>("1e39");
    mismatch::<f32>("null");
    mismatch::<f64>("null");
    mismatch::<[f32; 2]>("[1,null]");
    mismatch::<Option<f32>>("1e39");
    mismatch::<BTreeMap<String, (f64,)>>(r#"{"a":[-1e999]}"#);
    mismatch::<f32>("true");
    mismatch::<f32>(r#""1""#);
    #[derive(Debug, Deserialize)]
    enum Scale {
        New(#[allow(dead_code)] f32),
        Tuple(#[allow(dead_code)] f32, #[allow(dead_code)] f32),
        Struct {
            #[allow(dead_code)]
            x: f32,
        },
    }
    mismatch::<Scale>(r#"{"New":null}"#);
    mismatch::<Scale>(r#"{"Tuple":[1,null]}"#);
    mismatch::<Scale>(r#"{"Struct":{"x":null}}"#);
    #[derive(Debug, Deserialize)]
    struct New(#[allow(dead_code)] f32);
    mismatch::<New>("1e39");

    assert_eq!(decode::<Option<f32>>("null").unwrap(), None);
    assert_eq!(decode::<f64>("1e308").unwrap(), 1e308);
    assert_eq!(decode::<f64>("1e39").unwrap(), 1e39);
    assert_eq!(decode::<f32>("3").unwrap(), 3.0);
    assert_eq!(decode::<f64>("1e-400").unwrap(), 0.0);
    assert!(decode::<f64>("-0.0").unwrap().is_sign_negative());
    // Rounded once, to the nearest: this lies just above the middle between 1 and the next f32, and
    // an f64 can't hold the difference.
    let middle = "1.00000005960464477539062500000001";
    assert_eq!(decode::<f32>(middle).unwrap(), 1.0 + f32::EPSILON);
    for text in ["0.1", "1.7976931348623157e308", "5e-324", "9007199254740993", "1E+2", "0.3e-7"] {
        assert_eq!(decode::<f64>(text).unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits());
    }
}

#[test]
fn integers() {
    assert_eq!(decode::<i8>("-128").unwrap(), -128);
    assert_eq!(decode::<u64>("18446744073709551615").unwrap(), u64::MAX);
    assert_eq!(decode::<i64>("-9223372036854775808").unwrap(), i64::MIN);
    // The one number that serde_json does not take for an integer.
    assert_eq!(decode::<i8>("-0").unwrap(), 0);
    assert!(serde_json::from_str::<i8>("-0").is_err());
    fn mismatch<T: DeserializeOwned + Debug>(value: &str) {
        assert_eq!(decode::<T>(value).unwrap_err().kind(), ErrorKind::JsonMismatch, "{value}");
    }
    mismatch::<i8>("128");
    mismatch::<i8>("-129");
    mismatch::<u8>("256");
    mismatch::<u8>("-1");
    mismatch::<u64>("18446744073709551616");
    mismatch::<u8>("1.0");
    mismatch::<u8>("1e1");
    mismatch::<(u8,)>("[1.0]");
    mismatch::<u8>("null");
    mismatch::<u8>("false");
    mismatch::<i128>("1");
}

// ── strings ──

#[test]
fn escapes_are_resolved() {
    let value = r#"["\u00e9\/\b\f\n\r\t","\ud83d\ude00\uD83D\uDE00😀","\u0000\u001f\u007f"]"#;
    let expected = ["é/\u{8}\u{c}\n\r\t", "😀😀😀", "\0\x1f\x7f"];
    // These can be borrowed, and need no more room than the text itself.
    with_value(value, |text| {
        let mut scratch = vec![0; value.len()];
        assert_eq!(text.decode_json::<[&str; 3]>(&mut scratch).unwrap(), expected);
    });
    assert_eq!(decode::<[String; 3]>(value).unwrap(), expected);
    assert_eq!(decode::<char>(r#""\ud83d\ude00""#).unwrap(), '😀');
    assert_eq!(decode::<char>(r#""\u005c""#).unwrap(), '\\');
}

#[test]
fn quotes_and_backslashes_are_owned_or_refused() {
    let strings = [
        (r#""\"""#, "\""),
        (r#""\\""#, "\\"),
        (r#""\u0022\u005C\\\"""#, "\"\\\\\""),
        (r#""\\n\\u0041""#, r"\n\u0041"),
        (r#""\\\u0022,\u0022""#, "\\\",\""),
        (r#""a\u005c""#, "a\\"),
    ];
    for (value, expected) in strings {
        assert_eq!(decode::<String>(value).unwrap(), expected);
        assert_eq!(serde_json::from_str::<String>(value).unwrap(), expected);
        with_value(value, |text| {
            let mut scratch = [0xaa; 64];
            let error = text.decode_json::<&str>(&mut scratch).unwrap_err();
            assert_eq!(error.to_string(), "JSON value does not fit the type");
        });
    }
    // Ignored it does no harm, nor as a key that is not the field's.
    with_value(r#"{"a":"\"","\\":1,"scheme":"x","scale":1}"#, |text| {
        let mut scratch = [0; 64];
        assert_eq!(text.decode_json::<Quantization<'_>>(&mut scratch).unwrap().scheme, "x");
    });
    // serde-json-core's own type borrows what is left of the spelling.
    with_value(r#""\u0022\u00e9\n""#, |text| {
        let mut scratch = [0; 64];
        let found: EscapedStr<'_> = text.decode_json(&mut scratch).unwrap();
        assert_eq!(found.0, "\\\"é\n");
    });
}

#[test]
fn a_header_may_escape_what_is_escaped() {
    // In the header; the metadata value; the string in it.
    let spelled = r#""{\"a\":\"\\u00e9\\n\\\"\\\\\u00e9\ud83d\ude00\\ud83d\\ude00\"}""#;
    let value = r#"{"a":"\u00e9\n\"\\é😀\ud83d\ude00"}"#;
    with_spelled(spelled, |text| {
        assert_eq!(text, value);
        let found: BTreeMap<String, String> = text.decode_json(&mut [0; 128]).unwrap();
        assert_eq!(found["a"], "é\n\"\\é😀😀");
    });
    // All of it escaped, and once more.
    let string: String = "[\"\\u0041\"]".chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    with_spelled(&format!("\"{string}\""), |text| {
        assert_eq!(text.decode_json::<[&str; 1]>(&mut [0; 64]).unwrap(), ["A"]);
    });
}

// ── the grammar ──

/// A value, and kind, offset and message of its error.
const BROKEN: &[(&str, ErrorKind, u64, &str)] = &[
    ("", ErrorKind::UnexpectedEnd, 0, "JSON text ends in the middle (at byte 0)"),
    (" \n", ErrorKind::UnexpectedEnd, 2, "JSON text ends in the middle (at byte 2)"),
    ("[1", ErrorKind::UnexpectedEnd, 2, "JSON text ends in the middle (at byte 2)"),
    ("\"a", ErrorKind::UnexpectedEnd, 2, "JSON text ends in the middle (at byte 2)"),
    ("\"\\", ErrorKind::UnexpectedEnd, 2, "JSON text ends in the middle (at byte 2)"),
    ("cat", ErrorKind::ExpectedValue, 0, "expected a JSON value (at byte 0)"),
    ("'a'", ErrorKind::ExpectedValue, 0, "expected a JSON value (at byte 0)"),
    ("NaN", ErrorKind::ExpectedValue, 0, "expected a JSON value (at byte 0)"),
    ("[,1]", ErrorKind::ExpectedValue, 1, "expected a JSON value (at byte 1)"),
    ("[1,]", ErrorKind::ExpectedValue, 3, "expected a JSON value (at byte 3)"),
    ("\0", ErrorKind::ExpectedValue, 0, "expected a JSON value (at byte 0)"),
    ("\u{feff}1", ErrorKind::ExpectedValue, 0, "expected a JSON value (at byte 0)"),
    ("{1:2}", ErrorKind::ExpectedKey, 1, "expected a key in quotes (at byte 1)"),
    ("{\"a\" 2}", ErrorKind::ExpectedColon, 5, "expected `:` (at byte 5)"),
    ("[1 2]", ErrorKind::ExpectedComma, 3, "expected `,` or a closing bracket (at byte 3)"),
    ("[01]", ErrorKind::ExpectedComma, 2, "expected `,` or a closing bracket (at byte 2)"),
    ("[1\0]", ErrorKind::ExpectedComma, 2, "expected `,` or a closing bracket (at byte 2)"),
    ("[1.]", ErrorKind::InvalidNumber, 3, "invalid number (at byte 3)"),
    ("\"a\nb\"", ErrorKind::ControlCharacter, 2, "control character in a string (at byte 2)"),
    ("\"é\0\"", ErrorKind::ControlCharacter, 3, "control character in a string (at byte 3)"),
    (r#""\x""#, ErrorKind::InvalidEscape, 2, "invalid escape sequence (at byte 2)"),
    (r#""a\ud83d""#, ErrorKind::UnpairedSurrogate, 2, "unpaired surrogate (at byte 2)"),
    (
        "1\0",
        ErrorKind::TrailingCharacters,
        1,
        "characters behind the end of the JSON text (at byte 1)",
    ),
    (
        "{} {}",
        ErrorKind::TrailingCharacters,
        3,
        "characters behind the end of the JSON text (at byte 3)",
    ),
    (
        "01",
        ErrorKind::TrailingCharacters,
        1,
        "characters behind the end of the JSON text (at byte 1)",
    ),
];

#[test]
fn broken_text_is_refused_also_where_it_is_ignored() {
    for (value, kind, offset, message) in BROKEN {
        assert!(serde_json::from_str::<Value>(value).is_err(), "{value}");
        let error = decode::<f64>(value).unwrap_err();
        assert_eq!((error.kind(), error.offset(), error.number()), (*kind, *offset, 0), "{value}");
        assert_eq!(error.to_string(), *message);
        // In a field that is not asked for, and beside one that fits.
        let ignored = format!(r#"{{"small":1,"x":[{value}],"name":"a"}}"#);
        if serde_json::from_str::<Value>(&ignored).is_err() {
            let error = decode::<Target>(&ignored).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::JsonMismatch, "{ignored}");
        }
    }
}

#[test]
fn nesting() {
    fn check<T: DeserializeOwned + Debug>(before: &str, behind: &str) {
        let depth = before.matches(['[', '{']).count();
        let value = |inner| format!("{before}{}{behind}", nested(inner - depth, ""));
        assert!(decode::<T>(&value(16)).is_ok());
        for deep in [17, 18, 100, 100_000] {
            let error = decode::<T>(&value(deep)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::JsonTooDeep);
            assert_eq!(error.offset(), before.len() as u64 + 16 - depth as u64);
            assert!(
                error.to_string().starts_with("JSON value is nested more than 16 deep (at byte ")
            );
        }
    }

    // Ignored, and asked for.
    check::<Target>(r#"{"x":"#, r#","name":"a"}"#);
    #[derive(Debug, Deserialize)]
    struct List(#[allow(dead_code)] Vec<List>);
    check::<List>("", "");
    let inner = r#"{"inner":"#;
    let value = format!("{}null{}", inner.repeat(16), "}".repeat(16));
    let mut found = &decode::<Target>(&value).unwrap();
    for _ in 1..16 {
        found = found.inner.as_ref().unwrap();
    }
    assert_eq!(found, &Target::default());
    let value = format!("{{\"inner\":{value}}}");
    assert_eq!(decode::<Target>(&value).unwrap_err().kind(), ErrorKind::JsonTooDeep);
    // Brackets in a string are none, and those side by side are not nested.
    assert_eq!(decode::<String>(&format!("\"{}\"", "[".repeat(100))).unwrap().len(), 100);
    let value = format!("[{}[]]", "[],".repeat(100));
    assert_eq!(decode::<Vec<[u8; 0]>>(&value).unwrap().len(), 101);
}

#[test]
fn what_does_not_fit() {
    fn mismatch<T: DeserializeOwned>(value: &str) {
        let error = decode::<T>(value).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::JsonMismatch, "{value}");
        assert_eq!((error.offset(), error.number()), (0, 0));
    }

    mismatch::<[u8; 2]>("[1]");
    mismatch::<[u8; 2]>("[1,2,3]");
    mismatch::<bool>("1");
    mismatch::<()>("{}");
    mismatch::<char>(r#""ab""#);
    mismatch::<Target>(r#"{"name":1}"#);
    mismatch::<Target>(r#"{"name":"a","name":"b"}"#);
    mismatch::<Target>("[]");
    // It does not know types that ask what is there, nor bytes.
    mismatch::<Value>("1");
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(#[allow(dead_code)] u8),
    }
    mismatch::<Untagged>("1");
    #[derive(Deserialize)]
    struct Flat {
        #[serde(flatten)]
        _rest: BTreeMap<String, u8>,
    }
    mismatch::<Flat>(r#"{"a":1}"#);
    struct Bytes;
    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
            value.deserialize_bytes(IgnoredAny).map(|_| Self)
        }
    }
    mismatch::<Bytes>("[1,2]");
}

// ── scratch ──

/// Decodes with every length of scratch; from `needed` on it must work.
fn every_length<'de, T>(value: &str, expected: &T, needed: usize)
where
    T: Deserialize<'de> + PartialEq + Debug,
{
    with_value(value, |text| {
        for len in 0..needed + 3 {
            // Leaked, so that a type that borrows can be asked for as any other.
            let scratch = vec![0xaa; len].leak();
            match text.decode_json::<T>(scratch) {
                Ok(found) => assert!(found == *expected && len >= needed, "{len}"),
                Err(error) => {
                    assert!(len < needed, "{len} {error}");
                    let asked_for = if len < value.len() { value.len() } else { needed };
                    let message = format!("buffer is too small, {asked_for} needed");
                    assert_eq!(error.to_string(), message, "{len}");
                    assert_eq!(error.number(), asked_for as u64);
                }
            }
        }
    });
}

#[test]
fn scratch_of_every_length() {
    let value = r#"{"scheme":"a\u00e9b","scale":1,"zero_point":2}"#;
    let expected = Quantization { scheme: "aéb", scale: 1.0, zero_point: Some(2) };
    every_length(value, &expected, value.len());
    // Strings with quotes need room for the longest of them, behind the text without its escapes.
    let value = r#"["\"","1234\"6\\8","123456789012345"]"#;
    let expected = ["\"", "1234\"6\\8", "123456789012345"].map(str::to_owned);
    every_length(value, &expected, value.len() + 8);
    let value = r#"["\u0022","\u005c\u005c\u005c","ab"]"#;
    let resolved = r#"["\"","\\\\\\","ab"]"#;
    every_length(value, &["\"", "\\\\\\", "ab"].map(str::to_owned), value.len());
    assert!(resolved.len() + 3 < value.len());
    every_length("{\"\\\"\":1}", &BTreeMap::from([("\"".to_owned(), 1)]), 8 + 1);
    every_length("1", &1_u8, 1);
}

// ── the same verdict as serde_json's ──

/// A character in JSON, as it is or escaped.
fn spell(c: char, spelling: u8) -> String {
    let escaped =
        || c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    match (c, spelling) {
        (_, 3) => escaped(),
        ('"', _) => "\\\"".to_owned(),
        ('\\', _) => "\\\\".to_owned(),
        ('\n', _) => "\\n".to_owned(),
        ('/', 0) => "\\/".to_owned(),
        ('\0'..='\x1f', _) => escaped(),
        _ => c.to_string(),
    }
}

fn spelled_string() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        any::<char>(),
        prop::sample::select(vec!['"', '\\', '/', '\n', '\0', 'u', 'é', '😀', '[', '}']),
        proptest::char::range('a', 'c'),
    ];
    prop::collection::vec((c, 0_u8..4), 0..6).prop_map(|chars| {
        let inner: String = chars.iter().map(|(c, spelling)| spell(*c, *spelling)).collect();
        format!("\"{inner}\"")
    })
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i8>().prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f32>().prop_filter_map("finite", |n| serde_json::to_string(&n).ok()),
        (any::<i8>(), -320_i32..320).prop_map(|(n, exponent)| format!("{n}e{exponent}")),
        prop::sample::select(vec!["0", "-0", "1.5", "-0.0", "1E3", "1e400", "null", "256", "-129"])
            .prop_map(str::to_owned),
    ]
}

fn any_key() -> impl Strategy<Value = String> {
    let fields = [
        "name",
        "numbers",
        "small",
        "scale",
        "kind",
        "by_id",
        "by_kind",
        "flags",
        "inner",
        "Unit",
        "New",
        "Tuple",
        "Struct",
        "x",
        "input",
        "output",
        "1",
        "-7",
        "other",
        "\\u006eame",
    ];
    prop_oneof![
        4 => prop::sample::select(fields.to_vec()).prop_map(|name| format!("\"{name}\"")),
        1 => spelled_string(),
    ]
}

fn any_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        number(),
        spelled_string(),
        any_key(),
        prop::sample::select(vec!["true", "false", "null", "[]", "{}"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| array(&items)),
            prop::collection::vec((any_key(), inner), 0..5).prop_map(|pairs| object(&pairs)),
        ]
    })
}

fn array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

fn object(pairs: &[(String, String)]) -> String {
    let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key} :{value}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// JSON that fits [`Target`], with fields that it does not know.
fn fitting() -> impl Strategy<Value = String> {
    let field = |name: &'static str, value: BoxedStrategy<String>| {
        prop::option::weighted(0.5, value)
            .prop_map(move |value| Some((format!("\"{name}\""), value?)))
    };
    let digits = || any::<i16>().prop_map(|n| format!("\"{n}\""));
    let kind = prop_oneof![
        Just("\"Unit\"".to_owned()),
        any::<u8>().prop_map(|n| format!("{{\"New\":{n}}}")),
        (any::<u8>(), spelled_string()).prop_map(|(n, text)| format!("{{\"Tuple\":[{n},{text}]}}")),
        any::<bool>().prop_map(|x| format!("{{\"\\u0053truct\":{{\"x\":{x}}}}}")),
    ];
    let numbers = prop::collection::vec(any::<i64>().prop_map(|n| n.to_string()), 0..4);
    let by_id = prop::collection::vec((digits(), spelled_string()), 0..3);
    let simple = prop::sample::select(vec!["\"input\"", "\"output\""]).prop_map(str::to_owned);
    let by_kind = prop::collection::vec((simple, any::<u32>().prop_map(|n| n.to_string())), 0..3);
    let scale = (-999_999_i32..1_000_000, -30_i32..30)
        .prop_map(|(n, exponent)| format!("{n}.5e{exponent}"));
    let fields = (
        field("name", spelled_string().boxed()),
        field("numbers", numbers.prop_map(|items| array(&items)).boxed()),
        field("small", any::<i8>().prop_map(|n| n.to_string()).boxed()),
        field("scale", scale.boxed()),
        field("kind", kind.boxed()),
        field("by_id", by_id.prop_map(|pairs| object(&pairs)).boxed()),
        field("by_kind", by_kind.prop_map(|pairs| object(&pairs)).boxed()),
        field("flags", any::<(bool, bool)>().prop_map(|(a, b)| format!("[{a},\n{b}]")).boxed()),
        field("unknown \\\"\\u0020\\\"", any_value().boxed()),
    );
    let target = fields
        .prop_map(|(a, b, c, d, e, f, g, h, i)| {
            [a, b, c, d, e, f, g, h, i].into_iter().flatten().collect::<Vec<_>>()
        })
        .prop_shuffle();
    (target.clone(), prop::option::of(target)).prop_map(|(mut pairs, inner)| {
        pairs.extend(inner.map(|inner| ("\"inner\"".to_owned(), object(&inner))));
        object(&pairs)
    })
}

/// `text` with a few places removed, doubled or overwritten.
fn broken(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "",
        "",
        "[",
        "]",
        "{",
        "}",
        "\"",
        ",",
        ":",
        "\\",
        "0",
        "-",
        ".",
        "e",
        "1",
        " ",
        "\n",
        "\0",
        "u",
        "null",
        "é",
        "\\u0022",
        "\\ud83d",
        "[[[[[[[[[[[[[[[[[",
    ]);
    (text, prop::collection::vec((any::<prop::sample::Index>(), piece, 0_usize..3), 1..4)).prop_map(
        |(text, edits)| {
            let mut chars: Vec<char> = text.chars().collect();
            for (at, piece, removed) in edits {
                let at = at.index(chars.len() + 1);
                let end = (at + removed).min(chars.len());
                chars.splice(at..end, piece.chars());
            }
            chars.into_iter().collect()
        },
    )
}

/// The depth of the arrays and objects of JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for c in json.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_string = !in_string,
            '[' | '{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            ']' | '}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    deepest
}

/// Values compared, with floats that serde_json may round to a neighbour.
trait Same: DeserializeOwned + Debug {
    fn same(&self, other: &Self) -> bool;
}

impl Same for f64 {
    fn same(&self, other: &Self) -> bool {
        (self - other).abs() <= 4.0 * f64::EPSILON * self.abs().max(f64::MIN_POSITIVE)
    }
}

impl Same for Target {
    fn same(&self, other: &Self) -> bool {
        let scales = match (&self.scale, &other.scale) {
            (Some(a), Some(b)) => a.same(b),
            (a, b) => a == b,
        };
        let inner = match (&self.inner, &other.inner) {
            (Some(a), Some(b)) => a.same(b),
            (a, b) => a == b,
        };
        let rest =
            |target: &Self| format!("{:?}", Self { scale: None, inner: None, ..clone(target) });
        scales && inner && rest(self) == rest(other)
    }
}

fn clone(target: &Target) -> Target {
    serde_json::from_value(serde_json::to_value(target).unwrap()).unwrap()
}

macro_rules! same_if_equal {
    ($($type:ty),*) => {$(
        impl Same for $type {
            fn same(&self, other: &Self) -> bool {
                self == other
            }
        }
    )*};
}
same_if_equal!(String, Kind, bool, char, (), Vec<Vec<i32>>, (u8, Option<i8>), BTreeMap<i16, Simple>);

/// What is decoded here serde_json decodes to the same value, but for `-0` as an integer.
fn agrees<T: Same>(value: &str) {
    let found = decode::<T>(value);
    let expected = serde_json::from_str::<T>(value);
    match (&found, &expected) {
        (Ok(found), Ok(expected)) => {
            assert!(found.same(expected), "{found:?} {expected:?}");
            assert!(depth(value) <= 16);
        }
        (Ok(found), Err(error)) => {
            assert!(value.contains("-0"), "{found:?} {error}");
            let expected: T = serde_json::from_str(&value.replace("-0", "0")).unwrap();
            assert!(found.same(&expected), "{found:?} {expected:?}");
        }
        (Err(error), _) => {
            // Of the grammar it is if and only if serde_json would not even skip the text; that,
            // however, skips half a surrogate pair.
            let json = serde_json::from_str::<IgnoredAny>(value).is_ok();
            match error.kind() {
                ErrorKind::JsonMismatch => assert!(json),
                ErrorKind::JsonTooDeep => assert!(!json || depth(value) > 16),
                ErrorKind::UnpairedSurrogate => {
                    assert!(serde_json::from_str::<Value>(value).is_err());
                }
                _ => assert!(!json, "{error}"),
            }
        }
    }
}

fn agrees_for_every_type(value: &str) {
    agrees::<Target>(value);
    agrees::<Kind>(value);
    agrees::<String>(value);
    agrees::<f64>(value);
    agrees::<bool>(value);
    agrees::<char>(value);
    agrees::<()>(value);
    agrees::<Vec<Vec<i32>>>(value);
    agrees::<(u8, Option<i8>)>(value);
    agrees::<BTreeMap<i16, Simple>>(value);
    // What can be borrowed is what is owned otherwise.
    with_value(value, |text| {
        let mut scratch = vec![0; 2 * value.len()];
        if let Ok(borrowed) = text.decode_json::<&str>(&mut scratch) {
            assert_eq!(borrowed, decode::<String>(value).unwrap());
        }
    });
}

/// Whatever the length of the scratch, it gives the same or asks for more.
fn same_in_any_scratch(value: &str, len: usize) {
    with_value(value, |text| {
        let small = text.decode_json::<Target>(&mut vec![0xaa; len]);
        match (small, decode::<Target>(value)) {
            (Ok(small), Ok(large)) => assert_eq!(small, large),
            (Err(small), Err(large)) if small == large => {}
            (Err(small), large) => {
                assert_eq!(small.kind(), ErrorKind::BufferTooSmall, "{large:?}");
                assert!(small.number() > len as u64 && small.number() <= 2 * value.len() as u64);
            }
            (Ok(_), Err(error)) => panic!("{error}"),
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_fits_is_decoded(value in fitting(), scratch in 0_usize..200) {
        // A key of the map that is given twice still fits.
        prop_assert!(decode::<Target>(&value).is_ok());
        agrees::<Target>(&value);
        same_in_any_scratch(&value, scratch);
    }

    #[test]
    fn nothing_else_is_decoded(
        value in prop_oneof![
            any_value(),
            broken(any_value()),
            broken(fitting()),
            (0_usize..20, any_value()).prop_map(|(depth, inner)| nested(depth, &inner)),
            broken("[\\[\\]{}\",:\\\\0-9eE+.nulltrfas \\n]{0,24}"),
        ],
        scratch in 0_usize..60,
    ) {
        agrees_for_every_type(&value);
        same_in_any_scratch(&value, scratch);
    }

    #[test]
    fn what_is_encoded_is_decoded(value in fitting()) {
        if let Ok(target) = serde_json::from_str::<Target>(&value)
            && target.scale.is_none_or(f64::is_finite)
        {
            // `Kind::Tuple` can't be written.
            let encoded = encode_json(&target, &mut [0; 4096]).map(str::to_owned);
            let tuple = format!("{target:?}").contains("kind: Some(Tuple(");
            let ids = !target.by_id.is_empty()
                || target.inner.as_ref().is_some_and(|inner| !inner.by_id.is_empty());
            match encoded {
                Ok(json) => {
                    prop_assert!(!tuple && !ids);
                    prop_assert_eq!(&decode::<Target>(&json).unwrap(), &target);
                    prop_assert!(serde_json::from_str::<Target>(&json).unwrap().same(&target));
                }
                Err(error) => {
                    prop_assert_eq!(error.kind(), ErrorKind::NotJson);
                    prop_assert!(tuple || ids);
                }
            }
        }
    }
}

// ── encoding ──

/// Encodes into buffers of every length, and decodes from a metadata value again.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, json: &str) {
    for len in 0..json.len() {
        let error = encode_json(value, &mut vec![0; len]).unwrap_err();
        assert_eq!(error.to_string(), format!("buffer is too small, {} needed", json.len()));
    }
    for len in [json.len(), json.len() + 1] {
        assert_eq!(encode_json(value, &mut vec![0xaa; len]).unwrap(), json);
    }
    assert_eq!(decode::<T>(json).unwrap(), *value);
    assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
}

#[test]
fn every_type_there_and_back() {
    round_trip(&true, "true");
    round_trip(&false, "false");
    round_trip(&0_u8, "0");
    round_trip(&u8::MAX, "255");
    round_trip(&10_u16, "10");
    round_trip(&99_u32, "99");
    round_trip(&u64::MAX, "18446744073709551615");
    round_trip(&i8::MIN, "-128");
    round_trip(&-1_i16, "-1");
    round_trip(&i32::MIN, "-2147483648");
    round_trip(&i64::MIN, "-9223372036854775808");
    round_trip(&0.1_f32, "0.1");
    round_trip(&f32::MIN_POSITIVE, "1.1754944e-38");
    round_trip(&-0.0_f64, "-0.0");
    round_trip(&f64::MIN, "-1.7976931348623157e308");
    round_trip(&(), "null");
    round_trip(&Some(1), "1");
    round_trip(&None::<u8>, "null");
    round_trip(&[[1, 2], [3, 4]], "[[1,2],[3,4]]");
    round_trip(&(1, "é😀".to_owned()), "[1,\"é😀\"]");
    let text = "\"\\/\u{8}\u{c}\n\r\t\0\x1f\x7f".to_owned();
    round_trip(&text, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\x7f\"");
    round_trip(&Kind::Unit, r#""Unit""#);
    round_trip(&Kind::New(7), r#"{"New":7}"#);
    round_trip(&Kind::Struct { x: false }, r#"{"Struct":{"x":false}}"#);
    let pairs = [("a\"".to_owned(), vec![1]), ("b".to_owned(), vec![])];
    round_trip(&BTreeMap::from(pairs), r#"{"a\"":[1],"b":[]}"#);
    round_trip(
        &BTreeMap::from([(Simple::Input, 1), (Simple::Output, 2)]),
        r#"{"input":1,"output":2}"#,
    );
    round_trip(
        &Target { small: Some(-1), ..Target::default() },
        concat!(
            r#"{"name":"","numbers":[],"small":-1,"scale":null,"kind":null,"by_id":{},"#,
            r#""by_kind":{},"flags":[false,false],"inner":null}"#
        ),
    );
}

/// The file's way: encoded, put into a header by somebody who escapes it, read and decoded.
#[test]
fn through_a_header() {
    let quantization =
        Quantization { scheme: "per\n-channel é", scale: 0.1, zero_point: Some(-3) };
    let json = encode_json(&quantization, &mut [0; 128]).unwrap().to_owned();
    assert_eq!(json, "{\"scheme\":\"per\\n-channel é\",\"scale\":0.1,\"zero_point\":-3}");
    with_value(&json, |text| {
        let mut scratch = [0; 128];
        assert_eq!(text.decode_json::<Quantization<'_>>(&mut scratch).unwrap(), quantization);
    });
}

#[test]
fn what_can_not_be_encoded() {
    fn refused(value: &(impl Serialize + ?Sized)) {
        // Also if there is no room: it would not help.
        for len in [0, 1000] {
            let error = encode_json(value, &mut vec![0; len]).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::NotJson, 0));
            assert_eq!(error.to_string(), "value can't be written as JSON");
        }
    }

    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(&value);
        refused(&[value as f32]);
    }
    refused(&'c');
    refused(&1_i128);
    refused(&Kind::Tuple(1, String::new()));
    refused(&BTreeMap::from([(1, 2)]));
    refused(&BTreeMap::from([(true, 2)]));
    refused(&BTreeMap::from([([1], 2)]));
    refused(&BTreeMap::from([((), 2)]));
    refused(&BTreeMap::from([(None::<&str>, 2)]));
    refused(&EscapedStr("\""));
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"]")
        }
    }
    refused(&Bytes);
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    refused(&[Fails]);
    #[derive(Serialize)]
    struct Renamed {
        #[serde(rename = "a\"b")]
        a: u8,
    }
    refused(&Renamed { a: 1 });
    #[derive(Serialize)]
    enum Variants {
        #[serde(rename = "a\\b")]
        New(u8),
        #[serde(rename = "a\nb")]
        Struct { a: u8 },
        #[serde(rename = "a\"b")]
        Unit,
    }
    refused(&Variants::New(1));
    refused(&Variants::Struct { a: 1 });
    // The one name that serde-json-core does escape.
    assert_eq!(encode_json(&Variants::Unit, &mut [0; 64]).unwrap(), r#""a\"b""#);
}

#[test]
fn what_is_encoded_is_nested_as_deep_as_can_be_decoded() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct List(Vec<List>);
    let list = |depth| (1..depth).fold(List(vec![]), |list, _| List(vec![list]));
    round_trip(&list(16), &nested(16, ""));
    for depth in [17, 18, 1000] {
        let error = encode_json(&list(depth), &mut [0; 4096]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotJson);
    }
    // The variant and its fields count for two.
    #[derive(Serialize)]
    enum Deep {
        Struct { inner: List },
        New(List),
    }
    assert!(encode_json(&Deep::Struct { inner: list(14) }, &mut [0; 4096]).is_ok());
    assert!(encode_json(&Deep::Struct { inner: list(15) }, &mut [0; 4096]).is_err());
    let side_by_side: Vec<_> = (0..20).map(|_| Deep::Struct { inner: list(13) }).collect();
    assert!(encode_json(&side_by_side, &mut [0; 4096]).is_ok());
    assert!(encode_json(&Deep::New(list(15)), &mut [0; 4096]).is_ok());
    assert!(encode_json(&Deep::New(list(16)), &mut [0; 4096]).is_err());
}

/// A type that is not the same twice gets an error, not a text cut off.
#[test]
fn what_changes_while_it_is_encoded() {
    use std::cell::Cell;
    struct Changing(Cell<u32>, i32);
    impl Serialize for Changing {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.set(self.0.get().wrapping_add_signed(self.1));
            serializer.serialize_u32(self.0.get())
        }
    }
    for step in [1, -1] {
        let start = if step == 1 { 98 } else { 101 };
        let error = encode_json(&Changing(Cell::new(start), step), &mut [0; 16]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotJson);
    }
}

/// Text that is made on the way, character by character.
#[test]
fn displayed_values() {
    struct Shown;
    impl Serialize for Shown {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(&format_args!("{}\"{}", 1, "\u{1}é"))
        }
    }
    let mut buffer = [0; 64];
    assert_eq!(encode_json(&Shown, &mut buffer).unwrap(), "\"1\\\"\\u0001é\"");
    let error = encode_json(&Shown, &mut [0; 12]).unwrap_err();
    assert_eq!(error.number(), 13);
}

// ── into files ──

/// Values go into a file that is written and into one that is changed, and come out of both.
#[test]
fn values_are_written_into_files() {
    let labels = ["cat \"\\", "d\u{1}g", "🎨"];
    let mut scratch = [0; 64];
    let json = encode_json(&labels, &mut scratch).unwrap();
    let mut pairs = [MetadataPair::new("labels", json)];
    let plan = WriteOptions::new().plan(&mut [], Some(&mut pairs)).unwrap();
    let mut buffer = [0; 256];
    let len = plan.write_into(&mut buffer).unwrap().len();
    let mut editor = Editor::open(&mut buffer, len).unwrap();
    let mut scratch = [0; 64];
    editor.set_metadata("scales", encode_json(&[0.5, -1.25], &mut scratch).unwrap()).unwrap();
    let metadata = editor.header().metadata().unwrap();
    let read: [String; 3] = metadata.value("labels").unwrap().decode_json(&mut [0; 128]).unwrap();
    assert_eq!(read, labels);
    let read: [f32; 2] = metadata.value("scales").unwrap().decode_json(&mut [0; 64]).unwrap();
    assert_eq!(read, [0.5, -1.25]);
}
