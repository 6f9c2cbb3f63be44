//! Elements as numbers, in both directions: against numpy and ml_dtypes (`data/numbers`), against
//! the language's own conversions, and against bytes written by hand.

mod common;

use std::fmt::Debug;
use std::sync::LazyLock;

use common::file;
use half::{bf16, f16};
use safetensors_core::ErrorKind::{self, *};
use safetensors_core::{Dtype, Element, Elements, Error, Overflow, SafeTensors, Slot};
use serde_json::Value;
use sha2::{Digest, Sha256};

const MODES: [Overflow; 2] = [Overflow::NonFinite, Overflow::Saturate];

/// The formats of 8 bits and fewer, of which `data/numbers` has every code.
const SMALL: [Dtype; 8] = [
    Dtype::F4,
    Dtype::F6_E2M3,
    Dtype::F6_E3M2,
    Dtype::F8_E5M2,
    Dtype::F8_E4M3,
    Dtype::F8_E8M0,
    Dtype::F8_E4M3FNUZ,
    Dtype::F8_E5M2FNUZ,
];

const INTEGERS: [Dtype; 8] =
    [Dtype::U8, Dtype::I8, Dtype::U16, Dtype::I16, Dtype::U32, Dtype::I32, Dtype::U64, Dtype::I64];

/// Few elements, and some about the numbers that machines convert at once.
const LENGTHS: [usize; 28] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 31, 32, 33, 63, 64,
    65, 200,
];

const CANONICAL_NAN: u32 = 0x7fc0_0000;

// ── what is expected ──

/// The bytes of a tensor in `numbers.safetensors`.
fn numbers(name: &str) -> Vec<u8> {
    static FILE: &[u8] = include_bytes!("data/numbers/numbers.safetensors");
    let mut slots = [Slot::EMPTY; 32];
    SafeTensors::parse(FILE, &mut slots).unwrap().tensor(name).unwrap().data().to_vec()
}

