//! The text of `safetensors verify`.

use std::io::{self, Write};
use std::path::Path;

use safetensors_core::host::{HeaderFile, LoadError, Recovery};

use super::WARNINGS;
use crate::numbers::{Count, Grouped, Size};
use crate::output::{Output, complain_bad, refuse, warn};
use crate::shown;

pub(super) fn write(
    path: &Path,
    result: &Result<HeaderFile, LoadError>,
    recovery: Option<&Recovery>,
    out: &mut Output,
) -> io::Result<()> {
    match result {
        Ok(file) => write_valid(&shown::path(path), file, out)?,
        Err(error) => {
            refuse(path, error);
        }
    }
    if let Some(recovery) = recovery {
        let from = shown::path(recovery.path());
        let what = format!("what was there before is in {from}; --recover puts it back");
        complain_bad(&shown::path(path), "a change in place was cut off", &what);
    }
    Ok(())
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
