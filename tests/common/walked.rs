//! The entries of a header taken one by one, and what follows from them for all other entry
//! points: which error each of them must give, with how many slots, and when none.

use std::collections::HashSet;

use safetensors_core::{Entry, Error, ErrorKind, Header, Metadata, TensorInfo};

use super::{Listing, Row};

/// A header, walked.
pub(super) struct Walked {
    /// In header order.
    pub(super) tensors: Vec<Row>,
    /// In header order, keys given twice included.
    pairs: Option<Vec<(String, String)>>,
    tensors_before_metadata: usize,
    /// Of the first entry that is at fault by itself.
    pub(super) error: Option<Error>,
}

/// What an entry point must say.
pub(super) enum Expected {
    Accept,
    /// Exactly this error.
    Error(Error),
    /// An error of this kind with this number, where it is determined.
    Kind(ErrorKind, Option<u64>),
}

impl Walked {
    /// Takes the entries, with a new start at every one of them.
    pub(super) fn of(header: Header<'_>) -> Self {
        let mut walked =
            Self { tensors: Vec::new(), pairs: None, tensors_before_metadata: 0, error: None };
        let mut entries = header.entries();
        assert!(entries.position().is_none());
        while let Some(entry) = entries.next() {
            match entry {
                Ok(Entry::Tensor(info)) => walked.tensors.push(row(&info)),
                Ok(Entry::Metadata(metadata)) => {
                    walked.pairs = metadata.map(pairs);
                    walked.tensors_before_metadata = walked.tensors.len();
                }
                Err(error) => {
                    walked.error = Some(error);
                    assert!(entries.position().is_none());
                    assert!(entries.next().is_none());
                }
            }
            if let Some(position) = entries.position() {
                entries = header.entries_from(position);
            }
        }
        assert!(entries.position().is_none());
        walked
    }

    /// What it holds, if nothing is given twice.
    pub(super) fn listing(&self) -> Listing {
        let mut tensors = self.tensors.clone();
        tensors.sort();
        let metadata = self.pairs.as_ref().map(|pairs| pairs.iter().cloned().collect());
        Listing { tensors, metadata }
    }

    pub(super) fn keys(&self) -> usize {
        self.pairs.as_ref().map_or(0, Vec::len)
    }

    pub(super) fn slots_needed(&self) -> usize {
        self.tensors.len().max(self.keys())
    }

    /// Where the last tensor ends.
    pub(super) fn data_len(&self) -> u64 {
        self.tensors.iter().map(|(.., end)| *end).max().unwrap_or(0)
    }

    /// Whether each tensor begins where the one before it in the header ends.
    pub(super) fn in_offset_order(&self) -> bool {
        let ends = self.tensors.iter().map(|(.., end)| *end);
        self.tensors.iter().zip([0].into_iter().chain(ends)).all(|(row, end)| row.3 == end)
    }

    /// What a parse must say that is given so many slots, and as much data if there is any.
    pub(super) fn with_slots(&self, slots: usize, data_len: Option<u64>) -> Expected {
        let keys = self.pairs.iter().flatten().map(|(key, _)| key.as_str());
        let key_twice = Expected::Kind(ErrorKind::DuplicateKey, None);
        let is_key_twice = any_twice(keys);
        // Keys are compared on the way if they fit behind the tensors that come before them.
        if is_key_twice && self.keys() <= slots.saturating_sub(self.tensors_before_metadata) {
            return key_twice;
        }
        if let Some(error) = self.error {
            return Expected::Error(error);
        }
        let needed = self.slots_needed();
        if slots < needed {
            return Expected::Kind(ErrorKind::TooFewSlots, Some(needed as u64));
        }
        if is_key_twice {
            return key_twice;
        }
        if let Some(expected) = self.layout() {
            return expected;
        }
        if any_twice(self.tensors.iter().map(|(name, ..)| name.as_str())) {
            return Expected::Kind(ErrorKind::DuplicateName, None);
        }
        match data_len {
            Some(len) => self.with_data(len),
            None => Expected::Accept,
        }
    }

