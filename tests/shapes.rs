//! Shapes as arrays, in buffers, compared, and their strides, which are numpy's.

mod common;

use common::file;
use safetensors_core::ErrorKind::{BufferTooSmall, DimensionTooLarge, SizeOverflow};
use safetensors_core::{Header, Index, SafeTensors, Shape, Slot};
use serde_json::Value;

/// A header with one tensor of U8, spelled with spaces, which a shape is read again in spite of.
fn head(dims: &[u64], data_len: u64) -> Vec<u8> {
    let dims: Vec<_> = dims.iter().map(|dim| format!(" {dim} ")).collect();
    let dims = dims.join(",");
    let header = format!(
        "{{\"layer.weight\" : {{\"dtype\":\"U8\",\"shape\":[{dims}],\"data_offsets\":[0,{data_len}]}}}}"
    );
    file(header, &[])
}

/// Calls `check` with the shape, which for many dimensions is of a file that is not at hand.
fn with_shape<R>(dims: &[u64], check: impl FnOnce(Shape<'_>, &[u8]) -> R) -> R {
    let bytes = head(dims, dims.iter().product());
    let mut slots = [Slot::EMPTY];
    let index = Index::build(&bytes, &mut slots).unwrap();
    check(index.tensor("layer.weight").unwrap().shape(), &bytes)
}

/// Where the shape stands.
fn place(bytes: &[u8]) -> u64 {
    let before = br#""shape":"#;
    let at = (0..bytes.len()).find(|at| bytes[*at..].starts_with(before)).unwrap();
    (at + before.len()) as u64
}

const SHAPES: &[&[u64]] = &[
    &[],
    &[0],
    &[1],
    &[7],
    &[2, 3],
    &[3, 2],
    &[1, 0, 5],
    &[0, u64::MAX, 1],
    &[4_294_967_296, 3],
    &[2, 1, 3, 1, 2, 1, 1, 1, 9],
];

#[test]
fn dimensions_in_every_way() {
    for dims in SHAPES {
        with_shape(dims, |shape, _| {
            assert_eq!(shape.rank(), dims.len());
            assert!(shape.iter().eq(dims.iter().copied()));
            for axis in 0..dims.len() + 2 {
                assert_eq!(shape.dim(axis), dims.get(axis).copied());
            }
            assert_eq!(shape.element_count(), dims.iter().product::<u64>());

            assert_eq!(shape.to_array(), <[u64; 0]>::try_from(*dims).ok());
            assert_eq!(shape.to_array(), <[u64; 1]>::try_from(*dims).ok());
            assert_eq!(shape.to_array(), <[u64; 2]>::try_from(*dims).ok());
            assert_eq!(shape.to_array(), <[u64; 3]>::try_from(*dims).ok());
            assert_eq!(shape.to_array(), <[u64; 8]>::try_from(*dims).ok());
            assert_eq!(shape.to_array(), <[u64; 9]>::try_from(*dims).ok());
            assert_eq!(shape.to_array(), <[u64; 10]>::try_from(*dims).ok());
        });
    }
}

#[test]
fn an_array_at_compile_time() {
    const HEAD: &[u8] =
        b"\x3b\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[0,6]}}    ";
    const DIMS: (Option<[u64; 2]>, Option<[u64; 1]>) = {
        let mut slots = [Slot::EMPTY];
        match Index::build(HEAD, &mut slots) {
            Ok(index) => match index.by_offset(0) {
                Some(info) => (info.shape().to_array(), info.shape().to_array()),
                None => (None, None),
            },
            Err(_) => (None, None),
        }
    };
    assert_eq!(DIMS, (Some([2, 3]), None));
}

/// Copies the dimensions as `T`, which all of them or not all are.
fn check_copy<T: TryFrom<u64> + PartialEq + Copy + std::fmt::Debug>(dims: &[u64], other: T) {
    let expected: Option<Vec<T>> = dims.iter().map(|dim| T::try_from(*dim).ok()).collect();
    with_shape(dims, |shape, bytes| {
        let mut to = vec![other; dims.len() + 2];
        match (shape.copy_into(&mut to), &expected) {
            (Ok(found), Some(expected)) => {
                assert_eq!(found, expected);
                assert_eq!(to[..dims.len()], expected[..]);
            }
            (Err(error), None) => {
                let first = dims.iter().find(|dim| T::try_from(**dim).is_err()).unwrap();
                let place = place(bytes);
                let found = (error.kind(), error.number(), error.offset());
                assert_eq!(found, (DimensionTooLarge, *first, place));
                assert_eq!(
                    error.display(bytes).to_string(),
                    format!(
                        "tensor \"layer.weight\": a dimension does not fit the buffer's integers, \
                         {first} (at byte {place})"
                    )
                );
            }
            (found, _) => panic!("{found:?} is not {expected:?}"),
        }
        assert_eq!(to[dims.len()..], [other; 2]);

        if let Some(expected) = &expected {
            let mut exact = vec![other; dims.len()];
            assert_eq!(shape.copy_into(&mut exact).unwrap(), expected);
        }
        if !dims.is_empty() {
            let mut short = vec![other; dims.len() - 1];
            let error = shape.copy_into(&mut short).unwrap_err();
            assert_eq!((error.kind(), error.number()), (BufferTooSmall, dims.len() as u64));
            let text = format!(
                "tensor \"layer.weight\": buffer is too small, {} needed (at byte {})",
                dims.len(),
                place(bytes)
            );
            assert_eq!(error.display(bytes).to_string(), text);
        }
    });
}

#[test]
fn dimensions_are_copied_if_they_fit() {
    let of_other_sizes: [&[u64]; 6] = [
        &[0, 255, 1],
        &[256],
        &[2, 4_294_967_295],
        &[4_294_967_296],
        &[0, 9_223_372_036_854_775_807],
        &[0, 9_223_372_036_854_775_808],
    ];
    for dims in SHAPES.iter().chain(&of_other_sizes) {
        check_copy::<u8>(dims, 77);
        check_copy::<u32>(dims, 77);
        check_copy::<i32>(dims, 77);
        check_copy::<u64>(dims, 77);
        check_copy::<i64>(dims, 77);
        check_copy::<usize>(dims, 77);
    }
    with_shape(&[4_294_967_296, 3], |shape, _| {
        assert!(shape.copy_into(&mut [0_u32; 2]).is_err());
        assert_eq!(shape.copy_into(&mut [0_u64; 2]).unwrap(), [4_294_967_296, 3]);
        assert_eq!(shape.copy_into(&mut [0_usize; 2]).is_ok(), cfg!(target_pointer_width = "64"));
    });
}

#[test]
fn strides_are_numpys() {
    let data: Value = serde_json::from_str(include_str!("data/slices/slices.json")).unwrap();
    let cases = data["strides"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let [dims, expected] = [0, 1].map(|i| {
            case[i].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect::<Vec<_>>()
        });
        with_shape(&dims, |shape, bytes| {
            let mut to = vec![77; dims.len() + 2];
            assert_eq!(shape.strides_into(&mut to).unwrap(), expected, "{dims:?}");
            assert_eq!((&to[..dims.len()], &to[dims.len()..]), (&expected[..], &[77; 2][..]));
            assert_eq!(shape.strides_into(&mut to[..dims.len()]).unwrap(), expected);
            if !dims.is_empty() {
                let error = shape.strides_into(&mut to[..dims.len() - 1]).unwrap_err();
                assert_eq!((error.kind(), error.number()), (BufferTooSmall, dims.len() as u64));
                assert_eq!(error.offset(), place(bytes));
            }
        });
    }
}

#[test]
fn strides_in_64_bits() {
    with_shape(&[3, 1 << 20, 1 << 30], |shape, _| {
        assert_eq!(shape.strides_into(&mut [0; 3]).unwrap(), [1 << 50, 1 << 30, 1]);
    });
    with_shape(&[0, 1 << 31, 1 << 32], |shape, _| {
        assert_eq!(shape.strides_into(&mut [0; 3]).unwrap(), [1 << 63, 1 << 32, 1]);
    });
    // The product of the dimensions behind, also where that is zero.
    with_shape(&[3, 0, 2], |shape, _| {
        assert_eq!(shape.strides_into(&mut [7; 3]).unwrap(), [0, 2, 1]);
    });
    // Without elements there may be strides that no number of 64 bits has.
    with_shape(&[0, 1 << 32, 1 << 32], |shape, bytes| {
        let error = shape.strides_into(&mut [0; 3]).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (SizeOverflow, place(bytes)));
    });
}

