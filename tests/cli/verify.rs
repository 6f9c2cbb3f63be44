//! `safetensors verify`.

use serde_json::{Value, json};

use crate::{Folder, outcome, owned};

const GOOD: &str = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;

#[test]
fn all_files_are_checked_and_the_worst_counts() {
    let folder = Folder::new();
    folder.write("a", GOOD, 8).write("b", "{", 0).write("c", "{} ", 0);
    assert_eq!(
        folder.run(["verify", "a", "c"]),
        owned((0, "a: ok, 1 tensor, 70 B\nc: ok, 0 tensors, 11 B\n", "",))
    );
    assert_eq!(
        folder.run(["verify", "b", "a"]),
        owned((
            1,
            "a: ok, 1 tensor, 70 B\n",
            "b: invalid: JSON text ends in the middle (at byte 9)\n",
        ))
    );
    let (code, stdout, stderr) = folder.run(["verify", "missing", "b", "a", "c"]);
    assert_eq!((code, stdout.lines().count(), stderr.lines().count()), (2, 2, 2));
}

/// What the format's description does not admit, each accepted with a warning.
#[test]
fn warnings() {
    let folder = Folder::new();
    let w = r#""dtype":"U8","shape":[1],"data_offsets":[0,1]"#;
    for (header, warnings) in [
        (" {}".to_owned(), &["white space before the header's `{` (at byte 8)"][..]),
        ("{}  \t ".into(), &["header is padded with something other than spaces (at byte 12)"]),
        ("{}\n".into(), &["header is padded with something other than spaces (at byte 10)"]),
        ("{}   ".into(), &[]),
        (r#"{"__metadata__": null}"#.into(), &["__metadata__ is null, not a map (at byte 25)"]),
        (r#"{"__metadata__":{}}"#.into(), &[]),
        (r#"{"__metadata_\u005f":{}}"#.into(), &[
            r#"needlessly escaped word "__metadata__" (at byte 10)"#,
        ]),
        (format!("{{ \"w\" : {{\n{w} }} }}"), &[]),
        (format!(r#"{{"w":{{{w},"note":{{"dtype":[1]}},"note":""}}}}"#), &[
            r#"tensor "w": unknown field "note" (at byte 61)"#,
            r#"tensor "w": unknown field "note" (at byte 82)"#,
        ]),
        (format!(r#"{{"w":{{{}}}}}"#, w.replace("dtype", r"\u0064type")), &[
            r#"tensor "w": needlessly escaped word "dtype" (at byte 15)"#,
        ]),
        (format!(r#"{{"w":{{{}}}}}"#, w.replace("U8", r"\u00558")), &[
            r#"tensor "w": needlessly escaped word "U8" (at byte 23)"#,
        ]),
        (format!(r#"{{"\u0077":{{{w}}}}}"#), &[]),
        (
            r#"{"w":{"dtype":"U8","shape":[0,281474976710656,281474976710655],"data_offsets":[0,0]}}"#
                .into(),
            &[r#"tensor "w": number is over 2^48-1 (at byte 38)"#],
        ),
    ] {
        let data = usize::from(header.contains("[0,1]") );
        folder.write("f", &header, data);
        let (code, stdout, stderr) = folder.run(["verify", "f"]);
        assert!(code == 0 && stdout.starts_with("f: ok, "), "{stderr}");
        let expected: String =
            warnings.iter().map(|warning| format!("f: warning: {warning}\n")).collect();
        assert_eq!(stderr, expected);

        let (_, stdout, _) = folder.run(["verify", "--json", "f"]);
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["warning_count"], warnings.len());
        let messages: Vec<&Value> =
            report["warnings"].as_array().unwrap().iter().map(|item| &item["message"]).collect();
        assert_eq!(messages, warnings);
    }
}

#[test]
fn further_warnings_are_counted() {
    let folder = Folder::new();
    let fields: String = (0..1_012).map(|i| format!(r#","{i}":0"#)).collect();
    let header = format!(r#"{{"w":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]{fields}}}}}"#);
    folder.write("f", &header, 0);
    let (code, _, stderr) = folder.run(["verify", "f"]);
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!((code, lines.len()), (0, 11));
    assert_eq!(lines[9], r#"f: warning: tensor "w": unknown field "9" (at byte 115)"#);
    assert_eq!(lines[10], "f: warning: and 1,002 more");
    let (_, stdout, _) = folder.run(["verify", "--json", "f"]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["warnings"].as_array().unwrap().len(), 10);
    assert_eq!(report["warning_count"], 1_012);
}

#[test]
fn json_lines() {
    let folder = Folder::new();
    folder
        .write("good", GOOD, 8)
        .write("note", r#"{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"a":1}}"#, 0)
        .write("size", &GOOD.replace("8", "4"), 4)
        .write("pair", r#"{"__metadata__":{"k":1}}"#, 0);
    let (code, stdout, stderr) =
        folder.run(["verify", "--json", "good", "note", "size", "pair", "missing"]);
    assert_eq!((code, stderr.as_str()), (2, ""));
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(
        lines[0],
        concat!(
            r#"{"file":"good","valid":true,"error":null,"warnings":[],"warning_count":0,"#,
            r#""tensors":1,"header_len":54,"data_len":8}"#
        )
    );
    assert_eq!(
        lines[1],
        concat!(
            r#"{"file":"note","valid":true,"error":null,"warnings":[{"kind":"UnknownField","#,
            r#""offset":61,"tensor":"w","message":"tensor \"w\": unknown field \"a\" (at byte 61)"}],"#,
            r#""warning_count":1,"tensors":1,"header_len":59,"data_len":0}"#
        )
    );
    assert_eq!(
        lines[2],
        concat!(
            r#"{"file":"size","valid":false,"error":{"kind":"SizeMismatch","offset":55,"number":8,"#,
            r#""tensor":"w","message":"tensor \"w\": data_offsets disagree with shape and dtype, "#,
            r#"8 bytes needed (at byte 55)"},"warnings":[],"warning_count":0,"tensors":null,"#,
            r#""header_len":null,"data_len":null}"#
        )
    );
    let [pair, missing] = [3, 4].map(|i| serde_json::from_str::<Value>(lines[i]).unwrap());
    assert_eq!(
        pair["error"],
        json!({
            "kind": "MetadataNotString", "offset": 29, "number": 0, "tensor": null,
            "message": "metadata \"k\": value in __metadata__ is not a string (at byte 29)",
        })
    );
    assert_eq!((&missing["valid"], &missing["error"]["kind"]), (&Value::Null, &json!("Io")));
}

#[test]
fn a_change_in_place_that_was_cut_off_is_undone() {
    let folder = Folder::new();
    folder.write("m", GOOD, 8);
    // As the change puts it beside the file: the bytes from 8 on that are there, and the new ones.
    let old = std::fs::read(folder.path("m")).unwrap();
    let header = concat!(
        r#"{"__metadata__":{"file_len":"70"},"#,
        r#""old 8":{"dtype":"U8","shape":[20],"data_offsets":[0,20]},"#,
        r#""new 8":{"dtype":"U8","shape":[20],"data_offsets":[20,40]}}"#
    );
    let new = GOOD.replace("F32", "???");
    let recovery = [
        &(header.len() as u64).to_le_bytes(),
        header.as_bytes(),
        &old[8..28],
        &new.as_bytes()[..20],
    ];
    folder.write_raw("m.recovery", &recovery.concat());
    let path = folder.path("m.recovery").canonicalize().unwrap();
    let offer = format!(
        "m: a change in place was cut off: --recover puts back what was there before, from {}\n",
        path.display()
    );
    // Whether what is there now is valid or not.
    assert_eq!(folder.run(["verify", "m"]), owned((1, "", &offer)));
    folder.write("m", &new, 8);
    let broken = "m: invalid: tensor \"w\": unknown dtype (at byte 23)\n".to_owned() + &offer;
    assert_eq!(folder.run(["verify", "m"]), owned((1, "", &broken)));
    let (code, stdout, _) = folder.run(["verify", "--json", "m"]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &report["valid"], &report["recovery"]), (1, &json!(false), &json!(path)));
    let stdout = "m: put back what was there before a change in place\nm: ok, 1 tensor, 70 B\n";
    assert_eq!(folder.run(["verify", "--recover", "m"]), owned((0, stdout, "")));
    assert_eq!(std::fs::read(folder.path("m")).unwrap(), old);
    assert_eq!(folder.names(), ["m"]);
    // What is no recovery file of this file is not used.
    folder.write_raw("m.recovery", b"");
    let failed = "m: cannot be read: it can't be recovered: file ends within the 8 bytes of the \
                  header size, 8 bytes missing (at byte 0)\n"
        .to_owned()
        + &offer;
    assert_eq!(folder.run(["verify", "--recover", "m"]), owned((2, "", &failed)));
    assert_eq!(std::fs::read(folder.path("m")).unwrap(), old);
}

#[test]
fn standard_input_has_no_recovery_file() {
    let folder = Folder::new();
    folder.write("m", GOOD, 8).write_raw("-.recovery", b"something else").write_raw("-", b"file");
    let input = std::fs::File::open(folder.path("m")).unwrap();
    let output = folder.command(["verify", "--recover", "-"]).stdin(input).output().unwrap();
    assert_eq!(outcome(output), owned((0, "-: ok, 1 tensor, 70 B\n", "")));
    assert_eq!(std::fs::read(folder.path("-")).unwrap(), b"file");
}

/// There is no room in it for the name of a recovery file.
#[test]
fn the_longest_names() {
    let folder = Folder::new();
    let name = "n".repeat(255);
    folder.write(&name, GOOD, 8);
    let stdout = format!("{name}: ok, 1 tensor, 70 B\n");
    assert_eq!(folder.run(["verify", &*name]), owned((0, &stdout, "")));
    let (code, stdout, stderr) = folder.run(["metadata", &*name, "--set", "a=b", "--reserve", "9"]);
    assert_eq!((code, stdout.lines().count(), stderr.as_str()), (0, 2, ""));
    let (code, _, stderr) = folder.run(["metadata", &*name, "--set", "a=c", "--in-place"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("not changed: File name too long"), "{stderr}");
    assert_eq!(folder.names(), [name]);
}
