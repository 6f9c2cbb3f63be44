//! The checksum of a file: stored by `metadata --checksum`, compared by `verify`, kept right by the others.
//! The values are those of Python's `zlib.crc32`.

use std::fs;
use std::process::Stdio;

use crate::{Folder, outcome, owned};

const HEADER: &str =
    r#"{"__metadata__":{"a":"1"},"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#;

fn sealed() -> Folder {
    let folder = Folder::new();
    folder.write("m", HEADER, 3);
    let stdout = "checksum stored\nm: written anew, the header has 120 bytes, before 78\n";
    assert_eq!(folder.run(["metadata", "m", "--checksum"]), owned((0, stdout, "")));
    folder
}

/// Writes the byte 1 at the end of a file.
fn corrupt(folder: &Folder, name: &str) {
    let mut bytes = fs::read(folder.path(name)).unwrap();
    *bytes.last_mut().unwrap() = 1;
    folder.write_raw(name, &bytes);
}

const FAULT: &str = "metadata \"safetensors_core.crc32\": checksum is not that of the file's bytes";

#[test]
fn it_is_stored_and_compared() {
    let folder = sealed();
    let value = "0113a344\n";
    let args = ["metadata", "m", "--get", "safetensors_core.crc32"];
    assert_eq!(folder.run(args), owned((0, value, "")));
    let stdout = "m: ok, 1 tensor, 131 B, checksum right\n";
    assert_eq!(folder.run(["verify", "m"]), owned((0, stdout, "")));
    let json = "{\"file\":\"m\",\"valid\":true,\"error\":null,\"warnings\":[],\"warning_count\":0,\
                \"tensors\":1,\"header_len\":120,\"data_len\":3,\"checksum\":true}\n";
    assert_eq!(folder.run(["verify", "--json", "m"]), owned((0, json, "")));
    // From a pipe as well.
    let pipe = |name| {
        let file = fs::File::open(folder.path(name)).unwrap();
        outcome(folder.command(["verify", "-"]).stdin(Stdio::from(file)).output().unwrap())
    };
    assert_eq!(pipe("m"), owned((0, "-: ok, 1 tensor, 131 B, checksum right\n", "")));

    corrupt(&folder, "m");
    let stderr = format!("m: invalid: {FAULT}, which is 761493d2 (at byte 59)\n");
    assert_eq!(folder.run(["verify", "m"]), owned((1, "", &stderr)));
    let stderr = format!("-: invalid: {FAULT}, which is 761493d2 (at byte 59)\n");
    assert_eq!(pipe("m"), owned((1, "", &stderr)));
    let (code, stdout, _) = folder.run(["verify", "--json", "m"]);
    assert_eq!((code, stdout.contains("\"kind\":\"ChecksumMismatch\"")), (1, true), "{stdout}");
}

#[test]
fn changes_keep_it_right() {
    let folder = sealed();
    let right = |name| {
        let (code, stdout, stderr) = folder.run(["verify", name]);
        assert_eq!((code, stdout.ends_with(", checksum right\n")), (0, true), "{stdout}{stderr}");
    };
    for args in [
        &["metadata", "m", "--set", "a=2", "--in-place"][..],
        &["metadata", "m", "--set", "b=a longer value than there is room for"],
        &["metadata", "m", "--unset", "a"],
        &["metadata", "m", "--reserve", "100"],
        &["repack", "m", "m", "--align", "512"],
    ] {
        let (code, _, stderr) = folder.run(args);
        assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
        right("m");
    }
    let stdout = "removed safetensors_core.crc32";
    let (code, text, _) = folder.run(["metadata", "m", "--unset", "safetensors_core.crc32"]);
    assert_eq!((code, text.starts_with(stdout)), (0, true), "{text}");
    let (code, text, _) = folder.run(["verify", "m"]);
    assert_eq!((code, text.as_str()), (0, "m: ok, 1 tensor, 515 B\n"));
}

/// A fault is not sealed by a change of something else.
#[test]
fn a_wrong_one_is_not_made_right_by_the_way() {
    let folder = sealed();
    corrupt(&folder, "m");
    let before = fs::read(folder.path("m")).unwrap();
    let stderr = format!("m: not changed: {FAULT}, which is 761493d2 (at byte 59)\n");
    for in_place in [&[][..], &["--in-place"]] {
        let args = [&["metadata", "m", "--set", "a=2"][..], in_place].concat();
        assert_eq!(folder.run(args), owned((1, "", &stderr)));
    }
    let stderr = format!("out: not written: {FAULT}, which is 761493d2 (at byte 59)\n");
    assert_eq!(folder.run(["repack", "m", "out"]), owned((1, "", &stderr)));
    assert_eq!(fs::read(folder.path("m")).unwrap(), before);
    assert_eq!(folder.names(), ["m"]);
    // Unless that is what is asked for.
    let stdout = "checksum stored\nm: written anew, the header has 120 bytes as before\n";
    assert_eq!(folder.run(["metadata", "m", "--checksum"]), owned((0, stdout, "")));
    assert_eq!(folder.run(["verify", "m"]).0, 0);
}

#[test]
fn a_repaired_file_has_none() {
    let folder = sealed();
    let mut bytes = fs::read(folder.path("m")).unwrap();
    bytes.push(0);
    folder.write_raw("m", &bytes);
    let stderr = "m: warning: 1 byte behind the last tensor left out\n\
                  m: warning: checksum left out, as the file was changed\n";
    let stdout = "out: 1 tensor, 91 bytes\n";
    assert_eq!(folder.run(["repack", "--repair", "m", "out"]), owned((0, stdout, stderr)));
    assert_eq!(folder.run(["verify", "out"]), owned((0, "out: ok, 1 tensor, 91 B\n", "")));
}

#[test]
fn one_can_be_demanded() {
    let folder = sealed();
    let stdout = "m: ok, 1 tensor, 131 B, checksum right\n";
    assert_eq!(folder.run(["verify", "--checksum", "m"]), owned((0, stdout, "")));
    // A bit of the key flips: the file has none, and is valid.
    let mut bytes = fs::read(folder.path("m")).unwrap();
    let at = bytes.windows(5).position(|bytes| bytes == b"crc32").unwrap();
    bytes[at] ^= 1;
    folder.write_raw("m", &bytes);
    assert_eq!(folder.run(["verify", "m"]), owned((0, "m: ok, 1 tensor, 131 B\n", "")));
    let stderr = "m: invalid: metadata has no checksum\n";
    assert_eq!(folder.run(["verify", "--checksum", "m"]), owned((1, "", stderr)));
}

#[test]
fn it_is_not_set_by_hand() {
    let folder = sealed();
    let (code, stdout, stderr) =
        folder.run(["metadata", "m", "--set", "safetensors_core.crc32=00000000"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("--checksum stores the checksum"), "{stderr}");
}

#[test]
fn what_is_no_checksum_is_refused() {
    let folder = Folder::new();
    folder.write("m", &HEADER.replace(r#""a":"1""#, r#""safetensors_core.crc32":"1""#), 3);
    let stderr = "m: invalid: metadata \"safetensors_core.crc32\": checksum is not eight hexadecimal \
                  digits (at byte 51)\n";
    assert_eq!(folder.run(["verify", "m"]), owned((1, "", stderr)));
}
