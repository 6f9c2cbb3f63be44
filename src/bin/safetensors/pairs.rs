//! The pairs of metadata, one a line.

use std::io::{self, Write};

use safetensors_core::Metadata;

use crate::output::Output;
use crate::shown;

/// Longer keys don't move the values of the others.
const KEY_WIDTH: usize = 32;

/// Keys and values that are longer than `limit` are cut.
pub(crate) fn write(
    metadata: &Metadata<'_>,
    indent: &str,
    limit: usize,
    out: &mut Output,
) -> io::Result<()> {
    let width = metadata
        .iter()
        .map(|(key, _)| shown::text(key, limit).chars().count())
        .filter(|width| *width <= KEY_WIDTH)
        .max()
        .unwrap_or(0);
    for (key, value) in metadata {
        let (key, value) = (shown::text(key, limit), shown::text(value, limit));
        writeln!(out, "{indent}{key:width$}  {value}")?;
    }
    Ok(())
}
