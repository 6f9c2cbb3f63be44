//! The worst headers that we could think of.

use super::collide::{ALPHABET, Names};
use super::header::{self, Random, fill, fill_around};
use super::models;

/// A way to make a header of so many bytes of JSON slow to read.
pub struct Attack {
    pub name: &'static str,
    /// Gets the length, and returns the beginning of a file up to the end of the header.
    pub make: fn(usize) -> Vec<u8>,
}

/// The first one is none, to compare with.
pub const ALL: [Attack; 33] = [
    attack("as models have them", usual),
    attack("shortest entries", shortest),
    attack("last name given twice", twice_at_the_end),
    attack("last byte wrong", wrong_at_the_end),
    attack("entries read twice", shortest_read_twice),
    attack("empty names", empty),
    attack("1,000 letters, one differs", long_names),
    attack("one hash", one_hash),
    attack("one bucket, 256 hashes", one_bucket),
    attack("one hash, equal starts", one_hash_long),
    attack("one hash, escapes", one_hash_escaped),
    attack("eight of a hash, escapes", eight_of_each_hash),
    attack("names all escapes", escaped),
    attack("one name all escapes", one_name),
    attack("surrogate pairs", surrogates),
    attack("not ASCII", not_ascii),
    attack("offsets reversed", reversed),
    attack("offsets of all bits", all_bits),
    attack("shortest metadata", metadata),
    attack("metadata with escapes", metadata_escaped),
    attack("metadata and tensors", metadata_last),
    attack("metadata of one hash", metadata_one_hash),
    attack("unknown fields", unknown_fields),
    attack("unknown fields, escapes", unknown_escaped),
    attack("one unknown array", array),
    attack("125 deep", deep),
    attack("one number", number),
    attack("one shape", rank),
    attack("one shape, long numbers", rank_long),
    attack("one shape read twice", rank_read_twice),
    attack("fields all escapes", other_order),
    attack("white space between all", space_between),
    attack("white space in one run", space_run),
];

const fn attack(name: &'static str, make: fn(usize) -> Vec<u8>) -> Attack {
    Attack { name, make }
}

/// A tensor without elements.
pub const EMPTY: &str = r#":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;

const FIELDS: &str = r#""dtype":"U8","shape":[0],"data_offsets":[0,0]"#;

/// Adds such a tensor with this name.
pub fn add(head: &mut Vec<u8>, name: &str) {
    add_text(head, name);
    head.extend(EMPTY.as_bytes());
}

fn add_text(head: &mut Vec<u8>, text: &str) {
    head.push(b'"');
    head.extend(text.as_bytes());
    head.push(b'"');
}

/// The shortest text that stands for number `i` and no other.
fn short(i: usize) -> String {
    let (mut text, mut rest) = (String::new(), i);
    while rest > 0 {
        rest -= 1;
        text.push(char::from(ALPHABET[rest % ALPHABET.len()]));
        rest /= ALPHABET.len();
    }
    text
}

/// Every character as an escape.
fn escape(text: &str) -> String {
    text.bytes().map(|byte| format!("\\u{byte:04x}")).collect()
}

fn usual(len: usize) -> Vec<u8> {
    fill(len, |head, i| head.extend(models::member(i).as_bytes()))
}

fn shortest(len: usize) -> Vec<u8> {
    fill(len, |head, i| add(head, &short(i)))
}

fn twice_at_the_end(len: usize) -> Vec<u8> {
    let last = format!(",\"\"{EMPTY}}}");
    fill_around(len, "{", &last, |head, i| add(head, &short(i)))
}

fn wrong_at_the_end(len: usize) -> Vec<u8> {
    fill_around(len, "{", "]", |head, i| add(head, &short(i)))
}

/// The space is what the scanner's short cut does not expect, so that it begins again.
fn shortest_read_twice(len: usize) -> Vec<u8> {
    let fields = EMPTY.replace('}', " }");
    fill(len, |head, i| {
        add_text(head, &short(i));
        head.extend(fields.as_bytes());
    })
}

fn empty(len: usize) -> Vec<u8> {
    fill(len, |head, _| add(head, ""))
}

