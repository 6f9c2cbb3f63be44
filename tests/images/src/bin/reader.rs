//! The usual program: parse a model, look up a tensor, take its numbers. Its size is measured, without
//! a model, which it would have in flash anyway.
#![no_std]
#![no_main]

use core::hint::black_box;

use panic_never as _;
use safetensors_core::{SafeTensors, Slot};

#[cortex_m_rt::entry]
fn main() -> ! {
    // In a static (`entry` sees to that), so that no code clears them.
    static mut SLOTS: [Slot; 8] = [Slot::EMPTY; 8];
    if let Ok(model) = SafeTensors::parse(black_box(&[]), SLOTS)
        && let Some(weight) = model.tensor(black_box("fc1.weight"))
    {
        black_box((weight.dtype(), weight.shape().dim(0)));
        let _ = black_box(weight.elements().as_slice::<f32>());
    }
    loop {
        core::hint::spin_loop();
    }
}
