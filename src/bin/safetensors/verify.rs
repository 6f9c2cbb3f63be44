//! `safetensors verify`: whether files are valid.

mod json;
mod text;

use std::io::{self, Write};
use std::path::PathBuf;

use safetensors_core::host::LoadError;

use crate::output::{Outcome, Output};
use crate::{input, json as stream};

/// Checks files by every rule of the format.
///
/// Of a file only the header is read, and its length compared with that of the data; of a pipe
/// everything is read to count it. Valid files are listed on standard output, one a line; what is
/// wrong, and warnings of what the format's description does not admit though readers accept it,
/// on standard error. All files are checked; the exit code is that of the worst.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files; - for standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Print one JSON object a line for each file, errors and warnings included, to standard output
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  safetensors verify model-*.safetensors
  safetensors verify --json *.safetensors | jq 'select(.valid | not)'
  zcat model.safetensors.gz | safetensors verify -";

pub(crate) fn run(args: &Args, out: &mut Output) -> io::Result<Outcome> {
    let mut worst = Outcome::Fine;
    for path in &args.files {
        let result = input::header_and_length(path);
        if args.json {
            stream::write_line(out, &json::Report::new(path, &result))?;
        } else {
            text::write(path, &result, out)?;
        }
        // Whoever waits for the first files, which may be large pipes, sees them.
        out.flush()?;
        worst = worst.max(match result {
            Ok(_) => Outcome::Fine,
            Err(LoadError::Invalid(_)) => Outcome::Invalid,
            Err(_) => Outcome::Unreadable,
        });
    }
    Ok(worst)
}
