//! Parts of tensors, against a walk over every index.

use std::array;
use std::ops::Range;

use safetensors_core::{
    Dtype, ErrorKind, SafeTensors, Slot, TensorIndexer, TensorSlice, TensorView,
};

use crate::common::file;
use crate::formats::{self, canonical};
use crate::typed::{self, Typed};
use crate::{check_filling, refused};
use fuzz::Input;

/// What is taken along a dimension.
enum Wanted {
    Select(i64),
    Range(Option<i64>, Option<i64>, i64),
}

/// What that is, after Python's `slice.indices`: every index there is.
struct Axis {
    start: i128,
    step: i128,
    len: u64,
    selected: bool,
}

/// A slice, and what is expected of it.
struct Case<'a> {
    tensor: TensorView<'a>,
    file: &'a [u8],
    dims: &'a [u64],
    /// Where the bracket of the shape stands.
    place: u64,
    wanted: &'a [Wanted],
}

pub(crate) fn check(mut input: Input<'_>) {
    let dtype = input.dtype();
    let before = input.below(9) as u64;
    let rank = input.below(6);
    let mut dims: Vec<_> = (0..rank).map(|_| input.dim()).collect();
    make_small(&mut dims);
    fill_bytes(&mut dims, dtype, input.byte().into());
    let wanted: Vec<_> = (0..input.below(rank + 2)).map(|_| wanted(&mut input)).collect();

    let elements = dims.iter().try_fold(1_u64, |n, dim| n.checked_mul(*dim));
    let bits = elements.and_then(|n| n.checked_mul(dtype.bitsize() as u64));
    let end = before + bits.unwrap_or(0) / 8;
    let begin = format!(
        "{{\"a\":{{\"dtype\":\"U8\",\"shape\":[{before}],\"data_offsets\":[0,{before}]}},\
         \"t\":{{\"dtype\":\"{dtype}\",\"data_offsets\":[{before},{end}],\"shape\":["
    );
    let header =
        format!("{begin}{}]}}}}", dims.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
    let file = file(header, &data(end as usize, input));
    let mut slots = [Slot::EMPTY; 2];
    let model = SafeTensors::parse(&file, &mut slots);
    match bits {
        None => return assert_eq!(model.unwrap_err().kind(), ErrorKind::SizeOverflow),
        // A scalar of less than a byte.
        Some(bits) if bits % 8 != 0 => {
            return assert_eq!(model.unwrap_err().kind(), ErrorKind::PartialByte);
        }
        Some(_) => {}
    }
    let tensor = model.unwrap().tensor("t").unwrap();
    let place = (7 + begin.len()) as u64;
    let case = Case { tensor, file: &file, dims: &dims, place, wanted: &wanted };
    case.check_whole();
    match wanted.len() {
        0 => case.check::<0>(),
        1 => case.check::<1>(),
        2 => case.check::<2>(),
        3 => case.check::<3>(),
        4 => case.check::<4>(),
        5 => case.check::<5>(),
        _ => case.check::<6>(),
    }
}

/// Lets only those have large dimensions that have no elements, and others few elements.
fn make_small(dims: &mut [u64]) {
    if dims.contains(&0) {
        return;
    }
    let mut elements = 1;
    for dim in dims {
        *dim = 1 + (*dim - 1) % 12;
        if elements * *dim > 600 {
            *dim = 1;
        }
        elements *= *dim;
    }
}

/// Multiplies a dimension if the elements don't fill whole bytes.
fn fill_bytes(dims: &mut [u64], dtype: Dtype, axis: usize) {
    let elements = dims.iter().fold(1, |n: u64, dim| n.wrapping_mul(*dim));
    let over = elements.wrapping_mul(dtype.bitsize() as u64) % 8;
    if over != 0 && !dims.is_empty() {
        dims[axis % dims.len()] *= if over == 4 { 2 } else { 4 };
    }
}

fn wanted(input: &mut Input<'_>) -> Wanted {
    match input.byte() % 8 {
        0 | 1 => Wanted::Select(input.number()),
        2 | 3 => Wanted::Range(input.optional_number(), input.optional_number(), 1),
        _ => Wanted::Range(input.optional_number(), input.optional_number(), input.number()),
    }
}

/// Bytes that differ from their neighbours and from those a row away.
fn data(len: usize, input: Input<'_>) -> Vec<u8> {
    let rest = input.rest(64);
    let byte = |i: usize| rest.get(i % rest.len().max(1)).map_or(0, |byte| u32::from(*byte));
    (0..len).map(|i| ((i as u32 + byte(i)).wrapping_mul(0x9e37_79b1) >> 16) as u8).collect()
}

impl Wanted {
    fn indexer(&self) -> TensorIndexer {
        match *self {
            Self::Select(index) => TensorIndexer::select(index),
            Self::Range(start, end, step) => TensorIndexer::range(start, end, step),
        }
    }

    fn along(&self, dim: u64) -> Result<Axis, ErrorKind> {
        let len = i128::from(dim);
        match *self {
            Self::Select(index) => {
                let index = i128::from(index);
                let start = if index < 0 { index + len } else { index };
                if !(0..len).contains(&start) {
                    return Err(ErrorKind::IndexOutOfRange);
                }
                Ok(Axis { start, step: 1, len: 1, selected: true })
            }
            Self::Range(_, _, 0) => Err(ErrorKind::ZeroStep),
            Self::Range(start, end, step) => {
                let (least, most) = if step > 0 { (0, len) } else { (-1, len - 1) };
                let bound = |bound: Option<i64>| {
                    let bound = i128::from(bound?);
                    Some((if bound < 0 { bound + len } else { bound }).clamp(least, most))
                };
                let (first, last) = if step > 0 { (least, most) } else { (most, least) };
                let (start, end) = (bound(start).unwrap_or(first), bound(end).unwrap_or(last));
                let step = i128::from(step);
                // The n for which start + n · step has not reached the end.
                let way = (end - start) * step.signum();
                let len = (way.max(0) + step.abs() - 1) / step.abs();
                Ok(Axis { start, step, len: len as u64, selected: false })
            }
        }
    }
}

impl Axis {
    fn all(dim: u64) -> Self {
        Self { start: 0, step: 1, len: dim, selected: false }
    }
}

impl Case<'_> {
    /// The whole tensor, without a slice: its errors name it.
    fn check_whole(&self) {
        let elements = self.tensor.elements();
        assert_eq!(elements.dtype(), self.tensor.dtype());
        assert_eq!(elements.bytes(), self.tensor.data());
        if elements.dtype() == Dtype::C64 {
            refused(elements.values(), ErrorKind::NotReal, 0, self.place);
        } else if !elements.is_empty() {
            let len = elements.len() as u64;
            refused(elements.convert_into(&mut []), ErrorKind::BufferTooSmall, len, self.place);
        }
    }

    fn check<const N: usize>(&self) {
        let result = self.tensor.slice::<N>(array::from_fn(|i| self.wanted[i].indexer()));
        let info = self.tensor.info();
        let of_info = info.slice::<N>(array::from_fn(|i| self.wanted[i].indexer()));
        assert_eq!(of_info.as_ref().err(), result.as_ref().err());

        let axes = match self.axes() {
            Ok(axes) => axes,
            Err(errors) => {
                let error = result.unwrap_err();
                assert!(errors.contains(&(error.kind(), error.number())), "{error:?}");
                return self.check_named(&error);
            }
        };
        let count = axes.iter().fold(1_u64, |n, axis| n.wrapping_mul(axis.len));
        let elements =
            if axes.iter().any(|axis| axis.len == 0) { vec![] } else { self.walk(&axes) };
        let runs = self.runs(&elements);
        if runs.iter().any(|run| run.start % 8 != 0 || run.end % 8 != 0) {
            let error = result.unwrap_err();
            assert_eq!((error.kind(), error.number()), (ErrorKind::SplitByte, 0));
            return self.check_named(&error);
        }
        let (slice, of_info) = (result.unwrap(), of_info.unwrap());

        let dims = axes.iter().filter(|axis| !axis.selected).map(|axis| axis.len);
        assert!(slice.dims().eq(dims.clone()) && of_info.dims().eq(dims));
        assert_eq!((slice.element_count(), of_info.element_count()), (count, count));
        assert_eq!(slice.dtype(), self.tensor.dtype());

        // In the tensor, and in the file.
        let runs = in_equal_parts(&runs);
        let data_start = info.byte_range().start;
        let expected = runs.iter().map(|run| data_start + run.start..data_start + run.end);
        assert!(of_info.byte_ranges().eq(expected));
        let part = |run: &Range<u64>| &self.tensor.data()[run.start as usize..run.end as usize];
        let parts: Vec<_> = runs.iter().map(part).collect();
        let places = |runs: &mut dyn Iterator<Item = &[u8]>| {
            runs.map(|run| run.as_ptr_range()).collect::<Vec<_>>()
        };
        let found = slice.runs();
        assert_eq!(found.len(), parts.len());
        assert_eq!(places(&mut found.clone()), places(&mut parts.iter().copied()));
        self.check_contents(&slice, &parts.concat(), &elements);
    }

    /// All dimensions, or every error that can be given.
    fn axes(&self) -> Result<Vec<Axis>, Vec<(ErrorKind, u64)>> {
        let mut axes: Vec<_> = self.dims.iter().map(|dim| Axis::all(*dim)).collect();
        let mut errors = vec![];
        for (i, (wanted, dim)) in self.wanted.iter().zip(self.dims).enumerate() {
            match wanted.along(*dim) {
                Ok(axis) => axes[i] = axis,
                Err(kind) => errors.push((kind, i as u64)),
            }
        }
        if self.wanted.len() > self.dims.len() {
            errors.push((ErrorKind::TooManyIndices, self.dims.len() as u64));
        }
        if errors.is_empty() { Ok(axes) } else { Err(errors) }
    }

    fn check_named(&self, error: &safetensors_core::Error) {
        assert_eq!(error.offset(), self.place);
        let shown = error.display(self.file).to_string();
        assert!(shown.starts_with("tensor \"t\": "), "{shown}");
    }

    /// The numbers of the elements, in order.
    fn walk(&self, axes: &[Axis]) -> Vec<u64> {
        let mut elements = vec![0];
        for (axis, dim) in axes.iter().zip(self.dims) {
            let indices = (0..i128::from(axis.len)).map(|n| (axis.start + n * axis.step) as u64);
            let indices: Vec<_> = indices.collect();
            assert!(indices.iter().all(|index| index < dim));
            let inner = |element: u64| indices.iter().map(move |index| element * dim + index);
            elements = elements.into_iter().flat_map(inner).collect();
        }
        elements
    }

    /// Which bits they are: neighbours joined.
    fn runs(&self, elements: &[u64]) -> Vec<Range<u64>> {
        let bits = self.tensor.dtype().bitsize() as u64;
        let mut runs: Vec<Range<u64>> = vec![];
        for element in elements {
            let (start, end) = (element * bits, element * bits + bits);
            match runs.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => runs.push(start..end),
            }
        }
        runs
    }

    fn check_contents<const N: usize>(
        &self,
        slice: &TensorSlice<'_, N>,
        bytes: &[u8],
        elements: &[u64],
    ) {
        let dtype = slice.dtype();
        check_filling(bytes, 0xa5, self.place, |byte| byte, |to| slice.copy_bytes_into(to));
        match slice.elements() {
            Some(whole) => {
                assert!(slice.runs().len() <= 1);
                assert_eq!((whole.dtype(), whole.bytes()), (dtype, bytes));
            }
            None => assert!(slice.runs().len() > 1),
        }
        if dtype == Dtype::C64 {
            let mut to = vec![0.0; elements.len()];
            refused(slice.convert_into(&mut to), ErrorKind::NotReal, 0, self.place);
        } else {
            let codes = formats::codes(dtype, self.tensor.data());
            let value = |element: &u64| formats::value(dtype, codes[*element as usize]);
            let expected: Vec<_> = elements.iter().map(value).collect();
            check_filling(&expected, 12345.0, self.place, canonical, |to| slice.convert_into(to));
        }
        typed::each_type(&Copying { slice, bytes, place: self.place });
    }
}

/// Rows of which only every n-th item is taken can end and begin with neighbours; the runs stay as
/// long as the first one is.
fn in_equal_parts(runs: &[Range<u64>]) -> Vec<Range<u64>> {
    let Some(first) = runs.first() else { return vec![] };
    let bytes = (first.end - first.start) / 8;
    let parts = runs.iter().flat_map(|run| (run.start / 8..run.end / 8).step_by(bytes as usize));
    parts.map(|start| start..start + bytes).collect()
}

struct Copying<'a, const N: usize> {
    slice: &'a TensorSlice<'a, N>,
    bytes: &'a [u8],
    place: u64,
}

impl<const N: usize> typed::Check for Copying<'_, N> {
    fn check<T: Typed>(&self) {
        let Self { slice, bytes, place } = self;
        if T::DTYPE != slice.dtype() {
            let (kind, number) = typed::mismatch(slice.dtype());
            return refused(slice.copy_into::<T>(&mut []), kind, number, *place);
        }
        let expected = typed::all::<T>(bytes);
        check_filling(&expected, T::BLANK, *place, T::bits, |to| slice.copy_into(to));
    }
}