fn floats(name: &str) -> Vec<f32> {
    let bytes = numbers(name);
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn hashes(dtype: Dtype) -> Value {
    let all: Value = serde_json::from_str(include_str!("data/numbers/numbers.json")).unwrap();
    all[dtype.name()].clone()
}

fn sha256(bytes: &[u8]) -> Value {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

/// The bits, every NaN in one spelling.
fn canonical(value: f32) -> u32 {
    if value.is_nan() { CANONICAL_NAN } else { value.to_bits() }
}

fn all_canonical(values: &[f32]) -> Vec<u32> {
    values.iter().copied().map(canonical).collect()
}

fn f16_value(code: u16) -> f32 {
    let (exponent, mantissa) = (i32::from(code >> 10 & 31), f32::from(code & 1023));
    let magnitude = match exponent {
        0 => mantissa / 1024.0 * 2_f32.powi(-14),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + mantissa / 1024.0) * 2_f32.powi(exponent - 15),
    };
    if code >> 15 == 0 { magnitude } else { -magnitude }
}

/// What the code of an element means, as `f32`.
fn meaning(dtype: Dtype, code: u64) -> f32 {
    static DECODED: LazyLock<[Vec<f32>; 8]> =
        LazyLock::new(|| SMALL.map(|dtype| floats(&format!("{dtype}.decoded"))));
    match dtype {
        Dtype::BOOL => f32::from(u8::from(code != 0)),
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => code as f32,
        Dtype::I8 => f32::from(code as i8),
        Dtype::I16 => f32::from(code as i16),
        Dtype::I32 => code as i32 as f32,
        Dtype::I64 => code as i64 as f32,
        Dtype::F16 => f16_value(code as u16),
        Dtype::BF16 => f32::from_bits((code as u32) << 16),
        Dtype::F32 => f32::from_bits(code as u32),
        Dtype::F64 => f64::from_bits(code) as f32,
        _ => DECODED[SMALL.iter().position(|small| *small == dtype).unwrap()][code as usize],
    }
}

// ── codes and bytes ──

fn real_dtypes() -> impl Iterator<Item = Dtype> {
    Dtype::ALL.iter().copied().filter(|dtype| *dtype != Dtype::C64)
}

/// The fewest elements that fill whole bytes.
fn at_once(dtype: Dtype) -> usize {
    match dtype.bitsize() {
        4 => 2,
        6 => 4,
        _ => 1,
    }
}

/// Codes as one stream of bits, the first in the lowest ones: what sub-byte elements are said to
/// be, and little-endian numbers are.
fn pack(dtype: Dtype, codes: &[u64]) -> Vec<u8> {
    let bits = dtype.bitsize();
    let mut bytes = vec![0; codes.len() * bits / 8];
    for at in 0..codes.len() * bits {
        bytes[at / 8] |= ((codes[at / bits] >> (at % bits) & 1) as u8) << (at % 8);
    }
    bytes
}

fn unpack(dtype: Dtype, bytes: &[u8]) -> Vec<u64> {
    let bits = dtype.bitsize();
    let mut codes = vec![0; bytes.len() * 8 / bits];
    for at in 0..codes.len() * bits {
        codes[at / bits] |= u64::from(bytes[at / 8] >> (at % 8) & 1) << (at % bits);
    }
    codes
}

/// Numbers without a pattern, always the same.
fn random() -> impl Iterator<Item = u64> {
    let mut state: u64 = 1;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Calls `check` with `bytes` that begin so many bytes behind a multiple of 16, for each of those,
/// and with other bytes around them.
fn at_every_offset(bytes: &[u8], mut check: impl FnMut(&[u8], usize)) {
    for offset in 0..16 {
        let mut buffer = vec![0xa5; bytes.len() + 48];
        let begin = buffer.as_ptr().align_offset(16) + offset;
        let end = begin + bytes.len();
        buffer[begin..end].copy_from_slice(bytes);
        check(&buffer[begin..end], offset);
    }
}

/// What an error about elements of no tensor is: kind, number and text; it has no place.
#[track_caller]
fn assert_error<T: Debug>(found: Result<T, Error>, kind: ErrorKind, number: u64, text: &str) {
    let error = found.unwrap_err();
    assert_eq!((error.kind(), error.number(), error.offset()), (kind, number, 0));
    assert_eq!(error.to_string(), text);
    assert_eq!(error.display(b"").to_string(), text);
}

// ── reading ──

/// Reads elements in every way that gives `f32`.
fn check_ways(elements: Elements<'_>, expected: &[u32]) {
    let n = expected.len();
    assert_eq!((elements.len(), elements.is_empty()), (n, n == 0));

    let found: Vec<_> = (0..n).map(|i| canonical(elements.value(i).unwrap())).collect();
    assert_eq!(found, expected);
    for behind in [n, n + 1, n + 9, usize::MAX / 6, usize::MAX / 2, usize::MAX] {
        assert_eq!(elements.value(behind), None);
    }

    let values = elements.values().unwrap();
    assert_eq!((values.len(), values.size_hint()), (n, (n, Some(n))));
    assert!(values.clone().map(canonical).eq(expected.iter().copied()));
    assert!(values.clone().rev().map(canonical).eq(expected.iter().rev().copied()));
    let mut both = values.clone();
    if let [first, .., last] = expected {
        assert_eq!(both.next().map(canonical), Some(*first));
        assert_eq!(both.next_back().map(canonical), Some(*last));
        assert_eq!(both.len(), n - 2);
        assert_eq!(values.clone().nth(n - 1).map(canonical), Some(*last));
    }
    assert_eq!(values.clone().nth(n), None);
    assert_eq!(both.by_ref().count(), n.saturating_sub(if n > 1 { 2 } else { 0 }));

    let mut exact = vec![0.5; n];
    assert_eq!(all_canonical(elements.convert_into(&mut exact).unwrap()), expected);
    assert_eq!(all_canonical(&exact), expected);
    let mut larger = vec![0.5; n + 3];
    assert_eq!(all_canonical(elements.convert_into(&mut larger).unwrap()), expected);
    assert_eq!(all_canonical(&larger[..n]), expected);
    assert_eq!(larger[n..], [0.5; 3]);
    if n > 0 {
        let found = elements.convert_into(&mut exact[1..]);
        let text = format!("buffer is too small, {n} needed");
        assert_error(found, BufferTooSmall, n as u64, &text);
    }
}

#[test]
fn every_code_of_16_bits_and_fewer() {
    let mut dtypes = 0;
    for dtype in real_dtypes().filter(|dtype| dtype.bitsize() <= 16) {
        let codes: Vec<u64> = (0..1 << dtype.bitsize()).collect();
        let expected: Vec<_> = codes.iter().map(|code| canonical(meaning(dtype, *code))).collect();
        let bytes = pack(dtype, &codes);
        check_ways(Elements::new(dtype, &bytes).unwrap(), &expected);
        dtypes += 1;
    }
    assert_eq!(dtypes, 15);
}

#[test]
fn the_decoded_files_are_of_every_code() {
    for dtype in SMALL {
        assert_eq!(floats(&format!("{dtype}.decoded")).len(), 1 << dtype.bitsize());
    }
    for dtype in [Dtype::F16, Dtype::BF16] {
        let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let mut found = vec![0.0; 1 << 16];
        Elements::new(dtype, &bytes).unwrap().convert_into(&mut found).unwrap();
        let found: Vec<u8> = found.into_iter().flat_map(|x| canonical(x).to_le_bytes()).collect();
        assert_eq!(sha256(&found), hashes(dtype)["decoded"], "{dtype}");
    }
}

#[test]
fn every_length_at_every_offset() {
    let mut random = random();
    for dtype in real_dtypes() {
        for length in LENGTHS {
            let bits = length * at_once(dtype) * dtype.bitsize();
            let bytes: Vec<u8> = random.by_ref().map(|x| x as u8).take(bits / 8).collect();
            let codes = unpack(dtype, &bytes);
            let expected: Vec<_> = codes.iter().map(|x| canonical(meaning(dtype, *x))).collect();
            at_every_offset(&bytes, |bytes, _| {
                check_ways(Elements::new(dtype, bytes).unwrap(), &expected);
            });
        }
    }
}

/// The bytes are written by hand, with values of the formats' tables in their specifications.
#[test]
fn elements_of_less_than_a_byte_begin_in_the_lowest_bits() {
    let values =
        |dtype, bytes| Elements::new(dtype, bytes).unwrap().values().unwrap().collect::<Vec<f32>>();
    assert_eq!(values(Dtype::F4, &[0x21, 0xf3]), [0.5, 1.0, 1.5, -6.0]);
    // Codes 000001, 000010, 000100, 100000 from the right: 100000000100000010000001.
    let bytes = [0b1000_0001, 0b0100_0000, 0b1000_0000];
    assert_eq!(values(Dtype::F6_E2M3, &bytes), [0.125, 0.25, 0.5, -0.0]);
    assert_eq!(values(Dtype::F6_E3M2, &bytes), [0.0625, 0.125, 0.25, -0.0]);
    // Codes 011111, 111111, 000000, 001100 from the right: 001100000000111111011111.
    let bytes = [0b1101_1111, 0b0000_1111, 0b0011_0000];
    assert_eq!(values(Dtype::F6_E2M3, &bytes), [7.5, -7.5, 0.0, 1.5]);
    assert_eq!(values(Dtype::F6_E3M2, &bytes), [28.0, -28.0, 0.0, 1.0]);

    let mut buffer = [0; 3];
    let mut write = |values: &[f32], dtype| {
        Elements::convert_from(values, dtype, Overflow::Saturate, &mut buffer)
            .unwrap()
            .bytes()
            .to_vec()
    };
    assert_eq!(write(&[0.5, 1.0, 1.5, -6.0], Dtype::F4), [0x21, 0xf3]);
    assert_eq!(write(&[7.5, -7.5, 0.0, 1.5], Dtype::F6_E2M3), bytes);
    assert_eq!(write(&[28.0, -28.0, 0.0, 1.0], Dtype::F6_E3M2), bytes);
}

#[test]
fn a_value_is_there_at_compile_time() {
    const fn value(dtype: Dtype, bytes: &[u8], i: usize) -> Option<f32> {
        match Elements::new(dtype, bytes) {
            Ok(elements) => elements.value(i),
            Err(_) => None,
        }
    }
    const { assert!(matches!(value(Dtype::F16, &[0, 0x3c, 0xff, 0x7b], 1), Some(65504.0))) }
    const { assert!(matches!(value(Dtype::BF16, &[0x80, 0xbf], 0), Some(-1.0))) }
    const { assert!(matches!(value(Dtype::F8_E4M3, &[0x7e], 0), Some(448.0))) }
    const { assert!(matches!(value(Dtype::F6_E3M2, &[0xdf, 0x0f, 0x30], 1), Some(-28.0))) }
    const { assert!(matches!(value(Dtype::I16, &[0xfe, 0xff], 0), Some(-2.0))) }
    const { assert!(matches!(value(Dtype::F64, &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f], 0), Some(1.0))) }
    const { assert!(matches!(value(Dtype::U64, &[0xff; 8], 0), Some(18446744073709551616.0))) }
    const { assert!(value(Dtype::C64, &[0; 8], 0).is_none()) }
    const { assert!(value(Dtype::U8, &[0], 1).is_none()) }
}

/// Numbers about which rounding to the 24 bits of `f32` may go wrong: powers of two, what is a tie
/// between two `f32`, and their neighbours.
fn wide_integers() -> Vec<u64> {
    let mut found = vec![0, u64::MAX, i64::MAX as u64, u32::MAX.into(), i32::MAX as u64];
    for power in 0..64 {
        let power = 1_u64 << power;
        let (ulp, tie) = (power >> 23, power >> 24);
        for about in [power, power + tie, power + ulp + tie, power + (power - 1), power + ulp] {
            found.extend([about.wrapping_sub(1), about, about.wrapping_add(1)]);
        }
    }
    found.extend(random().take(2000).enumerate().map(|(i, x)| x >> (i % 64)));
    let negative: Vec<_> = found.iter().map(|x| x.wrapping_neg()).collect();
    found.extend(negative);
    found
}

#[test]
fn wide_integers_are_rounded_to_the_nearest() {
    // By hand: ties go to the even one.
    let value = |x: u32| Elements::new(Dtype::U32, &x.to_le_bytes()).unwrap().value(0).unwrap();
    assert_eq!(value(16_777_217), 16_777_216.0);
    assert_eq!(value(16_777_218), 16_777_218.0);
    assert_eq!(value(16_777_219), 16_777_220.0);

    let integers = wide_integers();
    for dtype in [Dtype::U32, Dtype::I32, Dtype::U64, Dtype::I64] {
        let mask = u64::MAX >> (64 - dtype.bitsize());
        let codes: Vec<_> = integers.iter().map(|x| x & mask).collect();
        let expected: Vec<_> = codes.iter().map(|x| canonical(meaning(dtype, *x))).collect();
        check_ways(Elements::new(dtype, &pack(dtype, &codes)).unwrap(), &expected);
    }
}

#[test]
fn f64_is_rounded_to_the_nearest() {
    let mut codes: Vec<u64> = random().take(2000).collect();
    // Every exponent of f32 and beyond, with a tie between two f32 and what is next to it.
    for (exponent, x) in (1023 - 155..1023 + 132).zip(random()) {
        let exact = u64::from(x as u32 & 0x7f_ffff) << 29 | exponent << 52;
        for low in [0, 1, (1 << 28) - 1, 1 << 28, (1 << 28) + 1, (1 << 29) - 1] {
            codes.extend([exact | low, exact | low | 1 << 63, exact & !(1 << 29) | low]);
        }
    }
    for value in [0.0, -0.0, f64::INFINITY, -f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE] {
        codes.push(value.to_bits());
    }
    // The bound of overflow, that of the smallest f32, and what lies next to them.
    for bound in [2_f64.powi(128) - 2_f64.powi(103), 2_f64.powi(-150)] {
        codes.extend([bound.to_bits() - 1, bound.to_bits(), bound.to_bits() + 1]);
    }
    let expected: Vec<_> = codes.iter().map(|x| canonical(meaning(Dtype::F64, *x))).collect();
    assert!(expected.contains(&1) && expected.contains(&f32::MAX.to_bits()));
    check_ways(Elements::new(Dtype::F64, &pack(Dtype::F64, &codes)).unwrap(), &expected);
}

#[test]
fn f32_is_read_as_it_is() {
    let codes: Vec<u64> = random().take(5000).map(|x| x >> 32).collect();
    let expected: Vec<_> = codes.iter().map(|x| canonical(f32::from_bits(*x as u32))).collect();
    check_ways(Elements::new(Dtype::F32, &pack(Dtype::F32, &codes)).unwrap(), &expected);
}

// ── writing ──

/// Converts values, as many as fill whole bytes, and demands `expected` codes of them: at every
/// offset if they are few, and nothing else written.
fn check_writing(values: &[f32], dtype: Dtype, overflow: Overflow, expected: &[u64]) {
    let expected = pack(dtype, expected);
    for offset in 0..if values.len() > 100 { 1 } else { 4 } {
        let mut buffer = vec![0xa5; expected.len() + 8];
        let found = Elements::convert_from(values, dtype, overflow, &mut buffer[offset..]).unwrap();
        assert_eq!((found.dtype(), found.len()), (dtype, values.len()));
        assert_eq!(found.bytes(), expected);
        let end = offset + expected.len();
        assert_eq!(buffer[offset..end], expected);
        assert!(buffer[..offset].iter().chain(&buffer[end..]).all(|byte| *byte == 0xa5));
    }
    if !expected.is_empty() {
        let mut short = vec![0; expected.len() - 1];
        let found = Elements::convert_from(values, dtype, overflow, &mut short);
        let text = format!("buffer is too small, {} needed", expected.len());
        assert_error(found, BufferTooSmall, expected.len() as u64, &text);
    }
}

/// The inputs of `data/numbers` and their codes, filled up to whole bytes with the first one.
fn reverse(dtype: Dtype, overflow: Overflow) -> (Vec<f32>, Vec<u64>) {
    let kind = if overflow == Overflow::Saturate { "saturated" } else { "nonfinite" };
    let mut inputs = floats(&format!("{dtype}.input"));
    let mut codes: Vec<u64> =
        numbers(&format!("{dtype}.{kind}")).into_iter().map(u64::from).collect();
    assert!(inputs.len() == codes.len() && inputs.len() > 900);
    while !inputs.len().is_multiple_of(at_once(dtype)) {
        inputs.push(inputs[0]);
        codes.push(codes[0]);
    }
    (inputs, codes)
}

#[test]
fn f32_to_8_bits_and_fewer() {
    for (dtype, overflow) in SMALL.into_iter().flat_map(|dtype| MODES.map(|mode| (dtype, mode))) {
        let (inputs, codes) = reverse(dtype, overflow);
        for ((input, code), bits) in inputs.iter().zip(&codes).zip(all_canonical(&inputs)) {
            let n = at_once(dtype);
            let mut buffer = [0; 3];
            let found = Elements::convert_from(&vec![*input; n], dtype, overflow, &mut buffer);
            let found = unpack(dtype, found.unwrap().bytes());
            assert_eq!(found, vec![*code; n], "{dtype} {overflow:?} {input:e} {bits:08x}");
        }
        check_writing(&inputs, dtype, overflow, &codes);
        for length in (0..=20).map(|length| length * at_once(dtype)) {
            for at in [7 * length, inputs.len() - length] {
                let range = at..at + length;
                check_writing(&inputs[range.clone()], dtype, overflow, &codes[range]);
            }
        }
    }
}

/// The inputs that `make_numbers.py` makes by the rule at its function `halves`.
fn inputs_of_halves(dtype: Dtype) -> Vec<f32> {
    let (codes, behind) = match dtype {
        Dtype::F16 => (0x7c00, 2_f64.powi(16)),
        _ => (0x7f80, 2_f64.powi(128)),
    };
    let value = |code| if code < codes { f64::from(meaning(dtype, code)) } else { behind };
    let mut inputs = Vec::new();
    for code in 0..codes {
        let middle = f64::midpoint(value(code), value(code + 1));
        assert_eq!(f64::from(middle as f32), middle);
        let middle = (middle as f32).to_bits();
        for bits in [(value(code) as f32).to_bits(), middle - 1, middle, middle + 1] {
            inputs.extend([f32::from_bits(bits), f32::from_bits(bits | 1 << 31)]);
        }
    }
    let ends = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::from_bits(1)];
    inputs.extend(ends);
    inputs
}

