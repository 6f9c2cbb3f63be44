//! What is measured.

use std::borrow::Cow;
use std::hint::black_box;

use reference::tensor::{Dtype as ReferenceDtype, View};
use safetensors_core::{Plan, WriteOptions};

use super::input::{Input, Tensor};

/// Ours, the reference's, and a copy of the file.
pub const ALL: [fn(&mut Input<'_>); 3] = [write, reference, copy];

/// From the tensors in the order that the program has them in.
pub fn plan<'p>(input: &'p mut Input<'_>) -> Plan<'p> {
    input.planned.copy_from_slice(black_box(&input.specs));
    WriteOptions::new().plan(&mut input.planned, input.pairs.as_deref_mut()).unwrap()
}

pub fn write(input: &mut Input<'_>) {
    // Moved out, as the plan borrows the input.
    let mut buffer = std::mem::take(&mut input.buffer);
    black_box(plan(input).write_into(&mut buffer).unwrap());
    input.buffer = buffer;
}

fn reference(input: &mut Input<'_>) {
    black_box(serialize(input));
}

pub fn serialize(input: &mut Input<'_>) -> Vec<u8> {
    let tensors = black_box(input.model).tensors.iter().map(|tensor| (&tensor.name, tensor));
    reference::serialize(tensors, input.metadata.clone()).unwrap()
}

impl View for &Tensor {
    fn dtype(&self) -> ReferenceDtype {
        self.reference_dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.data)
    }

    fn data_len(&self) -> usize {
        self.data.len()
    }
}

fn copy(input: &mut Input<'_>) {
    black_box(&mut input.buffer[..]).copy_from_slice(black_box(&input.file));
    black_box(&mut input.buffer);
}
