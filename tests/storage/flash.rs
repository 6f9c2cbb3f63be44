//! Files written into flash: whole, or none.

use safetensors_core::{
    Dtype, Options, Plan, Slot, StreamError, TensorSpec, WriteErrorKind, WriteOptions,
};

use super::{FlashSink, NorFlash, Sink, stream, wait};
use crate::nor::{Access, Nor, NorError};

const LATER: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// A plan with `len` bytes of data at hand, 12 that come later, a gap, and the file it makes.
fn with_plan<R>(len: usize, check: impl FnOnce(&Plan<'_>, &[u8]) -> R) -> R {
    let options = WriteOptions::new().align_tensors(16);
    let data: Vec<u8> = (0..=255).cycle().take(len).collect();
    let shape = [len];
    let data = TensorSpec::new("data", Dtype::U8, &shape[..]).with_data(&data);
    let later = TensorSpec::new("later", Dtype::F32, &[3]);
    let mut whole = [data, later.with_data(LATER)];
    let whole = options.plan(&mut whole, None).unwrap();
    let mut file = vec![0; whole.file_len() as usize];
    whole.write_into(&mut file).unwrap();
    check(&options.plan(&mut [data, later], None).unwrap(), &file)
}

/// Writes the file of a plan.
fn write<F: NorFlash>(
    flash: F,
    start: u32,
    plan: &Plan<'_>,
    buffer_len: usize,
) -> Result<F, StreamError<F::Error>> {
    let mut buffer = vec![0x55; buffer_len];
    let sink = FlashSink::new(flash, start, plan, &mut buffer)?;
    let mut stream = wait(stream(plan, sink))?;
    while let Some(tensor) = wait(stream.next_tensor())? {
        assert_eq!(tensor.name(), "later");
        for piece in LATER.chunks(5) {
            wait(stream.write(piece))?;
        }
    }
    let sink = wait(stream.finish())?;
    wait(sink.finish())
}

/// What the traits say of a flash, whether or not it is waited for.
fn fresh<const R: usize, const W: usize, const E: usize>(len: usize) -> Nor<R, W, E> {
    Nor::new(vec![0x5a; len.next_multiple_of(E)])
}

/// The least buffer.
fn least(write_size: usize) -> usize {
    8_usize.next_multiple_of(write_size) + write_size
}

// ── what is written ──

fn check_geometry<const R: usize, const W: usize, const E: usize>() {
    for len in (0..2 * W.min(20)).chain([500]) {
        with_plan(len, |plan, file| {
            for sectors in [0, 1, 3] {
                let start = sectors * E;
                for buffer in [least(W), least(W) + 1, least(W) + W, 700] {
                    let nor = fresh::<R, W, E>(start + file.len() + 2 * E);
                    write(nor.clone(), start as u32, plan, buffer).unwrap();
                    check_written(&nor, start, file);
                }
            }
        });
    }
}

/// The file is there, ones behind it as far as the last sector goes, and nothing else was touched.
fn check_written<const R: usize, const W: usize, const E: usize>(
    nor: &Nor<R, W, E>,
    start: usize,
    file: &[u8],
) {
    let state = nor.0.borrow();
    let end = (start + file.len()).next_multiple_of(E);
    let expected = [&vec![0x5a; start], file, &vec![0xff; end - start - file.len()]].concat();
    assert!(state.bytes[..end] == expected);
    assert!(state.bytes[end..].iter().all(|byte| *byte == 0x5a));
    let first = 8_usize.next_multiple_of(E);
    assert_eq!(state.log[0], Access::Erase(start as u32, (start + first) as u32));
    let head = 8_usize.next_multiple_of(W);
    assert_eq!(*state.log.last().unwrap(), Access::Write(start as u32, head));
}

#[test]
fn flash_of_every_geometry() {
    check_geometry::<1, 1, 1>();
    check_geometry::<1, 2, 4>();
    check_geometry::<1, 1, 16>();
    check_geometry::<4, 4, 64>();
    check_geometry::<4, 8, 128>();
    check_geometry::<1, 16, 256>();
    check_geometry::<1, 32, 32>();
    check_geometry::<4, 256, 4096>();
    // Of no power of two.
    check_geometry::<1, 3, 21>();
}

#[test]
fn pages_are_as_large_as_the_buffer_admits() {
    with_plan(300, |plan, file| {
        let nor = fresh::<1, 4, 256>(1024);
        write(nor.clone(), 0, plan, 8 + 101).unwrap();
        let log = nor.0.borrow().log.clone();
        let end = file.len().next_multiple_of(4);
        let pages = (8..end).step_by(100).map(|at| Access::Write(at as u32, (end - at).min(100)));
        let head = [Access::Erase(0, 256), Access::Erase(256, 512)];
        let expected: Vec<_> = head.into_iter().chain(pages).chain([Access::Write(0, 8)]).collect();
        assert_eq!(log, expected);
    });
}

#[test]
fn one_sector_is_erased_once() {
    with_plan(10, |plan, _| {
        let nor = fresh::<1, 4, 4096>(8192);
        write(nor.clone(), 4096, plan, 256).unwrap();
        let log = nor.0.borrow().log.clone();
        assert_eq!(log[0], Access::Erase(4096, 8192));
        assert!(log[1..].iter().all(|access| matches!(access, Access::Write(..))));
    });
}

// ── what does not fit ──

#[test]
fn what_does_not_fit_is_told_before_the_flash_is_touched() {
    with_plan(300, |plan, file| {
        let check = |start: u32, capacity: usize, buffer: usize, text: &str| {
            let nor = Nor::<4, 16, 256>::new(vec![0x5a; capacity]);
            let error = write(nor.clone(), start, plan, buffer).err().unwrap();
            assert_eq!(error.to_string(), text);
            assert!(nor.0.borrow().log.is_empty());
        };
        assert!(file.len() > 256 && file.len() < 512, "{}", file.len());
        let misaligned =
            "file can't begin at this place of the flash, a multiple of 256 bytes needed";
        for start in [1, 16, 255, 257, u32::MAX] {
            check(start, 4096, 256, misaligned);
        }
        for buffer in 0..32 {
            check(0, 4096, buffer, "buffer is too small, 32 bytes needed");
        }
        check(0, 511, 32, "flash ends before the file does, 1 byte missing");
        check(256, 512, 32, "flash ends before the file does, 256 bytes missing");
        check(0, 0, 32, "flash ends before the file does, 512 bytes missing");
        // The last sector of the addresses that there are.
        check(0xffff_ff00, 4096, 32, "flash ends before the file does, 4294963456 bytes missing");
    });
}

#[test]
fn a_file_larger_than_all_flash() {
    let mut tensors = [TensorSpec::new("t", Dtype::U8, &[u64::MAX / 8])];
    let plan = WriteOptions::new().plan(&mut tensors, None).unwrap();
    let error = write(fresh::<1, 4, 4096>(8192), 0, &plan, 100).err().unwrap();
    let StreamError::Write(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), WriteErrorKind::FlashTooSmall);
    let sectors = plan.file_len().next_multiple_of(4096);
    assert_eq!(error.number(), sectors - 8192);
}

