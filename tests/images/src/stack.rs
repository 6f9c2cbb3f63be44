//! How deep the stack grows: the memory below it is painted before and looked at afterwards.

use core::arch::asm;
use core::hint::black_box;

const PAINT: u32 = 0x5afe_7e45;

/// 4 KiB are painted. The memory map leaves room for them between the statics and the stack.
const WORDS: usize = 1024;

/// The bytes of stack that `work` takes below its caller's frame.
#[inline(never)]
pub fn used<A, B, R>(work: fn(A, B) -> R, a: A, b: B) -> usize {
    // Through a pointer, as what is inlined would have its frame here, above the paint.
    let work = black_box(work);
    let top: *mut u32;
    // SAFETY: reads a register. This function moves it only when it begins and when it ends.
    unsafe { asm!("mov {}, sp", out(reg) top, options(nomem, nostack, preserves_flags)) };
    for i in 1..=WORDS {
        // SAFETY: RAM below the stack pointer, where nothing lies that is still needed.
        unsafe { top.wrapping_sub(i).write_volatile(PAINT) };
    }
    let _ = black_box(work(a, b));
    for i in (1..=WORDS).rev() {
        // SAFETY: what was painted; reading it changes nothing.
        if unsafe { top.wrapping_sub(i).read_volatile() } != PAINT {
            assert!(i < WORDS, "more stack than was painted");
            return i * size_of::<u32>();
        }
    }
    0
}
