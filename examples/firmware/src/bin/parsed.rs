//! The model is read when the program starts, as if it had been put into flash on its own: four models
//! of the same network with other weights, one program.
#![no_std]
#![no_main]

use cortex_m::Peripherals;
use firmware::board::{self, Counter, Stack, println};
use firmware::held_out::{self, Expected, HELD_OUT, Words};
use firmware::network::{ModelError, Network};
use safetensors_core::{Checksum, Error, SafeTensors, Slot};

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
    let mut slots = [Slot::EMPTY; SLOTS];
    let good = measure(&mut slots).and_then(|()| run(&mut slots));
    if let Err(failure) = &good {
        match failure {
            Failure::Model(ModelError::File(error)) => {
                println!("the model is not what it should be: {}", error);
            }
            Failure::Model(ModelError::Tensor(name)) => {
                println!("no tensor {} as it should be", name);
            }
            Failure::Metadata => println!("no classes or normalization in the metadata"),
            Failure::Timer => {
                println!("the timer does not count instructions: QEMU takes -icount shift=7")
            }
            Failure::Outputs => println!("outputs are not those of numpy"),
            Failure::Accuracy => println!("int8 is not within one percentage point of f32"),
        }
    }
    println!("measured: {} of {} bytes of stack", stack.high_water(), stack.room());
    println!("measured: {} bytes of static RAM", board::static_ram());
    board::exit(good.is_ok())
}

/// Why the program ends with the exit code 1.
enum Failure {
    Model(ModelError),
    Metadata,
    Timer,
    Outputs,
    Accuracy,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Model(error.into())
    }
}

/// How long it takes to read a model: every rule is checked, and an index made in the slots.
fn measure(slots: &mut [Slot]) -> Result<(), Failure> {
    let timer = Peripherals::take().map(|peripherals| peripherals.SYST);
    let mut counter = timer.and_then(Counter::new).ok_or(Failure::Timer)?;
    let (parse, model) = counter.instructions(|| SafeTensors::parse(&F32.0, slots));
    let model = model?;
    let header = model.index().header().data_start();
    println!("{} tensors in {} bytes, {} of them header", model.len(), F32.0.len(), header);
    println!("measured: {} instructions to parse them", parse.ok_or(Failure::Timer)?);
    let (find, found) = counter.instructions(|| model.tensor("fc2.weight"));
    println!("measured: {} instructions to find one by its name", find.ok_or(Failure::Timer)?);
    // Where they lie; an error if they were not aligned.
    let weights = found.ok_or(ModelError::Tensor("fc2.weight"))?.elements().as_slice::<f32>()?;
    println!("{} of its weights borrowed from flash", weights.len());
    Ok(())
}

fn run(slots: &mut [Slot]) -> Result<(), Failure> {
    HELD_OUT.check_checksum()?;
    let mut right = [0; 4];
    let kinds = [
        ("f32", f32(), Expected::F32),
        ("f16", &F16.0, Expected::F16),
        ("bf16", &BF16.0, Expected::Bf16),
        ("int8", int8(), Expected::Int8),
    ];
    for (i, ((name, file, expected), right)) in kinds.into_iter().zip(&mut right).enumerate() {
        let model = SafeTensors::parse(file, slots)?;
        // Those that were made with a checksum are compared with it.
        if model.metadata().is_some_and(|pairs| pairs.value(Checksum::KEY).is_some()) {
            model.check_checksum()?;
        }
        let mut scratch = [0; 256];
        let (classes, normalization) =
            held_out::metadata(&model, &mut scratch).ok_or(Failure::Metadata)?;
        if i == 0 {
            println!("classes: {}", Words(&classes));
            println!("inputs: pixels * {} + {}", normalization.scale, normalization.offset);
            held_out::print_labels(&classes);
        }
        let network = Network::new(&model)?;
        let forward = |image: &_| network.forward(image);
        *right = held_out::evaluate(name, expected, &classes, &normalization, forward)
            .ok_or(Failure::Outputs)?;
    }
    let [f32, .., int8] = right;
    // In percentage points, of which one is allowed.
    if f32.abs_diff(int8) * 100 > held_out::count() {
        return Err(Failure::Accuracy);
    }
    Ok(())
}

#[cfg(not(feature = "corrupt-f32"))]
fn f32() -> &'static [u8] {
    &F32.0
}

#[cfg(not(feature = "corrupt-int8"))]
fn int8() -> &'static [u8] {
    &INT8.0
}

/// A bit of the last number is flipped. This model has no checksum: the outputs tell.
#[cfg(feature = "corrupt-f32")]
fn f32() -> &'static [u8] {
    static FLIPPED: Aligned<[u8; F32.0.len()]> =
        Aligned(flipped(include_bytes!("../../../digits/digits.safetensors"), 4));
    &FLIPPED.0
}

/// A bit of the last number is flipped. The checksum tells.
#[cfg(feature = "corrupt-int8")]
fn int8() -> &'static [u8] {
    static FLIPPED: Aligned<[u8; INT8.0.len()]> =
        Aligned(flipped(include_bytes!("../../../digits/digits-int8.safetensors"), 1));
    &FLIPPED.0
}

/// The lowest bit of the last number, which has so many bytes.
#[cfg(any(feature = "corrupt-f32", feature = "corrupt-int8"))]
const fn flipped<const N: usize>(file: &[u8; N], bytes: usize) -> [u8; N] {
    let mut copy = *file;
    copy[N - bytes] ^= 1;
    copy
}
