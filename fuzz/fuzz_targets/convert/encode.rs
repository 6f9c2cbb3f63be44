//! Numbers to bytes of every dtype.

use safetensors_core::{Dtype, Elements, ErrorKind, Overflow};

use crate::formats::{self, Code, canonical, codes};
use crate::{check_filling, refused};
use fuzz::Input;

pub(crate) fn check(mut input: Input<'_>) {
    let dtype = input.dtype();
    let overflow = [Overflow::Saturate, Overflow::NonFinite][input.below(2)];
    let blank = input.byte();
    let (len, times) = (input.below(48), 1 + input.below(5));
    let values: Vec<_> = (0..len).map(|_| number(&mut input, dtype)).collect();
    let mut values = values.repeat(times);

    if dtype == Dtype::C64 {
        let result = Elements::convert_from(&values, dtype, overflow, &mut []);
        return refused(result, ErrorKind::NotReal, 0, 0);
    }
    // What does not fill bytes is refused, then shortened.
    let bits = values.len() * dtype.bitsize();
    if bits % 8 != 0 {
        let mut to = vec![blank; bits / 8 + 1];
        let result = Elements::convert_from(&values, dtype, overflow, &mut to);
        refused(result, ErrorKind::PartialByte, bits as u64, 0);
        values.truncate(values.len() / 4 * 4);
    }
    check_whole(&values, dtype, overflow, blank);
}

/// A number of any bits, or a special one, or one at or beside a border of rounding.
fn number(input: &mut Input<'_>, dtype: Dtype) -> f32 {
    /// With the borders of integers.
    const SPECIAL: [f32; 12] = [
        0.0,
        f32::INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        8_388_608.5,
        2_147_483_648.0,
        4_294_967_296.0,
        9_223_372_036_854_775_808.0,
        18_446_744_073_709_551_616.0,
        2.0,
    ];
    let how = input.byte();
    let number = match how % 4 {
        0 => return f32::from_le_bytes(input.take()),
        1 => SPECIAL[input.below(SPECIAL.len())],
        _ => formats::halfway(dtype, u64::from(u16::from_le_bytes(input.take()))),
    };
    let number = match how / 4 % 4 {
        0 => number.next_down(),
        1 => number.next_up(),
        _ => number,
    };
    if how / 16 % 2 == 0 { number } else { -number }
}

/// Of values that fill whole bytes.
fn check_whole(values: &[f32], dtype: Dtype, overflow: Overflow, blank: u8) {
    let expected: Vec<_> =
        values.iter().map(|value| formats::code(dtype, *value, overflow)).collect();
    let len = values.len() * dtype.bitsize() / 8;
    if let Some(i) = expected.iter().position(|code| *code == Code::Refused) {
        let mut to = vec![blank; len + 3];
        let result = Elements::convert_from(values, dtype, overflow, &mut to);
        refused(result, ErrorKind::NanNotRepresentable, i as u64, 0);
        return assert_eq!(to[len..], [blank; 3]);
    }

    let mut bytes = vec![blank; len];
    let written = Elements::convert_from(values, dtype, overflow, &mut bytes).unwrap();
    assert_eq!((written.dtype(), written.len()), (dtype, values.len()));
    let found = codes(dtype, written.bytes());
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let is_nan = formats::value(dtype, *found) == canonical(f32::NAN);
        let found = if is_nan { Code::Nan } else { Code::Of(*found) };
        assert_eq!(found, *expected, "{} as {dtype}", values[i]);
    }
    let read = written.values().unwrap().map(canonical);
    assert!(read.eq(found.iter().map(|code| formats::value(dtype, *code))));

    // The same in every buffer.
    check_filling(
        &bytes,
        blank,
        0,
        |byte| byte,
        |to| {
            let len = Elements::convert_from(values, dtype, overflow, to)?.bytes().len();
            Ok(&mut to[..len])
        },
    );
}
