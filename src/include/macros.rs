//! The macro itself.

/// Includes a model: its bytes and its index lie in flash, checked by the compiler, and nothing is
/// parsed when the program runs.
///
/// ```
/// # #[cfg(target_endian = "little")] {
/// use safetensors_core::include_safetensors;
///
/// include_safetensors! {
///     /// Handwritten digits, 64-32-10.
///     pub static DIGITS = "../../examples/digits/digits.safetensors";
///
///     /// Borrowed where they lie in the file.
///     static FC1_WEIGHT: &[[f32; 64]; 32] = "fc1.weight";
///     static FC1_BIAS: &[f32] = "fc1.bias";
///
///     /// A copy, converted to `f32` if the tensor is something else.
///     static FC2_WEIGHT: [[f32; 32]; 10] = "fc2.weight";
/// }
///
/// // A `SafeTensors<'static, 'static>` as any other.
/// assert_eq!(DIGITS.metadata().unwrap().value("accuracy").unwrap(), "0.9733");
/// assert_eq!(DIGITS.tensor("fc2.bias").unwrap().shape(), [10]);
///
/// assert_eq!(FC1_WEIGHT[31][63], 0.36359265);
/// assert_eq!(FC1_BIAS.len(), 32);
/// # assert_eq!(FC2_WEIGHT.as_flattened().len(), 320);
/// # }
/// ```
///
/// # The file
///
/// `static NAME = PATH;` makes a `static NAME: SafeTensors<'static, 'static>`. The path is that of
/// [`include_bytes!`], relative to the source file, and may be a `concat!` with `env!`. Options follow
/// the path, in this order:
///
/// ```
/// # use safetensors_core::{Options, include_safetensors};
/// include_safetensors! {
///     static DIGITS = "../../examples/digits/digits.safetensors",
///         align = 64,                               // of the file's first byte; 16 by default
///         # link_section = ".rodata.digits",
///         options = Options::new().allow_gaps(true);
/// }
/// # assert_eq!(DIGITS.data().as_ptr().addr() % 8, 0);
/// ```
///
/// `align` is a power of two. With `link_section = ".model"`, between the two, the bytes of
/// the file go to a section of that name, so that a linker script can give them a place of their own.
/// What is not used, tensors by name or the file itself, is not linked. A `#[cfg(…)]` on the file does not
/// reach the tensors behind it, which take their own.
///
/// # The tensors
///
/// `static NAME: TYPE = TENSOR;` takes a tensor out of the file before it. For more than a hundred in one
/// call the crate needs a higher `recursion_limit`, as the compiler then says.
///
/// | type | which tensor | what it is |
/// |---|---|---|
/// | `&[T]` | any shape | the elements where they lie, row-major |
/// | `&[[[T; C]; B]; A]` | shape `[A, B, C]` | the same |
/// | `&[[[T; C]; B]]` | shape `[_, B, C]` | the same |
/// | `[[[T; C]; B]; A]` | shape `[A, B, C]` | a copy; the file is not linked for its sake |
///
/// `T` is an integer of 8 to 64 bits, `f32`, `f64`, or half's `f16` or `bf16`, and the elements must be of
/// its dtype. A copy as `f32` is converted from any real dtype, as by
/// [`Elements::value`](crate::Elements::value). Borrowing is refused on big-endian machines. The `&` of a
/// reference must be written out: the macro does not see through an alias.
///
/// # Errors
///
/// The build stops where [`SafeTensors::parse`](crate::SafeTensors::parse) would find a fault, and for a
/// tensor that is missing, of another dtype or shape, or not aligned for its type:
///
/// ```compile_fail
/// # use safetensors_core::include_safetensors;
/// include_safetensors! {
///     static DIGITS = "../../examples/digits/digits.safetensors";
///     // error: tensor "fc1.weight" has the shape [32, 64], not [64, 32]
///     static FC1_WEIGHT: &[[f32; 32]; 64] = "fc1.weight";
/// }
/// ```
#[macro_export]
macro_rules! include_safetensors {
    // Items that the macro makes are seen by the expressions that it is given, so they have names that
    // nobody else has.
    (@struct $words:ident) => {
        $crate::include_safetensors! { @struct $words 16 }
    };
    (@struct $words:ident $align:literal) => {
        #[repr(C, align($align))]
        struct __Words([u64; $words]);
    };

    (@options) => { $crate::Options::new() };
    (@options $options:expr) => { $options };

    // The tensors, one after the other.
    (@tensors $model:ident) => {};
    // Another file.
    (@tensors $model:ident $(#[$meta:meta])* $vis:vis static $next:ident = $($rest:tt)*) => {
        $crate::include_safetensors! { $(#[$meta])* $vis static $next = $($rest)* }
    };
    (
        @tensors $model:ident
        $(#[$meta:meta])* $vis:vis static $name:ident:
            & $($life:lifetime)? [$row:ty] = $tensor:expr;
        $($rest:tt)*
    ) => {
        #[allow(long_running_const_eval)]
        $(#[$meta])*
        $vis static $name: &[$row] = {
            const __ROWS: usize = $model::INCLUDED.rows::<$row>($tensor);
            const __COUNT: usize = $crate::__include::count::<[$row; __ROWS]>();
            $model::INCLUDED.elements::<[$row; __ROWS], __COUNT>($tensor)
        };
        $crate::include_safetensors! { @tensors $model $($rest)* }
    };
    (
        @tensors $model:ident
        $(#[$meta:meta])* $vis:vis static $name:ident:
            & $($life:lifetime)? $array:ty = $tensor:expr;
        $($rest:tt)*
    ) => {
        #[allow(long_running_const_eval)]
        $(#[$meta])*
        $vis static $name: &$array = {
            const __COUNT: usize = $crate::__include::count::<$array>();
            $model::INCLUDED.array::<$array, __COUNT>($tensor)
        };
        $crate::include_safetensors! { @tensors $model $($rest)* }
    };
    (
        @tensors $model:ident
        $(#[$meta:meta])* $vis:vis static $name:ident: $array:ty = $tensor:expr;
        $($rest:tt)*
    ) => {
        #[allow(long_running_const_eval)]
        $(#[$meta])*
        $vis static $name: $array = {
            const __SIZE: usize = $crate::__include::size::<$array>();
            $model::INCLUDED.copy::<$array, __SIZE>($tensor)
        };
        $crate::include_safetensors! { @tensors $model $($rest)* }
    };

    // The file. What belongs to it hangs on a type of its name, as nothing else has a place that the
    // tensors find.
    (
        $(#[$meta:meta])* $vis:vis static $model:ident = $path:expr
        $(, align = $align:literal)?
        $(, link_section = $section:literal)?
        $(, options = $options:expr)?
        $(,)?;
        $($tensors:tt)*
    ) => {
        // With its attributes, of which one may be a `cfg`.
        $(#[$meta])*
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        $vis enum $model {}

        $(#[$meta])*
        impl $model {
            #[allow(long_running_const_eval)]
            const INCLUDED: $crate::__include::Included = {
                const __FILE: &[u8] = ::core::include_bytes!($path);
                const __OPTIONS: $crate::Options =
                    $crate::include_safetensors!(@options $($options)?);
                const __LEN: usize = __FILE.len().div_ceil(8);
                const __N: usize = $crate::__include::slots_needed($path, __OPTIONS, __FILE);

                $crate::include_safetensors! { @struct __LEN $($align)? }

                $(#[unsafe(link_section = $section)])?
                static __WORDS: __Words =
                    __Words($crate::__include::words::<{ 8 * __LEN }, __LEN>(__FILE));
                static __SLOTS: [$crate::Slot; __N] =
                    $crate::__include::slots($path, __OPTIONS, __FILE);

                let file = $crate::__include::bytes(&__WORDS.0, __FILE.len());
                let model = $crate::SafeTensors::with_slots(file, &__SLOTS);
                $crate::__include::Included { path: $path, words: &__WORDS.0, model }
            };
        }

        #[allow(dead_code, long_running_const_eval)]
        $(#[$meta])*
        $vis static $model: $crate::SafeTensors<'static, 'static> = $model::INCLUDED.model;

        $crate::include_safetensors! { @tensors $model $($tensors)* }
    };

    ($($other:tt)*) => {
        ::core::compile_error!(
            "expected `static NAME = PATH, align = …, link_section = …, options = …;` with the options in \
             this order, and behind it `static NAME: TYPE = TENSOR;`"
        );
    };
}
