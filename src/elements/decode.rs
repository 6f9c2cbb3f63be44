//! From every dtype to `f32`.
//!
//! F16, F32 and F64 are the binary formats of IEEE 754; BF16 is the upper half of an F32. `minifloat`
//! has what is narrower.
#![allow(clippy::as_conversions)]

use half::f16;

use super::minifloat;
use crate::Dtype;
use crate::raw::{self, FAST};

/// The value of element `i`, which must be one; `None` for complex numbers.
#[inline(always)]
pub(super) const fn value(dtype: Dtype, bytes: &[u8], i: usize) -> Option<f32> {
    value_of(dtype, code(dtype, bytes, i))
}

/// The bits of element `i`.
#[inline(always)]
const fn code(dtype: Dtype, bytes: &[u8], i: usize) -> u64 {
    match dtype.bitsize() {
        4 => {
            let pair = raw::byte(bytes, i >> 1);
            (if i & 1 == 0 { pair & 0xf } else { pair >> 4 }) as u64
        }
        6 => {
            let [a, b, c, d] = split_f6(array(bytes, i >> 2));
            (match i & 3 {
                0 => a,
                1 => b,
                2 => c,
                _ => d,
            }) as u64
        }
        8 => raw::byte(bytes, i) as u64,
        16 => u16::from_le_bytes(array(bytes, i)) as u64,
        32 => u32::from_le_bytes(array(bytes, i)) as u64,
        _ => u64::from_le_bytes(array(bytes, i)),
    }
}

/// The value of an element with these bits; `None` for complex numbers.
#[inline(always)]
const fn value_of(dtype: Dtype, code: u64) -> Option<f32> {
    Some(match dtype {
        Dtype::F4
        | Dtype::F6_E2M3
        | Dtype::F6_E3M2
        | Dtype::F8_E4M3
        | Dtype::F8_E5M2
        | Dtype::F8_E4M3FNUZ
        | Dtype::F8_E5M2FNUZ
        | Dtype::F8_E8M0 => minifloat::decode(dtype, code as u8),
        Dtype::BOOL => bool_value([code as u8]),
        Dtype::U8 => code as u8 as f32,
        Dtype::I8 => code as i8 as f32,
        Dtype::U16 => code as u16 as f32,
        Dtype::I16 => code as i16 as f32,
        Dtype::U32 => code as u32 as f32,
        Dtype::I32 => code as i32 as f32,
        Dtype::U64 => code as f32,
        Dtype::I64 => code as i64 as f32,
        Dtype::F16 => f16_value((code as u16).to_le_bytes()),
        Dtype::BF16 => f32::from_bits((code as u32) << 16),
        Dtype::F32 => f32::from_bits(code as u32),
        Dtype::F64 => f64::from_bits(code) as f32,
        Dtype::C64 => return None,
    })
}

/// The `i`-th `N` bytes; zeros behind the end.
const fn array<const N: usize>(bytes: &[u8], i: usize) -> [u8; N] {
    match raw::chunk(bytes, i.wrapping_mul(N)) {
        Some(array) => *array,
        None => [0; N],
    }
}

const fn bool_value([byte]: [u8; 1]) -> f32 {
    if byte == 0 { 0.0 } else { 1.0 }
}

/// The codes in three bytes of F6, the first in the lowest bits.
const fn split_f6([a, b, c]: [u8; 3]) -> [u8; 4] {
    [a & 0x3f, a >> 6 | (b & 0xf) << 2, b >> 4 | (c & 3) << 4, c >> 2]
}

const fn bf16_value([low, high]: [u8; 2]) -> f32 {
    f32::from_le_bytes([0, 0, low, high])
}

