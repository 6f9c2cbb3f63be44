//! Where everything goes, before anything is written.

use core::fmt;

use super::error::{WriteError, WriteErrorKind};
use super::json::{self, Counter, Crumbs, Filler, Put};
use super::order;
use super::spec::{MetadataPair, TensorSpec};
use crate::digits::Decimal;
use crate::header::PREFIX_LEN;
use crate::header::entry::METADATA_KEY;
use crate::{ErrorKind, Options, raw};

/// How a file is laid out. By default it is the one that the reference implementation writes.
///
/// ```
/// use safetensors_core::{Dtype, MetadataPair, SafeTensors, Slot, TensorSpec, WriteOptions};
///
/// let mut tensors = [
///     TensorSpec::new("bias", Dtype::U8, &[3]).with_data(&[1, 2, 3]),
///     TensorSpec::new("weight", Dtype::I16, &[1, 2]).with_data(&[0, 1, 0, 2]),
/// ];
/// let mut metadata = [MetadataPair::new("format", "pt")];
/// let plan = WriteOptions::new().plan(&mut tensors, Some(&mut metadata))?;
///
/// let mut buffer = [0; 256];
/// assert_eq!(plan.file_len(), 167);
/// let file = plan.write_into(&mut buffer)?;
/// let mut slots = [Slot::EMPTY; 2];
/// let model = SafeTensors::parse(file, &mut slots)?;
/// assert_eq!(model.tensor("bias").unwrap().data(), [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WriteOptions {
    keep_order: bool,
    sort_metadata: bool,
    align: u32,
    align_tensors: u32,
    reserve: u32,
    header_limit: u32,
}

impl WriteOptions {
    /// The layout of the reference implementation: tensors by the alignment of their dtype, the
    /// greatest first, then by name, one directly behind the other; the data section at a multiple of
    /// 8 bytes. Metadata in the order given (the reference has it in no order at all).
    #[must_use]
    pub const fn new() -> Self {
        Self {
            keep_order: false,
            sort_metadata: false,
            align: 8,
            align_tensors: 1,
            reserve: 0,
            header_limit: Options::DEFAULT_HEADER_LIMIT,
        }
    }

    /// Writes tensors in the order in which they are given.
    #[must_use]
    pub const fn keep_order(self, keep: bool) -> Self {
        Self { keep_order: keep, ..self }
    }

    /// Writes metadata in the order of the keys.
    #[must_use]
    pub const fn sort_metadata(self, sort: bool) -> Self {
        Self { sort_metadata: sort, ..self }
    }

    /// Lets the data section begin at a multiple of `bytes` in the file, 8 by default, anywhere for 0 or
    /// 1; spaces behind
    /// the header's JSON make up for it, which every reader accepts.
    #[must_use]
    pub const fn align(self, bytes: u32) -> Self {
        Self { align: bytes, ..self }
    }

    /// Lets the data of each tensor begin at a multiple of `bytes` in the data section.
    ///
    /// **Other readers refuse such a file** if it has to leave gaps, and so does this one without
    /// [`Options::allow_gaps`]. In the default order none are left if `bytes` is a power of two and no
    /// more than what the elements of each dtype take.
    #[must_use]
    pub const fn align_tensors(self, bytes: u32) -> Self {
        Self { align_tensors: bytes, ..self }
    }

    /// Puts at least so many spaces behind the header's JSON, for [edits](crate::Editor) that are to
    /// leave the data where it is.
    #[must_use]
    pub const fn reserve(self, bytes: u32) -> Self {
        Self { reserve: bytes, ..self }
    }

    /// Refuses headers of more than `bytes`, which are
    /// [100,000,000](Options::DEFAULT_HEADER_LIMIT) by default, as that is what readers accept.
    #[must_use]
    pub const fn header_limit(self, bytes: u32) -> Self {
        Self { header_limit: bytes, ..self }
    }

