//! From `f32` to every dtype.
#![allow(clippy::as_conversions)]

use half::{bf16, f16};

use super::minifloat::{self, Overflow};
use crate::{Dtype, raw};

/// The bytes of `len` elements; an error has the bits of them if they don't fill whole bytes.
pub(super) const fn byte_len(dtype: Dtype, len: usize) -> Result<usize, usize> {
    // So many elements fill so many bytes.
    let (elements, bytes) = match dtype.bitsize() {
        4 => (2, 1),
        6 => (4, 3),
        bits => (1, bits >> 3),
    };
    match raw::remainder(len, elements) {
        0 => Ok(raw::quotient(len, elements).saturating_mul(bytes)),
        _ => Err(len.saturating_mul(dtype.bitsize())),
    }
}

/// Writes all `values`; `to` is as long as that demands. `None`: one is NaN, and the dtype has no
/// code for that.
pub(super) fn values(
    values: &[f32],
    dtype: Dtype,
    overflow: Overflow,
    to: &mut [u8],
) -> Option<()> {
    let code = |value| minifloat::encode(dtype, value, overflow);
    match dtype {
        Dtype::F4 => groups(values, to, |[a, b]| Some([code(a)? | code(b)? << 4])),
        Dtype::F6_E2M3 | Dtype::F6_E3M2 => groups(values, to, |[a, b, c, d]| {
            Some(join_f6([code(a)?, code(b)?, code(c)?, code(d)?]))
        }),
        Dtype::F8_E4M3
        | Dtype::F8_E5M2
        | Dtype::F8_E4M3FNUZ
        | Dtype::F8_E5M2FNUZ
        | Dtype::F8_E8M0 => groups(values, to, |[value]| Some([code(value)?])),
        Dtype::BOOL => groups(values, to, |[value]| Some([u8::from(value != 0.0)])),
        Dtype::U8 => groups(values, to, |[value]| Some((round(value)? as u8).to_le_bytes())),
        Dtype::I8 => groups(values, to, |[value]| Some((round(value)? as i8).to_le_bytes())),
        Dtype::U16 => groups(values, to, |[value]| Some((round(value)? as u16).to_le_bytes())),
        Dtype::I16 => groups(values, to, |[value]| Some((round(value)? as i16).to_le_bytes())),
        Dtype::U32 => groups(values, to, |[value]| Some((round(value)? as u32).to_le_bytes())),
        Dtype::I32 => groups(values, to, |[value]| Some((round(value)? as i32).to_le_bytes())),
        Dtype::U64 => groups(values, to, |[value]| Some((round(value)? as u64).to_le_bytes())),
        Dtype::I64 => groups(values, to, |[value]| Some((round(value)? as i64).to_le_bytes())),
        Dtype::F16 => f16s(values, overflow, to),
        Dtype::BF16 => groups(values, to, |[value]| {
            let rounded = bf16::from_f32(value);
            let finite = rounded.is_infinite().then(|| bf16::MAX.copysign(rounded));
            Some(choose(overflow, rounded, finite).to_le_bytes())
        }),
        Dtype::F32 => groups(values, to, |[value]| {
            let finite = value.is_infinite().then(|| f32::MAX.copysign(value));
            Some(choose(overflow, value, finite).to_le_bytes())
        }),
        Dtype::F64 => groups(values, to, |[value]| {
            let finite = value.is_infinite().then(|| f64::MAX.copysign(f64::from(value)));
            Some(choose(overflow, f64::from(value), finite).to_le_bytes())
        }),
        Dtype::C64 => Some(()),
    }
}

/// The codes of four elements of F6 in three bytes, the first in the lowest bits.
const fn join_f6([a, b, c, d]: [u8; 4]) -> [u8; 3] {
    [a | b << 6, b >> 2 | c << 4, c >> 4 | d << 2]
}

/// The nearest integer, of two the even one; `None` for NaN.
fn round(value: f32) -> Option<f32> {
    /// 2²³, from which on every `f32` is an integer: a sum has no bits left for a fraction.
    const INTEGERS: f32 = 8_388_608.0;
    if value.is_nan() {
        return None;
    }
    if value.abs() >= INTEGERS {
        return Some(value);
    }
    let far = INTEGERS.copysign(value);
    Some(value + far - far)
}

/// What stands for an infinite value.
fn choose<T>(overflow: Overflow, infinite: T, finite: Option<T>) -> T {
    match (overflow, finite) {
        (Overflow::Saturate, Some(finite)) => finite,
        _ => infinite,
    }
}

fn f16_bytes(half: f16, overflow: Overflow) -> [u8; 2] {
    let finite = half.is_infinite().then(|| f16::MAX.copysign(half));
    choose(overflow, half, finite).to_le_bytes()
}

/// half knows the instructions of the processor, which it finds out with the help of `std`.
#[cfg(feature = "std")]
fn f16s(values: &[f32], overflow: Overflow, to: &mut [u8]) -> Option<()> {
    use half::slice::HalfFloatSliceExt;

    let (blocks, _) = values.as_chunks::<64>();
    let mut halves = [f16::ZERO; 64];
    for (to, block) in to.chunks_exact_mut(2 * 64).zip(blocks) {
        halves.convert_from_f32_slice(block);
        for (to, half) in to.as_chunks_mut().0.iter_mut().zip(halves) {
            *to = f16_bytes(half, overflow);
        }
    }
    each_f16(values.as_chunks::<64>().1, overflow, to.as_chunks_mut::<128>().1)
}

#[cfg(not(feature = "std"))]
fn f16s(values: &[f32], overflow: Overflow, to: &mut [u8]) -> Option<()> {
    each_f16(values, overflow, to)
}

fn each_f16(values: &[f32], overflow: Overflow, to: &mut [u8]) -> Option<()> {
    groups(values, to, |[value]| Some(f16_bytes(f16::from_f32_const(value), overflow)))
}

/// Encodes `N` values to `M` bytes at a time.
#[inline(always)]
fn groups<const N: usize, const M: usize>(
    values: &[f32],
    to: &mut [u8],
    encode: impl Fn([f32; N]) -> Option<[u8; M]>,
) -> Option<()> {
    for (to, values) in to.as_chunks_mut().0.iter_mut().zip(values.as_chunks().0) {
        *to = encode(*values)?;
    }
    Some(())
}
