//! [`HeaderFile`]: the verdicts of a parse, without reading the data.
#![cfg(feature = "std")]

use std::cell::Cell;
use std::error::Error as _;
use std::fs::File;
use std::io::{self, Read};

use safetensors_core::host::{HeaderFile, LoadError};
use safetensors_core::{Dtype, ErrorKind, SafeTensors, Slot};

/// Counts what is read from it.
struct Counting<'a, R> {
    inner: R,
    bytes: &'a Cell<u64>,
}

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.bytes.set(self.bytes.get() + len as u64);
        Ok(len)
    }
}

const W: &str = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;

fn file(header: &str, data_len: usize) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.resize(file.len() + data_len, 0);
    file
}

#[test]
#[cfg(unix)]
fn only_the_header_of_600_gigabytes_is_read() {
    const LEN: u64 = 600_000_000_000;
    let header = format!(r#"{{"w":{{"dtype":"I8","shape":[{LEN}],"data_offsets":[0,{LEN}]}}}}"#);
    let head = file(&header, 0);
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&path, &head).unwrap();
    let file_len = head.len() as u64 + LEN;
    File::options().write(true).open(&path).unwrap().set_len(file_len).unwrap();

    for known in [Some(file_len), None] {
        let bytes = Cell::new(0);
        let reader = Counting { inner: File::open(&path).unwrap(), bytes: &bytes };
        let model = HeaderFile::read(reader, known).unwrap();
        assert_eq!(bytes.get(), head.len() as u64);
        assert_eq!(model.file_len(), known);
        let w = model.index().tensor("w").unwrap();
        assert_eq!((w.dtype(), w.data_len()), (Dtype::I8, LEN));
    }
    let model = HeaderFile::open(&path).unwrap();
    assert_eq!(model.file_len(), Some(file_len));
}

/// The same errors as of a parse of the whole file, whether the length is known or counted.
/// A file whose length is not known before it is read.
fn read_all(mut reader: impl Read) -> Result<HeaderFile, LoadError> {
    HeaderFile::read(&mut reader, None)?.check_data(reader)
}

#[test]
fn errors_are_those_of_a_parse() {
    let mut files: Vec<Vec<u8>> =
        ["{", "[]", r#"{"w":1}"#, r#"{"__metadata__":{"a":"","a":""}}"#, r#"{"__metadata__":[]}"#]
            .iter()
            .map(|header| file(header, 0))
            .collect();
    files.extend((0..20).map(|data_len| file(W, data_len)));
    files.extend((0..70).map(|len| file(W, 8)[..len].to_vec()));
    files.push(file(&W.replace("[2]", "[3]"), 8));
    files.push(b"\xff\xff\xff\xff\xff\xff\xff\x7f{}".to_vec());
    files.push(b"\xff\xe0\xf5\x05\0\0\0\0{}".to_vec());
    files.push(b"PK\x03\x04\0\0\0\0\0\0".to_vec());
    for bytes in files {
        let parsed = SafeTensors::parse(&bytes, &mut [Slot::EMPTY; 4]).map(|model| model.len());
        let len = bytes.len() as u64;
        let counted = read_all(&bytes[..]);
        for result in [HeaderFile::read(&bytes[..], Some(len)), counted] {
            match (result, parsed) {
                (Ok(file), Ok(len)) => {
                    assert_eq!(file.index().len(), len);
                    assert_eq!(file.file_len(), Some(bytes.len() as u64));
                }
                (Err(LoadError::Invalid(invalid)), Err(error)) => {
                    assert_eq!(invalid.error(), error);
                    assert_eq!(invalid.to_string(), error.display(&bytes).to_string());
                }
                (file, parsed) => panic!("{file:?}, {parsed:?}"),
            }
        }
    }
}

/// Without the length of the file all but that of the data is checked.
#[test]
fn unknown_length() {
    for data_len in [0, 8, 100] {
        let model = HeaderFile::read(&file(W, data_len)[..], None).unwrap();
        assert_eq!((model.index().len(), model.file_len()), (1, None));
    }
    assert!(HeaderFile::read(&file(&W.replace("[2]", "[3]"), 8)[..], None).is_err());
}

/// The memory is that of what arrives, not of what a file says of itself.
#[test]
fn stated_lengths_are_not_trusted() {
    // A header of the greatest length that is read, of which 2 bytes are there.
    let bytes = b"\0\xe1\xf5\x05\0\0\0\0{}";
    let error = HeaderFile::read(&bytes[..], Some(10)).unwrap_err();
    let LoadError::Invalid(invalid) = error else { panic!("{error:?}") };
    assert_eq!(invalid.error().kind(), ErrorKind::HeaderTruncated);
    assert_eq!(invalid.error().number(), 99_999_998);
}

#[test]
fn messages() {
    let invalid = |header: &str, data_len| {
        let bytes = file(header, data_len);
        match HeaderFile::read(&bytes[..], Some(bytes.len() as u64)).unwrap_err() {
            LoadError::Invalid(invalid) => invalid,
            error => panic!("{error:?}"),
        }
    };
    let in_tensor = invalid(&W.replace("F32", "F33"), 8);
    assert_eq!(in_tensor.to_string(), "tensor \"w\": unknown dtype (at byte 23)");
    assert_eq!(in_tensor.tensor().unwrap(), "w");
    let in_metadata = invalid(r#"{"__metadata__":{"k":1}}"#, 0);
    let message = "metadata \"k\": value in __metadata__ is not a string (at byte 29)";
    assert_eq!(in_metadata.to_string(), message);
    assert!(in_metadata.tensor().is_none());

    let error = HeaderFile::open("no such file").unwrap_err();
    let LoadError::Io(io) = &error else { panic!("{error:?}") };
    assert_eq!(io.kind(), io::ErrorKind::NotFound);
    assert_eq!(error.to_string(), io.to_string());
    // Everything is in the message; a chain would repeat it.
    assert!(error.source().is_none());
}

/// An error while the data is counted is not lost.
#[test]
fn errors_of_the_reader() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let bytes = file(W, 0);
    for cut in [0, 4, 30, bytes.len()] {
        let result = read_all(bytes[..cut].chain(Failing));
        assert!(matches!(result, Err(LoadError::Io(_))), "{cut}");
    }
}

#[test]
fn can_be_sent_to_another_thread() {
    fn check<T: Send + Sync + 'static>() {}
    check::<HeaderFile>();
    check::<LoadError>();
}
