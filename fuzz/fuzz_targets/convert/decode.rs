//! Bytes as elements, in every way to read them.

use std::fmt::Debug;

use safetensors_core::{Dtype, Elements, ErrorKind};

use crate::formats::{self, canonical, codes};
use crate::typed::{self, Typed};
use crate::{check_filling, refused};
use fuzz::Input;

pub(crate) fn check(mut input: Input<'_>) {
    let dtype = input.dtype();
    let moves = input.take();
    let times = 1 + input.below(4);
    let bytes = match input.byte() % 4 {
        0 if dtype.bitsize() >= 32 => borders(&mut input, dtype),
        _ => input.rest(96).to_vec(),
    };
    let bytes = bytes.repeat(times);
    let real = dtype != Dtype::C64;
    let codes = if real { codes(dtype, &bytes) } else { vec![] };
    let values: Vec<_> = codes.into_iter().map(|code| formats::value(dtype, code)).collect();
    // In memory at every distance from a multiple of 8.
    let mut room = vec![0; bytes.len() + 16];
    let start = room.as_ptr().align_offset(8);
    for misalignment in 0..8 {
        let from = start + misalignment;
        let place = &mut room[from..from + bytes.len()];
        place.copy_from_slice(&bytes);
        if let Some(elements) = elements(dtype, place) {
            check_values(&elements, real.then_some(&values), &moves);
            typed::each_type(&Reading { elements, misalignment, moves: &moves });
        }
    }
}

/// Numbers at and beside borders of rounding.
fn borders(input: &mut Input<'_>, dtype: Dtype) -> Vec<u8> {
    let mut bytes = vec![];
    for _ in 0..8 {
        let (odd, exponent) = (u32::from_le_bytes(input.take()), input.byte());
        let beside = i64::from(input.byte() % 5) - 2;
        let code = formats::wide_halfway(dtype, odd, exponent, beside);
        bytes.extend_from_slice(&code.to_le_bytes()[..dtype.bitsize() / 8]);
    }
    bytes
}

/// What `bytes` are, if they are whole elements.
fn elements(dtype: Dtype, bytes: &[u8]) -> Option<Elements<'_>> {
    let together = if dtype.bitsize() == 6 { 3 } else { dtype.bitsize().div_ceil(8) };
    let result = Elements::new(dtype, bytes);
    let rest = bytes.len() % together;
    if rest != 0 {
        refused(result, ErrorKind::PartialElement, rest as u64, 0);
        return None;
    }
    let elements = result.unwrap();
    assert_eq!(elements.dtype(), dtype);
    assert_eq!(elements.bytes().as_ptr(), bytes.as_ptr());
    assert_eq!(elements.bytes(), bytes);
    assert_eq!(elements.len() * dtype.bitsize(), bytes.len() * 8);
    assert_eq!(elements.is_empty(), bytes.is_empty());
    Some(elements)
}

/// As `f32`, if they are real numbers.
fn check_values(elements: &Elements<'_>, expected: Option<&Vec<u32>>, moves: &[u8; 8]) {
    let len = elements.len();
    for i in [len, len + 1, usize::MAX / 2, usize::MAX] {
        assert_eq!(elements.value(i), None);
    }
    let Some(expected) = expected else {
        assert!((0..len).all(|i| elements.value(i).is_none()));
        refused(elements.values(), ErrorKind::NotReal, 0, 0);
        return refused(elements.convert_into(&mut vec![0.0; len]), ErrorKind::NotReal, 0, 0);
    };
    let one_by_one = (0..len).map(|i| canonical(elements.value(i).unwrap()));
    assert_eq!(one_by_one.collect::<Vec<_>>(), *expected);
    check_iterator(elements.values().unwrap(), expected, moves, canonical);
    check_filling(expected, 12345.0, 0, canonical, |to| elements.convert_into(to));
}

/// Takes items from both ends, then the rest from one.
fn check_iterator<T, K: Copy + PartialEq + Debug>(
    mut iterator: impl DoubleEndedIterator<Item = T> + ExactSizeIterator + Clone,
    expected: &[K],
    moves: &[u8; 8],
    key: impl Fn(T) -> K,
) {
    let mut model = expected.iter().copied();
    for step in moves {
        let far = usize::from(step / 4);
        let (found, expected) = match step % 4 {
            0 => (iterator.next(), model.next()),
            1 => (iterator.next_back(), model.next_back()),
            2 => (iterator.nth(far), model.nth(far)),
            _ => (iterator.nth_back(far), model.nth_back(far)),
        };
        assert_eq!(found.map(&key), expected);
        assert_eq!(iterator.len(), model.len());
    }
    assert!(iterator.clone().map(&key).eq(model.clone()));
    assert!(iterator.rev().map(&key).eq(model.rev()));
}

struct Reading<'a> {
    elements: Elements<'a>,
    misalignment: usize,
    moves: &'a [u8; 8],
}

impl typed::Check for Reading<'_> {
    fn check<T: Typed>(&self) {
        let Self { elements, misalignment, moves } = self;
        let (bytes, dtype) = (elements.bytes(), elements.dtype());
        if T::DTYPE != dtype {
            let (kind, number) = typed::mismatch(dtype);
            refused(elements.as_slice::<T>(), kind, number, 0);
            refused(elements.iter::<T>(), kind, number, 0);
            return refused(elements.copy_into::<T>(&mut []), kind, number, 0);
        }
        let expected = typed::all::<T>(bytes);

        let slice = elements.as_slice::<T>();
        let align = align_of::<T>();
        if misalignment % align != 0 && !bytes.is_empty() {
            refused(slice, ErrorKind::Misaligned, align as u64, 0);
        } else if let Some(i) = bytes.iter().position(|byte| dtype == Dtype::BOOL && *byte > 1) {
            refused(slice, ErrorKind::InvalidBool, i as u64, 0);
        } else {
            let slice = slice.unwrap();
            // No elements may lie anywhere.
            assert!(slice.is_empty() || slice.as_ptr().cast() == bytes.as_ptr());
            assert!(slice.iter().map(|value| value.bits()).eq(expected.iter().copied()));
        }
        check_iterator(elements.iter::<T>().unwrap(), &expected, moves, T::bits);
        check_filling(&expected, T::BLANK, 0, T::bits, |to| elements.copy_into(to));

        // And back again.
        let values: Vec<T> = elements.iter().unwrap().collect();
        let canonical = bytes.iter().map(|byte| match dtype {
            Dtype::BOOL => u8::from(*byte != 0),
            _ => *byte,
        });
        let canonical: Vec<_> = canonical.collect();
        check_filling(
            &canonical,
            0xa5,
            0,
            |byte| byte,
            |to| {
                let len = Elements::copy_from(&values, to).map(|written| {
                    assert_eq!((written.dtype(), written.bytes()), (dtype, &canonical[..]));
                    written.bytes().len()
                })?;
                Ok(&mut to[..len])
            },
        );
    }
}
