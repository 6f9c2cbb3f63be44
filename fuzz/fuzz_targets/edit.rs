//! A file that is edited in a buffer is what a plain list of its content becomes, and not a byte
//! besides is changed. An input is the changes, a line end, and the file.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use fuzz::Input;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use safetensors_core::{
    Dtype, Editor, Entry, Header, Options, Slot, Text, WriteError, WriteErrorKind,
};

/// What a header holds, in its order.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    tensors: Vec<(String, Dtype, Vec<u64>, (u64, u64))>,
    pairs: Option<Vec<(String, String)>>,
}

/// A change of the header's JSON: something in place of a piece of it.
struct Splice<'a> {
    /// How long the piece is, and whether it is one that may go.
    len: usize,
    may_go: &'a dyn Fn(&str) -> bool,
    inserted: String,
}

/// The file in its buffer, and what limits it.
struct Edited<'buffer> {
    editor: Editor<'buffer>,
    buffer_len: usize,
    options: Options,
    header_limit: u32,
}

/// Kind and number of an error.
type Fault = (WriteErrorKind, u64);

// One time in two only the file is changed, as those of other targets.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let start = data[..size].iter().position(|byte| *byte == b'\n').map_or(size, |end| end + 1);
    if seed.is_multiple_of(2) || start == size {
        return fuzzer_mutate(data, size, max_size);
    }
    start + fuzz::mutate(&mut data[start..], size - start, max_size - start, seed / 2)
});

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let (mut changes, file) = (Input(&input[..end]), common::fuzzed(&input[end + 1..]));
    let room = usize::from(changes.byte());
    let header_limit = match changes.byte() {
        0..192 => Options::DEFAULT_HEADER_LIMIT,
        limit => 8 * u32::from(limit - 192),
    };
    let options = Options::new().header_limit(header_limit);
    let file = other_data(file, changes.below(4) == 3);
    let mut buffer = file.clone();
    // A length beyond the buffer is all of it.
    let scan = Header::read(&file).and_then(|header| header.scan());
    assert_eq!(Editor::open(&mut buffer, usize::MAX).err(), scan.err());
    buffer.resize(file.len() + room, 0xaa);
    let buffer_len = buffer.len();
    let scan = options.header(&file).and_then(|header| header.scan());
    let editor = options.edit(&mut buffer, file.len());
    assert_eq!(editor.as_ref().err(), scan.as_ref().err());
    let Ok(editor) = editor else { return };
    assert_eq!(editor.file(), file);
    let mut edited = Edited { editor, buffer_len, options, header_limit };
    for _ in 0..1 + changes.below(6) {
        change(&mut changes, &mut edited);
    }
    let file = edited.editor.file().to_vec();
    assert_eq!(edited.editor.finish(), file);
});

/// Data that differs from byte to byte; or none, as of a header that is by itself.
fn other_data(mut file: Vec<u8>, header_only: bool) -> Vec<u8> {
    let Ok(header) = Header::read(&file) else { return file };
    let start = header.data_start() as usize;
    if header_only {
        file.truncate(start);
    }
    let data = file[start..].iter_mut().enumerate();
    data.for_each(|(i, byte)| *byte = (i as u8 ^ (i >> 8) as u8).wrapping_mul(167) | 1);
    file
}

// ── the plain list ──

fn content(file: &[u8]) -> Content {
    let mut content = Content { tensors: Vec::new(), pairs: None };
    for entry in Header::read(file).unwrap().entries() {
        match entry.unwrap() {
            Entry::Tensor(tensor) => {
                let (name, shape) = (tensor.name().to_string(), tensor.shape().iter().collect());
                content.tensors.push((name, tensor.dtype(), shape, tensor.data_offsets()));
            }
            Entry::Metadata(pairs) => {
                let text =
                    |(key, value): (Text<'_>, Text<'_>)| (key.to_string(), value.to_string());
                content.pairs = pairs.map(|pairs| pairs.iter().map(text).collect());
            }
        }
    }
    content
}

/// The header's JSON without what pads it.
fn json(file: &[u8]) -> &str {
    let json = str::from_utf8(Header::read(file).unwrap().json()).unwrap();
    json.trim_end_matches([' ', '\t', '\r', '\n'])
}

/// How long the name of the first such tensor is in the header, with quotes.
fn name_len(file: &[u8], name: &str) -> usize {
    let entries = Header::read(file).unwrap().entries();
    let mut names = entries.filter_map(|entry| match entry.unwrap() {
        Entry::Tensor(tensor) => Some(tensor.name()),
        Entry::Metadata(_) => None,
    });
    names.find(|found| *found == *name).unwrap().raw().len() + 2
}

fn value_len(file: &[u8], key: &str) -> usize {
    Header::read(file).unwrap().metadata().unwrap().value(key).unwrap().raw().len() + 2
}

fn is_null(file: &[u8]) -> bool {
    let mut entries = Header::read(file).unwrap().entries();
    entries.any(|entry| matches!(entry.unwrap(), Entry::Metadata(None)))
}

