//! `safetensors inspect`.

use serde_json::{Value, json};

use crate::{Folder, outcome, owned, safetensors};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.safetensors");

#[test]
fn a_table_for_people() {
    let output = safetensors().args(["inspect", DIGITS]).output().unwrap();
    let text = "\
dtype  shape        bytes    share  name
F32    [32]        128 B     1.33%  fc1.bias
F32    [32, 64]  8.192 kB   84.98%  fc1.weight
F32    [10]         40 B     0.41%  fc2.bias
F32    [10, 32]  1.280 kB   13.28%  fc2.weight

metadata  6 keys
  accuracy       0.9733
  classes        [\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"]
  data           Optical Recognition of Handwritten Digits, UCI, CC BY 4.0, via scikit-learn
  description    8x8 digits, 64-32-10, ReLU, softmax
  format         pt
  normalization  {\"scale\": 0.0625, \"offset\": 0.0}

dtype  tensors  parameters     bytes    share
F32          4       2,410  9.640 kB  100.00%
total        4       2,410  9.640 kB  100.00%

header  600 bytes
file    10,248 bytes (10.25 kB)
";
    assert_eq!(outcome(output), owned((0, text, "")));
}

#[test]
fn json_for_programs() {
    let output = safetensors().args(["inspect", "--json", DIGITS]).output().unwrap();
    let (code, stdout, stderr) = outcome(output);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with(concat!(
        r#"{"format":"safetensors","header_len":600,"data_len":9640,"#,
        r#""metadata":{"accuracy":"0.9733","classes":"[\"0\", "#,
    )));
    assert!(stdout.ends_with(concat!(
        r#""tensors":[{"name":"fc1.bias","dtype":"F32","shape":[32],"data_offsets":[0,128]},"#,
        r#"{"name":"fc1.weight","dtype":"F32","shape":[32,64],"data_offsets":[128,8320]},"#,
        r#"{"name":"fc2.bias","dtype":"F32","shape":[10],"data_offsets":[8320,8360]},"#,
        r#"{"name":"fc2.weight","dtype":"F32","shape":[10,32],"data_offsets":[8360,9640]}]}"#,
        "\n"
    )));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["metadata"]["normalization"], r#"{"scale": 0.0625, "offset": 0.0}"#);
}

#[test]
fn the_order_of_the_file_and_every_digit() {
    let folder = Folder::new();
    let header = concat!(
        r#"{"z":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"#,
        r#""__metadata__":{"z":"1","a":"2"},"#,
        r#""a":{"dtype":"F4","shape":[0,18446744073709551615],"data_offsets":[1,1]},"#,
        r#""m":{"dtype":"BF16","shape":[],"data_offsets":[2,4]},"#,
        r#""b":{"dtype":"BOOL","shape":[1,1],"data_offsets":[0,1]}}"#,
    );
    folder.write("f", header, 4);
    let line = concat!(
        r#"{"format":"safetensors","header_len":268,"data_len":4,"metadata":{"z":"1","a":"2"},"#,
        r#""tensors":[{"name":"z","dtype":"U8","shape":[1],"data_offsets":[1,2]},"#,
        r#"{"name":"a","dtype":"F4","shape":[0,18446744073709551615],"data_offsets":[1,1]},"#,
        r#"{"name":"m","dtype":"BF16","shape":[],"data_offsets":[2,4]},"#,
        r#"{"name":"b","dtype":"BOOL","shape":[1,1],"data_offsets":[0,1]}]}"#,
        "\n"
    );
    assert_eq!(folder.run(["inspect", "--json", "f"]), owned((0, line, "")));
    let text = "\
dtype  shape                         bytes    share  name
U8     [1]                            1 B    25.00%  z
F4     [0, 18446744073709551615]      0 B     0.00%  a
BF16   []                             2 B    50.00%  m
BOOL   [1, 1]                         1 B    25.00%  b

metadata  2 keys
  z  1
  a  2

dtype  tensors  parameters     bytes    share
BF16         1           1      2 B    50.00%
BOOL         1           1      1 B    25.00%
U8           1           1      1 B    25.00%
F4           1           0      0 B     0.00%
total        4           3      4 B   100.00%

header  268 bytes
file    280 bytes
";
    assert_eq!(folder.run(["inspect", "f"]), owned((0, text, "")));
}

#[test]
fn nothing_in_it() {
    let folder = Folder::new();
    folder.write("f", "{}", 0).write("null", r#"{"__metadata__":null}"#, 0);
    let text = "\
dtype  tensors  parameters     bytes    share
total        0           0      0 B         -

header  2 bytes
file    10 bytes
";
    assert_eq!(folder.run(["inspect", "f"]), owned((0, text, "")));
    let (_, stdout, _) = folder.run(["inspect", "--json", "null"]);
    let expected = json!({
        "format": "safetensors", "header_len": 21, "data_len": 0, "metadata": null, "tensors": []
    });
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap(), expected);
}

/// A number of bytes, four digits of it.
#[test]
fn sizes() {
    let folder = Folder::new();
    for (len, size) in [
        (999, "999 B"),
        (1_000, "1.000 kB"),
        (9_999, "9.999 kB"),
        (10_004, "10.00 kB"),
        (10_005, "10.01 kB"),
        (99_994, "99.99 kB"),
        (99_995, "100.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.000 MB"),
        (12_345_678, "12.35 MB"),
    ] {
        let header =
            format!(r#"{{"w":{{"dtype":"U8","shape":[{len}],"data_offsets":[0,{len}]}}}}"#);
        let (_, stdout, _) = folder.write("f", &header, len).run(["inspect", "f"]);
        let row = stdout.lines().nth(1).unwrap();
        assert!(row.contains(&format!(" {size} ")), "{row}");
    }
}

#[test]
fn long_things_are_cut() {
    let folder = Folder::new();
    let name = "n".repeat(203);
    let value = "é".repeat(101);
    let ones = ["1"; 12].join(",");
    let header = format!(
        r#"{{"__metadata__":{{"k":"{value}"}},"{name}":{{"dtype":"U8","shape":[{ones}],"data_offsets":[0,1]}}}}"#
    );
    let (_, stdout, _) = folder.write("f", &header, 1).run(["inspect", "f"]);
    let row = stdout.lines().nth(1).unwrap();
    let name = "n".repeat(200);
    assert!(row.ends_with(&format!("  {name}… (3 characters more)")), "{row}");
    assert!(row.contains("[1, 1, 1, 1, 1, 1, 1, 1, … 4 more]"), "{row}");
    let value = "é".repeat(100);
    assert!(stdout.contains(&format!("\n  k  {value}… (1 character more)\n")), "{stdout}");
}

#[test]
fn what_is_wrong_and_where() {
    let folder = Folder::new();
    let w = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    folder
        .write("short", w, 5)
        .write("long", w, 11)
        .write("dtype", r#"{"w":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}}"#, 8)
        .write("pair", r#"{"__metadata__":{"k":1}}"#, 0)
        .write_raw("lfs", lfs.as_bytes())
        .write_raw("empty", b"")
        .write_raw("zip", b"PK\x03\x04\x14\0\0\0\0\0");
    for (file, problem) in [
        ("short", "file ends before the last tensor does, 3 bytes missing (at byte 67)"),
        ("long", "file goes on behind the last tensor, 3 bytes too many (at byte 70)"),
        ("dtype", "tensor \"w\": unknown dtype (at byte 23)"),
        ("pair", "metadata \"k\": value in __metadata__ is not a string (at byte 29)"),
        ("lfs", "not safetensors but a git-LFS pointer; fetch the file it stands for (at byte 0)"),
        ("empty", "file ends within the 8 bytes of the header size, 8 bytes missing (at byte 0)"),
        ("zip", "not safetensors but a zip archive, perhaps of PyTorch (at byte 0)"),
    ] {
        let message = format!("{file}: invalid: {problem}\n");
        for args in [&["inspect", file][..], &["inspect", "--json", file], &["verify", file]] {
            assert_eq!(folder.run(args), owned((1, "", &message)));
        }
    }
}

#[test]
#[cfg(unix)]
fn what_cannot_be_read() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("folder")).unwrap();
    for (file, problem) in [
        ("missing", "No such file or directory (os error 2)"),
        ("folder", "Is a directory (os error 21)"),
    ] {
        let message = format!("{file}: cannot be read: {problem}\n");
        for args in [&["inspect", file][..], &["inspect", "--json", file], &["verify", file]] {
            assert_eq!(folder.run(args), owned((2, "", &message)));
        }
    }
}
