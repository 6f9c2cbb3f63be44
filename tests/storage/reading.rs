//! What is read, and what is told if it can't be.

use std::collections::HashSet;
use std::fmt::Debug;
use std::fs;

use half::{bf16, f16};
use safetensors_core::{
    Dtype, Element, Error, ErrorKind, Index, Options, Part, SafeTensors, Slot, StorageError,
    TensorIndexer, TensorSlice, TensorSpec, TensorView, WriteOptions,
};

use super::{Model, open, wait};
use crate::common::{corpus, file};
use crate::device::{AtOnce, Broken, Device, Random};

const EVERY_WAY: [AtOnce; 3] = [AtOnce::All, AtOnce::One, AtOnce::Random];

type Opened<'a> = Model<'a, 'a, &'a mut Device>;

/// Opens `device` and looks at what is found.
fn with_model<R>(
    device: &mut Device,
    header_len: usize,
    check: impl FnOnce(Result<Opened<'_>, StorageError<Broken>>) -> R,
) -> R {
    let mut header = vec![0x55; header_len];
    let mut slots = vec![Slot::EMPTY; 2000];
    check(wait(open(Options::new(), device, &mut header, &mut slots)))
}

fn parse<R>(bytes: &[u8], check: impl FnOnce(Result<SafeTensors<'_, '_>, Error>) -> R) -> R {
    check(SafeTensors::parse(bytes, &mut vec![Slot::EMPTY; 2000]))
}

fn format<T>(result: Result<T, StorageError<Broken>>) -> Error {
    match result {
        Err(StorageError::Format(error)) => error,
        Err(StorageError::Source(error)) => panic!("{error}"),
        Ok(_) => panic!("nothing was wrong"),
    }
}

/// The length that the first 8 bytes tell, and these.
fn told(bytes: &[u8]) -> usize {
    let len = bytes.first_chunk().map_or(0, |prefix| u64::from_le_bytes(*prefix));
    8 + usize::try_from(len).unwrap_or(0).min(100_000_000)
}

// ── what is right ──

/// A tensor, or a part of one, in memory.
trait InMemory {
    fn dtype(&self) -> Dtype;

    fn bytes(&self) -> Vec<u8>;

    fn len(&self) -> usize;

    fn convert(&self, to: &mut [f32]) -> Result<usize, Error>;

    fn copy<T: Element>(&self, to: &mut [T]) -> Result<usize, Error>;
}

impl InMemory for TensorView<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn bytes(&self) -> Vec<u8> {
        self.data().to_vec()
    }

    fn len(&self) -> usize {
        self.elements().len()
    }

    fn convert(&self, to: &mut [f32]) -> Result<usize, Error> {
        self.elements().convert_into(to).map(|to| to.len())
    }

    fn copy<T: Element>(&self, to: &mut [T]) -> Result<usize, Error> {
        self.elements().copy_into(to).map(|to| to.len())
    }
}

impl<const N: usize> InMemory for TensorSlice<'_, N> {
    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn bytes(&self) -> Vec<u8> {
        self.runs().collect::<Vec<_>>().concat()
    }

    fn len(&self) -> usize {
        self.element_count() as usize
    }

    fn convert(&self, to: &mut [f32]) -> Result<usize, Error> {
        self.convert_into(to).map(|to| to.len())
    }

    fn copy<T: Element>(&self, to: &mut [T]) -> Result<usize, Error> {
        self.copy_into(to).map(|to| to.len())
    }
}

