//! The checksum in the metadata. The values are those of Python's `zlib.crc32`.

use safetensors_core::{
    Checksum, Dtype, Editor, Error, ErrorKind, Header, MetadataPair, SafeTensors, Slot, TensorSpec,
    WriteErrorKind, WriteOptions,
};

const HEADER: &str = concat!(
    r#"{"__metadata__":{"a":"1","safetensors_core.crc32":"00000000"},"#,
    r#""w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}      "#
);

/// What `zlib.crc32` says of that header, its size before it, and the data 1, 2, 3.
const DIGITS: &str = "abeefa4b";

fn file(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[1, 2, 3]].concat()
}

fn good() -> Vec<u8> {
    file(&HEADER.replace("00000000", DIGITS))
}

fn check(file: &[u8]) -> Result<(), Error> {
    let mut slots = [Slot::EMPTY; 4];
    SafeTensors::parse(file, &mut slots)?.check_checksum()
}

fn message(file: &[u8]) -> String {
    check(file).unwrap_err().display(file).to_string()
}

#[test]
fn the_right_one_is_accepted() {
    assert_eq!(check(&good()), Ok(()));
}

#[test]
fn another_one_is_refused() {
    assert_eq!(
        message(&file(HEADER)),
        format!(
            "metadata \"safetensors_core.crc32\": checksum is not that of the file's bytes, which is {DIGITS} (at byte 59)"
        )
    );
}

#[test]
fn none_is_an_error() {
    let none = file(&HEADER.replace("safetensors_core.crc32", "crc33"));
    assert_eq!(message(&none), "metadata has no checksum");
    let no_metadata = file(r#"{"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#);
    assert_eq!(message(&no_metadata), "metadata has no checksum");
    // A file that was parsed with slots knows where its metadata is, one made of them does not.
    assert_eq!(check(&no_metadata).unwrap_err().kind(), ErrorKind::ChecksumMissing);
}

#[test]
fn a_value_that_is_none_is_an_error() {
    let kind = |value: &str| check(&file(&HEADER.replace("00000000", value))).unwrap_err().kind();
    for value in ["", "0000000", "000000000", "0000000g", "0000000A", " 0000000", "0x000000"] {
        assert_eq!(kind(value), ErrorKind::ChecksumInvalid, "{value}");
    }
    // Not as an escape either, as its place must be known.
    assert_eq!(kind(r"0000000\u0030"), ErrorKind::ChecksumInvalid);
    assert_eq!(kind(r"00\u0030"), ErrorKind::ChecksumInvalid);
    assert_eq!(
        message(&file(&HEADER.replace("00000000", "abc"))),
        "metadata \"safetensors_core.crc32\": checksum is not eight hexadecimal digits (at byte 59)"
    );
}

/// Every bit of the file counts: with one changed the file is no longer valid, or has another
/// checksum.
#[test]
fn every_bit_counts() {
    let good = good();
    let mut mismatches = 0;
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let error = check(&bad).expect_err(&format!("bit {bit}"));
        mismatches += usize::from(error.kind() == ErrorKind::ChecksumMismatch);
    }
    // Those of the data, of names and of values at least.
    assert!(mismatches > 24, "{mismatches}");
}

#[test]
fn data_may_come_in_pieces() {
    let file = good();
    let header = Header::read(&file).unwrap();
    let data = &file[header.data_start() as usize..];
    let mut checksum = Checksum::of(&header).unwrap();
    assert_eq!(checksum.place(), 59);
    assert!(checksum.check().is_err());
    for byte in data {
        checksum.update(std::slice::from_ref(byte));
    }
    assert_eq!(checksum.check(), Ok(()));
    assert_eq!(checksum.digits(), DIGITS.as_bytes());
    assert_eq!(
        format!("{checksum:?}"),
        format!("Checksum {{ value: {DIGITS}, stored: {DIGITS} }}")
    );
}

#[test]
fn an_editor_stores_it() {
    // With the key, with other metadata, without metadata; twice gives the same.
    for header in [
        HEADER.to_owned(),
        HEADER.replace("00000000", "what this is?"),
        r#"{"__metadata__":{"a":"1"},"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#.into(),
        r#"{"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#.into(),
    ] {
        let mut buffer = file(&header);
        let len = buffer.len();
        buffer.resize(len + 100, 0xaa);
        let mut editor = Editor::open(&mut buffer, len).unwrap();
        editor.set_checksum().unwrap();
        let once = editor.file().to_vec();
        editor.set_checksum().unwrap();
        let twice = editor.finish();
        assert_eq!(check(twice), Ok(()), "{header}");
        assert_eq!(once, twice);
    }
}

#[test]
fn an_editor_says_when_there_is_no_room() {
    let mut buffer = file(r#"{"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#);
    let (len, before) = (buffer.len(), buffer.clone());
    let error = Editor::open(&mut buffer, len).unwrap().set_checksum().unwrap_err();
    assert_eq!((error.kind(), buffer), (WriteErrorKind::BufferTooSmall, before));
}

#[test]
fn an_editor_without_the_data_stores_none() {
    let mut buffer = good();
    let (len, before) = (buffer.len(), buffer.clone());
    for missing in [1, 3] {
        let mut editor = Editor::open(&mut buffer, len - missing).unwrap();
        let error = editor.set_checksum().unwrap_err();
        assert_eq!((error.kind(), error.number()), (WriteErrorKind::MissingData, missing as u64));
    }
    assert_eq!(buffer, before);
}

/// The digits that a plan of these pairs gives.
fn planned(metadata: &[(&str, &str)], data: bool) -> Result<String, WriteErrorKind> {
    let spec = TensorSpec::new("w", Dtype::U8, &[3]);
    let mut tensors = [if data { spec.with_data(&[1, 2, 3]) } else { spec }];
    let mut pairs: Vec<_> = metadata.iter().map(|(k, v)| MetadataPair::new(*k, *v)).collect();
    let plan = WriteOptions::new().plan(&mut tensors, Some(&mut pairs)).unwrap();
    let digits = plan.checksum().map_err(|error| error.kind())?;
    Ok(String::from_utf8(digits.into()).unwrap())
}

#[test]
fn a_plan_knows_it() {
    let digits = planned(&[("a", "1"), ("safetensors_core.crc32", "00000000")], true).unwrap();
    assert_eq!(digits, DIGITS);
    assert_eq!(
        planned(&[("safetensors_core.crc32", "00000000")], false),
        Err(WriteErrorKind::MissingData)
    );
    for pairs in [&[("a", "1")][..], &[], &[("safetensors_core.crc32", DIGITS)]] {
        assert_eq!(planned(pairs, true), Err(WriteErrorKind::ChecksumMissing));
    }
}

#[test]
fn a_file_without_data_has_one() {
    let header = r#"{"__metadata__":{"safetensors_core.crc32":"26369825"}}  "#;
    let file = [&56_u64.to_le_bytes(), header.as_bytes()].concat();
    assert_eq!(check(&file), Ok(()));
}
