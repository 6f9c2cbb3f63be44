//! The board: what it prints, how it ends, how deep its stack was, how many instructions something took.
//!
//! The only `unsafe` is here, where registers and memory are that no Rust object owns.

use core::arch::asm;
use core::panic::PanicInfo;

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::ExceptionFrame;
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

/// A fault of the processor, most likely a stack that ran into the statics. Without this it would spin.
///
/// # Safety
/// Only the processor calls it.
#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    println!("hard fault at {:#x}", frame.pc());
    exit(false)
}

unsafe extern "C" {
    // Addresses that the linker script of cortex-m-rt knows; nothing is read there.
    /// Where RAM, and with it the statics, begin.
    static mut __sdata: u32;
    /// Where the statics end.
    static mut __sheap: u32;
    /// Where the stack begins, growing downwards.
    static mut _stack_start: u32;
}

/// The bytes that statics take in RAM.
pub fn static_ram() -> usize {
    (&raw const __sheap).addr() - (&raw const __sdata).addr()
}

/// The stack, from the end of the statics up to the end of RAM.
pub struct Stack {
    bottom: *mut u32,
    top: *mut u32,
}

impl Stack {
    const PAINT: u32 = 0x5afe_7e45;

    /// Paints what is not in use yet. Called first in `main`.
    #[inline(always)]
    pub fn paint() -> Self {
        let stack = Self { bottom: &raw mut __sheap, top: &raw mut _stack_start };
        let used: *mut u32;
        // SAFETY: reads a register.
        unsafe { asm!("mov {}, sp", out(reg) used, options(nomem, nostack, preserves_flags)) };
        let mut word = stack.bottom;
        while word < used {
            // SAFETY: RAM between the statics and what the stack has, which nobody uses yet.
            unsafe { word.write_volatile(Self::PAINT) };
            word = word.wrapping_add(1);
        }
        stack
    }

    /// The most bytes that were in use since, the frame of `main` among them.
    pub fn high_water(&self) -> usize {
        let mut word = self.bottom;
        // SAFETY: what was painted, and the stack above it; reading it changes nothing.
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

/// Counts instructions with the system's timer, which in QEMU goes by them: with `-icount shift=7` each
/// takes 128 ns, and the board's clock ticks every 80 ns.
///
/// On a real board ticks are clock cycles, of which instructions take some one and some many. There
/// the check in [`Counter::new`] fails, and the ticks themselves are the figure to look at.
pub struct Counter {
    timer: SYST,
    /// Ticks of a measurement of nothing.
    nothing: u32,
}

impl Counter {
    const NS_PER_TICK: u32 = 80;
    const NS_PER_INSTRUCTION: u32 = 128;
    /// The timer has 24 bits.
    const MAX_TICKS: u32 = 0x00ff_ffff;
    /// Instructions by which a loop may seem longer or shorter than it is: what prepares it, and the
    /// part of a tick at both ends.
    const TOLERANCE: u32 = 8;

    /// `None` if the timer does not go by instructions, as loops of known length tell.
    pub fn new(mut timer: SYST) -> Option<Self> {
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(Self::MAX_TICKS);
        timer.enable_counter();
        let mut counter = Self { timer, nothing: 0 };
        counter.nothing = counter.ticks(|| ()).0?;
        // Two lengths, as one could be right by chance.
        for turns in [1_000, 100_000] {
            let (counted, ()) = counter.instructions(|| two_instructions(turns));
            if counted?.abs_diff(2 * turns) > Self::TOLERANCE {
                return None;
            }
        }
        Some(counter)
    }

    /// The instructions that `work` takes, and what it returns. `None` for more than ten million, for
    /// which the timer has not enough bits.
    #[inline(never)]
    pub fn instructions<T>(&mut self, work: impl FnOnce() -> T) -> (Option<u32>, T) {
        let (ticks, result) = self.ticks(work);
        let instructions = ticks.map(|ticks| {
            ticks.saturating_sub(self.nothing) * Self::NS_PER_TICK / Self::NS_PER_INSTRUCTION
        });
        (instructions, result)
    }

    #[inline(always)]
    fn ticks<T>(&mut self, work: impl FnOnce() -> T) -> (Option<u32>, T) {
        self.timer.clear_current();
        let before = SYST::get_current();
        let result = work();
        // It counts down.
        let ticks = before.wrapping_sub(SYST::get_current()) & Self::MAX_TICKS;
        ((!self.timer.has_wrapped()).then_some(ticks), result)
    }
}

/// A loop of so many turns of two instructions.
#[inline(always)]
fn two_instructions(turns: u32) {
    // SAFETY: counts a register down.
    unsafe {
        asm!("2: subs {n}, #1", "bne 2b", n = inout(reg) turns => _, options(nomem, nostack))
    };
}
