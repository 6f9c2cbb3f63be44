//! Floats of 16 bits and fewer: a description of each format, one decoder (of 8 bits and fewer) and one
//! encoder.
//! The page on numbers, `docs/numbers.md`, has the table and its sources.
#![allow(clippy::as_conversions, clippy::arithmetic_side_effects)]

use crate::Dtype;
use crate::raw::FAST;

/// What is done with a value that is beyond the largest finite one of a dtype, when an `f32` is
/// [converted](crate::Elements::convert_from) to it.
///
/// These are the two modes of the
/// [OFP8 specification](https://www.opencompute.org/documents/ocp-8-bit-floating-point-specification-ofp8-revision-1-0-2023-12-01-pdf-1),
/// for every dtype. A value is beyond when it is after rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Overflow {
    /// It becomes the largest finite value of its sign; so do infinities. (F8_E8M0 has no sign, and
    /// NaN for all that is not positive.)
    Saturate,
    /// It becomes infinity, or where the dtype has none NaN (E4M3, FNUZ, E8M0), as in PyTorch and
    /// ml_dtypes. F4, F6 and integers have neither and saturate, which the MX specification asks of
    /// them.
    NonFinite,
}

/// Which codes are not finite numbers.
#[derive(Clone, Copy)]
enum Special {
    /// With all exponent bits set: infinity if the mantissa is zero, otherwise NaN.
    Ieee,
    /// NaN, when exponent and mantissa have all bits set.
    AllOnes,
    /// NaN, in the place of negative zero.
    NegativeZero,
    /// None.
    None,
}

/// A format with a sign bit on top of exponent and mantissa.
#[derive(Clone, Copy)]
pub(super) struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

/// A format that the compiler knows where it is used.
pub(super) trait Known {
    const FORMAT: Format;
}

macro_rules! formats {
    ($($name:ident: $exponent_bits:literal, $mantissa_bits:literal, $bias:literal, $special:ident;)*) => {
        $(
            pub(super) struct $name;

            impl Known for $name {
                const FORMAT: Format = Format {
                    exponent_bits: $exponent_bits,
                    mantissa_bits: $mantissa_bits,
                    bias: $bias,
                    special: Special::$special,
                };
            }
        )*
    };
}

formats! {
    F4: 2, 1, 1, None;
    F6E2M3: 2, 3, 1, None;
    F6E3M2: 3, 2, 3, None;
    F8E4M3: 4, 3, 7, AllOnes;
    F8E5M2: 5, 2, 15, Ieee;
    F8E4M3Fnuz: 4, 3, 8, NegativeZero;
    F8E5M2Fnuz: 5, 2, 16, NegativeZero;
    F16: 5, 10, 15, Ieee;
    Bf16: 8, 7, 127, Ieee;
}

/// The bits of an `f32`: its exponent stands above 23 bits of mantissa and has the bias 127.
const F32_MANTISSA: u32 = 23;
const F32_BIAS: i32 = 127;
const F32_SIGN: u32 = 1 << 31;
const F32_INFINITY: u32 = f32::INFINITY.to_bits();
const F32_NAN: u32 = f32::NAN.to_bits();

