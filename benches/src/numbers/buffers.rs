//! Numbers in every dtype, and room for what becomes of them.

use half::{bf16, f16};
use safetensors_core::{Dtype, Elements, Overflow, SafeTensors, Slot, TensorView};

/// What a piece of work gets.
pub struct Buffers<'a> {
    pub floats: Vec<f32>,
    pub f16s: Vec<f16>,
    pub bf16s: Vec<bf16>,
    /// The floats as every dtype.
    encoded: Vec<(Dtype, Vec<u8>)>,
    /// The floats at an address that is odd.
    pub unaligned: &'a [u8],
    /// A matrix of 128 columns, twice as large as the others.
    pub matrix: TensorView<'a>,

    pub to_floats: Vec<f32>,
    pub to_f16s: Vec<f16>,
    pub to_bf16s: Vec<bf16>,
    pub to_bytes: Vec<u8>,
}

impl Buffers<'_> {
    pub fn encoded(&self, dtype: Dtype) -> Elements<'_> {
        let (_, bytes) = self.encoded.iter().find(|(other, _)| *other == dtype).unwrap();
        Elements::new(dtype, bytes).unwrap()
    }
}

/// Calls `job` with `len` numbers of a normal distribution (mean 0, standard deviation 1), in which
/// no dtype has NaN or what is beyond its largest value, and few are subnormal: what weights are when
/// they have been scaled to the dtype.
pub fn with_buffers<R>(len: usize, job: impl FnOnce(&mut Buffers<'_>) -> R) -> R {
    let floats = normal(len);
    let mut to_bytes = vec![0; 8 * len];
    let encoded = Dtype::ALL.iter().filter(|dtype| **dtype != Dtype::C64).map(|dtype| {
        // Scales, which F8_E8M0 is for, have no sign.
        let values: Vec<f32> = match dtype {
            Dtype::F8_E8M0 => floats.iter().map(|value| value.abs()).collect(),
            _ => floats.clone(),
        };
        let encoded = Elements::convert_from(&values, *dtype, Overflow::Saturate, &mut to_bytes);
        (*dtype, encoded.unwrap().bytes().to_vec())
    });
    let encoded = encoded.collect();

    let mut bytes = vec![0; 4 * len + 4];
    let odd = bytes.as_ptr().align_offset(4) + 1;
    let unaligned = &mut bytes[odd..][..4 * len];
    Elements::copy_from(&floats, unaligned).unwrap();

    let file = file(&floats);
    let mut slots = [Slot::EMPTY];
    let matrix = SafeTensors::parse(&file, &mut slots).unwrap().tensor("matrix").unwrap();

    job(&mut Buffers {
        f16s: floats.iter().copied().map(f16::from_f32).collect(),
        bf16s: floats.iter().copied().map(bf16::from_f32).collect(),
        encoded,
        unaligned,
        matrix,
        to_floats: vec![0.0; len],
        to_f16s: vec![f16::ZERO; len],
        to_bf16s: vec![bf16::ZERO; len],
        to_bytes,
        floats,
    })
}

/// The floats twice, as a matrix of 128 columns in a file.
fn file(floats: &[f32]) -> Vec<u8> {
    let (rows, end) = (2 * floats.len() / 128, 8 * floats.len());
    let json =
        format!(r#"{{"matrix":{{"dtype":"F32","shape":[{rows},128],"data_offsets":[0,{end}]}}}}"#);
    let json = format!("{json:128}");
    let mut file = json.len().to_le_bytes().to_vec();
    file.extend(json.bytes());
    file.extend(floats.iter().chain(floats).flat_map(|value| value.to_le_bytes()));
    file
}

/// Sums of twelve numbers of a linear congruential generator, evenly between 0 and 1.
fn normal(len: usize) -> Vec<f32> {
    let mut state: u64 = 1;
    let mut even = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    (0..len).map(|_| (0..12).map(|_| even()).sum::<f32>() - 6.0).collect()
}
