//! Slices of tensors against numpy's (`data/slices`), and what numpy has not: bytes, elements of
//! less than one, tensors larger than any memory.

#![allow(clippy::single_range_in_vec_init, reason = "a list of ranges may have one")]
#![allow(clippy::reversed_empty_ranges, reason = "counted from the end they are not reversed")]

mod common;

use std::fmt::Debug;
use std::ops::Range;

use common::file;
use half::f16;
use safetensors_core::ErrorKind::{self, *};
use safetensors_core::{
    Dtype, Element, Elements, Error, Index, Indices, SafeTensors, Slice, Slot, TensorIndexer,
    TensorInfo, TensorSlice, TensorView,
};
use serde_json::Value;

// ── files ──

/// The bytes of a tensor that stands in front of the one that is sliced.
const BEFORE: u64 = 3;

/// The header of a file with the tensor `layer.weight`, whose data begins at an odd byte.
fn head(dtype: Dtype, dims: &[u64]) -> Vec<u8> {
    let count: u64 = dims.iter().try_fold(1_u64, |count, dim| count.checked_mul(*dim)).unwrap();
    let end = BEFORE + count * dtype.bitsize() as u64 / 8;
    let mut header = format!(
        "{{\"a\":{{\"dtype\":\"U8\",\"shape\":[{BEFORE}],\"data_offsets\":[0,{BEFORE}]}},\
         \"layer.weight\":{{\"dtype\":\"{dtype}\",\"shape\":{dims:?},\
         \"data_offsets\":[{BEFORE},{end}]}}}}"
    );
    header.push_str(&" ".repeat((8 - header.len() % 8) % 8));
    file(header, &[])
}

/// Where the shape of `layer.weight` stands: the place of its errors.
fn place(head: &[u8]) -> u64 {
    let before = br#""shape":"#;
    let at = (0..head.len()).rfind(|at| head[*at..].starts_with(before)).unwrap();
    (at + before.len()) as u64
}

