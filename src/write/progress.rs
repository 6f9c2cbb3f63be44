//! What a stream writes next, whether or not it waits for its sink.

use super::error::{WriteError, WriteErrorKind};
use super::pieces::PIECE;
use super::plan::Plan;
use super::spec::TensorSpec;
use crate::raw;

/// How far a stream is.
pub(super) struct Progress<'p> {
    data_start: u64,
    /// The tensors that are not begun yet.
    rest: &'p [TensorSpec<'p>],
    /// The one that is next once the gap before it is filled.
    next: Option<&'p TensorSpec<'p>>,
    gap: u64,
    current: Option<&'p TensorSpec<'p>>,
    /// The bytes of it that are still to come.
    left: u64,
    written: u64,
    failed: bool,
}

/// What is to be done.
pub(super) enum Step<'p> {
    Write(&'p [u8]),
    /// The data of this one is not at hand.
    Wait(&'p TensorSpec<'p>),
    End,
}

impl<'p> Progress<'p> {
    pub(super) const fn new(plan: &Plan<'p>) -> Self {
        Self {
            data_start: plan.data_start(),
            rest: plan.tensors(),
            next: None,
            gap: 0,
            current: None,
            left: 0,
            written: 0,
            failed: false,
        }
    }

    /// The bytes that were taken.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// What is to be done behind the header, or behind what was told last.
    pub(super) fn step(&mut self) -> Result<Step<'p>, WriteError> {
        const ZEROS: [u8; PIECE] = [0; PIECE];
        self.check()?;
        if self.gap == 0 && self.next.is_none() {
            if let (Some(tensor), 1..) = (self.current, self.left) {
                let missing = self.left;
                return Err(WriteError::new(WriteErrorKind::MissingData, tensor.number, missing));
            }
            let Some((tensor, rest)) = self.rest.split_first() else { return Ok(Step::End) };
            let (begin, _) = tensor.data_offsets();
            self.rest = rest;
            self.next = Some(tensor);
            self.gap = self.data_start.wrapping_add(begin).saturating_sub(self.written);
        }
        if self.gap > 0 {
            let some = raw::size(self.gap).and_then(|len| ZEROS.get(..len)).unwrap_or(&ZEROS);
            self.gap = self.gap.saturating_sub(raw::wide(some.len()));
            return Ok(Step::Write(some));
        }
        let Some(tensor) = self.next.take() else { return Ok(Step::End) };
        self.current = Some(tensor);
        self.left = 0;
        match tensor.data() {
            Some(data) => Ok(Step::Write(data)),
            None => {
                let (begin, end) = tensor.data_offsets();
                self.left = end.wrapping_sub(begin);
                Ok(Step::Wait(tensor))
            }
        }
    }

    /// Admits so many bytes of the tensor that was told last.
    pub(super) fn admit(&mut self, len: usize) -> Result<(), WriteError> {
        let Some(left) = self.left.checked_sub(raw::wide(len)) else {
            return Err(match self.current {
                Some(tensor) => {
                    let (begin, end) = tensor.data_offsets();
                    let len = end.wrapping_sub(begin);
                    WriteError::new(WriteErrorKind::WrongDataLen, tensor.number, len)
                }
                None => WriteError::of_file(WriteErrorKind::WrongDataLen, 0),
            });
        };
        self.left = left;
        Ok(())
    }

    /// Whether there is something to be written, and that nothing failed before. From here until
    /// the sink [took](Self::took) some of it the file counts as lost, so that nothing goes on
    /// after an error of the sink, or if nobody waited for its answer.
    pub(super) fn begin(&mut self, bytes: &[u8]) -> Result<bool, WriteError> {
        self.check()?;
        self.failed = !bytes.is_empty();
        Ok(self.failed)
    }

    /// What is left of `bytes` after the sink took so many, which must be some.
    pub(super) fn took<'b>(
        &mut self,
        bytes: &'b [u8],
        taken: usize,
    ) -> Result<&'b [u8], WriteError> {
        let taken = taken.min(bytes.len());
        self.failed = taken == 0;
        self.check()?;
        self.written = self.written.wrapping_add(raw::wide(taken));
        Ok(bytes.get(taken..).unwrap_or_default())
    }

    fn check(&self) -> Result<(), WriteError> {
        if self.failed {
            return Err(WriteError::of_file(WriteErrorKind::SinkFull, self.written));
        }
        Ok(())
    }
}
