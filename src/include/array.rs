//! Arrays whose type says what a tensor must be.

use bytemuck::Pod;
use half::{bf16, f16};

use crate::{Dtype, raw};

/// A number, or an array of such arrays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a number nor an array of them",
    label = "no tensor is a `{Self}`"
)]
pub trait Array: Pod {
    /// The numbers in it.
    type Element: Pod;
    /// Their dtype.
    const DTYPE: Dtype;
    /// The lengths.
    const DIMS: Dims;
}

/// The lengths of nested arrays.
#[derive(Clone, Copy, Debug)]
pub struct Dims(Option<&'static (u64, Dims)>);

impl Dims {
    /// That of the outermost array, and those inside of it.
    pub(super) const fn outermost(self) -> Option<(u64, Self)> {
        match self.0 {
            Some(dims) => Some(*dims),
            None => None,
        }
    }
}

impl<T: Array, const N: usize> Array for [T; N] {
    type Element = T::Element;
    const DTYPE: Dtype = T::DTYPE;
    const DIMS: Dims = Dims(Some(&(raw::wide(N), T::DIMS)));
}

macro_rules! numbers {
    ($($type:ty = $dtype:ident,)*) => {
        $(
            impl Array for $type {
                type Element = Self;
                const DTYPE: Dtype = Dtype::$dtype;
                const DIMS: Dims = Dims(None);
            }
        )*
    };
}

numbers! {
    u8 = U8,
    i8 = I8,
    i16 = I16,
    u16 = U16,
    f16 = F16,
    bf16 = BF16,
    i32 = I32,
    u32 = U32,
    f32 = F32,
    f64 = F64,
    i64 = I64,
    u64 = U64,
}
