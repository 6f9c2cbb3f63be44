//! The text of `safetensors verify`.

use std::io::{self, Write};

use safetensors_core::host::HeaderFile;

use super::{Checked, WARNINGS};
use crate::numbers::{Count, Grouped, Size};
use crate::output::{Output, complain_bad, refuse, warn};
use crate::{input, shown};

pub(super) fn write(checked: &Checked<'_>, out: &mut Output) -> io::Result<()> {
    let name = shown::path(checked.path);
    if checked.recovered {
        writeln!(out, "{name}: put back what was there before a change in place")?;
    }
    match (&checked.result, &checked.recovery) {
        (Ok(file), None) => write_valid(&name, file, out)?,
        (Ok(_), Some(_)) => {}
        (Err(error), _) => {
            refuse(checked.path, error);
        }
    }
    if let Some(recovery) = &checked.recovery {
        let from = shown::path(recovery.path());
        let what = format!("--recover puts back what was there before, from {from}");
        complain_bad(&name, "a change in place was cut off", &what);
    }
    Ok(())
}

fn write_valid(name: &str, file: &HeaderFile, out: &mut Output) -> io::Result<()> {
    let index = file.index();
    let size = Size(index.header().data_start() + index.data_len());
    let good = out.palette.good;
    let checksum = if input::has_checksum(file) { ", checksum right" } else { "" };
    writeln!(out, "{name}: {good}ok{good:#}, {}, {size}{checksum}", Count(index.len(), "tensor"))?;
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
