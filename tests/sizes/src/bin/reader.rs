//! The usual program: parse a model, look up a tensor, take its numbers.
#![no_std]
#![no_main]

#[path = "../program.rs"]
mod program;

use core::hint::black_box;

#[cfg(not(feature = "stack"))]
use panic_never as _;
use safetensors_core::{SafeTensors, Slot};

#[cortex_m_rt::entry]
fn main() -> ! {
    // In a static (`entry` sees to that), so that no code clears them.
    static mut SLOTS: [Slot; 8] = [Slot::EMPTY; 8];
    program::run(work, SLOTS);
    program::end()
}

#[inline(never)]
fn work(file: &[u8], slots: &mut [Slot; 8]) -> bool {
    if let Ok(model) = SafeTensors::parse(file, slots)
        && let Some(weight) = model.tensor(black_box("fc1.weight"))
    {
        black_box((weight.dtype(), weight.shape().dim(0)));
        return black_box(weight.elements().as_slice::<f32>()).is_ok();
    }
    false
}
