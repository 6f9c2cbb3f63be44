//! Prints how fast the crate reads headers, as ratios to others in the same run.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml -- [--check] [--markdown] [--no-callgrind] [NAME…]
//! ```
//!
//! A name chooses files: `gpt2`, `.offset`. `--check` fails when a floor is missed by instruction
//! counts, which do not depend on what else the machine does, or by time without valgrind.
//!
//! sonic-rs chooses its vector instructions when it is compiled: `RUSTFLAGS=-Ctarget-cpu=x86-64-v3`
//! gives it AVX2. Not `native`, as valgrind knows no AVX-512.

mod files;
mod measure;
mod table;
mod work;

use std::path::Path;
use std::process::ExitCode;

use table::{Line, Table};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, file] = &arguments[..]
        && command == "count"
    {
        measure::count(Path::new(file));
        return ExitCode::SUCCESS;
    }
    let (flags, names): (Vec<_>, Vec<_>) = arguments.iter().partition(|a| a.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|other| *other == flag);
    let mut table = Table::new(has("--markdown"));
    for (name, path) in files::all() {
        if names.is_empty() || names.iter().any(|part| name.contains(part.as_str())) {
            table.add(&name, &Line::measure(&path, !has("--no-callgrind")));
        }
    }
    let holds = table.finish();
    ExitCode::from(u8::from(has("--check") && !holds))
}