    /// Checks what is to be written, gives each tensor its place, and finds the length of the file.
    ///
    /// `tensors` and `metadata` are put in the order in which they are written; after an error they
    /// are in the order given. Without metadata (`None`) the header has no `__metadata__`. Time: n log
    /// n comparisons of names, and linear in the length of the header; no data is looked at.
    ///
    /// # Errors
    /// Every [`WriteErrorKind`] up to [`HeaderTooLarge`](WriteErrorKind::HeaderTooLarge) but
    /// [`MissingData`](WriteErrorKind::MissingData).
    pub fn plan<'p>(
        &self,
        tensors: &'p mut [TensorSpec<'_>],
        mut metadata: Option<&'p mut [MetadataPair<'_>]>,
    ) -> Result<Plan<'p>, WriteError> {
        let laid =
            self.lay(tensors, metadata.as_deref_mut().unwrap_or_default()).and_then(|data_len| {
                Ok((data_len, self.header(tensors, metadata.as_deref(), data_len)?))
            });
        match laid {
            Ok((data_len, (json_len, data_start))) => {
                let metadata = metadata.map(|pairs| &*pairs);
                Ok(Plan { tensors, metadata, json_len, data_start, data_len })
            }
            Err(error) => {
                order::sort(tensors, |a, b| a.number.cmp(&b.number));
                order::sort(metadata.unwrap_or_default(), |a, b| a.number.cmp(&b.number));
                Err(error)
            }
        }
    }

    /// Puts everything in order and gives each tensor its place; returns the length of the data.
    fn lay(
        &self,
        tensors: &mut [TensorSpec<'_>],
        pairs: &mut [MetadataPair<'_>],
    ) -> Result<u64, WriteError> {
        tensors.iter_mut().zip(0..).for_each(|(tensor, number)| tensor.number = number);
        pairs.iter_mut().zip(0..).for_each(|(pair, number)| pair.number = number);
        tensors.iter_mut().try_for_each(check)?;
        let by_name = |a: &TensorSpec<'_>, b: &TensorSpec<'_>| a.name().compare(&b.name());
        order::sort(tensors, by_name);
        if let Some(number) = order::duplicate(tensors, by_name, |tensor| tensor.number) {
            return Err(WriteError::new(WriteErrorKind::DuplicateName, number, 0));
        }
        let by_key = |a: &MetadataPair<'_>, b: &MetadataPair<'_>| a.key.compare(&b.key);
        order::sort(pairs, by_key);
        if let Some(number) = order::duplicate(pairs, by_key, |pair| pair.number) {
            return Err(WriteError::new(WriteErrorKind::DuplicateKey, number, 0));
        }
        if !self.sort_metadata {
            order::sort(pairs, |a, b| a.number.cmp(&b.number));
        }
        if self.keep_order {
            order::sort(tensors, |a, b| a.number.cmp(&b.number));
        } else {
            // Where a name stands among all is known by now, and nothing has its place yet.
            tensors.iter_mut().zip(0..).for_each(|(tensor, rank)| tensor.begin = rank);
            order::sort(tensors, |a, b| b.dtype().cmp(&a.dtype()).then(a.begin.cmp(&b.begin)));
        }
        let mut offset: u64 = 0;
        for tensor in tensors {
            let overflow = WriteError::new(WriteErrorKind::SizeOverflow, tensor.number, 0);
            let begin = offset.checked_next_multiple_of(multiple(self.align_tensors));
            let (begin, len) = (begin.ok_or(overflow)?, tensor.end);
            offset = begin.checked_add(len).ok_or(overflow)?;
            (tensor.begin, tensor.end) = (begin, offset);
        }
        Ok(offset)
    }

    /// The length of the header's JSON, and where the data section begins: behind it and what pads
    /// it.
    fn header(
        &self,
        tensors: &[TensorSpec<'_>],
        metadata: Option<&[MetadataPair<'_>]>,
        data_len: u64,
    ) -> Result<(u64, u64), WriteError> {
        let prefix = raw::wide(PREFIX_LEN);
        let mut json = Counter::default();
        json::header(tensors, metadata, &mut json);
        let overflow = WriteError::of_file(WriteErrorKind::SizeOverflow, 0);
        let end = json.0.saturating_add(prefix).saturating_add(self.reserve.into());
        let start = end.checked_next_multiple_of(multiple(self.align)).ok_or(overflow)?;
        let header_len = start.saturating_sub(prefix);
        if header_len > u64::from(self.header_limit) {
            return Err(WriteError::of_file(WriteErrorKind::HeaderTooLarge, header_len));
        }
        start.checked_add(data_len).ok_or(overflow)?;
        Ok((json.0, start))
    }
}

/// A multiple of nothing is a multiple of one.
fn multiple(of: u32) -> u64 {
    u64::from(of).max(1)
}

/// Checks a tensor by itself, and puts the length of its data where it ends.
fn check(tensor: &mut TensorSpec<'_>) -> Result<(), WriteError> {
    let fail = |kind, number| Err(WriteError::new(kind, tensor.number, number));
    if tensor.name() == METADATA_KEY {
        return fail(WriteErrorKind::ReservedName, 0);
    }
    let len = match tensor.data_len() {
        Ok(len) => len,
        Err((ErrorKind::PartialByte, bits)) => return fail(WriteErrorKind::PartialByte, bits),
        Err(_) => return fail(WriteErrorKind::SizeOverflow, 0),
    };
    if tensor.data().is_some_and(|data| raw::wide(data.len()) != len) {
        return fail(WriteErrorKind::WrongDataLen, len);
    }
    (tensor.begin, tensor.end) = (0, len);
    Ok(())
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WriteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteOptions { keep_order: ")?;
        f.write_str(if self.keep_order { "true" } else { "false" })?;
        f.write_str(", sort_metadata: ")?;
        f.write_str(if self.sort_metadata { "true" } else { "false" })?;
        for (name, number) in [
            (", align: ", self.align),
            (", align_tensors: ", self.align_tensors),
            (", reserve: ", self.reserve),
            (", header_limit: ", self.header_limit),
        ] {
            f.write_str(name)?;
            Decimal(number.into()).fmt(f)?;
        }
        f.write_str(" }")
    }
}

/// A file that can be written: every rule is kept, every length is known; made by
/// [`WriteOptions::plan`].
#[derive(Clone, Copy)]
pub struct Plan<'p> {
    tensors: &'p [TensorSpec<'p>],
    metadata: Option<&'p [MetadataPair<'p>]>,
    json_len: u64,
    data_start: u64,
    data_len: u64,
}