#[test]
fn f32_to_16_bits() {
    for dtype in [Dtype::F16, Dtype::BF16] {
        let inputs = inputs_of_halves(dtype);
        let bytes: Vec<u8> =
            inputs.iter().flat_map(|input| canonical(*input).to_le_bytes()).collect();
        assert_eq!(sha256(&bytes), hashes(dtype)["inputs"], "{dtype}");
        for (overflow, kind) in MODES.into_iter().zip(["nonfinite", "saturated"]) {
            let mut buffer = vec![0; inputs.len() * 2];
            let found = Elements::convert_from(&inputs, dtype, overflow, &mut buffer).unwrap();
            assert_eq!(sha256(found.bytes()), hashes(dtype)[kind], "{dtype} {kind}");
            // What is converted in groups is what is converted alone.
            let codes = unpack(dtype, found.bytes());
            for length in LENGTHS {
                let range = codes.len() - 200 - length..codes.len() - 200;
                check_writing(&inputs[range.clone()], dtype, overflow, &codes[range]);
            }
            let ends = codes.len() - 16..codes.len();
            for i in ends {
                check_writing(&inputs[i..=i], dtype, overflow, &codes[i..=i]);
            }
        }
    }
}

/// What ml_dtypes does not say, or says in a way that is not rounding to the nearest.
#[test]
fn f8_e8m0_is_nan_for_what_is_not_positive() {
    let bits = f32::from_bits;
    for overflow in MODES {
        let check = |value, code| check_writing(&[value], Dtype::F8_E8M0, overflow, &[code]);
        for value in [0.0, -0.0, -bits(1), -1.0, f32::MIN, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
            check(value, 0xff);
        }
        // 2^-127 is in the middle of what f32 has as subnormal, 1.5 times that is a tie.
        for (value, code) in
            [(0x40_0001, 0), (0x5f_ffff, 0), (0x60_0000, 1), (0x60_0001, 1), (0x7f_ffff, 1)]
        {
            check(bits(value), code);
        }
        for (value, code) in [(1.0, 127), (1.499, 127), (1.5, 128), (2.999, 128), (3.0, 129)] {
            check(value, code);
        }
    }
    let largest = 2_f32.powi(127);
    check_writing(&[1.5 * largest], Dtype::F8_E8M0, Overflow::NonFinite, &[0xff]);
    check_writing(&[1.5 * largest], Dtype::F8_E8M0, Overflow::Saturate, &[0xfe]);
    check_writing(&[1.4999 * largest], Dtype::F8_E8M0, Overflow::NonFinite, &[0xfe]);
}

