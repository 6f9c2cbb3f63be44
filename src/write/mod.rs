//! Writing files: planned first, then filled into a buffer.

mod error;
mod json;
mod order;
mod plan;
mod spec;

pub use error::{DisplayWriteError, WriteError, WriteErrorKind};
pub use plan::{Plan, WriteOptions};
pub use spec::{MetadataPair, ShapeSpec, TensorSpec};
