//! Files of a disk as sources.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use safetensors_core::{Slot, Source, StdIo, StorageError, StoredSafeTensors};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/digits/digits.safetensors");

fn check<S: Source<Error = io::Error>>(source: S) {
    let (mut header, mut slots) = ([0; 1000], [Slot::EMPTY; 8]);
    let mut model = StoredSafeTensors::open(source, &mut header, &mut slots).unwrap();
    let bias = model.tensor("fc2.bias").unwrap();
    let mut bytes = [0; 40];
    model.copy_bytes_into(&bias, &mut bytes).unwrap();
    assert_eq!(bytes, std::fs::read(DIGITS).unwrap()[8_928..8_968]);
}

#[test]
fn files_and_what_is_read_and_seek() {
    check(StdIo(File::open(DIGITS).unwrap()));
    check(StdIo(&File::open(DIGITS).unwrap()));
    let bytes = std::fs::read(DIGITS).unwrap();
    check(StdIo(Cursor::new(&bytes)));
    check(StdIo(Interrupted(Cursor::new(bytes), false)));
}

/// Is interrupted before each read.
struct Interrupted(Cursor<Vec<u8>>, bool);

impl Read for Interrupted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(to) }
    }
}

impl Seek for Interrupted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn a_file_that_is_cut_off() {
    let bytes = std::fs::read(DIGITS).unwrap();
    let short = Cursor::new(&bytes[..bytes.len() - 3]);
    let (mut header, mut slots) = ([0; 1000], [Slot::EMPTY; 8]);
    let result = StoredSafeTensors::open(StdIo(short), &mut header, &mut slots);
    let Err(StorageError::Format(error)) = result else { panic!("nothing was wrong") };
    assert!(error.to_string().contains(", 3 bytes missing"), "{error}");
}
