//! Parses a file, and tells of its error what the features say, over semihosting. It is not run, but its flash
//! is measured.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m as _;
#[cfg(any(feature = "fmt-text", feature = "fmt-error"))]
use cortex_m_semihosting::hprintln as println;
use panic_halt as _;
use safetensors_core::{SafeTensors, Slot};
#[cfg(any(feature = "defmt-text", feature = "defmt-kind", feature = "defmt-error"))]
use {defmt::println, defmt_semihosting as _};

#[cortex_m_rt::entry]
fn main() -> ! {
    let bytes = black_box(&[][..]);
    let slots = &mut black_box([Slot::EMPTY; 8]);
    if let Err(error) = SafeTensors::parse(bytes, slots) {
        black_box(error);
        #[cfg(any(feature = "defmt-text", feature = "fmt-text"))]
        println!("refused");
        #[cfg(feature = "defmt-kind")]
        println!("refused: {} at byte {}", error.kind(), error.offset());
        #[cfg(any(feature = "defmt-error", feature = "fmt-error"))]
        println!("refused: {}", error);
    }
    loop {
        core::hint::spin_loop();
    }
}
