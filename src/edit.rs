//! Files that are changed where they are in memory.

use core::fmt;
use core::ops::Range;

use crate::digits::Decimal;
use crate::header::entry::{METADATA_KEY, RawEntries, Taken};
use crate::header::text::Text;
use crate::header::{Header, PREFIX_LEN, description::RawTensor};
use crate::write::json::{Counter, Filler, Put, string};
use crate::{Error, Metadata, Options, TensorInfo, WriteError, WriteErrorKind, raw};

/// Changes a file in the buffer that holds it: its metadata, the names of tensors, their data.
///
/// Everything else stays as it is, byte for byte: the order, unknown fields, spelling. The data
/// section stays in its place as long as the spaces behind the header's JSON suffice
/// ([`WriteOptions::reserve`](crate::WriteOptions::reserve) puts some there). When they do not, it is
/// moved to the next multiple of what it was aligned to (8 to 4096 bytes), if the buffer has room.
///
/// After each change the buffer holds a whole file; after an error it is as it was before. Each
/// change takes time linear in the length of the header, and in that of the data if it is moved.
///
/// ```
/// use safetensors_core::{Editor, SafeTensors};
///
/// # let file = include_bytes!("../examples/digits/digits.safetensors");
/// let mut buffer = [0; 10_400];
/// buffer[..file.len()].copy_from_slice(file);
///
/// let mut editor = Editor::open(&mut buffer, file.len())?;
/// editor.set_metadata("calibrated", "2026-12-01")?;
/// editor.remove_metadata("accuracy")?;
/// editor.rename("fc2.bias", "output.bias")?;
/// editor.data_mut("output.bias").unwrap().fill(0);
/// let file = editor.finish();
/// # assert_eq!(SafeTensors::scan(file)?.metadata_keys(), 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Editor<'buffer> {
    buffer: &'buffer mut [u8],
    /// Of the file.
    len: usize,
    /// Behind the last bracket of the header.
    json_end: usize,
    data_start: usize,
    header_limit: u32,
}

