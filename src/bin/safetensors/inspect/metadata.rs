//! The metadata, one pair a line.

use std::io::{self, Write};

use safetensors_core::Metadata;

use crate::numbers::Count;
use crate::output::Output;
use crate::shown;

/// Longer keys and values are cut.
const LIMIT: usize = 100;
/// Longer keys don't move the values of the others.
const KEY_WIDTH: usize = 32;

pub(super) fn write(metadata: &Metadata<'_>, out: &mut Output) -> io::Result<()> {
    let heading = out.palette.heading;
    writeln!(out, "{heading}metadata{heading:#}  {}", Count(metadata.len(), "key"))?;
    let width = metadata
        .iter()
        .map(|(key, _)| shown::text(key, LIMIT).chars().count())
        .filter(|width| *width <= KEY_WIDTH)
        .max()
        .unwrap_or(0);
    for (key, value) in metadata {
        writeln!(out, "  {:width$}  {}", shown::text(key, LIMIT), shown::text(value, LIMIT))?;
    }
    writeln!(out)
}
