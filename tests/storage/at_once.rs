//! Storage that answers at once.

use safetensors_core::{Options, Plan, Slot, StorageError, Stream, StreamError};

#[cfg(all(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
pub(crate) use embedded_storage::nor_flash::NorFlash;
#[cfg(all(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
pub(crate) use safetensors_core::NorFlashSink as FlashSink;
pub(crate) use safetensors_core::{Sink, Source, StoredSafeTensors as Model};

pub(crate) fn wait<T>(answer: T) -> T {
    answer
}

pub(crate) fn open<'a, S: Source>(
    options: Options,
    source: S,
    header: &'a mut [u8],
    slots: &'a mut [Slot],
) -> Result<Model<'a, 'a, S>, StorageError<S::Error>> {
    options.open(source, header, slots)
}

pub(crate) fn stream<'p, S: Sink>(
    plan: &Plan<'p>,
    sink: S,
) -> Result<Stream<'p, S>, StreamError<S::Error>> {
    plan.stream(sink)
}

#[cfg(all(
    feature = "embedded-io-07",
    feature = "embedded-io-async-07",
    feature = "embedded-storage-03",
    feature = "embedded-storage-async-04"
))]
#[path = "drivers.rs"]
mod drivers;

#[cfg(all(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
#[path = "flash.rs"]
mod flash;

#[path = "reading.rs"]
mod reading;

#[path = "streaming.rs"]
mod streaming;
