//! Paths mean what they meant at first if the current folder changes. Alone in its process, as it is
//! about all of that.
#![cfg(feature = "std")]

use std::io::Write;
use std::{env, fs};

use safetensors_core::host::{FileEditor, NewFile};

#[test]
fn files_are_where_they_were_at_first() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("here");
    let there = folder.path().join("there");
    fs::create_dir(&here).unwrap();
    fs::create_dir(&there).unwrap();
    let empty = b"\x10\0\0\0\0\0\0\0{}              ";
    for folder in [&here, &there] {
        fs::write(folder.join("m"), empty).unwrap();
    }
    env::set_current_dir(&here).unwrap();
    let mut editor = FileEditor::open("m").unwrap();
    editor.set_metadata("k", "v").unwrap();
    let mut in_place = FileEditor::open("m").unwrap();
    in_place.reserve(1).unwrap();
    let mut new = NewFile::create("new").unwrap();
    new.write_all(b"new").unwrap();
    env::set_current_dir(&there).unwrap();
    in_place.save_in_place().unwrap();
    editor.save().unwrap_err();
    let mut editor = FileEditor::open("../here/m").unwrap();
    editor.set_metadata("k", "v").unwrap();
    env::set_current_dir(&here).unwrap();
    editor.save().unwrap();
    env::set_current_dir(&there).unwrap();
    new.commit().unwrap();
    assert_eq!(fs::read(there.join("m")).unwrap(), empty);
    assert_eq!(fs::read_dir(&there).unwrap().count(), 1);
    assert_ne!(fs::read(here.join("m")).unwrap(), empty);
    assert_eq!(fs::read(here.join("new")).unwrap(), b"new");
}
