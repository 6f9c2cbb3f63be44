//! The right answer for any bytes: the reference implementation's, but for the differences that
//! the compatibility page names, each recognised without the code under test.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Listing;

/// Why an answer differs from the reference's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Difference {
    /// Duplicate names of tensors, or duplicate metadata keys.
    V1,
    /// A description written as an array, or a dtype written as a map.
    V2,
    /// Numbers in unknown fields beyond the range of a float.
    V3,
}

/// The expected listing, `None` for a file to be refused, and the difference if there is one.
pub(crate) fn expect(bytes: &[u8]) -> (Option<Listing>, Option<Difference>) {
    let answer = reference(bytes);
    let header = header(bytes);
    match answer {
        Ok(listing) => {
            // Only what the reference accepts needs a look: a refusal stays one.
            let forms = serde_json::from_str::<Forms>(header.unwrap()).unwrap();
            if forms.array || forms.map {
                (None, Some(Difference::V2))
            } else if forms.twice {
                (None, Some(Difference::V1))
            } else {
                (Some(listing), None)
            }
        }
        Err(message) if message.contains("number out of range") => {
            let header = header.unwrap();
            let other = with_small_numbers(header);
            if other == header {
                // The words are those of an unknown dtype.
                return (None, None);
            }
            let data = &bytes[8 + header.len()..];
            match expect(&super::file(other, data)) {
                (Some(listing), _) => (Some(listing), Some(Difference::V3)),
                refused => refused,
            }
        }
        Err(_) => (None, None),
    }
}

/// The reference's answer, with its message when it refuses.
pub(crate) fn reference(bytes: &[u8]) -> Result<Listing, String> {
    let (len, metadata) =
        reference::SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    assert_eq!(len as u64, u64_at_start(bytes));
    let mut tensors: Vec<_> = metadata
        .tensors()
        .into_iter()
        .map(|(name, info)| {
            let shape = info.shape.iter().map(|dim| *dim as u64).collect();
            let (begin, end) = info.data_offsets;
            (name, info.dtype.to_string(), shape, begin as u64, end as u64)
        })
        .collect();
    tensors.sort();
    let metadata = metadata.metadata().as_ref().map(|map| map.clone().into_iter().collect());
    Ok(Listing { tensors, metadata })
}

fn u64_at_start(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |prefix| u64::from_le_bytes(*prefix))
}

fn header(bytes: &[u8]) -> Option<&str> {
    let end = usize::try_from(u64_at_start(bytes)).ok()?.checked_add(8)?;
    std::str::from_utf8(bytes.get(8..end)?).ok()
}

/// Replaces every legal number outside strings that a float can't hold by `0.0`, which stays wrong
/// where an integer is needed.
fn with_small_numbers(header: &str) -> String {
    let mut out = String::new();
    let mut rest = header;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => string_len(rest),
            '-' | '0'..='9' => rest
                .find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9'))
                .unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(len);
        let out_of_range = serde_json::from_str::<f64>(token)
            .is_err_and(|error| error.to_string().contains("number out of range"));
        out.push_str(if out_of_range && is_number(token) { "0.0" } else { token });
        rest = behind;
    }
    out
}

/// Whether JSON has such a number. A parser that gives up at `1e999` doesn't look at what follows.
fn is_number(token: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match token.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (token, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|text| is_digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

/// The length of the string at the start of `text`, quotes included.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return i + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// What the reference's data model hides: keys given twice, and values of another form.
#[derive(Default)]
struct Forms {
    twice: bool,
    array: bool,
    map: bool,
}

impl<'de> serde::Deserialize<'de> for Forms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut forms = Self::default();
        deserializer.deserialize_any(Look { forms: &mut forms, at: Place::Root })?;
        Ok(forms)
    }
}

#[derive(Clone, Copy)]
enum Place {
    Root,
    Metadata,
    Tensor,
    Dtype,
    Elsewhere,
}

struct Look<'a> {
    forms: &'a mut Forms,
    at: Place,
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.forms.map |= matches!(self.at, Place::Dtype);
        let mut keys = std::collections::HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let at = match (self.at, key.as_str()) {
                (Place::Root, "__metadata__") => Place::Metadata,
                (Place::Root, _) => Place::Tensor,
                (Place::Tensor, "dtype") => Place::Dtype,
                _ => Place::Elsewhere,
            };
            let twice = !keys.insert(key);
            self.forms.twice |= twice && matches!(self.at, Place::Root | Place::Metadata);
            map.next_value_seed(Look { forms: self.forms, at })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.forms.array |= matches!(self.at, Place::Tensor);
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