/// What is put in place of something.
#[derive(Clone, Copy)]
enum Token<'t> {
    Json(&'t [u8]),
    String(Text<'t>),
}

impl<'buffer> Editor<'buffer> {
    /// Takes the file that is in the first `len` bytes of `buffer`, or in all of it if it is shorter. The rest of the buffer is room for
    /// the file to grow into.
    ///
    /// The header alone will do, for a file whose data is elsewhere: nothing needs the data but
    /// [`data_mut`](Editor::data_mut), and `set_checksum` (feature `checksum`).
    ///
    /// It checks what [`Header::scan`] checks, so not whether names are given twice: a file that
    /// was valid stays so.
    ///
    /// # Errors
    /// Those of [`Header::read`] and [`Header::scan`].
    pub fn open(buffer: &'buffer mut [u8], len: usize) -> Result<Self, Error> {
        Options::new().edit(buffer, len)
    }

    pub(crate) fn open_with(
        options: &Options,
        buffer: &'buffer mut [u8],
        len: usize,
    ) -> Result<Self, Error> {
        let len = len.min(buffer.len());
        options.header(raw::range(buffer, 0, len))?.scan()?;
        Ok(Self { header_limit: options.limit(), ..Self::trusted(buffer, len) })
    }

    /// Of a file that was checked before.
    pub(crate) fn trusted(buffer: &'buffer mut [u8], len: usize) -> Self {
        let bytes = Header::trusted(raw::range(buffer, 0, len)).bytes();
        let last = bytes.iter().rposition(|byte| !b" \t\r\n".contains(byte)).unwrap_or(0);
        let (json_end, data_start) = (last.wrapping_add(1), bytes.len());
        let header_limit = Options::new().limit();
        Self { buffer, len, json_end, data_start, header_limit }
    }

    /// The file as it is now.
    #[must_use]
    pub fn file(&self) -> &[u8] {
        raw::range(self.buffer, 0, self.len)
    }

    /// The header as it is now.
    #[must_use]
    pub fn header(&self) -> Header<'_> {
        Header::trusted(self.file())
    }

    /// Ends the work and returns the file.
    pub fn finish(self) -> &'buffer mut [u8] {
        self.buffer.get_mut(..self.len).unwrap_or_default()
    }

    /// The data of the tensor called `name`, to be overwritten; of tensors with the same name, which a
    /// parse refuses, the first counts. `None` if there is no such tensor or if its data is not in the
    /// buffer.
    ///
    /// [`Elements`](crate::Elements)`::copy_from` and `convert_from` put numbers there.
    #[must_use]
    pub fn data_mut(&mut self, name: &str) -> Option<&mut [u8]> {
        let (_, range) = self.tensor(&name.into())?;
        let (start, end) = (raw::size(range.start)?, raw::size(range.end)?);
        self.buffer.get_mut(..self.len)?.get_mut(start..end)
    }

    /// Gives `key` this value: in place of the one that it has, or as a new pair behind the others.
    ///
    /// A value that is JSON comes from `encode_json` (feature `serde-json-core-07`).
    ///
    /// # Errors
    /// [`BufferTooSmall`](WriteErrorKind::BufferTooSmall) if the buffer has no room, with the bytes
    /// that it needs in all, and [`HeaderTooLarge`](WriteErrorKind::HeaderTooLarge).
    pub fn set_metadata<'t>(
        &mut self,
        key: impl Into<Text<'t>>,
        value: impl Into<Text<'t>>,
    ) -> Result<(), WriteError> {
        let (key, value) = (key.into(), value.into());
        // What is replaced, and what stands before and behind the pair.
        let (range, open, close): (_, &[u8], &[u8]) = match self.metadata_place() {
            MetadataPlace::Object(metadata) => match metadata.find(&key) {
                Ok(pair) => return self.splice(pair.value, &[Token::String(value)]),
                Err((at, true)) => (at..at, b"", b""),
                Err((at, false)) => (at..at, b",", b""),
            },
            MetadataPlace::Null(at) => (at..at.wrapping_add(4), b"{", b"}"),
            MetadataPlace::None { start, is_empty } => {
                let close: &[u8] = if is_empty { b"}" } else { b"}," };
                (start..start, b"\"__metadata__\":{", close)
            }
        };
        let (open, colon, close) = (Token::Json(open), Token::Json(b":"), Token::Json(close));
        self.splice(range, &[open, Token::String(key), colon, Token::String(value), close])
    }

    /// Removes `key` and its value, and says whether there were any. Without pairs the metadata is
    /// an empty object.
    ///
    /// # Errors
    /// None: there is always room.
    pub fn remove_metadata<'t>(&mut self, key: impl Into<Text<'t>>) -> Result<bool, WriteError> {
        let MetadataPlace::Object(metadata) = self.metadata_place() else { return Ok(false) };
        let Ok(pair) = metadata.find(&key.into()) else { return Ok(false) };
        // With the comma behind the pair before, or else the one before the pair behind.
        let range = match (pair.before, pair.behind) {
            (Some(before), _) => before..pair.value.end,
            (None, Some(behind)) => pair.start..behind,
            (None, None) => pair.start..pair.value.end,
        };
        self.splice(range, &[]).map(|()| true)
    }

    /// Calls the tensor `from` by the name `to`.
    ///
    /// # Errors
    /// [`NoSuchTensor`](WriteErrorKind::NoSuchTensor),
    /// [`DuplicateName`](WriteErrorKind::DuplicateName) if another one is called so,
    /// [`ReservedName`](WriteErrorKind::ReservedName), and those of
    /// [`set_metadata`](Editor::set_metadata).
    pub fn rename<'t>(
        &mut self,
        from: impl Into<Text<'t>>,
        to: impl Into<Text<'t>>,
    ) -> Result<(), WriteError> {
        let (from, to) = (from.into(), to.into());
        let Some((place, _)) = self.tensor(&from) else {
            return fail(WriteErrorKind::NoSuchTensor);
        };
        if to == METADATA_KEY {
            return fail(WriteErrorKind::ReservedName);
        }
        if to != from && self.tensor(&to).is_some() {
            return fail(WriteErrorKind::DuplicateName);
        }
        self.splice(place, &[Token::String(to)])
    }

    /// Sees to it that there are at least so many spaces behind the header's JSON, for changes that
    /// are to leave the data where it is.
    ///
    /// # Errors
    /// Those of [`set_metadata`](Editor::set_metadata).
    pub fn reserve(&mut self, bytes: u32) -> Result<(), WriteError> {
        self.make_room(raw::wide(self.json_end).saturating_add(bytes.into()))
    }

    /// The tensor called `name`: where its name stands, quotes included, and where its data.
    fn tensor(&self, name: &Text<'_>) -> Option<(Range<usize>, Range<u64>)> {
        let bytes = self.header().bytes();
        let mut entries = RawEntries::open(bytes, PREFIX_LEN).ok()?;
        let mut tensor = RawTensor::EMPTY;
        loop {
            match entries.next(&mut tensor, &mut []).ok()? {
                Taken::Tensor if tensor.name == *name => {
                    let start = tensor.name_at.wrapping_sub(1);
                    let end = tensor.name_at.wrapping_add(tensor.name.raw().len());
                    let data = TensorInfo::new(bytes, &tensor).byte_range();
                    return Some((start..end.wrapping_add(1), data));
                }
                Taken::Tensor | Taken::Metadata { .. } => {}
                Taken::End => return None,
            }
        }
    }

    fn metadata_place(&self) -> MetadataPlace<'_> {
        let bytes = self.header().bytes();
        let Ok(mut entries) = RawEntries::open(bytes, PREFIX_LEN) else {
            // It was checked.
            return MetadataPlace::None { start: PREFIX_LEN, is_empty: true };
        };
        let start = entries.cursor.at;
        let mut is_empty = true;
        let mut tensor = RawTensor::EMPTY;
        loop {
            match entries.next(&mut tensor, &mut []) {
                Ok(Taken::Metadata { at, .. }) => {
                    return match Metadata::at(bytes, at) {
                        Some(metadata) => MetadataPlace::Object(metadata),
                        None => MetadataPlace::Null(at),
                    };
                }
                Ok(Taken::Tensor) => is_empty = false,
                Ok(Taken::End) | Err(_) => return MetadataPlace::None { start, is_empty },
            }
        }
    }

    /// Puts `tokens` in place of a range of the header.
    fn splice(&mut self, range: Range<usize>, tokens: &[Token<'_>]) -> Result<(), WriteError> {
        let mut counter = Counter::default();
        put(tokens, &mut counter);
        let kept = raw::wide(self.json_end.saturating_sub(range.len()));
        self.make_room(kept.saturating_add(counter.0))?;
        let end = range.start.saturating_add(raw::size(counter.0).unwrap_or(0));
        let json_end = self.json_end.saturating_sub(range.end).saturating_add(end);
        raw::shift(self.buffer, range.end, self.json_end, end);
        put(tokens, &mut Filler(self.buffer.get_mut(range.start..end).unwrap_or_default()));
        self.json_end = json_end;
        self.pad();
        Ok(())
    }

    /// Moves the data so that the header's JSON can end at `json_end`.
    fn make_room(&mut self, json_end: u64) -> Result<(), WriteError> {
        if json_end <= raw::wide(self.data_start) {
            return Ok(());
        }
        let align = 1_u64 << self.data_start.trailing_zeros().clamp(3, 12);
        let place = |align| json_end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        let header_len = |data_start: u64| data_start.wrapping_sub(raw::wide(PREFIX_LEN));
        let limit = u64::from(self.header_limit);
        // A header that is almost too large can't keep more than the least alignment.
        let kept = Some(place(align)).filter(|data_start| header_len(*data_start) <= limit);
        let data_start = kept.unwrap_or(place(8));
        let header_len = header_len(data_start);
        if header_len > limit {
            return Err(WriteError::of_file(WriteErrorKind::HeaderTooLarge, header_len));
        }
        // Does not overflow: a header is far shorter than 2^32 bytes.
        let more = data_start.wrapping_sub(raw::wide(self.data_start));
        let len = raw::wide(self.len).saturating_add(more);
        let (data_start, len) = match (raw::size(data_start), raw::size(len)) {
            (Some(data_start), Some(len)) if len <= self.buffer.len() => (data_start, len),
            _ => return Err(WriteError::of_file(WriteErrorKind::BufferTooSmall, len)),
        };
        raw::shift(self.buffer, self.data_start, self.len, data_start);
        (self.data_start, self.len) = (data_start, len);
        self.pad();
        Filler(self.buffer).put(&header_len.to_le_bytes());
        Ok(())
    }

    /// Fills what is between the header's JSON and the data.
    fn pad(&mut self) {
        let padding = self.buffer.get_mut(self.json_end..self.data_start);
        padding.unwrap_or_default().fill(b' ');
    }
}

/// Where `__metadata__` stands.
enum MetadataPlace<'data> {
    Object(Metadata<'data>),
    Null(usize),
    /// It would stand at `start`, behind the header's first bracket.
    None {
        start: usize,
        is_empty: bool,
    },
}

fn fail<T>(kind: WriteErrorKind) -> Result<T, WriteError> {
    Err(WriteError::of_file(kind, 0))
}

fn put(tokens: &[Token<'_>], to: &mut impl Put) {
    for token in tokens {
        match token {
            Token::Json(json) => to.put(json),
            Token::String(text) => string(text, to),
        }
    }
}

impl fmt::Debug for Editor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Editor { len: ")?;
        Decimal(raw::wide(self.len)).fmt(f)?;
        f.write_str(", buffer: ")?;
        Decimal(raw::wide(self.buffer.len())).fmt(f)?;
        f.write_str(" }")
    }
}
