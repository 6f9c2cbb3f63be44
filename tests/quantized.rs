//! Integer weights with scales and zero points beside them, as compressed-tensors writes them.

mod common;

use common::file;
use half::{bf16, f16};
use safetensors_core::{ErrorKind, Quantized, SafeTensors, Slot};

/// A tensor: name, dtype, shape, bytes.
type Tensor<'a> = (&'a str, &'a str, &'a str, Vec<u8>);

fn model(tensors: &[Tensor<'_>]) -> Vec<u8> {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let (begin, end) = (data.len(), data.len() + bytes.len());
        header.push(format!(
            r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}"#
        ));
        data.extend_from_slice(bytes);
    }
    file(format!("{{{}}}", header.join(",")), &data)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Channels, and the real numbers of `w`.
fn dequantized(tensors: &[Tensor<'_>]) -> (usize, Vec<f32>) {
    let bytes = model(tensors);
    let mut slots = [Slot::EMPTY; 4];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    let weight = model.quantized("w").unwrap().unwrap();
    let mut buffer = [f32::NAN; 16];
    let len = weight.dequantize_into(&mut buffer).unwrap().len();
    assert!(buffer[len..].iter().all(|value| value.is_nan()), "only the prefix is written");
    (weight.channels(), buffer[..len].to_vec())
}

/// Kind, number and whole message of the error.
fn error(tensors: &[Tensor<'_>]) -> (ErrorKind, u64, String) {
    let bytes = model(tensors);
    let mut slots = [Slot::EMPTY; 4];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    let error = model.quantized("w").unwrap_err();
    (error.kind(), error.number(), error.display(&bytes).to_string())
}

#[test]
fn one_scale_for_all() {
    let weight = ("w", "I8", "[2,3]", vec![0, 1, 0xff, 127, 0x80, 10]);
    for shape in ["[]", "[1]", "[1,1]"] {
        let scale = ("w_scale", "F32", shape, floats(&[0.5]));
        let expected = vec![0.0, 0.5, -0.5, 63.5, -64.0, 5.0];
        assert_eq!(dequantized(&[weight.clone(), scale.clone()]), (2, expected));
        let zero_point = ("w_zero_point", "I8", shape, vec![0xfe]);
        let expected = vec![1.0, 1.5, 0.5, 64.5, -63.0, 6.0];
        assert_eq!(dequantized(&[weight.clone(), scale, zero_point]), (2, expected));
    }
}

#[test]
fn one_scale_for_each_channel() {
    let weight = ("w", "U8", "[3,2]", vec![0, 255, 128, 129, 3, 4]);
    let zero_point = ("w_zero_point", "U8", "[3]", vec![0, 128, 4]);
    let halves = [1.0, 0.25, 1.5].map(f16::from_f32).map(f16::to_le_bytes).concat();
    let bfloats = [1.0, 0.25, 1.5].map(bf16::from_f32).map(bf16::to_le_bytes).concat();
    for (dtype, scales) in [("F16", halves), ("BF16", bfloats), ("F32", floats(&[1.0, 0.25, 1.5]))]
    {
        for shape in ["[3]", "[3,1]", "[3,1,1]"] {
            let scale = ("w_scale", dtype, shape, scales.clone());
            let expected = vec![0.0, 255.0, 32.0, 32.25, 4.5, 6.0];
            assert_eq!(dequantized(&[weight.clone(), scale.clone()]), (3, expected));
            let expected = vec![0.0, 255.0, 0.0, 0.25, -1.5, 0.0];
            assert_eq!(dequantized(&[weight.clone(), scale, zero_point.clone()]), (3, expected));
        }
    }
}

/// What numpy makes of `(w.astype(np.float32) - zero_point) * scale` with float32 throughout.
#[test]
fn products_are_rounded_once() {
    let weight = ("w", "I8", "[1,4]", vec![7, 0x85, 99, 1]);
    let scale = ("w_scale", "F32", "[1]", floats(&[0.1]));
    let zero_point = ("w_zero_point", "I32", "[1]", (-3_i32).to_le_bytes().to_vec());
    let (_, values) = dequantized(&[weight, scale, zero_point]);
    let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits, [0x3f80_0000, 0xc140_0000, 0x4123_3333, 0x3ecc_cccd]);
}

#[test]
fn without_elements_or_dimensions() {
    let scale = ("w_scale", "F32", "[]", floats(&[2.0]));
    assert_eq!(dequantized(&[("w", "I8", "[]", vec![5]), scale.clone()]), (1, vec![10.0]));
    assert_eq!(dequantized(&[("w", "I8", "[0,4]", vec![]), scale.clone()]), (0, vec![]));
    assert_eq!(dequantized(&[("w", "I8", "[4,0]", vec![]), scale]), (4, vec![]));
    let none = ("w_scale", "F32", "[0]", vec![]);
    assert_eq!(dequantized(&[("w", "I8", "[0,4]", vec![]), none]), (0, vec![]));
}

#[test]
fn what_is_not_there() {
    let bytes = model(&[("w", "I8", "[1]", vec![1]), ("v_scale", "F32", "[]", floats(&[1.0]))]);
    let mut slots = [Slot::EMPTY; 4];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    assert!(model.quantized("w").unwrap().is_none(), "no scale");
    assert!(model.quantized("v").unwrap().is_none(), "no weight");
}

#[test]
fn names_up_to_the_longest() {
    for len in [Quantized::MAX_NAME, Quantized::MAX_NAME + 1] {
        let name = "ü".repeat(len / 2) + &"w".repeat(len % 2);
        let bytes = model(&[
            (&name, "I8", "[1]", vec![3]),
            (&format!("{name}_scale"), "F32", "[1]", floats(&[2.0])),
            (&format!("{name}_zero_point"), "I8", "[1]", vec![1]),
        ]);
        let mut slots = [Slot::EMPTY; 4];
        let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
        match model.quantized(&name) {
            Ok(weight) => {
                assert_eq!(len, Quantized::MAX_NAME);
                assert_eq!(weight.unwrap().dequantize_into(&mut [0.0]).unwrap(), [4.0]);
            }
            Err(error) => {
                assert_eq!(len, Quantized::MAX_NAME + 1);
                assert_eq!((error.kind(), error.number()), (ErrorKind::BufferTooSmall, 257));
                // It can still be put together by hand.
                let [weight, scale, zero_point] =
                    ["", "_scale", "_zero_point"].map(|end| model.tensor(&(name.clone() + end)));
                let weight = Quantized::new(weight.unwrap(), scale.unwrap(), zero_point).unwrap();
                assert_eq!(weight.dequantize_into(&mut [0.0]).unwrap(), [4.0]);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let weight = ("w", "I8", "[2,2]", vec![1, 2, 3, 4]);
    let scale = ("w_scale", "F32", "[1]", floats(&[1.0]));
    let message = |tensors: &[Tensor<'_>]| error(tensors).2;

    assert_eq!(
        message(&[("w", "I16", "[1]", vec![1, 2]), scale.clone()]),
        "tensor \"w\": elements are of another dtype, I16 (at byte 36)"
    );
    assert_eq!(
        message(&[weight.clone(), ("w_scale", "I32", "[1]", vec![0; 4])]),
        "tensor \"w_scale\": elements are of another dtype, I32 (at byte 96)"
    );
    assert_eq!(
        message(&[weight.clone(), scale, ("w_zero_point", "F32", "[1]", vec![0; 4])]),
        "tensor \"w_zero_point\": elements are of another dtype, F32 (at byte 160)"
    );
    // Three scales, one for each column, and as many as there are channels but across.
    for shape in ["[3]", "[1,2]", "[2,2]"] {
        let count = if shape == "[3]" {
            3
        } else if shape == "[1,2]" {
            2
        } else {
            4
        };
        let scale = ("w_scale", "F32", shape, floats(&vec![1.0; count]));
        assert_eq!(
            error(&[weight.clone(), scale]),
            (
                ErrorKind::ChannelMismatch,
                2,
                "tensor \"w_scale\": neither one element nor one for each channel, 2 channels \
                 (at byte 96)"
                    .to_owned()
            )
        );
    }
    let scale = ("w_scale", "F32", "[2]", floats(&[1.0; 2]));
    let zero_point = ("w_zero_point", "I8", "[4]", vec![0; 4]);
    assert_eq!(error(&[weight, scale, zero_point]).0, ErrorKind::ChannelMismatch);
}
