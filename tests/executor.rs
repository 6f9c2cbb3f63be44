//! Storage that is waited for, in the executor of Embassy: a task writes a file into flash and reads it
//! while another has its turns.
#![cfg(feature = "embedded-storage-async-04")]

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use embassy_executor::{Executor, Spawner};
use embassy_futures::block_on;
use embedded_storage_async::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use safetensors_core::{
    AsyncNorFlashSink, AsyncSource, AsyncStoredSafeTensors, Dtype, NorFlashSource, Options,
    SafeTensors, Slot, StorageError, StreamError, TensorSpec, WriteOptions,
};

/// Flash whose operations end in another thread, as an interrupt ends them.
#[derive(Clone)]
struct Flash(Rc<RefCell<Vec<u8>>>);

/// Is ready when another thread has woken the task.
async fn interrupt() {
    let mut begun = false;
    poll_fn(|context| {
        if std::mem::replace(&mut begun, true) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake());
        Poll::Pending
    })
    .await
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, to: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        interrupt().await;
        assert!(offset.is_multiple_of(4) && to.len().is_multiple_of(4));
        to.copy_from_slice(&self.0.borrow()[offset as usize..][..to.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.borrow().len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 256;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        interrupt().await;
        assert!(from.is_multiple_of(256) && to.is_multiple_of(256));
        self.0.borrow_mut()[from as usize..to as usize].fill(0xff);
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        interrupt().await;
        assert!(offset.is_multiple_of(8) && bytes.len().is_multiple_of(8));
        let mut flash = self.0.borrow_mut();
        let to = &mut flash[offset as usize..][..bytes.len()];
        assert!(to.iter().all(|byte| *byte == 0xff));
        to.copy_from_slice(bytes);
        Ok(())
    }
}

const START: u32 = 512;

/// Writes measurements as they come.
async fn write(flash: Flash) -> Result<Flash, StreamError<NorFlashErrorKind>> {
    let mut tensors = [
        TensorSpec::new("log", Dtype::I16, &[100]),
        TensorSpec::new("scale", Dtype::F32, &[1]).with_data(&[0, 0, 0, 0x3f]),
    ];
    let plan = WriteOptions::new().plan(&mut tensors, None)?;
    let mut buffer = [0; 64];
    let sink = AsyncNorFlashSink::new(flash, START, &plan, &mut buffer)?;
    let mut stream = plan.stream_async(sink).await?;
    while let Some(tensor) = stream.next_tensor().await? {
        assert_eq!(tensor.name(), "log");
        for value in 0..100_i16 {
            interrupt().await;
            stream.write(&value.to_le_bytes()).await?;
        }
    }
    stream.finish().await?.finish().await
}

async fn sums(flash: Flash) -> Result<[f32; 3], StorageError<NorFlashErrorKind>> {
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    let source = NorFlashSource(flash).starting_at(START.into());
    let mut model = AsyncStoredSafeTensors::open(source, &mut header, &mut slots).await?;
    let (log, scale) = (model.tensor("log").unwrap(), model.tensor("scale").unwrap());
    let mut scale_value = [0.0];
    model.convert_into(&scale, &mut scale_value, &mut [0; 4]).await?;
    let (mut buffer, mut sum) = ([0; 30], 0.0);
    let mut chunks = model.chunks(&log);
    while let Some(elements) = chunks.next(&mut buffer).await? {
        sum += elements.values()?.sum::<f32>();
    }
    let mut last = [0_i16; 2];
    let part = log.slice((-2..,))?;
    model.copy_into(&part, &mut last, &mut [0; 2]).await?;
    Ok([scale_value[0], sum, last.map(f32::from).iter().sum()])
}

/// What a task is given, and what it leaves behind.
struct Job {
    flash: Flash,
    sums: Cell<Option<[f32; 3]>>,
    turns: Cell<usize>,
}

#[embassy_executor::task]
async fn storing(job: &'static Job) {
    let flash = write(job.flash.clone()).await.unwrap();
    job.sums.set(Some(sums(flash).await.unwrap()));
}

#[embassy_executor::task]
async fn blinking(job: &'static Job) {
    while job.sums.get().is_none() {
        job.turns.set(job.turns.get() + 1);
        interrupt().await;
    }
}

