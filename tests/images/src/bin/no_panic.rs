//! Calls every entry point of the core on bytes of which the compiler knows nothing. There is no
//! panic handler to link: if one panicking branch is left, this does not link.
//!
//! `tests/run.sh` checks that each public function of the core is named here.
#![no_std]
#![no_main]

use core::fmt::{self, Debug, Display, Write};
use core::hash::{Hash, Hasher};
use core::hint::black_box;

use defmt::Format;
use half::{bf16, f16};
use panic_never as _;
use safetensors_core::{
    Checksum, Deviation, Dtype, Editor, Element, Elements, EmbeddedIo, EmbeddedStorage, Entry,
    Error, Header, Index, Metadata, MetadataPair, NorFlashSink, NorFlashSource, Options, Overflow,
    OwnedIndex, OwnedSafeTensors, PREFIX_LEN, Part, Plan, Quantized, SafeTensors, Scan, Shape,
    Slot, Source, StorageError, StoredSafeTensors, StreamError, TensorIndexer, TensorInfo,
    TensorSpec, TensorView, Text, WriteError, WriteOptions,
};

#[cortex_m_rt::entry]
fn main() -> ! {
    let bytes = black_box(&[][..]);
    let slots = &mut black_box([Slot::EMPTY; 8])[..];
    whole_files(bytes, slots);
    headers(bytes, slots);
    owners(bytes);
    written(bytes);
    edits(bytes);
    checksums(bytes, slots);
    stored(slots);
    dtypes(black_box("F32"));
    loop {
        core::hint::spin_loop();
    }
}

// ── what the standard traits do ──

/// Where text and hashes go: nowhere, but the compiler can't know.
struct Sink;

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        black_box(Ok(()))
    }
}

impl Hasher for Sink {
    fn write(&mut self, bytes: &[u8]) {
        black_box(bytes);
    }

    fn finish(&self) -> u64 {
        black_box(0)
    }
}

fn debug(value: &impl Debug) {
    let _ = write!(Sink, "{value:?} {value:#?}");
}

/// Where logs go.
#[defmt::global_logger]
struct Logger;

// SAFETY: there is one thread, and nothing is kept between the calls.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        black_box(());
    }

    unsafe fn flush() {}

    unsafe fn release() {
        black_box(());
    }

    unsafe fn write(bytes: &[u8]) {
        black_box(bytes);
    }
}

/// What can be logged can be shown as well.
fn log(value: &(impl Format + Debug)) {
    debug(value);
    defmt::println!("{}", value);
}

fn display(value: &impl Display) {
    let _ = write!(Sink, "{value} {value:<8} {value:>9.3}");
}

fn hash(value: &impl Hash) {
    value.hash(&mut Sink);
}

fn order<T: Ord>(a: &T, b: &T) {
    black_box((a == b, a.cmp(b), a.partial_cmp(b), a < b));
}

/// The iterator as it is, its rest, and a copy that is taken item by item.
fn iterate<I: Iterator + Clone + Debug>(items: I, each: impl Fn(I::Item)) {
    let mut rest = items.clone();
    black_box((rest.size_hint(), rest.nth(black_box(1)).is_some()));
    debug(&rest);
    black_box((rest.clone().count(), rest.last().is_some()));
    items.for_each(each);
}

fn iterate_both_ways<I>(items: I, each: impl Fn(I::Item))
where
    I: DoubleEndedIterator + ExactSizeIterator + Clone + Debug,
{
    black_box(items.len());
    iterate(items.clone(), &each);
    items.rev().for_each(each);
}

// ── what has the whole file ──

fn options() -> Options {
    let options = Options::new().header_limit(black_box(1000)).allow_gaps(black_box(true));
    black_box((options == Options::default(), Options::DEFAULT_HEADER_LIMIT));
    log(&options);
    options
}

