//! Files that are written piece by piece: the same bytes as in one piece, whatever the sink takes at
//! once and wherever it fails.

use std::convert::Infallible;

use safetensors_core::{
    Dtype, MetadataPair, Plan, Sink, StreamError, TensorSpec, WriteErrorKind, WriteOptions,
};

const WEIGHT: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7];

/// Tensors with data and without, one without elements, and gaps before most of them.
fn tensors() -> [TensorSpec<'static>; 4] {
    [
        TensorSpec::new("weight", Dtype::F32, &[2]),
        TensorSpec::new("bias", Dtype::I16, &[1]).with_data(&[8, 9]),
        TensorSpec::new("none", Dtype::U16, &[0]),
        TensorSpec::new("last", Dtype::U8, &[3]).with_data(&[10, 11, 12]),
    ]
}

fn with_plan<R>(check: impl FnOnce(&Plan<'_>, &[u8]) -> R) -> R {
    let options = WriteOptions::new().align_tensors(200).align(64);
    // More than one piece of the header.
    let long = "x".repeat(300);
    let mut pairs = [MetadataPair::new("k", &*long)];
    let mut tensors = tensors();
    let plan = options.plan(&mut tensors, Some(&mut pairs)).unwrap();
    let mut whole = self::tensors();
    let [weight, _, none, _] = &mut whole;
    (*weight, *none) = (weight.with_data(WEIGHT), none.with_data(&[]));
    let mut buffer = vec![0xaa; plan.file_len() as usize];
    let mut pairs = [MetadataPair::new("k", &*long)];
    let whole = options.plan(&mut whole, Some(&mut pairs)).unwrap();
    assert_eq!(whole.write_into(&mut buffer).unwrap().len(), 979);
    check(&plan, &buffer)
}

/// Streams all of it, the weight in pieces of `piece` bytes.
fn stream<S: Sink>(plan: &Plan<'_>, sink: S, piece: usize) -> Result<u64, StreamError<S::Error>> {
    let mut stream = plan.stream(sink)?;
    let mut names = Vec::new();
    while let Some(tensor) = stream.next_tensor()? {
        names.push(tensor.name().to_string());
        if tensor.name() == "weight" {
            WEIGHT.chunks(piece).try_for_each(|piece| stream.write(piece))?;
        }
    }
    assert_eq!(names, ["weight", "none"]);
    let written = stream.written();
    stream.finish()?;
    Ok(written)
}

#[test]
fn pieces_of_every_length_make_the_same_file() {
    with_plan(|plan, whole| {
        for at_once in [1, 2, 7, 127, 128, 129, usize::MAX] {
            for piece in 1..=WEIGHT.len() {
                let mut file = Vec::new();
                let sink = |bytes: &[u8]| {
                    let some = &bytes[..bytes.len().min(at_once)];
                    file.extend_from_slice(some);
                    Ok::<_, Infallible>(some.len())
                };
                assert_eq!(stream(plan, sink, piece), Ok(plan.file_len()));
                assert!(file == whole);
            }
        }
    });
}

#[test]
fn the_header_comes_in_pieces_of_128_bytes() {
    with_plan(|plan, _| {
        let mut pieces = Vec::new();
        let sink = |bytes: &[u8]| {
            pieces.push(bytes.len());
            Ok::<_, Infallible>(bytes.len())
        };
        let _ = plan.stream(sink).unwrap();
        let header = plan.data_start() as usize;
        let rest = (!header.is_multiple_of(128)).then_some(header % 128);
        assert!(pieces.iter().copied().eq([128].repeat(header / 128).into_iter().chain(rest)));
    });
}

// ── sinks that fail ──

#[test]
fn a_sink_that_fails_at_any_byte_has_got_all_before_it() {
    with_plan(|plan, whole| {
        for end in 0..whole.len() {
            let mut file = Vec::new();
            let sink = |bytes: &[u8]| {
                let some = &bytes[..bytes.len().min(end - file.len())];
                file.extend_from_slice(some);
                // A part is taken before the failure is told, as an operating system does it.
                if some.is_empty() { Err("broken") } else { Ok(some.len()) }
            };
            assert_eq!(stream(plan, sink, 3), Err(StreamError::Sink("broken")));
            assert!(file == whole[..end]);
        }
    });
}

#[test]
fn a_sink_that_is_full_at_any_byte_is_told() {
    with_plan(|plan, whole| {
        for end in 0..whole.len() {
            let mut left = end;
            let sink = |bytes: &[u8]| {
                let some = bytes.len().min(left);
                left -= some;
                Ok::<_, Infallible>(some)
            };
            let error = stream(plan, sink, 8).unwrap_err();
            let bytes = if end == 1 { "byte" } else { "bytes" };
            assert_eq!(error.to_string(), format!("sink takes no more, {end} {bytes} written"));
        }
    });
}

/// What it was given last may be in the file or not.
#[test]
fn nothing_goes_on_after_a_failure() {
    with_plan(|plan, _| {
        for good in 0..plan.file_len() as usize {
            let mut left = good;
            // Fails once.
            let sink = |bytes: &[u8]| {
                if left == 0 {
                    left = usize::MAX;
                    return Err("broken");
                }
                let some = bytes.len().min(left);
                left -= some;
                Ok(some)
            };
            let Ok(mut stream) = plan.stream(sink) else { continue };
            let step = |stream: &mut safetensors_core::Stream<'_, _>| {
                while let Some(tensor) = stream.next_tensor()? {
                    if tensor.name() == "weight" {
                        stream.write(WEIGHT)?;
                    }
                }
                Ok(())
            };
            assert_eq!(step(&mut stream), Err(StreamError::Sink("broken")));
            let bytes = stream.written();
            assert_eq!(bytes, good as u64);
            let message = format!("sink takes no more, {bytes} bytes written");
            assert_eq!(stream.next_tensor().unwrap_err().to_string(), message);
            assert_eq!(stream.write(&[]).unwrap_err().to_string(), message);
            assert_eq!(stream.finish().err().unwrap().to_string(), message);
        }
    });
}

