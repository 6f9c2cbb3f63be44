//! What is planned is refused for a reason that a plain computation finds, or else becomes the file
//! that it makes: in one piece and in many, read back, and as the reference writes it.
#![no_main]

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reference::tensor::{Dtype as ReferenceDtype, TensorView as ReferenceView};
use safetensors_core::{
    Dtype, Header, MetadataPair, Options, Plan, SafeTensors, Slot, StreamError, TensorSpec, Text,
    WriteError, WriteErrorKind, WriteOptions,
};

struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    data: Vec<u8>,
    /// The data arrives later if not.
    at_hand: bool,
}

/// How a file is laid out.
struct Layout {
    keep_order: bool,
    sort_metadata: bool,
    align: u32,
    align_tensors: u32,
    reserve: u32,
    header_limit: u32,
}

struct Case {
    tensors: Vec<Tensor>,
    pairs: Option<Vec<(String, String)>>,
    layout: Layout,
    /// Bytes that a sink takes at once, and that arrive at once.
    piece: usize,
    /// Where a sink fails.
    end: usize,
    /// Which names, keys and values are given with all their characters escaped.
    escaped: u8,
}

/// Kind, index and number of an error.
type Fault = (WriteErrorKind, Option<usize>, u64);

/// What a plan must find.
struct Expected {
    /// The tensors as they are written, and where.
    places: Vec<(usize, u64, u64)>,
    pairs: Option<Vec<(String, String)>>,
    json: String,
    start: u64,
}

/// No more is written.
const MOST: u64 = 1 << 12;

static ZEROS: [u8; MOST as usize + 1] = [0; MOST as usize + 1];

fuzz_target!(|bytes: &[u8]| check(&choose(Input(bytes))));

// ── what is to be written ──

fn choose(mut input: Input<'_>) -> Case {
    let plain = input.flag();
    let mut number = |most: u32| match input.byte() {
        _ if plain => None,
        small @ 0..200 => Some(u32::from(small) % most),
        200..240 => None,
        _ => Some(u32::from_le_bytes(input.take())),
    };
    let layout = Layout {
        align: number(100).unwrap_or(8),
        align_tensors: number(20).unwrap_or(1),
        reserve: number(200).unwrap_or(0),
        header_limit: number(200)
            .map_or(Options::DEFAULT_HEADER_LIMIT, |limit| limit.saturating_mul(4)),
        keep_order: !plain && input.flag(),
        sort_metadata: input.flag(),
    };
    let (piece, end, escaped) = (1 + input.below(200), input.take(), input.byte());
    let pairs = (0..input.below(5)).map(|_| (text(&mut input), text(&mut input))).collect();
    let pairs = input.flag().then_some(pairs);
    let tensors = (0..input.below(12)).map(|_| tensor(&mut input)).collect();
    Case { tensors, pairs, layout, piece, end: u16::from_le_bytes(end).into(), escaped }
}

/// A short text of a few characters, or of any: control characters above all.
fn text(input: &mut Input<'_>) -> String {
    if input.below(4) < 3 {
        return input.text();
    }
    let len = input.below(32).min(input.0.len());
    let (text, rest) = input.0.split_at(len);
    input.0 = rest;
    String::from_utf8_lossy(text).into_owned()
}

fn tensor(input: &mut Input<'_>) -> Tensor {
    let (name, dtype) = (text(input), input.dtype());
    let shape: Vec<u64> = (0..input.below(4)).map(|_| input.dim()).collect();
    let len = data_len(dtype, &shape).ok().filter(|len| *len <= MOST);
    let seed = input.byte();
    let data: Vec<u8> = (0..len.unwrap_or(0)).map(|i| (i as u8).wrapping_mul(seed | 1)).collect();
    let (data, at_hand) = match input.byte() {
        0..150 => (data, len.is_some()),
        150..240 => (data, false),
        // Of the wrong length, mostly.
        more => (vec![0; usize::from(more) - 240], true),
    };
    Tensor { name, dtype, shape, data, at_hand }
}

// ── the plain computation ──

/// The bytes of a tensor, or what is wrong with it.
fn data_len(dtype: Dtype, shape: &[u64]) -> Result<u64, (WriteErrorKind, u64)> {
    let fitting = |size: u128| u64::try_from(size).map_err(|_| (WriteErrorKind::SizeOverflow, 0));
    let mut count = 1;
    for dim in shape {
        count = fitting(u128::from(count) * u128::from(*dim))?;
    }
    let bits = fitting(u128::from(count) * dtype.bitsize() as u128)?;
    if bits % 8 == 0 { Ok(bits / 8) } else { Err((WriteErrorKind::PartialByte, bits)) }
}