/// Values, the integers that they become, and where they are beyond.
#[rustfmt::skip]
const TO_INTEGERS: &[(Dtype, &[(f32, i128)])] = &[
    (Dtype::U8, &[
        (0.5, 0), (1.5, 2), (2.5, 2), (254.5, 254), (255.0, 255), (255.49, 255), (255.5, 255),
        (256.0, 255), (1e30, 255), (-0.5, 0), (-0.51, 0), (-1.0, 0), (-1e30, 0), (-0.0, 0),
        (f32::INFINITY, 255), (f32::NEG_INFINITY, 0), (0.499_999_97, 0), (0.500_000_06, 1),
    ]),
    (Dtype::I8, &[
        (0.5, 0), (-0.5, 0), (-1.5, -2), (-2.5, -2), (126.5, 126), (127.49, 127), (127.5, 127),
        (128.0, 127), (-127.5, -128), (-128.5, -128), (-128.51, -128), (-129.0, -128),
        (f32::INFINITY, 127), (f32::NEG_INFINITY, -128), (1e-45, 0), (-1e-45, 0),
    ]),
    (Dtype::U16, &[
        (65_534.5, 65_534), (65_535.0, 65_535), (65_535.5, 65_535), (65_536.0, 65_535),
        (-1.0, 0), (f32::INFINITY, 65_535), (f32::NEG_INFINITY, 0), (4097.5, 4098),
    ]),
    (Dtype::I16, &[
        (32_766.5, 32_766), (32_767.5, 32_767), (-32_768.5, -32_768), (-32_769.0, -32_768),
        (f32::INFINITY, 32_767), (f32::NEG_INFINITY, -32_768), (-4096.5, -4096), (-4097.5, -4098),
    ]),
    (Dtype::U32, &[
        (8_388_607.5, 8_388_608), (8_388_606.5, 8_388_606), (16_777_215.0, 16_777_215),
        (4_294_967_040.0, 4_294_967_040), (4_294_967_296.0, 4_294_967_295), (-1.0, 0),
        (f32::INFINITY, 4_294_967_295), (f32::NEG_INFINITY, 0),
    ]),
    (Dtype::I32, &[
        (8_388_607.5, 8_388_608), (-8_388_607.5, -8_388_608), (-8_388_606.5, -8_388_606),
        (2_147_483_520.0, 2_147_483_520), (2_147_483_648.0, 2_147_483_647),
        (-2_147_483_648.0, -2_147_483_648), (-2_147_483_904.0, -2_147_483_648),
        (f32::INFINITY, 2_147_483_647), (f32::NEG_INFINITY, -2_147_483_648),
    ]),
    (Dtype::U64, &[
        (0.5, 0), (3.5, 4), (1.844_674_3e19, 18_446_742_974_197_923_840),
        (18_446_744_073_709_551_616.0, 18_446_744_073_709_551_615), (-1.0, 0), (-1e30, 0),
        (f32::INFINITY, 18_446_744_073_709_551_615), (f32::NEG_INFINITY, 0),
    ]),
    (Dtype::I64, &[
        (-2.5, -2), (-3.5, -4), (9.223_371_5e18, 9_223_371_487_098_961_920),
        (9_223_372_036_854_775_808.0, 9_223_372_036_854_775_807),
        (-9_223_372_036_854_775_808.0, -9_223_372_036_854_775_808),
        (-1e19, -9_223_372_036_854_775_808), (f32::INFINITY, 9_223_372_036_854_775_807),
        (f32::NEG_INFINITY, -9_223_372_036_854_775_808),
    ]),
];

