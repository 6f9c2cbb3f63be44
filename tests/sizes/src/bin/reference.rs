//! The work of `reader` with the reference implementation, which takes a heap and can panic.
#![no_std]
#![no_main]

#[path = "../program.rs"]
mod program;

use core::hint::black_box;

use embedded_alloc::LlffHeap;
#[cfg(not(feature = "stack"))]
use panic_halt as _;
use reference::SafeTensors;

/// The memory of the heap, more than it takes.
const ARENA: usize = 4096;

/// What the arena is filled with, to see how far the heap got.
const PAINT: u8 = 0xa5;

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut MEMORY: [u8; ARENA] = [0; ARENA];
    if cfg!(feature = "stack") {
        MEMORY.fill(PAINT);
    }
    let memory = MEMORY.as_mut_ptr();
    // SAFETY: only once, and nothing else uses the memory.
    unsafe { HEAP.init(memory as usize, ARENA) };
    program::run(work, &mut ());
    #[cfg(feature = "stack")]
    {
        // SAFETY: the heap is not used any more.
        let used = (0..ARENA).rev().find(|i| unsafe { memory.add(*i).read_volatile() } != PAINT);
        cortex_m_semihosting::hprintln!("heap {}", used.map_or(0, |i| i + 1));
    }
    program::end()
}

#[inline(never)]
fn work(file: &[u8], _: &mut ()) -> bool {
    if let Ok(model) = SafeTensors::deserialize(file)
        && let Ok(weight) = model.tensor(black_box("fc1.weight"))
    {
        black_box((weight.dtype(), weight.shape().first()));
        return black_box(bytemuck::try_cast_slice::<u8, f32>(weight.data())).is_ok();
    }
    false
}
