//! `safetensors metadata`.

use std::fs;

use crate::{Folder, owned};

const W: &str = r#""w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}"#;

fn with(pairs: &str) -> String {
    format!(r#"{{"__metadata__":{{{pairs}}},{W}}}"#)
}

/// The header's JSON and the data.
fn parts(folder: &Folder, name: &str) -> (String, Vec<u8>) {
    let bytes = fs::read(folder.path(name)).unwrap();
    let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let json = std::str::from_utf8(&bytes[8..8 + len]).unwrap();
    (json.trim_end().to_owned(), bytes[8 + len..].to_vec())
}

#[test]
fn pairs_are_listed() {
    let folder = Folder::new();
    let pairs = r#""format":"pt","long key":" \u001b[2J","n":"[1,\n2]""#;
    folder.write("m", &with(pairs), 3).write("none", &format!("{{{W}}}"), 3);
    let text = "format    pt\nlong key  \" \\u{1b}[2J\"\nn         \"[1,\\n2]\"\n";
    assert_eq!(folder.run(["metadata", "m"]), owned((0, text, "")));
    let json = "{\"format\":\"pt\",\"long key\":\" \\u001b[2J\",\"n\":\"[1,\\n2]\"}\n";
    assert_eq!(folder.run(["metadata", "m", "--json"]), owned((0, json, "")));
    assert_eq!(folder.run(["metadata", "none"]), owned((0, "", "")));
    assert_eq!(folder.run(["metadata", "none", "--json"]), owned((0, "{}\n", "")));
}

#[test]
fn one_value_comes_as_it_is() {
    let folder = Folder::new();
    folder.write("m", &with(r#""a":"1","k":"é\n\u001b""#), 3);
    assert_eq!(folder.run(["metadata", "m", "--get", "k"]), owned((0, "é\n\u{1b}\n", "")));
    let json = "\"é\\n\\u001b\"\n";
    assert_eq!(folder.run(["metadata", "m", "--get", "k", "--json"]), owned((0, json, "")));
    let stderr = "m: metadata: there is no key \"\\u{1b}\"\n";
    assert_eq!(folder.run(["metadata", "m", "--get", "\u{1b}"]), owned((1, "", stderr)));
}

#[test]
fn pairs_are_set_and_removed() {
    let folder = Folder::new();
    folder.write("m", &with(r#""a":"1","b":"2","c":"3""#), 3);
    let args = ["metadata", "m", "--set", "b=x=y", "--unset", "a", "--set", "d=", "--unset", "c"];
    let stdout = "removed a, was 1\nremoved c, was 3\nset b to x=y, was 2\nset d to \"\"\n\
                  m: written anew, the header has 94 bytes as before\n";
    assert_eq!(folder.run(args), owned((0, stdout, "")));
    assert_eq!(parts(&folder, "m"), (with(r#""b":"x=y","d":"""#), vec![0; 3]));
    // A key that is removed and set is new.
    let stdout =
        "removed b, was x=y\nset b to 1\nm: written anew, the header has 94 bytes as before\n";
    let args = ["metadata", "m", "--set", "b=1", "--unset", "b"];
    assert_eq!(folder.run(args), owned((0, stdout, "")));
    let stdout = format!(
        "set b to {0}… (40 characters more), was 1\nm: written anew, the header has 184 bytes, before 94\n",
        "x".repeat(60)
    );
    let args =
        ["metadata".to_owned(), "m".into(), "--set".into(), format!("b={}", "x".repeat(100))];
    assert_eq!(folder.run(args), owned((0, &stdout, "")));
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn changes_in_place() {
    let folder = Folder::new();
    folder.write("m", &with(r#""a":"1""#), 3);
    let stderr = "m: not changed: header has no room in place of the old one, 2 bytes missing\n";
    let args = ["metadata", "m", "--set", "a=12", "--in-place"];
    assert_eq!(folder.run(args), owned((2, "", stderr)));
    let stdout = "m: written anew, the header has 168 bytes, before 78\n";
    assert_eq!(folder.run(["metadata", "m", "--reserve", "90"]), owned((0, stdout, "")));
    let stdout = "set a to 12, was 1\nm: changed in place, the header has 168 bytes as before\n";
    assert_eq!(folder.run(args), owned((0, stdout, "")));
    assert_eq!(parts(&folder, "m"), (with(r#""a":"12""#), vec![0; 3]));
    assert_eq!(folder.names(), ["m"]);
}

#[test]
fn what_can_not_be_changed_stays() {
    let folder = Folder::new();
    folder.write("m", &with(r#""a":"1""#), 3).write("bad", "{", 0);
    let before = fs::read(folder.path("m")).unwrap();
    let stderr = "m: metadata: there is no key \"b\"\n";
    let args = ["metadata", "m", "--set", "a=2", "--unset", "a", "--unset", "b"];
    assert_eq!(folder.run(args), owned((1, "", stderr)));
    let stderr = "bad: invalid: JSON text ends in the middle (at byte 9)\n";
    assert_eq!(folder.run(["metadata", "bad", "--set", "a=2"]), owned((1, "", stderr)));
    let (code, stdout, stderr) = folder.run(["metadata", "m", "--set", "a"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("there is no `=` between key and value"), "{stderr}");
    for args in [
        &["metadata", "m", "--get", "a", "--reserve", "9"][..],
        &["metadata", "m", "--json", "--set", "a=2"],
        &["metadata", "m", "--in-place"],
    ] {
        assert_eq!(folder.run(args).0, 2, "{args:?}");
    }
    let stderr = "gone: cannot be read: No such file or directory (os error 2)\n";
    assert_eq!(folder.run(["metadata", "gone", "--unset", "a"]), owned((2, "", stderr)));
    folder.write_raw("m.recovery", b"");
    let stderr =
        "m: cannot be read: a change in place was cut off, and the recovery file is still there\n";
    assert_eq!(folder.run(["metadata", "m", "--set", "a=2"]), owned((2, "", stderr)));
    assert_eq!(fs::read(folder.path("m")).unwrap(), before);
    assert_eq!(folder.names(), ["bad", "m", "m.recovery"]);
}
