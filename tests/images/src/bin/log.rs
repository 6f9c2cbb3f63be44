//! Logs what can be logged with defmt; `tests/run.sh defmt` decodes it and compares it.
#![no_std]
#![no_main]

use cortex_m as _;
use cortex_m_semihosting::debug;
use defmt_semihosting as _;
use panic_halt as _;
use safetensors_core::{
    Dtype, ErrorKind, Header, MetadataPair, Overflow, SafeTensors, Slot, StorageError,
    StoredSafeTensors, StreamError, TensorSpec, WriteError, WriteOptions,
};

static MODEL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sealed.safetensors"));
static FLIPPED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/flipped.safetensors"));

/// A name that would clear a terminal, and a metadata value with a quote; a size that is wrong.
static HOSTILE: &[u8] = b"\x9a\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"a\\\"b\"},\
    \"\\u001b[2J\xe2\x80\xae\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1},\
    \"w\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[8,16]}} 0123456789abcdef";

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut slots = [Slot::EMPTY; 8];
    if let Ok(model) = SafeTensors::parse(MODEL, &mut slots) {
        defmt::println!("{}", model);
        defmt::println!("{}", model.index());
        for view in &model {
            defmt::println!("{}", view);
        }
        if let Some(metadata) = model.metadata() {
            defmt::println!("{}", metadata.value("format"));
            defmt::println!("{}", metadata);
        }
        if let Some(weight) = model.tensor("fc1.weight") {
            defmt::println!("{}; {}; {}", weight.info(), weight.shape(), weight.elements());
            if let (Ok(part), Ok(place)) = (weight.slice((2.., 1)), weight.info().slice((.., ..3)))
            {
                defmt::println!("{}; {}", part, place);
            }
        }
        if let Ok(checksum) = safetensors_core::Checksum::of(&model.index().header()) {
            defmt::println!("{}", checksum);
        }
    }
    if let Ok(model) = SafeTensors::parse(FLIPPED, &mut slots)
        && let Err(error) = model.check_checksum()
    {
        defmt::println!("{}; {}", error, error.display(FLIPPED));
    }
    if let Err(error) = SafeTensors::parse(HOSTILE, &mut slots) {
        defmt::println!("{}", error.display(HOSTILE));
    }
    if let Ok(header) = Header::read(HOSTILE) {
        for deviation in header.deviations() {
            defmt::println!("{}", deviation);
        }
        defmt::println!("{}", header.metadata());
    }
    let source = |offset: u64, to: &mut [u8]| {
        let rest = usize::try_from(offset).ok().and_then(|at| MODEL.get(at..)).unwrap_or_default();
        let len = to.len().min(rest.len());
        to.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok::<_, u8>(len)
    };
    if let Ok(stored) = StoredSafeTensors::open(source, &mut [0; 1024], &mut slots) {
        defmt::println!("{}", stored);
    }
    match StoredSafeTensors::open(source, &mut [0; 100], &mut slots) {
        Ok(_) => {}
        Err(error) => defmt::println!("{}", error),
    }
    defmt::println!("{}", StorageError::Source(7));
    written();
    defmt::println!("{} {} {}", Dtype::F8_E4M3FNUZ, Overflow::Saturate, ErrorKind::Gap);
    debug::exit(debug::EXIT_SUCCESS);
    loop {
        core::hint::spin_loop();
    }
}

fn written() {
    let mut tensors = [TensorSpec::new("w", Dtype::U8, &[3])];
    let mut pairs = [MetadataPair::new("a", "1")];
    if let Ok(plan) = WriteOptions::new().plan(&mut tensors, Some(&mut pairs)) {
        defmt::println!("{}", plan);
        let stream = plan.stream(|bytes: &[u8]| Ok::<_, u8>(bytes.len()));
        if let Err(error) = stream.and_then(|stream| stream.finish()) {
            defmt::println!("{}", error);
        }
        if let Err(error) = plan.checksum() {
            defmt::println!("{}", error);
        }
    }
    let mut twice = [TensorSpec::new("w", Dtype::U8, &[3]); 2];
    let refused: Option<WriteError> = WriteOptions::new().plan(&mut twice, None).err();
    defmt::println!("{} {}", refused, StreamError::<u8>::Sink(7));
}
