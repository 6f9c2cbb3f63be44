//! The command from end to end: what it prints, where, and with which exit code.
#![cfg(feature = "cli")]

mod checksum;
mod embed;
mod hostile;
mod inspect;
mod metadata;
mod repack;
mod streams;
mod verify;

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The command with a plain environment, in which nothing asks for colours.
fn safetensors() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_safetensors"));
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// Exit code, standard output, standard error.
type Outcome = (i32, String, String);

fn outcome(output: Output) -> Outcome {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

fn owned((code, stdout, stderr): (i32, &str, &str)) -> Outcome {
    (code, stdout.to_owned(), stderr.to_owned())
}

/// A folder of its own, in which the command runs: so its messages name files without a path.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.0.path().join(name.as_ref())
    }

    /// Writes a file: the length prefix, `header`, and as many bytes of data.
    fn write(&self, name: impl AsRef<OsStr>, header: &str, data_len: usize) -> &Self {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.resize(file.len() + data_len, 0);
        self.write_raw(name, &file)
    }

    fn write_raw(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> &Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    /// What is in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = safetensors();
        command.current_dir(self.0.path()).args(args);
        command
    }

    fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Outcome {
        outcome(self.command(args).output().unwrap())
    }
}
