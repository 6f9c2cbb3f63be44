//! Strings of the header: unescaped as serde_json does it, compared and shown.

mod common;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use common::file;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
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

/// A character in JSON: as it is where that is possible, its short escape, or four digits for each
/// half, in lower or upper case.
fn spell(c: char, spelling: u8) -> String {
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter();
    let short = |letter: &str| format!("\\{letter}");
    match (c, spelling) {
        (_, 3) => units.map(|unit| format!("\\u{unit:04x}")).collect(),
        (_, 4) => units.map(|unit| format!("\\u{unit:04X}")).collect(),
        ('"', _) => short("\""),
        ('\\', _) => short("\\"),
        ('\u{8}', _) => short("b"),
        ('\u{c}', _) => short("f"),
        ('\n', _) => short("n"),
        ('\r', _) => short("r"),
        ('\t', _) => short("t"),
        ('/', 0) => short("/"),
        ('\0'..='\x1f', _) => units.map(|unit| format!("\\u{unit:04x}")).collect(),
        _ => c.to_string(),
    }
}

/// A text and two spellings of it in JSON, of which the first is mostly plain. Some texts are
/// short and of few letters, so that two of them are often equal or one begins the other.
fn text() -> impl Strategy<Value = (String, String, String)> {
    let c = prop_oneof![
        any::<char>(),
        proptest::char::range('\0', '\u{ff}'),
        proptest::char::range('\u{1f600}', '\u{1f640}'),
        prop::sample::select(vec!['"', '\\', '/', '\u{8}', '\u{c}', '\n', '\r', '\t', 'u', 'n']),
    ];
    let few = prop::sample::select(vec!['a', 'b', '\\', 'é', '😀']);
    let spelled = |c| (c, 0_u8..5, 0_u8..2);
    let chars = prop_oneof![
        prop::collection::vec(spelled(c.boxed()), 0..40),
        prop::collection::vec(spelled(few.boxed()), 0..4),
    ];
    chars.prop_map(|chars| {
        let text = chars.iter().map(|(c, ..)| *c).collect();
        let mixed: String = chars.iter().map(|(c, spelling, _)| spell(*c, *spelling)).collect();
        let plain: String = chars.iter().map(|(c, _, spelling)| spell(*c, *spelling)).collect();
        (text, format!("\"{plain}\""), format!("\"{mixed}\""))
    })
}

/// Compares all that a text can be asked with the text that it must be.
fn check(found: Text<'_>, json: &str, text: &str) {
    assert_eq!(found.raw(), &json.as_bytes()[1..json.len() - 1]);
    assert_eq!(found.as_str(), (!json.contains('\\')).then_some(text));
    assert_eq!(found.to_string(), text);
    assert_eq!(found.chars().collect::<String>(), text);
    assert_eq!(found.len(), text.len());
    assert_eq!(found.is_empty(), text.is_empty());
    assert_eq!(found, text);
    assert_eq!(text, found);
    assert!(found.is(text));
    assert!(!found.is(&format!("{text}x")));
    // What a caller gives is taken as it is, not unescaped.
    let raw = std::str::from_utf8(found.raw()).unwrap();
    assert_eq!(found.is(raw), raw == text);
    assert_eq!(format!("{found:?}"), found.quoted().to_string());
    assert_eq!(unquoted(&found.quoted().to_string()), text);
}

fn check_decode_into(found: Text<'_>, text: &str) {
    let mut exact = vec![0; text.len()];
    assert_eq!(found.decode_into(&mut exact).unwrap(), text);
    // What is left of a larger buffer stays as it was.
    let mut larger = vec![0xaa; text.len() + 5];
    assert_eq!(found.decode_into(&mut larger).unwrap(), text);
    assert_eq!(larger[text.len()..], [0xaa; 5]);
    for short in [0, text.len().saturating_sub(1)] {
        if short < text.len() {
            let error = found.decode_into(&mut vec![0; short]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BufferTooSmall);
            assert_eq!(error.number(), text.len() as u64);
        }
    }
}

