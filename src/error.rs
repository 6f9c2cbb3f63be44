//! What is wrong with a file, and where.

use core::fmt;
use core::str;

use crate::digits::{Decimal, hex8};
use crate::header::locate::name_around;
use crate::header::text::Text;
use crate::words::{NumberWords, words};
use crate::{Dtype, raw};

/// Which rule is broken. Each variant says what [`Error::number`] means for it; where it says
/// nothing the number is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum ErrorKind {
    /// The input ends within the 8 bytes of the header size. Number: bytes missing.
    FileTooShort,
    /// The header size is over the limit. Number: the header size.
    HeaderTooLarge,
    /// The input ends within the header. Number: bytes missing.
    HeaderTruncated,
    /// The input is a git-LFS pointer, which stands for a file that was not downloaded.
    GitLfsPointer,
    /// The input is a zip archive, as PyTorch's `.pth`, `.pt` and `.bin` files are.
    ZipArchive,
    /// The input is a pickle, as old PyTorch files are.
    Pickle,
    /// The input is an HTML page, as a failed download leaves it.
    Html,
    /// The input is compressed with gzip.
    Gzip,
    /// The input is a GGUF file.
    Gguf,

    /// The header is not UTF-8.
    InvalidUtf8,
    /// The header, or a metadata value that should be JSON, ends in the middle of its JSON text.
    UnexpectedEnd,
    /// The header does not begin with an object's `{`.
    ExpectedObject,
    /// A key, a string in quotes, should stand here.
    ExpectedKey,
    /// A colon should stand here.
    ExpectedColon,
    /// A comma, or the bracket that closes the array or object, should stand here.
    ExpectedComma,
    /// A JSON value should stand here.
    ExpectedValue,
    /// A control character stands in a string without being escaped.
    ControlCharacter,
    /// JSON has no such escape sequence.
    InvalidEscape,
    /// Half of a surrogate pair stands without its other half.
    UnpairedSurrogate,
    /// A number is not spelled as JSON demands.
    InvalidNumber,
    /// Arrays and objects are nested more than 127 deep, the header's own object included.
    NestingTooDeep,
    /// Something other than white space follows the header's object, or a metadata value's JSON.
    TrailingCharacters,

    /// The description of a tensor is not an object.
    TensorNotObject,
    /// A field of a tensor's description, or `__metadata__`, is given twice.
    DuplicateField,
    /// A field is missing. Number: 0 `dtype`, 1 `shape`, 2 `data_offsets`.
    MissingField,
    /// `dtype` is not a string.
    DtypeNotString,
    /// There is no dtype of that name.
    UnknownDtype,
    /// `shape` is not an array.
    ShapeNotArray,
    /// `data_offsets` is not an array of two.
    OffsetsNotPair,
    /// A dimension or an offset is not an integer from 0 to 2⁶⁴ − 1.
    NotUnsigned,
    /// `__metadata__` is neither an object nor null.
    MetadataNotObject,
    /// A value in `__metadata__` is not a string.
    MetadataNotString,
    /// Two keys in `__metadata__` are equal. Number: where the other one stands.
    DuplicateKey,
    /// Two tensors have the same name. Number: where the other one stands.
    DuplicateName,

    /// The size of a tensor in bits, or its place in the file, does not fit 64 bits.
    SizeOverflow,
    /// The elements of a tensor do not fill whole bytes. Number: its size in bits.
    PartialByte,
    /// A tensor ends before it begins.
    OffsetsReversed,
    /// `data_offsets` disagree with shape and dtype. Number: the bytes that these need.
    SizeMismatch,
    /// Bytes before a tensor belong to none. Number: how many.
    Gap,
    /// A tensor begins within another. Number: the bytes they share.
    Overlap,
    /// The input ends before the last tensor does. Number: bytes missing.
    DataTruncated,
    /// The input goes on behind the last tensor. Number: bytes too many.
    TrailingBytes,

    /// The caller's slots are too few. Number: how many are needed.
    TooFewSlots,
    /// The caller's buffer is too small. Number: how long it must be, in its own items: bytes for a
    /// buffer of bytes, elements for one of elements.
    BufferTooSmall,

    /// The elements are of another dtype than was asked for. Number: which one they are, as its
    /// place in [`Dtype::ALL`].
    DtypeMismatch,
    /// The elements do not lie in memory as their type demands. Number: the multiple of bytes at
    /// which they must begin.
    Misaligned,
    /// The elements are little-endian, this machine is not, so they can't be borrowed.
    BigEndianHost,
    /// A boolean is neither 0 nor 1. Number: its place among the elements.
    InvalidBool,
    /// The last element is not whole. Number: the bytes that belong to it.
    PartialElement,
    /// Elements of this dtype are no real numbers.
    NotReal,
    /// The dtype has no code for NaN. Number: the place of the NaN among the values.
    NanNotRepresentable,

    /// A dimension is more than the integers of the caller's buffer can be. Number: the dimension.
    DimensionTooLarge,

    /// A slice has more indices than the tensor dimensions. Number: the dimensions.
    TooManyIndices,
    /// An index is outside its dimension. Number: the dimension, counted from the outermost.
    IndexOutOfRange,
    /// A slice has the step 0. Number: the dimension, counted from the outermost.
    ZeroStep,
    /// A part of a slice begins or ends within a byte.
    SplitByte,

    /// Scales or zero points are neither one nor one for each channel. Number: the channels.
    ChannelMismatch,

    /// The metadata has no checksum.
    ChecksumMissing,
    /// The checksum in the metadata is not eight hexadecimal digits, those over 9 lower-case letters.
    ChecksumInvalid,
    /// The checksum in the metadata is not that of the file's bytes. Number: theirs.
    ChecksumMismatch,

    /// The JSON of a metadata value is nested more than 16 deep.
    JsonTooDeep,
    /// The JSON of a metadata value does not fit the type that was asked for.
    JsonMismatch,
    /// A value can't be written as JSON.
    NotJson,
}