/// An F16 as `f32`. Where speed counts all three cases are computed and one is selected, which a
/// compiler can do for several elements at once.
#[inline(always)]
const fn f16_value(bytes: [u8; 2]) -> f32 {
    /// Infinity, and above it NaN; below it the exponents, of which 0 means subnormal.
    const INFINITY: u32 = 0x7c00;
    const SMALLEST_NORMAL: u32 = 0x400;
    /// 2⁻²⁴, of which subnormal numbers are multiples.
    const SUBNORMAL_UNIT: f32 = f32::from_bits((127 - 24) << 23);

    let code = u16::from_le_bytes(bytes);
    if !FAST {
        return f16::from_bits(code).to_f32_const();
    }
    let magnitude = (code & 0x7fff) as u32;
    let sign = ((code & 0x8000) as u32) << 16;
    let subnormal = (magnitude as f32 * SUBNORMAL_UNIT).to_bits();
    // The bias is 15 there and 127 here.
    let normal = (magnitude << 13).wrapping_add((127 - 15) << 23);
    let quiet = if magnitude > INFINITY { 1 << 22 } else { 0 };
    let special = magnitude << 13 | f32::INFINITY.to_bits() | quiet;
    f32::from_bits(
        sign | if magnitude >= INFINITY {
            special
        } else if magnitude < SMALLEST_NORMAL {
            subnormal
        } else {
            normal
        },
    )
}

/// Fills `to` with values as the bytes of this machine. For a `const`, where a call costs as much as a
/// hundred operations: so there are few, and bytes are indexed. An index that is wrong stops the build.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
pub(super) const fn put_values(dtype: Dtype, bytes: &[u8], to: &mut [u8]) {
    let width = dtype.bitsize();
    let narrow = if width <= 8 { dtype } else { Dtype::U8 };
    let table: [[u8; 4]; 256] = bytemuck::must_cast(table(narrow));
    let (mut bit, mut at) = (0, 0);
    while at < to.len() {
        let (mut code, mut i) = (0, 0);
        while i < bit % 8 + width {
            code |= (bytes[(bit + i) / 8] as u64) << i;
            i += 8;
        }
        code >>= bit % 8;
        let value = if width <= 8 {
            table[(code & ((1 << width) - 1)) as usize]
        } else if let Some(value) = value_of(dtype, code) {
            value.to_ne_bytes()
        } else {
            return;
        };
        to[at] = value[0];
        to[at + 1] = value[1];
        to[at + 2] = value[2];
        to[at + 3] = value[3];
        bit += width;
        at += 4;
    }
}

/// The value of every code of 8 bits and fewer.
const fn table(dtype: Dtype) -> [f32; 256] {
    let mut table = [0.0; 256];
    let mut rest: &mut [f32] = &mut table;
    let mut code = 0;
    while let Some((to, others)) = rest.split_first_mut() {
        if let Some(value) = value_of(dtype, code) {
            *to = value;
        }
        code = code.wrapping_add(1);
        rest = others;
    }
    table
}

/// The values of all elements; `to` has room for as many.
pub(super) fn values(dtype: Dtype, bytes: &[u8], to: &mut [f32]) {
    match dtype {
        Dtype::F4 => f4(bytes, to),
        Dtype::F6_E2M3 | Dtype::F6_E3M2 => f6(dtype, bytes, to),
        Dtype::F8_E4M3
        | Dtype::F8_E5M2
        | Dtype::F8_E4M3FNUZ
        | Dtype::F8_E5M2FNUZ
        | Dtype::F8_E8M0 => f8(dtype, bytes, to),
        Dtype::BOOL => each(bytes, to, bool_value),
        Dtype::U8 => each(bytes, to, |bytes| u8::from_le_bytes(bytes) as f32),
        Dtype::I8 => each(bytes, to, |bytes| i8::from_le_bytes(bytes) as f32),
        Dtype::U16 => each(bytes, to, |bytes| u16::from_le_bytes(bytes) as f32),
        Dtype::I16 => each(bytes, to, |bytes| i16::from_le_bytes(bytes) as f32),
        Dtype::U32 => each(bytes, to, |bytes| u32::from_le_bytes(bytes) as f32),
        Dtype::I32 => each(bytes, to, |bytes| i32::from_le_bytes(bytes) as f32),
        Dtype::U64 => each(bytes, to, |bytes| u64::from_le_bytes(bytes) as f32),
        Dtype::I64 => each(bytes, to, |bytes| i64::from_le_bytes(bytes) as f32),
        Dtype::F16 => f16s(bytes, to),
        Dtype::BF16 => each(bytes, to, bf16_value),
        Dtype::F32 => each(bytes, to, f32::from_le_bytes),
        Dtype::F64 => each(bytes, to, |bytes| f64::from_le_bytes(bytes) as f32),
        Dtype::C64 => {}
    }
}

