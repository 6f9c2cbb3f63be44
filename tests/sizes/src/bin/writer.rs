//! Plans two tensors and some metadata, and writes the file into a buffer.
#![no_std]
#![no_main]

#[path = "../program.rs"]
mod program;

use core::hint::black_box;

#[cfg(not(feature = "stack"))]
use panic_never as _;
use safetensors_core::{Dtype, MetadataPair, TensorSpec, WriteOptions};

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut BUFFER: [u8; 256] = [0; 256];
    program::run(work, BUFFER);
    program::end()
}

#[inline(never)]
fn work(_: &[u8], buffer: &mut [u8; 256]) -> bool {
    let (bias, weight) = black_box((&[1, 2, 3], &[0, 1, 0, 2]));
    let mut tensors = [
        TensorSpec::new("bias", Dtype::U8, &[3]).with_data(bias),
        TensorSpec::new("weight", Dtype::I16, &[1, 2]).with_data(weight),
    ];
    let mut metadata = [MetadataPair::new("format", "pt")];
    match WriteOptions::new().plan(black_box(&mut tensors), black_box(Some(&mut metadata))) {
        Ok(plan) => black_box(plan.write_into(buffer)).is_ok(),
        Err(_) => false,
    }
}