impl ErrorKind {
    words! {
        /// What is wrong, in words; usable in a `const` panic.
        #[must_use]
        pub const fn message(self) -> &'static str, interned_message() -> defmt::Str {
            Self::FileTooShort => "file ends within the 8 bytes of the header size",
            Self::HeaderTooLarge => "header size is over the limit",
            Self::HeaderTruncated => "file ends within the header",
            Self::GitLfsPointer => "not safetensors but a git-LFS pointer; fetch the file it stands for",
            Self::ZipArchive => "not safetensors but a zip archive, perhaps of PyTorch",
            Self::Pickle => "not safetensors but a pickle, perhaps of PyTorch",
            Self::Html => "not safetensors but an HTML page, perhaps a failed download",
            Self::Gzip => "not safetensors but gzip; decompress it first",
            Self::Gguf => "not safetensors but GGUF",
            Self::InvalidUtf8 => "header is not UTF-8",
            Self::UnexpectedEnd => "JSON text ends in the middle",
            Self::ExpectedObject => "header does not begin with `{`",
            Self::ExpectedKey => "expected a key in quotes",
            Self::ExpectedColon => "expected `:`",
            Self::ExpectedComma => "expected `,` or a closing bracket",
            Self::ExpectedValue => "expected a JSON value",
            Self::ControlCharacter => "control character in a string",
            Self::InvalidEscape => "invalid escape sequence",
            Self::UnpairedSurrogate => "unpaired surrogate",
            Self::InvalidNumber => "invalid number",
            Self::NestingTooDeep => "arrays and objects are nested more than 127 deep",
            Self::TrailingCharacters => "characters behind the end of the JSON text",
            Self::TensorNotObject => "description of a tensor is not an object",
            Self::DuplicateField => "field is given twice",
            Self::MissingField => "field is missing",
            Self::DtypeNotString => "dtype is not a string",
            Self::UnknownDtype => "unknown dtype",
            Self::ShapeNotArray => "shape is not an array",
            Self::OffsetsNotPair => "data_offsets is not an array of two",
            Self::NotUnsigned => "not an integer from 0 to 2^64-1",
            Self::MetadataNotObject => "__metadata__ is not an object",
            Self::MetadataNotString => "value in __metadata__ is not a string",
            Self::DuplicateKey => "key in __metadata__ is given twice",
            Self::DuplicateName => "two tensors have the same name",
            Self::SizeOverflow => "size of a tensor overflows 64 bits",
            Self::PartialByte => "elements do not fill whole bytes",
            Self::OffsetsReversed => "data_offsets end before they begin",
            Self::SizeMismatch => "data_offsets disagree with shape and dtype",
            Self::Gap => "bytes before this tensor belong to none",
            Self::Overlap => "tensor begins within another",
            Self::DataTruncated => "file ends before the last tensor does",
            Self::TrailingBytes => "file goes on behind the last tensor",
            Self::TooFewSlots => "too few slots",
            Self::BufferTooSmall => "buffer is too small",
            Self::DtypeMismatch => "elements are of another dtype",
            Self::Misaligned => "elements do not lie in memory as their type demands",
            Self::BigEndianHost => "elements are little-endian, which this machine is not",
            Self::InvalidBool => "a boolean is neither 0 nor 1",
            Self::PartialElement => "the last element is not whole",
            Self::NotReal => "elements of this dtype are no real numbers",
            Self::NanNotRepresentable => "dtype has no code for NaN",
            Self::DimensionTooLarge => "a dimension does not fit the buffer's integers",
            Self::TooManyIndices => "more indices than dimensions",
            Self::IndexOutOfRange => "index is outside its dimension",
            Self::ZeroStep => "step of a slice is 0",
            Self::SplitByte => "slice begins or ends within a byte",
            Self::ChecksumMissing => "metadata has no checksum",
            Self::ChecksumInvalid => "checksum is not eight hexadecimal digits",
            Self::ChecksumMismatch => "checksum is not that of the file's bytes",
            Self::JsonTooDeep => "JSON value is nested more than 16 deep",
            Self::JsonMismatch => "JSON value does not fit the type",
            Self::NotJson => "value can't be written as JSON",
            Self::ChannelMismatch => "neither one element nor one for each channel",
        }
    }

    words! {
        /// The words around [`Error::number`] in a message.
        const fn number_words(self) -> Option<NumberWords<&'static str>>,
        interned_number_words() -> Option<NumberWords<defmt::Str>> {
            Self::FileTooShort | Self::HeaderTruncated | Self::DataTruncated =>
                ("", " byte missing", " bytes missing"),
            Self::HeaderTooLarge | Self::Gap => ("", " byte", " bytes"),
            Self::DuplicateKey | Self::DuplicateName => ("the other at byte ", "", ""),
            Self::PartialByte => ("", " bit", " bits"),
            Self::SizeMismatch => ("", " byte needed", " bytes needed"),
            Self::Overlap => ("", " byte shared", " bytes shared"),
            Self::TrailingBytes => ("", " byte too many", " bytes too many"),
            Self::TooFewSlots | Self::BufferTooSmall => ("", " needed", " needed"),
            Self::Misaligned => ("a multiple of ", " byte needed", " bytes needed"),
            Self::PartialElement => ("", " byte of it", " bytes of it"),
            Self::InvalidBool => ("element ", "", ""),
            Self::NanNotRepresentable => ("value ", "", ""),
            Self::TooManyIndices => ("", " dimension", " dimensions"),
            Self::DimensionTooLarge => ("", "", ""),
            Self::IndexOutOfRange | Self::ZeroStep => ("dimension ", "", ""),
            Self::ChannelMismatch => ("", " channel", " channels"),
            _ => None,
        }
    }

    /// Whether it is about something that the caller brings, and has a place in the input only if a
    /// tensor is part of it.
    pub(crate) const fn is_of_caller(self) -> bool {
        matches!(
            self,
            Self::PartialByte
                | Self::TooFewSlots
                | Self::BufferTooSmall
                | Self::DtypeMismatch
                | Self::Misaligned
                | Self::BigEndianHost
                | Self::InvalidBool
                | Self::PartialElement
                | Self::NotReal
                | Self::NanNotRepresentable
                | Self::DimensionTooLarge
                | Self::TooManyIndices
                | Self::IndexOutOfRange
                | Self::ZeroStep
                | Self::SplitByte
                | Self::ChannelMismatch
                | Self::ChecksumMissing
                | Self::JsonMismatch
                | Self::NotJson
        )
    }
}

