//! The smallest use: parse a model, look up a tensor, take its bytes. Its size is measured.
#![no_std]
#![no_main]

use core::hint::black_box;

use panic_never as _;
use safetensors_core::{SafeTensors, Slot};

static MODEL: &[u8] = include_bytes!("../../../../examples/digits/digits.safetensors");
/// Static, so that the size of the code does not depend on how they are cleared.
static mut SLOTS: [Slot; 8] = [Slot::EMPTY; 8];

#[cortex_m_rt::entry]
fn main() -> ! {
    // SAFETY: `main` runs once and is the only one to name the slots.
    let slots = unsafe { &mut *&raw mut SLOTS };
    if let Ok(model) = SafeTensors::parse(black_box(MODEL), slots)
        && let Some(weight) = model.tensor(black_box("fc1.weight"))
    {
        black_box((weight.dtype(), weight.shape().dim(0), weight.data()));
    }
    loop {
        core::hint::spin_loop();
    }
}
