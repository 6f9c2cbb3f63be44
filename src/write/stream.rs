//! A file that is written piece by piece and never is in memory.

use core::fmt;

use super::error::WriteError;
use super::pieces::Pieces;
use super::plan::Plan;
use super::progress::{Progress, Step};
use super::sink::Sink;
use super::spec::TensorSpec;
use crate::digits::Decimal;

impl<'p> Plan<'p> {
    /// Begins to write the file to `sink`: the header. The data follows as [`Stream`] says.
    ///
    /// # Errors
    /// [`StreamError::Sink`] is the sink's own error, and
    /// [`SinkFull`](crate::WriteErrorKind::SinkFull) says that it takes no more.
    pub fn stream<S: Sink>(&self, sink: S) -> Result<Stream<'p, S>, StreamError<S::Error>> {
        let mut stream = Stream { sink, progress: Progress::new(self) };
        let mut header = Pieces::new(self);
        while let Some(piece) = header.next() {
            stream.write_all(piece)?;
        }
        Ok(stream)
    }
}

/// A file that is being written, one tensor after the other; made by [`Plan::stream`].
///
/// The tensors come in the order of the plan. Those with [data](TensorSpec::with_data) are written by
/// the stream; of the others the data arrives in pieces of any length, and must have the length that
/// was planned.
///
/// A sink that failed may have taken a part of what it was given, so the file is lost: from then on
/// everything fails, with [`SinkFull`](crate::WriteErrorKind::SinkFull).
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
    sink: S,
    progress: Progress<'p>,
}

impl<'p, S: Sink> Stream<'p, S> {
    /// Goes on to the next tensor whose data is not at hand, and returns it; `None` if there are no
    /// more. Those before it, whose data is at hand, are written.
    ///
    /// # Errors
    /// [`MissingData`](crate::WriteErrorKind::MissingData) if the tensor before is not complete;
    /// nothing is written then, and the rest of it may still come. [`StreamError::Sink`] and
    /// [`SinkFull`](crate::WriteErrorKind::SinkFull) as for [`Plan::stream`].
    pub fn next_tensor(&mut self) -> Result<Option<&'p TensorSpec<'p>>, StreamError<S::Error>> {
        loop {
            match self.progress.step()? {
                Step::Write(bytes) => self.write_all(bytes)?,
                Step::Wait(tensor) => return Ok(Some(tensor)),
                Step::End => return Ok(None),
            }
        }
    }

    /// Writes the next bytes of the tensor that [`next_tensor`](Stream::next_tensor) returned.
    ///
    /// # Errors
    /// [`WrongDataLen`](crate::WriteErrorKind::WrongDataLen) if there are more of them than dtype and
    /// shape demand, or if there is no tensor; nothing is written then. [`StreamError::Sink`] and
    /// [`SinkFull`](crate::WriteErrorKind::SinkFull) as for [`Plan::stream`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StreamError<S::Error>> {
        self.progress.admit(bytes.len())?;
        self.write_all(bytes)
    }

    /// Ends the file: writes the tensors that are left if their data is at hand, and gives the sink
    /// back, which is not flushed.
    ///
    /// # Errors
    /// [`MissingData`](crate::WriteErrorKind::MissingData) with the first tensor that is not complete;
    /// [`StreamError::Sink`] and [`SinkFull`](crate::WriteErrorKind::SinkFull) as for
    /// [`Plan::stream`].
    pub fn finish(mut self) -> Result<S, StreamError<S::Error>> {
        while self.next_tensor()?.is_some() {}
        Ok(self.sink)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), StreamError<S::Error>> {
        while self.progress.begin(bytes)? {
            let taken = self.sink.write(bytes).map_err(StreamError::Sink)?;
            bytes = self.progress.took(bytes, taken)?;
        }
        Ok(())
    }
}

impl<S> Stream<'_, S> {
    /// How many bytes of the file are written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.progress.written()
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

/// What is written to a sink that can't fail can fail for one reason only.
#[cfg(feature = "checksum")]
pub(crate) fn without_sink(error: StreamError<core::convert::Infallible>) -> WriteError {
    match error {
        StreamError::Write(error) => error,
    }
}

impl<E> From<WriteError> for StreamError<E> {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
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