/// The code of an integer: as many of its lowest bits as the dtype has.
fn integer(dtype: Dtype, value: i128) -> u64 {
    value as u64 & u64::MAX >> (64 - dtype.bitsize())
}

#[test]
fn f32_to_integers_by_hand() {
    assert!(TO_INTEGERS.iter().map(|(dtype, _)| *dtype).eq(INTEGERS));
    for ((dtype, table), overflow) in
        TO_INTEGERS.iter().flat_map(|row| MODES.map(|mode| (row, mode)))
    {
        for (value, expected) in *table {
            check_writing(&[*value], *dtype, overflow, &[integer(*dtype, *expected)]);
        }
        let (values, integers): (Vec<f32>, Vec<i128>) = table.iter().copied().unzip();
        let codes: Vec<_> = integers.iter().map(|value| integer(*dtype, *value)).collect();
        check_writing(&values, *dtype, overflow, &codes);
    }
}

/// Against the language's own conversion, which saturates.
#[test]
fn f32_to_integers_of_every_exponent() {
    let values: Vec<f32> = (0..=u8::MAX)
        .flat_map(|exponent| random().take(40).map(move |x| (exponent, x)))
        .map(|(exponent, x)| f32::from_bits(x as u32 & 0x807f_ffff | u32::from(exponent) << 23))
        .chain((-600..600).map(|halves| halves as f32 / 2.0))
        .filter(|value| !value.is_nan())
        .collect();
    for dtype in INTEGERS {
        let convert = |value: f32| match dtype {
            Dtype::U8 => i128::from(value as u8),
            Dtype::I8 => i128::from(value as i8),
            Dtype::U16 => i128::from(value as u16),
            Dtype::I16 => i128::from(value as i16),
            Dtype::U32 => i128::from(value as u32),
            Dtype::I32 => i128::from(value as i32),
            Dtype::U64 => i128::from(value as u64),
            _ => i128::from(value as i64),
        };
        let codes: Vec<_> =
            values.iter().map(|value| integer(dtype, convert(value.round_ties_even()))).collect();
        for overflow in MODES {
            check_writing(&values, dtype, overflow, &codes);
        }
    }
}

#[test]
fn f32_to_bool_and_wide_floats() {
    let infinities = [f32::INFINITY, f32::NEG_INFINITY];
    let values = [0.0, -0.0, 1.0, -1.0, f32::from_bits(1), f32::MAX, f32::MIN, 0.1, -2.5e-40];
    for overflow in MODES {
        check_writing(&values, Dtype::BOOL, overflow, &[0, 0, 1, 1, 1, 1, 1, 1, 1]);
        check_writing(&infinities, Dtype::BOOL, overflow, &[1, 1]);
        check_writing(&[f32::NAN, -f32::NAN], Dtype::BOOL, overflow, &[1, 1]);

        let same = values.map(|value| u64::from(value.to_bits()));
        check_writing(&values, Dtype::F32, overflow, &same);
        let wide = values.map(|value| f64::from(value).to_bits());
        check_writing(&values, Dtype::F64, overflow, &wide);

        for dtype in [Dtype::F32, Dtype::F64] {
            let mut buffer = [0; 8];
            let found = Elements::convert_from(&[f32::NAN], dtype, overflow, &mut buffer).unwrap();
            assert!(found.value(0).unwrap().is_nan());
        }
    }
    let [plus, minus] = infinities.map(|value| u64::from(value.to_bits()));
    check_writing(&infinities, Dtype::F32, Overflow::NonFinite, &[plus, minus]);
    let largest = [f32::MAX, f32::MIN].map(|value| u64::from(value.to_bits()));
    check_writing(&infinities, Dtype::F32, Overflow::Saturate, &largest);
    let wide = infinities.map(|value| f64::from(value).to_bits());
    check_writing(&infinities, Dtype::F64, Overflow::NonFinite, &wide);
    let largest = [f64::MAX, f64::MIN].map(f64::to_bits);
    check_writing(&infinities, Dtype::F64, Overflow::Saturate, &largest);
}

