//! A device that can do whatever a source may do.

use std::fmt;
use std::pin::pin;
use std::task::Poll;

use safetensors_core::{AsyncSink, AsyncSource, Sink, Source};

/// The error of the call of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) usize);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} failed", self.0)
    }
}

impl std::error::Error for Broken {}

/// How much comes at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtOnce {
    All,
    One,
    /// From one byte to all of them.
    Random,
}

pub(crate) struct Device {
    bytes: Vec<u8>,
    pub(crate) at_once: AtOnce,
    pub(crate) capacity: Option<u64>,
    /// The calls to read so far: where from, and how much was wanted.
    pub(crate) calls: Vec<(u64, usize)>,
    /// The call that fails, if it comes to that.
    pub(crate) fails: Option<usize>,
    /// Says that it read more than was wanted.
    pub(crate) lies: bool,
    random: Random,
}

impl Device {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            at_once: AtOnce::All,
            capacity: None,
            calls: Vec::new(),
            fails: None,
            lies: false,
            random: Random(1),
        }
    }

    fn answer(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, Broken> {
        assert!(!to.is_empty());
        let call = self.calls.len();
        self.calls.push((offset, to.len()));
        if self.fails == Some(call) {
            to.fill(0xaa);
            return Err(Broken(call));
        }
        let rest = usize::try_from(offset).ok().and_then(|at| self.bytes.get(at..));
        let rest = rest.unwrap_or_default();
        let most = match self.at_once {
            AtOnce::All => usize::MAX,
            AtOnce::One => 1,
            AtOnce::Random => 1 + self.random.below(to.len() as u64) as usize,
        };
        let len = to.len().min(rest.len()).min(most);
        to[..len].copy_from_slice(&rest[..len]);
        Ok(if self.lies { usize::MAX } else { len })
    }
}

impl Source for &mut Device {
    type Error = Broken;

    fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, Broken> {
        self.answer(offset, to)
    }

    fn capacity(&mut self) -> Result<Option<u64>, Broken> {
        Ok(self.capacity)
    }
}

impl AsyncSource for &mut Device {
    type Error = Broken;

    async fn read(&mut self, offset: u64, to: &mut [u8]) -> Result<usize, Broken> {
        later(self.calls.len() % 3).await;
        self.answer(offset, to)
    }

    async fn capacity(&mut self) -> Result<Option<u64>, Broken> {
        later(1).await;
        Ok(self.capacity)
    }
}

/// Is ready when it was asked so many times in vain.
pub(crate) async fn later(mut times: usize) {
    let turns = std::future::poll_fn(|context| {
        if times == 0 {
            return Poll::Ready(());
        }
        times -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    });
    pin!(turns).await;
}

/// Numbers that look random, the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A port to which a file is streamed.
pub(crate) struct Port {
    pub(crate) got: Vec<u8>,
    pub(crate) calls: usize,
    /// The call that fails, if it comes to that.
    pub(crate) fails: Option<usize>,
    /// The bytes that it takes in all.
    pub(crate) room: usize,
    random: Random,
}

impl Port {
    pub(crate) fn new() -> Self {
        Self { got: Vec::new(), calls: 0, fails: None, room: usize::MAX, random: Random(3) }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        assert!(!bytes.is_empty());
        let call = self.calls;
        self.calls += 1;
        if self.fails == Some(call) {
            return Err(Broken(call));
        }
        let some = 1 + self.random.below(bytes.len() as u64) as usize;
        let some = some.min(self.room - self.got.len());
        self.got.extend_from_slice(&bytes[..some]);
        Ok(some)
    }
}

impl Sink for &mut Port {
    type Error = Broken;

    fn write(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        self.take(bytes)
    }
}

impl AsyncSink for &mut Port {
    type Error = Broken;

    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        later(self.calls % 3).await;
        self.take(bytes)
    }
}
