//! Runs in QEMU: reads a model from flash, some broken ones and then the whole corpus, prints what it
//! finds, and measures the stack of a parse.
#![no_std]
#![no_main]

#[path = "../answer.rs"]
mod answer;
#[path = "../deep.rs"]
mod deep;
#[path = "../numbers.rs"]
mod numbers;
#[path = "../stack.rs"]
mod stack;
#[path = "../written.rs"]
mod written;

use core::panic::PanicInfo;

use cortex_m as _;
use cortex_m_semihosting::{debug, hio, hprintln};
use deep::DEEP;
use safetensors_core::{Dtype, SafeTensors, Slot};

static MODEL: &[u8] = include_bytes!("../../../../examples/digits/digits.safetensors");

/// Name, bytes, and the digests of what a 64-bit host says and makes of them.
static CORPUS: &[(&str, &[u8], u64, u64)] = include!(concat!(env!("OUT_DIR"), "/corpus.rs"));

/// For each dtype, the digest of the numbers of a 64-bit host.
static NUMBERS: [u64; Dtype::ALL.len()] = include!(concat!(env!("OUT_DIR"), "/numbers.rs"));

/// A model with a checksum, as it was made, and with one bit that flipped.
static SEALED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sealed.safetensors"));
static FLIPPED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/flipped.safetensors"));

/// Those of the corpus whose errors are shown, of each of its groups at least one.
const SHOWN: &[&str] = &[
    "depth--unk_arr_126",
    "dtype--F4_3_elems_ceil",
    "json_struct--array_colon",
    "json_struct--bom_before",
    "layout--alias_identical",
    "layout--hole_mid_1_byte",
    "meta--array",
    "meta--val_int",
    "names--dup_adjacent_ranges_both_cover",
    "names--dup_last_has_bad_product",
    "prefix--data_missing_one",
    "prefix--data_trailing_8",
    "prefix--n_2p63_minus_1",
    "prefix--short_4_bytes",
    "schema--dtype_alias_float32",
    "schema--missing_data_offsets",
    "str_name--bad_c0_80",
    "str_name--u_high_alone",
    "ws--illegal_leading_vt",
];

/// What the stack of a parse may take, in bytes. `tests/sizes.py` reads it here.
const STACK: usize = 736;

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut SLOTS: [Slot; answer::SLOTS] = [Slot::EMPTY; answer::SLOTS];
    let good = show_model(SLOTS) & show_broken(SLOTS) & check_corpus(SLOTS) & check_numbers();
    let good = good & check_written(SLOTS) & check_checksums(SLOTS);
    exit(good & check_stack(SLOTS))
}

fn show_model(slots: &mut [Slot]) -> bool {
    let model = match SafeTensors::parse(MODEL, slots) {
        Ok(model) => model,
        Err(error) => {
            hprintln!("{}", error.display(MODEL));
            return false;
        }
    };
    for view in &model {
        let (data, sum) = (view.data(), view.data().iter().copied().map(u32::from).sum::<u32>());
        let (name, dtype, shape) = (view.name(), view.dtype(), view.shape());
        hprintln!("{} {} {} {} bytes, sum {}", name, dtype, shape, data.len(), sum);
    }
    for (key, value) in model.metadata().into_iter().flatten() {
        hprintln!("{} = {}", key, value);
    }
    model.tensor("fc2.bias").is_some_and(|view| view.shape() == [10])
}

fn show_broken(slots: &mut [Slot]) -> bool {
    let mut shown = 0;
    for (name, bytes, ..) in CORPUS {
        if SHOWN.contains(name)
            && let Err(error) = SafeTensors::parse(bytes, slots)
        {
            hprintln!("{}: {}", name, error.display(bytes));
            shown += 1;
        }
    }
    shown == SHOWN.len()
}

/// Whether this 32-bit machine says of every file what the host says.
fn check_corpus(slots: &mut [Slot]) -> bool {
    let mut good = true;
    for (name, bytes, host, _) in CORPUS {
        if answer::digest(bytes, slots) != *host {
            good = false;
            hprintln!("{}: not what the host says", name);
            if let Ok(mut out) = hio::hstdout() {
                let _ = answer::write(bytes, slots, &mut out);
            }
        }
    }
    hprintln!("corpus: {}", if good { "as on the host" } else { "differs" });
    good
}

/// Whether numbers are converted as on the host, without its tables and with floats in software.
fn check_numbers() -> bool {
    let mut same = 0;
    for (dtype, host) in Dtype::ALL.iter().zip(NUMBERS) {
        if numbers::digest(*dtype) == host {
            same += 1;
        } else {
            hprintln!("{}: numbers are not those of the host", dtype);
        }
    }
    hprintln!("numbers: {} dtypes as on the host", same);
    same == NUMBERS.len()
}

/// Whether files are written, streamed and edited as on the host.
fn check_written(slots: &mut [Slot]) -> bool {
    let (mut same, mut good) = (0, true);
    for (name, bytes, _, host) in CORPUS {
        if written::digest(bytes, slots) != *host {
            good = false;
            hprintln!("{}: not written as on the host", name);
        } else if *host != 0 {
            same += 1;
        }
    }
    hprintln!("written: {} files as on the host", same);
    good
}

/// Whether a model that is not what it was is refused.
fn check_checksums(slots: &mut [Slot]) -> bool {
    let mut check = |name, file| {
        let checked = SafeTensors::parse(file, slots).and_then(|model| model.check_checksum());
        match checked {
            Ok(()) => hprintln!("{}: the checksum is right", name),
            Err(error) => hprintln!("{}: {}", name, error.display(file)),
        }
        checked.is_ok()
    };
    check("sealed", SEALED) & !check("flipped", FLIPPED)
}

/// The greatest stack of a parse among all files.
fn check_stack(slots: &mut [Slot]) -> bool {
    let mut most = ("", 0);
    for (name, bytes, ..) in CORPUS.iter().chain(&[("digits", MODEL, 0, 0), ("deep", DEEP, 0, 0)]) {
        // Just enough slots, and one too few: different ways through a parse.
        let needed = SafeTensors::scan(bytes).map_or(slots.len(), |scan| scan.slots_needed());
        for len in [needed.saturating_sub(1), needed, slots.len()] {
            let used = stack::used(SafeTensors::parse, bytes, &mut slots[..len]);
            if used > most.1 {
                most = (name, used);
            }
        }
    }
    // `tests/run.sh` shows this line and does not compare it: compilers differ.
    hprintln!("measured: {} bytes of stack for a parse, {} allowed ({})", most.1, STACK, most.0);
    most.1 <= STACK
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    exit(false)
}

fn exit(good: bool) -> ! {
    debug::exit(if good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        core::hint::spin_loop();
    }
}
