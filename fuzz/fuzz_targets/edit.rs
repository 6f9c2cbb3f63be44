//! A file that is edited in a buffer is what a plain list of its content becomes, and not a byte
//! besides is changed. An input is the changes, a line end, and the file.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use safetensors_core::{
    Dtype, Editor, Header, Options, SafeTensors, Slot, WriteError, WriteErrorKind,
};

/// What a file holds, in the order of its header.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    tensors: Vec<(String, Dtype, Vec<u64>, Vec<u8>)>,
    pairs: Option<Vec<(String, String)>>,
}

const SLOTS: usize = 64;

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let (changes, file) = (&input[..end], common::fuzzed(&input[end + 1..]));
    let opened = Editor::open(&mut file.clone(), file.len()).is_ok();
    assert_eq!(opened, Header::read(&file).and_then(|header| header.scan()).is_ok());
    // What is not valid otherwise may become anything but a panic.
    let content = content(&file);
    edit(Input(changes), file, content);
});

fn content(file: &[u8]) -> Option<Content> {
    let mut slots = [Slot::EMPTY; SLOTS];
    let model = SafeTensors::parse(file, &mut slots).ok()?;
    let tensors = model.iter().map(|tensor| {
        let shape = tensor.shape().iter().collect();
        (tensor.name().to_string(), tensor.dtype(), shape, tensor.data().to_vec())
    });
    let pairs = model.metadata().map(|metadata| {
        metadata.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    });
    Some(Content { tensors: tensors.collect(), pairs })
}

fn edit(mut input: Input<'_>, file: Vec<u8>, mut content: Option<Content>) {
    let room = usize::from(input.byte());
    let limit = if input.flag() { Options::DEFAULT_HEADER_LIMIT } else { 300 };
    let mut buffer = file.clone();
    buffer.resize(file.len() + room, 0xaa);
    let options = Options::new().header_limit(limit);
    let Ok(mut editor) = options.edit(&mut buffer, file.len()) else { return };
    for _ in 0..1 + input.below(6) {
        let before = editor.file().to_vec();
        let start = editor.header().data_start();
        let expected = content.clone();
        let (result, expected) = change(&mut input, &mut editor, expected);
        let after = editor.file();
        match (result, &expected) {
            (Ok(()), Some(Ok(expected))) => {
                assert_eq!(self::content(after).as_ref(), Some(expected));
                moved(&before, start, after);
                content = Some(expected.clone());
            }
            (Ok(()), None) => content = None,
            (Ok(()), Some(Err(kind))) => panic!("{kind:?} expected"),
            (Err(error), expected) => {
                assert!(after == before);
                let full = is_full(error, file.len() + room);
                match expected {
                    Some(Err(kind)) => assert_eq!(error.kind(), *kind),
                    Some(Ok(_)) => assert!(full, "{error}"),
                    None => {}
                }
            }
        }
        assert!(editor.file().len() <= file.len() + room);
    }
    let len = editor.file().len();
    assert_eq!(editor.finish().len(), len);
}

/// Whether it is for want of room in a buffer of so many bytes, or in a header.
fn is_full(error: WriteError, buffer: usize) -> bool {
    match error.kind() {
        WriteErrorKind::BufferTooSmall => error.number() > buffer as u64,
        kind => kind == WriteErrorKind::HeaderTooLarge,
    }
}

