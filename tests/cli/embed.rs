//! `safetensors embed`. That the code compiles and holds the numbers is tested by tests/embed.py.

use std::fs;

use crate::{Folder, owned};

/// A file with this header and data.
fn write(folder: &Folder, name: &str, header: &str, data: &[u8]) {
    let len = (header.len() as u64).to_le_bytes();
    folder.write_raw(name, &[&len, header.as_bytes(), data].concat());
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

const HEADER: &str = concat!(
    r#"{"__metadata__":{"k":"a\"?\n1é"},"#,
    r#""fc.w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"#,
    r#""b":{"dtype":"I8","shape":[],"data_offsets":[16,17]},"#,
    r#""none":{"dtype":"U8","shape":[3,0],"data_offsets":[17,17]}}"#,
);

/// 1.0, -0.0, the smallest, NaN; -128.
const DATA: &[u8] = &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, 0xc0, 0x7f, 0x80];

#[test]
fn c() {
    let folder = Folder::new();
    write(&folder, "my model.safetensors", HEADER, DATA);
    let stdout = "my_model.h: 3 tensors\nmy_model.c: 3 tensors\n";
    assert_eq!(folder.run(["embed", "my model.safetensors"]), owned((0, stdout, "")));
    let version = env!("CARGO_PKG_VERSION");
    let header = format!(
        r#"/* Made by `safetensors embed` {version} from "my model.safetensors". Not to be edited. */
#ifndef my_model_H
#define my_model_H

#include <stdint.h>

#if defined(__cplusplus)
#define my_model_ASSERT(condition, text) static_assert(condition, text)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define my_model_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define my_model_ASSERT(condition, text) extern const char my_model_assertion[(condition) ? 1 : -1]
#endif

#ifdef __cplusplus
extern "C" {{
#endif

/* "fc.w": F32 [2, 2] */
#define my_model_fc_w_RANK 2
#define my_model_fc_w_DIM0 2
#define my_model_fc_w_DIM1 2
#define my_model_fc_w_LEN 4
#define my_model_fc_w_SIZE 16
extern const float my_model_fc_w[2][2];
my_model_ASSERT(sizeof my_model_fc_w == my_model_fc_w_SIZE, "size of my_model_fc_w");

/* "b": I8 [] */
#define my_model_b_RANK 0
#define my_model_b_LEN 1
#define my_model_b_SIZE 1
extern const int8_t my_model_b;
my_model_ASSERT(sizeof my_model_b == my_model_b_SIZE, "size of my_model_b");

/* "none": U8 [3, 0] */
#define my_model_none_RANK 2
#define my_model_none_DIM0 3
#define my_model_none_DIM1 0
#define my_model_none_LEN 0
#define my_model_none_SIZE 0
/* C has no arrays without elements. */

/* metadata "k" */
#define my_model_metadata_k_LEN 7
extern const char my_model_metadata_k[8];

#ifdef __cplusplus
}}
#endif

#endif
"#
    );
    assert_eq!(read(&folder, "my_model.h"), header);
    let source = read(&folder, "my_model.c");
    let (_, definitions) = source.split_once("can't align\"\n#endif\n").unwrap();
    let expected = r#"
my_model_PLACED const float my_model_fc_w[2][2] =
{{0x1p0f, -0x0p0f},
{0x0.000002p-126f, EMBED_NAN}};

my_model_PLACED const int8_t my_model_b =
-128;

const char my_model_metadata_k[8] =
"a\"\?\0121\303\251";
"#;
    assert_eq!(definitions, expected);
}