#[test]
fn shapes_are_compared_with_integers_of_every_type() {
    with_shape(&[2, 3], |shape, _| {
        assert_eq!(shape, [2, 3]);
        assert_eq!(shape, [2_u8, 3]);
        assert_eq!(shape, [2_u16, 3]);
        assert_eq!(shape, [2_u32, 3]);
        assert_eq!(shape, [2_u64, 3]);
        assert_eq!(shape, [2_usize, 3]);
        assert_eq!(shape, [2_i64, 3]);
        assert_eq!(shape, [2_i128, 3]);
        assert_eq!(shape, &[2, 3][..]);
        assert_eq!(shape, &[2_usize, 3][..]);
        assert_eq!(shape, &[2_u64, 3][..]);
        assert_eq!(shape, *vec![2_usize, 3]);
        assert_eq!(shape, *vec![2_u64, 3].as_slice());

        assert_ne!(shape, [2]);
        assert_ne!(shape, [2, 3, 1]);
        assert_ne!(shape, [3, 2]);
        assert_ne!(shape, [2, -3]);
        assert_ne!(shape, [0_u64; 0]);
        assert_ne!(shape, [2_i128, 3 + (1 << 64)]);
        assert_ne!(shape, [2_usize, 4][..]);
        assert_ne!(shape, &[2_i8, -3][..]);
        with_shape(&[2, 3], |same, _| assert_eq!(shape, same));
        with_shape(&[2, 3, 1], |longer, _| assert_ne!(shape, longer));
    });
    with_shape(&[], |shape, _| {
        assert_eq!(shape, [0_u64; 0]);
        assert_eq!(shape, [0_usize; 0][..]);
        assert_ne!(shape, [1]);
    });
    // A dimension is not cut to the type that it is compared with.
    with_shape(&[4_294_967_298], |shape, _| {
        assert_ne!(shape, [2_u32]);
        assert_ne!(shape, [2_i32]);
        assert_eq!(shape, [4_294_967_298_u64]);
    });
    with_shape(&[0, u64::MAX], |shape, _| {
        assert_ne!(shape, [0, -1_i64]);
        assert_eq!(shape, [0, u64::MAX]);
    });
}

/// What no slots were made for is read in the same way.
#[test]
fn shapes_of_every_source() {
    let mut bytes = head(&[2, 3], 6);
    bytes.extend([0; 6]);
    let mut slots = [Slot::EMPTY];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    let entry = Header::read(&bytes).unwrap().entries().next().unwrap().unwrap();
    let safetensors_core::Entry::Tensor(info) = entry else { panic!("{entry:?}") };
    for shape in [model.tensor("layer.weight").unwrap().shape(), info.shape()] {
        assert_eq!(shape.to_array(), Some([2, 3]));
        assert_eq!(shape.copy_into(&mut [0_u8; 3]).unwrap(), [2, 3]);
        assert_eq!(shape.strides_into(&mut [0; 2]).unwrap(), [3, 1]);
    }
}