#[test]
fn a_file_that_is_not_all_there_has_no_end() {
    with_plan(300, |plan, file| {
        for given in 0..file.len() {
            let nor = fresh::<1, 4, 256>(1024);
            let mut buffer = [0; 40];
            let mut sink = FlashSink::new(nor.clone(), 0, plan, &mut buffer).unwrap();
            let mut rest = &file[..given];
            while !rest.is_empty() {
                rest = &rest[wait(sink.write(rest)).unwrap()..];
            }
            let error = wait(sink.finish()).err().unwrap();
            let missing = file.len() - given;
            let s = if missing == 1 { "" } else { "s" };
            let text = format!("data is not complete, {missing} byte{s} missing");
            assert_eq!(error.to_string(), text);
            assert!(found(&nor.0.borrow().bytes).is_none());
        }
    });
}

#[test]
fn no_more_is_taken_than_was_planned() {
    with_plan(300, |plan, file| {
        let nor = fresh::<1, 4, 256>(1024);
        let mut buffer = [0; 40];
        let mut sink = FlashSink::new(nor.clone(), 0, plan, &mut buffer).unwrap();
        let bytes = [file, b"more"].concat();
        let mut taken = 0;
        loop {
            let some = wait(sink.write(&bytes[taken..])).unwrap();
            if some == 0 {
                break;
            }
            taken += some;
        }
        assert_eq!(taken, file.len());
        wait(sink.finish()).unwrap();
        check_written(&nor, 0, file);
    });
}