#[test]
fn nan_is_refused_where_it_has_no_code() {
    let without = [Dtype::F4, Dtype::F6_E2M3, Dtype::F6_E3M2];
    for dtype in without.into_iter().chain(INTEGERS) {
        for (overflow, at) in MODES.into_iter().flat_map(|mode| (0..24).map(move |at| (mode, at))) {
            let mut values = [1.0; 24];
            values[at] = if at % 2 == 0 { f32::NAN } else { f32::from_bits(0xff80_0001) };
            let mut buffer = [0; 24 * 8];
            let text = format!("dtype has no code for NaN, value {at}");
            let found = Elements::convert_from(&values, dtype, overflow, &mut buffer);
            assert_error(found, NanNotRepresentable, at as u64, &text);
            // The first one counts.
            values[at..].fill(f32::NAN);
            let found = Elements::convert_from(&values, dtype, overflow, &mut buffer);
            assert_error(found, NanNotRepresentable, at as u64, &text);
        }
    }
    for dtype in real_dtypes().filter(|dtype| !without.contains(dtype) && !INTEGERS.contains(dtype))
    {
        let found = Elements::convert_from(&[f32::NAN; 8], dtype, Overflow::Saturate, &mut [0; 64])
            .unwrap()
            .value(7)
            .unwrap();
        assert!(if dtype == Dtype::BOOL { found == 1.0 } else { found.is_nan() }, "{dtype}");
    }
}

#[test]
fn values_that_are_written_are_read_again() {
    for dtype in real_dtypes().filter(|dtype| dtype.bitsize() <= 16) {
        let codes = 0..if dtype == Dtype::BOOL { 2 } else { 1 << dtype.bitsize() };
        for overflow in MODES {
            let kept = |value: f32| match overflow {
                Overflow::NonFinite => !value.is_nan(),
                _ => value.is_finite(),
            };
            let mut codes: Vec<u64> =
                codes.clone().filter(|code| kept(meaning(dtype, *code))).collect();
            codes.truncate(codes.len() / at_once(dtype) * at_once(dtype));
            assert!(codes.len() > 1);
            let bytes = pack(dtype, &codes);
            let mut values = vec![0.0; codes.len()];
            Elements::new(dtype, &bytes).unwrap().convert_into(&mut values).unwrap();
            let mut again = vec![0; bytes.len()];
            let again = Elements::convert_from(&values, dtype, overflow, &mut again).unwrap();
            assert_eq!(again.bytes(), bytes, "{dtype} {overflow:?}");
        }
    }
}

#[test]
fn whole_bytes_are_written() {
    for (dtype, together) in [(Dtype::F4, 2), (Dtype::F6_E2M3, 4), (Dtype::F6_E3M2, 4)] {
        for n in (0..10).filter(|n| n % together != 0) {
            let mut buffer = [0; 64];
            let values = vec![1.0; n];
            let found = Elements::convert_from(&values, dtype, Overflow::Saturate, &mut buffer);
            let bits = n * dtype.bitsize();
            let text = format!("elements do not fill whole bytes, {bits} bits");
            assert_error(found, PartialByte, bits as u64, &text);
        }
    }
}

// ── typed ──

/// Goes through everything that a type can do with these values, of which `bytes` are the elements.
fn check_typed<T: Element + Debug + PartialEq>(values: &[T], other: T, bytes: &[u8]) {
    let n = values.len();
    let width = size_of::<T>();
    assert_eq!(bytes.len(), size_of_val(values));

    let mut buffer = vec![0xa5; bytes.len() + 2];
    let written = Elements::copy_from(values, &mut buffer[1..]).unwrap();
    assert_eq!((written.dtype(), written.len(), written.bytes()), (T::DTYPE, n, bytes));
    assert_eq!((buffer[0], buffer[bytes.len() + 1]), (0xa5, 0xa5));
    let found = Elements::copy_from(values, &mut buffer[..bytes.len() - 1]);
    let text = format!("buffer is too small, {} needed", bytes.len());
    assert_error(found, BufferTooSmall, bytes.len() as u64, &text);

    at_every_offset(bytes, |bytes, offset| {
        let elements = Elements::new(T::DTYPE, bytes).unwrap();
        let found = elements.iter::<T>().unwrap();
        assert_eq!((found.len(), found.size_hint()), (n, (n, Some(n))));
        assert!(found.clone().eq(values.iter().copied()));
        assert!(found.clone().rev().eq(values.iter().rev().copied()));
        let mut rest = found.clone();
        assert_eq!((rest.nth(1), rest.len()), (values.get(1).copied(), n - 2));
        assert_eq!(found.clone().next_back(), values.last().copied());
        assert_eq!(found.clone().nth(n), None);

        let mut to = vec![other; n + 2];
        assert_eq!(elements.copy_into(&mut to).unwrap(), values);
        assert_eq!((&to[..n], &to[n..]), (values, &[other; 2][..]));
        let text = format!("buffer is too small, {n} needed");
        assert_error(elements.copy_into(&mut to[..n - 1]), BufferTooSmall, n as u64, &text);

        let found = elements.as_slice::<T>();
        let align = align_of::<T>();
        if cfg!(target_endian = "big") && width > 1 {
            let text = "elements are little-endian, which this machine is not";
            assert_error(found, BigEndianHost, 0, text);
        } else if offset % align == 0 {
            let found = found.unwrap();
            assert_eq!(found, values);
            assert_eq!(found.as_ptr().addr(), bytes.as_ptr().addr());
        } else {
            let text = format!(
                "elements do not lie in memory as their type demands, \
                 a multiple of {align} bytes needed"
            );
            assert_error(found, Misaligned, align as u64, &text);
        }
    });

    // As another dtype none of it works.
    let bytes = [0; 48];
    for (at, dtype) in Dtype::ALL.iter().enumerate().filter(|(_, dtype)| **dtype != T::DTYPE) {
        let elements = Elements::new(*dtype, &bytes).unwrap();
        let text = format!("elements are of another dtype, {dtype}");
        let at = at as u64;
        assert_error(elements.as_slice::<T>(), DtypeMismatch, at, &text);
        assert_error(elements.iter::<T>().map(|iter| iter.len()), DtypeMismatch, at, &text);
        assert_error(elements.copy_into::<T>(&mut []), DtypeMismatch, at, &text);
    }
}

