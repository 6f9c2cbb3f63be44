//! The board: what it prints, how deep its stack was, how many instructions something took.
//!
//! The only `unsafe` is here, where registers and memory are that no Rust object owns.

use core::arch::asm;
use core::panic::PanicInfo;

use cortex_m::peripheral::{SYST, syst::SystClkSource};
use cortex_m_semihosting::debug;
pub use cortex_m_semihosting::hprintln as println;

/// Ends the program with the exit code 0, or 1.
pub fn exit(good: bool) -> ! {
    debug::exit(if good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        core::hint::spin_loop();
    }
}

/// Nothing here should panic. If it does, say where and end.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    println!("{}", info);
    exit(false)
}

/// The stack, from the end of the statics up to where `main` began.
pub struct Stack {
    bottom: *mut u32,
    top: *mut u32,
}

impl Stack {
    const PAINT: u32 = 0x5afe_7e45;

    /// Paints what is not in use yet. Called first in `main`.
    #[inline(always)]
    pub fn paint() -> Self {
        unsafe extern "C" {
            /// Behind the statics; the linker script of cortex-m-rt says where.
            static mut __sheap: u32;
        }
        let top: *mut u32;
        // SAFETY: reads a register.
        unsafe { asm!("mov {}, sp", out(reg) top, options(nomem, nostack, preserves_flags)) };
        let stack = Self { bottom: &raw mut __sheap, top };
        let mut word = stack.bottom;
        while word < stack.top {
            // SAFETY: RAM between the statics and the stack, which nobody uses yet.
            unsafe { word.write_volatile(Self::PAINT) };
            word = word.wrapping_add(1);
        }
        stack
    }

    /// The most bytes that were in use since.
    pub fn high_water(&self) -> usize {
        let mut word = self.bottom;
        // SAFETY: what was painted; reading it changes nothing.
        while word < self.top && unsafe { word.read_volatile() } == Self::PAINT {
            word = word.wrapping_add(1);
        }
        self.top.addr() - word.addr()
    }

    /// How many it could be.
    pub fn room(&self) -> usize {
        self.top.addr() - self.bottom.addr()
    }
}

/// Counts instructions with the system's timer, which in QEMU (`-icount`) goes by them.
///
/// On a real Cortex-M3 the same code counts clock cycles.
pub struct Counter {
    /// Ticks of a measurement of nothing, and of [`LOOPS`](Self::LOOPS) turns beyond that.
    nothing: u32,
    loops: u32,
}

impl Counter {
    /// So many turns of two instructions are compared with.
    const LOOPS: u32 = 100_000;

    /// Finds out how many ticks an instruction takes.
    pub fn new(mut timer: SYST) -> Self {
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(0x00ff_ffff);
        timer.clear_current();
        timer.enable_counter();
        let nothing = Self::ticks(|| ()).0;
        let turns = || {
            // SAFETY: counts a register down.
            unsafe { asm!("1: subs {n}, #1", "bne 1b", n = inout(reg) Self::LOOPS => _) };
        };
        Self { nothing, loops: Self::ticks(turns).0 - nothing }
    }

    /// The instructions that `work` takes, and what it returns.
    #[inline(never)]
    pub fn instructions<T>(&self, work: impl FnOnce() -> T) -> (u32, T) {
        let (ticks, result) = Self::ticks(work);
        let instructions =
            u64::from(ticks.saturating_sub(self.nothing)) * 2 * u64::from(Self::LOOPS);
        ((instructions / u64::from(self.loops)) as u32, result)
    }

    #[inline(always)]
    fn ticks<T>(work: impl FnOnce() -> T) -> (u32, T) {
        let before = SYST::get_current();
        let result = work();
        // It counts down, in 24 bits.
        (before.wrapping_sub(SYST::get_current()) & 0x00ff_ffff, result)
    }
}
