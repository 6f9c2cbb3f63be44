//! The Rust types that elements are read as and written from.

use core::fmt::Debug;

use byteorder::{ByteOrder, LittleEndian};
use half::slice::HalfBitsSliceExt;
use half::{bf16, f16};

use crate::Dtype;

/// A type whose values are the elements of one dtype: integers, floats, half's [`struct@f16`] and [`bf16`],
/// `[f32; 2]` for complex numbers (the real part first), and `bool`.
///
/// The floats of 8 bits and fewer have no such type: [`Elements`](crate::Elements) has their values
/// as `f32` and their codes as bytes.
///
/// The trait is sealed.
pub trait Element: Copy + Debug + PartialEq + sealed::Codec {
    /// The dtype of such elements.
    const DTYPE: Dtype;
}

pub(super) mod sealed {
    /// How elements stand in bytes.
    pub trait Codec: Sized + 'static {
        /// The element in `bytes`, which are as long as the type.
        fn decode(bytes: &[u8]) -> Self;

        /// Writes the element into `bytes`, which are as long as the type.
        fn encode(self, bytes: &mut [u8]);

        /// The elements where they lie, if address and length admit that. Whether the order of the
        /// bytes does is not looked at.
        fn cast(bytes: &[u8]) -> Option<&[Self]>;

        /// The first of these elements that the type does not admit.
        fn invalid(_bytes: &[u8]) -> Option<usize> {
            None
        }
    }
}

macro_rules! elements {
    ($($type:ty = $dtype:ident: $decode:expr, $encode:expr, $cast:expr;)*) => {
        $(
            impl Element for $type {
                const DTYPE: Dtype = Dtype::$dtype;
            }

            impl sealed::Codec for $type {
                #[inline(always)]
                fn decode(bytes: &[u8]) -> Self {
                    $decode(bytes)
                }

                #[inline(always)]
                fn encode(self, bytes: &mut [u8]) {
                    $encode(bytes, self);
                }

                fn cast(bytes: &[u8]) -> Option<&[Self]> {
                    $cast(bytes).ok()
                }
            }
        )*
    };
}

type Le = LittleEndian;

elements! {
    i16 = I16: Le::read_i16, Le::write_i16, bytemuck::try_cast_slice;
    u16 = U16: Le::read_u16, Le::write_u16, bytemuck::try_cast_slice;
    i32 = I32: Le::read_i32, Le::write_i32, bytemuck::try_cast_slice;
    u32 = U32: Le::read_u32, Le::write_u32, bytemuck::try_cast_slice;
    i64 = I64: Le::read_i64, Le::write_i64, bytemuck::try_cast_slice;
    u64 = U64: Le::read_u64, Le::write_u64, bytemuck::try_cast_slice;
    f32 = F32: Le::read_f32, Le::write_f32, bytemuck::try_cast_slice;
    f64 = F64: Le::read_f64, Le::write_f64, bytemuck::try_cast_slice;

    u8 = U8: |bytes: &[u8]| first(bytes), put, bytemuck::try_cast_slice;
    i8 = I8: |bytes: &[u8]| first(bytes).cast_signed(),
        |bytes: &mut [u8], value: i8| put(bytes, value.cast_unsigned()),
        bytemuck::try_cast_slice;

    f16 = F16: |bytes: &[u8]| f16::from_bits(Le::read_u16(bytes)),
        |bytes: &mut [u8], value: f16| Le::write_u16(bytes, value.to_bits()),
        |bytes| bytemuck::try_cast_slice::<u8, u16>(bytes).map(HalfBitsSliceExt::reinterpret_cast);
    bf16 = BF16: |bytes: &[u8]| bf16::from_bits(Le::read_u16(bytes)),
        |bytes: &mut [u8], value: bf16| Le::write_u16(bytes, value.to_bits()),
        |bytes| bytemuck::try_cast_slice::<u8, u16>(bytes).map(HalfBitsSliceExt::reinterpret_cast);

    [f32; 2] = C64: read_pair, write_pair, bytemuck::try_cast_slice;
}

impl Element for bool {
    const DTYPE: Dtype = Dtype::BOOL;
}

impl sealed::Codec for bool {
    /// Whatever is not zero is true, as in numpy and PyTorch.
    #[inline(always)]
    fn decode(bytes: &[u8]) -> Self {
        first(bytes) != 0
    }

    #[inline(always)]
    fn encode(self, bytes: &mut [u8]) {
        put(bytes, u8::from(self));
    }

    fn cast(bytes: &[u8]) -> Option<&[Self]> {
        bytemuck::checked::try_cast_slice(bytes).ok()
    }

    fn invalid(bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|byte| *byte > 1)
    }
}

#[inline(always)]
fn first(bytes: &[u8]) -> u8 {
    bytes.first().copied().unwrap_or(0)
}

#[inline(always)]
fn put(bytes: &mut [u8], value: u8) {
    if let Some(byte) = bytes.first_mut() {
        *byte = value;
    }
}

#[inline(always)]
fn read_pair(bytes: &[u8]) -> [f32; 2] {
    let mut pair = [0.0; 2];
    for (to, bytes) in pair.iter_mut().zip(bytes.chunks_exact(size_of::<f32>())) {
        *to = Le::read_f32(bytes);
    }
    pair
}

#[inline(always)]
fn write_pair(bytes: &mut [u8], pair: [f32; 2]) {
    for (bytes, from) in bytes.chunks_exact_mut(size_of::<f32>()).zip(pair) {
        Le::write_f32(bytes, from);
    }
}
