//! Runs in QEMU: logs everything that can be logged, and each value twice: as its `Format` has it, and as
//! text that `core::fmt` makes on the target. `tests/run.sh` decodes the log and compares the two.
#![no_std]
#![no_main]

use core::convert::Infallible;
use core::fmt::{Debug, Display};
use core::panic::PanicInfo;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use cortex_m as _;
use cortex_m_semihosting::debug;
use defmt::{Debug2Format, Display2Format, Format, println};
use defmt_semihosting as _;
use embedded_storage::nor_flash::{self, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use safetensors_core::{
    AsyncStoredSafeTensors, Checksum, Dtype, Editor, Elements, Error, Header, MetadataPair,
    NorFlashSink, NorFlashSource, Options, Overflow, OwnedIndex, OwnedSafeTensors, SafeTensors,
    Slot, StoredSafeTensors, TensorIndexer, TensorSpec, Text, WriteError, WriteOptions,
};

static MODEL: &[u8] = include_bytes!("../../../../examples/digits/digits-int8.safetensors");

static CORPUS: &[&[u8]] = include!(concat!(env!("OUT_DIR"), "/corpus.rs"));

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut SLOTS: [Slot; 256] = [Slot::EMPTY; 256];
    small_types();
    texts();
    model(SLOTS);
    numbers(SLOTS);
    errors_of_files(SLOTS);
    errors_of_callers(SLOTS);
    written();
    stored(SLOTS);
    println!("corpus");
    println!("corpus");
    for bytes in CORPUS {
        file(bytes, SLOTS);
    }
    exit(debug::EXIT_SUCCESS)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(debug::EXIT_FAILURE)
}

fn exit(status: debug::ExitStatus) -> ! {
    debug::exit(status);
    loop {
        core::hint::spin_loop();
    }
}

/// What is logged as `Debug` shows it.
fn shown(value: &(impl Format + Debug)) {
    println!("{}", value);
    println!("{}", Debug2Format(value));
}

/// What is logged as `Display` shows it.
fn told(value: &(impl Format + Display)) {
    println!("{}", value);
    println!("{}", Display2Format(value));
}

fn failed<T>(result: Result<T, Error>) {
    failed_in(result, b"");
}

fn failed_in<T>(result: Result<T, Error>, input: &[u8]) {
    if let Err(error) = result {
        shown(&error.kind());
        told(&error);
        told(&error.display(input));
    }
}

fn small_types() {
    for dtype in Dtype::ALL {
        shown(dtype);
    }
    shown(&[Overflow::Saturate, Overflow::NonFinite]);
    shown(&Options::new().header_limit(1 << 20).allow_gaps(true));
    shown(&Options::new());
    shown(&WriteOptions::new().keep_order(true).align(64).align_tensors(16).reserve(100));
    shown(&Slot::EMPTY);
}

fn texts() {
    for text in
        ["", "fc1.weight", "käse 重み 🦀", "'{}{=u8}'", "\"a\\b\"", "line\r\nfeed\tbell\x07\0"]
    {
        shown(&Text::from(text));
        told(&Text::from(text).quoted());
    }
    // A terminal's commands with one and with two bytes, text that runs backwards, nothing to be seen.
    for text in ["\u{1b}[2J", "\u{9b}2J", "\u{202e}gnp.exe\u{2066}", "\u{200b}\u{feff}", "\x7f"] {
        shown(&Text::from(text));
    }
    // Around the ends of what is escaped.
    for first in [0, 0x78, 0xa0, 0x600, 0x2008, 0x2028, 0x2060, 0xfef8, 0xffa0, 0x1_d170, 0xe_0ff8]
    {
        for character in (first..first + 32).filter_map(char::from_u32) {
            shown(&Text::from(&*character.encode_utf8(&mut [0; 4])));
        }
    }
}

fn model(slots: &mut [Slot]) {
    let Ok(model) = SafeTensors::parse(MODEL, slots) else { return };
    shown(&model);
    shown(&model.index());
    shown(&model.index().header());
    for view in &model {
        shown(&view);
        shown(&view.info());
        shown(&view.name());
        shown(&view.shape());
        shown(&view.shape().iter());
        shown(&view.elements());
    }
    shown(&model.metadata());
    for entry in model.index().header().entries() {
        shown(&entry.ok());
    }
    if let Ok(scan) = SafeTensors::scan(MODEL) {
        shown(&scan);
    }
    if let Ok(checksum) = Checksum::of(&model.index().header()) {
        shown(&checksum);
    }
    shown(&OwnedSafeTensors::<16>::parse(MODEL).ok());
    shown(&OwnedIndex::<16>::build(MODEL).ok());
}