/// All ways to read a part give what is in memory.
fn check_part(model: &mut Opened<'_>, part: &impl Part, expected: &impl InMemory) {
    let bytes = expected.bytes();
    let mut to = vec![0x55; bytes.len() + 3];
    assert_eq!(wait(model.copy_bytes_into(part, &mut to)).unwrap(), bytes);
    assert_eq!(to[bytes.len()..], [0x55; 3]);
    if let Some(short) = bytes.len().checked_sub(1) {
        let error = format(wait(model.copy_bytes_into(part, &mut to[..short])));
        assert_eq!((error.kind(), error.number()), (ErrorKind::BufferTooSmall, bytes.len() as u64));
    }
    let convert = |to: &mut [f32]| expected.convert(to);
    for scratch in [8, 13, 24, 1000] {
        check_items(expected.len(), convert, |to| {
            wait(model.convert_into(part, to, &mut vec![0; scratch])).map(|to| to.len())
        });
    }
    macro_rules! check_typed {
        ($($type:ty)*) => {$(
            check_items(expected.len(), |to: &mut [$type]| expected.copy(to), |to| {
                wait(model.copy_into(part, to, &mut [0; 13])).map(|to| to.len())
            });
        )*};
    }
    check_typed!(bool u8 i8 u16 i16 f16 bf16 u32 i32 f32 [f32; 2] u64 i64 f64);
    for len in 1..64 {
        check_chunks(model, part, expected.dtype(), &bytes, len);
    }
}

/// Both fill a buffer with the same items, of which there are `len`, or tell the same error.
fn check_items<T: Copy + Default + Debug>(
    len: usize,
    in_memory: impl Fn(&mut [T]) -> Result<usize, Error>,
    mut stored: impl FnMut(&mut [T]) -> Result<usize, StorageError<Broken>>,
) {
    let with = |room: usize, found: &mut dyn FnMut(&mut [T]) -> Result<usize, Error>| {
        let mut to = vec![T::default(); room];
        let found = found(&mut to);
        // As text, in which NaN is NaN. What is behind the items stays what it was.
        found.map(|count| (count, format!("{to:?}")))
    };
    for room in [len + 1, len, len.saturating_sub(1)] {
        let expected = with(room, &mut |to| in_memory(to));
        let found = with(room, &mut |to| {
            stored(to).map_err(|error| match error {
                StorageError::Format(error) => error,
                StorageError::Source(error) => panic!("{error}"),
            })
        });
        assert_eq!(found, expected);
    }
}

/// Chunks through a buffer of `len` bytes: whole elements, as many as fit.
fn check_chunks(model: &mut Opened<'_>, part: &impl Part, dtype: Dtype, bytes: &[u8], len: usize) {
    let (mut rest, mut buffer) = (bytes, vec![0x55; len]);
    let mut chunks = model.chunks(part);
    if len < unit(dtype) && !rest.is_empty() {
        let error = format(wait(chunks.next(&mut buffer)));
        let needed = unit(dtype) as u64;
        assert_eq!((error.kind(), error.number()), (ErrorKind::BufferTooSmall, needed));
        return;
    }
    while let Some(chunk) = wait(chunks.next(&mut buffer)).unwrap() {
        let (expected, behind) = rest.split_at((len / unit(dtype) * unit(dtype)).min(rest.len()));
        assert_eq!((chunk.dtype(), chunk.bytes()), (dtype, expected));
        assert!(!chunk.is_empty());
        rest = behind;
    }
    assert!(rest.is_empty());
    assert!(wait(chunks.next(&mut buffer)).unwrap().is_none());
}

/// The fewest bytes that hold whole elements.
fn unit(dtype: Dtype) -> usize {
    match dtype {
        Dtype::F4 => 1,
        Dtype::F6_E2M3 | Dtype::F6_E3M2 => 3,
        other => other.bitsize() / 8,
    }
}

/// Slices of a tensor along its first dimensions; returns how many there were.
fn check_slices(model: &mut Opened<'_>, view: &TensorView<'_>, random: &mut Random) -> usize {
    let info = view.info();
    let mut count = 0;
    for _ in 0..4 {
        let [a, b, c] = [(); 3].map(|()| indexer(random));
        macro_rules! check {
            ($($indices:tt)*) => {$(
                let expected = view.slice($indices);
                match info.slice($indices) {
                    Ok(part) => {
                        check_part(model, &part, &expected.unwrap());
                        count += 1;
                    }
                    Err(error) => assert_eq!(error, expected.unwrap_err()),
                }
            )*};
        }
        check!([a] [a, b] [a, b, c]);
    }
    count
}

