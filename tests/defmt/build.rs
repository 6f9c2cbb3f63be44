//! Tells the linker the memory map and where strings are interned, and makes a table of the corpus.

#[path = "../images/cases.rs"]
mod cases;

use std::path::Path;
use std::{env, fs};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The board is that of the other images.
    let images = here.join("../images");
    println!("cargo::rustc-link-search={}", images.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    println!("cargo::rerun-if-changed={}", images.join("memory.x").display());

    let mut table = String::from("&[\n");
    for file in cases::files(&here.join("..")) {
        table += &format!("include_bytes!({file:?}),\n");
    }
    table.push(']');
    let out = env::var_os("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("corpus.rs"), table).unwrap();
}
