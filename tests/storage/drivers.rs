//! Drivers of flash and files as sources: whatever they read at once, the file is the same.

use std::fmt::Debug;

use safetensors_core::{
    Dtype, EmbeddedIo, EmbeddedStorage, ErrorKind, NorFlashSource, Options, SafeTensors, Slot,
    StorageError, TensorSpec, WriteOptions,
};

use super::{Source, open, stream, wait};
use crate::disk::Disk;
use crate::nor::{Access, Nor};

/// Two tensors, one of them of an odd length.
fn file() -> Vec<u8> {
    let data: Vec<u8> = (0..=255).collect();
    let mut tensors = [
        TensorSpec::new("a", Dtype::I16, &[11, 10]).with_data(&data[..220]),
        TensorSpec::new("b", Dtype::U8, &[251]).with_data(&data[..251]),
    ];
    let plan = WriteOptions::new().align(0).plan(&mut tensors, None).unwrap();
    let mut file = vec![0; plan.file_len() as usize];
    plan.write_into(&mut file).unwrap();
    file
}

/// Reads a file in many ways, each of them to and from places of every alignment.
fn check<S: Source<Error: Debug>>(source: S, file: &[u8]) {
    let (mut slots, mut others) = ([Slot::EMPTY; 2], [Slot::EMPTY; 2]);
    let parsed = SafeTensors::parse(file, &mut slots).unwrap();
    let mut header = [0; 200];
    let mut model = wait(open(Options::new(), source, &mut header, &mut others)).unwrap();
    for view in parsed {
        let info = model.tensor(&view.name().to_string()).unwrap();
        let mut bytes = [0; 251];
        assert_eq!(wait(model.copy_bytes_into(&info, &mut bytes)).unwrap(), view.data());
        for len in [2, 7, 64, 100] {
            let (mut rest, mut buffer) = (view.data(), vec![0; len]);
            let mut chunks = model.chunks(&info);
            while let Some(chunk) = wait(chunks.next(&mut buffer)).unwrap() {
                let (expected, behind) = rest.split_at(chunk.bytes().len());
                assert_eq!(chunk.bytes(), expected);
                rest = behind;
            }
            assert!(rest.is_empty());
        }
        for from in 0..11 {
            for to in from..11 {
                let part = info.slice((from..to,)).unwrap();
                let expected = view.slice((from..to,)).unwrap().elements().unwrap();
                let bytes = wait(model.copy_bytes_into(&part, &mut bytes)).unwrap();
                assert_eq!(bytes, expected.bytes());
            }
        }
    }
}

/// A file in the middle of a flash of that many bytes.
fn flash<const READ: usize>(file: &[u8], start: usize, len: usize) -> Nor<READ, 64, 64> {
    let mut bytes = vec![0x5a; len];
    bytes[start..][..file.len()].copy_from_slice(file);
    Nor::new(bytes)
}

fn check_read_size<const READ: usize>() {
    let file = file();
    for start in [0, 1, 3, 63, 64, 65, 100] {
        for spare in [0, 1, 7, 200] {
            let len = (start + file.len() + spare).next_multiple_of(READ);
            let nor = flash::<READ>(&file, start, len);
            check(NorFlashSource(nor.clone()).starting_at(start as u64), &file);
            check(NorFlashSource(&mut nor.clone()).starting_at(start as u64), &file);
            check(EmbeddedStorage(nor).starting_at(start as u64), &file);
        }
    }
}

#[test]
fn flash_of_every_read_size() {
    check_read_size::<1>();
    check_read_size::<2>();
    check_read_size::<4>();
    check_read_size::<8>();
    check_read_size::<16>();
    check_read_size::<32>();
    check_read_size::<64>();
    // Of no power of two.
    check_read_size::<3>();
    check_read_size::<24>();
}

#[test]
fn what_is_aligned_is_read_at_once() {
    let nor = flash::<16>(&[], 0, 256);
    let reads = |offset, len: usize| {
        let mut source = NorFlashSource(nor.clone());
        nor.0.borrow_mut().log.clear();
        let (mut to, mut filled) = (vec![0; len], 0);
        let (mut lens, mut offset) = (Vec::new(), offset);
        while filled < len {
            let read = wait(source.read(offset, &mut to[filled..])).unwrap();
            if read == 0 {
                break;
            }
            (filled, offset) = (filled + read, offset + read as u64);
            lens.push(read);
        }
        let log = nor.0.borrow().log.clone();
        let accesses = log.into_iter().map(|access| match access {
            Access::Read(start, len) => (start, len),
            other => panic!("{other:?}"),
        });
        accesses.zip(lens).collect::<Vec<_>>()
    };
    assert_eq!(reads(32, 160), [((32, 160), 160)]);
    // The head through the stack, as far as that reaches; the middle at once; then the tail.
    assert_eq!(reads(5, 200), [((0, 64), 59), ((64, 128), 128), ((192, 16), 13)]);
    // What is small in one go.
    assert_eq!(reads(30, 4), [((16, 32), 4)]);
    assert_eq!(reads(16, 3), [((16, 16), 3)]);
    // Behind the end there is nothing.
    assert_eq!(reads(250, 100), [((240, 16), 6)]);
    assert_eq!(reads(256, 1), []);
    assert_eq!(reads(1 << 32, 16), []);
    assert_eq!(reads(u64::MAX, 16), []);
}

