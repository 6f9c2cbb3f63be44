//! Nothing: what the size of `reader` is compared with.
#![no_std]
#![no_main]

use panic_never as _;

#[cortex_m_rt::entry]
fn main() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
