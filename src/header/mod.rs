//! The length prefix, its limit, and the header's entries one by one, without memory.

mod description;
pub(crate) mod entry;
pub(crate) mod scan;
pub(crate) mod text;

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use crate::layout::Tiling;
use crate::raw;
use crate::{Dtype, Error, ErrorKind, Metadata, Options, Shape, Slot};
use entry::{RawEntries, RawEntry, RawTensor};
use scan::Cursor;
use text::{Decimal, Text};

/// Bytes of the header size, with which a file begins.
pub const PREFIX_LEN: usize = 8;

/// The header of a file, not checked yet beyond its length and its UTF-8.
///
/// It needs no memory and only the first bytes of the file, which makes it the entry for what is
/// not at hand as a whole: [`Header::len_from_prefix`] says how many bytes to fetch,
/// [`Header::read`] takes them, and each tensor gives its [byte range](TensorInfo::byte_range) in
/// the file, in 64 bits on every machine. [`Header::entries`] walks the entries,
/// [`Header::scan`] all of them at once, and [`Index::build`](crate::Index::build) checks every
/// rule.
#[derive(Clone, Copy)]
pub struct Header<'data> {
    /// The input from its first byte to the end of the header.
    bytes: &'data [u8],
    gaps_allowed: bool,
}

impl<'data> Header<'data> {
    /// From the first 8 bytes of a file, how long its beginning is: these 8 bytes and the header.
    /// As many bytes [`Header::read`] needs.
    ///
    /// ```
    /// # use safetensors_core::{ErrorKind, Header};
    /// assert_eq!(Header::len_from_prefix(*b"\x10\x27\0\0\0\0\0\0")?, 10_008);
    /// let error = Header::len_from_prefix(*b"version ").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::GitLfsPointer);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::HeaderTooLarge`] over the limit of 100,000,000 bytes, or, when the bytes are
    /// the beginning of something else, what that is: [`ErrorKind::GitLfsPointer`],
    /// [`ZipArchive`](ErrorKind::ZipArchive), [`Pickle`](ErrorKind::Pickle),
    /// [`Html`](ErrorKind::Html), [`Gzip`](ErrorKind::Gzip), [`Gguf`](ErrorKind::Gguf).
    /// [`Options::len_from_prefix`] has another limit.
    pub const fn len_from_prefix(prefix: [u8; PREFIX_LEN]) -> Result<usize, Error> {
        Options::new().len_from_prefix(prefix)
    }

    /// The header at the beginning of `bytes`, which may go on behind it.
    ///
    /// # Errors
    /// Those of [`Header::len_from_prefix`], [`ErrorKind::FileTooShort`],
    /// [`ErrorKind::HeaderTruncated`], [`ErrorKind::InvalidUtf8`].
    pub const fn read(bytes: &'data [u8]) -> Result<Self, Error> {
        Options::new().header(bytes)
    }

    pub(crate) const fn read_with(options: &Options, bytes: &'data [u8]) -> Result<Self, Error> {
        let Some(prefix) = bytes.first_chunk() else {
            return Err(match foreign_format(bytes) {
                Some(kind) => Error::new(kind, 0, 0),
                None => missing(ErrorKind::FileTooShort, bytes, PREFIX_LEN),
            });
        };
        let len = match options.len_from_prefix(*prefix) {
            Ok(len) => len,
            Err(error) => return Err(error),
        };
        let Some((bytes, _)) = bytes.split_at_checked(len) else {
            return Err(match foreign_format(bytes) {
                Some(kind) => Error::new(kind, 0, 0),
                None => missing(ErrorKind::HeaderTruncated, bytes, len),
            });
        };
        let header = raw::range(bytes, PREFIX_LEN, len);
        if let Err(error) = core::str::from_utf8(header) {
            let at = PREFIX_LEN.wrapping_add(error.valid_up_to());
            return Err(Error::new(ErrorKind::InvalidUtf8, raw::wide(at), 0));
        }
        Ok(Self {
            bytes,
            gaps_allowed: options.gaps_allowed(),
        })
    }

    /// A header that was read and checked before.
    pub(crate) const fn trusted(bytes: &'data [u8]) -> Self {
        let len = match bytes.first_chunk() {
            Some(prefix) => match raw::size(u64::from_le_bytes(*prefix)) {
                Some(len) => len.saturating_add(PREFIX_LEN),
                None => 0,
            },
            None => 0,
        };
        Self {
            bytes: raw::range(bytes, 0, len),
            gaps_allowed: true,
        }
    }