    /// The first tensor out of place, in offset order.
    fn layout(&self) -> Option<Expected> {
        let mut ranges: Vec<_> =
            self.tensors.iter().map(|(.., begin, end)| (*begin, *end)).collect();
        ranges.sort_unstable();
        let mut last = 0;
        for (begin, end) in ranges {
            if begin < last {
                return Some(Expected::Kind(ErrorKind::Overlap, None));
            }
            if begin > last {
                return Some(Expected::Kind(ErrorKind::Gap, Some(begin - last)));
            }
            last = end;
        }
        None
    }

    /// What follows from the length of the data section alone.
    pub(super) fn with_data(&self, len: u64) -> Expected {
        let end = self.data_len();
        if len < end {
            Expected::Kind(ErrorKind::DataTruncated, Some(end - len))
        } else if len > end {
            Expected::Kind(ErrorKind::TrailingBytes, Some(len - end))
        } else {
            Expected::Accept
        }
    }
}

impl Expected {
    /// Compares with what an entry point said of `bytes`.
    pub(super) fn check<T>(&self, bytes: &[u8], result: Result<T, Error>) -> Result<T, Error> {
        match (self, &result) {
            (Self::Accept, Ok(_)) => {}
            (Self::Error(expected), Err(error)) => assert_eq!(error, expected),
            (Self::Kind(kind, number), Err(error)) => {
                assert_eq!(error.kind(), *kind);
                assert!(number.is_none_or(|number| error.number() == number), "{error:?}");
                check_place(bytes, error);
            }
            (Self::Accept, Err(error)) => panic!("{error:?} instead of no error"),
            (Self::Error(expected), Ok(_)) => panic!("no error instead of {expected:?}"),
            (Self::Kind(expected, _), Ok(_)) => panic!("no error instead of {expected:?}"),
        }
        result
    }
}

/// Checks the place of an error that is about the whole.
fn check_place(bytes: &[u8], error: &Error) {
    let (offset, len) = (error.offset(), bytes.len() as u64);
    match error.kind() {
        ErrorKind::TooFewSlots => assert_eq!(offset, 0),
        ErrorKind::DuplicateKey | ErrorKind::DuplicateName => {
            // At the later of the two, the number being the earlier.
            assert!(error.number() < offset);
            assert_eq!(string_at(bytes, offset), string_at(bytes, error.number()));
        }
        ErrorKind::Gap | ErrorKind::Overlap => assert_eq!(bytes[offset as usize], b'['),
        // At the end of the shorter of the two.
        ErrorKind::DataTruncated => assert_eq!(offset, len),
        ErrorKind::TrailingBytes => assert_eq!(offset + error.number(), len),
        other => panic!("{other:?}"),
    }
}

/// The string whose first character stands at `at`.
fn string_at(bytes: &[u8], at: u64) -> String {
    let rest = &bytes[at as usize - 1..];
    serde_json::Deserializer::from_slice(rest).into_iter().next().unwrap().unwrap()
}

fn any_twice<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> bool {
    // Most headers have one tensor or none.
    if texts.clone().nth(1).is_none() {
        return false;
    }
    let mut seen = HashSet::new();
    !texts.into_iter().all(|text| seen.insert(text))
}

/// The pairs of the metadata, which a look-up finds as well: the first one of each key.
pub(super) fn pairs(metadata: Metadata<'_>) -> Vec<(String, String)> {
    let pairs: Vec<_> =
        metadata.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    assert_eq!(pairs.len(), metadata.len());
    assert_eq!(pairs.is_empty(), metadata.is_empty());
    for (key, _) in &pairs {
        let (_, first) = pairs.iter().find(|(other, _)| other == key).unwrap();
        assert_eq!(metadata.value(key).unwrap(), first.as_str());
    }
    assert!(metadata.value("no such key").is_none());
    pairs
}

/// What is known of a tensor, asked for in every way.
pub(super) fn row(info: &TensorInfo<'_>) -> Row {
    let shape: Vec<u64> = info.shape().iter().collect();
    assert_eq!(info.shape().rank(), shape.len());
    assert_eq!(info.shape().element_count(), shape.iter().product::<u64>());
    // The first few: each walks the shape again.
    for (axis, dim) in shape.iter().enumerate().take(8) {
        assert_eq!(info.shape().dim(axis), Some(*dim));
    }
    assert_eq!(info.shape().dim(shape.len()), None);
    let (begin, end) = info.data_offsets();
    assert_eq!(info.data_len(), end - begin);
    (info.name().to_string(), info.dtype().name().to_owned(), shape, begin, end)
}