fn numbers(slots: &mut [Slot]) {
    let Ok(model) = SafeTensors::parse(MODEL, slots) else { return };
    shown(&model.quantized("fc1.weight").ok().flatten());
    for view in &model {
        shown(&view.slice((..1_u32,)).ok());
        shown(&view.info().slice((TensorIndexer::ALL.step(-3),)).ok());
        shown(&view.info().slice((0_u32,)).map(|slice| slice.dims()).ok());
    }
}

/// One of a kind each; of the others the corpus has some.
fn errors_of_files(slots: &mut [Slot]) {
    for start in [
        "version https://git-lfs.github.com/spec/v1",
        "PK\x03\x04....",
        "GGUF....",
        "<!doctype html>",
    ] {
        failed_in(SafeTensors::parse(start.as_bytes(), slots), start.as_bytes());
    }
    failed(SafeTensors::parse(b"\x1f\x8b\x08\0\0\0\0\0\0\0", slots));
    failed(SafeTensors::parse(b"\x80\x02}q\0.......", slots));
    failed(Header::read(b"\x01\0\0\0\0\0\0\xff{}"));
    let number = b"\x0d\0\0\0\0\0\0\0{\"a\":{\"x\":-}}";
    failed_in(SafeTensors::parse(number, slots), number);
    for checksum in ["1234567", Checksum::PLACEHOLDER] {
        made(slots, checksum);
    }
}

/// The errors of a file with half bytes, one long dimension and a checksum.
fn made(slots: &mut [Slot], checksum: &str) {
    let mut tensors = [
        new("half \"bytes\"", Dtype::F4, &[300, 2]).with_data(&[0; 300]),
        new("weight", Dtype::I8, &[2, 1]).with_data(&[0; 2]),
        new("weight_scale", Dtype::F32, &[3]).with_data(&[0; 12]),
    ];
    let mut pairs = [MetadataPair::new(Checksum::KEY, checksum)];
    let mut buffer = [0; 768];
    let plan = WriteOptions::new().plan(&mut tensors, Some(&mut pairs));
    let Ok(Ok(file)) = plan.map(|plan| plan.write_into(&mut buffer)) else { return };
    let Ok(model) = SafeTensors::parse(file, slots) else { return };
    failed_in(model.check_checksum(), file);
    failed_in(model.quantized("weight"), file);
    if let Some(tensor) = model.tensor("half \"bytes\"") {
        failed_in(tensor.shape().copy_into(&mut [0_u8; 2]), file);
        failed_in(tensor.slice((.., 1_u32)).map(|part| part.elements()), file);
    }
}

fn errors_of_callers(slots: &mut [Slot]) {
    failed(SafeTensors::parse(MODEL, &mut slots[..1]));
    failed(Options::new().header_limit(1).parse(MODEL, slots));
    let Ok(model) = SafeTensors::parse(MODEL, slots) else { return };
    for view in &model {
        failed_in(view.elements().as_slice::<u64>(), MODEL);
        failed_in(view.elements().convert_into(&mut []), MODEL);
        failed_in(view.slice((0_u32, 0_u32, 0_u32)), MODEL);
        failed_in(view.slice((1_000_u32,)), MODEL);
        failed_in(view.slice((TensorIndexer::ALL.step(0),)), MODEL);
        failed_in(view.shape().copy_into(&mut [0_u8; 0]), MODEL);
        failed_in(view.name().decode_into(&mut [0; 3]), MODEL);
    }
    failed(Elements::new(Dtype::BOOL, &[0, 1, 2]).and_then(|bytes| bytes.as_slice::<bool>()));
    failed(Elements::new(Dtype::F64, &[0; 9]));
    failed(Elements::new(Dtype::C64, &[0; 8]).and_then(|bytes| bytes.values()));
    let odd = &[[0; 8]; 2].as_flattened()[1..9];
    failed(Elements::new(Dtype::U64, odd).and_then(|bytes| bytes.as_slice::<u64>()));
    failed(Elements::convert_from(&[0.0, f32::NAN], Dtype::F4, Overflow::Saturate, &mut [0; 1]));
    failed(model.check_checksum());
}