#[test]
fn typed_elements() {
    check_typed(&[1_u8, 0xfe, 3], 9, &[1, 0xfe, 3]);
    check_typed(&[1_i8, -2, 3], 9, &[1, 0xfe, 3]);
    check_typed(&[true, false, true], false, &[1, 0, 1]);
    check_typed(&[0x1234_u16, 1, 0xfffe], 9, &[0x34, 0x12, 1, 0, 0xfe, 0xff]);
    check_typed(&[0x1234_i16, 1, -2], 9, &[0x34, 0x12, 1, 0, 0xfe, 0xff]);
    let bytes = [0x78, 0x56, 0x34, 0x12, 0xfe, 0xff, 0xff, 0xff];
    check_typed(&[0x1234_5678_u32, 0xffff_fffe], 9, &bytes);
    check_typed(&[0x1234_5678_i32, -2], 9, &bytes);
    let bytes = [8, 7, 6, 5, 4, 3, 2, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    check_typed(&[0x0102_0304_0506_0708_u64, u64::MAX - 1], 9, &bytes);
    check_typed(&[0x0102_0304_0506_0708_i64, -2], 9, &bytes);
    check_typed(
        &[f16::from_f32(1.5), f16::from_f32(-2.0), f16::MAX],
        f16::ZERO,
        &[0x00, 0x3e, 0x00, 0xc0, 0xff, 0x7b],
    );
    check_typed(
        &[bf16::from_f32(1.5), bf16::from_f32(-2.0), bf16::MAX],
        bf16::ZERO,
        &[0xc0, 0x3f, 0x00, 0xc0, 0x7f, 0x7f],
    );
    let bytes = [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0xff, 0xff, 0x7f, 0x7f, 1, 0, 0, 0];
    let values = [1.5, -2.0, f32::MAX, f32::from_bits(1)];
    check_typed(&values, 9.0, &bytes);
    check_typed(&[[1.5, -2.0], [f32::MAX, f32::from_bits(1)]], [9.0; 2], &bytes);
    let bytes = [0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 1, 0, 0, 0, 0, 0, 0, 0x80];
    check_typed(&[1.5, -f64::from_bits(1)], 9.0, &bytes);
}

/// Every code of half's types, in every way that does not go through `f32`.
#[test]
fn half_keeps_every_code() {
    #[repr(align(2))]
    struct Aligned([u8; 1 << 17]);
    let mut aligned = Aligned([0; 1 << 17]);
    for (bytes, code) in aligned.0.chunks_exact_mut(2).zip(0..=u16::MAX) {
        bytes.copy_from_slice(&code.to_le_bytes());
    }
    fn check<T: Element + Debug>(bytes: &[u8], bits: impl Fn(T) -> u16, one: T) {
        let elements = Elements::new(T::DTYPE, bytes).unwrap();
        assert!(elements.iter::<T>().unwrap().map(&bits).eq(0..=u16::MAX));
        let mut copied = vec![one; 1 << 16];
        elements.copy_into(&mut copied).unwrap();
        assert!(copied.iter().copied().map(&bits).eq(0..=u16::MAX));
        if cfg!(target_endian = "big") {
            assert_eq!(elements.as_slice::<T>().unwrap_err().kind(), BigEndianHost);
        } else {
            assert!(elements.as_slice::<T>().unwrap().iter().copied().map(&bits).eq(0..=u16::MAX));
        }
        let mut again = vec![0; 1 << 17];
        assert_eq!(Elements::copy_from(&copied, &mut again).unwrap().bytes(), bytes);
    }
    check(&aligned.0, f16::to_bits, f16::ONE);
    check(&aligned.0, bf16::to_bits, bf16::ONE);
    for code in 0..=u16::MAX {
        let [f16_bits, bf16_bits] = [Dtype::F16, Dtype::BF16].map(|dtype| {
            canonical(Elements::new(dtype, &code.to_le_bytes()).unwrap().value(0).unwrap())
        });
        assert_eq!(f16_bits, canonical(f16::from_bits(code).to_f32()));
        assert_eq!(bf16_bits, canonical(bf16::from_bits(code).to_f32()));
    }
}

#[test]
fn every_byte_but_zero_is_true() {
    for byte in 0..=u8::MAX {
        let bytes = [1, 0, byte, 1];
        let elements = Elements::new(Dtype::BOOL, &bytes).unwrap();
        let expected = [true, false, byte != 0, true];
        assert!(elements.iter::<bool>().unwrap().eq(expected));
        assert_eq!(elements.copy_into(&mut [false; 4]).unwrap(), expected);
        assert_eq!(elements.value(2), Some(if byte == 0 { 0.0 } else { 1.0 }));
        let found = elements.as_slice::<bool>();
        if byte <= 1 {
            assert_eq!(found.unwrap(), expected);
        } else {
            assert_error(found, InvalidBool, 2, "a boolean is neither 0 nor 1, element 2");
        }
    }
}

#[test]
fn complex_numbers_are_not_real() {
    let text = "elements of this dtype are no real numbers";
    let bytes: Vec<u8> = [1.0_f32, 2.0].iter().flat_map(|part| part.to_le_bytes()).collect();
    for bytes in [&bytes[..], &[]] {
        let elements = Elements::new(Dtype::C64, bytes).unwrap();
        assert_eq!(elements.value(0), None);
        assert_error(elements.values(), NotReal, 0, text);
        assert_error(elements.convert_into(&mut [0.0; 2]), NotReal, 0, text);
        assert_error(elements.convert_into(&mut []), NotReal, 0, text);
    }
    for overflow in MODES {
        let mut buffer = [0; 16];
        let found = Elements::convert_from(&[1.0, 2.0], Dtype::C64, overflow, &mut buffer);
        assert_error(found, NotReal, 0, text);
        let found = Elements::convert_from(&[], Dtype::C64, overflow, &mut []);
        assert_error(found, NotReal, 0, text);
    }
}

#[test]
fn elements_must_be_whole() {
    let bytes = [0; 49];
    for dtype in Dtype::ALL {
        let together = if dtype.bitsize() == 6 { 3 } else { dtype.bitsize().div_ceil(8) };
        for length in 0..bytes.len() {
            let found = Elements::new(*dtype, &bytes[..length]);
            match length % together {
                0 => {
                    let found = found.unwrap();
                    assert_eq!(found.len() * dtype.bitsize(), length * 8, "{dtype}");
                    assert_eq!(found.bytes().len(), length);
                    let debug = format!("Elements {{ dtype: {dtype}, len: {} }}", found.len());
                    assert_eq!(format!("{found:?}"), debug);
                }
                rest => {
                    let s = if rest == 1 { "" } else { "s" };
                    let text = format!("the last element is not whole, {rest} byte{s} of it");
                    assert_error(found, PartialElement, rest as u64, &text);
                }
            }
        }
    }
}

// ── elements of a tensor ──

/// A file in memory whose data begins at a multiple of 16, for which its header is filled up.
struct Aligned {
    buffer: Vec<u8>,
    begin: usize,
    len: usize,
}

impl Aligned {
    fn new(header: &str, data: &[u8]) -> Self {
        let bytes = file(header.to_owned() + &" ".repeat((24 - header.len() % 16) % 16), data);
        let mut buffer = vec![0; bytes.len() + 16];
        let begin = buffer.as_ptr().align_offset(16);
        buffer[begin..begin + bytes.len()].copy_from_slice(&bytes);
        Self { buffer, begin, len: bytes.len() }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.begin..self.begin + self.len]
    }
}

