//! Tells the linker the memory map, and writes tables for `qemu` of what the core, built for the host,
//! makes of the corpus and of numbers.

#[path = "src/answer.rs"]
mod answer;
mod cases;
#[path = "src/numbers.rs"]
mod numbers;
#[path = "src/written.rs"]
mod written;

use std::path::Path;
use std::{env, fs};

use safetensors_core::{Dtype, Editor, Slot};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rustc-link-search={}", here.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed=memory.x");
    if env::var_os("CARGO_FEATURE_DEFMT").is_some() {
        println!("cargo::rustc-link-arg-bin=no_panic=-Tdefmt.x");
    }

    let mut table = String::from("&[\n");
    for file in cases::files(&here.join("..")) {
        let name = file.file_stem().unwrap();
        let (bytes, mut slots) = (fs::read(&file).unwrap(), [Slot::EMPTY; answer::SLOTS]);
        let answer = answer::digest(&bytes, &mut slots);
        let written = written::digest(&bytes, &mut slots);
        table += &format!("({name:?}, include_bytes!({file:?}), {answer:#x}, {written:#x}),\n");
    }
    table.push(']');
    let out = env::var_os("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("corpus.rs"), table).unwrap();

    let digests: Vec<_> = Dtype::ALL.iter().map(|dtype| numbers::digest(*dtype)).collect();
    fs::write(Path::new(&out).join("numbers.rs"), format!("{digests:#x?}")).unwrap();

    // A model with a checksum, and the same with a bit of its last number flipped.
    let model = here.join("../../examples/digits/digits.safetensors");
    println!("cargo::rerun-if-changed={}", model.display());
    let mut file = fs::read(model).unwrap();
    let len = file.len();
    file.resize(len + 100, 0);
    let mut editor = Editor::open(&mut file, len).unwrap();
    editor.set_checksum().unwrap();
    let file = editor.finish();
    fs::write(Path::new(&out).join("sealed.safetensors"), &file).unwrap();
    *file.last_mut().unwrap() ^= 1;
    fs::write(Path::new(&out).join("flipped.safetensors"), &file).unwrap();
}
