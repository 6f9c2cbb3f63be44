//! Storage that is waited for.

use safetensors_core::{AsyncStream, Options, Plan, Slot, StorageError, StreamError};

pub(crate) use embassy_futures::block_on as wait;
#[cfg(all(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
pub(crate) use embedded_storage_async::nor_flash::NorFlash;
#[cfg(all(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
pub(crate) use safetensors_core::AsyncNorFlashSink as FlashSink;
pub(crate) use safetensors_core::{
    AsyncSink as Sink, AsyncSource as Source, AsyncStoredSafeTensors as Model,
};

pub(crate) async fn open<'a, S: Source>(
    options: Options,
    source: S,
    header: &'a mut [u8],
    slots: &'a mut [Slot],
) -> Result<Model<'a, 'a, S>, StorageError<S::Error>> {
    options.open_async(source, header, slots).await
}

pub(crate) async fn stream<'p, S: Sink>(
    plan: &Plan<'p>,
    sink: S,
) -> Result<AsyncStream<'p, S>, StreamError<S::Error>> {
    plan.stream_async(sink).await
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
