//! Element types: one table of names and widths, read in both directions.

use core::fmt;

use crate::raw;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $bits:literal,)*) => {
        /// The type of a tensor's elements.
        ///
        /// The variants, their names, their widths and their order (which is by alignment, and by
        /// which the writer sorts) are those of the reference implementation, version 0.8.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        #[repr(u8)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        pub enum Dtype {
            $($(#[$doc])* $name,)*
        }

        impl Dtype {
            /// Every dtype, in ascending order.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in a header.
            ///
            /// ```
            /// # use safetensors_core::Dtype;
            /// assert_eq!(Dtype::BF16.name(), "BF16");
            /// ```
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// The width of one element, in bits. Elements narrower than a byte are packed.
            ///
            /// ```
            /// # use safetensors_core::Dtype;
            /// assert_eq!(Dtype::F6_E2M3.bitsize(), 6);
            /// ```
            #[must_use]
            pub const fn bitsize(self) -> usize {
                const BITS: &[u8] = &[$($bits,)*];
                raw::small(raw::byte(BITS, raw::small(self.number())))
            }

            #[allow(clippy::as_conversions)]
            pub(crate) const fn number(self) -> u8 {
                self as u8
            }
        }
    };
}

dtypes! {
    /// Boolean, one byte each.
    BOOL = 8,
    /// 4-bit float E2M1 of the
    /// [OCP microscaling formats](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf).
    F4 = 4,
    /// 6-bit float, 2 exponent and 3 mantissa bits, of the OCP microscaling formats.
    F6_E2M3 = 6,
    /// 6-bit float, 3 exponent and 2 mantissa bits, of the OCP microscaling formats.
    F6_E3M2 = 6,
    /// Unsigned 8-bit integer.
    U8 = 8,
    /// Signed 8-bit integer.
    I8 = 8,
    /// 8-bit float, 5 exponent and 2 mantissa bits ([FP8 formats](https://arxiv.org/abs/2209.05433)).
    F8_E5M2 = 8,
    /// 8-bit float, 4 exponent and 3 mantissa bits, without infinities
    /// ([FP8 formats](https://arxiv.org/abs/2209.05433)).
    F8_E4M3 = 8,
    /// 8-bit power of two, a scale of the OCP microscaling formats.
    F8_E8M0 = 8,
    /// 8-bit float E4M3 without infinities and negative zero
    /// ([8-bit numerical formats](https://arxiv.org/abs/2206.02915)).
    F8_E4M3FNUZ = 8,
    /// 8-bit float E5M2 without infinities and negative zero
    /// ([8-bit numerical formats](https://arxiv.org/abs/2206.02915)).
    F8_E5M2FNUZ = 8,
    /// Signed 16-bit integer.
    I16 = 16,
    /// Unsigned 16-bit integer.
    U16 = 16,
    /// IEEE 754 half-precision float.
    F16 = 16,
    /// bfloat16: the upper half of an F32.
    BF16 = 16,
    /// Signed 32-bit integer.
    I32 = 32,
    /// Unsigned 32-bit integer.
    U32 = 32,
    /// IEEE 754 single-precision float.
    F32 = 32,
    /// Complex number: real and imaginary part as F32.
    C64 = 64,
    /// IEEE 754 double-precision float.
    F64 = 64,
    /// Signed 64-bit integer.
    I64 = 64,
    /// Unsigned 64-bit integer.
    U64 = 64,
}

impl Dtype {
    /// The dtype of that name, spelled exactly as in a header.
    ///
    /// ```
    /// # use safetensors_core::Dtype;
    /// assert_eq!(Dtype::from_name("F8_E4M3"), Some(Dtype::F8_E4M3));
    /// assert_eq!(Dtype::from_name("f32"), None);
    /// ```
    #[must_use]
    pub const fn from_name(name: &str) -> Option<Self> {
        Self::from_bytes(name.as_bytes())
    }

    /// The one with this [number](Self::number).
    pub(crate) const fn numbered(number: u64) -> Option<Self> {
        let Some(number) = raw::size(number) else { return None };
        match Self::ALL.split_at_checked(number) {
            Some((_, [dtype, ..])) => Some(*dtype),
            _ => None,
        }
    }

    /// [`Dtype::bitsize`] in the arithmetic of `layout`.
    pub(crate) const fn bits(self) -> u64 {
        raw::wide(self.bitsize())
    }

    pub(crate) const fn from_bytes(name: &[u8]) -> Option<Self> {
        match BY_HASH.split_at_checked(hash(name)) {
            Some((_, [dtype, ..])) if raw::equal(dtype.name().as_bytes(), name) => Some(*dtype),
            _ => None,
        }
    }
}

/// The only dtype that may have a name, at the hash of that name.
const BY_HASH: [Dtype; 64] = {
    let mut table = [Dtype::BOOL; 64];
    let mut rest = Dtype::ALL;
    while let Some((dtype, others)) = rest.split_first() {
        let (_, places) = table.split_at_mut(hash(dtype.name().as_bytes()));
        if let Some((place, _)) = places.split_first_mut() {
            *place = *dtype;
        }
        rest = others;
    }
    table
};

/// A hash below 64, different for every name. Names of one length differ in the first two
/// characters or, as F8_E4M3 and F8_E5M2 do, in the fifth.
#[inline(always)]
const fn hash(name: &[u8]) -> usize {
    let (first, second, fifth) = (raw::byte(name, 0), raw::byte(name, 1), raw::byte(name, 4));
    let sum = first
        .wrapping_add(second.wrapping_add(fifth).wrapping_mul(7))
        .wrapping_add(raw::low_byte(name.len()).wrapping_mul(5));
    raw::small(sum & 63)
}

// No two names share a hash: each is found again.
const _: () = {
    let mut rest = Dtype::ALL;
    while let Some((dtype, others)) = rest.split_first() {
        assert!(Dtype::from_name(dtype.name()).is_some());
        rest = others;
    }
};

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
