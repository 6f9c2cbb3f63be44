//! The text of `safetensors verify`.

use std::io::{self, Write};
use std::path::Path;

use safetensors_core::host::{HeaderFile, LoadError};

use super::WARNINGS;
use crate::numbers::{Count, Grouped, Size};
use crate::output::{Output, complain_bad, warn};
use crate::shown;

pub(super) fn write(
    path: &Path,
    result: &Result<HeaderFile, LoadError>,
    out: &mut Output,
) -> io::Result<()> {
    let name = shown::path(path);
    match result {
        Ok(file) => write_valid(&name, file, out),
        Err(error @ LoadError::Invalid(_)) => {
            complain_bad(&name, "invalid", error);
            Ok(())
        }
        Err(error) => {
            complain_bad(&name, "cannot be read", error);
            Ok(())
        }
    }
}

fn write_valid(name: &str, file: &HeaderFile, out: &mut Output) -> io::Result<()> {
    let index = file.index();
    let size = Size(index.header().data_start() + index.data_len());
    let good = out.palette.good;
    writeln!(out, "{name}: {good}ok{good:#}, {}, {size}", Count(index.len(), "tensor"))?;
    // Standard error comes next.
    out.flush()?;
    let mut deviations = index.header().deviations();
    for deviation in deviations.by_ref().take(WARNINGS) {
        warn(name, &deviation);
    }
    match deviations.count() {
        0 => {}
        more => warn(name, &format_args!("and {} more", Grouped(more as u128))),
    }
    Ok(())
}
