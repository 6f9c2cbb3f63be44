//! The Rust types of elements.

use half::{bf16, f16};
use safetensors_core::{Dtype, Element, ErrorKind};

/// A type of elements, with what the checks need of it.
pub(crate) trait Typed: Element {
    /// A value that is seldom read.
    const BLANK: Self;

    /// What `from_le_bytes` makes of the first bytes.
    fn read(bytes: &[u8]) -> Self;

    /// Different for every value, and for every spelling of NaN.
    fn bits(self) -> u64;
}

macro_rules! numbers {
    ($($type:ty: $blank:expr, $bits:expr;)*) => {
        $(
            impl Typed for $type {
                const BLANK: Self = $blank;

                fn read(bytes: &[u8]) -> Self {
                    Self::from_le_bytes(bytes[..size_of::<Self>()].try_into().unwrap())
                }

                fn bits(self) -> u64 {
                    u64::from($bits(self))
                }
            }
        )*
    };
}

numbers! {
    u8: 0xa5, u8::from;
    i8: 0x5a, i8::cast_unsigned;
    u16: 0xa5c3, u16::from;
    i16: 0x5ac3, i16::cast_unsigned;
    u32: 0xa5c3_0f69, u32::from;
    i32: 0x5ac3_0f69, i32::cast_unsigned;
    u64: 0xa5c3_0f69_1234_5678, u64::from;
    i64: 0x5ac3_0f69_1234_5678, i64::cast_unsigned;
    f32: 12345.0, f32::to_bits;
    f64: 12345.0, f64::to_bits;
    f16: f16::from_bits(0x5ac3), f16::to_bits;
    bf16: bf16::from_bits(0x5ac3), bf16::to_bits;
}

impl Typed for [f32; 2] {
    const BLANK: Self = [12345.0, -12345.0];

    fn read(bytes: &[u8]) -> Self {
        [f32::read(bytes), f32::read(&bytes[4..])]
    }

    fn bits(self) -> u64 {
        self[0].bits() | self[1].bits() << 32
    }
}

impl Typed for bool {
    const BLANK: Self = true;

    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }

    fn bits(self) -> u64 {
        u64::from(self)
    }
}

/// The bits of all values in `bytes`.
pub(crate) fn all<T: Typed>(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(size_of::<T>()).map(|bytes| T::read(bytes).bits()).collect()
}

/// The error if elements of `dtype` are asked for as something else, and its number.
pub(crate) fn mismatch(dtype: Dtype) -> (ErrorKind, u64) {
    let number = Dtype::ALL.iter().position(|other| *other == dtype).unwrap();
    (ErrorKind::DtypeMismatch, number as u64)
}

pub(crate) trait Check {
    fn check<T: Typed>(&self);
}

pub(crate) fn each_type(check: &impl Check) {
    check.check::<u8>();
    check.check::<i8>();
    check.check::<u16>();
    check.check::<i16>();
    check.check::<u32>();
    check.check::<i32>();
    check.check::<u64>();
    check.check::<i64>();
    check.check::<f32>();
    check.check::<f64>();
    check.check::<f16>();
    check.check::<bf16>();
    check.check::<[f32; 2]>();
    check.check::<bool>();
}
