//! Where files come from: a path, or `-` for standard input.

use std::fs::File;
use std::io;
use std::path::Path;

use safetensors_core::host::{HeaderFile, LoadError};

/// The header and nothing else. Of a pipe the length stays unknown.
pub(crate) fn header(path: &Path) -> Result<HeaderFile, LoadError> {
    if is_stdin(path) { HeaderFile::read(io::stdin().lock(), None) } else { HeaderFile::open(path) }
}

/// The header, and the length of the data: of a pipe, counted to its end.
pub(crate) fn header_and_length(path: &Path) -> Result<HeaderFile, LoadError> {
    if is_stdin(path) {
        return HeaderFile::read_counting(io::stdin().lock());
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        HeaderFile::read(file, Some(metadata.len()))
    } else {
        HeaderFile::read_counting(file)
    }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