/// Undoes [`Text::quoted`]; nothing in it may be a control character.
fn unquoted(quoted: &str) -> String {
    assert!(!quoted.chars().any(char::is_control), "{quoted:?}");
    let mut rest = quoted.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
    let mut text = String::new();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        assert_ne!(c, '"');
        if c != '\\' {
            text.push(c);
            continue;
        }
        let (escape, behind) = rest.split_at(1);
        rest = behind;
        text.push(match escape {
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "u" => {
                let (digits, behind) = rest.strip_prefix('{').unwrap().split_once('}').unwrap();
                rest = behind;
                char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap()
            }
            "\"" | "\\" => escape.chars().next().unwrap(),
            other => panic!("{other}"),
        });
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_way_out_gives_the_same_text((text, plain, mixed) in text()) {
        for json in [&plain, &mixed] {
            let expected: String = serde_json::from_str(json).unwrap();
            prop_assert_eq!(&expected, &text);
            with_text(json, |found| {
                check(found, json, &text);
                check_decode_into(found, &text);
            });
        }
    }

    #[test]
    fn spelling_does_not_matter((text, plain, mixed) in text(), (other, other_json, _) in text()) {
        with_text(&plain, |plain| {
            with_text(&mixed, |mixed| {
                assert_eq!(plain, mixed);
                assert!(plain.cmp(&mixed).is_eq());
                assert_eq!(hash(plain), hash(mixed));
            });
            with_text(&other_json, |other_found| {
                assert_eq!(plain.cmp(&other_found), text.cmp(&other));
                assert_eq!(plain.partial_cmp(&other_found), text.partial_cmp(&other));
                assert_eq!(plain == other_found, text == other);
            });
        });
    }
}

#[test]
fn quoted_shows_what_would_mislead() {
    let quoted = |json: &str| with_text(json, |text| text.quoted().to_string());
    assert_eq!(quoted(r#""plain näme 🎨""#), "\"plain näme 🎨\"");
    assert_eq!(quoted(r#""a\"b\\c\/d'""#), r#""a\"b\\c/d'""#);
    // Controls, of both sets.
    assert_eq!(quoted(r#""\u0000\u001b[31m\u007f\u009b""#), r#""\u{0}\u{1b}[31m\u{7f}\u{9b}""#);
    assert_eq!(quoted(r#""\n\r\t\b""#), r#""\n\r\t\u{8}""#);
    // What reorders its surroundings, and what can't be seen.
    assert_eq!(
        quoted("\"\u{202e}abc\u{2066}\u{200b}\u{feff}\""),
        r#""\u{202e}abc\u{2066}\u{200b}\u{feff}""#
    );
    assert_eq!(quoted("\"\u{e0041}\u{2028}\u{ad}\""), r#""\u{e0041}\u{2028}\u{ad}""#);
    // Of joined emoji the joiner can't be seen; what chooses their colour is harmless.
    assert_eq!(
        quoted("\"👨\u{200d}👩❤\u{fe0f}👍\u{1f3fd}\""),
        "\"👨\\u{200d}👩❤\u{fe0f}👍\u{1f3fd}\""
    );
    // Letters of a script that is written from right to left, and an accent by itself.
    assert_eq!(quoted("\"שלום e\u{301}\""), "\"שלום e\u{301}\"");
}

#[test]
fn every_character_in_every_spelling() {
    for spelling in 1..5 {
        for c in ('\0'..=char::MAX).step_by(if spelling < 3 { 1 } else { 7 }) {
            let json = format!("\"{}\"", spell(c, spelling));
            with_text(&json, |found| {
                assert!(found.chars().eq([c]) && found.len() == c.len_utf8());
                assert_eq!(unquoted(&found.quoted().to_string()), c.to_string());
            });
        }
    }
}

/// A backslash in a `str` is just that.
#[test]
fn a_str_is_a_text() {
    for text in ["", "w", r"a\n\u0041\\", "\"é😀\u{1b}\"", r"\"] {
        let found = Text::from(text);
        assert_eq!(found, text);
        assert_eq!(found.as_str(), Some(text));
        assert_eq!((found.to_string(), found.len()), (text.to_owned(), text.len()));
        assert_eq!(found.chars().collect::<String>(), text);
        assert_eq!(found.decode_into(&mut vec![0; text.len()]).unwrap(), text);
        assert_eq!(found.raw(), text.as_bytes());
    }
    assert_eq!(Text::from("a\\\"\u{1b}[2J").quoted().to_string(), r#""a\\\"\u{1b}[2J""#);
}
