//! Files that are not in memory: flash that is not memory mapped, disks, serial links.
//!
//! `reads` knows what is read next and what becomes of it, and reads nothing itself. Two small loops,
//! in `sync` and `asynchronous`, ask it and a source in turn; they differ in `.await` alone.

mod asynchronous;
mod error;
mod part;
mod reads;
mod source;
mod sync;

#[cfg(any(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
mod embedded_storage;

pub use asynchronous::{AsyncChunks, AsyncStoredSafeTensors};
#[cfg(any(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
pub use embedded_storage::{EmbeddedStorage, NorFlashSource};
pub use error::StorageError;
pub use part::Part;
pub use source::{AsyncSource, Source, StartingAt};
pub use sync::{Chunks, StoredSafeTensors};
