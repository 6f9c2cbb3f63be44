//! What a `const` can do: this file compiles only if every entry point is `const`, and a fault in
//! the file below would be an error of the compiler.

use safetensors_core::{
    Dtype, Entry, Error, ErrorKind, Header, Index, Metadata, Options, PREFIX_LEN, SafeTensors,
    Scan, Slot, TensorInfo, TensorView,
};

const HEADER: &str = concat!(
    r#"{"__metadata__":{"k":"v","caf\u00e9":"\ud83d\ude00"},"#,
    r#""w":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},"#,
    r#""b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}"#,
);
const DATA: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const FILE_LEN: usize = PREFIX_LEN + HEADER.len() + DATA.len();
static FILE: [u8; FILE_LEN] = file();

/// The length prefix, the header, and the data.
const fn file() -> [u8; FILE_LEN] {
    let mut file = [0; FILE_LEN];
    let (prefix, rest) = file.split_at_mut(PREFIX_LEN);
    prefix.copy_from_slice(&(HEADER.len() as u64).to_le_bytes());
    let (header, data) = rest.split_at_mut(HEADER.len());
    header.copy_from_slice(HEADER.as_bytes());
    data.copy_from_slice(&DATA);
    file
}

const fn stop(error: Error) -> ! {
    panic!("{}", error.kind().message())
}

// First the file is scanned, which says how many slots there must be.
const SCAN: Scan = match SafeTensors::scan(&FILE) {
    Ok(scan) => scan,
    Err(error) => stop(error),
};
const N: usize = SCAN.slots_needed();
static SLOTS: [Slot; N] = {
    let mut slots = [Slot::EMPTY; N];
    if let Err(error) = SafeTensors::parse(&FILE, &mut slots) {
        stop(error);
    }
    slots
};
static MODEL: SafeTensors<'_, '_> = SafeTensors::with_slots(&FILE, &SLOTS);
static INDEX: Index<'_, '_> = Index::with_slots(&FILE, &SLOTS);

// A tensor that is not there, or is of another type, stops the build.
const W: TensorView<'_> = MODEL.tensor("w").unwrap();
const _: () = assert!(matches!(W.dtype(), Dtype::F32));
const _: () = assert!(W.shape().rank() == 2 && W.shape().element_count() == 2);
const ROWS: usize = W.shape().dim(0).unwrap() as usize;
const FIRST: f32 = match W.data().first_chunk() {
    Some(bytes) => f32::from_le_bytes(*bytes),
    None => panic!("no elements"),
};
static WEIGHTS: [[u8; 4]; ROWS] = match W.data().as_chunks() {
    ([first, second], []) => [*first, *second],
    _ => panic!("other elements"),
};

const METADATA: Metadata<'_> = MODEL.metadata().unwrap();
static VALUE: &str = METADATA.value("k").unwrap().as_str().unwrap();

const _: () = {
    assert!(MODEL.len() == 2 && !MODEL.is_empty());
    assert!(MODEL.data().len() == DATA.len());
    assert!(MODEL.by_offset(0).unwrap().name().is("b"));
    assert!(MODEL.by_offset(2).is_none());
    assert!(MODEL.tensor("absent").is_none());
    assert!(MODEL.index().slots().len() == 2);
    let _ = (MODEL.iter(), MODEL.names());

    let info: TensorInfo<'_> = W.info();
    assert!(info.name().is("w") && info.name().len() == 1 && !info.name().is_empty());
    assert!(info.data_len() == 8 && info.data_offsets().0 == 4);
    assert!(info.byte_range().end == FILE_LEN as u64);
    assert!(matches!(info.dtype(), Dtype::F32));
    let mut dims = info.shape().iter();
    assert!(matches!(
        (dims.next_dim(), dims.next_dim(), dims.next_dim()),
        (Some(2), Some(1), None)
    ));
};

