//! The corpus, for build scripts.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of the corpus in `tests/data`, in order.
pub fn files(tests: &Path) -> Vec<PathBuf> {
    let cases = tests.join("data/cases");
    println!("cargo::rerun-if-changed={}", cases.display());
    let mut files = Vec::new();
    for verdict in ["accept", "reject"] {
        files.extend(fs::read_dir(cases.join(verdict)).unwrap().map(|file| file.unwrap().path()));
    }
    files.sort();
    files
}
