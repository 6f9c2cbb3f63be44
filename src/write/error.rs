//! Why something can't be written.

use core::fmt;

use super::spec::{MetadataPair, TensorSpec};
use crate::digits::Decimal;
use crate::header::text::Text;
use crate::raw;
use crate::words::{NumberWords, words};

/// What is wrong with what is to be written. Each variant says what [`WriteError::number`] means for
/// it; where it says nothing the number is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WriteErrorKind {
    /// Two tensors have the same name.
    DuplicateName,
    /// A tensor is called `__metadata__`, which in a header is something else.
    ReservedName,
    /// Two keys of the metadata are equal.
    DuplicateKey,
    /// The elements of a tensor do not fill whole bytes. Number: its size in bits.
    PartialByte,
    /// The size of a tensor or of the file does not fit 64 bits.
    SizeOverflow,
    /// The data of a tensor is not as long as dtype and shape demand. Number: the bytes demanded.
    WrongDataLen,
    /// The data of a tensor is not there, or not all of it. Number: the bytes that are missing.
    MissingData,
    /// The header is larger than readers accept. Number: the header size.
    HeaderTooLarge,
    /// The buffer is too small. Number: the bytes needed.
    BufferTooSmall,
    /// The sink takes no more. Number: the bytes that it took.
    SinkFull,
    /// The place in flash where the file is to begin is not one. Number: of what it must be a multiple.
    Misaligned,
    /// The flash ends before the sectors of the file do. Number: the bytes that are missing.
    FlashTooSmall,
    /// No tensor has the name that is to be changed.
    NoSuchTensor,
    /// The header has no room where the old one is. Number: the bytes that are missing.
    NoRoomInPlace,
    /// The metadata has no place for a checksum.
    ChecksumMissing,
}

impl WriteErrorKind {
    words! {
        /// What is wrong, in words.
        #[must_use]
        pub const fn message(self) -> &'static str, interned_message() -> defmt::Str {
            Self::DuplicateName => "two tensors have this name",
            Self::ReservedName => "a tensor can't be called `__metadata__`",
            Self::DuplicateKey => "two keys of the metadata are equal",
            Self::PartialByte => "elements do not fill whole bytes",
            Self::SizeOverflow => "size does not fit 64 bits",
            Self::WrongDataLen => "data is not as long as dtype and shape demand",
            Self::MissingData => "data is not complete",
            Self::HeaderTooLarge => "header is larger than readers accept",
            Self::BufferTooSmall => "buffer is too small",
            Self::SinkFull => "sink takes no more",
            Self::Misaligned => "file can't begin at this place of the flash",
            Self::FlashTooSmall => "flash ends before the file does",
            Self::NoSuchTensor => "no tensor has this name",
            Self::ChecksumMissing => "metadata has no place for a checksum",
            Self::NoRoomInPlace => "header has no room in place of the old one",
        }
    }

    words! {
        /// The words around [`WriteError::number`] in a message.
        const fn number_words(self) -> Option<NumberWords<&'static str>>,
        interned_number_words() -> Option<NumberWords<defmt::Str>> {
            Self::PartialByte => ("", " bit", " bits"),
            Self::HeaderTooLarge => ("", " byte", " bytes"),
            Self::MissingData | Self::FlashTooSmall | Self::NoRoomInPlace =>
                ("", " byte missing", " bytes missing"),
            Self::WrongDataLen | Self::BufferTooSmall => ("", " byte needed", " bytes needed"),
            Self::Misaligned => ("a multiple of ", " byte needed", " bytes needed"),
            Self::SinkFull => ("", " byte written", " bytes written"),
            _ => None,
        }
    }
}

/// An error: what is wrong, with which tensor, and one number that tells more.
///
/// It is `Copy`, 16 bytes small and borrows nothing. [`WriteError::display`] adds the name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct WriteError {
    number: u64,
    index: u32,
    kind: WriteErrorKind,
}

/// The index of an error that is about no tensor.
const NONE: u32 = u32::MAX;

