//! Unescaping, against serde_json.

mod common;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use common::file;
use proptest::prelude::*;
use safetensors_core::{ErrorKind, Header, Text};

/// Calls `check` with the text whose JSON (with quotes) is `json`.
fn with_text<R>(json: &str, check: impl FnOnce(Text<'_>) -> R) -> R {
    let bytes = file(format!("{{\"__metadata__\":{{\"k\":{json}}}}}"), &[]);
    check(Header::read(&bytes).unwrap().metadata().unwrap().value("k").unwrap())
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Any text, in JSON with every character, some, or only the necessary ones escaped.
fn json() -> impl Strategy<Value = (String, String)> {
    (any::<String>(), 0_u32..3).prop_map(|(text, escape)| {
        let mut json = String::from("\"");
        for (i, c) in text.chars().enumerate() {
            if escape == 2 || (escape == 1 && i % 2 == 0) || c < ' ' || c == '"' || c == '\\' {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|u| json += &format!("\\u{u:04x}"));
            } else {
                json.push(c);
            }
        }
        (text, json + "\"")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_way_out_gives_the_same_text((text, json) in json(), (other, other_json) in json()) {
        let expected: String = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&expected, &text);
        with_text(&json, |found| {
            assert_eq!(found, text.as_str());
            assert_eq!(text.as_str(), found);
            assert_eq!(found.to_string(), text);
            assert_eq!(found.chars().collect::<String>(), text);
            assert_eq!(found.len(), text.len());
            assert_eq!(found.is_empty(), text.is_empty());
            assert_eq!(found.as_str().is_some(), !json.contains('\\'));
            assert!(found.as_str().is_none_or(|plain| plain == text));
            let mut buffer = vec![0; text.len()];
            assert_eq!(found.decode_into(&mut buffer).unwrap(), text);
            if let Some(short) = text.len().checked_sub(1) {
                let error = found.decode_into(&mut vec![0; short]).unwrap_err();
                assert_eq!((error.kind(), error.number()), (ErrorKind::BufferTooSmall, text.len() as u64));
            }
            with_text(&other_json, |other_found| {
                assert_eq!(found.cmp(&other_found), text.cmp(&other));
                assert_eq!(found == other_found, text == other);
            });
            let plain = serde_json::to_string(&text).unwrap();
            with_text(&plain, |plain| {
                assert_eq!(found, plain);
                assert_eq!(hash(found), hash(plain));
            });
        });
    }
}

#[test]
fn quoted_shows_what_would_mislead() {
    let quoted = |json: &str| with_text(json, |text| text.quoted().to_string());
    assert_eq!(quoted(r#""plain näme 🎨""#), "\"plain näme 🎨\"");
    assert_eq!(quoted(r#""a\"b\\c\/d""#), r#""a\"b\\c/d""#);
    assert_eq!(quoted(r#""\u0000\u001b[31m\u007f\u009b""#), r#""\u{0}\u{1b}[31m\u{7f}\u{9b}""#);
    assert_eq!(quoted(r#""\n\r\t\b""#), r#""\n\r\t\u{8}""#);
    assert_eq!(
        quoted("\"\u{202e}abc\u{2066}\u{200b}\u{feff}\""),
        r#""\u{202e}abc\u{2066}\u{200b}\u{feff}""#
    );
    assert_eq!(quoted("\"\u{e0041}\u{2028}\""), r#""\u{e0041}\u{2028}""#);
}