const _: () = {
    assert!(INDEX.len() == 2 && !INDEX.is_empty() && INDEX.data_len() == 12);
    assert!(INDEX.tensor("b").unwrap().data_offsets().1 == 4);
    assert!(INDEX.by_offset(1).unwrap().name().is("w"));
    assert!(INDEX.metadata().unwrap().len() == 2);
    let mut infos = INDEX.iter();
    assert!(infos.next_info().unwrap().name().is("w"));
    assert!(infos.next_info().unwrap().name().is("b"));
    assert!(infos.next_info().is_none());
    let _ = INDEX.names();
};

const _: () = {
    assert!(METADATA.len() == 2 && !METADATA.is_empty());
    let mut pairs = METADATA.iter();
    let (key, value) = pairs.next_pair().unwrap();
    assert!(key.is("k") && value.raw().len() == 1);
    let (key, value) = pairs.next_pair().unwrap();
    assert!(key.is("café") && key.as_str().is_none() && key.len() == 5);
    assert!(value.is("😀") && value.raw().len() == 12);
    assert!(pairs.next_pair().is_none());
    let _ = value.quoted();
};

// Without memory: the header alone, entry by entry.
const _: () = {
    let Ok(len) = Header::len_from_prefix(*FILE.first_chunk().unwrap()) else { panic!() };
    let Ok(header) = Header::read(FILE.split_at(len).0) else { panic!() };
    assert!(header.data_start() == len as u64 && header.json().len() == HEADER.len());
    assert!(header.metadata().is_some());
    let Ok(scan) = header.scan() else { panic!() };
    assert!(scan.tensors() == 2 && scan.metadata_keys() == 2);
    assert!(scan.data_len() == 12 && !scan.in_offset_order());

    let mut entries = header.entries();
    assert!(entries.position().is_none());
    let Some(Ok(Entry::Metadata(Some(_)))) = entries.next_entry() else { panic!() };
    let mut entries = header.entries_from(entries.position().unwrap());
    let Some(Ok(Entry::Tensor(info))) = entries.next_entry() else { panic!() };
    assert!(info.name().is("w"));
};

// The same with options.
const _: () = {
    const OPTIONS: Options = Options::new().header_limit(4096).allow_gaps(true);
    assert!(OPTIONS.len_from_prefix(*FILE.first_chunk().unwrap()).is_ok());
    assert!(OPTIONS.header(&FILE).is_ok());
    assert!(OPTIONS.scan(&FILE).is_ok());
    assert!(OPTIONS.parse(&FILE, &mut [Slot::EMPTY; N]).is_ok());
    assert!(OPTIONS.index(&FILE, &mut [Slot::EMPTY; N]).is_ok());
    assert!(Index::build(&FILE, &mut [Slot::EMPTY; N]).is_ok());
};

// What is wrong can be told as well.
const _: () = {
    let Err(error) = SafeTensors::parse(&FILE, &mut []) else { panic!() };
    assert!(matches!(error.kind(), ErrorKind::TooFewSlots));
    assert!(error.number() == 2 && error.offset() == 0);
    assert!(!error.kind().message().is_empty());
    let _ = error.display(&FILE);

    assert!(Dtype::ALL.len() == 22);
    let Some(dtype) = Dtype::from_name("F4") else { panic!() };
    assert!(dtype.bitsize() == 4 && dtype.name().len() == 2);
};

#[test]
fn statics_are_what_a_parse_gives() {
    let mut slots = [Slot::EMPTY; N];
    let model = SafeTensors::parse(&FILE, &mut slots).unwrap();
    for (view, fixed) in model.iter_by_offset().zip(MODEL.iter_by_offset()) {
        assert_eq!(view.name(), fixed.name());
        assert_eq!(view.dtype(), fixed.dtype());
        assert_eq!(view.shape(), fixed.shape());
        assert_eq!(view.data(), fixed.data());
    }
    assert_eq!(WEIGHTS, [[4, 5, 6, 7], [8, 9, 10, 11]]);
    assert_eq!(FIRST.to_le_bytes(), WEIGHTS[0]);
    assert_eq!(VALUE, "v");
}
