//! Files with a checksum that are written and changed on a disk.
#![cfg(feature = "std")]

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use safetensors_core::host::{FileEditor, NewFile};
use safetensors_core::{
    Checksum, Dtype, Editor, ErrorKind as Kind, MetadataPair, SafeTensors, Slot, TensorSpec,
    WriteOptions,
};
use tempfile::TempDir;

fn check(path: &Path) -> Result<(), Kind> {
    let file = fs::read(path).unwrap();
    let mut slots = [Slot::EMPTY; 8];
    let model = SafeTensors::parse(&file, &mut slots).unwrap();
    model.check_checksum().map_err(|error| error.kind())
}

/// Three tensors of which the second reaches over several blocks of 64 KiB, with a checksum.
fn sealed(path: &Path) {
    let data: Vec<u8> = (0..200_001_u32).map(|i| (i % 251) as u8).collect();
    let mut tensors = [
        TensorSpec::new("a", Dtype::U8, &[7]).with_data(&data[..7]),
        TensorSpec::new("b", Dtype::U8, &[200_001]).with_data(&data),
        TensorSpec::new("c", Dtype::U8, &[3]).with_data(&data[..3]),
    ];
    let mut pairs = [MetadataPair::new(Checksum::KEY, Checksum::PLACEHOLDER)];
    let plan = WriteOptions::new().plan(&mut tensors, Some(&mut pairs)).unwrap();
    let mut bytes = vec![0; plan.file_len() as usize];
    plan.write_into(&mut bytes).unwrap();
    let mut file = NewFile::create(path).unwrap();
    file.write_all(&bytes).unwrap();
    file.set_checksum().unwrap();
    file.commit().unwrap();
    assert_eq!(check(path), Ok(()));
    // In the place of the zeros, and nothing else.
    let digits = plan.checksum().unwrap();
    let at = bytes.windows(8).position(|bytes| bytes == b"00000000").unwrap();
    bytes[at..at + 8].copy_from_slice(&digits);
    assert_eq!(fs::read(path).unwrap(), bytes);
}

#[test]
fn data_that_is_overwritten_counts() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    let other = vec![9; 200_001];
    for in_place in [false, true] {
        for names in [&["a"][..], &["b"], &["c"], &["a", "b", "c"]] {
            sealed(&path);
            let mut editor = FileEditor::open(&path).unwrap();
            for name in names {
                let len = match *name {
                    "a" => 7,
                    "b" => 200_001,
                    _ => 3,
                };
                editor.overwrite(name, &other[..len]).unwrap();
            }
            if in_place {
                editor.save_in_place().unwrap()
            } else {
                editor.save().unwrap()
            }
            assert_eq!(check(&path), Ok(()), "{names:?}");
            let file = fs::read(&path).unwrap();
            let nines = file.iter().filter(|byte| **byte == 9).count();
            assert!(nines > names.len(), "{names:?}");
        }
    }
}

#[test]
fn a_file_without_one_gets_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    for in_place in [false, true] {
        fs::copy("examples/digits/digits.safetensors", &path).unwrap();
        let mut editor = FileEditor::open(&path).unwrap();
        editor.reserve(100).unwrap();
        editor.save().unwrap();
        assert_eq!(check(&path), Err(Kind::ChecksumMissing));
        let mut editor = FileEditor::open(&path).unwrap();
        editor.set_checksum().unwrap();
        if in_place {
            editor.save_in_place().unwrap()
        } else {
            editor.save().unwrap()
        }
        assert_eq!(check(&path), Ok(()));
    }
}

#[test]
fn a_wrong_one_stays_and_the_file_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    sealed(&path);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 0x80;
    fs::write(&path, &bytes).unwrap();
    let change = || {
        let mut editor = FileEditor::open(&path).unwrap();
        editor.overwrite("a", &[0; 7]).unwrap();
        editor
    };
    let error = change().save().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    let text = "metadata \"safetensors_core.crc32\": checksum is not that of the file's bytes, ";
    assert!(error.to_string().starts_with(text), "{error}");
    let in_place = change().save_in_place().unwrap_err();
    assert_eq!(in_place.to_string(), error.to_string());
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_new_file_needs_a_place_for_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    for (bytes, text) in [
        (&b"\x08\0\0\0\0\0\0\0{}      "[..], "metadata has no checksum"),
        (b"", "file ends within the 8 bytes of the header size, 8 bytes missing (at byte 0)"),
    ] {
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(bytes).unwrap();
        let error = file.set_checksum().unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidData, text));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The digits are put back in the place of something shorter, for which alone there was room.
#[test]
fn a_header_that_grows_does_not_reach_the_data() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("model");
    let header = concat!(
        r#"{"__metadata__":{"a":"1xx","safetensors_core.crc32":"00000000"},"#,
        r#""w":{"dtype":"U8","shape":[512],"data_offsets":[0,512]}}"#
    );
    let mut file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[7; 512]].concat();
    let len = file.len();
    Editor::open(&mut file, len).unwrap().set_checksum().unwrap();
    fs::write(&path, &file).unwrap();
    let mut editor = FileEditor::open(&path).unwrap();
    editor.set_metadata(Checksum::KEY, "").unwrap();
    editor.set_metadata("a", "1xx45678").unwrap();
    assert!(editor.fits_in_place());
    let error = editor.save_in_place().unwrap_err();
    let text = "header has no room in place of the old one, 128 bytes missing";
    assert_eq!(error.to_string(), text);
    assert_eq!(fs::read(&path).unwrap(), file);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
