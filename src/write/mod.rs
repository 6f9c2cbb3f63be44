//! Writing files: planned first, then filled into a buffer or streamed.

mod error;
pub(crate) mod json;
mod order;
mod pieces;
mod plan;
mod progress;
mod sink;
mod spec;
mod stream;

pub use error::{DisplayWriteError, WriteError, WriteErrorKind};
pub use plan::{Plan, WriteOptions};
#[cfg(feature = "embedded-io-07")]
pub use sink::EmbeddedIo;
pub use sink::Sink;
#[cfg(feature = "std")]
pub use sink::StdIo;
pub use spec::{MetadataPair, ShapeSpec, TensorSpec};
#[cfg(feature = "checksum")]
pub(crate) use stream::without_sink;
pub use stream::{Stream, StreamError};
