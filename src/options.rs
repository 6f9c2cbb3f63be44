//! What a reader lets pass.

use core::fmt;

use crate::digits::Decimal;
use crate::header::PREFIX_LEN;
use crate::header::foreign::foreign_format;
use crate::raw;
use crate::{Editor, Error, ErrorKind, Header, Index, SafeTensors, Scan, Slot};

/// Limits and rules that differ from the default, which are the reference implementation's.
///
/// ```
/// # use safetensors_core::{ErrorKind, Options, Slot};
/// let file = b"\x02\0\0\0\0\0\0\0{}";
/// let strict = Options::new().header_limit(1);
/// let error = strict.parse(file, &mut []).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::HeaderTooLarge);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Options {
    header_limit: u32,
    gaps_allowed: bool,
}

impl Options {
    /// The greatest header size that the reference implementation reads, in bytes.
    pub const DEFAULT_HEADER_LIMIT: u32 = 100_000_000;

    /// The defaults: headers up to 100,000,000 bytes, no gaps.
    #[must_use]
    pub const fn new() -> Self {
        Self { header_limit: Self::DEFAULT_HEADER_LIMIT, gaps_allowed: false }
    }

    /// Refuses headers of more than `bytes`. Time and slots that a parse takes follow from the
    /// length of the header alone.
    #[must_use]
    pub const fn header_limit(self, bytes: u32) -> Self {
        Self { header_limit: bytes, ..self }
    }

    /// Admits bytes that belong to no tensor: before, between and behind them. A file that aligns
    /// each of its tensors has such gaps. Overlaps stay refused. Other readers refuse such files.
    #[must_use]
    pub const fn allow_gaps(self, allow: bool) -> Self {
        Self { gaps_allowed: allow, ..self }
    }

    /// [`Header::len_from_prefix`] with this limit.
    ///
    /// # Errors
    /// Those of [`Header::len_from_prefix`].
    pub const fn len_from_prefix(&self, prefix: [u8; PREFIX_LEN]) -> Result<usize, Error> {
        let len = u64::from_le_bytes(prefix);
        if len > raw::wide32(self.header_limit) {
            return Err(match foreign_format(&prefix) {
                Some(kind) => Error::new(kind, 0, 0),
                None => Error::new(ErrorKind::HeaderTooLarge, 0, len),
            });
        }
        match raw::size(len.wrapping_add(raw::wide(PREFIX_LEN))) {
            Some(len) => Ok(len),
            None => Err(Error::new(ErrorKind::HeaderTooLarge, 0, len)),
        }
    }

    /// [`Header::read`] with these options.
    ///
    /// # Errors
    /// Those of [`Header::read`].
    pub const fn header<'data>(&self, bytes: &'data [u8]) -> Result<Header<'data>, Error> {
        Header::read_with(self, bytes)
    }

    /// [`Index::build`] with these options.
    ///
    /// # Errors
    /// Those of [`Index::build`].
    pub const fn index<'data, 'slots>(
        &self,
        bytes: &'data [u8],
        slots: &'slots mut [Slot],
    ) -> Result<Index<'data, 'slots>, Error> {
        match self.header(bytes) {
            Ok(header) => Index::of(header, slots),
            Err(error) => Err(error),
        }
    }

    /// [`SafeTensors::parse`] with these options.
    ///
    /// # Errors
    /// Those of [`SafeTensors::parse`].
    pub const fn parse<'data, 'slots>(
        &self,
        bytes: &'data [u8],
        slots: &'slots mut [Slot],
    ) -> Result<SafeTensors<'data, 'slots>, Error> {
        SafeTensors::parse_with(self, bytes, slots)
    }

    /// [`SafeTensors::scan`] with these options.
    ///
    /// # Errors
    /// Those of [`SafeTensors::scan`].
    pub const fn scan(&self, bytes: &[u8]) -> Result<Scan, Error> {
        SafeTensors::scan_with(self, bytes)
    }

    /// [`Editor::open`] with these options.
    ///
    /// # Errors
    /// Those of [`Editor::open`].
    pub fn edit<'buffer>(
        &self,
        buffer: &'buffer mut [u8],
        len: usize,
    ) -> Result<Editor<'buffer>, Error> {
        Editor::open_with(self, buffer, len)
    }

    pub(crate) const fn limit(&self) -> u32 {
        self.header_limit
    }

    pub(crate) const fn gaps_allowed(&self) -> bool {
        self.gaps_allowed
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Options { header_limit: ")?;
        Decimal(raw::wide32(self.header_limit)).fmt(f)?;
        f.write_str(", gaps_allowed: ")?;
        f.write_str(if self.gaps_allowed { "true }" } else { "false }" })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
