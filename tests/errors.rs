//! Every kind of error: where it is reported, its number, and its whole message.

mod common;

use std::collections::BTreeSet;

use common::file;
use safetensors_core::ErrorKind::{self, *};
use safetensors_core::{Header, SafeTensors, Slot};

/// Parses with room for two tensors.
fn error(bytes: &[u8]) -> (ErrorKind, u64, u64, String) {
    let error = SafeTensors::parse(bytes, &mut [Slot::EMPTY; 2]).unwrap_err();
    (error.kind(), error.offset(), error.number(), error.display(bytes).to_string())
}

/// A header (behind the 8 bytes of its size), and kind, offset, number and message of its error;
/// the data section has 4 bytes.
const HEADERS: &[(&str, ErrorKind, u64, u64, &str)] = &[
    ("", UnexpectedEnd, 8, 0, "JSON text ends in the middle (at byte 8)"),
    ("{\"a", UnexpectedEnd, 11, 0, "JSON text ends in the middle (at byte 11)"),
    (" []", ExpectedObject, 9, 0, "header does not begin with `{` (at byte 9)"),
    ("{a}", ExpectedKey, 9, 0, "expected a key in quotes (at byte 9)"),
    ("{\"a\" 1}", ExpectedColon, 13, 0, "expected `:` (at byte 13)"),
    (
        r#"{"a":{"dtype":"U8" "shape":[4],"data_offsets":[0,4]}}"#,
        ExpectedComma,
        27,
        0,
        "tensor \"a\": expected `,` or a closing bracket (at byte 27)",
    ),
    (
        r#"{"a":{"x":nil,"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#,
        ExpectedValue,
        18,
        0,
        "tensor \"a\": expected a JSON value (at byte 18)",
    ),
    ("{\"a\n\":{}}", ControlCharacter, 11, 0, "control character in a string (at byte 11)"),
    (r#"{"a\x":{}}"#, InvalidEscape, 12, 0, "invalid escape sequence (at byte 12)"),
    (r#"{"a\u12g4":{}}"#, InvalidEscape, 15, 0, "invalid escape sequence (at byte 15)"),
    (r#"{"a\ud83d":{}}"#, UnpairedSurrogate, 11, 0, "unpaired surrogate (at byte 11)"),
    (
        r#"{"a":{"x":-,"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#,
        InvalidNumber,
        19,
        0,
        "tensor \"a\": invalid number (at byte 19)",
    ),
    ("{} {}", TrailingCharacters, 11, 0, "characters behind the end of the JSON text (at byte 11)"),
    (
        r#"{"a":["U8",[4],[0,4]]}"#,
        TensorNotObject,
        13,
        0,
        "tensor \"a\": description of a tensor is not an object (at byte 13)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]}}"#,
        DuplicateField,
        40,
        0,
        "tensor \"a\": field is given twice (at byte 40)",
    ),
    (
        r#"{"__metadata__":null,"__metadata__":{}}"#,
        DuplicateField,
        30,
        0,
        "field is given twice (at byte 30)",
    ),
    (
        r#"{"a":{"shape":[4],"data_offsets":[0,4]}}"#,
        MissingField,
        46,
        0,
        "tensor \"a\": field is missing, dtype (at byte 46)",
    ),
    (
        r#"{"a":{"dtype":"U8","data_offsets":[0,4]}}"#,
        MissingField,
        47,
        1,
        "tensor \"a\": field is missing, shape (at byte 47)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[4]}}"#,
        MissingField,
        38,
        2,
        "tensor \"a\": field is missing, data_offsets (at byte 38)",
    ),
    (
        r#"{"a":{"dtype":{"U8":null},"shape":[4],"data_offsets":[0,4]}}"#,
        DtypeNotString,
        22,
        0,
        "tensor \"a\": dtype is not a string (at byte 22)",
    ),
    (
        r#"{"a":{"dtype":"u8","shape":[4],"data_offsets":[0,4]}}"#,
        UnknownDtype,
        23,
        0,
        "tensor \"a\": unknown dtype (at byte 23)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":4,"data_offsets":[0,4]}}"#,
        ShapeNotArray,
        35,
        0,
        "tensor \"a\": shape is not an array (at byte 35)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[4]}}"#,
        OffsetsNotPair,
        56,
        0,
        "tensor \"a\": data_offsets is not an array of two (at byte 56)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}}"#,
        NotUnsigned,
        36,
        0,
        "tensor \"a\": not an integer from 0 to 2^64-1 (at byte 36)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,4]}}"#,
        NotUnsigned,
        36,
        0,
        "tensor \"a\": not an integer from 0 to 2^64-1 (at byte 36)",
    ),
    (
        r#"{"__metadata__":[]}"#,
        MetadataNotObject,
        24,
        0,
        "__metadata__ is not an object (at byte 24)",
    ),
    (
        r#"{"__metadata__":{"k":1}}"#,
        MetadataNotString,
        29,
        0,
        "metadata \"k\": value in __metadata__ is not a string (at byte 29)",
    ),
    (
        r#"{"__metadata__":{"k":"","\u006b":""}}"#,
        DuplicateKey,
        33,
        26,
        "metadata \"k\": key in __metadata__ is given twice, the other at byte 26 (at byte 33)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#,
        DuplicateName,
        62,
        10,
        "tensor \"a\": two tensors have the same name, the other at byte 10 (at byte 62)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,4]}}"#,
        SizeOverflow,
        47,
        0,
        "tensor \"a\": size of a tensor overflows 64 bits (at byte 47)",
    ),
    (
        r#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}"#,
        PartialByte,
        36,
        12,
        "tensor \"a\": elements do not fill whole bytes, 12 bits (at byte 36)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}}"#,
        OffsetsReversed,
        54,
        0,
        "tensor \"a\": data_offsets end before they begin (at byte 54)",
    ),
    (
        r#"{"\u001b[2J":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#,
        SizeMismatch,
        63,
        8,
        "tensor \"\\u{1b}[2J\": data_offsets disagree with shape and dtype, 8 bytes needed (at byte 63)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}}"#,
        Gap,
        54,
        3,
        "tensor \"a\": bytes before this tensor belong to none, 3 bytes (at byte 54)",
    ),
    (
        r#"{"b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#,
        Overlap,
        54,
        2,
        "tensor \"b\": tensor begins within another, 2 bytes shared (at byte 54)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}"#,
        DataTruncated,
        65,
        5,
        "file ends before the last tensor does, 5 bytes missing (at byte 65)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#,
        TrailingBytes,
        62,
        3,
        "file goes on behind the last tensor, 3 bytes too many (at byte 62)",
    ),
    (
        r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"c":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#,
        TooFewSlots,
        0,
        3,
        "too few slots, 3 needed",
    ),
];

/// Whole inputs.
const FILES: &[(&[u8], ErrorKind, u64, u64, &str)] = &[
    (
        b"\x02\0\0",
        FileTooShort,
        3,
        5,
        "file ends within the 8 bytes of the header size, 5 bytes missing (at byte 3)",
    ),
    (
        b"\x01\xe1\xf5\x05\0\0\0\0{}",
        HeaderTooLarge,
        0,
        100_000_001,
        "header size is over the limit, 100000001 bytes (at byte 0)",
    ),
    (
        b"\x09\0\0\0\0\0\0\0{}",
        HeaderTruncated,
        10,
        7,
        "file ends within the header, 7 bytes missing (at byte 10)",
    ),
    (
        b"version https://git-lfs.github.com/spec/v1\n",
        GitLfsPointer,
        0,
        0,
        "not safetensors but a git-LFS pointer; fetch the file it stands for (at byte 0)",
    ),
    (
        b"PK\x03\x04\x14\0\0\0\0\0",
        ZipArchive,
        0,
        0,
        "not safetensors but a zip archive, perhaps of PyTorch (at byte 0)",
    ),
    (
        b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",
        Pickle,
        0,
        0,
        "not safetensors but a pickle, perhaps of PyTorch (at byte 0)",
    ),
    (
        b"<!DOCTYPE html>",
        Html,
        0,
        0,
        "not safetensors but an HTML page, perhaps a failed download (at byte 0)",
    ),
    (
        b"<html><head>",
        Html,
        0,
        0,
        "not safetensors but an HTML page, perhaps a failed download (at byte 0)",
    ),
    (
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
        Gzip,
        0,
        0,
        "not safetensors but gzip; decompress it first (at byte 0)",
    ),
    (b"GGUF\x03\0\0\0\x01\0\0\0", Gguf, 0, 0, "not safetensors but GGUF (at byte 0)"),
    (b"\x03\0\0\0\0\0\0\0{\xff}", InvalidUtf8, 9, 0, "header is not UTF-8 (at byte 9)"),
];

#[test]
fn each_kind_has_its_place_number_and_message() {
    let mut seen = BTreeSet::new();
    for (header, kind, offset, number, message) in HEADERS {
        let found = error(&file(header, &[0; 4]));
        assert_eq!(found, (*kind, *offset, *number, (*message).to_owned()), "{header}");
        seen.insert(format!("{kind:?}"));
    }
    for (bytes, kind, offset, number, message) in FILES {
        assert_eq!(error(bytes), (*kind, *offset, *number, (*message).to_owned()));
        seen.insert(format!("{kind:?}"));
    }
    // Below, in numbers.rs, slices.rs, shapes.rs, quantized.rs, checksum.rs, and json_values.rs.
    let made_elsewhere = [
        NestingTooDeep,
        BufferTooSmall,
        DtypeMismatch,
        Misaligned,
        BigEndianHost,
        InvalidBool,
        PartialElement,
        NotReal,
        NanNotRepresentable,
        DimensionTooLarge,
        TooManyIndices,
        IndexOutOfRange,
        ZeroStep,
        SplitByte,
        ChannelMismatch,
        ChecksumMissing,
        ChecksumInvalid,
        ChecksumMismatch,
        JsonTooDeep,
        JsonMismatch,
        NotJson,
    ];
    for kind in made_elsewhere {
        seen.insert(format!("{kind:?}"));
    }
    // One for each variant, of which this is the last.
    assert_eq!(NotJson as usize + 1, seen.len());
}

#[test]
fn nesting_is_limited_to_127() {
    let nested = |depth: usize| {
        let x = "[".repeat(depth) + &"]".repeat(depth);
        file(
            format!(r#"{{"a":{{"x":{x},"dtype":"U8","shape":[4],"data_offsets":[0,4]}}}}"#),
            &[0; 4],
        )
    };
    // The header and the description are two more.
    assert!(SafeTensors::parse(&nested(125), &mut [Slot::EMPTY]).is_ok());
    let message = "tensor \"a\": arrays and objects are nested more than 127 deep (at byte 143)";
    assert_eq!(error(&nested(126)), (NestingTooDeep, 143, 0, message.to_owned()));
}

#[test]
fn a_small_buffer_is_told_the_size() {
    let file = file(r#"{"__metadata__":{"k":"\u00e9x"}}"#, &[]);
    let value = Header::read(&file).unwrap().metadata().unwrap().value("k").unwrap();
    let error = value.decode_into(&mut [0; 2]).unwrap_err();
    assert_eq!((error.kind(), error.number()), (BufferTooSmall, 3));
    assert_eq!(error.to_string(), "buffer is too small, 3 needed");
    assert_eq!(value.decode_into(&mut [0; 3]).unwrap(), "éx");
}

#[test]
fn display_without_input_and_debug() {
    let bytes = file(HEADERS[5].0, &[0; 4]);
    let error = SafeTensors::parse(&bytes, &mut [Slot::EMPTY]).unwrap_err();
    assert_eq!(error.to_string(), "expected `,` or a closing bracket (at byte 27)");
    assert_eq!(format!("{error:?}"), "Error { kind: ExpectedComma, offset: 27, number: 0 }");
    assert_eq!(error.display(&bytes).name().unwrap(), "a");
    // Bytes that are not those of the error give no name, or another, but never a panic.
    assert_eq!(error.display(b"").to_string(), error.to_string());
}
