//! `safetensors repack`: writes a file anew.

use std::io::{self, Write};
use std::path::PathBuf;

use safetensors_core::host::{LoadError, Repack};
use safetensors_core::{DeviationKind, WriteOptions};

use crate::numbers::{Count, Grouped};
use crate::output::{self, Outcome, Output, complain_bad, warn};
use crate::{input, interrupt, shown};

/// Writes a file anew: in the order of the reference implementation, aligned, without gaps.
///
/// Names, dtypes, shapes, data and metadata are kept. OUT may be IN; whatever happens it is either the
/// old file or the whole new one. What was mended stands on standard error, one warning a line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file to read
    #[arg(value_name = "IN")]
    from: PathBuf,

    /// The file to write
    #[arg(value_name = "OUT")]
    to: PathBuf,

    /// Let the data begin at a multiple of so many bytes, 64 or 4096, say
    #[arg(long, value_name = "BYTES", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    align: u32,

    /// Also let each tensor begin at a multiple of so many bytes. Other readers refuse a file in which
    /// that leaves gaps
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    align_tensors: u32,

    /// Put at least so many spaces behind the header, for changes of the metadata in place
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    reserve: u32,

    /// Also read a file that readers refuse for NUL bytes behind the header, metadata keys given twice
    /// (the last value is kept), or bytes behind the last tensor
    #[arg(long)]
    repair: bool,
}

/// Further things that were mended are only counted.
const WARNINGS: usize = 10;

const EXAMPLES: &str = "\
Examples:
  safetensors repack model.safetensors aligned.safetensors --align 4096
  safetensors repack broken.safetensors mended.safetensors --repair";

pub(crate) fn run(args: &Args, out: &mut Output) -> io::Result<Outcome> {
    for path in [&args.from, &args.to] {
        if input::is_stdin(path) {
            complain_bad("-", "no file", &"what is repacked is read and written in no order");
            return Ok(Outcome::Unreadable);
        }
    }
    interrupt::clean_up();
    let open = if args.repair { Repack::open_repairing } else { Repack::open };
    let repack = match open(&args.from) {
        Ok(repack) => repack,
        Err(error) => return Ok(refuse(args, &error)),
    };
    let from = shown::path(&args.from);
    for mend in repack.mended().iter().take(WARNINGS) {
        warn(&from, mend);
    }
    match repack.mended().len().saturating_sub(WARNINGS) {
        0 => {}
        more => warn(&from, &format_args!("and {} more", Grouped(more as u128))),
    }
    let dropped = repack.index().header().deviations();
    let dropped =
        dropped.filter(|deviation| deviation.kind() == DeviationKind::UnknownField).count();
    if dropped > 0 {
        warn(&from, &format_args!("{} left out", Count(dropped, "unknown field")));
    }
    let tensors = repack.index().len();
    let options = WriteOptions::new()
        .align(args.align)
        .align_tensors(args.align_tensors)
        .reserve(args.reserve);
    let saved = repack.save(&args.to, &options);
    let to = shown::path(&args.to);
    match saved {
        Ok(file_len) => {
            writeln!(
                out,
                "{to}: {}, {} bytes",
                Count(tensors, "tensor"),
                Grouped(file_len.into())
            )?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            complain_bad(&to, "not written", &error);
            Ok(output::outcome(&error))
        }
    }
}

/// Says what is wrong, and whether that can be mended.
fn refuse(args: &Args, error: &LoadError) -> Outcome {
    let outcome = output::refuse(&args.from, error);
    if !args.repair && Repack::open_repairing(&args.from).is_ok() {
        warn(&shown::path(&args.from), &"--repair can mend it");
    }
    outcome
}
