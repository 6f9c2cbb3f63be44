//! What codes mean and which code a number gets, by the definitions of the formats and nothing else:
//! slowly, in `f64` and `i128`.
//!
//! Sign, exponent and mantissa stand for (−1)ˢ × 2ᵉ⁻ᵇⁱᵃˢ × 1.m, or for (−1)ˢ × 2¹⁻ᵇⁱᵃˢ × 0.m if the
//! exponent is 0.

use std::sync::LazyLock;

use safetensors_core::{Dtype, Overflow};

/// A float with a sign bit, an exponent and a mantissa.
pub(crate) struct Float {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    /// The code of the largest finite number. Codes above are no numbers.
    largest: u64,
    beyond: Beyond,
}

/// What there is besides finite numbers.
#[derive(PartialEq)]
enum Beyond {
    InfinityAndNan,
    Nan,
    /// In place of the negative zero.
    OneNan,
    Nothing,
}

use Beyond::{InfinityAndNan, Nan, Nothing, OneNan};

const F32: Float = float(8, 23, 127, 0x7f7f_ffff, InfinityAndNan);

const fn float(
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    largest: u64,
    beyond: Beyond,
) -> Float {
    Float { exponent_bits, mantissa_bits, bias, largest, beyond }
}

pub(crate) fn float_of(dtype: Dtype) -> Option<Float> {
    Some(match dtype {
        Dtype::F4 => float(2, 1, 1, 0x7, Nothing),
        Dtype::F6_E2M3 => float(2, 3, 1, 0x1f, Nothing),
        Dtype::F6_E3M2 => float(3, 2, 3, 0x1f, Nothing),
        Dtype::F8_E4M3 => float(4, 3, 7, 0x7e, Nan),
        Dtype::F8_E5M2 => float(5, 2, 15, 0x7b, InfinityAndNan),
        Dtype::F8_E4M3FNUZ => float(4, 3, 8, 0x7f, OneNan),
        Dtype::F8_E5M2FNUZ => float(5, 2, 16, 0x7f, OneNan),
        Dtype::F16 => float(5, 10, 15, 0x7bff, InfinityAndNan),
        Dtype::BF16 => float(8, 7, 127, 0x7f7f, InfinityAndNan),
        Dtype::F32 => F32,
        _ => return None,
    })
}

impl Float {
    /// The number of a code without sign, as if there were none but finite ones.
    fn magnitude(&self, code: u64) -> f64 {
        let exponent = (code >> self.mantissa_bits) as i32;
        let fraction = (code % (1 << self.mantissa_bits)) as f64 / (1 << self.mantissa_bits) as f64;
        match exponent {
            0 => 2_f64.powi(1 - self.bias) * fraction,
            _ => 2_f64.powi(exponent - self.bias) * (1.0 + fraction),
        }
    }

    /// The code without sign and the sign.
    fn split(&self, code: u64) -> (u64, bool) {
        let sign = 1 << (self.exponent_bits + self.mantissa_bits);
        (code % sign, code & sign != 0)
    }

    fn value(&self, code: u64) -> f64 {
        let (magnitude, negative) = self.split(code);
        let value = if self.beyond == OneNan && negative && magnitude == 0 {
            f64::NAN
        } else if magnitude <= self.largest {
            self.magnitude(magnitude)
        } else if self.beyond == InfinityAndNan && magnitude == self.largest + 1 {
            f64::INFINITY
        } else {
            f64::NAN
        };
        if negative { -value } else { value }
    }

    /// The code without sign that is nearest to a positive number, of two the even one. The largest
    /// one and 1 more: beyond.
    fn nearest(&self, x: f64) -> u64 {
        let (mut low, mut high) = (0, self.largest + 1);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.magnitude(middle) <= x { low = middle } else { high = middle }
        }
        let middle = (self.magnitude(low) + self.magnitude(high)) / 2.0;
        if x < middle || x == middle && low % 2 == 0 { low } else { high }
    }

    /// Between two neighbours, of which the upper one may be beyond.
    fn halfway(&self, code: u64) -> f64 {
        let code = code % (self.largest + 1);
        (self.magnitude(code) + self.magnitude(code + 1)) / 2.0
    }

    fn code(&self, x: f64, overflow: Overflow) -> Code {
        if x.is_nan() {
            return if self.beyond == Nothing { Code::Refused } else { Code::Nan };
        }
        let mut magnitude = self.nearest(x.abs());
        if magnitude > self.largest {
            match (overflow, &self.beyond) {
                (Overflow::NonFinite, InfinityAndNan) => {}
                (Overflow::NonFinite, Nan | OneNan) => return Code::Nan,
                _ => magnitude = self.largest,
            }
        }
        let negative = x.is_sign_negative() && !(self.beyond == OneNan && magnitude == 0);
        let sign = u64::from(negative) << (self.exponent_bits + self.mantissa_bits);
        Code::Of(sign | magnitude)
    }
}

/// What a number becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Of(u64),
    /// Any code that means NaN.
    Nan,
    Refused,
}

