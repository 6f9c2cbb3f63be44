//! Shapes as arrays, in buffers, and their strides.

use std::fmt::Debug;

use safetensors_core::{ErrorKind, Index, Shape, Slot};

use crate::common::file;
use crate::{check_filling, refused};
use fuzz::Input;

pub(crate) fn check(mut input: Input<'_>) {
    let rank = input.below(10);
    let space = ["", " ", "\n\t"][input.below(3)];
    let dims: Vec<_> = (0..rank).map(|_| input.dim()).collect();
    let spelled: Vec<_> = dims.iter().map(|dim| format!("{space}{dim}{space}")).collect();
    let begin = "{\"t\":{\"dtype\":\"U8\",\"shape\":[";
    let count = dims.iter().try_fold(1_u64, |n, dim| n.checked_mul(*dim));
    let end = count.unwrap_or(0);
    let header = format!("{begin}{}],\"data_offsets\":[0,{end}]}}}}", spelled.join(","));

    let head = file(header, &[]);
    let mut slots = [Slot::EMPTY];
    let index = Index::build(&head, &mut slots);
    let Some(count) = count.filter(|count| count.checked_mul(8).is_some()) else {
        return assert_eq!(index.unwrap_err().kind(), ErrorKind::SizeOverflow);
    };
    let shape = index.unwrap().tensor("t").unwrap().shape();
    assert_eq!((shape.rank(), shape.element_count()), (rank, count));
    let place = (7 + begin.len()) as u64;
    check_arrays(&shape, &dims);
    check_strides(&shape, &dims, place);
    check_copies::<u8>(&shape, &dims, place);
    check_copies::<u16>(&shape, &dims, place);
    check_copies::<u32>(&shape, &dims, place);
    check_copies::<u64>(&shape, &dims, place);
    check_copies::<usize>(&shape, &dims, place);
    check_copies::<i8>(&shape, &dims, place);
    check_copies::<i32>(&shape, &dims, place);
    check_copies::<i64>(&shape, &dims, place);
    check_copies::<u128>(&shape, &dims, place);
}

fn check_arrays(shape: &Shape<'_>, dims: &[u64]) {
    check_array::<0>(shape, dims);
    check_array::<1>(shape, dims);
    check_array::<2>(shape, dims);
    check_array::<3>(shape, dims);
    check_array::<4>(shape, dims);
    check_array::<5>(shape, dims);
    check_array::<9>(shape, dims);
    check_array::<10>(shape, dims);
}

fn check_array<const N: usize>(shape: &Shape<'_>, dims: &[u64]) {
    assert_eq!(shape.to_array::<N>(), dims.try_into().ok());
    // Compared with as many of them, and with one that is changed.
    let mut other = [1; N];
    let shared = N.min(dims.len());
    other[..shared].copy_from_slice(&dims[..shared]);
    assert_eq!(*shape == other, N == dims.len());
    if let Some(last) = other.last_mut() {
        *last ^= 1;
        assert_ne!(*shape, other);
    }
}

fn check_copies<T>(shape: &Shape<'_>, dims: &[u64], place: u64)
where
    T: TryFrom<u64> + TryInto<u64> + Copy + Debug + PartialEq,
{
    // Whatever integer it is, 77 is one of them.
    let blank = T::try_from(77).ok().unwrap();
    let Some(large) = dims.iter().find(|dim| T::try_from(**dim).is_err()) else {
        let expected: Vec<T> = dims.iter().flat_map(|dim| T::try_from(*dim)).collect();
        assert_eq!(*shape, expected[..]);
        return check_filling(&expected, blank, place, |dim| dim, |to| shape.copy_into(to));
    };
    let mut to = vec![blank; dims.len() + 3];
    refused(shape.copy_into(&mut to), ErrorKind::DimensionTooLarge, *large, place);
    assert_eq!(to[dims.len()..], [blank; 3]);
    let short = &mut to[..dims.len() - 1];
    refused(shape.copy_into(short), ErrorKind::BufferTooSmall, dims.len() as u64, place);
}

fn check_strides(shape: &Shape<'_>, dims: &[u64], place: u64) {
    let stride = |axis| match &dims[axis + 1..] {
        inner if inner.contains(&0) => Some(0),
        inner => inner.iter().try_fold(1_u64, |n, dim| n.checked_mul(*dim)),
    };
    let strides: Option<Vec<_>> = (0..dims.len()).map(stride).collect();
    match strides {
        Some(strides) => {
            check_filling(&strides, 12345, place, |stride| stride, |to| shape.strides_into(to));
        }
        None => {
            let mut to = vec![12345; dims.len() + 3];
            refused(shape.strides_into(&mut to), ErrorKind::SizeOverflow, 0, place);
            assert_eq!(to[dims.len()..], [12345; 3]);
        }
    }
}
