//! Writing files: planned first, then filled into a buffer or streamed.

mod async_stream;
mod error;
pub(crate) mod json;
mod order;
mod pieces;
mod plan;
mod progress;
mod sink;
mod spec;
mod stream;

pub use async_stream::AsyncStream;
pub use error::{DisplayWriteError, WriteError, WriteErrorKind};
pub use plan::{Plan, WriteOptions};
pub use sink::{AsyncSink, Sink};
pub use spec::{MetadataPair, ShapeSpec, TensorSpec};
#[cfg(feature = "checksum")]
pub(crate) use stream::without_sink;
pub use stream::{Stream, StreamError};