/// Calls `check` with the tensor of these bytes and the file.
fn with_tensor<R>(
    dtype: Dtype,
    dims: &[u64],
    data: &[u8],
    check: impl FnOnce(TensorView<'_>, &[u8]) -> R,
) -> R {
    let mut bytes = head(dtype, dims);
    bytes.extend([0xa5; BEFORE as usize]);
    bytes.extend(data);
    let mut slots = [Slot::EMPTY; 2];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    check(model.tensor("layer.weight").unwrap(), &bytes)
}

/// The tensor of U16 in which every element is its place in row-major order.
fn with_numbered<R>(dims: &[u64], check: impl FnOnce(TensorView<'_>, &[u8]) -> R) -> R {
    let count = dims.iter().product::<u64>() as u16;
    let data: Vec<u8> = (0..count).flat_map(u16::to_le_bytes).collect();
    with_tensor(Dtype::U16, dims, &data, check)
}

/// Calls `check` with a tensor of which only the header is at hand.
fn with_header<R>(dtype: Dtype, dims: &[u64], check: impl FnOnce(TensorInfo<'_>, &[u8]) -> R) -> R {
    let head = head(dtype, dims);
    let mut slots = [Slot::EMPTY; 2];
    let index = Index::build(&head, &mut slots).unwrap();
    check(index.tensor("layer.weight").unwrap(), &head)
}

#[track_caller]
fn assert_error<T>(found: Result<T, Error>, file: &[u8], kind: ErrorKind, number: u64, text: &str) {
    let Err(error) = found else { panic!("no error") };
    let place = place(file);
    assert_eq!((error.kind(), error.number(), error.offset()), (kind, number, place));
    let text = format!("tensor \"layer.weight\": {text} (at byte {place})");
    assert_eq!(error.display(file).to_string(), text);
}

/// The elements and dimensions of a slice of U16.
fn numbers<const N: usize>(view: TensorView<'_>, indices: impl Indices<N>) -> (Vec<u64>, Vec<u16>) {
    let slice = view.slice(indices).unwrap();
    let mut numbers = vec![0; slice.element_count() as usize];
    slice.copy_into(&mut numbers).unwrap();
    (slice.dims().collect(), numbers)
}

// ── numpy's cases ──

struct Case {
    shape: Vec<u64>,
    indices: Vec<TensorIndexer>,
    outcome: Outcome,
}

enum Outcome {
    /// The dimensions and the elements.
    Part(Vec<u64>, Vec<u8>),
    /// With the axis.
    OutOfRange(u64),
    ZeroStep(u64),
    TooMany,
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().unwrap().iter().map(item).collect()
}

fn cases() -> Vec<Case> {
    let data: Value = serde_json::from_str(include_str!("data/slices/slices.json")).unwrap();
    let unsigned = |value: &Value| value.as_u64().unwrap();
    list(&data["cases"], |case| Case {
        shape: list(&case[0], unsigned),
        indices: list(&case[1], indexer),
        outcome: match (case[2].as_str(), case[3].as_u64()) {
            (None, _) => Outcome::Part(
                list(&case[2], unsigned),
                list(&case[3], |x| u8::try_from(unsigned(x)).unwrap()),
            ),
            (Some("IndexError"), Some(axis)) => Outcome::OutOfRange(axis),
            (Some("IndexError"), None) => Outcome::TooMany,
            (Some("ValueError"), Some(axis)) => Outcome::ZeroStep(axis),
            _ => panic!("{case}"),
        },
    })
}

fn indexer(value: &Value) -> TensorIndexer {
    let number = |value: &Value| {
        assert!(value.is_null() || value.is_i64());
        value.as_i64()
    };
    match value.as_array() {
        None => TensorIndexer::select(number(value).unwrap()),
        Some(range) => {
            let [start, end, step] = [0, 1, 2].map(|i| number(&range[i]));
            TensorIndexer::range(start, end, step.unwrap_or(1))
        }
    }
}

/// The length of the runs: the greatest by which the elements divide into pieces without gaps.
fn run_len(flat: &[u8]) -> usize {
    let no_gap = |run: &[u8]| run.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let fits = |len: &usize| flat.len().is_multiple_of(*len) && flat.chunks(*len).all(no_gap);
    (1..=flat.len()).rev().find(fits).unwrap_or(1)
}

/// Calls `$check::<N>` for the number of indices.
macro_rules! by_number_of_indices {
    ($check:ident($case:expr $(, $argument:expr)*)) => {
        match $case.indices.len() {
            0 => $check::<0>($case $(, $argument)*),
            1 => $check::<1>($case $(, $argument)*),
            2 => $check::<2>($case $(, $argument)*),
            3 => $check::<3>($case $(, $argument)*),
            4 => $check::<4>($case $(, $argument)*),
            5 => $check::<5>($case $(, $argument)*),
            6 => $check::<6>($case $(, $argument)*),
            7 => $check::<7>($case $(, $argument)*),
            n => panic!("{n} indices"),
        }
    };
}

impl Case {
    fn indices<const N: usize>(&self) -> [TensorIndexer; N] {
        self.indices.as_slice().try_into().unwrap()
    }
}

/// A slice that is none: on a view, on what the header says of it.
fn check_error<const N: usize>(case: &Case, kind: ErrorKind, number: u64, text: &str) {
    with_numbered(&case.shape, |view, file| {
        assert_error(view.slice(case.indices::<N>()), file, kind, number, text);
        assert_error(view.info().slice(case.indices::<N>()), file, kind, number, text);
    });
}

/// Of a slice by `N` indices: its tensor, what is expected of it, and the file.
struct Part<'a, const N: usize> {
    case: &'a Case,
    slice: TensorSlice<'a, N>,
    view: TensorView<'a>,
    flat: &'a [u8],
    expected: Vec<u8>,
    file: &'a [u8],
}

impl<const N: usize> Part<'_, N> {
    /// What every dtype can be asked.
    fn check(&self) {
        let Self { slice, file, expected, .. } = self;
        let n = self.flat.len();
        let width = expected.len() / n.max(1);
        let Outcome::Part(dims, _) = &self.case.outcome else { unreachable!() };
        assert_eq!(slice.dtype(), self.view.dtype());
        assert!(slice.dims().eq(dims.iter().copied()));
        assert_eq!(slice.element_count(), n as u64);

        // Runs are as long as they can be, and where the ranges say.
        let len = run_len(self.flat) * width;
        let runs: Vec<&[u8]> = slice.runs().collect();
        assert_eq!(runs.concat(), *expected);
        assert!(runs.iter().all(|run| run.len() == len));
        assert_eq!((slice.runs().len(), slice.runs().count()), (runs.len(), runs.len()));
        let base = file.as_ptr().addr();
        let starts = runs.iter().map(|run| (run.as_ptr().addr() - base) as u64);
        let ranges: Vec<_> = starts.map(|start| start..start + len as u64).collect();
        let info = self.view.info();
        let by_info = info.slice(self.case.indices::<N>()).unwrap();
        assert!(by_info.byte_ranges().eq(ranges.iter().cloned()));
        assert_eq!(by_info.byte_ranges().size_hint(), (ranges.len(), Some(ranges.len())));
        assert_eq!((by_info.dtype(), by_info.element_count()), (slice.dtype(), n as u64));
        assert!(by_info.dims().eq(dims.iter().copied()));
        let place = info.byte_range();
        assert!(ranges.iter().all(|range| place.start <= range.start && range.end <= place.end));

        // In one piece, or not.
        let elements = slice.elements();
        assert_eq!(elements.is_some(), runs.len() <= 1);
        if let Some(elements) = elements {
            assert_eq!((elements.dtype(), elements.bytes()), (slice.dtype(), &expected[..]));
            assert!(runs.is_empty() || elements.bytes().as_ptr() == runs[0].as_ptr());
        }

        let bytes = expected.len();
        let mut to = vec![0xa5; bytes + 2];
        assert_eq!(slice.copy_bytes_into(&mut to).unwrap(), *expected);
        assert_eq!((&to[..bytes], &to[bytes..]), (&expected[..], &[0xa5; 2][..]));
        let values: Vec<f32> = self.flat.iter().map(|i| f32::from(*i)).collect();
        let mut to = vec![0.5; n + 2];
        assert_eq!(slice.convert_into(&mut to).unwrap(), values);
        assert_eq!((&to[..n], &to[n..]), (&values[..], &[0.5; 2][..]));
        if n > 0 {
            let found = slice.convert_into(&mut to[..n - 1]);
            self.assert_too_small(found, n);
            let mut to = vec![0; bytes - 1];
            self.assert_too_small(slice.copy_bytes_into(&mut to), bytes);
        }

        let text = format!("elements are of another dtype, {}", slice.dtype());
        let number = Dtype::ALL.iter().position(|dtype| *dtype == slice.dtype()).unwrap() as u64;
        let mut to = [[0.0_f32; 2]; 256];
        assert_error(slice.copy_into(&mut to), file, DtypeMismatch, number, &text);
    }

    fn check_copy<T: Element + From<u8> + PartialEq + Debug>(&self, other: T) {
        let n = self.flat.len();
        let values: Vec<T> = self.flat.iter().map(|i| T::from(*i)).collect();
        let mut to = vec![other; n + 2];
        assert_eq!(self.slice.copy_into(&mut to).unwrap(), values);
        assert_eq!((&to[..n], &to[n..]), (&values[..], &[other; 2][..]));
        if n > 0 {
            self.assert_too_small(self.slice.copy_into(&mut to[..n - 1]), n);
        }
    }

    #[track_caller]
    fn assert_too_small<T>(&self, found: Result<T, Error>, needed: usize) {
        let text = format!("buffer is too small, {needed} needed");
        assert_error(found, self.file, BufferTooSmall, needed as u64, &text);
    }
}

/// Checks the case for a dtype, of whose number `i` the bytes are `bytes(i)`.
fn check_part<const N: usize>(
    case: &Case,
    dtype: Dtype,
    bytes: &dyn Fn(u8) -> Vec<u8>,
    check_copy: &dyn Fn(&Part<'_, N>),
) {
    let Outcome::Part(_, flat) = &case.outcome else { return };
    let count: u64 = case.shape.iter().product();
    let data: Vec<u8> = (0..count).flat_map(|i| bytes(u8::try_from(i).unwrap())).collect();
    let expected = flat.iter().flat_map(|i| bytes(*i)).collect();
    with_tensor(dtype, &case.shape, &data, |view, file| {
        let slice = view.slice(case.indices::<N>()).unwrap();
        let part = Part { case, slice, view, flat, expected, file };
        part.check();
        check_copy(&part);
    });
}

fn check_parts<const N: usize>(case: &Case) {
    let f32_bytes = |i| f32::from(i).to_le_bytes().to_vec();
    let f16_bytes = |i| f16::from(i).to_le_bytes().to_vec();
    check_part::<N>(case, Dtype::U16, &|i| vec![i, 0], &|part| part.check_copy(777_u16));
    check_part::<N>(case, Dtype::U8, &|i| vec![i], &|part| part.check_copy(77_u8));
    check_part::<N>(case, Dtype::F32, &f32_bytes, &|part| part.check_copy(0.5_f32));
    check_part::<N>(case, Dtype::F16, &f16_bytes, &|part| part.check_copy(f16::EPSILON));
    let u64_bytes = |i| u64::from(i).to_le_bytes().to_vec();
    check_part::<N>(case, Dtype::U64, &u64_bytes, &|part| part.check_copy(777_u64));
}

#[test]
fn slices_are_numpys() {
    let cases = cases();
    let (mut parts, mut pieces, mut empty, mut errors) = (0, 0, 0, [0; 3]);
    for case in &cases {
        let rank = case.shape.len() as u64;
        match &case.outcome {
            Outcome::Part(_, flat) => {
                by_number_of_indices!(check_parts(case));
                parts += 1;
                empty += u32::from(flat.is_empty());
                pieces += u32::from(!flat.is_empty() && run_len(flat) == flat.len());
            }
            Outcome::OutOfRange(axis) => {
                let text = format!("index is outside its dimension, dimension {axis}");
                by_number_of_indices!(check_error(case, IndexOutOfRange, *axis, &text));
                errors[0] += 1;
            }
            Outcome::ZeroStep(axis) => {
                let text = format!("step of a slice is 0, dimension {axis}");
                by_number_of_indices!(check_error(case, ZeroStep, *axis, &text));
                errors[1] += 1;
            }
            Outcome::TooMany => {
                let s = if rank == 1 { "" } else { "s" };
                let text = format!("more indices than dimensions, {rank} dimension{s}");
                by_number_of_indices!(check_error(case, TooManyIndices, rank, &text));
                errors[2] += 1;
            }
        }
    }
    // There is enough of everything.
    assert_eq!(cases.len(), 1500);
    assert!(empty > 200 && pieces > 400 && parts - empty - pieces > 400, "{empty} {pieces}");
    assert!(errors.iter().all(|errors| *errors > 20), "{errors:?}");
}

/// Elements of less than a byte: the same cases, of which those work whose runs are whole bytes.
fn check_packed<const N: usize>(case: &Case, dtype: Dtype, seen: &mut [u32; 2]) {
    let Outcome::Part(dims, flat) = &case.outcome else { return };
    let bits = dtype.bitsize();
    let count = case.shape.iter().product::<u64>() as usize;
    let whole_bytes = |elements: usize| (elements * bits).is_multiple_of(8);
    if !whole_bytes(count) {
        return;
    }
    // Each element's code is the end of its number.
    let pack = |numbers: &[usize]| {
        let mut bytes = vec![0_u8; numbers.len() * bits / 8];
        for at in 0..numbers.len() * bits {
            bytes[at / 8] |= ((numbers[at / bits] >> (at % bits) & 1) as u8) << (at % 8);
        }
        bytes
    };
    let data = pack(&(0..count).collect::<Vec<_>>());
    let flat_numbers: Vec<usize> = flat.iter().map(|i| usize::from(*i)).collect();
    let len = run_len(flat);
    let whole = flat.is_empty()
        || whole_bytes(len) && flat_numbers.chunks(len).all(|run| whole_bytes(run[0]));
    with_tensor(dtype, &case.shape, &data, |view, file| {
        let found = view.slice(case.indices::<N>());
        let info = view.info();
        seen[usize::from(whole && !flat.is_empty())] += 1;
        if !whole {
            let text = "slice begins or ends within a byte";
            assert_error(info.slice(case.indices::<N>()), file, SplitByte, 0, text);
            assert_error(found, file, SplitByte, 0, text);
            return;
        }
        let slice = found.unwrap();
        let expected = pack(&flat_numbers);
        assert!(slice.dims().eq(dims.iter().copied()));
        assert_eq!(slice.element_count(), flat.len() as u64);
        assert_eq!(slice.runs().collect::<Vec<_>>().concat(), expected);
        let mut to = vec![0; expected.len()];
        assert_eq!(slice.copy_bytes_into(&mut to).unwrap(), expected);
        assert_eq!(slice.elements().is_some(), slice.runs().len() <= 1);
        let ranges = info.slice(case.indices::<N>()).unwrap().byte_ranges();
        let read: Vec<u8> = ranges.flat_map(|range| read(file, range).to_vec()).collect();
        assert_eq!(read, expected);

        let mut values = vec![0.0; flat.len()];
        slice.convert_into(&mut values).unwrap();
        let expected = Elements::new(dtype, &expected).unwrap();
        assert!(expected.values().unwrap().eq(values));
    });
}

fn read(file: &[u8], range: Range<u64>) -> &[u8] {
    &file[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
}

#[test]
fn parts_of_less_than_a_byte_are_refused() {
    for dtype in [Dtype::F4, Dtype::F6_E2M3, Dtype::F6_E3M2] {
        let mut seen = [0; 2];
        for case in cases() {
            by_number_of_indices!(check_packed(&case, dtype, &mut seen));
        }
        assert!(seen.iter().all(|seen| *seen > 30), "{seen:?}");
    }
}

#[test]
fn parts_of_less_than_a_byte_by_hand() {
    // Two bytes a row.
    let data = [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe];
    with_tensor(Dtype::F4, &[4, 4], &data, |view, file| {
        let start = view.info().byte_range().start;
        let runs = |slice: Result<_, Error>| {
            let slice: TensorSlice<'_, 2> = slice.unwrap();
            slice.runs().map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(runs(view.slice((1..3, ..))), [[0x54, 0x76, 0x98, 0xba]]);
        assert_eq!(runs(view.slice((.., 2..))), [[0x32], [0x76], [0xba], [0xfe]]);
        assert_eq!(runs(view.slice((1, ..2))), [[0x54]]);
        assert_eq!(runs(view.slice((TensorIndexer::ALL.step(-2), 0..2))), [[0xdc], [0x54]],);
        assert!(runs(view.slice((.., 3..3))).is_empty());
        let last = view.info().slice((-1, ..)).unwrap();
        assert!(last.byte_ranges().eq([start + 6..start + 8]));
        assert_eq!(
            view.slice((-1, ..)).unwrap().convert_into(&mut [0.0; 4]).unwrap(),
            [-2.0, -3.0, -4.0, -6.0]
        );

        let text = "slice begins or ends within a byte";
        assert_error(view.slice((.., 1..3)), file, SplitByte, 0, text);
        assert_error(view.slice((.., 0..3)), file, SplitByte, 0, text);
        assert_error(view.slice((0, 0)), file, SplitByte, 0, text);
        assert_error(view.slice((0, TensorIndexer::ALL.step(2))), file, SplitByte, 0, text);
        assert_error(view.slice((0, TensorIndexer::ALL.step(-1))), file, SplitByte, 0, text);
    });
    // One byte and a half.
    with_tensor(Dtype::F4, &[2, 3], &data[..3], |view, file| {
        let text = "slice begins or ends within a byte";
        assert_error(view.slice((1,)), file, SplitByte, 0, text);
        assert_error(view.slice((.., 0..2)), file, SplitByte, 0, text);
        assert_eq!(view.slice((0.., ..)).unwrap().elements().unwrap().bytes(), &data[..3]);
    });
    // Four in three bytes.
    with_tensor(Dtype::F6_E3M2, &[8], &data[..6], |view, file| {
        assert_eq!(view.slice((..4,)).unwrap().elements().unwrap().bytes(), &data[..3]);
        assert_eq!(view.slice((4..,)).unwrap().elements().unwrap().bytes(), &data[3..6]);
        let text = "slice begins or ends within a byte";
        assert_error(view.slice((2..6,)), file, SplitByte, 0, text);
        assert_error(view.slice((..6,)), file, SplitByte, 0, text);
        assert_error(view.slice((4,)), file, SplitByte, 0, text);
    });
}

// ── spelling ──

#[test]
fn indices_are_tuples_and_arrays() {
    with_numbered(&[3, 4, 5], |view, file| {
        let expected = (vec![2, 4], vec![4, 9, 14, 19, 24, 29, 34, 39]);
        assert_eq!(numbers(view, (0..2, .., -1)), expected);
        let range = TensorIndexer::range;
        let array = [range(Some(0), Some(2), 1), TensorIndexer::ALL, TensorIndexer::select(-1)];
        assert_eq!(numbers(view, array), expected);
        assert_eq!(numbers(view, (array[0], array[1], array[2])), expected);
        assert_eq!(numbers(view, (..-1, range(None, None, 1), 4_u64)), expected);

        let last = (vec![4, 5], (40..60).collect::<Vec<u16>>());
        assert_eq!(numbers(view, (2,)), last);
        assert_eq!(numbers(view, (-1_i64,)), last);
        assert_eq!(numbers(view, (2_u32,)), last);
        assert_eq!(numbers(view, (2_usize,)), last);
        assert_eq!(numbers(view, (2_u64,)), last);
        assert_eq!(numbers(view, [TensorIndexer::from(2)]), last);
        let last = (vec![1, 4, 5], last.1);
        assert_eq!(numbers(view, (2..,)), last);
        assert_eq!(numbers(view, (-1_i64..,)), last);
        assert_eq!(numbers(view, (2_u32..9,)), last);
        assert_eq!(numbers(view, (2_usize..usize::MAX,)), last);
        assert_eq!(numbers(view, (2_u64..u64::MAX,)), last);
        assert_eq!(numbers(view, (-1..i32::MAX,)), last);
        let first = (vec![2, 4, 5], (0..40).collect::<Vec<u16>>());
        assert_eq!(numbers(view, (..2,)), first);
        assert_eq!(numbers(view, (..-1_i64,)), first);
        assert_eq!(numbers(view, (..2_u32,)), first);
        assert_eq!(numbers(view, (..2_usize,)), first);
        assert_eq!(numbers(view, (..2_u64, .., ..)), first);
        let all = (vec![3, 4, 5], (0..60).collect::<Vec<u16>>());
        assert_eq!(numbers(view, ()), all);
        assert_eq!(numbers(view, []), all);
        assert_eq!(numbers(view, (..,)), all);
        assert_eq!(numbers(view, (..u64::MAX, ..usize::MAX, ..)), all);
        let every_other = TensorIndexer::from(1..).step(2);
        assert_eq!(numbers(view, (1, every_other, 0)), (vec![2], vec![25, 35]));
        // An index has no step.
        let index = TensorIndexer::from(2).step(-1);
        assert_eq!(numbers(view, (index, index, 1)), (vec![], vec![51]));
        assert_eq!(numbers(view, (2..1,)), (vec![0, 4, 5], vec![]));

        let text = "index is outside its dimension, dimension 1";
        assert_error(view.slice((0, 4)), file, IndexOutOfRange, 1, text);
        assert_error(view.slice((0, -5)), file, IndexOutOfRange, 1, text);
        assert_error(view.slice((.., u64::MAX)), file, IndexOutOfRange, 1, text);
        assert_error(view.slice((.., u64::MAX - 1, ..)), file, IndexOutOfRange, 1, text);
        assert_error(view.slice((.., usize::MAX)), file, IndexOutOfRange, 1, text);
        assert_error(view.slice((.., i64::MIN)), file, IndexOutOfRange, 1, text);
        assert_error(view.slice((.., i64::MAX)), file, IndexOutOfRange, 1, text);
        let text = "step of a slice is 0, dimension 2";
        let zero = TensorIndexer::ALL.step(0);
        assert_error(view.slice((.., .., zero)), file, ZeroStep, 2, text);
        let text = "more indices than dimensions, 3 dimensions";
        assert_error(view.slice((.., .., .., ..)), file, TooManyIndices, 3, text);
    });
    with_numbered(&[7], |view, file| {
        let text = "more indices than dimensions, 1 dimension";
        assert_error(view.slice((.., 0)), file, TooManyIndices, 1, text);
    });
    with_numbered(&[], |view, file| {
        assert_eq!(numbers(view, ()), (vec![], vec![0]));
        let text = "more indices than dimensions, 0 dimensions";
        assert_error(view.slice((0,)), file, TooManyIndices, 0, text);
        assert_error(view.slice((..,)), file, TooManyIndices, 0, text);
    });
}

#[test]
fn up_to_eight_indices_and_any_rank() {
    with_numbered(&[1, 2, 1, 2, 1, 2, 1, 2, 3], |view, file| {
        let (dims, found) = numbers(view, (0, 1, 0, 1, 0, .., 0, -1));
        // 24 + 12 + [0, 6] + 3 + [0, 1, 2].
        assert_eq!((dims, found), (vec![2, 3], vec![39, 40, 41, 45, 46, 47]));
        let array = [TensorIndexer::select(-1); 9];
        assert_eq!(numbers(view, array), (vec![], vec![47]));
        let text = "more indices than dimensions, 9 dimensions";
        let array = [TensorIndexer::ALL; 10];
        assert_error(view.slice(array), file, TooManyIndices, 9, text);
    });
}

#[test]
fn what_is_shown() {
    let shown = |indexer: TensorIndexer| format!("{indexer:?}");
    assert_eq!(shown(TensorIndexer::from(3)), "3");
    assert_eq!(shown(TensorIndexer::select(i64::MIN)), "-9223372036854775808");
    assert_eq!(shown(TensorIndexer::ALL), ":");
    assert_eq!(shown(TensorIndexer::from(2..-5)), "2:-5");
    assert_eq!(shown(TensorIndexer::from(2..)), "2:");
    assert_eq!(shown(TensorIndexer::from(..-1)), ":-1");
    assert_eq!(shown(TensorIndexer::from(2..5).step(3)), "2:5:3");
    assert_eq!(shown(TensorIndexer::ALL.step(-1)), "::-1");
    with_numbered(&[3, 4, 5], |view, _| {
        let slice = view.slice((1.., 0)).unwrap();
        assert_eq!(format!("{:?}", slice.dims()), "[2, 5]");
        assert_eq!(format!("{slice:?}"), "TensorSlice(Slice { dtype: U16, dims: [2, 5] })");
        assert_eq!(format!("{:?}", slice.runs()), "Runs { len: 2 }");
    });
}

// ── bounds and steps without bound ──

/// The indices that Python takes, by the definition of its `slice.indices`, in wide numbers.
fn python(start: Option<i64>, end: Option<i64>, step: i64, dim: i128) -> Vec<u16> {
    let step = i128::from(step);
    let (low, high) = if step > 0 { (0, dim) } else { (-1, dim - 1) };
    let bound = |bound: Option<i64>, default| match bound.map(i128::from) {
        None => default,
        Some(bound) if bound < 0 => (bound + dim).clamp(low, high),
        Some(bound) => bound.clamp(low, high),
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, end) = (bound(start, first), bound(end, last));
    let mut found = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        found.push(at as u16);
        at += step;
    }
    found
}

#[test]
fn bounds_and_steps_to_the_ends_of_i64() {
    let ends = [i64::MIN, i64::MIN + 1, i64::MIN + 3, i64::MAX - 3, i64::MAX - 1, i64::MAX];
    let bounds: Vec<Option<i64>> = ends.into_iter().chain(-6..=6).map(Some).chain([None]).collect();
    let steps: Vec<i64> = ends.into_iter().chain(-5..0).chain(1..=5).collect();
    for dim in 0..=5 {
        with_numbered(&[dim], |view, _| {
            for start in &bounds {
                for (end, step) in bounds.iter().flat_map(|end| steps.iter().map(move |s| (end, s)))
                {
                    let expected = python(*start, *end, *step, dim.into());
                    let range = TensorIndexer::range(*start, *end, *step);
                    let (dims, found) = numbers(view, (range,));
                    assert_eq!(found, expected, "{range:?} of {dim}");
                    assert_eq!(dims, [expected.len() as u64]);
                }
            }
            for index in ends.into_iter().chain(-7..=7) {
                let found = view.slice((index,)).map(|slice| {
                    let mut to = [0];
                    slice.copy_into::<u16>(&mut to).unwrap()[0]
                });
                let dim = dim as i64;
                let expected = (-dim..dim).contains(&index).then(|| index.rem_euclid(dim) as u16);
                assert_eq!(found.ok(), expected);
            }
        });
    }
}

// ── larger than memory ──

#[test]
fn a_slice_of_600_gigabytes() {
    with_header(Dtype::F32, &[150_000, 1_000_000], |info, head| {
        assert_eq!(info.data_len(), 600_000_000_000);
        let base = head.len() as u64 + BEFORE;
        let byte = |row: u64, column: u64| base + (row * 1_000_000 + column) * 4;

        let slice = info.slice((149_999, 999_990..)).unwrap();
        assert!(slice.dims().eq([10]));
        assert!(slice.byte_ranges().eq([byte(149_999, 999_990)..base + 600_000_000_000]));

        let rows = info.slice((100_000..,)).unwrap();
        assert_eq!(rows.element_count(), 50_000_000_000);
        assert!(rows.byte_ranges().eq([byte(100_000, 0)..base + 600_000_000_000]));

        let columns = info.slice((TensorIndexer::from(..-1).step(-1), 7..9)).unwrap();
        assert_eq!(columns.element_count(), 0);
        assert_eq!(columns.byte_ranges().count(), 0);
        let columns = info.slice((TensorIndexer::ALL.step(-1), 7..9)).unwrap();
        assert_eq!(columns.element_count(), 300_000);
        assert_eq!(columns.byte_ranges().size_hint(), (150_000, Some(150_000)));
        let expected = (0..150_000).rev().map(|row| byte(row, 7)..byte(row, 9));
        assert!(columns.byte_ranges().eq(expected));

        let every =
            info.slice((TensorIndexer::ALL.step(70_000), TensorIndexer::ALL.step(-400_000)));
        let every = every.unwrap();
        assert!(every.dims().eq([3, 3]));
        let expected = [0, 70_000, 140_000].into_iter().flat_map(|row| {
            [999_999, 599_999, 199_999].map(|column| byte(row, column)..byte(row, column) + 4)
        });
        assert!(every.byte_ranges().eq(expected));

        let single = info.slice((.., ..1)).unwrap();
        assert!(single.dims().eq([150_000, 1]));
        assert_eq!(single.byte_ranges().count(), 150_000);

        let text = "index is outside its dimension, dimension 0";
        assert_error(info.slice((150_000,)), head, IndexOutOfRange, 0, text);
    });
}

/// As large as a tensor can be: its bits just fit 64.
#[test]
fn a_slice_of_the_largest_tensors() {
    let row: u64 = 700_000_000_000_000_000;
    with_header(Dtype::U8, &[3, row], |info, head| {
        let base = head.len() as u64 + BEFORE;
        let step = |step| TensorIndexer::ALL.step(step);
        for (rows, expected) in [
            (TensorIndexer::ALL, vec![0, 1, 2]),
            (step(2), vec![0, 2]),
            (step(-1), vec![2, 1, 0]),
            (step(-2), vec![2, 0]),
            (TensorIndexer::from(1..), vec![1, 2]),
            (TensorIndexer::from(-1), vec![2]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|i| base + (i + 1) * row - 1)
                .map(|at| at..at + 1)
                .collect();
            let found = info.slice((rows, -1)).unwrap();
            assert_eq!(found.byte_ranges().collect::<Vec<_>>(), expected, "{rows:?}");
            assert_eq!(found.element_count(), expected.len() as u64);
        }
        let all = info.slice((.., ..)).unwrap();
        assert!(all.byte_ranges().eq([base..base + 3 * row]));
        let reversed = info.slice((1, step(-1))).unwrap();
        assert_eq!(reversed.element_count(), row);
        assert!(
            reversed
                .byte_ranges()
                .take(2)
                .eq([base + 2 * row - 1..base + 2 * row, base + 2 * row - 2..base + 2 * row - 1,])
        );
    });
    // Each step is more than half of all bits.
    with_header(Dtype::F4, &[3, 2 * row], |info, head| {
        let base = head.len() as u64 + BEFORE;
        let found = info.slice((TensorIndexer::ALL.step(2), ..2)).unwrap();
        let expected = [base..base + 1, base + 2 * row..base + 2 * row + 1];
        assert_eq!(found.byte_ranges().collect::<Vec<_>>(), expected);
    });
}

#[test]
fn many_elements_of_none() {
    let huge = 1 << 40;
    with_header(Dtype::F32, &[0, huge, huge], |info, head| {
        let none = |slice: Result<Slice<'_, 3>, Error>, dims: &[u64]| {
            let slice = slice.unwrap();
            assert_eq!(slice.dims().collect::<Vec<_>>(), dims);
            assert_eq!((slice.element_count(), slice.byte_ranges().count()), (0, 0));
        };
        none(info.slice((.., .., ..)), &[0, huge, huge]);
        none(info.slice((.., 5, ..)), &[0, huge]);
        none(info.slice((.., huge - 1, 1..)), &[0, huge - 1]);
        none(
            info.slice((TensorIndexer::ALL.step(-1), 1..3, TensorIndexer::ALL.step(-2))),
            &[0, 2, huge / 2],
        );
        let text = "index is outside its dimension, dimension 1";
        assert_error(info.slice((.., huge)), head, IndexOutOfRange, 1, text);
        let text = "index is outside its dimension, dimension 0";
        assert_error(info.slice((0,)), head, IndexOutOfRange, 0, text);
    });
    let data: &[u8] = &[];
    with_tensor(Dtype::F4, &[1, 0, huge, huge], data, |view, _| {
        let slice = view.slice((0, .., 1, 3..)).unwrap();
        assert!(slice.dims().eq([0, huge - 3]));
        assert_eq!((slice.element_count(), slice.runs().len()), (0, 0));
        let elements = slice.elements().unwrap();
        assert_eq!((elements.dtype(), elements.len()), (Dtype::F4, 0));
        assert!(slice.copy_bytes_into(&mut []).unwrap().is_empty());
        assert!(slice.convert_into(&mut []).unwrap().is_empty());
        assert_eq!(slice.copy_into::<f32>(&mut []).unwrap_err().kind(), DtypeMismatch);
    });
}

/// Without elements a dimension may be longer than any index.
#[test]
fn the_whole_of_a_dimension_of_64_bits() {
    with_header(Dtype::U8, &[0, u64::MAX], |info, _| {
        let dims = [0, u64::MAX];
        assert!(info.slice(()).unwrap().dims().eq(dims));
        assert!(info.slice((..,)).unwrap().dims().eq(dims));
        assert!(info.slice((.., ..)).unwrap().dims().eq(dims));
    });
}

// ── dtypes that are no numbers ──

#[test]
fn slices_of_complex_numbers_and_booleans() {
    let data: Vec<u8> = (0..8).flat_map(|x| (x as f32).to_le_bytes()).collect();
    with_tensor(Dtype::C64, &[2, 2], &data, |view, file| {
        let slice = view.slice((.., 1)).unwrap();
        let mut to = [[0.0; 2]; 2];
        assert_eq!(slice.copy_into(&mut to).unwrap(), [[2.0, 3.0], [6.0, 7.0]]);
        let text = "elements of this dtype are no real numbers";
        assert_error(slice.convert_into(&mut [0.0; 4]), file, NotReal, 0, text);
        assert_error(slice.convert_into(&mut []), file, NotReal, 0, text);
        let empty = view.slice((.., 2..)).unwrap();
        assert_error(empty.convert_into(&mut []), file, NotReal, 0, text);
    });
    with_tensor(Dtype::BOOL, &[2, 3], &[1, 0, 7, 0, 1, 0], |view, _| {
        let slice = view.slice((TensorIndexer::ALL.step(-1), 1..)).unwrap();
        let expected = [true, false, false, true];
        assert_eq!(slice.copy_into(&mut [false; 4]).unwrap(), expected);
        assert_eq!(slice.convert_into(&mut [0.5; 4]).unwrap(), [1.0, 0.0, 0.0, 1.0]);
    });
}
