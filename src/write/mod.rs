//! Writing files: planned first, then filled into a buffer or streamed.

mod async_stream;
mod error;
#[cfg(any(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
mod flash;
pub(crate) mod json;
#[cfg(any(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
mod nor_flash;
mod order;
mod pieces;
mod plan;
mod progress;
mod sink;
mod spec;
mod stream;

pub use async_stream::AsyncStream;
pub use error::{DisplayWriteError, WriteError, WriteErrorKind};
#[cfg(feature = "embedded-storage-async-04")]
pub use nor_flash::AsyncNorFlashSink;
#[cfg(feature = "embedded-storage-03")]
pub use nor_flash::NorFlashSink;
pub use plan::{Plan, WriteOptions};
pub use sink::{AsyncSink, Sink};
pub use spec::{MetadataPair, ShapeSpec, TensorSpec};
#[cfg(feature = "checksum")]
pub(crate) use stream::without_sink;
pub use stream::{Stream, StreamError};
