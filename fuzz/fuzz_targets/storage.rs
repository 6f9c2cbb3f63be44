//! What is read of a file that is not in memory is what a parse finds in the same bytes, whatever is read
//! at once.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

use std::convert::Infallible;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use safetensors_core::{
    Error, ErrorKind, Index, SafeTensors, Slot, StorageError, StoredSafeTensors,
};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    fuzz::mutate(data, size, max_size, seed)
});

fn format<T>(result: Result<T, StorageError<Infallible>>) -> Result<T, Error> {
    result.map_err(|error| match error {
        StorageError::Format(error) => error,
    })
}

fuzz_target!(|input: &[u8]| {
    let bytes = common::fuzzed(input);
    // Decides how much is read at once, and into buffers of which lengths.
    let mut seed = input.iter().fold(1_u32, |seed, byte| seed.rotate_left(5) ^ u32::from(*byte));
    let mut random = move |bound: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 + (seed >> 8) as usize % bound
    };
    let mut turns = random;
    let source = |offset: u64, to: &mut [u8]| {
        assert!(!to.is_empty());
        let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        let len = to.len().min(rest.len()).min(turns(100));
        to[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    };
    let mut header = vec![0; bytes.len() + 8];
    let (mut slots, mut others) =
        (vec![Slot::EMPTY; input.len() + 1], vec![Slot::EMPTY; input.len() + 1]);
    let opened = format(StoredSafeTensors::open(source, &mut header, &mut slots));
    let mut model = match (opened, Index::build(&bytes, &mut others)) {
        (Ok(model), Ok(_)) => model,
        (Err(opened), Err(built)) => {
            // Of a header that is cut off more is wanted than there is room for.
            let too_small = opened.kind() == ErrorKind::BufferTooSmall
                && opened.number() > bytes.len() as u64 + 8;
            return assert!(opened == built || too_small, "{opened:?} {built:?}");
        }
        (opened, built) => panic!("{:?} {:?}", opened.err(), built.err()),
    };
    let Ok(parsed) = SafeTensors::parse(&bytes, &mut others) else { return };
    for view in parsed.iter_by_offset() {
        let (info, mut rest) = (view.info(), view.data());
        // Elements have up to 8 bytes.
        let mut buffer = vec![0; 7 + random(60)];
        let mut chunks = model.chunks(&info);
        while let Some(chunk) = format(chunks.next(&mut buffer)).unwrap() {
            let (expected, behind) = rest.split_at(chunk.bytes().len());
            assert_eq!(chunk.bytes(), expected);
            rest = behind;
        }
        assert!(rest.is_empty());
    }
    let sum = format(model.check_checksum(&mut vec![0; random(200)]));
    assert_eq!(sum, parsed.check_checksum());
});
