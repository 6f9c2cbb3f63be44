//! What is measured, each on as many numbers as the buffers hold.

use std::hint::black_box;

use half::slice::HalfFloatSliceExt;
use safetensors_core::{Dtype, Elements, Overflow};

use super::buffers::Buffers;

pub type Work = fn(&mut Buffers<'_>);

/// A line of the table.
pub struct Row {
    pub name: &'static str,
    pub ours: Work,
    pub half: Option<Work>,
}

const fn row(name: &'static str, ours: Work) -> Row {
    Row { name, ours, half: None }
}

const fn row_of_half(name: &'static str, ours: Work, half: Work) -> Row {
    Row { name, ours, half: Some(half) }
}

pub const ROWS: [Row; 24] = [
    row_of_half("F16 to f32", |b| decode(b, Dtype::F16), half_decode_f16),
    row_of_half("BF16 to f32", |b| decode(b, Dtype::BF16), half_decode_bf16),
    row("F8_E4M3 to f32", |b| decode(b, Dtype::F8_E4M3)),
    row("F8_E5M2 to f32", |b| decode(b, Dtype::F8_E5M2)),
    row("F8_E4M3FNUZ to f32", |b| decode(b, Dtype::F8_E4M3FNUZ)),
    row("F8_E5M2FNUZ to f32", |b| decode(b, Dtype::F8_E5M2FNUZ)),
    row("F8_E8M0 to f32", |b| decode(b, Dtype::F8_E8M0)),
    row("F6_E2M3 to f32", |b| decode(b, Dtype::F6_E2M3)),
    row("F6_E3M2 to f32", |b| decode(b, Dtype::F6_E3M2)),
    row("F4 to f32", |b| decode(b, Dtype::F4)),
    row("I8 to f32", |b| decode(b, Dtype::I8)),
    row("I64 to f32", |b| decode(b, Dtype::I64)),
    row("U64 to f32", |b| decode(b, Dtype::U64)),
    row("F64 to f32", |b| decode(b, Dtype::F64)),
    row("F32 to f32", |b| decode(b, Dtype::F32)),
    row_of_half("f32 to F16", |b| encode(b, Dtype::F16), half_encode_f16),
    row_of_half("f32 to BF16", |b| encode(b, Dtype::BF16), half_encode_bf16),
    row("f32 to F8_E4M3", |b| encode(b, Dtype::F8_E4M3)),
    row("f32 to F6_E2M3", |b| encode(b, Dtype::F6_E2M3)),
    row("f32 to F4", |b| encode(b, Dtype::F4)),
    row("f32 to I8", |b| encode(b, Dtype::I8)),
    row("F32 copied, unaligned", copy_unaligned),
    row("F32 copied, half columns", copy_columns),
    row("F32 as a slice", as_slice),
];

/// The copy, what is ours, and what is half's; in the order of the rows.
pub fn all() -> Vec<Work> {
    let ours = ROWS.iter().map(|row| row.ours);
    let halfs = ROWS.iter().filter_map(|row| row.half);
    [copy as Work].into_iter().chain(ours).chain(halfs).collect()
}

/// The least that can be done: `f32` as they are.
fn copy(buffers: &mut Buffers<'_>) {
    black_box(&mut buffers.to_floats[..]).copy_from_slice(black_box(&buffers.floats));
    black_box(&mut buffers.to_floats);
}

fn decode(buffers: &mut Buffers<'_>, dtype: Dtype) {
    // Moved out, as the elements borrow the buffers.
    let mut to = std::mem::take(&mut buffers.to_floats);
    black_box(black_box(buffers.encoded(dtype)).convert_into(&mut to).unwrap());
    buffers.to_floats = to;
}

fn encode(buffers: &mut Buffers<'_>, dtype: Dtype) {
    // What half does with large values, too.
    let overflow = Overflow::NonFinite;
    let (values, dtype, overflow) = black_box((&buffers.floats, dtype, overflow));
    black_box(Elements::convert_from(values, dtype, overflow, &mut buffers.to_bytes).unwrap());
}

fn copy_unaligned(buffers: &mut Buffers<'_>) {
    let elements = Elements::new(Dtype::F32, black_box(buffers.unaligned)).unwrap();
    black_box(elements.copy_into(&mut buffers.to_floats).unwrap());
}

fn copy_columns(buffers: &mut Buffers<'_>) {
    let slice = black_box(&buffers.matrix).slice((.., 0..64)).unwrap();
    black_box(slice.copy_into(&mut buffers.to_floats).unwrap());
}

fn as_slice(buffers: &mut Buffers<'_>) {
    black_box(black_box(buffers.encoded(Dtype::F32)).as_slice::<f32>().unwrap());
}

fn half_decode_f16(buffers: &mut Buffers<'_>) {
    black_box(&buffers.f16s).convert_to_f32_slice(&mut buffers.to_floats);
    black_box(&mut buffers.to_floats);
}

fn half_decode_bf16(buffers: &mut Buffers<'_>) {
    black_box(&buffers.bf16s).convert_to_f32_slice(&mut buffers.to_floats);
    black_box(&mut buffers.to_floats);
}

fn half_encode_f16(buffers: &mut Buffers<'_>) {
    buffers.to_f16s.convert_from_f32_slice(black_box(&buffers.floats));
    black_box(&mut buffers.to_f16s);
}

fn half_encode_bf16(buffers: &mut Buffers<'_>) {
    buffers.to_bf16s.convert_from_f32_slice(black_box(&buffers.floats));
    black_box(&mut buffers.to_bf16s);
}
