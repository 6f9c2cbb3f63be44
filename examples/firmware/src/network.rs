//! 64 pixels to 32 hidden units to 10 classes, with weights as they lie in a file.

use safetensors_core::{Dtype, Error, Quantized, SafeTensors, TensorView};

pub const PIXELS: usize = 64;
pub const HIDDEN: usize = 32;
pub const CLASSES: usize = 10;

/// The network of a model that is read at run time.
pub struct Network<'data> {
    fc1: Layer<'data>,
    fc2: Layer<'data>,
}

/// Why a file is not such a model.
#[derive(Debug)]
pub enum ModelError {
    /// It is not valid, or not what it was.
    File(Error),
    /// This tensor is missing, or has another shape or dtype.
    Tensor(&'static str),
}

impl From<Error> for ModelError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl<'data> Network<'data> {
    /// Takes the tensors out of a model.
    pub fn new(model: &SafeTensors<'data, '_>) -> Result<Self, ModelError> {
        Ok(Self {
            fc1: Layer::new(model, ["fc1.weight", "fc1.bias"], [HIDDEN, PIXELS])?,
            fc2: Layer::new(model, ["fc2.weight", "fc2.bias"], [CLASSES, HIDDEN])?,
        })
    }

    /// What comes out before the softmax, which would not change which class is the likeliest.
    pub fn forward(&self, pixels: &[f32; PIXELS]) -> [f32; CLASSES] {
        let hidden: [f32; HIDDEN] = self.fc1.forward(pixels);
        self.fc2.forward(&hidden.map(relu))
    }
}

struct Layer<'data> {
    weight: Weight<'data>,
    bias: TensorView<'data>,
}

enum Weight<'data> {
    Floats(TensorView<'data>),
    /// With a scale for each row.
    Integers(Quantized<'data>),
}

impl<'data> Layer<'data> {
    fn new(
        model: &SafeTensors<'data, '_>,
        [weight, bias]: [&'static str; 2],
        shape: [usize; 2],
    ) -> Result<Self, ModelError> {
        let found = |name| model.tensor(name).ok_or(ModelError::Tensor(name));
        let (view, bias_view) = (found(weight)?, found(bias)?);
        if view.shape() != shape {
            return Err(ModelError::Tensor(weight));
        }
        if bias_view.shape() != [shape[0]] || bias_view.elements().values().is_err() {
            return Err(ModelError::Tensor(bias));
        }
        let weight = match model.quantized(weight)? {
            Some(integers) if view.dtype() == Dtype::I8 => Weight::Integers(integers),
            None if view.elements().values().is_ok() => Weight::Floats(view),
            _ => return Err(ModelError::Tensor(weight)),
        };
        Ok(Self { weight, bias: bias_view })
    }

    /// One row after the other: no more of the weights than one is ever in RAM.
    fn forward<const IN: usize, const OUT: usize>(&self, inputs: &[f32; IN]) -> [f32; OUT] {
        core::array::from_fn(|row| {
            self.weight.dot(row, inputs) + self.bias.elements().value(row).unwrap_or(0.0)
        })
    }
}

impl Weight<'_> {
    fn dot<const IN: usize>(&self, row: usize, inputs: &[f32; IN]) -> f32 {
        match self {
            Self::Floats(view) => {
                // The bytes of the row, as elements of whatever dtype.
                let row = view.slice((row,)).ok().and_then(|row| row.elements());
                let mut buffer = [0.0; IN];
                let Some(row) = row else { return 0.0 };
                match row.as_slice::<f32>() {
                    Ok(row) => dot(row, inputs),
                    // Not `f32`, or not aligned: converted into the buffer.
                    Err(_) => row.convert_into(&mut buffer).map_or(0.0, |row| dot(row, inputs)),
                }
            }
            Self::Integers(quantized) => {
                let zero_point = quantized.zero_point(row);
                let integers = quantized.integers().bytes().chunks(IN).nth(row).unwrap_or_default();
                let reals = integers.iter().map(|byte| f32::from(byte.cast_signed()) - zero_point);
                sum(reals.zip(inputs)) * quantized.scale(row)
            }
        }
    }
}

/// A layer whose weights are arrays.
pub fn dense<const IN: usize, const OUT: usize>(
    weight: &[[f32; IN]; OUT],
    bias: &[f32; OUT],
    inputs: &[f32; IN],
) -> [f32; OUT] {
    core::array::from_fn(|row| dot(&weight[row], inputs) + bias[row])
}

fn dot(row: &[f32], inputs: &[f32]) -> f32 {
    sum(row.iter().copied().zip(inputs))
}

/// In this order, so that there are the same bits on every machine.
fn sum<'a>(pairs: impl Iterator<Item = (f32, &'a f32)>) -> f32 {
    pairs.fold(0.0, |sum, (weight, input)| sum + weight * input)
}

pub fn relu(value: f32) -> f32 {
    value.max(0.0)
}

/// The class that is the likeliest.
pub fn likeliest(outputs: &[f32; CLASSES]) -> usize {
    let mut best = 0;
    for (class, output) in outputs.iter().enumerate() {
        if *output > outputs[best] {
            best = class;
        }
    }
    best
}