    /// Where the data section begins, in bytes from the start of the file: 8 and the header size.
    #[must_use]
    pub const fn data_start(&self) -> u64 {
        raw::wide(self.bytes.len())
    }

    /// The JSON text of the header, with the white space around it.
    #[must_use]
    pub const fn json(&self) -> &'data [u8] {
        raw::range(self.bytes, PREFIX_LEN, self.bytes.len())
    }

    /// The entries in header order, each checked when it is taken.
    ///
    /// What one entry can't tell is not checked: whether names or metadata keys are given twice,
    /// whether tensors overlap or leave gaps, whether the data is as long as it should be.
    #[must_use]
    pub const fn entries(&self) -> Entries<'data> {
        Entries {
            state: State::Start(*self),
        }
    }

    /// The entries that [`Entries::position`] pointed to.
    ///
    /// This is how a walk goes on later without keeping a borrow of the header. A place that is no
    /// entry's start gives an error or other entries, never a panic.
    #[must_use]
    pub const fn entries_from(&self, position: Position) -> Entries<'data> {
        let Position {
            at,
            first,
            metadata_seen,
        } = position;
        let cursor = Cursor::new(self.bytes, raw::index(at));
        Entries {
            state: State::Inside(RawEntries {
                cursor,
                first,
                metadata_seen,
            }),
        }
    }

    /// The metadata, when there is any that is not null. Walks the entries up to it; an error
    /// before it reads as none.
    #[must_use]
    pub const fn metadata(&self) -> Option<Metadata<'data>> {
        let Ok(mut entries) = RawEntries::open(self.bytes, PREFIX_LEN) else {
            return None;
        };
        loop {
            match entries.next(&mut []) {
                Ok(Some(RawEntry::Metadata { at, .. })) => return Metadata::at(self.bytes, at),
                Ok(Some(RawEntry::Tensor(_))) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Walks all entries once, without memory: checks each one, counts them, and checks the
    /// layout as well if they come in offset order, which is what every known writer does.
    ///
    /// Not checked, as that takes [slots](crate::Index::build): whether names or metadata keys are
    /// given twice, and the layout if [`Scan::in_offset_order`] is false.
    ///
    /// # Errors
    /// Those of the grammar and of single tensors: every [`ErrorKind`] from
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) to [`SizeMismatch`](ErrorKind::SizeMismatch)
    /// except for [`DuplicateKey`](ErrorKind::DuplicateKey) and
    /// [`DuplicateName`](ErrorKind::DuplicateName).
    pub const fn scan(&self) -> Result<Scan, Error> {
        let mut scan = Scan {
            tensors: 0,
            metadata_keys: 0,
            data_len: 0,
            in_offset_order: true,
            gaps_allowed: self.gaps_allowed,
        };
        let mut tiling = Tiling::new(self.gaps_allowed);
        let mut entries = scan::tri!(RawEntries::open(self.bytes, PREFIX_LEN));
        while let Some(entry) = scan::tri!(entries.next(&mut [])) {
            match entry {
                RawEntry::Tensor(tensor) => {
                    scan.tensors = scan.tensors.wrapping_add(1);
                    // The first tensor out of its place ends the check of the layout.
                    if scan.in_offset_order
                        && tiling
                            .lay(tensor.offsets.begin, tensor.offsets.end)
                            .is_err()
                    {
                        scan.in_offset_order = false;
                    }
                    if scan.data_len < tensor.offsets.end {
                        scan.data_len = tensor.offsets.end;
                    }
                }
                RawEntry::Metadata { keys, .. } => scan.metadata_keys = keys,
            }
        }
        Ok(scan)
    }

    pub(crate) const fn bytes(&self) -> &'data [u8] {
        self.bytes
    }

    pub(crate) const fn gaps_allowed(&self) -> bool {
        self.gaps_allowed
    }
}

impl fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Header { data_start: ")?;
        Decimal(self.data_start()).fmt(f)?;
        f.write_str(", .. }")
    }
}

/// What [`Header::scan`] found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    tensors: usize,
    metadata_keys: usize,
    data_len: u64,
    in_offset_order: bool,
    gaps_allowed: bool,
}

impl Scan {
    /// The number of tensors.
    #[must_use]
    pub const fn tensors(&self) -> usize {
        self.tensors
    }

