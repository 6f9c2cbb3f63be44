//! Faults of files that can be mended without a guess.

use core::fmt;
use std::collections::HashSet;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::{Entry, Header, Index, PREFIX_LEN, Text};

/// What was mended in a file that is [repacked](super::Repack).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mend {
    /// The header was padded with NUL bytes, so many; they are spaces now.
    NulPadding(u64),
    /// A metadata key was given more than once. The last value is kept, as the reference does.
    DuplicateKey(String),
    /// Bytes before a tensor belonged to none; they are left out.
    Gap {
        /// The tensor behind them.
        tensor: String,
        /// How many they are.
        bytes: u64,
    },
    /// Bytes behind the last tensor belonged to none; they are left out.
    TrailingBytes(u64),
    /// The checksum is left out: the file is no longer the one of which it was made.
    Checksum,
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |bytes: &u64| if *bytes == 1 { "" } else { "s" };
        let quoted = |text: &str| Text::from(text).quoted().to_string();
        match self {
            Self::NulPadding(bytes) => {
                write!(f, "{bytes} NUL byte{} behind the header made spaces", s(bytes))
            }
            Self::DuplicateKey(key) => {
                write!(f, "metadata {} was given more than once, the last value kept", quoted(key))
            }
            Self::Gap { tensor, bytes } => {
                let tensor = quoted(tensor);
                write!(f, "gap of {bytes} byte{} before tensor {tensor} left out", s(bytes))
            }
            Self::TrailingBytes(bytes) => {
                write!(f, "{bytes} byte{} behind the last tensor left out", s(bytes))
            }
            Self::Checksum => f.write_str("checksum left out, as the file was changed"),
        }
    }
}

/// Makes spaces of the NUL bytes behind the header's JSON.
pub(super) fn nul_padding(head: &mut [u8], mended: &mut Vec<Mend>) {
    let json = head.get_mut(PREFIX_LEN..).unwrap_or_default();
    let padding = json
        .iter()
        .rposition(|byte| !b"\0 \t\r\n".contains(byte))
        .map_or(0, |at| at.saturating_add(1));
    let mut bytes: u64 = 0;
    for byte in json.get_mut(padding..).unwrap_or_default() {
        if *byte == 0 {
            *byte = b' ';
            bytes = bytes.saturating_add(1);
        }
    }
    if bytes > 0 {
        mended.push(Mend::NulPadding(bytes));
    }
}

/// Makes spaces of metadata whose key comes again.
pub(super) fn duplicate_keys(head: &mut [u8], mended: &mut Vec<Mend>) {
    let mut doomed = Vec::new();
    if let Ok(header) = Header::read(head) {
        let metadata = header.entries().find_map(|entry| match entry {
            Ok(Entry::Metadata(metadata)) => metadata,
            _ => None,
        });
        let places: Vec<_> =
            metadata.map(|metadata| metadata.places().collect()).unwrap_or_default();
        let mut seen = HashSet::new();
        let mut behind = None;
        for (start, key) in places.into_iter().rev() {
            // With its comma, as another pair comes behind it.
            if !seen.insert(key)
                && let Some(end) = behind
            {
                doomed.push((start..end, key.to_string()));
            }
            behind = Some(start);
        }
    }
    let mut told = HashSet::new();
    for (range, key) in doomed.into_iter().rev() {
        head.get_mut(range).unwrap_or_default().fill(b' ');
        if told.insert(key.clone()) {
            mended.push(Mend::DuplicateKey(key));
        }
    }
}

/// Finds the bytes between tensors that belong to none.
pub(super) fn gaps(index: Index<'_, '_>, mended: &mut Vec<Mend>) {
    let mut end = 0;
    for tensor in index.iter_by_offset() {
        let (begin, next) = tensor.data_offsets();
        let bytes = begin.saturating_sub(end);
        if bytes > 0 {
            mended.push(Mend::Gap { tensor: tensor.name().to_string(), bytes });
        }
        end = next;
    }
}
