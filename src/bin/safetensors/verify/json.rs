//! The JSON form of `safetensors verify`.

use std::borrow::Cow;

use safetensors_core::host::{HeaderFile, Invalid, LoadError};
use safetensors_core::{Deviation, Deviations, Text};
use serde::{Serialize, Serializer};

use super::{Checked, WARNINGS};
use crate::{input, json};

#[derive(Serialize)]
pub(super) struct Report<'a> {
    file: Cow<'a, str>,
    /// Null if the file could not be read.
    valid: Option<bool>,
    error: Option<Problem<'a>>,
    #[serde(serialize_with = "warnings")]
    warnings: Option<Deviations<'a>>,
    warning_count: usize,
    tensors: Option<usize>,
    header_len: Option<usize>,
    data_len: Option<u64>,
    /// Whether the bytes were compared with a checksum.
    #[serde(skip_serializing_if = "is_false")]
    checksum: bool,
    /// Whether a change in place was undone.
    #[serde(skip_serializing_if = "is_false")]
    recovered: bool,
    /// The file with which a change in place that was cut off can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<Cow<'a, str>>,
}

impl<'a> Report<'a> {
    pub(super) fn new(checked: &'a Checked<'a>) -> Self {
        let Checked { path, recovered, recovery, result } = checked;
        let index = result.as_ref().ok().map(HeaderFile::index);
        let warnings = index.map(|index| index.header().deviations());
        Self {
            file: path.to_string_lossy(),
            valid: match result {
                Ok(_) if recovery.is_none() => Some(true),
                Ok(_) | Err(LoadError::Invalid(_)) => Some(false),
                Err(_) => None,
            },
            error: result.as_ref().err().map(Problem::new),
            warnings,
            warning_count: warnings.map_or(0, Iterator::count),
            tensors: index.map(|index| index.len()),
            header_len: index.map(|index| index.header().json().len()),
            data_len: index.map(|index| index.data_len()),
            checksum: result.as_ref().is_ok_and(input::has_checksum),
            recovered: *recovered,
            recovery: recovery.as_ref().map(|recovery| recovery.path().to_string_lossy()),
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn warnings<S: Serializer>(
    deviations: &Option<Deviations<'_>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(deviations.iter().copied().flatten().take(WARNINGS).map(Problem::of))
}

/// An error or a warning.
#[derive(Serialize)]
struct Problem<'a> {
    kind: String,
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(serialize_with = "json::optional_text")]
    tensor: Option<Text<'a>>,
    message: String,
}

impl<'a> Problem<'a> {
    fn new(error: &'a LoadError) -> Self {
        let invalid = match error {
            LoadError::Invalid(invalid) => Some(invalid),
            _ => None,
        };
        Self {
            kind: invalid.map_or("Io".into(), |invalid| format!("{:?}", invalid.error().kind())),
            offset: invalid.map(|invalid| invalid.error().offset()),
            number: invalid.map(|invalid| invalid.error().number()),
            tensor: invalid.and_then(Invalid::tensor),
            message: error.to_string(),
        }
    }

    fn of(deviation: Deviation<'a>) -> Self {
        Self {
            kind: format!("{:?}", deviation.kind()),
            offset: Some(deviation.offset()),
            number: None,
            tensor: deviation.tensor(),
            message: deviation.to_string(),
        }
    }
}
