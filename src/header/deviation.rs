//! What the format's description does not admit though readers accept it.
//!
//! The description is the section "Format" of the [README of the reference] and its
//! [JSON schema](https://github.com/huggingface/safetensors/blob/main/docs/safetensors.schema.json).
//!
//! [README of the reference]: https://github.com/huggingface/safetensors#format

use core::fmt;
use core::iter::FusedIterator;

use super::scan::Cursor;
use super::text::Text;
use super::{Header, PREFIX_LEN, entry};
use crate::digits::Decimal;
use crate::words::words;
use crate::{ErrorKind, raw};

/// The greatest dimension and offset of the JSON schema: 48 bits.
const MAX_NUMBER: u64 = (1 << 48) - 1;

/// What a header has that the format's description does not admit. All of it is accepted by a
/// parse, as the reference accepts it; another reader may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum DeviationKind {
    /// White space stands before the `{` with which a header must begin.
    LeadingSpace,
    /// A tab or a line end stands behind the header's object, where spaces may stand.
    PaddingNotSpaces,
    /// `__metadata__` is null where a map must stand.
    NullMetadata,
    /// The description of a tensor has a field beyond `dtype`, `shape` and `data_offsets`.
    UnknownField,
    /// `__metadata__`, the key of a field or a dtype is spelled with escape sequences, which the
    /// description counts among what readers may come to refuse.
    EscapedWord,
    /// A dimension or an offset is over 2⁴⁸ − 1.
    Over48Bits,
}

impl DeviationKind {
    words! {
        /// What is not as it should be, in words.
        #[must_use]
        pub const fn message(self) -> &'static str, interned_message() -> defmt::Str {
            Self::LeadingSpace => "white space before the header's `{`",
            Self::PaddingNotSpaces => "header is padded with something other than spaces",
            Self::NullMetadata => "__metadata__ is null, not a map",
            Self::UnknownField => "unknown field",
            Self::EscapedWord => "needlessly escaped word",
            Self::Over48Bits => "number is over 2^48-1",
        }
    }
}

/// A place where a header leaves the format's description; from [`Header::deviations`].
#[derive(Clone, Copy)]
pub struct Deviation<'data> {
    kind: DeviationKind,
    offset: u64,
    tensor: Option<Text<'data>>,
    word: Option<Text<'data>>,
}

impl<'data> Deviation<'data> {
    const fn new(kind: DeviationKind, at: usize) -> Self {
        Self { kind, offset: raw::wide(at), tensor: None, word: None }
    }

    /// What is not as it should be.
    #[must_use]
    pub const fn kind(&self) -> DeviationKind {
        self.kind
    }

    /// Where, in bytes from the start of the file.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The name of the tensor in whose description it is.
    #[must_use]
    pub const fn tensor(&self) -> Option<Text<'data>> {
        self.tensor
    }

    /// The unknown field or the escaped word.
    #[must_use]
    pub const fn word(&self) -> Option<Text<'data>> {
        self.word
    }
}

/// As `tensor "w": unknown field "note" (at byte 63)`.
impl fmt::Debug for Deviation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deviation(")?;
        fmt::Display::fmt(self, f)?;
        f.write_str(")")
    }
}

impl fmt::Display for Deviation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tensor) = self.tensor {
            f.write_str("tensor ")?;
            fmt::Display::fmt(&tensor.quoted(), f)?;
            f.write_str(": ")?;
        }
        f.write_str(self.kind.message())?;
        if let Some(word) = self.word {
            f.write_str(" ")?;
            fmt::Display::fmt(&word.quoted(), f)?;
        }
        f.write_str(" (at byte ")?;
        Decimal(self.offset).fmt(f)?;
        f.write_str(")")
    }
}

impl<'data> Header<'data> {
    /// Where the header, which was checked before, leaves the format's description although a
    /// parse accepts it. Takes one more walk over the header and no memory.
    ///
    /// Of a shape and of `data_offsets` the first number over the limit is named, of the padding
    /// the first byte. In a header that a parse refuses the walk may end early.
    ///
    /// ```
    /// # use safetensors_core::{DeviationKind, Header};
    /// let head = b"\x14\0\0\0\0\0\0\0{\"__metadata__\":null}";
    /// let header = Header::read(head)?;
    /// let deviation = header.deviations().next().unwrap();
    /// assert_eq!((deviation.kind(), deviation.offset()), (DeviationKind::NullMetadata, 24));
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    #[must_use]
    pub const fn deviations(&self) -> Deviations<'data> {
        Deviations {
            cursor: Cursor::new(self.bytes, PREFIX_LEN),
            next: Next::Start,
            first: true,
            tensor: None,
        }
    }
}