// ── what fails ──

/// The file at the beginning of `bytes`, if there is one. What stands behind it does not count.
fn found(bytes: &[u8]) -> Option<&[u8]> {
    let options = Options::new().allow_gaps(true);
    let mut slots = [Slot::EMPTY; 2];
    let end = options.parse(bytes, &mut slots).ok()?.index();
    Some(&bytes[..(end.header().data_start() + end.data_len()) as usize])
}

/// Writes over another file; the power fails in each call, after each part of it. What is found then
/// is the old file, if nothing was erased yet, or the new one, or none.
fn check_cuts<const R: usize, const W: usize, const E: usize>(buffer: usize) {
    let old = with_plan(333, |_, file| file.to_vec());
    for len in [0, 40, 300] {
        with_plan(len, |plan, file| {
            let start = 2 * E;
            let size = (start + old.len().max(file.len())).next_multiple_of(E);
            let with_old = || {
                let mut bytes = vec![0x5a; size];
                bytes[start..][..old.len()].copy_from_slice(&old);
                Nor::<R, W, E>::new(bytes)
            };
            let nor = with_old();
            assert_eq!(found(&nor.0.borrow().bytes[start..]), Some(&old[..]));
            write(nor.clone(), start as u32, plan, buffer).unwrap();
            let calls = nor.0.borrow().log.len();
            assert_eq!(found(&nor.0.borrow().bytes[start..]), Some(file));
            let (mut olds, mut nones, mut news) = (0, 0, 0);
            for call in 0..calls {
                for percent in [0, 1, 10, 34, 50, 75, 99, 100] {
                    for comes_back in [false, true] {
                        let nor = with_old();
                        nor.0.borrow_mut().cut = Some((call, percent));
                        nor.0.borrow_mut().comes_back = comes_back;
                        let error = write(nor.clone(), start as u32, plan, buffer).err().unwrap();
                        assert_eq!(error, StreamError::Sink(NorError::Cut(call)));
                        match found(&nor.0.borrow().bytes[start..]) {
                            None => nones += 1,
                            Some(bytes) if call == 0 => {
                                assert!(bytes == old);
                                olds += 1;
                            }
                            Some(bytes) => {
                                assert!(bytes == file);
                                // All that was missing is the answer.
                                assert!(call == calls - 1);
                                news += 1;
                            }
                        }
                    }
                }
            }
            assert!(olds > 0 && nones > 0 && news > 0);
        });
    }
}

#[test]
fn the_power_fails_at_any_call() {
    check_cuts::<1, 1, 16>(9);
    check_cuts::<1, 1, 4096>(100);
    check_cuts::<1, 4, 64>(12);
    check_cuts::<4, 8, 128>(256);
    check_cuts::<1, 16, 256>(64);
    check_cuts::<4, 256, 4096>(512);
}

/// With a flash that goes on working.
#[test]
fn nothing_goes_on_after_a_failure() {
    with_plan(300, |plan, file| {
        for call in 0..4 {
            let nor = fresh::<1, 4, 256>(1024);
            nor.0.borrow_mut().cut = Some((call, 50));
            nor.0.borrow_mut().comes_back = true;
            let mut buffer = [0; 108];
            let mut sink = FlashSink::new(nor.clone(), 0, plan, &mut buffer).unwrap();
            let mut taken = 0;
            let error = loop {
                match wait(sink.write(&file[taken..])) {
                    Ok(some) => taken += some,
                    Err(error) => break error,
                }
            };
            assert_eq!(error, NorError::Cut(call));
            let calls = nor.0.borrow().log.len();
            assert_eq!(wait(sink.write(&file[taken..])), Ok(0));
            let error = wait(sink.finish()).err().unwrap();
            let expected = format!("sink takes no more, {taken} bytes written");
            assert_eq!(error.to_string(), expected);
            assert_eq!(nor.0.borrow().log.len(), calls);
            assert!(found(&nor.0.borrow().bytes).is_none());
        }
    });
}