fn write_failed<T>(
    result: Result<T, WriteError>,
    tensors: &[TensorSpec<'_>],
    pairs: &[MetadataPair<'_>],
) {
    if let Err(error) = result {
        shown(&error.kind());
        told(&error);
        told(&error.display(tensors, pairs));
    }
}

fn new<'a>(name: &'a str, dtype: Dtype, shape: &'a [u64]) -> TensorSpec<'a> {
    TensorSpec::new(name, dtype, shape)
}

fn written() {
    let options = WriteOptions::new();
    for mut tensors in [
        [new("a\n", Dtype::U8, &[1]), new("a\n", Dtype::U8, &[2])],
        [new("a", Dtype::U8, &[1]), new("__metadata__", Dtype::U8, &[2])],
        [new("a", Dtype::F4, &[1]), new("b", Dtype::U8, &[2])],
        [new("a", Dtype::U64, &[u64::MAX]), new("b", Dtype::U8, &[2])],
        [new("a", Dtype::U8, &[1]), new("b", Dtype::U8, &[2]).with_data(&[1])],
    ] {
        let result = options.plan(&mut tensors, None).map(|_| ());
        write_failed(result, &tensors, &[]);
    }
    let mut pairs = [MetadataPair::new("k\t", "v"), MetadataPair::new("k\t", "w")];
    let result = options.plan(&mut [], Some(&mut pairs)).map(|_| ());
    write_failed(result, &[], &pairs);

    let mut tensors = [
        new("käse", Dtype::U8, &[1, 2]).with_data(&[1, 2]),
        new("late", Dtype::U16, &[0x1_0000_0001]),
    ];
    let mut pairs = [MetadataPair::new("\u{1}", "\"v\"")];
    write_failed(options.header_limit(8).plan(&mut tensors, None).map(|_| ()), &[], &[]);
    let Ok(plan) = options.plan(&mut tensors, Some(&mut pairs)) else { return };
    shown(&plan);
    plan.tensors().iter().for_each(shown);
    plan.tensors().iter().for_each(|tensor| shown(&tensor.shape()));
    shown(&plan.metadata());
    write_failed(plan.write_into(&mut []), plan.tensors(), &[]);
    write_failed(plan.write_header_into(&mut [0; 512]), plan.tensors(), &[]);
    write_failed(plan.checksum(), plan.tensors(), &[]);

    let stream = |sink: Result<usize, u8>| {
        let mut stream = plan.stream(move |_: &[u8]| sink)?;
        stream.next_tensor()?;
        stream.finish()
    };
    for sink in [Err(7), Ok(0), Ok(1000)] {
        if let Err(error) = stream(sink).map(|_| ()) {
            told(&error);
        }
    }
    for begin in [1, 4096] {
        if let Err(error) = NorFlashSink::new(Flash, begin, &plan, &mut [0; 64]) {
            write_failed(Err::<(), _>(error), plan.tensors(), &[]);
        }
    }

    let mut buffer = [0; 200];
    buffer[..10].copy_from_slice(b"\x02\0\0\0\0\0\0\0{}");
    if let Ok(mut editor) = Editor::open(&mut buffer[..20], 10) {
        write_failed(editor.rename("a", "b"), &[], &[]);
        write_failed(editor.set_metadata("key", "a value"), &[], &[]);
        write_failed(editor.set_checksum(), &[], &[]);
    }
}

/// Flash of one sector that can't be read.
struct Flash;

#[derive(Debug, Format)]
struct Broken(u8);

impl Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        Debug::fmt(self, f)
    }
}

impl NorFlashError for Broken {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl nor_flash::ErrorType for Flash {
    type Error = Broken;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, _: u32, _: &mut [u8]) -> Result<(), Broken> {
        Err(Broken(3))
    }

    fn capacity(&self) -> usize {
        4096
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 1;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, _: u32, _: u32) -> Result<(), Broken> {
        Err(Broken(4))
    }

    fn write(&mut self, _: u32, _: &[u8]) -> Result<(), Broken> {
        Err(Broken(5))
    }
}

fn stored(slots: &mut [Slot]) {
    let mut header = [0; 1024];
    let driver = |offset: u64, to: &mut [u8]| {
        let from = MODEL.get(offset as usize..).unwrap_or(&[]);
        let len = to.len().min(from.len());
        to[..len].copy_from_slice(&from[..len]);
        Ok::<_, Infallible>(len)
    };
    if let Ok(model) = StoredSafeTensors::open(driver, &mut header, slots) {
        shown(&model);
    }
    if let Err(error) = StoredSafeTensors::open(NorFlashSource(Flash), &mut header, slots) {
        told(&error);
    }
    if let Err(error) = StoredSafeTensors::open(driver, &mut [0; 9], slots) {
        told(&error);
    }
    let waited_for = async |offset: u64, to: &mut [u8]| driver(offset, to);
    let opening = pin!(AsyncStoredSafeTensors::open(waited_for, &mut header, slots));
    if let Poll::Ready(Ok(model)) = opening.poll(&mut Context::from_waker(Waker::noop())) {
        shown(&model);
    }
}

fn file(bytes: &[u8], slots: &mut [Slot]) {
    let model = match SafeTensors::parse(bytes, slots) {
        Ok(model) => model,
        Err(error) => return failed_in(Err::<(), _>(error), bytes),
    };
    model.iter().for_each(|view| shown(&view));
    shown(&model.metadata());
    for deviation in model.index().header().deviations() {
        shown(&deviation.kind());
        told(&deviation);
    }
}
