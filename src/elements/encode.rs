//! From `f32` to every dtype.
#![allow(clippy::as_conversions)]

use half::bf16;

use super::minifloat::{self, Known, Overflow, encode, encode_e8m0};
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
    if !has_nan(dtype) && values.iter().any(|value| value.is_nan()) {
        return None;
    }
    match dtype {
        Dtype::F4 => packed::<minifloat::F4, _, _>(values, overflow, to, join_f4),
        Dtype::F6_E2M3 => packed::<minifloat::F6E2M3, _, _>(values, overflow, to, join_f6),
        Dtype::F6_E3M2 => packed::<minifloat::F6E3M2, _, _>(values, overflow, to, join_f6),
        Dtype::F8_E4M3 => f8::<minifloat::F8E4M3>(values, overflow, to),
        Dtype::F8_E5M2 => f8::<minifloat::F8E5M2>(values, overflow, to),
        Dtype::F8_E4M3FNUZ => f8::<minifloat::F8E4M3Fnuz>(values, overflow, to),
        Dtype::F8_E5M2FNUZ => f8::<minifloat::F8E5M2Fnuz>(values, overflow, to),
        Dtype::F8_E8M0 => groups(values, to, |[value]| [encode_e8m0(value, overflow)]),
        Dtype::BOOL => groups(values, to, |[value]| [u8::from(value != 0.0)]),
        Dtype::U8 => groups(values, to, |[value]| (round(value) as u8).to_le_bytes()),
        Dtype::I8 => groups(values, to, |[value]| (round(value) as i8).to_le_bytes()),
        Dtype::U16 => groups(values, to, |[value]| (round(value) as u16).to_le_bytes()),
        Dtype::I16 => groups(values, to, |[value]| (round(value) as i16).to_le_bytes()),
        Dtype::U32 => groups(values, to, |[value]| (round(value) as u32).to_le_bytes()),
        Dtype::I32 => groups(values, to, |[value]| (round(value) as i32).to_le_bytes()),
        Dtype::U64 => groups(values, to, |[value]| (round(value) as u64).to_le_bytes()),
        Dtype::I64 => groups(values, to, |[value]| (round(value) as i64).to_le_bytes()),
        Dtype::F16 => f16s(values, overflow, to),
        // The exponents are those of f32, so nothing that is rounded gets beyond infinity.
        Dtype::BF16 if overflow == Overflow::NonFinite => {
            groups(values, to, |[value]| bf16::from_f32(value).to_le_bytes());
        }
        Dtype::BF16 => wide::<minifloat::Bf16>(values, overflow, to),
        Dtype::F32 => groups(values, to, |[value]| finite(value, overflow).to_le_bytes()),
        Dtype::F64 => groups(values, to, |[value]| {
            let infinite = overflow == Overflow::Saturate && value.is_infinite();
            let largest = f64::MAX.copysign(value.into());
            (if infinite { largest } else { value.into() }).to_le_bytes()
        }),
        Dtype::C64 => {}
    }
    Some(())
}

const fn has_nan(dtype: Dtype) -> bool {
    !matches!(
        dtype,
        Dtype::F4
            | Dtype::F6_E2M3
            | Dtype::F6_E3M2
            | Dtype::U8
            | Dtype::I8
            | Dtype::U16
            | Dtype::I16
            | Dtype::U32
            | Dtype::I32
            | Dtype::U64
            | Dtype::I64
    )
}

fn finite(value: f32, overflow: Overflow) -> f32 {
    let infinite = overflow == Overflow::Saturate && value.is_infinite();
    if infinite { f32::MAX.copysign(value) } else { value }
}

/// Elements of less than a byte, of which `N` fill `M` bytes. First some codes, then the bytes, as
/// several values at once are encoded where each has a place of its own.
#[inline(always)]
fn packed<F: Known, const N: usize, const M: usize>(
    values: &[f32],
    overflow: Overflow,
    to: &mut [u8],
    pack: impl Fn([u8; N]) -> [u8; M],
) {
    const AT_ONCE: usize = 64;
    let mut codes = [0; AT_ONCE];
    for (to, values) in to.chunks_mut(const { AT_ONCE / N * M }).zip(values.chunks(AT_ONCE)) {
        for (code, value) in codes.iter_mut().zip(values) {
            *code = encode::<F>(*value, overflow) as u8;
        }
        for (to, codes) in to.as_chunks_mut().0.iter_mut().zip(codes.as_chunks().0) {
            *to = pack(*codes);
        }
    }
}

const fn join_f4([low, high]: [u8; 2]) -> [u8; 1] {
    [low | high << 4]
}

#[inline(always)]
fn f8<F: Known>(values: &[f32], overflow: Overflow, to: &mut [u8]) {
    groups(values, to, |[value]| [encode::<F>(value, overflow) as u8]);
}

#[inline(always)]
fn wide<F: Known>(values: &[f32], overflow: Overflow, to: &mut [u8]) {
    groups(values, to, |[value]| encode::<F>(value, overflow).to_le_bytes());
}

/// half knows the instructions of the processor, which it finds out with the help of `std`.
#[cfg(feature = "std")]
fn f16s(values: &[f32], overflow: Overflow, to: &mut [u8]) {
    use half::f16;
    use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

    const INFINITY: u16 = f16::INFINITY.to_bits();

    let aligned = bytemuck::try_cast_slice_mut::<u8, u16>(to);
    match aligned {
        Ok(codes) if cfg!(target_endian = "little") => {
            // As much at a time as stays in the cache for the second look.
            for (codes, values) in codes.chunks_mut(2048).zip(values.chunks(2048)) {
                codes.reinterpret_cast_mut::<f16>().convert_from_f32_slice(values);
                if overflow == Overflow::Saturate {
                    // Infinity is the number behind the largest finite one.
                    for code in codes {
                        *code = code.wrapping_sub(u16::from(*code & 0x7fff == INFINITY));
                    }
                }
            }
        }
        _ => wide::<minifloat::F16>(values, overflow, to),
    }
}

#[cfg(not(feature = "std"))]
fn f16s(values: &[f32], overflow: Overflow, to: &mut [u8]) {
    wide::<minifloat::F16>(values, overflow, to);
}

/// The codes of four elements of F6 in three bytes, the first in the lowest bits.
const fn join_f6([a, b, c, d]: [u8; 4]) -> [u8; 3] {
    [a | b << 6, b >> 2 | c << 4, c >> 4 | d << 2]
}

/// The nearest integer, of two the even one.
fn round(value: f32) -> f32 {
    /// 2²³, from which on every `f32` is an integer: a sum has no bits left for a fraction.
    const INTEGERS: f32 = 8_388_608.0;
    let far = INTEGERS.copysign(value);
    if value.abs() < INTEGERS { value + far - far } else { value }
}

/// Encodes `N` values to `M` bytes at a time.
#[inline(always)]
fn groups<const N: usize, const M: usize>(
    values: &[f32],
    to: &mut [u8],
    encode: impl Fn([f32; N]) -> [u8; M],
) {
    for (to, values) in to.as_chunks_mut().0.iter_mut().zip(values.as_chunks().0) {
        *to = encode(*values);
    }
}