/// All that is wrong with the tensors and pairs by themselves.
fn faults(case: &Case) -> Vec<Fault> {
    let mut faults = Vec::new();
    let (mut names, mut keys) = (HashSet::new(), HashSet::new());
    for (i, tensor) in case.tensors.iter().enumerate() {
        let mut fault = |kind, number| faults.push((kind, Some(i), number));
        if tensor.name == "__metadata__" {
            fault(WriteErrorKind::ReservedName, 0);
        }
        match data_len(tensor.dtype, &tensor.shape) {
            Err((kind, number)) => fault(kind, number),
            Ok(len) if tensor.at_hand && tensor.data.len() as u64 != len => {
                fault(WriteErrorKind::WrongDataLen, len);
            }
            Ok(_) => {}
        }
        if !names.insert(&tensor.name) {
            fault(WriteErrorKind::DuplicateName, 0);
        }
    }
    for (i, (key, _)) in case.pairs.iter().flatten().enumerate() {
        if !keys.insert(key) {
            faults.push((WriteErrorKind::DuplicateKey, Some(i), 0));
        }
    }
    faults
}

/// The file, or all the reasons that there is none; which of them is told is not said.
fn expect(case: &Case) -> Result<Expected, Vec<Fault>> {
    let faults = faults(case);
    if !faults.is_empty() {
        return Err(faults);
    }
    let layout = &case.layout;
    let mut order: Vec<usize> = (0..case.tensors.len()).collect();
    if !layout.keep_order {
        order.sort_by_key(|i| {
            let tensor = &case.tensors[*i];
            (Reverse(reference_dtype(tensor.dtype)), &tensor.name)
        });
    }
    let (mut places, mut data_len) = (Vec::new(), 0_u64);
    for i in order {
        let tensor = &case.tensors[i];
        let begin = u128::from(data_len).next_multiple_of(layout.align_tensors.max(1).into());
        let end = begin + u128::from(self::data_len(tensor.dtype, &tensor.shape).unwrap());
        let overflow = || vec![(WriteErrorKind::SizeOverflow, Some(i), 0)];
        data_len = u64::try_from(end).map_err(|_| overflow())?;
        places.push((i, begin as u64, data_len));
    }
    let mut pairs = case.pairs.clone();
    if layout.sort_metadata {
        pairs.iter_mut().for_each(|pairs| pairs.sort());
    }
    let json = json(case, &places, pairs.as_deref());
    let end = 8 + json.len() as u64 + u64::from(layout.reserve);
    let start = end.next_multiple_of(layout.align.max(1).into());
    let mut faults = Vec::new();
    if start - 8 > u64::from(layout.header_limit) {
        faults.push((WriteErrorKind::HeaderTooLarge, None, start - 8));
    }
    if start.checked_add(data_len).is_none() {
        faults.push((WriteErrorKind::SizeOverflow, None, 0));
    }
    if faults.is_empty() { Ok(Expected { places, pairs, json, start }) } else { Err(faults) }
}

/// With the strings of serde_json, which the reference uses.
fn json(case: &Case, places: &[(usize, u64, u64)], pairs: Option<&[(String, String)]>) -> String {
    let string = |text: &String| serde_json::to_string(text).unwrap();
    let mut entries = Vec::new();
    if let Some(pairs) = pairs {
        let pairs = pairs.iter().map(|(key, value)| format!("{}:{}", string(key), string(value)));
        entries.push(format!("\"__metadata__\":{{{}}}", pairs.collect::<Vec<_>>().join(",")));
    }
    for (i, begin, end) in places {
        let Tensor { name, dtype, shape, .. } = &case.tensors[*i];
        let shape = serde_json::to_string(shape).unwrap();
        let (name, fields) = (string(name), format!("\"dtype\":\"{dtype}\",\"shape\":{shape}"));
        entries.push(format!("{name}:{{{fields},\"data_offsets\":[{begin},{end}]}}"));
    }
    format!("{{{}}}", entries.join(","))
}

