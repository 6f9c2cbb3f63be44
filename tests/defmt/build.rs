//! Tells the linker the memory map and where strings are interned, and makes a table of the corpus.

use std::path::Path;
use std::{env, fs};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rustc-link-search={}", here.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    println!("cargo::rerun-if-changed=memory.x");

    let cases = here.join("../data/cases");
    println!("cargo::rerun-if-changed={}", cases.display());
    let mut files = Vec::new();
    for verdict in ["accept", "reject"] {
        files.extend(fs::read_dir(cases.join(verdict)).unwrap().map(|file| file.unwrap().path()));
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        table += &format!("include_bytes!({file:?}),\n");
    }
    table.push(']');
    let out = env::var_os("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("corpus.rs"), table).unwrap();
}