impl WriteError {
    #[cold]
    pub(super) const fn new(kind: WriteErrorKind, index: u32, number: u64) -> Self {
        Self { number, index, kind }
    }

    /// About the whole file.
    #[cold]
    pub(crate) const fn of_file(kind: WriteErrorKind, number: u64) -> Self {
        Self::new(kind, NONE, number)
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> WriteErrorKind {
        self.kind
    }

    /// Which tensor, or pair of the metadata for
    /// [`DuplicateKey`](WriteErrorKind::DuplicateKey), counted from 0 as they were given; of two that
    /// are in each other's way the second.
    #[must_use]
    pub const fn index(&self) -> Option<usize> {
        if self.index == NONE { None } else { Some(raw::index(self.index)) }
    }

    /// Whether the [`index`](Self::index) is one of the metadata.
    pub(crate) const fn is_of_key(&self) -> bool {
        matches!(self.kind, WriteErrorKind::DuplicateKey)
    }

    /// A number that tells more; [`WriteErrorKind`] says what it means.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The error as text, with the name of the tensor or the key, which is one of those that were
    /// to be planned.
    #[must_use]
    pub const fn display<'a>(
        &'a self,
        tensors: &'a [TensorSpec<'a>],
        metadata: &'a [MetadataPair<'a>],
    ) -> DisplayWriteError<'a> {
        DisplayWriteError { error: self, tensors, metadata }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.index() {
            f.write_str(if self.is_of_key() { "metadata " } else { "tensor " })?;
            Decimal(raw::wide(index)).fmt(f)?;
            f.write_str(": ")?;
        }
        write_message(self, f)
    }
}

/// Without the tensor.
fn write_message(error: &WriteError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(error.kind.message())?;
    let Some((before, one, many)) = error.kind.number_words() else { return Ok(()) };
    f.write_str(", ")?;
    f.write_str(before)?;
    Decimal(error.number).fmt(f)?;
    f.write_str(if error.number == 1 { one } else { many })
}

impl fmt::Debug for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WriteError { kind: ")?;
        fmt::Debug::fmt(&self.kind, f)?;
        if let Some(index) = self.index() {
            f.write_str(", index: ")?;
            Decimal(raw::wide(index)).fmt(f)?;
        }
        f.write_str(", number: ")?;
        Decimal(self.number).fmt(f)?;
        f.write_str(" }")
    }
}

impl core::error::Error for WriteError {}

/// A [`WriteError`] with the name of the tensor; made by [`WriteError::display`].
#[derive(Clone, Copy)]
pub struct DisplayWriteError<'a> {
    error: &'a WriteError,
    tensors: &'a [TensorSpec<'a>],
    metadata: &'a [MetadataPair<'a>],
}

impl<'a> DisplayWriteError<'a> {
    #[cfg(feature = "defmt")]
    pub(crate) const fn error(&self) -> &'a WriteError {
        self.error
    }

    /// Whether it is a metadata key, and its name.
    pub(crate) fn name(&self) -> Option<(bool, Text<'a>)> {
        self.error.index()?;
        let (is_key, index) = (self.error.is_of_key(), self.error.index);
        // Not by place, as a plan may have put them in another order.
        let name = if is_key {
            self.metadata.iter().find(|pair| pair.number == index)?.key()
        } else {
            self.tensors.iter().find(|tensor| tensor.number == index)?.name()
        };
        Some((is_key, name))
    }
}

impl fmt::Display for DisplayWriteError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((is_key, name)) = self.name() else { return fmt::Display::fmt(self.error, f) };
        f.write_str(if is_key { "metadata " } else { "tensor " })?;
        fmt::Display::fmt(&name.quoted(), f)?;
        f.write_str(": ")?;
        write_message(self.error, f)
    }
}

impl fmt::Debug for DisplayWriteError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DisplayWriteError(")?;
        fmt::Debug::fmt(self.error, f)?;
        f.write_str(")")
    }
}