#[test]
fn rust() {
    let folder = Folder::new();
    write(&folder, "m.safetensors", HEADER, DATA);
    let args = ["embed", "m.safetensors", "--lang", "rust", "-o", "a.b", "--align", "64"];
    let args = [&args[..], &["--section", ".weights", "--json"]].concat();
    let json = "{\"file\":\"m.safetensors\",\"written\":[\"a.b.rs\"],\"tensors\":3}\n";
    assert_eq!(folder.run(args), owned((0, json, "")));
    let version = env!("CARGO_PKG_VERSION");
    let module = format!(
        r#"//! Made by `safetensors embed` {version} from "m.safetensors". Not to be edited.
#![allow(dead_code)]

/// Data that begins at a multiple of 64 bytes.
#[repr(C, align(64))]
struct Aligned<T>(T);

/// "fc.w": F32 [2, 2]
pub static FC_W: &[[f32; 2]; 2] = &FC_W_DATA.0;

#[unsafe(link_section = ".weights")]
#[rustfmt::skip]
static FC_W_DATA: Aligned<[[f32; 2]; 2]> = Aligned(
[[1.0, -0.0],
[1e-45, f32::from_bits(0x7fc00000)]]);

const _: () = assert!(core::mem::size_of::<[[f32; 2]; 2]>() == 16);

/// "b": I8 []
pub static B: &i8 = &B_DATA.0;

#[unsafe(link_section = ".weights")]
#[rustfmt::skip]
static B_DATA: Aligned<i8> = Aligned(
-128);

const _: () = assert!(core::mem::size_of::<i8>() == 1);

/// "none": U8 [3, 0]
pub static NONE: &[[u8; 0]; 3] = &NONE_DATA.0;

#[unsafe(link_section = ".weights")]
#[rustfmt::skip]
static NONE_DATA: Aligned<[[u8; 0]; 3]> = Aligned(
[[0; 0]; 3]);

const _: () = assert!(core::mem::size_of::<[[u8; 0]; 3]>() == 0);

/// metadata "k"
pub const METADATA_K: &str = "a\"?\n1\u{{e9}}";
"#
    );
    assert_eq!(read(&folder, "a.b.rs"), module);
    assert_eq!(folder.names(), ["a.b.rs", "m.safetensors"]);
}

