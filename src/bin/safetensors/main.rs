//! The command `safetensors`: what is in a file, whether it is valid, and how to change it.
#![forbid(unsafe_code)]

mod embed;
mod input;
mod inspect;
mod interrupt;
mod json;
mod metadata;
mod numbers;
mod output;
mod pairs;
mod repack;
mod shown;
mod verify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::Outcome;

/// Looks into safetensors files, checks them, and changes them.
///
/// Only the header of a file is read, and data is copied by the operating system, so the size of the
/// model hardly matters.
#[derive(Parser)]
#[command(name = "safetensors", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 a file is not valid, or has not what was asked for, 2 wrong usage, or a file
can't be read or written.
Colours are for terminals only; NO_COLOR=1 turns them off.";

#[derive(Subcommand)]
enum Command {
    Embed(embed::Args),
    Inspect(inspect::Args),
    Metadata(metadata::Args),
    Repack(repack::Args),
    Verify(verify::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut out = output::stdout();
    let outcome = match &cli.command {
        Command::Embed(args) => embed::run(args, &mut out),
        Command::Inspect(args) => inspect::run(args, &mut out),
        Command::Metadata(args) => metadata::run(args, &mut out),
        Command::Repack(args) => repack::run(args, &mut out),
        Command::Verify(args) => verify::run(args, &mut out),
    };
    match outcome.and_then(|outcome| out.flush().map(|()| outcome)) {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            output::complain(format_args!("safetensors: cannot write: {error}"));
            Outcome::Unreadable.into()
        }
    }
}

/// Prints help where it was asked for, and what is wrong with the arguments where they are.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // That nobody reads the help is no failure.
        let _ = error.print();
        return Outcome::Fine.into();
    }
    // It quotes the arguments, which may be names of files that somebody else chose.
    let message = shown::without_controls(&error.render().to_string());
    let _ = io::stderr().write_all(message.as_bytes());
    Outcome::Unreadable.into()
}
