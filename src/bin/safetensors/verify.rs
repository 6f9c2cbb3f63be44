//! `safetensors verify`: whether files are valid.

mod json;
mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use safetensors_core::host::{LoadError, Recovery};

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
///
/// A file beside which a recovery file stands counts as not valid, whatever is in it: a change in place
/// was cut off.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files; - for standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Put back what stood in a file before a change in place that was cut off, from the recovery file
    /// beside it, before the file is checked
    #[arg(long)]
    recover: bool,

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
        let result = recover(args, path).and_then(|()| input::header_and_length(path));
        let recovery = recovery(path);
        if args.json {
            stream::write_line(out, &json::Report::new(path, &result, recovery.as_ref()))?;
        } else {
            text::write(path, &result, recovery.as_ref(), out)?;
        }
        // Whoever waits for the first files, which may be large pipes, sees them.
        out.flush()?;
        worst = worst.max(match result {
            Ok(_) if recovery.is_none() => Outcome::Fine,
            Ok(_) | Err(LoadError::Invalid(_)) => Outcome::Invalid,
            Err(_) => Outcome::Unreadable,
        });
    }
    Ok(worst)
}

fn recover(args: &Args, path: &Path) -> Result<(), LoadError> {
    match recovery(path) {
        Some(recovery) if args.recover => recovery.restore(),
        _ => Ok(()),
    }
}

/// The recovery file beside a file, if one can be seen.
fn recovery(path: &Path) -> Option<Recovery> {
    if input::is_stdin(path) { None } else { Recovery::find(path).ok().flatten() }
}