/// An error: what is wrong, the byte at which it is, and one number that tells more.
///
/// It is `Copy` and 16 bytes small. [`Error::display`] adds the name of the tensor, read from the
/// input again.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error {
    number: u64,
    offset_low: u32,
    offset_high: u16,
    kind: ErrorKind,
}

impl Error {
    #[cold]
    #[inline(never)]
    pub(crate) const fn new(kind: ErrorKind, offset: u64, number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = offset.to_le_bytes();
        let high = if g | h == 0 { u16::from_le_bytes([e, f]) } else { u16::MAX };
        Self { number, offset_low: u32::from_le_bytes([a, b, c, d]), offset_high: high, kind }
    }

    /// Which rule is broken.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where, in bytes from the start of the input. An error about the elements of a tensor is where
    /// the header describes it, and at 0 if they are of no tensor.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        let [a, b, c, d] = self.offset_low.to_le_bytes();
        let [e, f] = self.offset_high.to_le_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }

    /// A number that tells more; [`ErrorKind`] says what it means.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The error as text, with the name of the tensor (or metadata key) in which it is.
    ///
    /// `input` is what was parsed. The header is walked again up to the error.
    ///
    /// ```
    /// # use safetensors_core::{SafeTensors, Slot};
    /// let file = b"\x38\0\0\0\0\0\0\0{\"bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}\0\0\0\0";
    /// let error = SafeTensors::parse(file, &mut [Slot::EMPTY; 1]).unwrap_err();
    /// assert_eq!(
    ///     error.display(file).to_string(),
    ///     "tensor \"bias\": data_offsets disagree with shape and dtype, 8 bytes needed (at byte 58)"
    /// );
    /// ```
    #[must_use]
    pub const fn display<'a>(&'a self, input: &'a [u8]) -> DisplayError<'a> {
        DisplayError { error: self, input }
    }
}

