//! Calls every entry point of the core on bytes that the compiler knows nothing of. There is no
//! panic handler: if one panicking branch is left in the program, it does not link.
#![no_std]
#![no_main]

use core::fmt::{self, Write};
use core::hash::{Hash, Hasher};
use core::hint::black_box;

use panic_never as _;
use safetensors_core::{
    Dtype, Entry, Error, Header, Index, Metadata, Options, SafeTensors, Slot, TensorInfo, TensorView, Text,
};

/// Where everything is written and hashed to: nothing may be optimised away.
struct Sink(u64);

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

impl Hasher for Sink {
    fn write(&mut self, bytes: &[u8]) {
        black_box(bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Formats a value with `Debug`, and with `Display` if it has that.
macro_rules! show {
    ($value:expr) => {
        black_box(write!(Sink(0), "{:?}", $value).is_ok())
    };
    ($value:expr, display) => {
        black_box(write!(Sink(0), "{} {:?}", $value, $value).is_ok())
    };
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let bytes = black_box(&[][..]);
    let slots = &mut black_box([Slot::EMPTY; 8])[..];
    files(bytes, slots);
    headers(bytes, slots);
    dtypes(black_box("F32"));
    #[cfg(feature = "reachable")]
    black_box(bytes[black_box(1)]);
    loop {
        core::hint::spin_loop();
    }
}

fn options() -> Options {
    let options = Options::new().header_limit(black_box(1000)).allow_gaps(black_box(true));
    show!(options);
    black_box(options == Options::default());
    options
}

fn files(bytes: &[u8], slots: &mut [Slot]) {
    show!(slots);
    black_box(Slot::default());
    for scan in [SafeTensors::scan(bytes), options().scan(bytes)] {
        match scan {
            Ok(scan) => {
                show!(scan);
                black_box((scan.tensors(), scan.metadata_keys(), scan.slots_needed(), scan.data_len()));
                black_box((scan.in_offset_order(), scan == scan));
            }
            Err(error) => errors(error, bytes),
        }
    }
    match SafeTensors::parse(bytes, slots) {
        Ok(model) => file(&model),
        Err(error) => errors(error, bytes),
    }
    match options().parse(bytes, slots) {
        Ok(model) => file(&model),
        Err(error) => errors(error, bytes),
    }
    file(&SafeTensors::with_slots(black_box(bytes), black_box(slots)));
}

fn file(model: &SafeTensors<'_, '_>) {
    show!(model);
    black_box((model.len(), model.is_empty(), model.data()));
    for view in [model.tensor(black_box("w")), model.by_offset(black_box(3))].into_iter().flatten() {
        tensor(&view);
    }
    for view in model {
        tensor(&view);
    }
    for view in model.iter().chain(model.iter_by_offset()).chain(model.iter_by_offset().rev()) {
        tensor(&view);
    }
    show!(model.iter());
    show!(model.iter_by_offset());
    black_box(model.iter_by_offset().len());
    for name in model.names() {
        text(&name);
    }
    show!(model.names());
    metadata(model.metadata());
    index(&model.index());
}

fn headers(bytes: &[u8], slots: &mut [Slot]) {
    for len in [Header::len_from_prefix(black_box([0; 8])), options().len_from_prefix(black_box([0; 8]))] {
        if let Err(error) = len {
            errors(error, bytes);
        }
    }
    for header in [Header::read(bytes), options().header(bytes)] {
        match header {
            Ok(found) => header_alone(&found),
            Err(error) => errors(error, bytes),
        }
    }
    match Index::build(bytes, slots) {
        Ok(found) => index(&found),
        Err(error) => errors(error, bytes),
    }
    match options().index(bytes, slots) {
        Ok(found) => index(&found),
        Err(error) => errors(error, bytes),
    }
    index(&Index::with_slots(black_box(bytes), black_box(slots)));
}

fn header_alone(header: &Header<'_>) {
    show!(header);
    black_box((header.data_start(), header.json()));
    let mut entries = header.entries();
    while let Some(entry) = entries.next_entry() {
        show!(entry);
        match entry {
            Ok(Entry::Tensor(found)) => info(&found),
            Ok(Entry::Metadata(found)) => metadata(found),
            Err(error) => errors(error, header.json()),
        }
        if let Some(position) = entries.position() {
            show!(position);
            entries = header.entries_from(position);
        }
    }
    black_box(header.entries().count());
    show!(header.entries());
    match header.scan() {
        Ok(scan) => {
            show!(scan);
        }
        Err(error) => errors(error, header.json()),
    }
    metadata(header.metadata());
    for deviation in header.deviations() {
        show!(deviation, display);
        black_box((deviation.kind().message(), deviation.offset()));
        deviation.tensor().iter().for_each(text);
    }
    show!(header.deviations());
}

fn index(index: &Index<'_, '_>) {
    show!(index);
    black_box((index.len(), index.is_empty(), index.data_len(), index.slots(), index.header()));
    if let Err(error) = index.check_file_len(black_box(9)) {
        errors(error, b"");
    }
    for found in [index.tensor(black_box("w")), index.by_offset(black_box(3))].into_iter().flatten() {
        info(&found);
    }
    for found in index.iter().chain(index.iter_by_offset()).chain(index.iter_by_offset().rev()) {
        info(&found);
    }
    show!(index.iter());
    show!(index.iter_by_offset());
    black_box(index.names().count());
    metadata(index.metadata());
}

fn tensor(view: &TensorView<'_>) {
    show!(view);
    black_box((view.dtype(), view.data()));
    text(&view.name());
    info(&view.info());
    black_box(view.shape() == [black_box(2), 3]);
}

fn info(info: &TensorInfo<'_>) {
    show!(info);
    black_box((info.dtype(), info.data_offsets(), info.byte_range(), info.data_len()));
    text(&info.name());
    let shape = info.shape();
    show!(shape, display);
    show!(shape.iter());
    black_box((shape.rank(), shape.dim(black_box(1)), shape.element_count()));
    black_box((shape == shape, shape == *black_box(&[1_u64, 2][..]), shape.into_iter().last()));
    for dim in &shape {
        black_box(dim);
    }
}

fn text(text: &Text<'_>) {
    show!(text, display);
    show!(text.quoted(), display);
    show!(text.chars());
    black_box((text.raw(), text.as_str(), text.len(), text.is_empty(), text.is(black_box("w"))));
    black_box((*text == *black_box("w"), *text == black_box("w"), text.cmp(text), text.partial_cmp(text)));
    black_box((text.chars().last(), text == text));
    text.hash(&mut Sink(0));
    if let Err(error) = text.decode_into(&mut black_box([0; 8])) {
        errors(error, b"");
    }
}

fn metadata(metadata: Option<Metadata<'_>>) {
    let Some(metadata) = metadata else { return };
    show!(metadata);
    show!(metadata.iter());
    black_box((metadata.len(), metadata.is_empty()));
    metadata.value(black_box("k")).iter().for_each(text);
    for (key, value) in &metadata {
        text(&key);
        text(&value);
    }
    black_box(metadata.into_iter().next_pair());
}

fn errors(error: Error, input: &[u8]) {
    show!(error, display);
    show!(error.display(input), display);
    error.display(input).name().iter().for_each(text);
    show!(error.kind());
    black_box((error.kind().message(), error.offset(), error.number(), error == error));
    error.hash(&mut Sink(0));
    let error: &dyn core::error::Error = &error;
    black_box(error.source().is_some());
}

fn dtypes(name: &str) {
    for dtype in Dtype::ALL.iter().chain(&Dtype::from_name(name)) {
        show!(dtype, display);
        let _ = write!(Sink(0), "{dtype:>8}");
        black_box((dtype.name(), dtype.bitsize(), dtype.cmp(&Dtype::F32)));
        dtype.hash(&mut Sink(0));
    }
}
