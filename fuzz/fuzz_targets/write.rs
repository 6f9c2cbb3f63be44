//! What is planned is refused for the reasons that a plain computation finds, or else written: in
//! one piece and in many, the same bytes, which are read back, and which are the reference's.
#![no_main]

use std::collections::{HashMap, HashSet};

use fuzz::Input;
use libfuzzer_sys::fuzz_target;
use reference::tensor::{Dtype as ReferenceDtype, TensorView as ReferenceView};
use safetensors_core::{
    Dtype, MetadataPair, Options, Plan, Slot, StreamError, TensorSpec, WriteError, WriteErrorKind,
    WriteOptions,
};

struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    data: Option<Vec<u8>>,
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
}

/// No more is written.
const MOST: u64 = 1 << 14;

fuzz_target!(|bytes: &[u8]| check(&choose(Input(bytes))));

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
    let piece = 1 + input.below(200);
    let pairs = (0..input.below(5)).map(|_| (input.text(), input.text())).collect();
    let pairs = input.flag().then_some(pairs);
    let tensors = (0..input.below(9)).map(|_| tensor(&mut input)).collect();
    Case { tensors, pairs, layout, piece }
}

fn tensor(input: &mut Input<'_>) -> Tensor {
    let (name, dtype) = (input.text(), input.dtype());
    let shape: Vec<u64> = (0..input.below(4)).map(|_| input.dim()).collect();
    let len = bytes(dtype, &shape).unwrap_or(0).min(MOST) as usize;
    let seed = input.byte();
    let data = (0..len).map(|i| (i as u8).wrapping_mul(seed | 1)).collect();
    let data = match input.byte() {
        0..200 => Some(data),
        200..250 => None,
        // Of the wrong length, mostly.
        more => Some(vec![0; usize::from(more) - 250]),
    };
    Tensor { name, dtype, shape, data }
}

/// The bytes of a tensor, or why there is no such tensor.
fn bytes(dtype: Dtype, shape: &[u64]) -> Result<u64, WriteErrorKind> {
    let overflow = |size: u128| u64::try_from(size).map_err(|_| WriteErrorKind::SizeOverflow);
    let mut count = 1;
    for dim in shape {
        count = overflow(u128::from(count) * u128::from(*dim))?;
    }
    let bits = overflow(u128::from(count) * dtype.bitsize() as u128)?;
    if bits % 8 == 0 { Ok(bits / 8) } else { Err(WriteErrorKind::PartialByte) }
}

fn check(case: &Case) {
    let mut tensors: Vec<_> = case.tensors.iter().map(spec).collect();
    let mut pairs = case.pairs.as_ref().map(|pairs| {
        pairs.iter().map(|(key, value)| MetadataPair::new(&**key, &**value)).collect::<Vec<_>>()
    });
    let options = WriteOptions::new()
        .keep_order(case.layout.keep_order)
        .sort_metadata(case.layout.sort_metadata)
        .align(case.layout.align)
        .align_tensors(case.layout.align_tensors)
        .reserve(case.layout.reserve)
        .header_limit(case.layout.header_limit);
    match options.plan(&mut tensors, pairs.as_deref_mut()) {
        Ok(plan) => {
            assert_eq!(fault(case), None);
            planned(case, &plan);
        }
        Err(error) => {
            refused(case, error);
            let order: Vec<_> = tensors.iter().map(TensorSpec::index).collect();
            assert!(order.is_sorted());
            let keys = |pair: &MetadataPair<'_>| pair.key().to_string();
            let given = case.pairs.iter().flatten().map(|(key, _)| key.clone());
            assert!(pairs.iter().flatten().map(keys).eq(given));
        }
    }
}

fn spec(tensor: &Tensor) -> TensorSpec<'_> {
    let spec = TensorSpec::new(&*tensor.name, tensor.dtype, &*tensor.shape);
    match &tensor.data {
        Some(data) => spec.with_data(data),
        None => spec,
    }
}

/// What is wrong with the tensors and pairs by themselves, and with which one.
fn fault(case: &Case) -> Option<(WriteErrorKind, usize)> {
    for (i, tensor) in case.tensors.iter().enumerate() {
        let len = bytes(tensor.dtype, &tensor.shape);
        let wrong = |len| tensor.data.as_ref().is_some_and(|data| data.len() as u64 != len);
        match len {
            _ if tensor.name == "__metadata__" => return Some((WriteErrorKind::ReservedName, i)),
            Err(kind) => return Some((kind, i)),
            Ok(len) if wrong(len) => return Some((WriteErrorKind::WrongDataLen, i)),
            Ok(_) => {}
        }
    }
    let twice = |texts: Vec<&String>| {
        let mut seen = HashSet::new();
        texts.iter().any(|text| !seen.insert(*text))
    };
    if twice(case.tensors.iter().map(|tensor| &tensor.name).collect()) {
        return Some((WriteErrorKind::DuplicateName, usize::MAX));
    }
    let keys = case.pairs.iter().flatten().map(|(key, _)| key);
    twice(keys.collect()).then_some((WriteErrorKind::DuplicateKey, usize::MAX))
}