fn indexer(random: &mut Random) -> TensorIndexer {
    let mut number = |bound, from: i64| random.below(bound) as i64 + from;
    match number(4, 0) {
        0 => TensorIndexer::ALL,
        1 => TensorIndexer::select(number(3, -1)),
        2 => TensorIndexer::range(Some(number(9, -4)), Some(number(9, -4)), 1),
        _ => TensorIndexer::range(Some(number(9, -4)), None, [-2, -1, 2, 3][number(4, 0) as usize]),
    }
}

/// A model in storage against the same in memory.
fn check_model(model: &mut Opened<'_>, parsed: &SafeTensors<'_, '_>) {
    let (index, expected) = (model.index(), parsed.index());
    assert_eq!(index.header().json(), expected.header().json());
    assert!(index.names().eq(expected.names()));
    let metadata = |index: Index<'_, '_>| {
        let pairs = index.metadata()?.iter();
        Some(pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect::<Vec<_>>())
    };
    assert_eq!(metadata(index), metadata(expected));
    assert_eq!(model.metadata().is_some(), parsed.metadata().is_some());
    for view in parsed {
        let name = view.name().to_string();
        let info = model.tensor(&name).unwrap();
        assert_eq!(format!("{info:?}"), format!("{:?}", view.info()));
        check_part(model, &info, &view);
    }
    assert!(model.tensor("no such tensor").is_none());
}

#[test]
fn every_accepted_file_of_the_corpus() {
    let mut count = 0;
    for entry in fs::read_dir(corpus::committed().join("cases/accept")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        parse(&bytes, |parsed| {
            let Ok(parsed) = parsed else { return };
            for (at_once, capacity) in [
                (AtOnce::All, None),
                (AtOnce::One, Some(bytes.len() as u64)),
                (AtOnce::Random, Some(u64::MAX)),
            ] {
                let mut device = Device::new(&bytes);
                (device.at_once, device.capacity) = (at_once, capacity);
                with_model(&mut device, bytes.len(), |model| {
                    check_model(&mut model.unwrap(), &parsed);
                });
            }
            count += 1;
        });
    }
    assert!(count > 200, "{count}");
}

/// Whether or not it is known where the source ends; if not, what is missing of the data is told when
/// it is read.
#[test]
fn every_rejected_file_of_the_corpus() {
    let mut kinds = HashSet::new();
    for entry in fs::read_dir(corpus::committed().join("cases/reject")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let Err(expected) = parse(&bytes, |parsed| parsed.map(|_| ())) else { continue };
        kinds.insert(expected.kind());
        for at_once in EVERY_WAY {
            for capacity in [None, Some(bytes.len() as u64)] {
                let mut device = Device::new(&bytes);
                (device.at_once, device.capacity) = (at_once, capacity);
                with_model(&mut device, told(&bytes), |model| {
                    let error = match (expected.kind(), capacity) {
                        // More than the file may be there.
                        (ErrorKind::TrailingBytes, _) => {
                            let index = model.unwrap().index();
                            index.check_file_len(bytes.len() as u64).unwrap_err()
                        }
                        (ErrorKind::DataTruncated, None) => format(all_chunks(&mut model.unwrap())),
                        _ => format(model),
                    };
                    assert_eq!(error, expected);
                });
            }
        }
    }
    assert!(kinds.len() > 30, "{kinds:?}");
}

/// Reads all data.
fn all_chunks(model: &mut Opened<'_>) -> Result<(), StorageError<Broken>> {
    let mut buffer = [0; 999];
    for info in model.index().iter_by_offset() {
        let mut chunks = model.chunks(&info);
        while wait(chunks.next(&mut buffer))?.is_some() {}
    }
    Ok(())
}

/// A file with one tensor `t` of these dimensions, filled with random bytes.
fn one_tensor(dtype: Dtype, shape: &[u64]) -> Vec<u8> {
    let bits = shape.iter().product::<u64>() * dtype.bitsize() as u64;
    let mut random = Random(bits + shape.len() as u64);
    let data: Vec<u8> = (0..bits / 8).map(|_| random.below(256) as u8).collect();
    let mut tensors = [TensorSpec::new("t", dtype, shape).with_data(&data)];
    let plan = WriteOptions::new().plan(&mut tensors, None).unwrap();
    let mut file = vec![0; plan.file_len() as usize];
    plan.write_into(&mut file).unwrap();
    file
}

