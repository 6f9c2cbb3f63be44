//! `include_safetensors!`: what comes out of it. What it refuses is in tests/include.

use half::{bf16, f16};
use safetensors_core::{Dtype, Element, Options, SafeTensors, include_safetensors};

include_safetensors! {
    /// Documented and public, as any static.
    pub static NUMBERS = "data/include/numbers.safetensors";

    static F64: [[f64; 3]; 2] = "f64";
    static I64: [[i64; 3]; 2] = "i64";
    static U64: [[u64; 3]; 2] = "u64";
    static F32: [[f32; 3]; 2] = "f32";
    static I32: [[i32; 3]; 2] = "i32";
    static U32: [[u32; 3]; 2] = "u32";
    static F16: [[f16; 3]; 2] = "f16";
    static BF16: [[half::bf16; 3]; 2] = "bf16";
    static I16: [[i16; 3]; 2] = "i16";
    static U16: [[u16; 3]; 2] = "u16";
    static I8: [[i8; 3]; 2] = "i8";
    static U8: [[u8; 3]; 2] = "u8";

    static SCALAR: u8 = "scalar";
    static EMPTY: [[f32; 3]; 0] = "empty";

    static FROM_F64: [[f32; 3]; 2] = "f64";
    static FROM_F16: [[f32; 3]; 2] = "f16";
    static FROM_BF16: [[f32; 3]; 2] = "bf16";
    static FROM_F8: [[f32; 3]; 2] = "f8_e4m3";
    static FROM_F4: [[f32; 3]; 2] = "f4";
    static FROM_I64: [[f32; 3]; 2] = "i64";
    static FROM_BOOL: [[f32; 3]; 2] = "bool";
    static FROM_SCALAR: f32 = "scalar";
}

const REAL: [[f32; 3]; 2] = [[0.5, -1.0, 2.0], [3.0, -4.0, 1.5]];

#[test]
fn arrays_hold_the_numbers() {
    assert_eq!(F32, REAL);
    assert_eq!(F64, REAL.map(|row| row.map(f64::from)));
    assert_eq!(F16, REAL.map(|row| row.map(f16::from_f32)));
    assert_eq!(BF16, REAL.map(|row| row.map(bf16::from_f32)));
    assert_eq!(I64, [[1, -2, 3], [4, -5, 100]]);
    assert_eq!(I32, [[1, -2, 3], [4, -5, 100]]);
    assert_eq!(I16, [[1, -2, 3], [4, -5, 100]]);
    assert_eq!(I8, [[1, -2, 3], [4, -5, 100]]);
    assert_eq!(U64, [[1, 2, 3], [4, 5, 200]]);
    assert_eq!(U32, [[1, 2, 3], [4, 5, 200]]);
    assert_eq!(U16, [[1, 2, 3], [4, 5, 200]]);
    assert_eq!(U8, [[1, 2, 3], [4, 5, 200]]);
    assert_eq!(SCALAR, 7);
    assert!(EMPTY.is_empty());
}

#[test]
fn arrays_of_f32_are_converted() {
    assert_eq!(FROM_F64, REAL);
    assert_eq!(FROM_F16, REAL);
    assert_eq!(FROM_BF16, REAL);
    assert_eq!(FROM_F8, REAL);
    assert_eq!(FROM_F4, REAL);
    assert_eq!(FROM_I64, [[1.0, -2.0, 3.0], [4.0, -5.0, 100.0]]);
    assert_eq!(FROM_BOOL, [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]);
    assert_eq!(FROM_SCALAR, 7.0);
}

#[test]
fn the_model_is_that_of_a_parse() {
    let file = include_bytes!("data/include/numbers.safetensors");
    let mut slots = [safetensors_core::Slot::EMPTY; 18];
    let parsed = SafeTensors::parse(file, &mut slots).unwrap();
    assert_eq!(NUMBERS.len(), parsed.len());
    assert!(NUMBERS.iter().map(|view| view.name()).eq(parsed.names()));
    for view in &parsed {
        let included = NUMBERS.named(view.name());
        assert_eq!((included.dtype(), included.data()), (view.dtype(), view.data()));
        assert!(included.shape().iter().eq(&view.shape()));
    }
    assert_eq!(NUMBERS.data(), parsed.data());
}

trait ByName {
    fn named(&self, name: safetensors_core::Text<'_>) -> safetensors_core::TensorView<'_>;
}

impl ByName for SafeTensors<'static, 'static> {
    fn named(&self, name: safetensors_core::Text<'_>) -> safetensors_core::TensorView<'_> {
        self.tensor(name.as_str().unwrap()).unwrap()
    }
}

/// Borrowing needs a machine that is little-endian.
#[cfg(target_endian = "little")]
mod borrowed {
    use super::*;