fn refused(case: &Case, error: WriteError) {
    match (fault(case), error.kind()) {
        (Some((kind @ WriteErrorKind::DuplicateName, _)), found) => {
            assert_eq!(kind, found);
            // Of those that are called so it is not the first.
            let at = error.index().unwrap();
            let name = &case.tensors[at].name;
            assert!(case.tensors[..at].iter().any(|tensor| tensor.name == *name));
        }
        (Some((kind @ WriteErrorKind::DuplicateKey, _)), found) => {
            assert_eq!(kind, found);
            let (at, pairs) = (error.index().unwrap(), case.pairs.as_ref().unwrap());
            assert!(pairs[..at].iter().any(|(key, _)| *key == pairs[at].0));
        }
        (Some((kind, i)), found) => assert_eq!((kind, Some(i)), (found, error.index())),
        (None, WriteErrorKind::HeaderTooLarge) => {
            assert!(error.number() > u64::from(case.layout.header_limit));
        }
        (None, kind) => {
            assert_eq!(kind, WriteErrorKind::SizeOverflow);
            let align = u128::from(case.layout.align_tensors.max(1));
            let lens = case.tensors.iter().map(|t| u128::from(bytes(t.dtype, &t.shape).unwrap()));
            let most: u128 = lens.map(|len| len + align).sum();
            // With the header before them.
            assert!(most + (1 << 34) > u128::from(u64::MAX));
        }
    }
}

fn planned(case: &Case, plan: &Plan<'_>) {
    assert_eq!(plan.file_len(), plan.data_start() + plan.data_len());
    assert!(plan.data_start().is_multiple_of(u64::from(case.layout.align.max(1))));
    assert!(plan.data_start() - 8 <= u64::from(case.layout.header_limit));
    let mut end = 0;
    for tensor in plan.tensors() {
        let given = &case.tensors[tensor.index()];
        let (begin, next) = tensor.data_offsets();
        assert!(begin.is_multiple_of(u64::from(case.layout.align_tensors.max(1))));
        assert!(begin >= end && begin - end < u64::from(case.layout.align_tensors.max(1)));
        assert_eq!(Ok(next - begin), bytes(given.dtype, &given.shape));
        end = next;
    }
    assert_eq!(end, plan.data_len());
    if plan.file_len() > MOST {
        return;
    }
    let file = written(case, plan);
    in_one_piece(plan, &file);
    read_back(case, plan, &file);
    if is_plain(&case.layout) {
        as_the_reference(case, &file);
    }
}

/// What a stream makes of it.
fn written(case: &Case, plan: &Plan<'_>) -> Vec<u8> {
    let stream_to = |room: usize| {
        let mut file = Vec::new();
        let sink = |bytes: &[u8]| {
            let some = bytes.len().min(case.piece).min(room - file.len());
            file.extend_from_slice(&bytes[..some]);
            Ok::<_, ()>(some)
        };
        let result = stream(case, plan, sink);
        (file, result)
    };
    let len = plan.file_len() as usize;
    let (file, result) = stream_to(len);
    assert_eq!(result, Ok(()));
    assert_eq!(file.len(), len);
    // A sink that is full has got all before.
    let room = case.piece % len;
    let (part, result) = stream_to(room);
    let Err(StreamError::Write(error)) = result else { panic!("{result:?}") };
    assert_eq!((error.kind(), error.number()), (WriteErrorKind::SinkFull, room as u64));
    assert_eq!(part, file[..room]);
    file
}

/// Data that is not at hand arrives as zeros, and never too much of it.
fn stream(
    case: &Case,
    plan: &Plan<'_>,
    sink: impl FnMut(&[u8]) -> Result<usize, ()>,
) -> Result<(), StreamError<()>> {
    let zeros = [0; MOST as usize + 1];
    let mut stream = plan.stream(sink)?;
    while let Some(tensor) = stream.next_tensor()? {
        let (begin, end) = tensor.data_offsets();
        let mut left = (end - begin) as usize;
        while left > 0 {
            let Err(StreamError::Write(error)) = stream.write(&zeros[..=left]) else { panic!() };
            assert_eq!(error.kind(), WriteErrorKind::WrongDataLen);
            assert_eq!((error.index(), error.number()), (Some(tensor.index()), end - begin));
            let some = left.min(case.piece);
            stream.write(&zeros[..some])?;
            left -= some;
        }
    }
    assert_eq!(stream.written(), plan.file_len());
    stream.finish().map(|_| ())
}

