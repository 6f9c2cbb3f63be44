//! `safetensors inspect`: what is in a file.

mod json;
mod table;
mod totals;

use std::io::{self, Write};
use std::path::PathBuf;

use safetensors_core::host::HeaderFile;

use crate::numbers::{Count, Grouped, Size};
use crate::output::{self, Outcome, Output};
use crate::{input, json as stream, pairs};

/// Longer metadata is cut.
const LIMIT: usize = 100;

/// Shows the tensors and the metadata of a file.
///
/// Only the header is read. Names and values are shown as they are; one with control or invisible
/// characters stands in quotes, with these escaped, and one that is very long is cut.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file; - for standard input, of which only the header is read: whether the data is
    /// complete is not checked there, nor in a pipe
    file: PathBuf,

    /// Print one JSON object: exact numbers, nothing cut, tensors in the order of the header
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  safetensors inspect model.safetensors
  safetensors inspect --json model.safetensors | jq '.tensors[].name'
  curl -sL https://example.com/model.safetensors | safetensors inspect -";

pub(crate) fn run(args: &Args, out: &mut Output) -> io::Result<Outcome> {
    let file = match input::header(&args.file) {
        Ok(file) => file,
        Err(error) => return Ok(output::refuse(&args.file, &error)),
    };
    if args.json {
        stream::write_line(out, &json::Document::new(&file.index()))?;
    } else {
        write_text(&file, out)?;
    }
    Ok(Outcome::Fine)
}

fn write_text(file: &HeaderFile, out: &mut Output) -> io::Result<()> {
    let index = file.index();
    table::write(&index, out)?;
    if let Some(metadata) = index.metadata() {
        let heading = out.palette.heading;
        writeln!(out, "{heading}metadata{heading:#}  {}", Count(metadata.len(), "key"))?;
        pairs::write(&metadata, "  ", LIMIT, out)?;
        writeln!(out)?;
    }
    totals::write(&index, out)?;
    let header_len = index.header().json().len() as u64;
    writeln!(out, "header  {}", exact(header_len))?;
    let file_len = exact(index.header().data_start() + index.data_len());
    match file.file_len() {
        Some(_) => writeln!(out, "file    {file_len}"),
        None => writeln!(out, "file    {file_len} if complete; only the header was read"),
    }
}

fn exact(bytes: u64) -> String {
    let exact = format!("{} bytes", Grouped(bytes.into()));
    if bytes < 10_000 { exact } else { format!("{exact} ({})", Size(bytes)) }
}
