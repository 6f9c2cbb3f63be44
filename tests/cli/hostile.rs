//! Files made to fool who looks at them: what a terminal acts upon, or does not show, never
//! reaches it, wherever it stands.

use std::ffi::OsStr;

use crate::Folder;

/// Escape sequence, bell, DEL, C1 control, right-to-left override and isolate, zero width, BOM,
/// tag, line separator.
const MISLEADING: &str =
    "\u{1b}[2J\u{7}\u{7f}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{2028}";

/// `text` as a JSON string with every character that JSON lets stand raw, as a hostile file would.
fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn assert_harmless(output: &str) {
    for character in output.chars().filter(|character| *character != '\n') {
        assert!(!character.is_control(), "{output:?}");
        assert!(character.is_ascii() || !MISLEADING.contains(character), "{output:?}");
    }
}

#[test]
fn names_and_metadata() {
    let folder = Folder::new();
    let name = quote(&format!("name{MISLEADING}"));
    let header = format!(
        r#"{{"__metadata__":{{{name}:{name}}},{name}:{{"dtype":"U8","shape":[1],"data_offsets":[0,1],{name}:1}}}}"#
    );
    folder.write("f", &header, 1).write("short", &header, 0);
    folder.write("bad", &header.replace("[0,1]", "[0,2]"), 1);
    for command in ["inspect", "verify"] {
        for args in [&[command][..], &[command, "--json"]] {
            for file in ["f", "short", "bad"] {
                for colours in ["0", "1"] {
                    let mut process = folder.command(args);
                    let output = process.arg(file).env("CLICOLOR_FORCE", colours).output().unwrap();
                    let (_, stdout, stderr) = crate::outcome(output);
                    assert_harmless(&without_styles(&stdout));
                    assert_harmless(&without_styles(&stderr));
                }
            }
        }
    }
    let escaped = "\"name\\u{1b}[2J\\u{7}\\u{7f}\\u{9b}\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{e0041}\\u{2028}\"";
    let (_, stdout, _) = folder.run(["inspect", "f"]);
    assert!(stdout.contains(&format!("  {escaped}  {escaped}\n")), "{stdout}");
    let (_, _, stderr) = folder.run(["inspect", "bad"]);
    assert!(stderr.starts_with(&format!("bad: invalid: tensor {escaped}: data_offsets ")));
}

/// Takes out the colours, which the command itself puts in.
fn without_styles(output: &str) -> String {
    let mut parts = output.split("\u{1b}[");
    let mut rest = parts.next().unwrap().to_owned();
    for part in parts {
        let (style, text) = part.split_once('m').expect("a style");
        assert!(style.bytes().all(|byte| byte.is_ascii_digit()), "{output:?}");
        rest.push_str(text);
    }
    rest
}

/// Bare text can't pass for quoted, cut or escaped text.
#[test]
fn nothing_is_ambiguous() {
    let folder = Folder::new();
    for (name, shown) in [
        ("plain.name/0", "plain.name/0"),
        ("with space", "with space"),
        ("quo\"te", "quo\"te"),
        ("back\\slash", "back\\slash"),
        ("漢字é", "漢字é"),
        ("", "\"\""),
        ("\"quoted\"", "\"\\\"quoted\\\"\""),
        (" edge", "\" edge\""),
        ("edge\u{a0}", "\"edge\u{a0}\""),
        ("line\nend", "\"line\\nend\""),
        ("n… (3 characters more)", "\"n… (3 characters more)\""),
        ("\\u{1b}", "\\u{1b}"),
        ("\\u{1b}\u{1b}", "\"\\\\u{1b}\\u{1b}\""),
    ] {
        let header =
            format!(r#"{{{}:{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#, quote(name));
        let (_, stdout, _) = folder.write("f", &header, 1).run(["inspect", "f"]);
        let row = stdout.lines().nth(1).unwrap();
        assert_eq!(row, format!("U8     [1]        1 B   100.00%  {shown}"));
    }
}

#[test]
#[cfg(unix)]
fn names_of_files() {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    for name in [
        OsStr::new("evil\u{1b}[31m\u{202e}\n.safetensors"),
        OsStr::from_bytes(b"not utf-8 \xff\x1b.safetensors"),
    ] {
        folder.write(name, " {}", 0);
        for args in [
            &[OsStr::new("verify"), name][..],
            &[OsStr::new("verify"), OsStr::new("--json"), name],
            &[OsStr::new("inspect"), name],
            // One file too many: the message of the argument parser quotes it.
            &[OsStr::new("inspect"), OsStr::new("a"), name],
            &[OsStr::new("inspect"), OsStr::new("missing\u{1b}\u{202e}")],
            &[name],
        ] {
            let (_, stdout, stderr) = folder.run(args);
            assert!(!stdout.is_empty() || !stderr.is_empty());
            assert_harmless(&stdout);
            assert_harmless(&stderr);
        }
    }
    let (_, stdout, stderr) = folder.run(["verify", "evil\u{1b}[31m\u{202e}\n.safetensors"]);
    assert_eq!(stdout, "\"evil\\u{1b}[31m\\u{202e}\\n.safetensors\": ok, 0 tensors, 11 B\n");
    assert_eq!(
        stderr,
        "\"evil\\u{1b}[31m\\u{202e}\\n.safetensors\": warning: white space before the header's `{` (at byte 8)\n"
    );
}

/// A name that is long makes neither the table wide nor a message endless.
#[test]
fn long_names() {
    let folder = Folder::new();
    let name = "n".repeat(1_000_000);
    let header = format!(
        r#"{{"{name}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}},"w":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#
    );
    folder.write("f", &header, 1).write(
        "bad",
        &header.replace("[1]", "[2]").replace("[0]", "[3]"),
        1,
    );
    let (_, stdout, _) = folder.run(["inspect", "f"]);
    assert!(stdout.lines().all(|line| line.chars().count() < 300));
    let (_, _, stderr) = folder.run(["verify", "bad"]);
    assert!(stderr.chars().count() < 600);
    assert!(stderr.starts_with("bad: invalid: tensor \"nnn"), "{stderr}");
    let end =
        "nnn\": data_offsets disagree with shape and dtype, 3 bytes needed (at byte 1000053)\n";
    assert!(stderr.ends_with(end), "{stderr}");
}
