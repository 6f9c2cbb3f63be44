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
/// Of a file only the header is read; a pipe is read to its end, to count the data. All files are
/// checked, and the exit code is that of the worst.
///
/// Valid files are listed on standard output, one a line. On standard error stands what is wrong
/// with the others, and the first ten warnings of each file: of what the format's description does
/// not admit though readers accept it. That is white space before the header's object or, if it is
/// not spaces, behind it; null as __metadata__; unknown fields; needless escapes in words of the
/// format; numbers over 2^48-1.
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

/// Further warnings of a file are only counted.
const WARNINGS: usize = 10;

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