fn whole_files(bytes: &[u8], slots: &mut [Slot]) {
    black_box(Slot::default());
    log(&slots);
    for found in [SafeTensors::scan(bytes), options().scan(bytes)] {
        found.map_or_else(|error| errors(error, bytes), scan);
    }
    match SafeTensors::parse(bytes, slots) {
        Ok(found) => model(&found),
        Err(error) => errors(error, bytes),
    }
    match options().parse(bytes, slots) {
        Ok(found) => model(&found),
        Err(error) => errors(error, bytes),
    }
    model(&SafeTensors::with_slots(black_box(bytes), black_box(slots)));
}

fn scan(scan: Scan) {
    log(&scan);
    black_box((scan.tensors(), scan.metadata_keys(), scan.slots_needed(), scan.data_len()));
    black_box((scan.in_offset_order(), scan == black_box(scan)));
}

fn model(model: &SafeTensors<'_, '_>) {
    log(model);
    black_box((model.len(), model.is_empty(), model.data()));
    model.tensor(black_box("w")).iter().for_each(view);
    model.by_offset(black_box(3)).iter().for_each(view);
    model.into_iter().chain(*model).for_each(|found| view(&found));
    let mut tensors = model.iter();
    black_box(tensors.next_tensor().is_some());
    iterate(tensors, |found| view(&found));
    iterate_both_ways(model.iter_by_offset(), |found| view(&found));
    if let Some(Some(weight)) = checked(model.quantized(black_box("w"))) {
        log(&weight);
        black_box((weight.integers(), weight.channels(), Quantized::MAX_NAME));
        black_box((weight.scale(black_box(1)), weight.zero_point(black_box(1))));
        black_box(checked(weight.dequantize_into(&mut black_box([0.0; 8]))));
    }
    if let Some(tensor) = model.tensor("w") {
        black_box(checked(Quantized::new(tensor, tensor, Some(tensor))));
    }
    let mut names = model.names();
    black_box(names.next_name().is_some());
    iterate(names, |name| text(&name));
    metadata(model.metadata());
    index(&model.index());
}

fn view(view: &TensorView<'_>) {
    log(view);
    black_box((view.dtype(), view.data()));
    black_box((view.shape() == [black_box(2), 3], view.shape() == *black_box(&[1, 2][..])));
    text(&view.name());
    info(&view.info());
    numbers(view.elements());
    slices(view);
    #[cfg(feature = "reachable")]
    black_box(view.data()[view.shape().rank()]);
}

// ── what has the header ──

