//! The model is read when the program starts, as if it had been put into flash on its own: four models
//! of the same network with other weights, one program.
#![no_std]
#![no_main]

use cortex_m::Peripherals;
use firmware::board::{self, Counter, Stack, println};
use firmware::held_out::{self, Expected, HELD_OUT, Words};
use firmware::network::{ModelError, Network};
use safetensors_core::{SafeTensors, Slot};

/// In flash, aligned so that `f32` can be borrowed where they lie.
#[repr(align(16))]
struct Aligned<T: ?Sized>(T);

static F32: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../digits/digits.safetensors"));
static F16: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../digits/digits-f16.safetensors"));
static BF16: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../digits/digits-bf16.safetensors"));
static INT8: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../digits/digits-int8.safetensors"));

/// As many as the model with the most tensors or metadata needs.
const SLOTS: usize = 8;

#[cortex_m_rt::entry]
fn main() -> ! {
    let stack = Stack::paint();
    let good = run().unwrap_or_else(|error| {
        match error {
            ModelError::File(error) => println!("the model is not what it should be: {}", error),
            ModelError::Tensor(name) => println!("no tensor {} as it should be", name),
        }
        false
    });
    println!("measured: {} of {} bytes of stack", stack.high_water(), stack.room());
    board::exit(good)
}

fn run() -> Result<bool, ModelError> {
    // How long it takes to read a model: every rule is checked, and an index made in the slots.
    let counter = Peripherals::take().map(|peripherals| Counter::new(peripherals.SYST));
    let mut slots = [Slot::EMPTY; SLOTS];
    if let Some(counter) = counter {
        let (instructions, parsed) =
            counter.instructions(|| SafeTensors::parse(&F32.0, &mut slots));
        let model = parsed?;
        println!("{} tensors in {} bytes", model.len(), F32.0.len());
        println!("measured: {} instructions to parse them", instructions);
        let (instructions, found) = counter.instructions(|| model.tensor("fc2.weight"));
        println!("measured: {} instructions to find one by its name", instructions);
        found.ok_or(ModelError::Tensor("fc2.weight"))?;
    }
    HELD_OUT.check_checksum()?;

    let mut scratch = [0; 256];
    let model = SafeTensors::parse(&F32.0, &mut slots)?;
    let Some((classes, normalization)) = held_out::metadata(&model, &mut scratch) else {
        println!("no classes or normalization in the metadata");
        return Ok(false);
    };
    println!("classes: {}", Words(&classes));
    println!("inputs: pixels * {} + {}", normalization.scale, normalization.offset);

    let mut right = [None; 4];
    let kinds = [
        ("f32", f32(), Expected::F32),
        ("f16 ", &F16.0, Expected::F16),
        ("bf16", &BF16.0, Expected::Bf16),
        ("int8", int8(), Expected::Int8),
    ];
    for ((name, file, expected), right) in kinds.into_iter().zip(&mut right) {
        let model = SafeTensors::parse(file, &mut slots)?;
        // Those that were made with a checksum are compared with it.
        if model
            .metadata()
            .is_some_and(|pairs| pairs.value(safetensors_core::Checksum::KEY).is_some())
        {
            model.check_checksum()?;
        }
        let network = Network::new(&model)?;
        *right = held_out::evaluate(name, expected, &classes, &normalization, |image| {
            network.forward(image)
        });
    }
    Ok(match right {
        // Within a percentage point.
        [Some(f32), Some(_), Some(_), Some(int8)] => f32.abs_diff(int8) * 100 <= held_out::count(),
        _ => false,
    })
}

#[cfg(not(feature = "corrupt"))]
fn f32() -> &'static [u8] {
    &F32.0
}

#[cfg(not(feature = "corrupt"))]
fn int8() -> &'static [u8] {
    &INT8.0
}

/// A bit of the last number is flipped. This model has no checksum: the outputs tell.
#[cfg(feature = "corrupt")]
fn f32() -> &'static [u8] {
    static FLIPPED: Aligned<[u8; F32.0.len()]> =
        Aligned(flipped(include_bytes!("../../../digits/digits.safetensors"), 4));
    &FLIPPED.0
}

/// Likewise. The checksum tells.
#[cfg(feature = "corrupt")]
fn int8() -> &'static [u8] {
    static FLIPPED: Aligned<[u8; INT8.0.len()]> =
        Aligned(flipped(include_bytes!("../../../digits/digits-int8.safetensors"), 1));
    &FLIPPED.0
}

/// The lowest bit of the last number, which has so many bytes.
#[cfg(feature = "corrupt")]
const fn flipped<const N: usize>(file: &[u8; N], bytes: usize) -> [u8; N] {
    let mut copy = *file;
    copy[N - bytes] ^= 1;
    copy
}