/// The deviations of a [`Header`], in header order.
#[derive(Clone, Copy)]
pub struct Deviations<'data> {
    cursor: Cursor<'data>,
    next: Next,
    /// Whether no item of the innermost object was taken yet.
    first: bool,
    /// In whose description the cursor is.
    tensor: Option<Text<'data>>,
}

/// What the cursor stands before.
#[derive(Clone, Copy)]
enum Next {
    Start,
    Entry,
    Metadata,
    Field,
    Dtype,
    Numbers,
    End,
}

type Step<'data> = Result<Option<Deviation<'data>>, ErrorKind>;

impl<'data> Deviations<'data> {
    fn start(&mut self) -> Step<'data> {
        let at = self.cursor.at;
        self.cursor.skip_space();
        let moved = self.cursor.at > at;
        self.cursor.expect(b'{', ErrorKind::ExpectedObject)?;
        self.next = Next::Entry;
        Ok(moved.then_some(Deviation::new(DeviationKind::LeadingSpace, at)))
    }

    fn entry(&mut self) -> Step<'data> {
        if !self.cursor.next_key(self.first)? {
            self.next = Next::End;
            return Ok(self.padding());
        }
        let at = self.cursor.at;
        let key = entry::key(&mut self.cursor)?;
        if key.is(entry::METADATA_KEY) {
            (self.next, self.first) = (Next::Metadata, false);
            return Ok(self.escaped(key, at));
        }
        self.cursor.expect(b'{', ErrorKind::TensorNotObject)?;
        (self.next, self.first, self.tensor) = (Next::Field, true, Some(key));
        Ok(None)
    }

    fn metadata(&mut self) -> Step<'data> {
        let null = self.cursor.skip_space() == b'n';
        let at = self.cursor.at;
        self.cursor.skip_value(1)?;
        self.next = Next::Entry;
        Ok(null.then_some(Deviation::new(DeviationKind::NullMetadata, at)))
    }

    fn field(&mut self) -> Step<'data> {
        if !self.cursor.next_key(self.first)? {
            (self.next, self.first, self.tensor) = (Next::Entry, false, None);
            return Ok(None);
        }
        self.first = false;
        let at = self.cursor.at;
        let key = entry::key(&mut self.cursor)?;
        if key.is("dtype") {
            self.next = Next::Dtype;
        } else if key.is("shape") || key.is("data_offsets") {
            self.next = Next::Numbers;
        } else {
            self.cursor.skip_value(2)?;
            let unknown = Deviation::new(DeviationKind::UnknownField, at);
            return Ok(Some(Deviation { tensor: self.tensor, word: Some(key), ..unknown }));
        }
        Ok(self.escaped(key, at))
    }

    fn dtype(&mut self) -> Step<'data> {
        self.cursor.expect(b'"', ErrorKind::DtypeNotString)?;
        let at = self.cursor.at;
        let dtype = entry::text(&mut self.cursor)?;
        self.next = Next::Field;
        Ok(self.escaped(dtype, at))
    }

    fn numbers(&mut self) -> Step<'data> {
        self.cursor.expect(b'[', ErrorKind::ShapeNotArray)?;
        let (mut first, mut over) = (true, None);
        while self.cursor.next_item(first, b']')? {
            first = false;
            let at = self.cursor.at;
            if self.cursor.unsigned()? > MAX_NUMBER && over.is_none() {
                let deviation = Deviation::new(DeviationKind::Over48Bits, at);
                over = Some(Deviation { tensor: self.tensor, ..deviation });
            }
        }
        self.next = Next::Field;
        Ok(over)
    }

    /// The first byte behind the header's object that is no space.
    fn padding(&self) -> Option<Deviation<'data>> {
        let Cursor { bytes, at } = self.cursor;
        let spaces = raw::range(bytes, at, bytes.len()).iter().position(|byte| *byte != b' ')?;
        Some(Deviation::new(DeviationKind::PaddingNotSpaces, at.saturating_add(spaces)))
    }

    /// A word of the format that stands at `at`, if it has escapes.
    fn escaped(&self, word: Text<'data>, at: usize) -> Option<Deviation<'data>> {
        if word.as_plain().is_some() {
            return None;
        }
        let escaped = Deviation::new(DeviationKind::EscapedWord, at);
        Some(Deviation { tensor: self.tensor, word: Some(word), ..escaped })
    }
}

impl<'data> Iterator for Deviations<'data> {
    type Item = Deviation<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let step = match self.next {
                Next::Start => self.start(),
                Next::Entry => self.entry(),
                Next::Metadata => self.metadata(),
                Next::Field => self.field(),
                Next::Dtype => self.dtype(),
                Next::Numbers => self.numbers(),
                Next::End => return None,
            };
            match step {
                Ok(None) => {}
                Ok(deviation) => return deviation,
                Err(_) => self.next = Next::End,
            }
        }
    }
}

impl FusedIterator for Deviations<'_> {}

impl fmt::Debug for Deviations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deviations { .. }")
    }
}