fn file(case: &Case, expected: &Expected) -> Vec<u8> {
    let start = expected.start as usize;
    let mut file = (expected.start - 8).to_le_bytes().to_vec();
    file.extend_from_slice(expected.json.as_bytes());
    file.resize(start, b' ');
    for (i, begin, _) in &expected.places {
        file.resize(start + *begin as usize, 0);
        file.extend_from_slice(&case.tensors[*i].data);
    }
    file
}

fn reference_dtype(dtype: Dtype) -> ReferenceDtype {
    serde_json::from_str(&format!("\"{dtype}\"")).unwrap()
}

// ── what becomes of it ──

fn check(case: &Case) {
    let expected = expect(case);
    let most = |expected: &Expected| {
        expected.start + expected.places.last().map_or(0, |(.., end)| *end) <= MOST
    };
    with_plan(case, false, |plan| match (plan, &expected) {
        (Ok(plan), Ok(expected)) => {
            planned(case, expected, plan);
            if most(expected) {
                let file = file(case, expected);
                streamed(case, plan, &file);
                in_one_piece(plan, &file);
            }
        }
        (Err(error), Err(faults)) => {
            assert!(faults.contains(&(error.kind(), error.index(), error.number())), "{error}");
        }
        (Ok(_), Err(faults)) => panic!("planned in spite of {faults:?}"),
        (Err(error), Ok(_)) => panic!("{error}"),
    });
    let Ok(expected) = expected.as_ref() else { return };
    if most(expected) {
        let file = file(case, expected);
        with_plan(case, true, |plan| in_one_piece(plan.unwrap(), &file));
        read_back(case, expected, &file);
        if is_plain(&case.layout) {
            as_the_reference(case, &file);
        }
    }
}

