//! A file that is written piece by piece and never is in memory.

use core::convert::Infallible;
use core::fmt;

use super::error::{WriteError, WriteErrorKind};
use super::json::{Filler, Put};
use super::plan::Plan;
use super::sink::Sink;
use super::spec::TensorSpec;
use crate::header::text::Decimal;
use crate::raw;

impl<'p> Plan<'p> {
    /// Begins to write the file to `sink`: the header. The data follows as [`Stream`] says.
    ///
    /// # Errors
    /// [`StreamError::Sink`] is the sink's own error, and
    /// [`SinkFull`](WriteErrorKind::SinkFull) says that it takes no more.
    pub fn stream<S: Sink>(&self, sink: S) -> Result<Stream<'p, S>, StreamError<S::Error>> {
        let mut pieces = Pieces {
            to: Counted { sink, written: 0, failed: false },
            piece: [0; PIECE],
            len: 0,
            failed: None,
        };
        self.put_header(&mut pieces);
        pieces.flush();
        match pieces.failed {
            Some(error) => Err(error),
            None => Ok(Stream {
                sink: pieces.to,
                data_start: self.data_start(),
                rest: self.tensors(),
                current: None,
                left: 0,
            }),
        }
    }
}

/// A file that is being written, one tensor after the other; made by [`Plan::stream`].
///
/// The tensors come in the order of the plan. Those with [data](TensorSpec::with_data) are written by
/// the stream; of the others the data arrives in pieces of any length, and must have the length that
/// was planned.
///
/// A sink that failed may have taken a part of what it was given, so the file is lost: from then on
/// everything fails, with [`SinkFull`](WriteErrorKind::SinkFull).
///
/// ```
/// use core::convert::Infallible;
/// use safetensors_core::{Dtype, SafeTensors, TensorSpec, WriteOptions};
///
/// let mut tensors = [
///     TensorSpec::new("log", Dtype::U16, &[100, 2]),
///     TensorSpec::new("bias", Dtype::U8, &[3]).with_data(&[1, 2, 3]),
/// ];
/// let plan = WriteOptions::new().plan(&mut tensors, None)?;
///
/// let mut file = Vec::new();
/// let mut stream = plan.stream(|bytes: &[u8]| {
///     file.extend_from_slice(bytes);
///     Ok::<_, Infallible>(bytes.len())
/// })?;
/// while let Some(tensor) = stream.next_tensor()? {
///     assert_eq!(tensor.name(), "log"); // of "bias" the data is at hand
///     for row in 0..100_u16 {
///         stream.write(&[row.to_le_bytes(), [0; 2]].concat())?;
///     }
/// }
/// stream.finish()?;
/// assert_eq!(SafeTensors::scan(&file)?.tensors(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the file is not complete before `finish`"]
pub struct Stream<'p, S> {
    sink: Counted<S>,
    data_start: u64,
    /// The tensors that are not begun yet.
    rest: &'p [TensorSpec<'p>],
    current: Option<&'p TensorSpec<'p>>,
    /// The bytes of it that are still to come.
    left: u64,
}

impl<'p, S: Sink> Stream<'p, S> {
    /// Goes on to the next tensor whose data is not at hand, and returns it; `None` if there are no
    /// more. Those before it, whose data is at hand, are written.
    ///
    /// # Errors
    /// [`MissingData`](WriteErrorKind::MissingData) if the tensor before is not complete; nothing is
    /// written then, and the rest of it may still come. [`StreamError::Sink`] and
    /// [`SinkFull`](WriteErrorKind::SinkFull) as for [`Plan::stream`].
    pub fn next_tensor(&mut self) -> Result<Option<&'p TensorSpec<'p>>, StreamError<S::Error>> {
        self.sink.check()?;
        loop {
            if let (Some(tensor), 1..) = (self.current, self.left) {
                let error = WriteError::new(WriteErrorKind::MissingData, tensor.number, self.left);
                return Err(StreamError::Write(error));
            }
            let Some((tensor, rest)) = self.rest.split_first() else { return Ok(None) };
            let (begin, end) = tensor.data_offsets();
            let gap = self.data_start.wrapping_add(begin).saturating_sub(self.sink.written);
            self.sink.write_zeros(gap)?;
            self.rest = rest;
            self.current = Some(tensor);
            self.left = end.wrapping_sub(begin);
            match tensor.data() {
                Some(data) => self.write(data)?,
                None => return Ok(Some(tensor)),
            }
        }
    }

