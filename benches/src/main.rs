//! Prints how fast the crate reads headers, writes, converts numbers and saves files, as ratios to others
//! in the same run. README.md says how to call it, and what the tables mean.

mod floors;
mod growth;
mod headers;
mod lines;
mod measure;
mod numbers;
#[cfg(feature = "std")]
mod saves;
mod writes;

use std::path::PathBuf;
use std::process::ExitCode;

/// What the command line asks for.
pub struct Choice {
    names: Vec<String>,
    markdown: bool,
    callgrind: bool,
    check: bool,
    /// A library of peers in C++.
    peers: Option<PathBuf>,
    /// Where the picture of growth goes.
    svg: Option<PathBuf>,
}

impl Choice {
    /// Whether the line of this name is wanted.
    fn has(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }

    /// Whether what has no floor may be left out.
    fn quick(&self) -> bool {
        self.check && self.svg.is_none()
    }
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["count", "headers", jobs, file] => return headers::count(jobs, file.as_ref(), None),
        ["count", "headers", jobs, file, peers] => {
            return headers::count(jobs, file.as_ref(), Some(peers.as_ref()));
        }
        ["count", "writes", file] => return writes::count(file.as_ref()),
        ["count", "numbers"] => return numbers::count(),
        ["count", "growth", rest @ ..] => return growth::count(rest),
        #[cfg(feature = "std")]
        ["save", name, source, target] => {
            return saves::run(name, source.as_ref(), target.as_ref());
        }
        _ => {}
    }
    let mut path_of = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        let path = arguments.drain(at..(at + 2).min(arguments.len())).nth(1);
        Some(PathBuf::from(path.unwrap_or_else(|| panic!("{flag} PATH"))))
    };
    let (peers, svg) = (path_of("--peers"), path_of("--svg"));
    let (flags, names): (Vec<_>, _) = arguments.into_iter().partition(|a| a.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|other| other == flag);
    let (markdown, callgrind) = (has("--markdown"), !has("--no-callgrind"));
    let choice = Choice { names, markdown, callgrind, check: has("--check"), peers, svg };
    let parts = ["--headers", "--writes", "--numbers", "--growth", "--saves"];
    let all = !parts.iter().any(|flag| has(flag));
    let mut holds = true;
    if all || has("--headers") {
        holds &= headers::print(&choice);
    }
    if all || has("--writes") {
        writes::print(&choice);
    }
    if all || has("--numbers") {
        holds &= numbers::print(&choice);
    }
    if all || has("--growth") {
        holds &= growth::print(&choice);
    }
    #[cfg(feature = "std")]
    if all || has("--saves") {
        holds &= saves::print(&choice);
    }
    ExitCode::from(u8::from(choice.check && !holds))
}