impl Error {
    /// What its text is made of, for [`Display`](fmt::Display) and for messages of the compiler.
    pub(crate) const fn pieces(&self) -> [Piece; 8] {
        let none = Piece::Words("");
        let mut pieces = [none; 8];
        let [message, what, before, number, behind, at, offset, close] = &mut pieces;
        *message = Piece::Words(self.kind.message());
        if matches!(self.kind, ErrorKind::MissingField) {
            *what = Piece::Words(match self.number {
                0 => ", dtype",
                1 => ", shape",
                _ => ", data_offsets",
            });
        }
        if matches!(self.kind, ErrorKind::DtypeMismatch)
            && let Some(dtype) = Dtype::numbered(self.number)
        {
            *what = Piece::Words(", ");
            *before = Piece::Words(dtype.name());
        }
        if matches!(self.kind, ErrorKind::ChecksumMismatch) {
            *what = Piece::Words(", which is ");
            *number = Piece::Digits(hex8(raw::low_bits(self.number)));
        }
        if let Some((words, one, many)) = self.kind.number_words() {
            (*what, *before) = (Piece::Words(", "), Piece::Words(words));
            *number = Piece::Number(self.number);
            *behind = Piece::Words(if self.number == 1 { one } else { many });
        }
        if !(self.kind.is_of_caller() && self.offset() == 0) {
            *at = Piece::Words(" (at byte ");
            (*offset, *close) = (Piece::Number(self.offset()), Piece::Words(")"));
        }
        pieces
    }
}

/// A part of a message.
#[derive(Clone, Copy)]
pub(crate) enum Piece {
    Words(&'static str),
    Number(u64),
    /// Hexadecimal ones.
    Digits([u8; 8]),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.pieces() {
            match piece {
                Piece::Words(words) => f.write_str(words)?,
                Piece::Number(number) => Decimal(number).fmt(f)?,
                Piece::Digits(digits) => f.write_str(str::from_utf8(&digits).unwrap_or(""))?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Error { kind: ")?;
        fmt::Debug::fmt(&self.kind, f)?;
        f.write_str(", offset: ")?;
        Decimal(self.offset()).fmt(f)?;
        f.write_str(", number: ")?;
        Decimal(self.number).fmt(f)?;
        f.write_str(" }")
    }
}

impl core::error::Error for Error {}

/// An [`Error`] with the name of the tensor in which it is; made by [`Error::display`].
#[derive(Clone, Copy)]
pub struct DisplayError<'a> {
    error: &'a Error,
    input: &'a [u8],
}

impl DisplayError<'_> {
    /// The tensor or metadata key around the error, if it is inside one.
    #[must_use]
    pub fn name(&self) -> Option<Text<'_>> {
        self.place().map(|(_, name)| name)
    }

    #[cfg(feature = "defmt")]
    pub(crate) const fn error(&self) -> &Error {
        self.error
    }

    /// The name, and whether it is a metadata key.
    pub(crate) const fn place(&self) -> Option<(bool, Text<'_>)> {
        match self.error.kind {
            // It has no name to show.
            ErrorKind::InvalidUtf8 => None,
            _ => name_around(self.input, self.error.offset()),
        }
    }
}

impl fmt::Debug for DisplayError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DisplayError(")?;
        fmt::Debug::fmt(self.error, f)?;
        f.write_str(")")
    }
}

impl fmt::Display for DisplayError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((metadata, name)) = self.place() {
            f.write_str(if metadata { "metadata " } else { "tensor " })?;
            fmt::Display::fmt(&name.quoted(), f)?;
            f.write_str(": ")?;
        }
        fmt::Display::fmt(self.error, f)
    }
}
