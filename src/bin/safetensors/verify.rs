//! `safetensors verify`: whether files are valid.

mod json;
mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use safetensors_core::host::{HeaderFile, LoadError, Recovery};

use crate::output::{Outcome, Output};
use crate::{input, json as stream};

/// Checks files by every rule of the format.
///
/// Of a file only the header is read, and all of it if it has a checksum (see metadata --checksum); a
/// pipe is read to its end, to count the data. All files are checked, and the exit code is that of the
/// worst.
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

    /// Also refuse files without a checksum
    #[arg(long)]
    checksum: bool,

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
        let checked = Checked::new(args, path);
        if args.json {
            stream::write_line(out, &json::Report::new(&checked))?;
        } else {
            text::write(&checked, out)?;
        }
        // Whoever waits for the first files, which may be large pipes, sees them.
        out.flush()?;
        worst = worst.max(checked.outcome());
    }
    Ok(worst)
}

/// What is known of a file.
struct Checked<'a> {
    path: &'a Path,
    /// Whether a change in place was undone.
    recovered: bool,
    /// The recovery file that is there now.
    recovery: Option<Recovery>,
    result: Result<HeaderFile, LoadError>,
}

impl<'a> Checked<'a> {
    fn new(args: &Args, path: &'a Path) -> Self {
        let restored = recovery(path).filter(|_| args.recover).map(Recovery::restore);
        let recovered = matches!(restored, Some(Ok(())));
        let result = match restored {
            Some(Err(error)) => {
                Err(io::Error::other(format!("it can't be recovered: {error}")).into())
            }
            _ if args.checksum => input::checked(path).and_then(HeaderFile::require_checksum),
            _ => input::checked(path),
        };
        Self { path, recovered, recovery: recovery(path), result }
    }

    fn outcome(&self) -> Outcome {
        match self.result {
            Ok(_) if self.recovery.is_none() => Outcome::Fine,
            Ok(_) | Err(LoadError::Invalid(_)) => Outcome::Invalid,
            Err(_) => Outcome::Unreadable,
        }
    }
}

/// The recovery file beside a file, if one can be seen.
fn recovery(path: &Path) -> Option<Recovery> {
    if input::is_stdin(path) { None } else { Recovery::find(path).ok().flatten() }
}
