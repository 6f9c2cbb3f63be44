//! Faults that were found and mended, each with its input.

mod common;

use common::file;
use safetensors_core::{ErrorKind, SafeTensors, Slot};

fn error(bytes: &[u8]) -> (ErrorKind, u64) {
    let error = SafeTensors::parse(bytes, &mut [Slot::EMPTY; 4]).unwrap_err();
    (error.kind(), error.number())
}

/// These header sizes begin like a pickle or like gzip.
#[test]
fn cut_off_files_are_not_taken_for_something_else() {
    for len in [640_u64, 896, 1152, 1408, 35_615] {
        let bytes = [&len.to_le_bytes()[..], b"{\"a\":"].concat();
        assert_eq!(error(&bytes), (ErrorKind::HeaderTruncated, len - 5), "{len}");
    }
}

/// Its first bytes are a header size within the limit.
#[test]
fn gzip_without_a_time_is_gzip() {
    let bytes = [&b"\x1f\x8b\x08\0\0\0\0\0\0\x03"[..], &[0xa5; 600_000]].concat();
    assert_eq!(error(&bytes), (ErrorKind::Gzip, 0));
}

#[test]
fn a_tensor_inside_another_shares_its_own_length() {
    let header = |inner: &str| {
        let outer = r#""a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}"#;
        file(format!(r#"{{{outer},"b":{{"dtype":"U8",{inner}}}}}"#), &[0; 8])
    };
    let inside = header(r#""shape":[2],"data_offsets":[2,4]"#);
    assert_eq!(error(&inside), (ErrorKind::Overlap, 2));
    let empty = header(r#""shape":[0],"data_offsets":[2,2]"#);
    assert_eq!(error(&empty), (ErrorKind::Overlap, 0));
}

#[test]
fn a_literal_that_is_cut_off_is_an_end() {
    assert_eq!(error(&file(r#"{"a":{"x":nul"#, &[])), (ErrorKind::UnexpectedEnd, 0));
    assert_eq!(error(&file(r#"{"a":{"x":nil"#, &[])), (ErrorKind::ExpectedValue, 0));
}

/// A caller's backslash is not an escape sequence.
#[test]
fn a_name_that_is_a_backslash_is_found() {
    let bytes = file(r#"{"\\":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#, &[7]);
    let mut slots = [Slot::EMPTY; 1];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    assert_eq!(model.tensor("\\").unwrap().data(), [7]);
    assert!(model.tensor("\\\\").is_none());
}
