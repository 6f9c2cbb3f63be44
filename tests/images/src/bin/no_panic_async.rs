//! Calls every entry point of the core that is waited for, with flash and ports of which the compiler
//! knows nothing.
//!
//! Every future of an `async fn` has a branch that panics if it is polled after it was ready, which no
//! executor does and no linker can see. So there is a panic handler here, and `tests/run.sh` checks that
//! the program panics in such branches only.
#![no_std]
#![no_main]

use core::fmt::Debug;
use core::future::poll_fn;
use core::hint::black_box;
use core::panic::PanicInfo;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use embedded_io_async as io;
use embedded_storage_async::{ReadStorage, nor_flash};
use safetensors_core::{
    AsyncNorFlashSink, AsyncSink, AsyncSource, AsyncStoredSafeTensors, Dtype, EmbeddedIo,
    EmbeddedStorage, MetadataPair, NorFlashSource, Options, Part, Plan, Slot, StorageError,
    StreamError, TensorIndexer, TensorSpec, WriteError, WriteOptions,
};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let slots = &mut black_box([Slot::EMPTY; 8])[..];
    let closure = async |offset: u64, to: &mut [u8]| {
        turn().await;
        black_box((offset, to));
        black_box(Ok::<usize, u8>(3))
    };
    black_box(wait(read(closure, slots)).is_some());
    black_box(wait(read(closure.starting_at(black_box(4096)), slots)).is_some());
    black_box(wait(read(NorFlashSource(Device), slots)).is_some());
    black_box(wait(read(EmbeddedStorage(Device), slots)).is_some());
    black_box(wait(read(EmbeddedIo(Device), slots)).is_some());
    black_box(write().is_ok());
    loop {
        core::hint::spin_loop();
    }
}

/// Polls a future until it is ready, or gives up.
fn wait<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return Some(value),
            Poll::Pending if black_box(true) => {}
            Poll::Pending => return None,
        }
    }
}

/// Lets others have their turn, perhaps.
async fn turn() {
    poll_fn(|_| black_box(Poll::Ready(()))).await;
}

fn debug(value: &impl Debug) {
    black_box(value as &dyn Debug);
}

// ── what is read ──

async fn read<S: AsyncSource>(source: S, slots: &mut [Slot]) -> Result<(), StorageError<S::Error>> {
    let mut buffer = black_box([0; 512]);
    let mut model = match black_box(true) {
        true => AsyncStoredSafeTensors::open(source, &mut buffer, slots).await?,
        false => Options::new().open_async(source, &mut buffer, slots).await?,
    };
    debug(&model);
    black_box((model.index(), model.metadata()));
    if let Some(tensor) = model.tensor(black_box("w")) {
        part(&mut model, &tensor).await?;
        let slice = tensor.slice((black_box(1).., TensorIndexer::ALL.step(black_box(-2))))?;
        part(&mut model, &slice).await?;
    }
    model.check_checksum(&mut black_box([0; 30])).await?;
    black_box(model.into_source().capacity().await.is_ok());
    Ok(())
}

async fn part<S: AsyncSource>(
    model: &mut AsyncStoredSafeTensors<'_, '_, S>,
    part: &impl Part,
) -> Result<(), StorageError<S::Error>> {
    let mut scratch = black_box([0; 30]);
    black_box(model.copy_bytes_into(part, &mut black_box([0; 64])).await?);
    black_box(model.copy_into(part, &mut black_box([0_i16; 64]), &mut scratch).await?);
    black_box(model.copy_into(part, &mut black_box([false; 64]), &mut scratch).await?);
    black_box(model.convert_into(part, &mut black_box([0.0; 64]), &mut scratch).await?);
    let mut chunks = model.chunks(part);
    debug(&chunks);
    while let Some(elements) = chunks.next(&mut scratch).await? {
        black_box(elements);
    }
    Ok(())
}

// ── what is written ──

fn write() -> Result<(), WriteError> {
    let mut tensors = [
        TensorSpec::new(black_box("w"), black_box(Dtype::F32), black_box(&[2, 3])),
        TensorSpec::new(black_box("v"), black_box(Dtype::U8), black_box(&[3])).with_data(b"123"),
    ];
    let mut pairs = [MetadataPair::new("k", black_box("v"))];
    let plan = WriteOptions::new().plan(&mut tensors, black_box(Some(&mut pairs)))?;
    #[cfg(feature = "reachable")]
    black_box(plan.tensors()[black_box(3)]);
    let closure = async |bytes: &[u8]| {
        turn().await;
        black_box(Ok::<usize, u8>(bytes.len()))
    };
    black_box(wait(stream(&plan, closure)).is_some());
    black_box(wait(stream(&plan, EmbeddedIo(Device))).is_some());
    let mut buffer = black_box([0; 512]);
    let sink = AsyncNorFlashSink::new(Device, black_box(4096), &plan, &mut buffer)?;
    debug(&sink);
    black_box(wait(async { stream(&plan, sink).await?.finish().await }).is_some());
    Ok(())
}

async fn stream<S: AsyncSink>(plan: &Plan<'_>, sink: S) -> Result<S, StreamError<S::Error>> {
    let mut stream = plan.stream_async(sink).await?;
    debug(&stream);
    while let Some(tensor) = stream.next_tensor().await? {
        black_box(tensor);
        stream.write(black_box(&[1, 2])).await?;
    }
    black_box(stream.written());
    stream.finish().await
}

// ── what is waited for ──

/// Flash that reads, writes and is erased in blocks, or fails; and a port.
struct Device;

type Failure = nor_flash::NorFlashErrorKind;

impl nor_flash::ErrorType for Device {
    type Error = Failure;
}

impl nor_flash::ReadNorFlash for Device {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, to: &mut [u8]) -> Result<(), Failure> {
        turn().await;
        black_box((offset, to));
        black_box(Ok(()))
    }

    fn capacity(&self) -> usize {
        black_box(1 << 20)
    }
}

impl nor_flash::NorFlash for Device {
    const WRITE_SIZE: usize = 16;
    const ERASE_SIZE: usize = 4096;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        turn().await;
        black_box((from, to));
        black_box(Ok(()))
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failure> {
        turn().await;
        black_box((offset, bytes));
        black_box(Ok(()))
    }
}

impl ReadStorage for Device {
    type Error = Failure;

    async fn read(&mut self, offset: u32, to: &mut [u8]) -> Result<(), Failure> {
        turn().await;
        black_box((offset, to));
        black_box(Ok(()))
    }

    fn capacity(&self) -> usize {
        black_box(1 << 20)
    }
}

impl io::ErrorType for Device {
    type Error = io::ErrorKind;
}

impl io::Read for Device {
    async fn read(&mut self, to: &mut [u8]) -> Result<usize, io::ErrorKind> {
        turn().await;
        black_box(to);
        black_box(Ok(3))
    }
}

impl io::Seek for Device {
    async fn seek(&mut self, to: io::SeekFrom) -> Result<u64, io::ErrorKind> {
        turn().await;
        black_box(to);
        black_box(Ok(3))
    }
}

impl io::Write for Device {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, io::ErrorKind> {
        turn().await;
        black_box(bytes);
        black_box(Ok(3))
    }

    async fn flush(&mut self) -> Result<(), io::ErrorKind> {
        turn().await;
        Ok(())
    }
}