impl<'p> Plan<'p> {
    /// The tensors in the order of their data, each with its [place](TensorSpec::data_offsets).
    #[must_use]
    pub const fn tensors(&self) -> &'p [TensorSpec<'p>] {
        self.tensors
    }

    /// The metadata in the order in which it is written.
    #[must_use]
    pub const fn metadata(&self) -> Option<&'p [MetadataPair<'p>]> {
        self.metadata
    }

    /// Where the data section begins in the file: the length of the header with its size before it
    /// and the spaces behind it.
    #[must_use]
    pub const fn data_start(&self) -> u64 {
        self.data_start
    }

    /// The length of the data section in bytes.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.data_len
    }

    /// The length of the file in bytes.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        // Does not wrap: the plan was refused otherwise.
        self.data_start.wrapping_add(self.data_len)
    }

    /// Writes the file to the beginning of `to` and returns it there.
    ///
    /// # Errors
    /// Nothing is written then. [`MissingData`](WriteErrorKind::MissingData) for a tensor
    /// [without data](TensorSpec::with_data), [`BufferTooSmall`](WriteErrorKind::BufferTooSmall) if `to`
    /// is shorter than [`file_len`](Plan::file_len).
    pub fn write_into<'to>(&self, to: &'to mut [u8]) -> Result<&'to mut [u8], WriteError> {
        for tensor in self.tensors {
            if tensor.data().is_none() {
                let (begin, end) = tensor.data_offsets();
                let len = end.wrapping_sub(begin);
                return Err(WriteError::new(WriteErrorKind::MissingData, tensor.number, len));
            }
        }
        let to = room(to, self.file_len())?;
        let mut filler = Filler(to);
        self.put_header(&mut filler);
        let mut at = 0;
        for tensor in self.tensors {
            let (begin, end) = tensor.data_offsets();
            filler.put_zeros(begin.wrapping_sub(at));
            filler.put(tensor.data().unwrap_or_default());
            at = end;
        }
        Ok(to)
    }

    /// Writes what stands before the data to the beginning of `to` and returns it there: the header
    /// with its size before it and the spaces behind it. For files that are not put together in
    /// memory; the data of each tensor then goes to its [place](TensorSpec::data_offsets) behind, zeros
    /// where there are gaps.
    ///
    /// # Errors
    /// Nothing is written then. [`BufferTooSmall`](WriteErrorKind::BufferTooSmall) if `to` is shorter than
    /// [`data_start`](Plan::data_start).
    pub fn write_header_into<'to>(&self, to: &'to mut [u8]) -> Result<&'to mut [u8], WriteError> {
        let to = room(to, self.data_start)?;
        self.put_header(&mut Filler(to));
        Ok(to)
    }

    /// Puts the header with its size before it and the spaces behind it.
    fn put_header(&self, to: &mut impl Put) {
        to.put(&self.prefix());
        json::header(self.tensors, self.metadata, to);
        (0..self.padding()).for_each(|_| to.put(b" "));
    }

    /// The size of the header as it stands before it.
    pub(super) const fn prefix(&self) -> [u8; PREFIX_LEN] {
        self.header_len().to_le_bytes()
    }

    pub(super) fn crumbs(&self) -> Crumbs<'p> {
        Crumbs::new(self.tensors, self.metadata)
    }

    /// The spaces behind the header's JSON.
    pub(super) const fn padding(&self) -> u64 {
        self.header_len().wrapping_sub(self.json_len)
    }

    const fn header_len(&self) -> u64 {
        self.data_start.wrapping_sub(raw::wide(PREFIX_LEN))
    }
}

/// The first `len` bytes of a buffer.
fn room(to: &mut [u8], len: u64) -> Result<&mut [u8], WriteError> {
    raw::size(len)
        .and_then(|len| to.split_at_mut_checked(len))
        .map(|(to, _)| to)
        .ok_or(WriteError::of_file(WriteErrorKind::BufferTooSmall, len))
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plan { tensors: ")?;
        Decimal(raw::wide(self.tensors.len())).fmt(f)?;
        f.write_str(", file_len: ")?;
        Decimal(self.file_len()).fmt(f)?;
        f.write_str(" }")
    }
}
