//! The JSON form of `safetensors inspect`.

use safetensors_core::{Index, Metadata, Shape, TensorInfo, Text};
use serde::{Serialize, Serializer};

use crate::json;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    format: &'static str,
    header_len: usize,
    data_len: u64,
    #[serde(serialize_with = "json::metadata")]
    metadata: Option<Metadata<'a>>,
    #[serde(serialize_with = "tensors")]
    tensors: Index<'a, 'a>,
}

impl<'a> Document<'a> {
    pub(super) fn new(index: &Index<'a, 'a>) -> Self {
        Self {
            format: "safetensors",
            header_len: index.header().json().len(),
            data_len: index.data_len(),
            metadata: index.metadata(),
            tensors: *index,
        }
    }
}

fn tensors<S: Serializer>(index: &Index<'_, '_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(index.iter().map(Tensor::new))
}

#[derive(Serialize)]
struct Tensor<'a> {
    #[serde(serialize_with = "json::text")]
    name: Text<'a>,
    dtype: &'static str,
    #[serde(serialize_with = "json::shape")]
    shape: Shape<'a>,
    data_offsets: (u64, u64),
}

impl<'a> Tensor<'a> {
    fn new(info: TensorInfo<'a>) -> Self {
        Self {
            name: info.name(),
            dtype: info.dtype().name(),
            shape: info.shape(),
            data_offsets: info.data_offsets(),
        }
    }
}
