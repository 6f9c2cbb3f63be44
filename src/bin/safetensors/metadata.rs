//! `safetensors metadata`: lists and changes the metadata of a file.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup};
use safetensors_core::host::FileEditor;
use safetensors_core::{Checksum, StreamError, Text, WriteError};

use crate::numbers::Grouped;
use crate::output::{self, Outcome, Output, complain_bad};
use crate::{input, interrupt, json, pairs, shown};

/// Lists and changes the metadata of a file.
///
/// Without --set and --unset the pairs are listed. Of a change the default is a new file, which takes the
/// place of the old one when it is complete; the data is copied by the operating system. Of a file with
/// a checksum it is read first, and a file that is not what it was is not changed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("change").multiple(true))]
pub(crate) struct Args {
    /// The file; - for standard input, which can only be listed
    file: PathBuf,

    /// Print the value of KEY and nothing else: as it is, or, to a terminal, with escapes for what
    /// that would act upon; exit code 1 if there is no such key
    #[arg(long, value_name = "KEY", conflicts_with = "change")]
    get: Option<String>,

    /// Set KEY to VALUE; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, action = ArgAction::Append, group = "change")]
    set: Vec<(String, String)>,

    /// Remove KEY, before anything is set; may be given several times
    #[arg(long, value_name = "KEY", action = ArgAction::Append, group = "change")]
    unset: Vec<String>,

    /// Store a checksum of the whole file, a CRC-32, under the key safetensors_core.crc32: verify compares
    /// it, firmware does at boot. Further changes with this command keep it right
    #[arg(long, group = "change")]
    checksum: bool,

    /// Change the file itself, if the header fits where the old one is. The old one stands beside it
    /// as FILE.recovery until the change is on the disk; if it is cut off, verify finds that
    #[arg(long, requires = "change")]
    in_place: bool,

    /// Put at least so many spaces behind the header, for later changes in place
    #[arg(long, value_name = "BYTES", group = "change")]
    reserve: Option<u32>,

    /// List the pairs as a JSON object, or the value as a JSON string
    #[arg(long, conflicts_with = "change")]
    json: bool,
}

const EXAMPLES: &str = r#"Examples:
  safetensors metadata model.safetensors
  safetensors metadata model.safetensors --get labels | jq .
  safetensors metadata model.safetensors --set license=MIT --set "note=first try"
  safetensors metadata model.safetensors --unset note --in-place
  safetensors metadata model.safetensors --checksum"#;

/// Longer keys and values are cut in the list.
const LIMIT: usize = 500;
/// And where changes are told.
const BRIEF: usize = 60;

fn pair(argument: &str) -> Result<(String, String), &'static str> {
    let (key, value) = argument.split_once('=').ok_or("there is no `=` between key and value")?;
    if key == Checksum::KEY {
        return Err("--checksum stores the checksum");
    }
    Ok((key.to_owned(), value.to_owned()))
}

pub(crate) fn run(args: &Args, out: &mut Output) -> io::Result<Outcome> {
    if !args.set.is_empty() || !args.unset.is_empty() || args.reserve.is_some() || args.checksum {
        return change(args, out);
    }
    let file = match input::header(&args.file) {
        Ok(file) => file,
        Err(error) => return Ok(output::refuse(&args.file, &error)),
    };
    let metadata = file.index().metadata();
    if let Some(key) = &args.get {
        return get(args, metadata.and_then(|metadata| metadata.value(key)), key, out);
    }
    if args.json {
        json::write_line(out, &json::Pairs(metadata))?;
    } else if let Some(metadata) = metadata {
        pairs::write(&metadata, "", LIMIT, out)?;
    }
    Ok(Outcome::Fine)
}

fn get(args: &Args, value: Option<Text<'_>>, key: &str, out: &mut Output) -> io::Result<Outcome> {
    let Some(value) = value else {
        no_such_key(args, key);
        return Ok(Outcome::Invalid);
    };
    if args.json {
        json::write_line(out, &json::Displayed(value))?;
    } else if io::stdout().is_terminal() {
        writeln!(out, "{}", shown::text(value, usize::MAX))?;
    } else {
        out.write_exactly(format!("{value}\n").as_bytes())?;
    }
    Ok(Outcome::Fine)
}

fn no_such_key(args: &Args, key: &str) {
    let what = format!("there is no key {}", Text::from(key).quoted());
    complain_bad(&shown::path(&args.file), "metadata", &what);
}

fn change(args: &Args, out: &mut Output) -> io::Result<Outcome> {
    interrupt::clean_up();
    let mut editor = match FileEditor::open(&args.file) {
        Ok(editor) => editor,
        Err(error) => return Ok(output::refuse(&args.file, &error)),
    };
    if let Some(key) = args.unset.iter().find(|key| value(&editor, key).is_none()) {
        no_such_key(args, key);
        return Ok(Outcome::Invalid);
    }
    let old_len = editor.header().json().len();
    let report = match edit(args, &mut editor) {
        Ok(report) => report,
        Err(error) => return Ok(fail(args, &error)),
    };
    let new_len = editor.header().json().len();
    let saved = if args.in_place {
        editor.save_in_place()
    } else {
        editor.save().map_err(StreamError::Sink)
    };
    if let Err(error) = saved {
        fail(args, &error);
        return Ok(output::outcome(&error));
    }
    for line in report {
        writeln!(out, "{line}")?;
    }
    let name = shown::path(&args.file);
    let how = if args.in_place { "changed in place" } else { "written anew" };
    let (old, new) = (Grouped(old_len as u128), Grouped(new_len as u128));
    match old_len == new_len {
        true => writeln!(out, "{name}: {how}, the header has {new} bytes as before")?,
        false => writeln!(out, "{name}: {how}, the header has {new} bytes, before {old}")?,
    }
    Ok(Outcome::Fine)
}

/// Makes the changes and says which.
fn edit(args: &Args, editor: &mut FileEditor<'_>) -> Result<Vec<String>, WriteError> {
    let mut report = Vec::new();
    let brief = |text: Text<'_>| shown::text(text, BRIEF);
    for key in &args.unset {
        let old = value(editor, key).map(brief).unwrap_or_default();
        // Of keys that are named twice the second is gone.
        if editor.remove_metadata(key)? {
            report.push(format!("removed {}, was {old}", brief(Text::from(&**key))));
        }
    }
    for (key, new) in &args.set {
        let mut line =
            format!("set {} to {}", brief(Text::from(&**key)), brief(Text::from(&**new)));
        if let Some(old) = value(editor, key) {
            line += &format!(", was {}", brief(old));
        }
        editor.set_metadata(key, new)?;
        report.push(line);
    }
    if let Some(bytes) = args.reserve {
        editor.reserve(bytes)?;
    }
    if args.checksum {
        editor.set_checksum()?;
        report.push("checksum stored".into());
    }
    Ok(report)
}

fn value<'a>(editor: &'a FileEditor<'_>, key: &str) -> Option<Text<'a>> {
    editor.header().metadata()?.value(key)
}

fn fail(args: &Args, error: &dyn fmt::Display) -> Outcome {
    complain_bad(&shown::path(&args.file), "not changed", error);
    Outcome::Unreadable
}
