//! Files that are saved, edited, recovered and repacked: the new one is whole, the old one is untouched
//! until then, and nothing else is left behind.
#![cfg(feature = "std")]

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use safetensors_core::host::{FileEditor, LoadError, Mend, NewFile, Recovery, Repack, save};
use safetensors_core::{
    Dtype, MetadataPair, SafeTensors, Slot, StreamError, TensorSpec, WriteErrorKind, WriteOptions,
};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// A file of two tensors and a pair, with room for so many bytes behind the header.
fn model(reserve: u32) -> Vec<u8> {
    let mut tensors = [
        TensorSpec::new("w", Dtype::U16, &[2]).with_data(&[1, 2, 3, 4]),
        TensorSpec::new("b", Dtype::U8, &[3]).with_data(&[5, 6, 7]),
    ];
    let mut pairs = [MetadataPair::new("k", "v")];
    let options = WriteOptions::new().reserve(reserve);
    let plan = options.plan(&mut tensors, Some(&mut pairs)).unwrap();
    let mut file = vec![0; plan.file_len() as usize];
    plan.write_into(&mut file).unwrap();
    file
}

/// Name and data of each tensor in offset order, and the value of `k`.
fn content(path: &Path) -> (Vec<(String, Vec<u8>)>, Option<String>) {
    let bytes = fs::read(path).unwrap();
    let mut slots = [Slot::EMPTY; 8];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    let row = |tensor: safetensors_core::TensorView<'_>| {
        (tensor.name().to_string(), tensor.data().to_vec())
    };
    let value = model.metadata().and_then(|metadata| metadata.value("k"));
    (model.iter_by_offset().map(row).collect(), value.map(|value| value.to_string()))
}

fn rows(rows: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    rows.iter().map(|(name, data)| ((*name).to_owned(), data.to_vec())).collect()
}

// ── new files ──

