//! Files that are edited in a buffer: what is asked for changes, and not a byte besides.

use safetensors_core::{
    Dtype, Editor, Header, MetadataPair, Options, SafeTensors, Slot, TensorSpec, WriteError,
    WriteErrorKind, WriteOptions,
};

const W: &str = r#""w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}"#;

/// A file with this header and the data 1, 2, 3.
fn file(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[1, 2, 3]].concat()
}

/// The header after the change, without the spaces behind it. The file is checked besides: valid,
/// the data is as it was.
fn edited(
    header: &str,
    change: impl FnOnce(&mut Editor<'_>) -> Result<(), WriteError>,
) -> Result<String, WriteError> {
    let mut buffer = file(header);
    let len = buffer.len();
    buffer.resize(len + 100, 0xaa);
    let mut editor = Editor::open(&mut buffer, len).unwrap();
    change(&mut editor)?;
    let file = editor.finish();
    let mut slots = [Slot::EMPTY; 8];
    let model = SafeTensors::parse(file, &mut slots).unwrap();
    let data: Vec<_> = model.iter().map(|tensor| tensor.data()).collect();
    assert!(data.is_empty() || data == [[1, 2, 3]]);
    let json = std::str::from_utf8(Header::read(file).unwrap().json()).unwrap();
    Ok(json.trim_end_matches(' ').to_owned())
}

fn set(header: &str, key: &str, value: &str) -> String {
    edited(header, |editor| editor.set_metadata(key, value)).unwrap()
}

fn remove(header: &str, key: &str) -> String {
    edited(header, |editor| {
        assert!(editor.remove_metadata(key)?);
        assert!(!editor.remove_metadata(key)?);
        Ok(())
    })
    .unwrap()
}

fn rename(header: &str, from: &str, to: &str) -> Result<String, WriteErrorKind> {
    edited(header, |editor| editor.rename(from, to)).map_err(|error| error.kind())
}

// ── metadata ──

#[test]
fn metadata_is_set_where_there_is_none() {
    assert_eq!(
        set(&format!("{{{W}}}"), "k", "a\"\n\u{1}é"),
        format!(r#"{{"__metadata__":{{"k":"a\"\n\u0001é"}},{W}}}"#)
    );
    let spaced = format!(" \t\n{{ {W} }}\n ");
    assert_eq!(set(&spaced, "k", "v"), format!(" \t\n{{\"__metadata__\":{{\"k\":\"v\"}}, {W} }}"));
    let null = format!(r#"{{{W}, "__metadata__": null }}"#);
    assert_eq!(set(&null, "k", "v"), format!(r#"{{{W}, "__metadata__": {{"k":"v"}} }}"#));
}

#[test]
fn metadata_is_set_in_a_file_without_tensors() {
    let mut buffer = [0; 64];
    buffer[..16].copy_from_slice(b"\x08\0\0\0\0\0\0\0{}      ");
    let mut editor = Editor::open(&mut buffer, 16).unwrap();
    editor.set_metadata("k", "v").unwrap();
    assert_eq!(
        editor.finish(),
        b"\x28\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"v\"}}              "
    );
}

#[test]
fn metadata_is_added_behind_the_other_pairs() {
    let empty = format!(r#"{{"__metadata__":{{ }},{W}}}"#);
    assert_eq!(set(&empty, "k", "v"), format!(r#"{{"__metadata__":{{ "k":"v"}},{W}}}"#));
    let one = format!(r#"{{"__metadata__":{{"a" : "b" }},{W}}}"#);
    assert_eq!(set(&one, "k", "v"), format!(r#"{{"__metadata__":{{"a" : "b","k":"v" }},{W}}}"#));
}

#[test]
fn metadata_is_replaced_however_its_key_is_spelled() {
    let header = format!(r#"{{{W},"__metadata__":{{"a":"1","\u006b" : "\u00e9\"","c":"3"}}}}"#);
    let expected = format!(r#"{{{W},"__metadata__":{{"a":"1","\u006b" : "v","c":"3"}}}}"#);
    assert_eq!(set(&header, "k", "v"), expected);
}

#[test]
fn metadata_is_removed_with_its_comma() {
    let header = |pairs: &str| format!(r#"{{"__metadata__":{{{pairs}}},{W}}}"#);
    let three = header(r#" "a":"1" , "b":"2" , "c":"3" "#);
    assert_eq!(remove(&three, "a"), header(r#" "b":"2" , "c":"3" "#));
    assert_eq!(remove(&three, "b"), header(r#" "a":"1" , "c":"3" "#));
    assert_eq!(remove(&three, "c"), header(r#" "a":"1" , "b":"2" "#));
    assert_eq!(remove(&header(r#" "a" : "1" "#), "a"), header("  "));
    for without in [format!("{{{W}}}"), format!(r#"{{"__metadata__":null,{W}}}"#)] {
        let same = edited(&without, |editor| {
            assert_eq!(editor.remove_metadata("a"), Ok(false));
            Ok(())
        });
        assert_eq!(same, Ok(without));
    }
}

// ── tensors ──

#[test]
fn tensors_are_renamed() {
    let header = r#"{"w" : {"extra":{"w":1},"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#;
    assert_eq!(
        rename(header, "w", "longer/\u{7f}\t").unwrap(),
        header.replacen("\"w\"", "\"longer/\u{7f}\\t\"", 1)
    );
    let escaped = header.replacen("\"w\"", "\"\\u0077\"", 1);
    assert_eq!(rename(&escaped, "w", "").unwrap(), header.replacen("\"w\"", "\"\"", 1));
    assert_eq!(rename(&escaped, "w", "w").unwrap(), header);
}

#[test]
fn names_that_would_not_be_valid_are_refused() {
    let two = r#"{"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"v":{"dtype":"U8","shape":[0],"data_offsets":[3,3]}}"#;
    assert_eq!(rename(two, "w", "v"), Err(WriteErrorKind::DuplicateName));
    assert_eq!(rename(two, "w", "__metadata__"), Err(WriteErrorKind::ReservedName));
    assert_eq!(rename(two, "x", "y"), Err(WriteErrorKind::NoSuchTensor));
    assert_eq!(rename(two, "__metadata__", "y"), Err(WriteErrorKind::NoSuchTensor));
    let with_metadata = format!(r#"{{"__metadata__":{{"a":"b"}},{W}}}"#);
    assert_eq!(rename(&with_metadata, "a", "y"), Err(WriteErrorKind::NoSuchTensor));
}

#[test]
fn data_is_overwritten_where_it_lies() {
    let mut buffer = file(&format!("{{{W}}}"));
    let len = buffer.len();
    let before = buffer.clone();
    let mut editor = Editor::open(&mut buffer, len).unwrap();
    editor.data_mut("w").unwrap()[1] = 9;
    assert_eq!(editor.data_mut("v"), None);
    let file = editor.finish();
    assert_eq!(file[len - 3..], [1, 9, 3]);
    assert_eq!(file[..len - 3], before[..len - 3]);
    // The header alone, and one that promises more than there is.
    for len in [len - 3, len - 1] {
        assert_eq!(Editor::open(&mut buffer[..len], len).unwrap().data_mut("w"), None);
    }
}

// ── room ──

#[test]
fn spaces_are_used_up_before_the_data_is_moved() {
    let mut tensors = [TensorSpec::new("w", Dtype::U8, &[3]).with_data(&[1, 2, 3])];
    let mut pairs = [MetadataPair::new("k", "")];
    let plan = WriteOptions::new().reserve(10).plan(&mut tensors, Some(&mut pairs)).unwrap();
    let mut buffer = [0; 256];
    let len = plan.write_into(&mut buffer).unwrap().len();
    let start = plan.data_start() as usize;
    let spaces = |file: &[u8], start: usize| {
        file[..start].iter().rev().take_while(|byte| **byte == b' ').count()
    };
    let room = spaces(&buffer, start);
    // What the data is aligned to.
    let step = 1 << start.trailing_zeros();
    assert!((10..18).contains(&room));
    // To the last of them, without a byte of buffer more, and back.
    let mut editor = Editor::open(&mut buffer[..len], len).unwrap();
    editor.set_metadata("k", &*"x".repeat(room)).unwrap();
    assert_eq!(editor.header().data_start() as usize, start);
    assert_eq!(spaces(editor.file(), start), 0);
    let error = editor.set_metadata("k", &*"x".repeat(room + 1)).unwrap_err();
    assert_eq!(error.to_string(), format!("buffer is too small, {} bytes needed", len + step));
    assert_eq!(error.index(), None);
    assert_eq!(editor.header().metadata().unwrap().value("k").unwrap().len(), room);
    editor.set_metadata("k", "").unwrap();
    assert_eq!(spaces(editor.file(), start), room);
    editor.reserve(room as u32).unwrap();
    editor.finish();
    // With the room that was asked for.
    let mut editor = Editor::open(&mut buffer[..len + step], len).unwrap();
    editor.set_metadata("k", &*"x".repeat(room + 1)).unwrap();
    let file = editor.finish();
    assert_eq!(file.len(), len + step);
    assert_eq!((spaces(file, start + step), &file[start + step..]), (step - 1, &[1, 2, 3][..]));
}

#[test]
fn alignment_is_kept_when_the_data_moves() {
    for (align, kept) in [(1, 8), (8, 8), (64, 64), (4096, 4096), (65536, 4096)] {
        let mut tensors = [TensorSpec::new("w", Dtype::U8, &[3]).with_data(&[1, 2, 3])];
        let plan = WriteOptions::new().align(align).plan(&mut tensors, None).unwrap();
        let mut buffer = vec![0; 1 << 18];
        let len = plan.write_into(&mut buffer).unwrap().len();
        let mut editor = Editor::open(&mut buffer, len).unwrap();
        let long = "x".repeat(plan.data_start() as usize);
        editor.set_metadata("k", &*long).unwrap();
        let start = editor.header().data_start();
        assert!(start.is_multiple_of(kept) && start > plan.data_start());
        assert!(start < plan.data_start() * 2 + 100 + kept, "{align} {start}");
        editor.reserve(5).unwrap();
        assert_eq!(editor.data_mut("w"), Some(&mut [1, 2, 3][..]));
        assert_eq!(SafeTensors::scan(editor.file()).unwrap().tensors(), 1);
    }
}

#[test]
fn headers_over_the_limit_are_refused() {
    let header = format!("{{{W}}}");
    let mut buffer = file(&header);
    let len = buffer.len();
    buffer.resize(4096, 0);
    let before = buffer.clone();
    let options = Options::new().header_limit(128);
    let mut editor = options.edit(&mut buffer, len).unwrap();
    let error = editor.set_metadata("k", &*"x".repeat(60)).unwrap_err();
    assert_eq!(error.to_string(), "header is larger than readers accept, 144 bytes");
    let error = editor.reserve(u32::MAX).unwrap_err();
    assert_eq!(error.kind(), WriteErrorKind::HeaderTooLarge);
    assert_eq!(editor.finish().len(), len);
    assert_eq!(buffer, before);
}

#[test]
fn what_is_not_valid_is_not_edited() {
    let mut buffer = file("{]");
    let error = Editor::open(&mut buffer, 13).unwrap_err();
    assert_eq!(error.to_string(), "expected a key in quotes (at byte 9)");
    let error = Editor::open(&mut buffer, 9).unwrap_err();
    assert_eq!(error.to_string(), "file ends within the header, 1 byte missing (at byte 9)");
    let error = Editor::open(&mut buffer[..7], 100).unwrap_err();
    assert_eq!(
        error.to_string(),
        "file ends within the 8 bytes of the header size, 1 byte missing (at byte 7)"
    );
}