/// What the names of tensors become, in the order of the file.
fn names(names: &[&str], lang: &str) -> Vec<String> {
    let folder = Folder::new();
    let entry = |(i, name): (usize, &&str)| {
        let name = serde_json::to_string(name).unwrap();
        format!(r#"{name}:{{"dtype":"U8","shape":[1],"data_offsets":[{i},{}]}}"#, i + 1)
    };
    let entries: Vec<_> = names.iter().enumerate().map(entry).collect();
    write(&folder, "m", &format!("{{{}}}", entries.join(",")), &vec![0; names.len()]);
    let args = ["embed", "m", "-o", "out", "--prefix", "m", "--lang", lang];
    assert_eq!(folder.run(args).0, 0);
    if lang == "c" {
        let lines = read(&folder, "out.h");
        let lines = lines.lines().filter_map(|line| line.strip_prefix("extern const uint8_t "));
        return lines.map(|line| line.trim_end_matches("[1];").to_owned()).collect();
    }
    let lines = read(&folder, "out.rs");
    let lines = lines.lines().filter_map(|line| line.strip_prefix("pub static "));
    lines.map(|line| line.split_once(':').unwrap().0.to_owned()).collect()
}

#[test]
fn long_names_are_cut() {
    let long = "x".repeat(70);
    let (cut, second) = (format!("m_{}", "x".repeat(60)), format!("m_{}_2", "x".repeat(60)));
    assert_eq!(names(&[&long, &format!("{long}y")], "c"), [cut, second]);
}

#[test]
fn no_two_names_become_one() {
    let given =
        ["a.b", "a/b", "a_b", "a_b_2", "A.B", "", "é", "0", "a", "a_LEN", "a.SIZE", "int", "H"];
    assert_eq!(
        names(&given, "c"),
        [
            "m_a_b",
            "m_a_b_2",
            "m_a_b_3",
            "m_a_b_2_2",
            "m_A_B",
            "m_unnamed",
            "m_unnamed_2",
            "m_0",
            "m_a",
            "m_a_LEN_2",
            "m_a_SIZE_2",
            "m_int",
            "m_H_2",
        ]
    );
    assert_eq!(
        names(&["a.b", "A_B", "0", "a", "a.data", "fn"], "rust"),
        ["A_B", "A_B_2", "T_0", "A", "A_DATA_2", "FN"]
    );
}

/// What is in comments and strings: the rest must be what the templates have and names.
#[test]
fn names_and_values_are_no_code() {
    let folder = Folder::new();
    let hostile = [
        "*/ int main(void) { /*",
        "??/\n",
        "\\",
        "\\\n",
        "\u{202e}",
        "\" + \"",
        "//",
        "/*/",
        "a\0b",
        "#error x",
        "}; }",
        "'",
        "\u{2028}",
        "*??/\n/",
        "??)",
        "\u{7f}\u{1b}[2J",
        "`",
        "{}",
    ];
    let mut header = String::from("{\"__metadata__\":{");
    for (i, text) in hostile.iter().enumerate() {
        let text = serde_json::to_string(text).unwrap();
        header += &format!("{}{text}:{text}", if i == 0 { "" } else { "," });
    }
    header += "}";
    for text in hostile {
        let text = serde_json::to_string(text).unwrap();
        header += &format!(r#",{text}:{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#);
    }
    header += "}";
    write(&folder, "m", &header, &[]);
    assert_eq!(folder.run(["embed", "m"]).0, 0);
    assert_eq!(folder.run(["embed", "m", "--lang", "rust"]).0, 0);
    for name in ["m.h", "m.c", "m.rs"] {
        let text = read(&folder, name);
        assert!(text.is_ascii(), "{name}");
        assert!(text.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "{name}");
        assert!(name == "m.rs" || !text.contains("??"), "{name}: a trigraph");
        assert!(!text.contains("\\\n"), "{name}: a line that goes on");
        for line in code(&text, name.ends_with(".rs")).lines() {
            let is_known =
                |c: char| c.is_ascii_alphanumeric() || " _#<>.(){}[];:,=&!?-".contains(c);
            assert!(line.chars().all(is_known), "{name}: {line}");
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            // Words that only the hostile texts have.
            assert!(
                words.into_iter().all(|word| !["main", "error", "x", "2J"].contains(&word))
                    || line.starts_with("#error"),
                "{name}: {line}"
            );
        }
    }
}

/// Source code without comments and strings.
fn code(text: &str, rust: bool) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some(character) = rest.chars().next() {
        if rest.starts_with("/*") && !rust {
            rest = rest.split_once("*/").expect("the comment ends").1;
        } else if rest.starts_with("//") && rust {
            rest = rest.split_once('\n').expect("the line ends").1;
        } else if character == '"' {
            let bytes = rest.as_bytes();
            let mut end = 1;
            while bytes[end] != b'"' {
                assert_ne!(bytes[end], b'\n', "a string ends in its line");
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            rest = &rest[end + 1..];
        } else {
            code.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    code
}

#[test]
fn errors() {
    let folder = Folder::new();
    write(&folder, "m", "{", b"");
    let stderr = "m: invalid: JSON text ends in the middle (at byte 9)\n";
    assert_eq!(folder.run(["embed", "m"]), owned((1, "", stderr)));
    let stderr = "-: no file: its data is read in an order of its own\n";
    assert_eq!(folder.run(["embed", "-"]), owned((2, "", stderr)));
    write(&folder, "m", "{}", b"");
    let (code, stdout, stderr) = folder.run(["embed", "m", "-o", "no/such/folder"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    let start = "no/such/folder: not written: No such file or directory (os error 2)";
    assert!(stderr.starts_with(start), "{stderr}");
    let stderr = "m: not written: a section's name consists of letters, digits, `.`, `_` and `-`\n";
    assert_eq!(folder.run(["embed", "m", "--section", "a\"b"]), owned((2, "", stderr)));
    for align in ["0", "3", "-1", "536870912"] {
        assert_eq!(folder.run(["embed", "m", "--align", align]).0, 2, "{align}");
    }
    assert_eq!(folder.names(), ["m"]);
}

/// What somebody wrote by hand stays, what was made before is replaced.
#[test]
fn files_are_replaced_if_they_were_made() {
    let folder = Folder::new();
    write(&folder, "m", HEADER, DATA);
    folder.write_raw("m.c", b"/* mine */");
    let stderr = "m: not written: m.c was not made by this command; --force replaces it\n";
    let (code, stdout, message) = folder.run(["embed", "m"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert_eq!(message, stderr);
    assert_eq!(
        (read(&folder, "m.c").as_str(), folder.names()),
        ("/* mine */", vec!["m".to_owned(), "m.c".to_owned()])
    );
    assert_eq!(folder.run(["embed", "m", "--force"]).0, 0);
    assert_eq!(folder.run(["embed", "m"]).0, 0);
    assert!(read(&folder, "m.c").starts_with("/* Made by"));
    assert_eq!(folder.names(), ["m", "m.c", "m.h"]);
}

#[test]
fn many_dimensions_become_one() {
    let folder = Folder::new();
    let shape = ["2"; 12].join(",");
    let header = format!(r#"{{"t":{{"dtype":"U8","shape":[{shape}],"data_offsets":[0,4096]}}}}"#);
    write(&folder, "m", &header, &[0; 4096]);
    assert_eq!(folder.run(["embed", "m"]).0, 0);
    assert!(read(&folder, "m.h").contains("\nextern const uint8_t m_t[4096];\n"));
}