    /// Writes the next bytes of the tensor that [`next_tensor`](Stream::next_tensor) returned.
    ///
    /// # Errors
    /// [`WrongDataLen`](WriteErrorKind::WrongDataLen) if there are more of them than dtype and shape
    /// demand, or if there is no tensor; nothing is written then. [`StreamError::Sink`] and
    /// [`SinkFull`](WriteErrorKind::SinkFull) as for [`Plan::stream`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StreamError<S::Error>> {
        let Some(left) = self.left.checked_sub(raw::wide(bytes.len())) else {
            let error = match self.current {
                Some(tensor) => {
                    let (begin, end) = tensor.data_offsets();
                    let len = end.wrapping_sub(begin);
                    WriteError::new(WriteErrorKind::WrongDataLen, tensor.number, len)
                }
                None => WriteError::of_file(WriteErrorKind::WrongDataLen, 0),
            };
            return Err(StreamError::Write(error));
        };
        self.left = left;
        self.sink.write_all(bytes)
    }

    /// Ends the file: writes the tensors that are left if their data is at hand, and gives the sink
    /// back, which is not flushed.
    ///
    /// # Errors
    /// [`MissingData`](WriteErrorKind::MissingData) with the first tensor that is not complete;
    /// [`StreamError::Sink`] and [`SinkFull`](WriteErrorKind::SinkFull) as for [`Plan::stream`].
    pub fn finish(mut self) -> Result<S, StreamError<S::Error>> {
        while self.next_tensor()?.is_some() {}
        Ok(self.sink.sink)
    }
}

impl<S> Stream<'_, S> {
    /// How many bytes of the file are written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.sink.written
    }
}

impl<S> fmt::Debug for Stream<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream { written: ")?;
        Decimal(self.written()).fmt(f)?;
        f.write_str(", .. }")
    }
}

/// Why a [`Stream`] can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError<E> {
    /// What arrives is not what was planned, or the sink is full.
    Write(WriteError),
    /// The sink failed.
    Sink(E),
}

impl<E: fmt::Display> fmt::Display for StreamError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(error) => error.fmt(f),
            Self::Sink(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for StreamError<E> {}

/// What can be written to a buffer that is large enough can fail for one reason only.
pub(crate) fn without_sink(error: StreamError<Infallible>) -> WriteError {
    match error {
        StreamError::Write(error) => error,
    }
}

#[cfg(feature = "std")]
impl From<StreamError<std::io::Error>> for std::io::Error {
    fn from(error: StreamError<Self>) -> Self {
        match error {
            StreamError::Write(error) => Self::new(std::io::ErrorKind::InvalidInput, error),
            StreamError::Sink(error) => error,
        }
    }
}

/// A sink that counts, and takes everything or fails.
struct Counted<S> {
    sink: S,
    written: u64,
    failed: bool,
}

impl<S: Sink> Counted<S> {
    /// That it did not fail before.
    fn check(&self) -> Result<(), StreamError<S::Error>> {
        if self.failed {
            let error = WriteError::of_file(WriteErrorKind::SinkFull, self.written);
            return Err(StreamError::Write(error));
        }
        Ok(())
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), StreamError<S::Error>> {
        self.check()?;
        while !bytes.is_empty() {
            let taken = self.sink.write(bytes).map(|taken| taken.min(bytes.len()));
            self.failed = !matches!(taken, Ok(1..));
            let taken = taken.map_err(StreamError::Sink)?;
            self.check()?;
            self.written = self.written.wrapping_add(raw::wide(taken));
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    fn write_zeros(&mut self, mut len: u64) -> Result<(), StreamError<S::Error>> {
        const ZEROS: [u8; PIECE] = [0; PIECE];
        while len > 0 {
            let some = raw::size(len).and_then(|len| ZEROS.get(..len)).unwrap_or(&ZEROS);
            self.write_all(some)?;
            len = len.saturating_sub(raw::wide(some.len()));
        }
        Ok(())
    }
}

/// The header comes in crumbs; the sink gets pieces of so many bytes.
const PIECE: usize = 128;

struct Pieces<S: Sink> {
    to: Counted<S>,
    piece: [u8; PIECE],
    len: usize,
    /// After a failure the rest is dropped.
    failed: Option<StreamError<S::Error>>,
}

impl<S: Sink> Pieces<S> {
    fn flush(&mut self) {
        let piece = self.piece.get(..self.len).unwrap_or_default();
        self.len = 0;
        if self.failed.is_none() {
            self.failed = self.to.write_all(piece).err();
        }
    }
}

impl<S: Sink> Put for Pieces<S> {
    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut room = Filler(self.piece.get_mut(self.len..).unwrap_or_default());
            let (now, later) = bytes.split_at_checked(room.left()).unwrap_or((bytes, &[]));
            room.put(now);
            self.len = self.len.wrapping_add(now.len());
            if self.len == PIECE {
                self.flush();
            }
            bytes = later;
        }
    }
}

/// A buffer that is large enough.
impl Sink for Filler<'_> {
    type Error = Infallible;

    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        self.put(bytes);
        Ok(bytes.len())
    }
}
