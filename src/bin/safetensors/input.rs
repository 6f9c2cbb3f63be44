//! Where files come from: a path, or `-` for standard input.

use std::fs::File;
use std::io;
use std::path::Path;

use safetensors_core::Checksum;
use safetensors_core::host::{HeaderFile, LoadError};

/// The header and nothing else. Of a pipe the length stays unknown.
pub(crate) fn header(path: &Path) -> Result<HeaderFile, LoadError> {
    if is_stdin(path) { HeaderFile::read(io::stdin().lock(), None) } else { HeaderFile::open(path) }
}

/// The header, and the length of the data: of a pipe, counted to its end. If there is a checksum all of
/// it is read.
pub(crate) fn checked(path: &Path) -> Result<HeaderFile, LoadError> {
    if is_stdin(path) {
        let mut stdin = io::stdin().lock();
        return HeaderFile::read(&mut stdin, None)?.check_data(stdin);
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let header = HeaderFile::read(&file, metadata.is_file().then_some(metadata.len()))?;
    if metadata.is_file() && !has_checksum(&header) {
        return Ok(header);
    }
    header.check_data(&mut file)
}

pub(crate) fn has_checksum(file: &HeaderFile) -> bool {
    file.index().metadata().is_some_and(|metadata| metadata.value(Checksum::KEY).is_some())
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