fn long_names(len: usize) -> Vec<u8> {
    fill(len, |head, i| add(head, &format!("{}{i:08}", "a".repeat(992))))
}

fn one_hash(len: usize) -> Vec<u8> {
    let mut names = Names::of_one_hash("");
    fill(len, |head, _| add(head, &names.next().unwrap()))
}

fn one_bucket(len: usize) -> Vec<u8> {
    let mut names = Names::of_one_bucket("");
    fill(len, |head, _| add(head, &names.next().unwrap()))
}

/// How names of one hash begin, so that comparing them costs more than finding them; whole pairs of
/// words.
fn long_start() -> String {
    "\n".repeat(256)
}

/// A name as JSON, line feeds as escapes.
fn escape_lines(name: &str) -> String {
    name.replace('\n', r"\n")
}

fn one_hash_long(len: usize) -> Vec<u8> {
    let mut names = Names::of_one_hash(&"a".repeat(256));
    fill(len, |head, _| add(head, &names.next().unwrap()))
}

fn one_hash_escaped(len: usize) -> Vec<u8> {
    let mut names = Names::of_one_hash(&long_start());
    fill(len, |head, _| add(head, &escape_lines(&names.next().unwrap())))
}

/// Too few names of each hash for a chain to be long, but all of them to be compared.
fn eight_of_each_hash(len: usize) -> Vec<u8> {
    let mut names = Names::of_one_hash(&long_start());
    let mut eight = Vec::new();
    fill(len, |head, _| {
        if eight.is_empty() {
            names.change_hash();
            eight.extend(names.by_ref().take(8));
            eight.sort();
        }
        add(head, &escape_lines(&eight.pop().unwrap()));
    })
}

fn escaped(len: usize) -> Vec<u8> {
    fill(len, |head, i| add(head, &escape(&models::name(i))))
}

fn one_name(len: usize) -> Vec<u8> {
    let name = r"\n".repeat((len - 60) / 2);
    header::finish([&[0; 8], format!("{{\"{name}\"{EMPTY}}}").as_bytes()].concat())
}

fn surrogates(len: usize) -> Vec<u8> {
    fill(len, |head, i| add(head, &format!("{}{}", r"\ud83d\ude00".repeat(20), short(i))))
}

/// Characters of two, three and four bytes.
fn not_ascii(len: usize) -> Vec<u8> {
    fill(len, |head, i| add(head, &format!("{}{}", "é重😀".repeat(20), short(i))))
}

/// Where entries of this kind begin: numbers of one length, whatever number they are.
const BASE: usize = 1_000_000;

