//! A file that is written piece by piece to a sink that is waited for.

use core::fmt;

use super::pieces::Pieces;
use super::plan::Plan;
use super::progress::{Progress, Step};
use super::sink::AsyncSink;
use super::spec::TensorSpec;
use super::stream::StreamError;
use crate::digits::Decimal;

impl<'p> Plan<'p> {
    /// [`Plan::stream`] to a sink that is waited for.
    ///
    /// # Errors
    /// Those of [`Plan::stream`].
    pub async fn stream_async<S: AsyncSink>(
        &self,
        sink: S,
    ) -> Result<AsyncStream<'p, S>, StreamError<S::Error>> {
        let mut stream = AsyncStream { sink, progress: Progress::new(self) };
        let mut header = Pieces::new(self);
        while let Some(piece) = header.next() {
            stream.write_all(piece).await?;
        }
        Ok(stream)
    }
}

/// A [`Stream`](crate::Stream) to an [`AsyncSink`]; made by [`Plan::stream_async`].
///
/// A future of it that is dropped before it is ready may have written a part, so it counts as a failure
/// of the sink: from then on everything fails, with [`SinkFull`](crate::WriteErrorKind::SinkFull).
///
/// ```
/// use core::convert::Infallible;
/// use safetensors_core::{Dtype, Plan, SafeTensors, StreamError, TensorSpec, WriteOptions};
///
/// async fn send(plan: &Plan<'_>, file: &mut Vec<u8>) -> Result<(), StreamError<Infallible>> {
///     let mut stream = plan
///         .stream_async(async |bytes: &[u8]| {
///             file.extend_from_slice(bytes);
///             Ok(bytes.len())
///         })
///         .await?;
///     while let Some(_) = stream.next_tensor().await? {
///         stream.write(&[1, 2]).await?;
///         stream.write(&[3]).await?;
///     }
///     stream.finish().await?;
///     Ok(())
/// }
///
/// let mut tensors = [TensorSpec::new("log", Dtype::U8, &[3])];
/// let plan = WriteOptions::new().plan(&mut tensors, None)?;
/// let mut file = Vec::new();
/// embassy_futures::block_on(send(&plan, &mut file))?;
/// assert_eq!(SafeTensors::scan(&file)?.tensors(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the file is not complete before `finish`"]
pub struct AsyncStream<'p, S> {
    sink: S,
    progress: Progress<'p>,
}

impl<'p, S: AsyncSink> AsyncStream<'p, S> {
    /// [`Stream::next_tensor`](crate::Stream::next_tensor).
    ///
    /// # Errors
    /// The same.
    pub async fn next_tensor(
        &mut self,
    ) -> Result<Option<&'p TensorSpec<'p>>, StreamError<S::Error>> {
        loop {
            match self.progress.step()? {
                Step::Write(bytes) => self.write_all(bytes).await?,
                Step::Wait(tensor) => return Ok(Some(tensor)),
                Step::End => return Ok(None),
            }
        }
    }

    /// [`Stream::write`](crate::Stream::write).
    ///
    /// # Errors
    /// The same.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), StreamError<S::Error>> {
        self.progress.admit(bytes.len())?;
        self.write_all(bytes).await
    }

    /// [`Stream::finish`](crate::Stream::finish).
    ///
    /// # Errors
    /// The same.
    pub async fn finish(mut self) -> Result<S, StreamError<S::Error>> {
        while self.next_tensor().await?.is_some() {}
        Ok(self.sink)
    }

    async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), StreamError<S::Error>> {
        while self.progress.begin(bytes)? {
            let taken = self.sink.write(bytes).await.map_err(StreamError::Sink)?;
            bytes = self.progress.took(bytes, taken)?;
        }
        Ok(())
    }
}

impl<S> AsyncStream<'_, S> {
    /// How many bytes of the file are written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.progress.written()
    }
}

impl<S> fmt::Debug for AsyncStream<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsyncStream { written: ")?;
        Decimal(self.written()).fmt(f)?;
        f.write_str(", .. }")
    }
}