#[test]
fn every_dtype_and_random_slices() {
    let mut random = Random(7);
    for dtype in Dtype::ALL {
        let mut count = 0;
        for shape in [&[5, 4, 8][..], &[7, 24], &[40], &[], &[3, 0, 2], &[2, 3, 2, 4]] {
            let file = match shape {
                // Not a whole number of bytes.
                [] if dtype.bitsize() < 8 => continue,
                _ => one_tensor(*dtype, shape),
            };
            parse(&file, |parsed| {
                let parsed = parsed.unwrap();
                for at_once in EVERY_WAY {
                    let mut device = Device::new(&file);
                    device.at_once = at_once;
                    with_model(&mut device, 200, |model| {
                        let mut model = model.unwrap();
                        check_model(&mut model, &parsed);
                        let view = parsed.tensor("t").unwrap();
                        count += check_slices(&mut model, &view, &mut random);
                    });
                }
            });
        }
        assert!(count > 30, "{dtype}: {count}");
    }
}

// ── which reads it takes ──

#[test]
fn a_file_is_opened_with_two_reads() {
    let file = one_tensor(Dtype::U8, &[100]);
    let header = file.len() - 100;
    let mut device = Device::new(&file);
    with_model(&mut device, 1000, |model| assert_eq!(model.unwrap().index().len(), 1));
    assert_eq!(device.calls, [(0, 8), (8, header - 8)]);
}

#[test]
fn short_runs_are_gathered_into_one_chunk() {
    let file = one_tensor(Dtype::U16, &[6, 10]);
    let start = (file.len() - 120) as u64;
    let mut device = Device::new(&file);
    with_model(&mut device, 1000, |model| {
        let mut model = model.unwrap();
        let part = model.tensor("t").unwrap().slice((.., 2..5)).unwrap();
        let mut buffer = [0; 17];
        let mut chunks = model.chunks(&part);
        let mut lens = Vec::new();
        while let Some(chunk) = wait(chunks.next(&mut buffer)).unwrap() {
            lens.push(chunk.len());
        }
        assert_eq!(lens, [8, 8, 2]);
    });
    let row = |i: u64| start + i * 20 + 4;
    let reads = [
        (row(0), 6),
        (row(1), 6),
        (row(2), 4),
        (row(2) + 4, 2),
        (row(3), 6),
        (row(4), 6),
        (row(5), 2),
        (row(5) + 2, 4),
    ];
    assert_eq!(device.calls[2..], reads);
}

// ── what is wrong ──

/// Before anything but the header size is read.
#[test]
fn a_header_that_does_not_fit_its_buffer() {
    let file = one_tensor(Dtype::U8, &[3]);
    let needed = file.len() - 3;
    for len in 0..needed {
        let mut device = Device::new(&file);
        let error = format(with_model(&mut device, len, |model| model.map(|_| ())));
        let text = format!("buffer is too small, {needed} needed");
        assert_eq!((error.to_string(), error.number()), (text, needed as u64));
        assert_eq!(device.calls, [(0, 8)]);
    }
    with_model(&mut Device::new(&file), needed, |model| assert!(model.is_ok()));
}

#[test]
fn options_are_kept() {
    let gap = r#"{"t":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}"#;
    let file = file(gap, &[7, 8, 9]);
    let error = format(with_model(&mut Device::new(&file), 100, |model| model.map(|_| ())));
    assert_eq!(error.kind(), ErrorKind::Gap);
    let mut device = Device::new(&file);
    let (mut header, mut slots) = ([0; 100], [Slot::EMPTY]);
    let options = Options::new().allow_gaps(true);
    let mut model = wait(open(options, &mut device, &mut header, &mut slots)).unwrap();
    let tensor = model.tensor("t").unwrap();
    assert_eq!(wait(model.copy_bytes_into(&tensor, &mut [0])).unwrap(), [9]);
    let options = Options::new().header_limit(gap.len() as u32 - 1);
    let mut device = Device::new(&file);
    let error = format(wait(open(options, &mut device, &mut header, &mut slots)));
    assert_eq!((error.kind(), error.number()), (ErrorKind::HeaderTooLarge, gap.len() as u64));
    assert_eq!(device.calls, [(0, 8)]);
}