/// Tensors of one byte from [`BASE`] on, in this order, behind a large one.
fn from_base(open: &str, order: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut json =
        format!(r#"{{{open}"":{{"dtype":"U8","shape":[{BASE}],"data_offsets":[0,{BASE}]}}"#);
    for i in order {
        let (begin, end) = (BASE + i, BASE + i + 1);
        json +=
            &format!(r#","{i:07}":{{"dtype":"U8","shape":[1],"data_offsets":[{begin},{end}]}}"#);
    }
    header::finish([&[0; 8], json.as_bytes(), b"}"].concat())
}

/// As many of them as fill so many bytes.
fn count_from_base(len: usize) -> usize {
    (len - 6_000)
        / r#","0000000":{"dtype":"U8","shape":[1],"data_offsets":[1000000,1000001]}"#.len()
}

fn reversed(len: usize) -> Vec<u8> {
    from_base("", (0..count_from_base(len)).rev())
}

/// Most tensors agree in all bits of their offsets but the lowest, and for each of the others there
/// is one that does not: every bit costs a pass over all.
fn all_bits(len: usize) -> Vec<u8> {
    let count = count_from_base(len);
    let mut begin = BASE + count;
    let mut open = String::new();
    for bit in 22..61 {
        let end = 1 << bit;
        let size = end - begin;
        open += &format!(
            r#""{bit}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{begin},{end}]}},"#
        );
        begin = end;
    }
    from_base(&open, Random(1).order(count).into_iter())
}

const METADATA: &str = r#""__metadata__":{"#;

fn metadata(len: usize) -> Vec<u8> {
    fill_around(len, &format!("{{{METADATA}"), "}}", |head, i| {
        add_text(head, &short(i));
        head.extend(br#":"""#);
    })
}

fn metadata_escaped(len: usize) -> Vec<u8> {
    fill_around(len, &format!("{{{METADATA}"), "}}", |head, i| {
        add_text(head, &format!(r"\n{}", short(i)));
        head.extend(br#":"""#);
    })
}

/// The tensors leave no slots for the keys, of which the last is given twice.
fn metadata_last(len: usize) -> Vec<u8> {
    let mut close = format!(",{METADATA}");
    for key in 0..len / 68 {
        close += &format!("\"{}\":\"\",", short(key));
    }
    close += r#""":""}}"#;
    fill_around(len, "{", &close, |head, i| add(head, &short(i)))
}

fn metadata_one_hash(len: usize) -> Vec<u8> {
    let mut names = Names::of_one_hash("");
    fill_around(len, &format!("{{{METADATA}"), "}}", |head, _| {
        add_text(head, &names.next().unwrap());
        head.extend(br#":"""#);
    })
}

/// A tensor whose description begins with what is written by `member`.
fn fields(len: usize, member: impl FnMut(&mut Vec<u8>, usize)) -> Vec<u8> {
    fill_around(len, r#"{"":{"#, &format!(",{FIELDS}}}}}"), member)
}

fn unknown_fields(len: usize) -> Vec<u8> {
    fields(len, |head, _| head.extend(br#""":0"#))
}

fn unknown_escaped(len: usize) -> Vec<u8> {
    fields(len, |head, _| head.extend(br#""\n":0"#))
}

fn array(len: usize) -> Vec<u8> {
    let close = format!("],{FIELDS}}}}}");
    fill_around(len, r#"{"":{"":["#, &close, |head, _| head.push(b'0'))
}

fn deep(len: usize) -> Vec<u8> {
    let deep =
        format!(r#""":{}{}"#, r#"[{"":"#.repeat(62) + "[", "]".to_owned() + &"}]".repeat(62));
    fields(len, |head, _| head.extend(deep.as_bytes()))
}

fn number(len: usize) -> Vec<u8> {
    let digits = "1".repeat((len - 70) / 3);
    let json = format!(r#"{{"":{{"":-{digits}.{digits}e-{digits},{FIELDS}}}}}"#);
    header::finish([&[0; 8], json.as_bytes()].concat())
}

/// A tensor of as many dimensions as there is room for.
fn dimensions(len: usize, dimension: &str, close: &str) -> Vec<u8> {
    let open = r#"{"":{"dtype":"U8","shape":[0,"#;
    let close = format!(r#"],"data_offsets":[0,0]{close}}}}}"#);
    fill_around(len, open, &close, |head, _| head.extend(dimension.as_bytes()))
}

fn rank(len: usize) -> Vec<u8> {
    dimensions(len, "1", "")
}

fn rank_long(len: usize) -> Vec<u8> {
    dimensions(len, "18446744073709551615", "")
}

fn rank_read_twice(len: usize) -> Vec<u8> {
    dimensions(len, "1", " ")
}

fn other_order(len: usize) -> Vec<u8> {
    let fields = format!(
        r#":{{"{}":[0,0],"{}":[0],"{}":"{}"}}"#,
        escape("data_offsets"),
        escape("shape"),
        escape("dtype"),
        escape("F8_E5M2FNUZ"),
    );
    fill(len, |head, i| {
        add_text(head, &short(i));
        head.extend(fields.as_bytes());
    })
}

fn space_between(len: usize) -> Vec<u8> {
    let mut spaced = EMPTY.to_owned();
    for mark in ["{", "}", "[", "]", ":", ","] {
        spaced = spaced.replace(mark, &format!("\t{mark}\n"));
    }
    fill(len, |head, i| {
        add_text(head, &short(i));
        head.extend(spaced.as_bytes());
    })
}

fn space_run(len: usize) -> Vec<u8> {
    let space = " \t\r\n".repeat((len - 60) / 4);
    let json = format!("{{{space}\"\"{EMPTY}}}");
    header::finish([&[0; 8], json.as_bytes()].concat())
}
