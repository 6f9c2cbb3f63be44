//! A model that the compiler has checked, and a tensor of it.
#![no_std]
#![no_main]

#[path = "../program.rs"]
mod program;

use core::hint::black_box;

#[cfg(not(feature = "stack"))]
use panic_never as _;

safetensors_core::include_safetensors! {
    static DIGITS = "../../../../examples/digits/digits.safetensors";
    static FC1_WEIGHT: &[[f32; 64]; 32] = "fc1.weight";
}

#[cortex_m_rt::entry]
fn main() -> ! {
    program::run(work, &mut ());
    program::end()
}

#[inline(never)]
fn work(_: &[u8], _: &mut ()) -> bool {
    black_box(FC1_WEIGHT)[31][63] == 0.36359265
}
