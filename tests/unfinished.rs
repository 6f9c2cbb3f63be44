//! What a program does before it ends at a signal. Alone in its process, as it is about all of that.
#![cfg(feature = "std")]

use std::fs;
use std::io::{ErrorKind, Write};

use safetensors_core::host::{NewFile, remove_unfinished};

#[test]
fn temporary_files_that_are_not_in_their_places_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let count = || fs::read_dir(folder.path()).unwrap().count();
    let mut done = NewFile::create(&path).unwrap();
    done.write_all(b"old").unwrap();
    done.commit().unwrap();
    drop(NewFile::create(folder.path().join("dropped")).unwrap());
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"new").unwrap();
    assert_eq!(count(), 2);
    remove_unfinished();
    assert_eq!(count(), 1);
    assert_eq!(new.commit().unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}