    /// The number of keys in `__metadata__`.
    #[must_use]
    pub const fn metadata_keys(&self) -> usize {
        self.metadata_keys
    }

    /// How many slots a parse needs: one for each tensor, or for each metadata key when there are
    /// more of those.
    #[must_use]
    pub const fn slots_needed(&self) -> usize {
        if self.tensors < self.metadata_keys {
            self.metadata_keys
        } else {
            self.tensors
        }
    }

    /// Where the last tensor ends, in bytes from the start of the data section.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.data_len
    }

    /// Whether the tensors come in offset order, without overlap and (unless allowed) gaps. If
    /// not, they may lie well in another order, or badly; that takes slots to tell.
    #[must_use]
    pub const fn in_offset_order(&self) -> bool {
        self.in_offset_order
    }

    pub(crate) const fn gaps_allowed(&self) -> bool {
        self.gaps_allowed
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scan { tensors: ")?;
        Decimal(raw::wide(self.tensors)).fmt(f)?;
        f.write_str(", metadata_keys: ")?;
        Decimal(raw::wide(self.metadata_keys)).fmt(f)?;
        f.write_str(", data_len: ")?;
        Decimal(self.data_len).fmt(f)?;
        f.write_str(", in_offset_order: ")?;
        f.write_str(if self.in_offset_order {
            "true"
        } else {
            "false"
        })?;
        f.write_str(" }")
    }
}

/// An entry of a header.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'data> {
    /// The description of a tensor.
    Tensor(TensorInfo<'data>),
    /// The value of `__metadata__`; `None` if it is null.
    Metadata(Option<Metadata<'data>>),
}

/// The place of an entry in a header, which borrows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    at: u32,
    first: bool,
    metadata_seen: bool,
}

/// The entries of a [`Header`], each checked when it is taken. Ends after the first error.
#[derive(Clone, Copy)]
pub struct Entries<'data> {
    state: State<'data>,
}

#[derive(Clone, Copy)]
enum State<'data> {
    Start(Header<'data>),
    Inside(RawEntries<'data>),
    End,
}

impl<'data> Entries<'data> {
    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_entry(&mut self) -> Option<Result<Entry<'data>, Error>> {
        let mut entries = match self.state {
            State::End => return None,
            State::Inside(entries) => entries,
            State::Start(header) => match RawEntries::open(header.bytes, PREFIX_LEN) {
                Ok(entries) => entries,
                Err(error) => return self.fail(error),
            },
        };
        let bytes = entries.cursor.bytes;
        let entry = match entries.next(&mut []) {
            Ok(Some(RawEntry::Tensor(tensor))) => Entry::Tensor(TensorInfo::new(bytes, &tensor)),
            Ok(Some(RawEntry::Metadata { at, .. })) => Entry::Metadata(Metadata::at(bytes, at)),
            Ok(None) => {
                self.state = State::End;
                return None;
            }
            Err(error) => return self.fail(error),
        };
        self.state = State::Inside(entries);
        Some(Ok(entry))
    }

    /// Where the next entry begins, for [`Header::entries_from`]. `None` before the first entry and
    /// at the end.
    #[must_use]
    pub const fn position(&self) -> Option<Position> {
        match self.state {
            State::Inside(RawEntries {
                cursor,
                first,
                metadata_seen,
            }) => Some(Position {
                at: raw::position(cursor.at),
                first,
                metadata_seen,
            }),
            State::Start(_) | State::End => None,
        }
    }

    const fn fail(&mut self, error: Error) -> Option<Result<Entry<'data>, Error>> {
        self.state = State::End;
        Some(Err(error))
    }
}

impl<'data> Iterator for Entries<'data> {
    type Item = Result<Entry<'data>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry()
    }
}

impl FusedIterator for Entries<'_> {}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entries { .. }")
    }
}

/// What a header says of a tensor.
#[derive(Clone, Copy)]
pub struct TensorInfo<'data> {
    name: Text<'data>,
    dtype: Dtype,
    shape: Shape<'data>,
    begin: u64,
    end: u64,
    data_start: u64,
}

impl<'data> TensorInfo<'data> {
    const fn new(bytes: &'data [u8], tensor: &RawTensor<'data>) -> Self {
        Self {
            name: tensor.name,
            dtype: tensor.dtype,
            shape: Shape::new(Cursor::new(bytes, tensor.shape)),
            begin: tensor.offsets.begin,
            end: tensor.offsets.end,
            data_start: raw::wide(bytes.len()),
        }
    }