#[test]
fn a_file_is_saved_in_one_step() {
    let folder = Folder::new();
    let path = folder.path("m");
    let mut tensors = [TensorSpec::new("w", Dtype::U8, &[2]).with_data(&[1, 2])];
    let plan = WriteOptions::new().plan(&mut tensors, None).unwrap();
    save(&plan, &path).unwrap();
    let mut expected = vec![0; plan.file_len() as usize];
    plan.write_into(&mut expected).unwrap();
    assert_eq!(fs::read(&path).unwrap(), expected);
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn a_file_that_is_not_complete_leaves_the_old_one() {
    let folder = Folder::new();
    let path = folder.write("m", b"old");
    let mut tensors = [
        TensorSpec::new("w", Dtype::U16, &[1]).with_data(&[1, 2]),
        TensorSpec::new("missing", Dtype::U8, &[1]),
    ];
    let plan = WriteOptions::new().plan(&mut tensors, None).unwrap();
    let error = save(&plan, &path).unwrap_err();
    assert_eq!(error.to_string(), "tensor 1: data is not complete, 1 byte missing");
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"half").unwrap();
    drop(new);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn whoever_has_the_old_file_open_keeps_it() {
    let folder = Folder::new();
    let path = folder.write("m", b"old");
    let mut old = File::open(&path).unwrap();
    let mut new = NewFile::create(&path).unwrap();
    new.write_all(b"a").unwrap();
    new.copy_from(&mut File::open(&path).unwrap(), 2).unwrap();
    new.write_all(b"!").unwrap();
    new.seek(SeekFrom::Start(1)).unwrap();
    new.write_all(b"O").unwrap();
    new.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"aOl!");
    let mut text = String::new();
    old.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old");
    let error = NewFile::create(&path).unwrap().copy_from(&mut old, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn what_is_no_file_is_not_replaced() {
    let folder = Folder::new();
    let error = NewFile::create(folder.0.path()).unwrap_err();
    assert_eq!(error.to_string(), "not a regular file");
    let error = NewFile::create(folder.path("no/m")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(folder.names().is_empty());
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_links_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o7777;
    let put = |name: &str| NewFile::create(folder.path(name)).unwrap().commit().unwrap();
    // A new one has those that any program's would have.
    put("new");
    File::create(folder.path("plain")).unwrap();
    assert_eq!(mode("new"), mode("plain"));
    for bits in [0o600, 0o640, 0o664, 0o777, 0o444] {
        fs::set_permissions(folder.path("new"), fs::Permissions::from_mode(bits)).unwrap();
        put("new");
        assert_eq!(mode("new"), bits);
    }
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("sub/target", folder.path("link")).unwrap();
    folder.write("sub/target", b"old");
    put("link");
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert_eq!(fs::read(folder.path("sub/target")).unwrap(), b"");
    let error = NewFile::create("/dev/null").unwrap_err();
    assert_eq!(error.to_string(), "not a regular file");
}

/// What nobody else could read nobody else can read in a copy.
#[cfg(unix)]
#[test]
fn copies_are_no_more_open_than_the_original() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let path = folder.write("m", &model(0));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let to = folder.path("to");
    Repack::open(&path).unwrap().save(&to, &WriteOptions::new()).unwrap();
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
}

/// They would wait for a writer for ever.
#[cfg(unix)]
#[test]
fn pipes_are_not_opened() {
    let folder = Folder::new();
    let path = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    assert_eq!(FileEditor::open(&path).unwrap_err().to_string(), "not a regular file");
    assert_eq!(Repack::open(&path).unwrap_err().to_string(), "not a regular file");
    fs::rename(&path, folder.path("m.recovery")).unwrap();
    let recovery = Recovery::find(folder.write("m", &model(0))).unwrap().unwrap();
    assert_eq!(recovery.restore().unwrap_err().to_string(), "not a regular file");
}

// ── edits ──

#[test]
fn a_file_is_edited() {
    let folder = Folder::new();
    let path = folder.write("m", &model(0));
    let mut editor = FileEditor::open(&path).unwrap();
    let long = "x".repeat(10_000);
    editor.set_metadata("k", &long).unwrap();
    assert!(!editor.fits_in_place());
    assert!(!editor.remove_metadata("none").unwrap());
    editor.rename("b", "bias").unwrap();
    editor.overwrite("w", &[9, 9, 9, 9]).unwrap();
    editor.overwrite("bias", &[0, 0, 0]).unwrap();
    editor.overwrite("bias", &[8, 8, 8]).unwrap();
    let error = editor.overwrite("b", &[0, 0, 0]).unwrap_err();
    assert_eq!(error.to_string(), "no tensor has this name");
    let error = editor.overwrite("bias", &[0]).unwrap_err();
    assert_eq!(error.to_string(), "data is not as long as dtype and shape demand, 3 bytes needed");
    assert_eq!(fs::read(&path).unwrap(), model(0));
    editor.save().unwrap();
    let expected = rows(&[("w", &[9, 9, 9, 9]), ("bias", &[8, 8, 8])]);
    assert_eq!(content(&path), (expected, Some(long)));
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn data_of_large_files_moves_by_blocks() {
    let folder = Folder::new();
    for (len, step) in [((1 << 24) + 777, 1 << 16), (1 << 23, 8)] {
        let data: Vec<u8> =
            (0..len).map(|i: usize| (i.wrapping_mul(0x9e37_79b1) >> 7) as u8).collect();
        let shape = [data.len() as u64];
        let mut tensors = [TensorSpec::new("w", Dtype::U8, &shape).with_data(&data)];
        let mut pairs = [MetadataPair::new("k", "")];
        // Not at the start of a page.
        let options = WriteOptions::new().align(8);
        let plan = options.plan(&mut tensors, Some(&mut pairs)).unwrap();
        let path = folder.path("m");
        save(&plan, &path).unwrap();
        let mut editor = FileEditor::open(&path).unwrap();
        for value in ["longer by more than 8", "and once more, which takes no more room"] {
            editor.set_metadata("k", value).unwrap();
        }
        let moved = editor.header().data_start() - plan.data_start();
        assert!(moved > 0 && moved.is_multiple_of(step) && moved < 2 * step.max(64), "{moved}");
        editor.save().unwrap();
        let expected = rows(&[("w", &data)]);
        assert!(
            content(&path) == (expected, Some("and once more, which takes no more room".into()))
        );
        assert_eq!(fs::metadata(&path).unwrap().len(), plan.file_len() + moved);
    }
}

#[test]
fn a_file_is_edited_in_place() {
    let folder = Folder::new();
    let path = folder.write("m", &model(100));
    let mut reader = File::open(&path).unwrap();
    let mut editor = FileEditor::open(&path).unwrap();
    editor.set_metadata("k", "changed").unwrap();
    editor.overwrite("b", &[8, 8, 8]).unwrap();
    assert!(editor.fits_in_place());
    editor.save_in_place().unwrap();
    let expected = rows(&[("w", &[1, 2, 3, 4]), ("b", &[8, 8, 8])]);
    assert_eq!(content(&path), (expected, Some("changed".to_owned())));
    // It is the same file.
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, fs::read(&path).unwrap());
    assert_eq!(bytes.len(), model(100).len());
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn what_does_not_fit_is_not_done_in_place() {
    let folder = Folder::new();
    let path = folder.write("m", &model(0));
    let mut editor = FileEditor::open(&path).unwrap();
    editor.set_metadata("k", &"x".repeat(100)).unwrap();
    let missing = editor.header().data_start() - (model(0).len() as u64 - 7);
    let error = editor.save_in_place().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("header has no room in place of the old one, {missing} bytes missing")
    );
    assert_eq!(fs::read(&path).unwrap(), model(0));
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn a_file_that_was_changed_in_the_meantime_is_not_edited() {
    let folder = Folder::new();
    let path = folder.write("m", &model(100));
    let changed = {
        let mut file = model(100);
        file[20] ^= 1;
        file
    };
    for other in [changed, [&model(100)[..], &[0]].concat()] {
        let mut editor = FileEditor::open(folder.write("m", &model(100))).unwrap();
        editor.set_metadata("k", "w").unwrap();
        fs::write(&path, &other).unwrap();
        let error = editor.save_in_place().unwrap_err();
        assert_eq!(error.to_string(), "the file was changed in the meantime");
        assert_eq!(fs::read(&path).unwrap(), other);
    }
    // Written again, with the same bytes even.
    let mut editor = FileEditor::open(folder.write("m", &model(100))).unwrap();
    editor.set_metadata("k", "w").unwrap();
    let later = fs::metadata(&path).unwrap().modified().unwrap() + Duration::from_millis(1);
    OpenOptions::new().write(true).open(&path).unwrap().set_modified(later).unwrap();
    let error = editor.save().unwrap_err();
    assert_eq!(error.to_string(), "the file was changed in the meantime");
    assert_eq!(fs::read(&path).unwrap(), model(100));
    // Another file in its place, of the same age.
    let editor = FileEditor::open(folder.write("m", &model(100))).unwrap();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::rename(folder.write("other", &model(100)), &path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let error = editor.save().unwrap_err();
    assert_eq!(error.to_string(), "the file was changed in the meantime");
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn what_is_not_valid_is_not_edited() {
    let folder = Folder::new();
    let twice = r#"{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0077":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#;
    let file = [&(twice.len() as u64).to_le_bytes(), twice.as_bytes()].concat();
    let error = FileEditor::open(folder.write("m", &file)).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"tensor "w": two tensors have the same name, the other at byte 10 (at byte 62)"#
    );
    let error = FileEditor::open(folder.0.path()).unwrap_err();
    assert!(matches!(error, LoadError::Io(_)), "{error}");
}

// ── recovery ──

/// A file and beside it what a change in place of its first 100 and its last 3 bytes puts there; that
/// one really does is shown by the tests that kill the command.
fn interrupted(folder: &Folder, old: &[u8], new: &[u8]) -> PathBuf {
    let (len, last) = (old.len().to_string(), old.len() - 3);
    let names = [format!("old {last}"), format!("new {last}")];
    let mut tensors = [
        TensorSpec::new("old 0", Dtype::U8, &[100]).with_data(&old[..100]),
        TensorSpec::new("new 0", Dtype::U8, &[100]).with_data(&new[..100]),
        TensorSpec::new(&*names[0], Dtype::U8, &[3]).with_data(&old[last..]),
        TensorSpec::new(&*names[1], Dtype::U8, &[3]).with_data(&new[last..]),
    ];
    let mut pairs = [MetadataPair::new("file_len", &*len)];
    let plan = WriteOptions::new().plan(&mut tensors, Some(&mut pairs)).unwrap();
    save(&plan, folder.path("m.recovery")).unwrap();
    folder.write("m", old)
}

/// Other bytes where the change is.
fn changed(old: &[u8]) -> Vec<u8> {
    let mut new = old.to_vec();
    new[8..90].fill(b'x');
    let end = new.len();
    new[end - 2..].fill(0);
    new
}

#[test]
fn what_was_cut_off_is_found_and_undone() {
    let folder = Folder::new();
    let old = model(100);
    let mut torn = changed(&old);
    let path = interrupted(&folder, &old, &torn);
    torn[50..70].copy_from_slice(&old[50..70]);
    fs::write(&path, &torn).unwrap();
    // It is neither changed nor trusted nor replaced.
    let message = "a change in place was cut off, and the recovery file is still there";
    assert_eq!(FileEditor::open(&path).unwrap_err().to_string(), message);
    assert_eq!(Repack::open_repairing(&path).unwrap_err().to_string(), message);
    assert_eq!(NewFile::create(&path).unwrap_err().to_string(), message);
    let recovery = Recovery::find(&path).unwrap().unwrap();
    assert_eq!(recovery.path(), path.canonicalize().unwrap().with_file_name("m.recovery"));
    recovery.restore().unwrap();
    assert_eq!(fs::read(&path).unwrap(), old);
    assert!(Recovery::find(&path).unwrap().is_none());
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn a_recovery_file_of_another_file_is_not_used() {
    let folder = Folder::new();
    let old = model(100);
    let path = interrupted(&folder, &old, &changed(&old));
    // Neither of a file that came in its place since, with one byte that is another …
    let mut other = old.clone();
    other[99] ^= 1;
    fs::write(&path, &other).unwrap();
    let error = Recovery::find(&path).unwrap().unwrap().restore().unwrap_err();
    assert_eq!(error.to_string(), "the recovery file does not belong to this file");
    assert_eq!(fs::read(&path).unwrap(), other);
    // … nor of one of another length.
    let longer = [&old[..], &[0]].concat();
    fs::write(&path, &longer).unwrap();
    let error = Recovery::find(&path).unwrap().unwrap().restore().unwrap_err();
    assert_eq!(error.to_string(), "the recovery file does not belong to this file");
    assert_eq!(fs::read(&path).unwrap(), longer);
    // Nor are other files of that name, and each of their bytes has its place in the file.
    let mut pairs = [MetadataPair::new("file_len", "9")];
    for (at, other) in [
        ("", ""),
        ("-1", "-1"),
        ("8", "8"),
        ("18446744073709551615", "18446744073709551615"),
        ("1", "2"),
    ] {
        fs::write(&path, [0; 9]).unwrap();
        let names = [format!("old {at}"), format!("new {other}")];
        let mut tensors = [
            TensorSpec::new(&*names[0], Dtype::U8, &[2]).with_data(&[1, 1]),
            TensorSpec::new(&*names[1], Dtype::U8, &[2]).with_data(&[0, 0]),
        ];
        let plan = WriteOptions::new().plan(&mut tensors, Some(&mut pairs)).unwrap();
        save(&plan, folder.path("m.recovery")).unwrap();
        Recovery::find(&path).unwrap().unwrap().restore().unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), [0; 9], "{at}");
    }
    folder.write("m.recovery", b"something else");
    let error = Recovery::find(&path).unwrap().unwrap().restore().unwrap_err();
    assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    assert_eq!(folder.names(), ["m", "m.recovery"]);
}

/// Another program holds the lock that an edit has while it writes.
#[test]
fn a_file_that_is_being_changed_is_left_alone() {
    let folder = Folder::new();
    let old = model(100);
    let path = interrupted(&folder, &old, &changed(&old));
    let other = File::open(&path).unwrap();
    other.lock().unwrap();
    let message = "another program is changing the file";
    let recovery = Recovery::find(&path).unwrap().unwrap();
    assert_eq!(recovery.restore().unwrap_err().to_string(), message);
    fs::remove_file(folder.path("m.recovery")).unwrap();
    let edit = || {
        let mut editor = FileEditor::open(&path).unwrap();
        editor.set_metadata("k", "w").unwrap();
        editor
    };
    assert_eq!(edit().save().unwrap_err().to_string(), message);
    assert_eq!(edit().save_in_place().unwrap_err().to_string(), message);
    assert_eq!(fs::read(&path).unwrap(), old);
    drop(other);
    edit().save_in_place().unwrap();
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn two_edits_in_place_do_not_meet() {
    let folder = Folder::new();
    let path = folder.write("m", &model(100));
    let mut editor = FileEditor::open(&path).unwrap();
    editor.set_metadata("k", "w").unwrap();
    // Another one is at it, since this one was opened.
    let recovery = folder.write("m.recovery", b"");
    let error = editor.save_in_place().unwrap_err();
    let StreamError::Sink(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), model(100));
    assert_eq!(fs::read(recovery).unwrap(), b"");
    assert_eq!(folder.names(), ["m", "m.recovery"]);
}

// ── repacking ──

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

const GAPS: &str = concat!(
    r#"{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"#,
    r#""w":{"dtype":"U16","shape":[1],"data_offsets":[5,7]}}"#
);

#[test]
fn gaps_are_left_out() {
    let folder = Folder::new();
    let path = folder.write("m", &file(GAPS, &[9, 1, 2, 9, 9, 3, 4]));
    let repack = Repack::open(&path).unwrap();
    assert_eq!(
        repack.mended(),
        [Mend::Gap { tensor: "b".into(), bytes: 1 }, Mend::Gap { tensor: "w".into(), bytes: 2 },]
    );
    assert_eq!(repack.mended()[0].to_string(), r#"gap of 1 byte before tensor "b" left out"#);
    // Over itself.
    let len = repack.save(&path, &WriteOptions::new().align(64)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), len);
    assert_eq!(content(&path), (rows(&[("w", &[3, 4]), ("b", &[1, 2])]), None));
    assert!((len - 4).is_multiple_of(64));
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn tensors_are_aligned_with_zeros_between() {
    let folder = Folder::new();
    let path = folder.write("m", &model(0));
    let to = folder.path("to");
    let options = WriteOptions::new().align_tensors(16);
    let len = Repack::open(&path).unwrap().save(&to, &options).unwrap();
    let bytes = fs::read(&to).unwrap();
    assert_eq!(bytes.len() as u64, len);
    let data = [&[1, 2, 3, 4][..], &[0; 12], &[5, 6, 7]].concat();
    assert_eq!(bytes[bytes.len() - 19..], data);
}

/// The file is as long as its header says even if there is nothing in its last tensor.
#[test]
fn tensors_without_elements_behind_a_gap() {
    let folder = Folder::new();
    let mut tensors = [
        TensorSpec::new("a", Dtype::U8, &[60]).with_data(&[1; 60]),
        TensorSpec::new("b", Dtype::U8, &[0]).with_data(&[]),
    ];
    let path = folder.path("m");
    save(&WriteOptions::new().plan(&mut tensors, None).unwrap(), &path).unwrap();
    let options = WriteOptions::new().align_tensors(64);
    let len = Repack::open(&path).unwrap().save(&path, &options).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), len);
    let plan = options.plan(&mut tensors, None).unwrap();
    let mut expected = vec![0; plan.file_len() as usize];
    plan.write_into(&mut expected).unwrap();
    assert_eq!(fs::read(&path).unwrap(), expected);
}

#[test]
fn faults_that_can_be_mended_are() {
    let folder = Folder::new();
    let header = concat!(
        r#"{"__metadata__":{"k":"1" , "a":"x","\u006b":"2","a":"y","k":"3"},"#,
        r#""w":{"dtype":"U16","shape":[1],"data_offsets":[0,2]}}"#,
        "\0\0 \0"
    );
    let path = folder.write("m", &file(header, &[3, 4, 9, 9, 9]));
    let error = Repack::open(&path).unwrap_err();
    assert_eq!(error.to_string(), "characters behind the end of the JSON text (at byte 126)");
    let repack = Repack::open_repairing(&path).unwrap();
    let told: Vec<_> = repack.mended().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "3 NUL bytes behind the header made spaces",
            r#"metadata "k" was given more than once, the last value kept"#,
            r#"metadata "a" was given more than once, the last value kept"#,
            "3 bytes behind the last tensor left out",
        ]
    );
    let to = folder.path("to");
    repack.save(&to, &WriteOptions::new()).unwrap();
    let expected = concat!(
        r#"{"__metadata__":{"a":"y","k":"3"},"#,
        r#""w":{"dtype":"U16","shape":[1],"data_offsets":[0,2]}}"#,
        " "
    );
    assert_eq!(fs::read(&to).unwrap(), file(expected, &[3, 4]));
}

