//! `safetensors embed`: a model as source code.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use safetensors_core::host::{Embed, NewFile, identifier};
use serde::Serialize;

use crate::numbers::Count;
use crate::output::{self, Outcome, Output, complain_bad, warn};
use crate::{input, interrupt, json, shown};

/// Writes a model as source code, for programs that want no parser at all.
///
/// In C that is a header and a source file, for C99 and later and C++11 and later, with one array for each
/// tensor: digits.safetensors with fc1.weight, F32 [32, 64], becomes
///
///     extern const float digits_fc1_weight[32][64];
///
/// with digits_fc1_weight_LEN and the like beside it, aligned, sizes asserted. Floats of 16 bits and fewer
/// are their codes. The metadata becomes strings. In Rust it is a module that needs nothing but core.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file to read
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to write, without .h, .c or .rs; by default the name of FILE without its ending, in the current
    /// folder
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,

    /// The language
    #[arg(long, value_enum, default_value_t = Language::C)]
    lang: Language,

    /// What all names begin with in C; by default the name of FILE without its ending
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,

    /// Let the data of each tensor begin at a multiple of so many bytes, a power of two
    #[arg(long, value_name = "BYTES", default_value_t = 16, value_parser = power_of_two)]
    align: u32,

    /// Put the data into this section, for which a linker script can have a place
    #[arg(long, value_name = "NAME")]
    section: Option<String>,

    /// Also replace files that this command did not make
    #[arg(long)]
    force: bool,

    /// Print what was written as a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    C,
    Rust,
}

const EXAMPLES: &str = "\
Examples:
  safetensors embed digits.safetensors
  safetensors embed digits.safetensors -o src/weights --prefix weights --section .weights
  safetensors embed digits.safetensors -o src/digits --lang rust";

/// Above this there is a warning.
const LARGE: u64 = 8 << 20;

fn power_of_two(argument: &str) -> Result<u32, String> {
    match argument.parse::<u32>() {
        Ok(bytes) if bytes.is_power_of_two() && bytes <= 1 << 28 => Ok(bytes),
        _ => Err("it is no power of two up to 268435456".into()),
    }
}

#[derive(Serialize)]
struct Report<'a> {
    file: Cow<'a, str>,
    written: Vec<Cow<'a, str>>,
    tensors: usize,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> io::Result<Outcome> {
    if input::is_stdin(&args.file) {
        complain_bad("-", "no file", &"its data is read in an order of its own");
        return Ok(Outcome::Unreadable);
    }
    interrupt::clean_up();
    let stem = args.file.file_stem().unwrap_or_default();
    let prefix = args.prefix.clone().unwrap_or_else(|| stem.to_string_lossy().into_owned());
    let embed = match Embed::open(&args.file, &prefix) {
        Ok(embed) => embed.align(args.align),
        Err(error) => return Ok(output::refuse(&args.file, &error)),
    };
    let embed = match &args.section {
        Some(name) => embed.section(name),
        None => Ok(embed),
    };
    if let Ok(embed) = &embed
        && embed.index().data_len() > LARGE
    {
        let what = "compilers take long, and much memory, for so much data";
        warn(&shown::path(&args.file), &what);
    }
    let base = match &args.output {
        Some(path) => path.clone(),
        // A name that begins with a dash would be taken for an option.
        None => PathBuf::from(identifier(&stem.to_string_lossy())),
    };
    let written = match embed.and_then(|embed| Ok((write(args, &embed, &base)?, embed))) {
        Ok((written, embed)) => {
            report(args, &written, embed.index().len(), out)?;
            return Ok(Outcome::Fine);
        }
        Err(error) => error,
    };
    complain_bad(&shown::path(&base), "not written", &written);
    Ok(Outcome::Unreadable)
}

/// Writes the files, whole or not at all, and returns their paths.
fn write(args: &Args, embed: &Embed, base: &Path) -> io::Result<Vec<PathBuf>> {
    match args.lang {
        Language::C => {
            let (header, source) = (with_ending(base, ".h"), with_ending(base, ".c"));
            check(args, &header)?;
            check(args, &source)?;
            let name = header.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (mut new_header, mut new_source) =
                (NewFile::create(&header)?, NewFile::create(&source)?);
            embed.write_c_header(&mut new_header)?;
            embed.write_c_source(&name, &mut new_source)?;
            new_header.commit()?;
            new_source.commit()?;
            Ok(vec![header, source])
        }
        Language::Rust => {
            let module = with_ending(base, ".rs");
            check(args, &module)?;
            let mut file = NewFile::create(&module)?;
            embed.write_rust(&mut file)?;
            file.commit()?;
            Ok(vec![module])
        }
    }
}

/// That nothing is replaced that somebody may have written by hand.
fn check(args: &Args, path: &Path) -> io::Result<()> {
    let mut start = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut start)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mark = Embed::MARK.as_bytes();
    if args.force || start.windows(mark.len()).any(|bytes| bytes == mark) {
        return Ok(());
    }
    let name = shown::path(path);
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("{name} was not made by this command; --force replaces it"),
    ))
}

/// Not in place of what stands behind the last dot, which may be a part of the name.
fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(base);
    path.push(ending);
    path.into()
}

fn report(args: &Args, written: &[PathBuf], tensors: usize, out: &mut Output) -> io::Result<()> {
    if args.json {
        let written = written.iter().map(|path| path.to_string_lossy()).collect();
        return json::write_line(
            out,
            &Report { file: args.file.to_string_lossy(), written, tensors },
        );
    }
    for path in written {
        writeln!(out, "{}: {}", shown::path(path), Count(tensors, "tensor"))?;
    }
    Ok(())
}
