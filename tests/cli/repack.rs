//! `safetensors repack`.

use std::fs;

use crate::{Folder, owned};

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Out of order, with white space, a gap, and a field that the format does not know.
const ODD: &str = concat!(
    " { \"b\" : {\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"note\":1}, ",
    "\"w\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[3,5]} }\n"
);

const CANONICAL: &str = concat!(
    r#"{"w":{"dtype":"U16","shape":[1],"data_offsets":[0,2]},"#,
    r#""b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}      "#
);

#[test]
fn a_file_becomes_canonical() {
    let folder = Folder::new();
    folder.write_raw("in", &file(ODD, &[1, 9, 9, 2, 3]));
    let stderr = "in: warning: gap of 2 bytes before tensor \"w\" left out\n\
                  in: warning: 1 unknown field left out\n";
    let stdout = "out: 2 tensors, 123 bytes\n";
    assert_eq!(folder.run(["repack", "in", "out"]), owned((0, stdout, stderr)));
    assert_eq!(fs::read(folder.path("out")).unwrap(), file(CANONICAL, &[2, 3, 1]));
    // And stays so, over itself.
    assert_eq!(folder.run(["repack", "out", "out"]), owned((0, stdout, "")));
    assert_eq!(fs::read(folder.path("out")).unwrap(), file(CANONICAL, &[2, 3, 1]));
    assert_eq!(folder.names(), ["in", "out"]);
}

#[test]
fn data_is_aligned() {
    let folder = Folder::new();
    folder.write_raw("in", &file(CANONICAL, &[2, 3, 1]));
    let args = ["repack", "in", "out", "--align", "256", "--reserve", "200"];
    assert_eq!(folder.run(args), owned((0, "out: 2 tensors, 515 bytes\n", "")));
    let padded = format!("{CANONICAL:504}");
    assert_eq!(fs::read(folder.path("out")).unwrap(), file(&padded, &[2, 3, 1]));
    let args = ["repack", "in", "out", "--align-tensors", "4"];
    assert_eq!(folder.run(args), owned((0, "out: 2 tensors, 125 bytes\n", "")));
    let gap = CANONICAL.replace("[2,3]", "[4,5]");
    assert_eq!(fs::read(folder.path("out")).unwrap(), file(&gap, &[2, 3, 0, 0, 1]));
    let (code, _, stderr) = folder.run(["repack", "in", "out", "--align", "0"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("0 is not in 1..=4294967295"), "{stderr}");
}

#[test]
fn faults_are_mended_on_request() {
    let folder = Folder::new();
    let header = concat!(
        r#"{"__metadata__":{"k":"1","k":"2"},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#,
        "\0\0"
    );
    folder.write_raw("in", &file(header, &[7, 9]));
    let stderr = "in: invalid: characters behind the end of the JSON text (at byte 94)\n\
                  in: warning: --repair can mend it\n";
    assert_eq!(folder.run(["repack", "in", "out"]), owned((1, "", stderr)));
    assert_eq!(folder.names(), ["in"]);
    let stderr = "in: warning: 2 NUL bytes behind the header made spaces\n\
                  in: warning: metadata \"k\" was given more than once, the last value kept\n\
                  in: warning: 1 byte behind the last tensor left out\n";
    let stdout = "out: 1 tensor, 89 bytes\n";
    assert_eq!(folder.run(["repack", "in", "out", "--repair"]), owned((0, stdout, stderr)));
    let expected = concat!(
        r#"{"__metadata__":{"k":"2"},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#,
        "  "
    );
    assert_eq!(fs::read(folder.path("out")).unwrap(), file(expected, &[7]));
    assert_eq!(folder.run(["verify", "out"]), owned((0, "out: ok, 1 tensor, 89 B\n", "")));
}

#[test]
fn further_gaps_are_counted() {
    let folder = Folder::new();
    let tensors: Vec<_> = (0..13)
        .map(|i| {
            let (begin, end) = (2 * i + 1, 2 * i + 2);
            format!(r#""{i:02}":{{"dtype":"U8","shape":[1],"data_offsets":[{begin},{end}]}}"#)
        })
        .collect();
    folder.write_raw("in", &file(&format!("{{{}}}", tensors.join(",")), &[0; 26]));
    let (code, stdout, stderr) = folder.run(["repack", "in", "out"]);
    assert_eq!((code, stdout.as_str()), (0, "out: 13 tensors, 725 bytes\n"));
    assert_eq!(stderr.lines().count(), 11);
    assert!(stderr.ends_with("in: warning: and 3 more\n"), "{stderr}");
}

#[test]
fn what_can_not_be_mended_or_written() {
    let folder = Folder::new();
    folder.write_raw("in", &file(CANONICAL, &[2, 3])).write_raw("good", &file(CANONICAL, &[0; 3]));
    let stderr =
        "in: invalid: file ends before the last tensor does, 1 byte missing (at byte 122)\n";
    assert_eq!(folder.run(["repack", "in", "out", "--repair"]), owned((1, "", stderr)));
    assert_eq!(folder.run(["repack", "in", "out"]), owned((1, "", stderr)));
    let stderr = "-: no file: what is repacked is read and written in no order\n";
    assert_eq!(folder.run(["repack", "good", "-"]), owned((2, "", stderr)));
    let (code, stdout, found) = folder.run(["repack", "good", "no/out"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(found.starts_with("no/out: not written: No such file or directory"), "{found}");
    assert_eq!(folder.names(), ["good", "in"]);
}