fn in_one_piece(plan: &Plan<'_>, file: &[u8]) {
    let missing = plan.tensors().iter().find(|tensor| tensor.data().is_none());
    for more in [0, 9] {
        let mut buffer = vec![0xaa; file.len() + more];
        match plan.write_into(&mut buffer) {
            Ok(found) => {
                assert!(missing.is_none());
                assert_eq!(found, file);
                assert_eq!(buffer[file.len()..], [0xaa; 9][..more]);
            }
            Err(error) => {
                assert_eq!(error.kind(), WriteErrorKind::MissingData);
                assert_eq!(error.index(), missing.map(TensorSpec::index));
                assert!(buffer.iter().all(|byte| *byte == 0xaa));
            }
        }
    }
    let start = plan.data_start() as usize;
    let mut buffer = vec![0xaa; start];
    assert_eq!(plan.write_header_into(&mut buffer).unwrap(), &file[..start]);
    let mut buffer = vec![0xaa; start - 1];
    let error = plan.write_header_into(&mut buffer).unwrap_err();
    assert_eq!((error.kind(), error.number()), (WriteErrorKind::BufferTooSmall, start as u64));
    let mut buffer = vec![0xaa; file.len() - 1];
    if missing.is_none() {
        let error = plan.write_into(&mut buffer).unwrap_err();
        let found = (error.kind(), error.number());
        assert_eq!(found, (WriteErrorKind::BufferTooSmall, file.len() as u64));
        assert!(buffer.iter().all(|byte| *byte == 0xaa));
    }
}

fn read_back(case: &Case, plan: &Plan<'_>, file: &[u8]) {
    let gaps =
        plan.tensors().windows(2).any(|pair| pair[0].data_offsets().1 < pair[1].data_offsets().0);
    let mut slots = [Slot::EMPTY; 16];
    let model = Options::new().allow_gaps(gaps).parse(file, &mut slots).unwrap();
    let names = model.iter().map(|tensor| tensor.name().to_string());
    let order: Vec<_> = plan.tensors().iter().map(TensorSpec::index).collect();
    assert!(names.eq(order.iter().map(|i| case.tensors[*i].name.clone())));
    for tensor in &case.tensors {
        let found = model.tensor(&tensor.name).unwrap();
        assert_eq!(found.dtype(), tensor.dtype);
        assert!(found.shape().iter().eq(tensor.shape.iter().copied()));
        match &tensor.data {
            Some(data) => assert_eq!(found.data(), data),
            None => assert!(found.data().iter().all(|byte| *byte == 0)),
        }
    }
    let order = |tensor: &Tensor| (std::cmp::Reverse(tensor.dtype), tensor.name.clone());
    if case.layout.keep_order {
        assert!(plan.tensors().iter().map(TensorSpec::index).eq(0..case.tensors.len()));
    } else {
        assert!(plan.tensors().iter().map(|spec| order(&case.tensors[spec.index()])).is_sorted());
    }
    let found = model.metadata().map(|metadata| {
        let text = |(key, value): (safetensors_core::Text<'_>, safetensors_core::Text<'_>)| {
            (key.to_string(), value.to_string())
        };
        metadata.iter().map(text).collect::<Vec<_>>()
    });
    let mut pairs = case.pairs.clone();
    if case.layout.sort_metadata {
        pairs.iter_mut().for_each(|pairs| pairs.sort());
    }
    assert_eq!(found, pairs);
    let header = &file[8..plan.data_start() as usize];
    let spaces = header.iter().rev().take_while(|byte| **byte == b' ').count();
    assert!(spaces as u64 >= u64::from(case.layout.reserve));
    let most = u64::from(case.layout.reserve) + u64::from(case.layout.align.max(1));
    assert!((spaces as u64) < most);
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
    let zeros = vec![0; MOST as usize];
    let views = case.tensors.iter().map(|tensor| {
        let dtype: ReferenceDtype = serde_json::from_str(&format!("\"{}\"", tensor.dtype)).unwrap();
        let shape = tensor.shape.iter().map(|dim| *dim as usize).collect();
        let len = bytes(tensor.dtype, &tensor.shape).unwrap() as usize;
        let data = tensor.data.as_deref().unwrap_or(&zeros[..len]);
        (tensor.name.clone(), ReferenceView::new(dtype, shape, data).unwrap())
    });
    let pairs = case.pairs.clone().map(|pairs| pairs.into_iter().collect::<HashMap<_, _>>());
    assert_eq!(reference::serialize(views, pairs).unwrap(), file);
}
