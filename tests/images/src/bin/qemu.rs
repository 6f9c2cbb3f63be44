//! Runs in QEMU: parses a model in flash and a set of broken ones, and prints what it found.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m as _;
use cortex_m_semihosting::{debug, hprintln};
use safetensors_core::{SafeTensors, Slot};

mod stack {
    //! How deep the stack grows: it is painted first and then looked at.

    const PAINT: u32 = 0x5afe_7e45;
    const WORDS: usize = 2048;

    /// The bytes of stack that `work` used, beyond what calling it takes.
    pub fn used_by(work: impl FnOnce()) -> usize {
        let nothing = below(|| ());
        below(work).saturating_sub(nothing)
    }

    /// The bytes of stack that were written below this frame.
    #[inline(never)]
    fn below(work: impl FnOnce()) -> usize {
        let top = paint();
        work();
        measure(top)
    }

    /// Paints the stack below this function's frame and returns where the paint begins.
    #[inline(never)]
    fn paint() -> *mut u32 {
        let mut marker = 0_u32;
        let top = (&raw mut marker).wrapping_sub(16);
        for i in 0..WORDS {
            // SAFETY: RAM below the stack pointer, 8 KiB of 64 in which no static lies.
            unsafe { top.wrapping_sub(i).write_volatile(PAINT) };
        }
        top
    }

    #[inline(never)]
    fn measure(top: *mut u32) -> usize {
        let lowest = (0..WORDS)
            .rev()
            // SAFETY: the words that were painted.
            .find(|i| unsafe { top.wrapping_sub(*i).read_volatile() } != PAINT);
        lowest.map_or(0, |i| (i + 1 + 16) * 4)
    }
}

static GOOD: &[u8] = include_bytes!("../../../../examples/digits/digits.safetensors");

/// Tensors that are not in offset order, names and metadata keys with escapes.
static SHUFFLED: &[u8] = include_bytes!("../shuffled.safetensors");

macro_rules! rejected {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../data/cases/reject/", $name, ".safetensors"))
            as &[u8]),)*]
    };
}

static BROKEN: [(&str, &[u8]); 14] = rejected![
    "prefix--short_4_bytes",
    "prefix--data_missing_one",
    "prefix--data_trailing_8",
    "json_struct--array_colon",
    "json_struct--bom_before",
    "depth--unk_arr_126",
    "str_name--bad_c0_80",
    "ws--illegal_leading_bom",
    "schema--dtype_alias_float32",
    "dtype--F4_3_elems_ceil",
    "layout--alias_identical",
    "meta--array",
    "names--dup_adjacent_ranges_both_cover",
    "names--dup_last_has_bad_product",
];

/// What the stack of a parse may take, in bytes.
const STACK: usize = 704;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    exit(false)
}

fn exit(good: bool) -> ! {
    debug::exit(if good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        core::hint::spin_loop();
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut slots = [Slot::EMPTY; 8];
    let good = show_good(&mut slots) && show_broken(&mut slots) && show_stack(&mut slots);
    exit(good)
}

fn show_good(slots: &mut [Slot]) -> bool {
    let model = match SafeTensors::parse(GOOD, slots) {
        Ok(model) => model,
        Err(error) => {
            hprintln!("{}", error.display(GOOD));
            return false;
        }
    };
    for view in &model {
        let sum: u32 = view.data().iter().map(|byte| u32::from(*byte)).sum();
        hprintln!("{} {} {} bytes, sum {}", view.name(), view.dtype(), view.shape(), sum);
    }
    for (key, value) in model.metadata().iter().flatten() {
        hprintln!("{} = {}", key, value);
    }
    model.tensor("fc2.bias").is_some_and(|view| view.data().len() == 40)
}

fn show_broken(slots: &mut [Slot]) -> bool {
    BROKEN.iter().all(|(name, bytes)| match SafeTensors::parse(bytes, slots) {
        Ok(_) => {
            hprintln!("{}: accepted", name);
            false
        }
        Err(error) => {
            hprintln!("{}: {}", name, error.display(bytes));
            true
        }
    })
}

/// The greatest stack of a parse, of all files and with all rules in use.
fn show_stack(slots: &mut [Slot]) -> bool {
    let parse = |bytes: &[u8], slots: &mut [Slot]| {
        stack::used_by(|| {
            let _ = black_box(SafeTensors::parse(black_box(bytes), slots));
        })
    };
    let broken = BROKEN.iter().map(|(_, bytes)| parse(bytes, slots)).max().unwrap_or(0);
    let most = parse(GOOD, slots).max(parse(SHUFFLED, slots)).max(broken);
    hprintln!("stack of a parse: {} bytes, {} allowed", most, STACK);
    most <= STACK
}