/// Plans; `whole` is with all data at hand. After an error all is in the order given.
fn with_plan(case: &Case, whole: bool, look: impl FnOnce(Result<&Plan<'_>, WriteError>)) {
    let names = case.tensors.iter().map(|tensor| &tensor.name);
    let pairs = case.pairs.iter().flatten();
    let texts = names.chain(pairs.flat_map(|(key, value)| [key, value])).collect::<Vec<_>>();
    let spelled = escaped(&texts);
    let spelled = Header::read(&spelled).unwrap().metadata().unwrap();
    let mut texts = texts.iter().zip(&spelled).enumerate().map(|(i, (plain, (_, escaped)))| {
        if case.escaped >> (i % 8) & 1 == 1 { escaped } else { Text::from(plain.as_str()) }
    });
    let mut specs: Vec<_> = case
        .tensors
        .iter()
        .map(|tensor| {
            let spec = TensorSpec::new(texts.next().unwrap(), tensor.dtype, &*tensor.shape);
            if whole || tensor.at_hand { spec.with_data(&tensor.data) } else { spec }
        })
        .collect();
    let mut pairs = case.pairs.as_ref().map(|pairs| {
        let pair = |_| MetadataPair::new(texts.next().unwrap(), texts.next().unwrap());
        pairs.iter().map(pair).collect::<Vec<_>>()
    });
    match options(&case.layout).plan(&mut specs, pairs.as_deref_mut()) {
        Ok(plan) => look(Ok(&plan)),
        Err(error) => {
            look(Err(error));
            let given = |(spec, tensor): (&TensorSpec<'_>, &Tensor)| spec.name() == *tensor.name;
            assert!(specs.iter().zip(&case.tensors).all(given));
            assert!(specs.iter().map(TensorSpec::index).eq(0..specs.len()));
            let found = pairs.iter().flatten().map(|pair| (pair.key(), pair.value()));
            let given = case.pairs.iter().flatten();
            assert!(found.eq(given.map(|(key, value)| (Text::from(&**key), Text::from(&**value)))));
        }
    }
}

/// A file with these texts in its metadata, every character escaped.
fn escaped(texts: &[&String]) -> Vec<u8> {
    let pairs = texts.iter().map(|text| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
        format!("\"\":\"{}\"", units.collect::<String>())
    });
    let json = format!("{{\"__metadata__\":{{{}}}}}", pairs.collect::<Vec<_>>().join(","));
    [&(json.len() as u64).to_le_bytes(), json.as_bytes()].concat()
}

fn options(layout: &Layout) -> WriteOptions {
    WriteOptions::new()
        .keep_order(layout.keep_order)
        .sort_metadata(layout.sort_metadata)
        .align(layout.align)
        .align_tensors(layout.align_tensors)
        .reserve(layout.reserve)
        .header_limit(layout.header_limit)
}

fn planned(case: &Case, expected: &Expected, plan: &Plan<'_>) {
    let places = plan.tensors().iter().map(|spec| {
        let (begin, end) = spec.data_offsets();
        (spec.index(), begin, end)
    });
    assert!(places.eq(expected.places.iter().copied()));
    for spec in plan.tensors() {
        assert_eq!(spec.name(), *case.tensors[spec.index()].name);
    }
    assert_eq!(plan.data_start(), expected.start);
    assert_eq!(plan.data_len(), expected.places.last().map_or(0, |(.., end)| *end));
    assert_eq!(plan.file_len(), plan.data_start() + plan.data_len());
}

fn in_one_piece(plan: &Plan<'_>, file: &[u8]) {
    let header = &file[..plan.data_start() as usize];
    filled(header, |to| plan.write_header_into(to));
    let Some(missing) = plan.tensors().iter().find(|spec| spec.data().is_none()) else {
        return filled(file, |to| plan.write_into(to));
    };
    let (begin, end) = missing.data_offsets();
    let mut buffer = vec![0xaa; file.len()];
    let error = plan.write_into(&mut buffer).unwrap_err();
    let found = (error.kind(), error.index(), error.number());
    assert_eq!(found, (WriteErrorKind::MissingData, Some(missing.index()), end - begin));
    assert!(buffer.iter().all(|byte| *byte == 0xaa));
}

/// `fill` writes exactly this: what is behind stays, and all where one byte is wanting.
fn filled(expected: &[u8], fill: impl Fn(&mut [u8]) -> Result<&mut [u8], WriteError>) {
    for more in [0, 9] {
        let mut buffer = vec![0xaa; expected.len() + more];
        assert_eq!(fill(&mut buffer).unwrap(), expected);
        assert_eq!(buffer[..expected.len()], *expected);
        assert_eq!(buffer[expected.len()..], [0xaa; 9][..more]);
    }
    let mut buffer = vec![0xaa; expected.len() - 1];
    let error = fill(&mut buffer).unwrap_err();
    let found = (error.kind(), error.index(), error.number());
    assert_eq!(found, (WriteErrorKind::BufferTooSmall, None, expected.len() as u64));
    assert!(buffer.iter().all(|byte| *byte == 0xaa));
}

fn streamed(case: &Case, plan: &Plan<'_>, file: &[u8]) {
    let stream_to = |room: usize, full: Result<usize, ()>| {
        let mut got = Vec::new();
        let mut is_full = false;
        let sink = |bytes: &[u8]| {
            assert!(!bytes.is_empty() && !is_full);
            let some = bytes.len().min(case.piece).min(room - got.len());
            got.extend_from_slice(&bytes[..some]);
            is_full = some == 0;
            if is_full { full } else { Ok(some) }
        };
        let result = stream(case, plan, sink);
        (got, result)
    };
    let (got, result) = stream_to(file.len(), Err(()));
    assert_eq!(result, Ok(()));
    assert_eq!(got, file);
    // A sink that fails or is full has got all before.
    let room = case.end % file.len();
    let (got, result) = stream_to(room, Err(()));
    assert_eq!(result, Err(StreamError::Sink(())));
    assert_eq!(got, file[..room]);
    let (got, result) = stream_to(room, Ok(0));
    let Err(StreamError::Write(error)) = result else { panic!("{result:?}") };
    let found = (error.kind(), error.index(), error.number());
    assert_eq!(found, (WriteErrorKind::SinkFull, None, room as u64));
    assert_eq!(got, file[..room]);
}

/// What is not at hand arrives in pieces; too much of it, and too little, is refused.
fn stream(
    case: &Case,
    plan: &Plan<'_>,
    sink: impl FnMut(&[u8]) -> Result<usize, ()>,
) -> Result<(), StreamError<()>> {
    let mut stream = plan.stream(sink)?;
    assert_eq!(stream.written(), plan.data_start());
    while let Some(spec) = stream.next_tensor()? {
        let (index, (begin, end)) = (spec.index(), spec.data_offsets());
        assert_eq!(stream.written(), plan.data_start() + begin);
        let mut data = &*case.tensors[index].data;
        while !data.is_empty() {
            let written = stream.written();
            let error = stream.write(&ZEROS[..=data.len()]).unwrap_err();
            refused(error, (WriteErrorKind::WrongDataLen, Some(index), end - begin));
            let error = stream.next_tensor().unwrap_err();
            refused(error, (WriteErrorKind::MissingData, Some(index), data.len() as u64));
            assert_eq!(stream.written(), written);
            let (now, later) = data.split_at(data.len().min(case.piece));
            if let Err(error) = stream.write(now) {
                // The file is lost, and its sink not asked again.
                let fault = (WriteErrorKind::SinkFull, None, stream.written());
                refused(stream.next_tensor().unwrap_err(), fault);
                return Err(error);
            }
            data = later;
        }
    }
    assert_eq!(stream.written(), plan.file_len());
    stream.finish().map(|_| ())
}

fn refused(error: StreamError<()>, fault: Fault) {
    let StreamError::Write(error) = error else { panic!("{error:?}") };
    assert_eq!((error.kind(), error.index(), error.number()), fault);
}

fn read_back(case: &Case, expected: &Expected, file: &[u8]) {
    let layout = &case.layout;
    let ends = [0].into_iter().chain(expected.places.iter().map(|(.., end)| *end));
    let gaps = expected.places.iter().zip(ends).any(|((_, begin, _), end)| *begin != end);
    assert!(!gaps || layout.align_tensors > 1);
    let limits = Options::new().header_limit(layout.header_limit);
    let mut slots = [Slot::EMPTY; 16];
    assert_eq!(limits.parse(file, &mut slots).is_ok(), !gaps);
    let model = limits.allow_gaps(true).parse(file, &mut slots).unwrap();
    assert_eq!(model.len(), case.tensors.len());
    for (found, (i, ..)) in model.iter().zip(&expected.places) {
        let tensor = &case.tensors[*i];
        assert_eq!((found.name(), found.dtype()), ((&*tensor.name).into(), tensor.dtype));
        assert!(found.shape().iter().eq(tensor.shape.iter().copied()));
        assert_eq!(found.data(), tensor.data);
    }
    let text = |(key, value): (Text<'_>, Text<'_>)| (key.to_string(), value.to_string());
    let pairs = model.metadata().map(|pairs| pairs.iter().map(text).collect::<Vec<_>>());
    assert_eq!(pairs, expected.pairs);
    let header = model.index().header();
    assert!(header.data_start().is_multiple_of(layout.align.max(1).into()));
    let spaces = header.json().iter().rev().take_while(|byte| **byte == b' ').count();
    assert!(spaces as u64 >= u64::from(layout.reserve));
    again(layout, &model, file);
}

/// What was read is written again, as it is.
fn again(layout: &Layout, model: &SafeTensors<'_, '_>, file: &[u8]) {
    let mut specs: Vec<_> = model.iter().map(TensorSpec::from).collect();
    let mut pairs = model.metadata().map(|pairs| {
        pairs.iter().map(|(key, value)| MetadataPair::new(key, value)).collect::<Vec<_>>()
    });
    let options = options(layout).keep_order(true).sort_metadata(false);
    let plan = options.plan(&mut specs, pairs.as_deref_mut()).unwrap();
    assert_eq!(plan.write_into(&mut vec![0xaa; file.len()]).unwrap(), file);
}

fn is_plain(layout: &Layout) -> bool {
    (layout.align, layout.align_tensors, layout.reserve, layout.keep_order) == (8, 1, 0, false)
}

/// Byte for byte, where it does not choose an order of the metadata by chance.
fn as_the_reference(case: &Case, file: &[u8]) {
    let nothing = case.tensors.is_empty() && case.pairs.as_ref().is_some_and(Vec::is_empty);
    // Of a map without entries and no tensors it makes what it can't read.
    if nothing || case.pairs.as_ref().is_some_and(|pairs| pairs.len() > 1) {
        return;
    }
    let views = case.tensors.iter().map(|tensor| {
        let shape = tensor.shape.iter().map(|dim| *dim as usize).collect();
        let view = ReferenceView::new(reference_dtype(tensor.dtype), shape, &tensor.data);
        (tensor.name.clone(), view.unwrap())
    });
    let pairs = case.pairs.clone().map(|pairs| pairs.into_iter().collect::<HashMap<_, _>>());
    assert_eq!(reference::serialize(views, pairs).unwrap(), file);
}