#[test]
fn a_sink_that_says_it_took_more_than_it_got_is_not_believed() {
    with_plan(|plan, whole| {
        let mut file = Vec::new();
        let sink = |bytes: &[u8]| {
            file.extend_from_slice(bytes);
            Ok::<_, Infallible>(usize::MAX)
        };
        assert_eq!(stream(plan, sink, 8), Ok(whole.len() as u64));
        assert!(file == whole);
    });
}

// ── data that is not what was planned ──

fn take_all(bytes: &[u8]) -> Result<usize, Infallible> {
    Ok(bytes.len())
}

fn message(plan: &Plan<'_>, error: StreamError<Infallible>) -> String {
    let StreamError::Write(error) = error;
    error.display(plan.tensors(), &[]).to_string()
}

#[test]
fn too_much_data_names_the_tensor() {
    with_plan(|plan, _| {
        let mut stream = plan.stream(take_all).unwrap();
        let error = stream.write(&[0]).unwrap_err();
        assert_eq!(
            message(plan, error),
            "data is not as long as dtype and shape demand, 0 bytes needed"
        );
        stream.write(&[]).unwrap();
        stream.next_tensor().unwrap();
        stream.write(&WEIGHT[..5]).unwrap();
        let written = stream.written();
        let error = stream.write(&WEIGHT[4..]).unwrap_err();
        assert_eq!(
            message(plan, error),
            r#"tensor "weight": data is not as long as dtype and shape demand, 8 bytes needed"#
        );
        // Nothing was written, and what is right goes on.
        assert_eq!(stream.written(), written);
        stream.write(&WEIGHT[5..]).unwrap();
        assert_eq!(stream.next_tensor().unwrap().unwrap().name(), "none");
        let error = stream.write(&[0]).unwrap_err();
        assert_eq!(
            message(plan, error),
            r#"tensor "none": data is not as long as dtype and shape demand, 0 bytes needed"#
        );
        stream.finish().unwrap();
    });
}

#[test]
fn too_little_data_names_the_tensor() {
    with_plan(|plan, _| {
        let expected = r#"tensor "weight": data is not complete, 1 byte missing"#;
        let mut stream = plan.stream(take_all).unwrap();
        stream.next_tensor().unwrap();
        stream.write(&WEIGHT[..7]).unwrap();
        let error = stream.next_tensor().unwrap_err();
        assert_eq!(message(plan, error), expected);
        assert_eq!(message(plan, stream.finish().err().unwrap()), expected);
        // Not even begun.
        let error = plan.stream(take_all).unwrap().finish().err().unwrap();
        assert_eq!(
            message(plan, error),
            r#"tensor "weight": data is not complete, 8 bytes missing"#
        );
        let StreamError::Write(error) = error;
        assert_eq!((error.kind(), error.index()), (WriteErrorKind::MissingData, Some(0)));
    });
}

// ── writers of libraries ──

#[cfg(feature = "std")]
mod std_io {
    use std::io::{self, Write};

    use safetensors_core::StdIo;

    use super::{stream, with_plan};

    /// Is interrupted before each byte.
    struct Interrupted(Vec<u8>, bool);

    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0.push(bytes[0]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_writer_of_std() {
        with_plan(|plan, whole| {
            let mut writer = Interrupted(Vec::new(), false);
            stream(plan, StdIo(&mut writer), 8).unwrap();
            assert!(writer.0 == whole);
            let mut room = [0; 100];
            let error = stream(plan, StdIo(&mut room[..]), 8).unwrap_err();
            assert_eq!(error.to_string(), "sink takes no more, 100 bytes written");
            assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
        });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_disk_that_is_full() {
        with_plan(|plan, _| {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let error = io::Error::from(stream(plan, StdIo(full), 8).unwrap_err());
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        });
    }
}

#[cfg(feature = "embedded-io-07")]
mod embedded {
    use safetensors_core::{EmbeddedIo, StreamError};

    use super::{stream, with_plan};

    #[test]
    fn a_writer_of_embedded_io() {
        with_plan(|plan, whole| {
            let mut room = vec![0; whole.len()];
            stream(plan, EmbeddedIo(&mut room[..]), 8).unwrap();
            assert!(room == whole);
            // Its slices have an error of their own for what is full.
            let error = stream(plan, EmbeddedIo(&mut room[..100]), 8).unwrap_err();
            assert_eq!(error, StreamError::Sink(embedded_io::SliceWriteError::Full));
        });
    }
}