impl Format {
    #[inline(always)]
    const fn sign_bit(&self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The code of infinity in an IEEE format, of NaN where that has all bits set.
    #[inline(always)]
    const fn special_code(&self) -> u32 {
        match self.special {
            Special::Ieee => (self.sign_bit() - 1) >> self.mantissa_bits << self.mantissa_bits,
            Special::AllOnes => self.sign_bit() - 1,
            Special::NegativeZero | Special::None => self.sign_bit(),
        }
    }

    /// The number that `code` stands for; bits above the sign are ignored. Exact.
    const fn decode(&self, code: u8) -> f32 {
        let code = code as u32;
        let sign = if code & self.sign_bit() == 0 { 0 } else { F32_SIGN };
        let magnitude = code & (self.sign_bit() - 1);
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let to_f32 = F32_MANTISSA - self.mantissa_bits;
        if magnitude == 0 {
            let is_nan = matches!(self.special, Special::NegativeZero) && sign != 0;
            return f32::from_bits(if is_nan { F32_NAN } else { sign });
        }
        if magnitude >= self.special_code() {
            let is_infinity = matches!(self.special, Special::Ieee) && mantissa == 0;
            let bits = if is_infinity { F32_INFINITY } else { F32_NAN | mantissa << to_f32 };
            return f32::from_bits(sign | bits);
        }
        let exponent = (magnitude >> self.mantissa_bits) as i32;
        let (exponent, mantissa) = if exponent == 0 {
            // Subnormal here, normal as f32: the highest bit becomes the one that is not stored.
            let shift = mantissa.leading_zeros() - (u32::BITS - 1 - self.mantissa_bits);
            (1 - shift as i32, mantissa << shift & ((1 << self.mantissa_bits) - 1))
        } else {
            (exponent, mantissa)
        };
        let exponent = (exponent + F32_BIAS - self.bias) as u32;
        f32::from_bits(sign | exponent << F32_MANTISSA | mantissa << to_f32)
    }

    /// The code of `value`, rounded to the nearest, of two that are as near to the even one. Of NaN,
    /// where there is no code for that, it is any.
    ///
    /// All cases are computed and one is selected, which a compiler can do for several values at
    /// once.
    #[inline(always)]
    const fn encode(&self, value: f32, overflow: Overflow) -> u16 {
        let bits = value.to_bits();
        let sign = bits >> 31 << (self.exponent_bits + self.mantissa_bits);
        let magnitude = bits & !F32_SIGN;
        let rounded = self.round(magnitude);
        let special = self.special_code();
        // Larger by one than the largest code is the one of infinity, or of NaN.
        let too_large = match (overflow, self.special) {
            (Overflow::Saturate, _) | (_, Special::None) => special - 1,
            (Overflow::NonFinite, _) => special,
        };
        let code = if rounded < special { rounded } else { too_large };
        let code = if magnitude > F32_INFINITY { self.nan_code() } else { code };
        // Negative zero may be NaN, which has no sign then.
        let signed = match self.special {
            Special::NegativeZero => code != 0 && code != special,
            _ => true,
        };
        (if signed { sign | code } else { code }) as u16
    }

    #[inline(always)]
    const fn nan_code(&self) -> u32 {
        match self.special {
            // Quiet, without payload.
            Special::Ieee => self.special_code() | 1 << (self.mantissa_bits - 1),
            _ => self.special_code(),
        }
    }

    /// The code nearest to the `f32` of these bits, which has no sign, as if exponents had no end.
    #[inline(always)]
    const fn round(&self, magnitude: u32) -> u32 {
        let rebias = (F32_BIAS - self.bias) as u32;
        // Exponent and mantissa are one number; what is cut off rounds it up from a half on, at a
        // half if it is odd.
        let shift = F32_MANTISSA - self.mantissa_bits;
        let odd = magnitude >> shift & 1;
        let half = (1 << (shift - 1)) - 1;
        let normal =
            magnitude.wrapping_sub(rebias << F32_MANTISSA).wrapping_add(half + odd) >> shift;
        // Subnormal in this format: in a sum with this number the last bit of the mantissa is worth
        // as much as the last one here, and the addition rounds.
        let unit = F32_MANTISSA + 1 + rebias - self.mantissa_bits;
        let far = f32::from_bits(unit << F32_MANTISSA);
        let sum = f32::from_bits(magnitude) + far;
        let subnormal = sum.to_bits().wrapping_sub(far.to_bits());
        // With the exponents of f32 (BF16) its subnormal numbers are subnormal here, and nothing to
        // tell apart.
        let is_normal = rebias == 0 || magnitude >= (rebias + 1) << F32_MANTISSA;
        if is_normal { normal } else { subnormal }
    }
}

/// The code of `value`: where speed counts made for the format, elsewhere by code for all.
#[inline(always)]
pub(super) fn encode<F: Known>(value: f32, overflow: Overflow) -> u16 {
    if FAST { F::FORMAT.encode(value, overflow) } else { encode_any(&F::FORMAT, value, overflow) }
}

#[inline(never)]
fn encode_any(format: &Format, value: f32, overflow: Overflow) -> u16 {
    format.encode(value, overflow)
}

/// The power of two that a code of F8_E8M0 stands for; 255 is NaN.
const fn decode_e8m0(code: u8) -> f32 {
    f32::from_bits(match code {
        // 2⁻¹²⁷ is subnormal as f32.
        0 => 1 << (F32_MANTISSA - 1),
        u8::MAX => F32_NAN,
        _ => (code as u32) << F32_MANTISSA,
    })
}

/// The code of the power of two that is nearest to `value`, of two the greater one, as ml_dtypes and
/// PyTorch round: with no mantissa the bit in front of it is the one that would be odd. NaN for
/// what is not positive; the specification does not say.
pub(super) const fn encode_e8m0(value: f32, overflow: Overflow) -> u8 {
    const NAN: u8 = u8::MAX;
    const HALF: u32 = 1 << (F32_MANTISSA - 1);
    let bits = value.to_bits();
    if bits == 0 || bits > F32_INFINITY {
        return NAN;
    }
    let code = if bits < 1 << F32_MANTISSA {
        // Subnormal as f32, whose bits are linear: from 1.5 × 2⁻¹²⁷ on 2⁻¹²⁶ is nearer.
        if bits < HALF + HALF / 2 { 0 } else { 1 }
    } else {
        (bits + HALF) >> F32_MANTISSA
    };
    match overflow {
        Overflow::Saturate if code >= NAN as u32 => NAN - 1,
        _ => code as u8,
    }
}

/// The format of a dtype of 8 bits or fewer that has a sign.
const fn format_of(dtype: Dtype) -> &'static Format {
    match dtype {
        Dtype::F4 => &F4::FORMAT,
        Dtype::F6_E2M3 => &F6E2M3::FORMAT,
        Dtype::F6_E3M2 => &F6E3M2::FORMAT,
        Dtype::F8_E5M2 => &F8E5M2::FORMAT,
        Dtype::F8_E4M3FNUZ => &F8E4M3Fnuz::FORMAT,
        Dtype::F8_E5M2FNUZ => &F8E5M2Fnuz::FORMAT,
        _ => &F8E4M3::FORMAT,
    }
}

/// The value of a code of a dtype of 8 bits or fewer that stands for a float.
pub(super) const fn decode(dtype: Dtype, code: u8) -> f32 {
    match dtype {
        Dtype::F8_E8M0 => decode_e8m0(code),
        _ => format_of(dtype).decode(code),
    }
}
