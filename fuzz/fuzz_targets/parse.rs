//! What is accepted lies inside the input, and all entry points agree, on whatever bytes.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use safetensors_core::{ErrorKind, Options, Slot};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    fuzz::mutate(data, size, max_size, seed)
});

fuzz_target!(|input: &[u8]| {
    let bytes = common::fuzzed(input);
    let verdict = common::entry_points::ask(&bytes);
    // Each entry takes more than one byte, so there are slots enough.
    let mut slots = vec![Slot::EMPTY; input.len()];
    let model = match Options::new().allow_gaps(true).parse(&bytes, &mut slots) {
        Ok(model) => model,
        Err(error) => {
            assert!(!matches!(error.kind(), ErrorKind::Gap | ErrorKind::TrailingBytes));
            return assert!(verdict.is_err());
        }
    };
    // Gaps are all that is let pass.
    let (mut last, mut gaps) = (0, false);
    for view in model.iter_by_offset() {
        let (begin, end) = view.info().data_offsets();
        assert!(last <= begin && begin <= end && end <= model.data().len() as u64);
        assert_eq!(view.data(), &model.data()[begin as usize..end as usize]);
        gaps |= begin != last;
        last = end;
    }
    gaps |= last != model.data().len() as u64;
    assert_eq!(verdict.is_ok(), !gaps);
    assert!(verdict.is_ok_and(|listing| listing.tensors.len() == model.len()) || gaps);
});