#[test]
fn what_would_be_a_guess_is_not_mended() {
    let folder = Folder::new();
    let w = r#""w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
    let v = r#""v":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}"#;
    let none = w.replace('2', "0");
    for (header, data, message) in [
        (
            format!("{{{none},{none}}}"),
            0,
            r#"tensor "w": two tensors have the same name, the other at byte 10 (at byte 62)"#,
        ),
        (
            format!("{{{w},{v}}}"),
            2,
            r#"tensor "v": tensor begins within another, 1 byte shared (at byte 106)"#,
        ),
        (
            format!("{{{w}}}"),
            1,
            "file ends before the last tensor does, 1 byte missing (at byte 62)",
        ),
        (format!("{{{w}}}\0x"), 2, "characters behind the end of the JSON text (at byte 61)"),
    ] {
        let path = folder.write("m", &file(&header, &vec![1; data]));
        let error = Repack::open_repairing(&path).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_header_with_very_many_keys_is_mended_in_time() {
    let folder = Folder::new();
    let pairs: Vec<_> = (0..200_000).map(|i| format!(r#""{}":"{i}""#, i % 2)).collect();
    let header = format!(r#"{{"__metadata__":{{{}}}}}"#, pairs.join(","));
    let path = folder.write("m", &file(&header, &[]));
    let repack = Repack::open_repairing(&path).unwrap();
    assert_eq!(repack.mended().len(), 2);
    repack.save(&path, &WriteOptions::new()).unwrap();
    let expected = r#"{"__metadata__":{"0":"199998","1":"199999"}}    "#;
    assert_eq!(fs::read(&path).unwrap(), file(expected, &[]));
}

#[test]
fn limits_of_the_writer_are_told() {
    let folder = Folder::new();
    let path = folder.write("m", &model(0));
    let options = WriteOptions::new().header_limit(16);
    let error = Repack::open(&path).unwrap().save(&path, &options).unwrap_err();
    let StreamError::Write(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), WriteErrorKind::HeaderTooLarge);
    assert_eq!(fs::read(&path).unwrap(), model(0));
}