#[inline(always)]
fn each<const N: usize>(bytes: &[u8], to: &mut [f32], value: impl Fn([u8; N]) -> f32) {
    let (chunks, _) = bytes.as_chunks();
    for (to, bytes) in to.iter_mut().zip(chunks) {
        *to = value(*bytes);
    }
}

/// half knows the instructions of the processor, which it finds out with the help of `std`.
#[cfg(feature = "std")]
fn f16s(bytes: &[u8], to: &mut [f32]) {
    use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

    match bytemuck::try_cast_slice::<u8, u16>(bytes) {
        Ok(codes) if cfg!(target_endian = "little") && codes.len() == to.len() => {
            codes.reinterpret_cast::<f16>().convert_to_f32_slice(to);
        }
        _ => each(bytes, to, f16_value),
    }
}

#[cfg(not(feature = "std"))]
fn f16s(bytes: &[u8], to: &mut [f32]) {
    each(bytes, to, f16_value);
}

fn f8(dtype: Dtype, bytes: &[u8], to: &mut [f32]) {
    if !FAST {
        return each(bytes, to, |[code]| minifloat::decode(dtype, code));
    }
    let table = match dtype {
        Dtype::F8_E4M3 => &F8_E4M3,
        Dtype::F8_E5M2 => &F8_E5M2,
        Dtype::F8_E4M3FNUZ => &F8_E4M3FNUZ,
        Dtype::F8_E5M2FNUZ => &F8_E5M2FNUZ,
        _ => &F8_E8M0,
    };
    each(bytes, to, |[code]| entry(table, code));
}

fn f6(dtype: Dtype, bytes: &[u8], to: &mut [f32]) {
    let table = if matches!(dtype, Dtype::F6_E2M3) { &F6_E2M3 } else { &F6_E3M2 };
    for (to, bytes) in to.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
        *to = split_f6(*bytes)
            .map(|code| if FAST { entry(table, code) } else { minifloat::decode(dtype, code) });
    }
}

fn f4(bytes: &[u8], to: &mut [f32]) {
    for (to, pair) in to.as_chunks_mut().0.iter_mut().zip(bytes) {
        *to = if FAST {
            entry(&F4_PAIRS, *pair)
        } else {
            [pair & 0xf, pair >> 4].map(|code| minifloat::decode(Dtype::F4, code))
        };
    }
}

// ── every code's value, computed by the compiler ──

static F8_E4M3: [f32; 256] = table(Dtype::F8_E4M3);
static F8_E5M2: [f32; 256] = table(Dtype::F8_E5M2);
static F8_E4M3FNUZ: [f32; 256] = table(Dtype::F8_E4M3FNUZ);
static F8_E5M2FNUZ: [f32; 256] = table(Dtype::F8_E5M2FNUZ);
static F8_E8M0: [f32; 256] = table(Dtype::F8_E8M0);
static F6_E2M3: [f32; 256] = table(Dtype::F6_E2M3);
static F6_E3M2: [f32; 256] = table(Dtype::F6_E3M2);

/// Of two elements in a byte.
static F4_PAIRS: [[f32; 2]; 256] = {
    let mut table = [[0.0; 2]; 256];
    let mut rest: &mut [[f32; 2]] = &mut table;
    let mut pair: u8 = 0;
    while let Some((values, others)) = rest.split_first_mut() {
        let (low, high) = (pair & 0xf, pair >> 4);
        *values = [minifloat::decode(Dtype::F4, low), minifloat::decode(Dtype::F4, high)];
        pair = pair.wrapping_add(1);
        rest = others;
    }
    table
};

/// A table of 256 has an entry for every byte.
#[inline(always)]
#[allow(clippy::indexing_slicing)]
fn entry<T: Copy>(table: &[T; 256], code: u8) -> T {
    table[raw::small(code)]
}