    /// The tensor that `slot` points to, `bytes` being the header that it was made from.
    pub(crate) const fn from_slot(bytes: &'data [u8], slot: &Slot) -> Self {
        Self {
            name: slot.name(bytes),
            dtype: slot.dtype,
            shape: Shape::new(Cursor::new(bytes, raw::index(slot.shape))),
            begin: slot.begin,
            end: slot.end,
            data_start: raw::wide(bytes.len()),
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> Text<'data> {
        self.name
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The dimensions.
    #[must_use]
    pub const fn shape(&self) -> Shape<'data> {
        self.shape
    }

    /// Where the data begins and ends, in bytes from the start of the data section, as the header
    /// has it.
    #[must_use]
    pub const fn data_offsets(&self) -> (u64, u64) {
        (self.begin, self.end)
    }

    /// Where the data stands, in bytes from the start of the file.
    #[must_use]
    pub const fn byte_range(&self) -> Range<u64> {
        self.data_start.wrapping_add(self.begin)..self.data_start.wrapping_add(self.end)
    }

    /// The length of the data in bytes.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.end.wrapping_sub(self.begin)
    }
}

impl fmt::Debug for TensorInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TensorInfo { name: ")?;
        fmt::Debug::fmt(&self.name, f)?;
        f.write_str(", dtype: ")?;
        f.write_str(self.dtype.name())?;
        f.write_str(", shape: ")?;
        fmt::Display::fmt(&self.shape, f)?;
        f.write_str(", data_offsets: [")?;
        Decimal(self.begin).fmt(f)?;
        f.write_str(", ")?;
        Decimal(self.end).fmt(f)?;
        f.write_str("] }")
    }
}

#[cold]
const fn missing(kind: ErrorKind, bytes: &[u8], needed: usize) -> Error {
    let missing = needed.saturating_sub(bytes.len());
    Error::new(kind, raw::wide(bytes.len()), raw::wide(missing))
}

/// What the input is if it is not safetensors. Asked only when it can't be.
#[cold]
pub(crate) const fn foreign_format(bytes: &[u8]) -> Option<ErrorKind> {
    let mut lower = [0; PREFIX_LEN];
    let mut rest: &mut [u8] = &mut lower;
    while let Some((to, others)) = rest.split_first_mut() {
        let at = PREFIX_LEN.wrapping_sub(others.len()).wrapping_sub(1);
        *to = raw::byte(bytes, at).to_ascii_lowercase();
        rest = others;
    }
    match lower {
        [b'v', b'e', b'r', b's', b'i', b'o', b'n', b' '] => Some(ErrorKind::GitLfsPointer),
        [b'p', b'k', 3, 4, ..] => Some(ErrorKind::ZipArchive),
        [0x80, 2..=5, ..] => Some(ErrorKind::Pickle),
        [b'<', b'!', b'd', b'o', b'c', b't', ..] | [b'<', b'h', b't', b'm', b'l', ..] => {
            Some(ErrorKind::Html)
        }
        [0x1f, 0x8b, ..] => Some(ErrorKind::Gzip),
        [b'g', b'g', b'u', b'f', ..] => Some(ErrorKind::Gguf),
        _ => None,
    }
}

/// The tensor, or (`true`) the metadata key, in whose entry the byte at `offset` is.
pub(crate) fn name_around(input: &[u8], offset: u64) -> Option<(bool, Text<'_>)> {
    let bytes = Header::trusted(input).bytes;
    let target = usize::try_from(offset)
        .ok()
        .filter(|at| *at < bytes.len())?;
    let mut cursor = Cursor::new(bytes, PREFIX_LEN);
    cursor.expect(b'{', ErrorKind::ExpectedObject).ok()?;
    let (mut metadata, mut first) = (false, true);
    // Ends at the latest at the error: the walk stumbles over the same fault.
    loop {
        match cursor.next_key(first) {
            Ok(true) if cursor.at.saturating_sub(1) <= target => first = false,
            Ok(false) if metadata => {
                metadata = false;
                continue;
            }
            _ => return None,
        }
        let key = entry::key(&mut cursor).ok()?;
        if !metadata && key.is(entry::METADATA_KEY) && cursor.skip_space() == b'{' {
            (metadata, first) = (true, true);
            cursor.advance(1);
            continue;
        }
        if cursor.skip_value(1).is_err() || cursor.at > target {
            return Some((metadata, key));
        }
    }
}
