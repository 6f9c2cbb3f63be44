//! Tells the linker the memory map, and writes the table of the corpus for `qemu`: each file with
//! what the core, built for the host, says of it.

#[path = "src/answer.rs"]
mod answer;

use std::path::Path;
use std::{env, fs};

use safetensors_core::Slot;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rustc-link-search={}", here.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
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
        let name = file.file_stem().unwrap();
        let answer = answer::digest(&fs::read(&file).unwrap(), &mut [Slot::EMPTY; answer::SLOTS]);
        table += &format!("({name:?}, include_bytes!({file:?}), {answer:#x}),\n");
    }
    table.push(']');
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap()).join("corpus.rs"), table).unwrap();
}