#[test]
fn a_file_is_written_and_read_while_others_have_their_turns() {
    let executor: &'static mut Executor = Box::leak(Box::new(Executor::new()));
    let flash = Flash(Rc::new(RefCell::new(vec![0; 2048])));
    let job = Job { flash: flash.clone(), sums: Cell::new(None), turns: Cell::new(0) };
    let job: &'static Job = Box::leak(Box::new(job));
    let spawn = |spawner: Spawner| {
        spawner.spawn(storing(job).unwrap());
        spawner.spawn(blinking(job).unwrap());
    };
    executor.run_until(spawn, || job.sums.get().is_some());
    assert_eq!(job.sums.get(), Some([0.5, 4950.0, 197.0]));
    assert!(job.turns.get() > 1, "{}", job.turns.get());
    let bytes = flash.0.borrow();
    let end =
        START as usize + 8 + u64::from_le_bytes(*bytes[512..].first_chunk().unwrap()) as usize;
    let file = &bytes[START as usize..end + 204];
    assert_eq!(SafeTensors::scan(file).unwrap().tensors(), 2);
}

// ── futures that are dropped ──

/// Polls a future so many times and drops it; whether it was ready.
fn poll<T>(future: impl Future<Output = T>, times: usize) -> bool {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..times).any(|_| future.as_mut().poll(&mut context).is_ready())
}

/// While the flash is busy: the file is lost, and never looks like one.
#[test]
fn a_file_of_which_the_writing_is_dropped() {
    for times in 0.. {
        let flash = Flash(Rc::new(RefCell::new(vec![0; 2048])));
        let done = poll(write(flash.clone()), times);
        let options = Options::new().allow_gaps(true);
        let found =
            options.parse(&flash.0.borrow()[START as usize..], &mut [Slot::EMPTY; 2]).is_ok();
        assert_eq!(found, done, "after {times} polls");
        if done {
            assert!(times > 100, "{times}");
            break;
        }
    }
}

#[test]
fn a_stream_of_which_a_write_is_dropped() {
    let mut tensors = [TensorSpec::new("t", Dtype::U8, &[4])];
    let plan = WriteOptions::new().plan(&mut tensors, None).unwrap();
    let sink = async |bytes: &[u8]| {
        interrupt().await;
        Ok::<_, NorFlashErrorKind>(bytes.len())
    };
    let mut stream = block_on(plan.stream_async(sink)).unwrap();
    block_on(stream.next_tensor()).unwrap();
    block_on(stream.write(&[1])).unwrap();
    // Not even begun: nothing is lost.
    assert!(!poll(stream.next_tensor(), 0));
    block_on(stream.write(&[2])).unwrap();
    let written = stream.written();
    assert!(!poll(stream.write(&[3]), 1));
    let text = format!("sink takes no more, {written} bytes written");
    assert_eq!(block_on(stream.write(&[3])).unwrap_err().to_string(), text);
    assert_eq!(block_on(stream.next_tensor()).unwrap_err().to_string(), text);
    assert_eq!(block_on(stream.finish()).err().unwrap().to_string(), text);
}

#[test]
fn a_chunk_of_which_the_reading_is_dropped_is_next_again() {
    let flash = block_on(write(Flash(Rc::new(RefCell::new(vec![0; 2048]))))).unwrap();
    let (mut header, mut slots) = ([0; 200], [Slot::EMPTY; 2]);
    let source = NorFlashSource(flash).starting_at(START.into());
    let open = AsyncStoredSafeTensors::open(source, &mut header, &mut slots);
    let mut model = block_on(open).unwrap();
    let log = model.tensor("log").unwrap();
    let mut chunks = model.chunks(&log);
    let (mut buffer, mut found) = ([0; 14], Vec::new());
    loop {
        assert!(!poll(chunks.next(&mut buffer), 0));
        if found.len() < 100 {
            assert!(!poll(chunks.next(&mut buffer), 1));
        }
        let Some(elements) = block_on(chunks.next(&mut buffer)).unwrap() else { break };
        found.extend(elements.iter::<i16>().unwrap());
    }
    assert!(found.into_iter().eq(0..100));
}