#[test]
fn too_few_slots() {
    let file = one_tensor(Dtype::U8, &[3]);
    let mut device = Device::new(&file);
    let mut header = [0; 100];
    let result = wait(open(Options::new(), &mut device, &mut header, &mut []));
    assert_eq!(format(result).to_string(), "too few slots, 1 needed");
}

/// A file of two tensors.
fn two_tensors() -> Vec<u8> {
    let mut tensors = [
        TensorSpec::new("a", Dtype::I16, &[2, 3])
            .with_data(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        TensorSpec::new("b", Dtype::U8, &[5]).with_data(&[21, 22, 23, 24, 25]),
    ];
    let plan = WriteOptions::new().plan(&mut tensors, None).unwrap();
    let mut file = vec![0; plan.file_len() as usize];
    plan.write_into(&mut file).unwrap();
    file
}

/// Opens a file and reads it in every way; each error must come from the last call to the device.
fn read_all(device: &mut Device) -> Result<(), StorageError<Broken>> {
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    let mut model = wait(open(Options::new(), device, &mut header, &mut slots))?;
    let [a, b] = ["a", "b"].map(|name| model.tensor(name).unwrap());
    let mut numbers = [0.0; 6];
    assert_eq!(
        wait(model.convert_into(&a, &mut numbers, &mut [0; 5]))?,
        [513.0, 1027.0, 1541.0, 2055.0, 2569.0, 3083.0]
    );
    let part = a.slice((.., 1..)).unwrap();
    let mut items = [0_i16; 4];
    assert_eq!(wait(model.copy_into(&part, &mut items, &mut [0; 6]))?, [1027, 1541, 2569, 3083]);
    assert_eq!(wait(model.copy_bytes_into(&b, &mut [0; 5]))?, [21, 22, 23, 24, 25]);
    let mut buffer = [0; 2];
    let mut chunks = model.chunks(&b);
    let mut sum = 0.0;
    while let Some(elements) = wait(chunks.next(&mut buffer))? {
        sum += elements.values().unwrap().sum::<f32>();
    }
    assert_eq!(sum, 115.0);
    Ok(())
}

#[test]
fn a_source_that_fails_at_any_call() {
    let file = two_tensors();
    for at_once in EVERY_WAY {
        let mut device = Device::new(&file);
        device.at_once = at_once;
        read_all(&mut device).unwrap();
        let calls = device.calls.len();
        assert!(calls > 10);
        for fails in 0..calls {
            let mut device = Device::new(&file);
            (device.at_once, device.fails) = (at_once, Some(fails));
            let error = read_all(&mut device).unwrap_err();
            assert_eq!(error, StorageError::Source(Broken(fails)));
            assert_eq!(error.to_string(), format!("call {fails} failed"));
            assert_eq!(device.calls.len(), fails + 1);
        }
    }
}

/// Without a word of it before, as it does not know its capacity.
#[test]
fn a_source_that_ends_at_any_byte() {
    let file = two_tensors();
    for end in 0..file.len() {
        let expected = parse(&file[..end], |parsed| parsed.unwrap_err());
        for at_once in EVERY_WAY {
            let mut device = Device::new(&file[..end]);
            device.at_once = at_once;
            let error = read_all(&mut device).unwrap_err();
            assert_eq!(error, StorageError::Format(expected));
            assert_eq!(error.to_string(), expected.to_string());
            device.capacity = Some(end as u64);
            device.calls.clear();
            assert_eq!(read_all(&mut device), Err(StorageError::Format(expected)));
            // The data is not read then.
            assert!(device.calls.iter().all(|(offset, _)| *offset < file.len() as u64 - 17));
        }
    }
}

#[test]
fn a_source_that_says_it_read_more_than_was_wanted_is_not_believed() {
    let mut device = Device::new(&two_tensors());
    device.lies = true;
    read_all(&mut device).unwrap();
}

#[test]
fn after_a_failure_the_same_elements_are_next() {
    let file = one_tensor(Dtype::I16, &[4, 9]);
    let mut device = Device::new(&file);
    device.at_once = AtOnce::One;
    let mut calls = 0;
    with_model(&mut device, 200, |model| {
        let mut model = model.unwrap();
        let part = model.tensor("t").unwrap().slice((.., 2..7)).unwrap();
        let mut whole = [0; 40];
        wait(model.copy_bytes_into(&part, &mut whole)).unwrap();
        calls = model.into_source().calls.len();
        assert_eq!(calls, file.len() - 72 + 40);
    });
    for fails in calls - 40..calls {
        let (mut first, mut second) = (Device::new(&file), Device::new(&file));
        for device in [&mut first, &mut second] {
            device.at_once = AtOnce::One;
        }
        second.fails = Some(fails);
        let all = |device: &mut Device| {
            with_model(device, 200, |model| {
                let mut model = model.unwrap();
                let part = model.tensor("t").unwrap().slice((.., 2..7)).unwrap();
                let (mut bytes, mut failures, mut buffer) = (Vec::new(), 0, [0; 7]);
                let mut chunks = model.chunks(&part);
                loop {
                    match wait(chunks.next(&mut buffer)) {
                        Ok(Some(chunk)) => bytes.extend_from_slice(chunk.bytes()),
                        Ok(None) => return (bytes, failures),
                        Err(error) => {
                            assert_eq!(error, StorageError::Source(Broken(fails)));
                            failures += 1;
                        }
                    }
                }
            })
        };
        let ((expected, none), (found, one)) = (all(&mut first), all(&mut second));
        assert_eq!((expected.len(), none, one), (40, 0, 1));
        assert_eq!(found, expected);
    }
}

// ── checksums ──

/// With a checksum, however much is read at once; with any byte changed there is an error; and if a read
/// fails that is told.
#[cfg(feature = "checksum")]
#[test]
fn checksums_are_compared() {
    let mut file = file(r#"{"t":{"dtype":"U8","shape":[50],"data_offsets":[0,50]}}"#, &[7; 50]);
    let len = file.len();
    file.resize(len + 100, 0);
    let mut editor = safetensors_core::Editor::open(&mut file, len).unwrap();
    editor.set_checksum().unwrap();
    let file = editor.finish().to_vec();
    let check = |device: &mut Device, scratch: usize| {
        with_model(device, 300, |model| {
            let mut model = model.unwrap();
            let result = wait(model.check_checksum(&mut vec![0; scratch]));
            (result, model.into_source().calls.len())
        })
    };
    for at_once in EVERY_WAY {
        for scratch in [1, 7, 49, 50, 51, 1000] {
            let mut device = Device::new(&file);
            device.at_once = at_once;
            let (result, calls) = check(&mut device, scratch);
            assert_eq!(result, Ok(()));
            // The last of the calls belongs to the data.
            let mut device = Device::new(&file);
            device.at_once = at_once;
            device.fails = Some(calls - 1);
            assert_eq!(check(&mut device, scratch).0, Err(StorageError::Source(Broken(calls - 1))));
        }
    }
    assert_eq!(format(check(&mut Device::new(&file), 0).0).kind(), ErrorKind::BufferTooSmall);
    for at in file.len() - 50..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 0x10;
        let error = format(check(&mut Device::new(&changed), 20).0);
        let parsed = parse(&changed, |model| model.unwrap().check_checksum().unwrap_err());
        assert_eq!((error.kind(), error), (ErrorKind::ChecksumMismatch, parsed));
    }
    // It ends before the file does.
    let error = format(check(&mut Device::new(&file[..file.len() - 3]), 20).0);
    let end = file.len() as u64 - 3;
    assert_eq!((error.kind(), error.offset(), error.number()), (ErrorKind::DataTruncated, end, 3));
}