fn string(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn is_string(json: &str, text: &str) -> bool {
    serde_json::from_str::<String>(json).is_ok_and(|found| found == text)
}

// ── changes ──

fn change(input: &mut Input<'_>, edited: &mut Edited<'_>) {
    let before = edited.editor.file().to_vec();
    let content = content(&before);
    let kind = input.below(5);
    let (first, second) = (text(input, &content), text(input, &content));
    let escaped = escaped([&first, &second]);
    let escaped = Header::read(&escaped).unwrap().metadata().unwrap();
    let [a, b] = [("0", &first), ("1", &second)].map(|(key, text)| {
        if input.flag() { escaped.value(key).unwrap() } else { Text::from(text.as_str()) }
    });
    match kind {
        0 => {
            let result = edited.editor.set_metadata(a, b);
            set(edited, &before, content, (&first, &second), result);
        }
        1 => {
            let removed = edited.editor.remove_metadata(a).unwrap();
            self::removed(edited, &before, content, &first, removed);
        }
        2 => {
            let result = edited.editor.rename(a, b);
            renamed(edited, &before, content, (&first, &second), result);
        }
        3 => overwrite(edited, &before, &content, &first, input.byte()),
        _ => reserve(edited, &before, input.byte().into()),
    }
}

/// A name or a key that is there, mostly, or another text.
fn text(input: &mut Input<'_>, content: &Content) -> String {
    let kind = input.byte();
    let names = content.tensors.iter().map(|(name, ..)| name);
    let texts: Vec<_> = names.chain(content.pairs.iter().flatten().map(|(key, _)| key)).collect();
    match kind {
        0..120 if !texts.is_empty() => texts[usize::from(kind) % texts.len()].clone(),
        120..136 => char::from(kind - 120).into(),
        136..144 => "x".repeat(input.byte().into()),
        _ => input.text(),
    }
}

/// A file with these texts in its metadata, every character escaped.
fn escaped(texts: [&str; 2]) -> Vec<u8> {
    let [first, second] = texts
        .map(|text| text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<String>());
    common::file(format!("{{\"__metadata__\":{{\"0\":\"{first}\",\"1\":\"{second}\"}}}}"), &[])
}

fn set(
    edited: &Edited<'_>,
    before: &[u8],
    mut content: Content,
    (key, value): (&str, &str),
    result: Result<(), WriteError>,
) {
    let pair = format!("{}:{}", string(key), string(value));
    let behind = if content.tensors.is_empty() { "" } else { "," };
    let old = content.pairs.iter().flatten().find(|(found, _)| found == key);
    let old = old.map(|(_, value)| value.clone());
    let is_old = |piece: &str| is_string(piece, old.as_ref().unwrap());
    let splice = match &content.pairs {
        _ if old.is_some() => {
            Splice { len: value_len(before, key), may_go: &is_old, inserted: string(value) }
        }
        Some(pairs) => {
            let comma = if pairs.is_empty() { "" } else { "," };
            Splice { len: 0, may_go: &|_| true, inserted: format!("{comma}{pair}") }
        }
        None if is_null(before) => {
            Splice { len: 4, may_go: &|piece| piece == "null", inserted: format!("{{{pair}}}") }
        }
        None => {
            let inserted = format!("\"__metadata__\":{{{pair}}}{behind}");
            Splice { len: 0, may_go: &|_| true, inserted }
        }
    };
    let pairs = content.pairs.get_or_insert_default();
    match pairs.iter_mut().find(|(found, _)| found == key) {
        Some((_, old)) => value.clone_into(old),
        None => pairs.push((key.to_owned(), value.to_owned())),
    }
    spliced(edited, before, &splice, &content, result);
}

fn removed(edited: &Edited<'_>, before: &[u8], mut content: Content, key: &str, removed: bool) {
    let pairs = content.pairs.as_mut();
    let pair = pairs.and_then(|pairs| {
        let at = pairs.iter().position(|(found, _)| found == key)?;
        Some(pairs.remove(at))
    });
    assert_eq!(removed, pair.is_some());
    let Some(pair) = pair else { return assert_eq!(edited.editor.file(), before) };
    // The pair, and one of the commas beside it.
    let may_go = |piece: &str| {
        let piece = piece.trim().trim_matches(',');
        let pairs = serde_json::from_str::<BTreeMap<_, _>>(&format!("{{{piece}}}"));
        pairs.is_ok_and(|pairs| pairs == BTreeMap::from([pair.clone()]))
    };
    let len = json(before).len().checked_sub(json(edited.editor.file()).len()).unwrap();
    let splice = Splice { len, may_go: &may_go, inserted: String::new() };
    spliced(edited, before, &splice, &content, Ok(()));
}

fn renamed(
    edited: &Edited<'_>,
    before: &[u8],
    mut content: Content,
    (from, to): (&str, &str),
    result: Result<(), WriteError>,
) {
    let has = |name: &str| content.tensors.iter().position(|(found, ..)| found == name);
    let fault = match has(from) {
        None => WriteErrorKind::NoSuchTensor,
        Some(_) if to == "__metadata__" => WriteErrorKind::ReservedName,
        Some(_) if to != from && has(to).is_some() => WriteErrorKind::DuplicateName,
        Some(at) => {
            to.clone_into(&mut content.tensors[at].0);
            let may_go = |piece: &str| is_string(piece, from);
            let len = name_len(before, from);
            let splice = Splice { len, may_go: &may_go, inserted: string(to) };
            return spliced(edited, before, &splice, &content, result);
        }
    };
    refused(edited, before, result, (fault, 0));
}

fn overwrite(edited: &mut Edited<'_>, before: &[u8], content: &Content, name: &str, with: u8) {
    let start = Header::read(before).unwrap().data_start();
    let tensor = content.tensors.iter().find(|(found, ..)| found == name);
    let range = tensor.and_then(|(.., (begin, end))| {
        let place = |offset| start.checked_add(offset).and_then(|at| usize::try_from(at).ok());
        let range = place(*begin)?..place(*end)?;
        before.get(range.clone()).map(|_| range)
    });
    let data = edited.editor.data_mut(name);
    assert_eq!(data.as_deref(), range.clone().map(|range| &before[range]));
    data.into_iter().for_each(|data| data.fill(with));
    let mut expected = before.to_vec();
    range.into_iter().for_each(|range| expected[range].fill(with));
    assert_eq!(edited.editor.file(), expected);
}

fn reserve(edited: &mut Edited<'_>, before: &[u8], bytes: u32) {
    // One time in four more than there can be.
    let bytes = if bytes < 192 { bytes } else { bytes << 24 };
    let result = edited.editor.reserve(bytes);
    let end = 8 + json(before).len() as u64 + u64::from(bytes);
    match placed(edited, before, end) {
        Ok(start) => {
            assert_eq!(result, Ok(()));
            let mut expected = before.to_vec();
            if start > Header::read(before).unwrap().data_start() {
                expected = with_json(before, json(before), start);
            }
            assert_eq!(edited.editor.file(), expected);
        }
        Err(fault) => refused(edited, before, result, fault),
    }
}

// ── what becomes of the file ──

/// Where the data begins if the header's JSON, or the spaces behind it, are to end there.
fn placed(edited: &Edited<'_>, before: &[u8], end: u64) -> Result<u64, Fault> {
    let old = Header::read(before).unwrap().data_start();
    if end <= old {
        return Ok(old);
    }
    let kept = (3..=12).rev().map(|bits| 1 << bits).find(|align| old % align == 0).unwrap_or(8);
    let limit = u64::from(edited.header_limit) + 8;
    let start = match end.next_multiple_of(kept) {
        start if start <= limit => start,
        // The limit leaves no more than that.
        _ => end.next_multiple_of(8),
    };
    let len = before.len() as u64 + (start - old);
    if start > limit {
        Err((WriteErrorKind::HeaderTooLarge, start - 8))
    } else if len > edited.buffer_len as u64 {
        Err((WriteErrorKind::BufferTooSmall, len))
    } else {
        Ok(start)
    }
}

/// The file with another header and the same data, which begins at `start`.
fn with_json(before: &[u8], json: &str, start: u64) -> Vec<u8> {
    let old = Header::read(before).unwrap().data_start() as usize;
    let mut file = (start - 8).to_le_bytes().to_vec();
    file.extend_from_slice(json.as_bytes());
    file.resize(start as usize, b' ');
    file.extend_from_slice(&before[old..]);
    file
}

/// After a change of the header: it alone is changed, and the file holds what it should.
fn spliced(
    edited: &Edited<'_>,
    before: &[u8],
    splice: &Splice<'_>,
    content: &Content,
    result: Result<(), WriteError>,
) {
    let old = json(before);
    let end = (8 + old.len() - splice.len + splice.inserted.len()) as u64;
    let start = match placed(edited, before, end) {
        Ok(start) => start,
        Err(fault) => return refused(edited, before, result, fault),
    };
    assert_eq!(result, Ok(()));
    let after = edited.editor.file();
    let new = json(after);
    assert!(is_splice(old, new, splice), "{old} became {new}");
    assert_eq!(after, with_json(before, new, start));
    assert_eq!(self::content(after), *content);
    let is_valid = |file: &[u8]| {
        let mut slots = vec![Slot::EMPTY; file.len()];
        edited.options.parse(file, &mut slots).is_ok()
    };
    assert!(is_valid(after) || !is_valid(before));
}

/// Whether this became of `old`, wherever it was done.
fn is_splice(old: &str, new: &str, Splice { len, may_go, inserted }: &Splice<'_>) -> bool {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let mut places = 0..=same.min(old.len() - len);
    places.any(|at| {
        let Some((head, rest)) = old.split_at_checked(at) else { return false };
        let Some((gone, tail)) = rest.split_at_checked(*len) else { return false };
        let kept = new[head.len()..].strip_prefix(&**inserted);
        kept == Some(tail) && may_go(gone)
    })
}

fn refused(edited: &Edited<'_>, before: &[u8], result: Result<(), WriteError>, fault: Fault) {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.number(), error.index()), (fault.0, fault.1, None));
    assert_eq!(edited.editor.file(), before);
}