/// Makes a change, and says what becomes of the content, if that is known.
fn change(
    input: &mut Input<'_>,
    editor: &mut Editor<'_>,
    content: Option<Content>,
) -> (Result<(), WriteError>, Option<Result<Content, WriteErrorKind>>) {
    let kind = input.below(5);
    let (first, second) = (text(input, &content), text(input, &content));
    let mut expected = content.map(Ok);
    let result = match kind {
        0 => {
            if let Some(Ok(content)) = &mut expected {
                let pairs = content.pairs.get_or_insert_default();
                match pairs.iter_mut().find(|(key, _)| *key == first) {
                    Some((_, value)) => value.clone_from(&second),
                    None => pairs.push((first.clone(), second.clone())),
                }
            }
            editor.set_metadata(&*first, &*second)
        }
        1 => {
            let mut there = None;
            if let Some(Ok(content)) = &mut expected {
                let pairs = content.pairs.as_mut();
                there = Some(pairs.is_some_and(|pairs| {
                    let len = pairs.len();
                    pairs.retain(|(key, _)| *key != first);
                    pairs.len() < len
                }));
            }
            let removed = editor.remove_metadata(&*first).unwrap();
            assert!(there.is_none_or(|there| there == removed));
            Ok(())
        }
        2 => {
            if let Some(Ok(content)) = &mut expected {
                match renamed(content, &first, &second) {
                    Ok(()) => {}
                    Err(kind) => expected = Some(Err(kind)),
                }
            }
            editor.rename(&*first, &*second)
        }
        3 => {
            let seed = input.byte();
            let data = editor.data_mut(&first);
            if let Some(Ok(content)) = &mut expected {
                let there = content.tensors.iter_mut().find(|(name, ..)| *name == first);
                assert_eq!(data.as_deref(), there.as_ref().map(|(.., data)| &**data));
                there.into_iter().for_each(|(.., data)| data.fill(seed));
            }
            data.into_iter().for_each(|data| data.fill(seed));
            Ok(())
        }
        _ => {
            let bytes = u32::from(input.byte());
            let result = editor.reserve(bytes);
            if result.is_ok() {
                let json = editor.header().json();
                let spaces = json.iter().rev().take_while(|byte| b" \t\r\n".contains(byte)).count();
                assert!(spaces >= bytes as usize);
            }
            result
        }
    };
    (result, expected)
}

fn renamed(content: &mut Content, from: &str, to: &str) -> Result<(), WriteErrorKind> {
    let mut names = content.tensors.iter().map(|(name, ..)| name);
    let at = names.position(|name| name == from).ok_or(WriteErrorKind::NoSuchTensor)?;
    if to == "__metadata__" {
        return Err(WriteErrorKind::ReservedName);
    }
    if to != from && content.tensors.iter().any(|(name, ..)| name == to) {
        return Err(WriteErrorKind::DuplicateName);
    }
    to.clone_into(&mut content.tensors[at].0);
    Ok(())
}

/// A name or a key that is there, mostly, or another text.
fn text(input: &mut Input<'_>, content: &Option<Content>) -> String {
    let (Some(content), true) = (content, input.flag()) else { return input.text() };
    let names = content.tensors.iter().map(|(name, ..)| name);
    let texts: Vec<_> = names.chain(content.pairs.iter().flatten().map(|(key, _)| key)).collect();
    match texts.len() {
        0 => input.text(),
        len => texts[input.below(256) % len].clone(),
    }
}

/// The data stays in its place while the spaces suffice, and what it was aligned to when not. What no
/// change names stays too: the fields of tensors behind their names.
fn moved(before: &[u8], start: u64, after: &[u8]) {
    let new = Header::read(after).unwrap().data_start();
    let json_end = |file: &[u8], end: u64| {
        file[..end as usize].iter().rposition(|byte| !b" \t\r\n".contains(byte)).unwrap() as u64 + 1
    };
    if new != start {
        assert!(new > start);
        let align = 1 << start.trailing_zeros().clamp(3, 12);
        assert!(new.is_multiple_of(align));
        // It did not fit, or room was asked for, which is at most 255 bytes.
        assert!(json_end(after, new) + 255 > start);
        assert!(new < json_end(after, new) + 255 + align);
    }
    let fields = |file: &[u8], start: u64| {
        let json = String::from_utf8(file[8..start as usize].to_vec()).unwrap();
        // It refuses some numbers in unknown fields.
        let entries: serde_json::Map<_, _> = serde_json::from_str(&json).ok()?;
        let tensors = entries.into_iter().filter(|(name, _)| name != "__metadata__");
        let mut fields: Vec<_> = tensors.map(|(_, value)| value.to_string()).collect();
        fields.sort();
        Some(fields)
    };
    assert_eq!(fields(after, new), fields(before, start));
}