/// The elements in `bytes`, the first in the lowest bits. Of more than 64 bits there are none.
pub(crate) fn codes(dtype: Dtype, bytes: &[u8]) -> Vec<u64> {
    let bits = dtype.bitsize();
    let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    let code = |i| (0..bits).map(|at| bit(i * bits + at) << at).sum();
    (0..bytes.len() * 8 / bits).map(code).collect()
}

/// The bits that stand for a value here, every NaN the same.
pub(crate) fn canonical(value: f32) -> u32 {
    if value.is_nan() { u32::MAX } else { value.to_bits() }
}

/// The value of a code, canonical. Of real numbers only.
pub(crate) fn value(dtype: Dtype, code: u64) -> u32 {
    canonical(match (float_of(dtype), integer_range(dtype)) {
        // All of these values are exact.
        (Some(float), _) => float.value(code) as f32,
        (None, Some((least, _))) => {
            let wraps = least < 0 && code >> (dtype.bitsize() - 1) == 1;
            nearest_to_integer(i128::from(code) - if wraps { 1 << dtype.bitsize() } else { 0 })
        }
        _ if dtype == Dtype::F8_E8M0 && code == 255 => f32::NAN,
        _ if dtype == Dtype::F8_E8M0 => 2_f64.powi(code as i32 - 127) as f32,
        _ if dtype == Dtype::BOOL => f32::from(code != 0),
        _ => {
            let x = f64::from_bits(code);
            match F32.code(x, Overflow::NonFinite) {
                Code::Of(code) => f32::from_bits(code as u32),
                _ => f32::NAN,
            }
        }
    })
}

/// The `f32` nearest to `x`, of two the one with an even mantissa.
fn nearest_to_integer(x: i128) -> f32 {
    let mut unit = 1;
    while x.abs() / unit >= 1 << 24 {
        unit *= 2;
    }
    let (quotient, rest) = (x.div_euclid(unit), x.rem_euclid(unit));
    let up = 2 * rest > unit || 2 * rest == unit && quotient % 2 != 0;
    ((quotient + i128::from(up)) * unit) as f64 as f32
}

fn integer_range(dtype: Dtype) -> Option<(i128, i128)> {
    let bits = dtype.bitsize();
    match dtype {
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => Some((0, (1 << bits) - 1)),
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => {
            Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
        }
        _ => None,
    }
}

/// What `x` becomes. C64 is not asked for.
pub(crate) fn code(dtype: Dtype, x: f32, overflow: Overflow) -> Code {
    let wide = f64::from(x);
    if let Some(float) = float_of(dtype) {
        return float.code(wide, overflow);
    }
    if let Some((least, largest)) = integer_range(dtype) {
        if x.is_nan() {
            return Code::Refused;
        }
        let rounded = (wide.round_ties_even() as i128).clamp(least, largest);
        return Code::Of(rounded as u64 & (u64::MAX >> (64 - dtype.bitsize())));
    }
    match dtype {
        Dtype::BOOL => Code::Of(u64::from(wide != 0.0)),
        Dtype::F8_E8M0 => power_of_two(wide, overflow),
        _ if wide.is_nan() => Code::Nan,
        _ if wide.is_infinite() && overflow == Overflow::Saturate => {
            Code::Of(f64::MAX.copysign(wide).to_bits())
        }
        _ => Code::Of(wide.to_bits()),
    }
}

/// Halfway between the power of each code of F8_E8M0 and the next.
static BORDERS: LazyLock<[f64; 255]> =
    LazyLock::new(|| std::array::from_fn(|code| 1.5 * 2_f64.powi(code as i32 - 127)));

/// The code of F8_E8M0: of two powers that are as near the greater one.
fn power_of_two(x: f64, overflow: Overflow) -> Code {
    if x.is_nan() || x <= 0.0 {
        return Code::Nan;
    }
    match BORDERS.partition_point(|border| *border <= x) {
        255 if overflow == Overflow::Saturate => Code::Of(254),
        255 => Code::Nan,
        code => Code::Of(code as u64),
    }
}

/// A number that is as near to one value of the dtype as to another, where there is any.
pub(crate) fn halfway(dtype: Dtype, code: u64) -> f32 {
    match float_of(dtype) {
        // Of F32 itself it is a value again, of the others it is exact.
        Some(float) => float.halfway(code) as f32,
        None if dtype == Dtype::F8_E8M0 => BORDERS[code as usize % BORDERS.len()] as f32,
        None => code as f32 + 0.5,
    }
}

/// The code of a number that has one bit more than an `f32` at most, the last one set, or of one
/// beside it, which a conversion by way of `f64` would round twice. The highest bit of `odd` is the
/// sign.
pub(crate) fn wide_halfway(dtype: Dtype, odd: u32, exponent: u8, beside: i64) -> u64 {
    let (negative, odd) = (odd >> 31 == 1, u64::from(odd % (1 << 25) | 1));
    if dtype == Dtype::F64 {
        // From half of the smallest one to beyond the largest one.
        let x = odd as f64 * 2_f64.powi(i32::from(exponent) - 150);
        return if negative { -x } else { x }.to_bits().wrapping_add_signed(beside);
    }
    let code = odd << (u32::from(exponent) % (dtype.bitsize() as u32 - 24));
    let code = code.wrapping_add_signed(beside);
    if negative { code.wrapping_neg() } else { code }
}
