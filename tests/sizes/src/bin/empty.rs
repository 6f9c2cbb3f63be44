//! Nothing: what the sizes of the others are compared with.
#![no_std]
#![no_main]

#[path = "../program.rs"]
mod program;

#[cfg(not(feature = "stack"))]
use panic_never as _;

#[cortex_m_rt::entry]
fn main() -> ! {
    program::run(work, &mut ());
    program::end()
}

fn work(_: &[u8], _: &mut ()) -> bool {
    true
}