fn headers(bytes: &[u8], slots: &mut [Slot]) {
    let prefix = black_box([0; PREFIX_LEN]);
    for found in [Header::len_from_prefix(prefix), options().len_from_prefix(prefix)] {
        black_box(found.map_err(|error| errors(error, bytes)).is_ok());
    }
    for found in [Header::read(bytes), options().header(bytes)] {
        found.map_or_else(|error| errors(error, bytes), header);
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

fn header(header: Header<'_>) {
    log(&header);
    black_box((header.data_start(), header.json()));
    header.scan().map_or_else(|error| errors(error, header.json()), scan);
    metadata(header.metadata());
    iterate(header.entries(), |found| {
        log(&found);
        match found {
            Ok(Entry::Tensor(found)) => info(&found),
            Ok(Entry::Metadata(found)) => metadata(found),
            Err(error) => errors(error, header.json()),
        }
    });
    let mut entries = header.entries();
    while entries.next_entry().is_some() {
        if let Some(position) = entries.position() {
            debug(&position);
            hash(&position);
            order(&position, &black_box(position));
            entries = header.entries_from(position);
        }
    }
    iterate(header.deviations(), |found| deviation(&found));
}

fn index(index: &Index<'_, '_>) {
    log(index);
    black_box((index.len(), index.is_empty(), index.data_len(), index.slots(), index.header()));
    let _ = index.check_file_len(black_box(9)).map_err(|error| errors(error, b""));
    index.tensor(black_box("w")).iter().for_each(info);
    index.by_offset(black_box(3)).iter().for_each(info);
    let mut infos = index.iter();
    black_box(infos.next_info().is_some());
    iterate(infos, |found| info(&found));
    iterate_both_ways(index.iter_by_offset(), |found| info(&found));
    iterate(index.names(), |name| text(&name));
    metadata(index.metadata());
}

fn info(info: &TensorInfo<'_>) {
    log(info);
    black_box((info.dtype(), info.data_offsets(), info.byte_range(), info.data_len()));
    text(&info.name());
    shape(&info.shape());
}

fn shape(shape: &Shape<'_>) {
    display(shape);
    log(shape);
    black_box((shape.rank(), shape.dim(black_box(1)), shape.element_count()));
    black_box((*shape == black_box(*shape), shape.into_iter().chain(*shape).max()));
    black_box((*shape == *black_box(&[2_u8, 3][..]), *shape == black_box(&[2_i64, 3][..])));
    black_box((shape.to_array::<0>(), shape.to_array::<3>()));
    checked(shape.copy_into(&mut black_box([0_usize; 4])));
    checked(shape.copy_into(&mut black_box([0_u8; 4])));
    checked(shape.strides_into(&mut black_box([0; 4])));
    let mut dims = shape.iter();
    log(&dims);
    black_box(dims.next_dim());
    iterate(dims, |dim| {
        black_box(dim);
    });
}

// ── what owns its slots ──

fn owners(bytes: &[u8]) {
    let models =
        [OwnedSafeTensors::<8>::parse(bytes), OwnedSafeTensors::parse_with(&options(), bytes)];
    for owner in models.into_iter().filter_map(checked) {
        log(&black_box(owner.clone()));
        model(&owner.view());
        for view in owner.view() {
            black_box(checked(view.name().to_heapless::<8>()));
            black_box(checked(view.shape().to_heapless::<3>()));
        }
    }
    let indexes = [OwnedIndex::<8>::build(bytes), OwnedIndex::build_with(&options(), bytes)];
    for owner in indexes.into_iter().filter_map(checked) {
        log(&black_box(owner.clone()));
        index(&owner.view());
    }
}

// ── what reads and writes numbers ──

/// Looks at the error, if it is one.
fn checked<T>(result: Result<T, Error>) -> Option<T> {
    result.map_err(|error| errors(error, b"")).ok()
}

fn numbers(elements: Elements<'_>) {
    log(&elements);
    black_box((elements.dtype(), elements.bytes(), elements.len(), elements.is_empty()));
    typed::<bool>(elements);
    typed::<u8>(elements);
    typed::<i8>(elements);
    typed::<u16>(elements);
    typed::<i16>(elements);
    typed::<f16>(elements);
    typed::<bf16>(elements);
    typed::<u32>(elements);
    typed::<i32>(elements);
    typed::<f32>(elements);
    typed::<[f32; 2]>(elements);
    typed::<u64>(elements);
    typed::<i64>(elements);
    typed::<f64>(elements);
    black_box(elements.value(black_box(3)));
    if let Some(values) = checked(elements.values()) {
        iterate_both_ways(values, |value| {
            black_box(value);
        });
    }
    let mut values = black_box([0.0; 8]);
    black_box(checked(elements.convert_into(&mut values)));
    let (dtype, bytes) = (elements.dtype(), &mut black_box([0; 64]));
    for overflow in black_box([Overflow::Saturate, Overflow::NonFinite]) {
        log(&overflow);
        hash(&overflow);
        black_box(overflow == Overflow::Saturate);
        black_box(checked(Elements::convert_from(&values, dtype, overflow, bytes)));
    }
    black_box(checked(Elements::new(black_box(Dtype::F6_E2M3), bytes)));
}

fn typed<T: Element>(elements: Elements<'_>) {
    black_box(T::DTYPE);
    let slice = black_box(checked(elements.as_slice::<T>())).unwrap_or(&[]);
    black_box(checked(Elements::copy_from(slice, &mut black_box([0; 64]))));
    if let Some(items) = checked(elements.iter::<T>()) {
        iterate_both_ways(items, |item| {
            black_box(item);
        });
        if let Some(first) = slice.first() {
            let mut to = [*first; 8];
            black_box(checked(elements.copy_into(black_box(&mut to))));
        }
    }
}

fn slices(view: &TensorView<'_>) {
    let indexers = [
        TensorIndexer::ALL,
        TensorIndexer::select(black_box(3)),
        TensorIndexer::range(black_box(None), black_box(Some(-1)), black_box(2)),
        TensorIndexer::from(black_box(1_u64)..black_box(5)).step(black_box(-1)),
    ];
    debug(&indexers);
    hash(&indexers);
    black_box(indexers == black_box(indexers));
    black_box(checked(view.info().slice(())));
    if let Some(slice) = checked(view.info().slice(indexers)) {
        log(&slice);
        black_box((slice.dtype(), slice.element_count()));
        log(&slice.dims());
        iterate(slice.dims(), |dim| {
            black_box(dim);
        });
        iterate(slice.byte_ranges(), |range| {
            black_box(range);
        });
    }
    let indices = (black_box(1_usize).., ..black_box(2_u32), .., black_box(-1), black_box(7_i64));
    if let Some(slice) = checked(view.slice(indices)) {
        log(&slice);
        black_box((slice.dtype(), slice.element_count(), slice.elements()));
        iterate(slice.dims(), |dim| {
            black_box(dim);
        });
        black_box(slice.runs().len());
        iterate(slice.runs(), |run| {
            black_box(run);
        });
        black_box(checked(slice.copy_bytes_into(&mut black_box([0; 8]))));
        black_box(checked(slice.copy_into(&mut black_box([0_i16; 8]))));
        black_box(checked(slice.convert_into(&mut black_box([0.0; 8]))));
    }
}

fn metadata(metadata: Option<Metadata<'_>>) {
    let Some(metadata) = metadata else { return };
    log(&metadata);
    black_box((metadata.len(), metadata.is_empty()));
    metadata.value(black_box("k")).iter().for_each(text);
    (&metadata).into_iter().chain(metadata).for_each(|(key, value)| {
        text(&key);
        text(&value);
    });
    let mut pairs = metadata.iter();
    black_box(pairs.next_pair().is_some());
    iterate(pairs, |(key, _)| text(&key));
}

fn deviation(deviation: &Deviation<'_>) {
    display(deviation);
    log(deviation);
    black_box((deviation.kind().message(), deviation.offset()));
    log(&deviation.kind());
    hash(&deviation.kind());
    deviation.tensor().iter().chain(&deviation.word()).for_each(text);
}

// ── what writes files ──

fn written(bytes: &[u8]) {
    let shape = black_box(&[2_usize, 3][..]);
    let mut tensors = [
        TensorSpec::new(black_box("w"), black_box(Dtype::F32), shape).with_data(bytes),
        TensorSpec::new(black_box("v"), black_box(Dtype::F4), black_box(&[4, 5])),
        TensorSpec::new(black_box("u"), black_box(Dtype::F16), black_box(&[4_u64][..])),
    ];
    if let Ok(model) = OwnedSafeTensors::<8>::parse(bytes)
        && let ([first, second, ..], Some(view)) = (&mut tensors, model.view().by_offset(0))
    {
        *first = TensorSpec::from(view);
        *second = TensorSpec::from(view.info());
    }
    let mut pairs = [MetadataPair::new("k", black_box("v")), MetadataPair::new("j", "\n")];
    let options = WriteOptions::default()
        .keep_order(black_box(true))
        .sort_metadata(black_box(true))
        .align(black_box(64))
        .align_tensors(black_box(16))
        .reserve(black_box(16))
        .header_limit(black_box(1000));
    log(&options);
    black_box(options == WriteOptions::new());
    match options.plan(&mut tensors, black_box(Some(&mut pairs))) {
        Ok(found) => plan(&found),
        Err(error) => write_errors(error, &tensors, &pairs),
    }
    match WriteOptions::new().plan(black_box(&mut tensors), None) {
        Ok(found) => plan(&found),
        Err(error) => write_errors(error, &tensors, &pairs),
    }
}

fn plan(plan: &Plan<'_>) {
    let _ = black_box((plan.checksum(), plan.metadata()));
    log(plan);
    streams(plan);
    into_flash(plan);
    black_box((plan.data_start(), plan.data_len(), plan.file_len()));
    for tensor in plan.tensors() {
        log(tensor);
        text(&tensor.name());
        log(&tensor.shape());
        black_box((tensor.dtype(), tensor.data(), tensor.data_offsets()));
    }
    let mut buffer = black_box([0; 64]);
    for found in
        [plan.write_into(&mut buffer).map(|_| ()), plan.write_header_into(&mut buffer).map(|_| ())]
    {
        if let Err(error) = found {
            write_errors(error, plan.tensors(), &[]);
        }
    }
}

/// A port that takes a few bytes at once, or fails.
struct Port;

impl embedded_io::ErrorType for Port {
    type Error = embedded_io::ErrorKind;
}

impl embedded_io::Write for Port {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        black_box(bytes);
        black_box(Ok(bytes.len()))
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn streams(plan: &Plan<'_>) {
    let result = stream(plan, |bytes: &[u8]| black_box(Err(bytes.len())));
    stream_errors(&result, |error| {
        black_box(*error);
    });
    let result = stream(plan, EmbeddedIo(Port));
    debug(&EmbeddedIo(Port));
    stream_errors(&result, |error| debug(error));
}

fn stream<S: safetensors_core::Sink>(
    plan: &Plan<'_>,
    sink: S,
) -> Result<(), StreamError<S::Error>> {
    let mut stream = plan.stream(sink)?;
    debug(&stream);
    while let Some(tensor) = stream.next_tensor()? {
        text(&tensor.name());
        stream.write(black_box(&[1, 2]))?;
    }
    black_box(stream.written());
    let mut sink = stream.finish()?;
    let _ = sink.write(b"");
    Ok(())
}

/// Flash that reads, writes and is erased in blocks, or fails.
struct Flash;

impl embedded_storage::nor_flash::ErrorType for Flash {
    type Error = embedded_storage::nor_flash::NorFlashErrorKind;
}

impl embedded_storage::nor_flash::ReadNorFlash for Flash {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, to: &mut [u8]) -> Result<(), Self::Error> {
        black_box((offset, to));
        black_box(Ok(()))
    }

    fn capacity(&self) -> usize {
        black_box(1 << 20)
    }
}

impl embedded_storage::nor_flash::NorFlash for Flash {
    const WRITE_SIZE: usize = 16;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        black_box((from, to));
        black_box(Ok(()))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        black_box((offset, bytes));
        black_box(Ok(()))
    }
}

impl embedded_storage::ReadStorage for Flash {
    type Error = embedded_storage::nor_flash::NorFlashErrorKind;

    fn read(
        &mut self,
        offset: u32,
        to: &mut [u8],
    ) -> Result<(), <Self as embedded_storage::ReadStorage>::Error> {
        black_box((offset, to));
        black_box(Ok(()))
    }

    fn capacity(&self) -> usize {
        black_box(1 << 20)
    }
}

fn into_flash(plan: &Plan<'_>) {
    let mut buffer = black_box([0; 512]);
    match NorFlashSink::new(Flash, black_box(4096), plan, &mut buffer) {
        Ok(sink) => {
            debug(&sink);
            let result = plan.stream(sink).and_then(|stream| stream.finish()).and_then(|sink| {
                let _: Flash = sink.finish()?;
                Ok(())
            });
            stream_errors(&result, |error| debug(error));
        }
        Err(error) => write_errors(error, &[], &[]),
    }
}

fn stream_errors<E>(result: &Result<(), StreamError<E>>, sink: impl FnOnce(&E)) {
    match result {
        Ok(()) => {}
        Err(StreamError::Write(error)) => {
            log(&StreamError::<u8>::from(*error));
            write_errors(*error, &[], &[]);
        }
        Err(StreamError::Sink(error)) => {
            log(&StreamError::Sink(black_box(7)));
            sink(error);
        }
    }
}

// ── what reads files that are not in memory ──

impl embedded_io::Read for Port {
    fn read(&mut self, to: &mut [u8]) -> Result<usize, Self::Error> {
        black_box(to);
        black_box(Ok(3))
    }
}

impl embedded_io::Seek for Port {
    fn seek(&mut self, to: embedded_io::SeekFrom) -> Result<u64, Self::Error> {
        black_box(to);
        black_box(Ok(3))
    }
}

fn stored(slots: &mut [Slot]) {
    let closure = |offset: u64, to: &mut [u8]| {
        black_box((offset, to));
        black_box(Ok::<usize, embedded_io::ErrorKind>(3))
    };
    storage_errors(&source(closure, slots), |error| debug(error));
    let starting = closure.starting_at(black_box(4096));
    debug(&starting);
    storage_errors(&source(starting, slots), |error| debug(error));
    debug(&EmbeddedStorage(Flash));
    debug(&NorFlashSource(Flash));
    storage_errors(&source(EmbeddedStorage(Flash), slots), |error| debug(error));
    storage_errors(&source(NorFlashSource(Flash), slots), |error| debug(error));
    storage_errors(&source(EmbeddedIo(Port), slots), |error| debug(error));
}

fn source<S: Source>(mut source: S, slots: &mut [Slot]) -> Result<(), StorageError<S::Error>> {
    black_box(source.capacity().is_ok());
    let mut buffer = black_box([0; 512]);
    let mut model = match black_box(true) {
        true => StoredSafeTensors::open(source, &mut buffer, slots)?,
        false => options().open(source, &mut buffer, slots)?,
    };
    log(&model);
    index(&model.index());
    metadata(model.metadata());
    if let Some(tensor) = model.tensor(black_box("w")) {
        part(&mut model, &tensor)?;
        let slice = tensor.slice((black_box(1).., TensorIndexer::ALL.step(black_box(-2))))?;
        part(&mut model, &slice)?;
    }
    model.check_checksum(&mut black_box([0; 30]))?;
    black_box(model.into_source().capacity().is_ok());
    Ok(())
}

fn part<S: Source>(
    model: &mut StoredSafeTensors<'_, '_, S>,
    part: &impl Part,
) -> Result<(), StorageError<S::Error>> {
    let mut scratch = black_box([0; 30]);
    black_box(model.copy_bytes_into(part, &mut black_box([0; 64]))?);
    black_box(model.copy_into(part, &mut black_box([0_i16; 64]), &mut scratch)?);
    black_box(model.copy_into(part, &mut black_box([false; 64]), &mut scratch)?);
    black_box(model.convert_into(part, &mut black_box([0.0; 64]), &mut scratch)?);
    let mut chunks = model.chunks(part);
    debug(&chunks);
    while let Some(elements) = chunks.next(&mut scratch)? {
        black_box(elements);
    }
    Ok(())
}

fn storage_errors<E: Debug + Display>(
    result: &Result<(), StorageError<E>>,
    source: impl FnOnce(&E),
) {
    let Err(error) = result else { return };
    debug(error);
    display(error);
    match error {
        StorageError::Format(error) => {
            log(&StorageError::<u8>::from(*error));
            errors(*error, b"");
        }
        StorageError::Source(error) => {
            log(&StorageError::Source(black_box(7)));
            source(error);
        }
    }
}

fn edits(bytes: &[u8]) {
    let mut buffer = black_box([0; 512]);
    let mut len = 0;
    for (to, from) in buffer.iter_mut().zip(bytes) {
        *to = *from;
        len += 1;
    }
    let editor = match black_box(true) {
        true => Editor::open(&mut buffer, black_box(len)),
        false => Options::new().edit(&mut buffer, black_box(len)),
    };
    let mut editor = match editor {
        Ok(editor) => editor,
        Err(error) => return errors(error, b""),
    };
    debug(&editor);
    black_box((editor.file(), editor.header().data_start()));
    for result in [
        editor.set_metadata(black_box("k"), black_box("v")),
        editor.remove_metadata(black_box("k")).map(|_| ()),
        editor.rename(black_box("w"), black_box("v")),
        editor.reserve(black_box(16)),
    ] {
        if let Err(error) = result {
            write_errors(error, &[], &[]);
        }
    }
    if let Some(data) = editor.data_mut(black_box("v")) {
        data.fill(0);
    }
    black_box(editor.finish());
}

#[inline(never)]
fn checksums(bytes: &[u8], slots: &mut [Slot]) {
    if let Some(model) = checked(SafeTensors::parse(bytes, slots)) {
        checked(model.check_checksum());
        if let Some(mut checksum) = checked(Checksum::of(&model.index().header())) {
            checksum.update(bytes);
            checked(checksum.check());
            black_box((checksum.place(), checksum.digits()));
            log(&checksum);
            black_box(checksum.clone());
        }
    }
    let mut buffer = black_box([0; 64]);
    if let Some(mut editor) = checked(Editor::open(&mut buffer, bytes.len())) {
        let _ = black_box(editor.set_checksum());
    }
}

fn write_errors(error: WriteError, tensors: &[TensorSpec<'_>], pairs: &[MetadataPair<'_>]) {
    display(&error);
    log(&error);
    hash(&error);
    black_box((error.kind().message(), error.index(), error.number(), error == black_box(error)));
    log(&error.kind());
    hash(&error.kind());
    let shown = error.display(tensors, pairs);
    display(&shown);
    log(&shown);
    for pair in pairs {
        log(pair);
        text(&pair.key());
        text(&pair.value());
    }
}

// ── the small types ──

fn text(text: &Text<'_>) {
    display(text);
    log(text);
    display(&text.quoted());
    log(&text.quoted());
    hash(text);
    order(text, &black_box(*text));
    let other = black_box("w");
    black_box(Text::from(other).chars().count());
    black_box((text.raw(), text.as_str(), text.len(), text.is_empty(), text.is(other)));
    black_box((*text == *other, *text == other, *other == *text, other == *text));
    iterate(text.chars(), |character| {
        black_box(character);
    });
    match text.decode_into(&mut black_box([0; 8])) {
        Ok(text) => {
            black_box(text);
        }
        Err(error) => errors(error, b""),
    }
}

/// Never inlined, as that would be in every place where something can fail.
#[inline(never)]
fn errors(error: Error, input: &[u8]) {
    display(&error);
    log(&error);
    hash(&error);
    black_box((error.offset(), error.number(), error == black_box(error)));
    let kind = error.kind();
    log(&kind);
    hash(&kind);
    black_box((kind.message(), kind == black_box(kind)));
    let shown = error.display(input);
    display(&shown);
    log(&shown);
    if let Some(name) = shown.name() {
        // Not `text`, which comes here.
        display(&name);
    }
    let error: &dyn core::error::Error = &error;
    black_box((error.source().is_some(), error.is::<Error>()));
    let _ = write!(Sink, "{error}");
}

fn dtypes(name: &str) {
    for dtype in Dtype::ALL.iter().chain(&Dtype::from_name(name)) {
        display(dtype);
        log(dtype);
        hash(dtype);
        order(dtype, &Dtype::F32);
        black_box((dtype.name(), dtype.bitsize()));
    }
}
