//! The work of `compiled` without the crate: where the tensor lies is written down, and believed.
#![no_std]
#![no_main]

#[path = "../program.rs"]
mod program;

use core::hint::black_box;

#[cfg(not(feature = "stack"))]
use panic_never as _;

#[repr(align(16))]
struct Aligned<T>(T);

static DIGITS: Aligned<[u8; 10_248]> =
    Aligned(*include_bytes!("../../../../examples/digits/digits.safetensors"));

// SAFETY: 8192 bytes from there on are in the file, and aligned.
static FC1_WEIGHT: &[[f32; 64]; 32] = unsafe { &*DIGITS.0.as_ptr().add(736).cast() };

#[cortex_m_rt::entry]
fn main() -> ! {
    program::run(work, &mut ());
    program::end()
}

#[inline(never)]
fn work(_: &[u8], _: &mut ()) -> bool {
    black_box(FC1_WEIGHT)[31][63] == 0.36359265
}
