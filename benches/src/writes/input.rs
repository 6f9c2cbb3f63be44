//! What is to be written.

use std::collections::HashMap;
use std::path::Path;

use reference::tensor::Dtype as ReferenceDtype;
use safetensors_core::{Dtype, MetadataPair, TensorSpec};

use super::work;
use crate::headers::files;

/// As much data as a file may have to be written with it.
const SMALL: u64 = 1 << 16;

/// The tensors of a file and its metadata, as owned by a program that writes it.
pub struct Model {
    pub tensors: Vec<Tensor>,
    /// In header order.
    metadata: Vec<(String, String)>,
}

pub struct Tensor {
    pub name: String,
    pub dtype: Dtype,
    pub reference_dtype: ReferenceDtype,
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

impl Model {
    /// In header order.
    pub fn read(path: &Path) -> Self {
        files::with_index(path, |index| {
            let with_data = index.data_len() <= SMALL;
            let tensors = index.iter().map(|tensor| {
                let mut shape: Vec<usize> = tensor.shape().iter().map(|dim| dim as usize).collect();
                let has_data = match shape.first_mut() {
                    Some(first) if !with_data => {
                        *first = 0;
                        false
                    }
                    _ => true,
                };
                let len = if has_data { tensor.data_len() as usize } else { 0 };
                let name = serde_json::Value::from(tensor.dtype().name());
                Tensor {
                    name: tensor.name().to_string(),
                    dtype: tensor.dtype(),
                    reference_dtype: serde_json::from_value(name).unwrap(),
                    shape,
                    data: (0..len).map(|i| i as u8).collect(),
                }
            });
            let tensors = tensors.collect();
            let pairs = index.metadata().into_iter().flatten();
            let pairs = pairs.map(|(key, value)| (key.to_string(), value.to_string()));
            Self { tensors, metadata: pairs.collect() }
        })
    }
}

/// What a piece of work gets.
pub struct Input<'a> {
    pub model: &'a Model,
    /// As the program has them; a plan puts its copy in order.
    pub specs: Vec<TensorSpec<'a>>,
    pub planned: Vec<TensorSpec<'a>>,
    pub pairs: Option<Vec<MetadataPair<'a>>>,
    pub metadata: Option<HashMap<String, String>>,
    /// The file.
    pub file: Vec<u8>,
    /// Room for it.
    pub buffer: Vec<u8>,
}

impl<'a> Input<'a> {
    pub fn new(model: &'a Model) -> Self {
        let specs: Vec<_> = model
            .tensors
            .iter()
            .map(|tensor| {
                TensorSpec::new(&*tensor.name, tensor.dtype, &tensor.shape[..])
                    .with_data(&tensor.data)
            })
            .collect();
        let pairs = model.metadata.iter().map(|(key, value)| MetadataPair::new(&**key, &**value));
        let pairs: Vec<_> = pairs.collect();
        let has_metadata = !pairs.is_empty();
        let mut input = Self {
            model,
            planned: specs.clone(),
            specs,
            pairs: has_metadata.then_some(pairs),
            metadata: has_metadata.then(|| model.metadata.iter().cloned().collect()),
            file: Vec::new(),
            buffer: Vec::new(),
        };
        input.buffer = vec![0; work::plan(&mut input).file_len() as usize];
        work::write(&mut input);
        input.file = input.buffer.clone();
        input
    }

    /// The reference must write the same, but for the order of its metadata.
    pub fn check(&mut self) {
        let theirs = work::serialize(self);
        assert_eq!(parts(&self.file), parts(&theirs));
    }
}

/// The header, in which maps have no order, and the data.
fn parts(file: &[u8]) -> (serde_json::Value, &[u8]) {
    let (len, rest) = file.split_first_chunk().unwrap();
    let (json, data) = rest.split_at(u64::from_le_bytes(*len) as usize);
    (serde_json::from_slice(json).unwrap(), data)
}