#[test]
fn flash_that_ends_too_early() {
    let file = file();
    let short = file.len() - 1;
    let expected = SafeTensors::parse(&file[..short], &mut [Slot::EMPTY; 2]).unwrap_err();
    assert_eq!((expected.kind(), expected.number()), (ErrorKind::DataTruncated, 1));
    let bytes = Nor::<1, 1, 1>::new(file[..short].to_vec());
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    macro_rules! check {
        ($($source:expr),*) => {$(
            let result = wait(open(Options::new(), $source, &mut header, &mut slots));
            let Err(StorageError::Format(error)) = result else { panic!("nothing was wrong") };
            assert_eq!(error, expected);
        )*};
    }
    check!(NorFlashSource(bytes.clone()), EmbeddedStorage(bytes));
}

/// The last bytes of a flash can't be read if they are fewer than it reads at once.
#[test]
fn flash_of_a_capacity_that_can_not_be_read() {
    let file = file();
    let capacity = file.len() / 16 * 16;
    assert!(capacity < file.len());
    let nor = Nor::<16, 16, 16>::new(file.clone());
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    let result = wait(open(Options::new(), NorFlashSource(nor), &mut header, &mut slots));
    let Err(StorageError::Format(error)) = result else { panic!("nothing was wrong") };
    let missing = (file.len() - capacity) as u64;
    assert_eq!((error.kind(), error.number()), (ErrorKind::DataTruncated, missing));
}

// ── files ──

#[test]
fn what_is_read_and_seek() {
    let file = file();
    check(EmbeddedIo(Disk::new(&file)), &file);
    check(EmbeddedIo(&mut Disk::new(&file)), &file);
    let bytes = [b"before", &file[..], b"behind"].concat();
    check(EmbeddedIo(Disk::new(&bytes)).starting_at(6), &file);
    let short = Disk::new(&file[..file.len() - 2]);
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    let result = wait(open(Options::new(), EmbeddedIo(short), &mut header, &mut slots));
    let Err(error) = result else { panic!("nothing was wrong") };
    let at = file.len() - 2;
    let text = format!("file ends before the last tensor does, 2 bytes missing (at byte {at})");
    assert_eq!(error.to_string(), text);
}

#[test]
fn what_can_be_written() {
    let file = file();
    let mut slots = [Slot::EMPTY; 2];
    let mut tensors: Vec<_> =
        SafeTensors::parse(&file, &mut slots).unwrap().iter().map(TensorSpec::from).collect();
    let plan = WriteOptions::new().align(0).plan(&mut tensors, None).unwrap();
    let mut disk = Disk::new(&[]);
    wait(wait(stream(&plan, EmbeddedIo(&mut disk))).unwrap().finish()).unwrap();
    assert!(disk.bytes == file);
}

#[test]
fn errors_of_drivers_come_through() {
    let file = file();
    let nor = flash::<4>(&file, 0, 1024);
    nor.0.borrow_mut().cut = Some((1, 0));
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    macro_rules! check {
        ($($source:expr),*) => {$(
            nor.0.borrow_mut().log.clear();
            let result = wait(open(Options::new(), $source, &mut header, &mut slots));
            let Err(error) = result else { panic!("nothing was wrong") };
            assert_eq!(error.to_string(), "Cut(1)");
        )*};
    }
    check!(NorFlashSource(nor.clone()), EmbeddedStorage(nor.clone()));
}

#[test]
fn what_is_shown() {
    let nor = Nor::<1, 1, 1>::new(Vec::new());
    let source = NorFlashSource(nor.clone()).starting_at(16);
    assert_eq!(format!("{source:?}"), "StartingAt { offset: 16, .. }");
    assert_eq!(format!("{:?}", NorFlashSource(nor.clone())), "NorFlashSource(..)");
    assert_eq!(format!("{:?}", EmbeddedStorage(nor)), "EmbeddedStorage(..)");
}