/// Two tensors, of which the second one begins at an odd byte.
#[test]
fn errors_name_the_tensor() {
    let file = Aligned::new(
        r#"{"flags":{"shape":[3],"dtype":"BOOL","data_offsets":[0,3]},"layer.weight":{"dtype":"I16","data_offsets":[3,7],"shape":[2]},"z":{"dtype":"C64","shape":[1],"data_offsets":[7,15]}}"#,
        &[1, 0, 7, 0x34, 0x12, 0xfe, 0xff, 0, 0, 0x80, 0x3f, 0, 0, 0, 0],
    );
    let bytes = file.bytes();
    let mut slots = [Slot::EMPTY; 3];
    let model = SafeTensors::parse(bytes, &mut slots).unwrap();
    let [flags, weight, z] =
        ["flags", "layer.weight", "z"].map(|name| model.tensor(name).unwrap().elements());

    assert_eq!((weight.dtype(), weight.len()), (Dtype::I16, 2));
    assert_eq!(weight.copy_into(&mut [0; 2]).unwrap(), [0x1234_i16, -2]);
    assert_eq!(weight.values().unwrap().collect::<Vec<_>>(), [4660.0, -2.0]);
    assert_eq!(z.iter().unwrap().collect::<Vec<[f32; 2]>>(), [[1.0, 0.0]]);

    // At the bracket that opens each shape.
    let shape = br#""shape":"#;
    let shapes: Vec<_> = (shape.len()..bytes.len())
        .filter(|at| bytes[at - shape.len()..].starts_with(shape))
        .collect();
    let check = |error: Error, kind, number, tensor: usize, text: &str| {
        assert_eq!((error.kind(), error.number()), (kind, number));
        assert_eq!(error.offset(), shapes[tensor] as u64);
        let at = format!("(at byte {})", shapes[tensor]);
        let name = ["flags", "layer.weight", "z"][tensor];
        assert_eq!(error.to_string(), format!("{text} {at}"));
        assert_eq!(error.display(bytes).to_string(), format!("tensor \"{name}\": {text} {at}"));
    };
    let text = "a boolean is neither 0 nor 1, element 2";
    check(flags.as_slice::<bool>().unwrap_err(), InvalidBool, 2, 0, text);
    let (kind, number, text) = if cfg!(target_endian = "big") {
        (BigEndianHost, 0, "elements are little-endian, which this machine is not")
    } else {
        let text = "elements do not lie in memory as their type demands, \
                    a multiple of 2 bytes needed";
        (Misaligned, 2, text)
    };
    check(weight.as_slice::<i16>().unwrap_err(), kind, number, 1, text);
    let text = "elements are of another dtype, I16";
    let number = Dtype::ALL.iter().position(|dtype| *dtype == Dtype::I16).unwrap() as u64;
    check(weight.as_slice::<u16>().unwrap_err(), DtypeMismatch, number, 1, text);
    check(weight.iter::<f16>().unwrap_err(), DtypeMismatch, number, 1, text);
    check(weight.copy_into(&mut [0_u8; 9]).unwrap_err(), DtypeMismatch, number, 1, text);
    let text = "buffer is too small, 2 needed";
    check(weight.copy_into(&mut [0_i16]).unwrap_err(), BufferTooSmall, 2, 1, text);
    check(weight.convert_into(&mut [0.0]).unwrap_err(), BufferTooSmall, 2, 1, text);
    let text = "elements of this dtype are no real numbers";
    check(z.values().unwrap_err(), NotReal, 0, 2, text);
    check(z.convert_into(&mut [0.0; 2]).unwrap_err(), NotReal, 0, 2, text);
}

#[test]
fn no_elements_lie_anywhere() {
    let bytes = [0; 9];
    for offset in 0..9 {
        let elements = Elements::new(Dtype::F64, &bytes[offset..offset]).unwrap();
        assert!(elements.as_slice::<f64>().unwrap().is_empty());
    }
}