    include_safetensors! {
        static NUMBERS = "data/include/numbers.safetensors", align = 64;

        static F64: &[[f64; 3]; 2] = "f64";
        static I64: &'static [[i64; 3]] = "i64";
        static U64: &[u64] = "u64";
        static F32: &[[f32; 3]; 2] = "f32";
        static ROWS: &[[f32; 3]] = "f32";
        static FLAT: &[f32] = "f32";
        static I32: &[i32] = "i32";
        static U32: &[u32] = "u32";
        static F16: &[[half::f16; 3]; 2] = "f16";
        static BF16: &[half::bf16] = "bf16";
        static I16: &[i16] = "i16";
        static U16: &[u16] = "u16";
        static I8: &[i8] = "i8";
        static U8: &[u8] = "u8";
        static SCALAR: &u8 = "scalar";
        static EMPTY: &[[f32; 3]] = "empty";
    }

    #[test]
    fn slices_and_arrays_lie_in_the_file() {
        fn check<T: Element>(numbers: &[T], name: &str) {
            let view = NUMBERS.tensor(name).unwrap();
            assert_eq!(numbers, view.elements().as_slice::<T>().unwrap());
            assert_eq!(numbers.as_ptr().cast(), view.data().as_ptr());
        }
        check(F64.as_flattened(), "f64");
        check(I64.as_flattened(), "i64");
        check(U64, "u64");
        check(F32.as_flattened(), "f32");
        check(ROWS.as_flattened(), "f32");
        check(FLAT, "f32");
        check(I32, "i32");
        check(U32, "u32");
        check(F16.as_flattened(), "f16");
        check(BF16, "bf16");
        check(I16, "i16");
        check(U16, "u16");
        check(I8, "i8");
        check(U8, "u8");
        check(std::slice::from_ref(SCALAR), "scalar");
        assert_eq!(EMPTY.len(), 0);
        assert_eq!((F32, FLAT.len()), (&REAL, 6));
    }
}

include_safetensors! {
    static ALIGNED = "data/include/numbers.safetensors", align = 4096;
    static SIXTEEN = "data/include/numbers.safetensors";
}

/// The address of the first byte of a file.
fn address(model: &SafeTensors<'_, '_>) -> usize {
    let first = model.by_offset(0).unwrap();
    first.data().as_ptr().addr() - usize::try_from(first.info().byte_range().start).unwrap()
}

#[test]
fn files_are_aligned() {
    assert_eq!(address(&ALIGNED) % 4096, 0);
    assert_eq!(address(&SIXTEEN) % 16, 0);
    assert_eq!(address(&NUMBERS) % 16, 0);
}

include_safetensors! {
    static ODD = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/include/odd.safetensors");
    static BY_VALUE: [[f32; 3]; 2] = "f32";
}

#[test]
fn arrays_need_no_alignment() {
    assert_eq!(ODD.tensor("f32").unwrap().info().byte_range().start % 4, 1);
    assert_eq!(BY_VALUE, REAL);
}

include_safetensors! {
    static GAPS = "data/cases/reject/layout--hole_mid_1_byte.safetensors",
        options = Options::new().allow_gaps(true);
}

#[test]
fn options_are_those_of_a_parse() {
    assert_eq!(GAPS.names().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_function_can_include() {
    include_safetensors! {
        static INSIDE = "data/include/numbers.safetensors";
        static NUMBER: u8 = "scalar";
    }
    assert_eq!((INSIDE.tensor("scalar").unwrap().dtype(), NUMBER), (Dtype::U8, 7));
}

/// The macro's own names do not meet those of its user.
mod names {
    use safetensors_core::Options;

    const ROWS: usize = 2;
    const COUNT: usize = 3;
    const N: u32 = 100_000;
    const LEN: u32 = N;
    const OPTIONS: Options = Options::new().header_limit(LEN);
    #[allow(dead_code)]
    fn size_of() {}

    safetensors_core::include_safetensors! {
        static NUMBERS = "data/include/numbers.safetensors", options = OPTIONS;
        static ARRAY: [[f32; COUNT]; ROWS] = "f32";
        static SCALAR: u8 = "scalar";
    }

    #[cfg(target_endian = "little")]
    safetensors_core::include_safetensors! {
        static BORROWED = "data/include/numbers.safetensors";
        static SLICE: &[[f32; COUNT]] = "f32";
        static WHOLE: &[[f32; COUNT]; ROWS] = "f32";
    }

    #[test]
    fn are_apart() {
        assert_eq!((ARRAY, SCALAR, NUMBERS.len()), (super::REAL, 7, 18));
        #[cfg(target_endian = "little")]
        assert_eq!((SLICE, WHOLE, BORROWED.len()), (&super::REAL[..], &super::REAL, 18));
    }
}

include_safetensors! {
    #[cfg(not(test))]
    static CHOSEN = "no such file";
    #[cfg(test)]
    static CHOSEN = "data/include/numbers.safetensors";
}

#[test]
fn a_cfg_chooses_a_file() {
    assert_eq!(CHOSEN.len(), 18);
}

#[cfg(target_os = "linux")]
mod section {
    safetensors_core::include_safetensors! {
        pub static PLACED = "data/include/numbers.safetensors",
            align = 32, link_section = ".model";
    }

    /// The program that runs has a section of that name.
    #[test]
    fn bytes_lie_in_the_section() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let name = ["\0.mo", "del\0"].concat(); // not in one piece in this program
        assert!(program.windows(8).any(|bytes| bytes == name.as_bytes()));
        assert_eq!(super::address(&PLACED) % 32, 0);
    }
}
