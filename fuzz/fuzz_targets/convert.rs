//! Numbers, slices and shapes are what plain computations say. The first byte of an input chooses
//! among the four; `input` takes the others.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "convert/decode.rs"]
mod decode;
#[path = "convert/encode.rs"]
mod encode;
#[path = "convert/formats.rs"]
mod formats;
#[path = "convert/shape.rs"]
mod shape;
#[path = "convert/slice.rs"]
mod slice;
#[path = "convert/typed.rs"]
mod typed;

use std::fmt::Debug;

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use safetensors_core::{Error, ErrorKind};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    match input.below(4) {
        0 => decode::check(input),
        1 => encode::check(input),
        2 => slice::check(input),
        _ => shape::check(input),
    }
});

/// Demands exactly this error.
fn refused<T: Debug>(result: Result<T, Error>, kind: ErrorKind, number: u64, offset: u64) {
    let error = result.unwrap_err();
    assert_eq!((error.kind(), error.number(), error.offset()), (kind, number, offset));
}

/// Calls `fill` with a buffer of exactly `len` items, a longer one, and one that is too short by one.
/// `blank` is in all of them, and must stay where nothing is to be written.
fn check_filling<T: Copy + Debug, K: PartialEq + Debug>(
    expected: &[K],
    blank: T,
    offset: u64,
    key: impl Fn(T) -> K,
    fill: impl Fn(&mut [T]) -> Result<&mut [T], Error>,
) {
    let len = expected.len();
    let keys = |items: &[T]| items.iter().copied().map(&key).collect::<Vec<_>>();
    for more in [0, 3] {
        let mut to = vec![blank; len + more];
        let start = to.as_ptr();
        let filled = fill(&mut to).unwrap();
        assert_eq!(filled.as_ptr(), start);
        assert_eq!(keys(filled), expected);
        assert_eq!(keys(&to[..len]), expected);
        assert_eq!(keys(&to[len..]), keys(&vec![blank; more]));
    }
    if len > 0 {
        let mut to = vec![blank; len - 1];
        refused(fill(&mut to), ErrorKind::BufferTooSmall, len as u64, offset);
        assert_eq!(keys(&to), keys(&vec![blank; len - 1]));
    }
}
