//! The entries of a header: descriptions of tensors and `__metadata__`, checked one by one.

use super::scan::{Cursor, tri};
use super::text::Text;
use crate::layout::{self, ElementCount};
use crate::raw;
use crate::{Dtype, Error, ErrorKind};

/// The key whose value is not a tensor.
pub(crate) const METADATA_KEY: &str = "__metadata__";

/// An entry of the header as positions.
pub(crate) enum RawEntry<'data> {
    Tensor(RawTensor<'data>),
    /// The value of `__metadata__` stands at `at` and has so many keys.
    Metadata { at: usize, keys: usize },
}

/// The description of a tensor, checked by itself.
#[derive(Clone, Copy)]
pub(crate) struct RawTensor<'data> {
    pub(crate) name: Text<'data>,
    /// Behind the opening quote of the name.
    pub(crate) name_at: usize,
    /// Behind the opening bracket of the shape.
    pub(crate) shape: usize,
    /// At the value of `data_offsets`, where errors of the layout are reported.
    pub(crate) offsets: usize,
    pub(crate) dtype: Dtype,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Walks the entries of a header; the caller stops at the first error.
#[derive(Clone, Copy)]
pub(crate) struct RawEntries<'data> {
    pub(crate) cursor: Cursor<'data>,
    pub(crate) first: bool,
    pub(crate) metadata_seen: bool,
}

impl<'data> RawEntries<'data> {
    /// The entries of the header that begins at `start`.
    pub(crate) const fn open(bytes: &'data [u8], start: usize) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes, start);
        match cursor.expect(b'{', ErrorKind::ExpectedObject) {
            Ok(()) => Ok(Self { cursor, first: true, metadata_seen: false }),
            Err(kind) => Err(at(kind, &cursor)),
        }
    }

    /// The entry whose name stands at `name`, behind its opening quote.
    pub(crate) const fn reopen(bytes: &'data [u8], name: usize) -> Self {
        let cursor = Cursor::new(bytes, name.wrapping_sub(1));
        Self { cursor, first: true, metadata_seen: false }
    }

    #[inline]
    pub(crate) const fn next(&mut self) -> Result<Option<RawEntry<'data>>, Error> {
        let cursor = &mut self.cursor;
        match cursor.next_key(self.first) {
            Ok(true) => self.first = false,
            Ok(false) => return self.close(),
            Err(kind) => return Err(at(kind, cursor)),
        }
        let start = cursor.at;
        let name = match key(cursor) {
            Ok(name) => name,
            Err(kind) => return Err(at(kind, cursor)),
        };
        if !is_metadata(name) {
            return match tensor(cursor, start, name) {
                Ok(tensor) => Ok(Some(RawEntry::Tensor(tensor))),
                Err((kind, number)) => Err(Error::new(kind, raw::wide(cursor.at), number)),
            };
        }
        if self.metadata_seen {
            return Err(Error::new(ErrorKind::DuplicateField, raw::wide(start), 0));
        }
        self.metadata_seen = true;
        cursor.skip_space();
        let value = cursor.at;
        match metadata(cursor) {
            Ok(keys) => Ok(Some(RawEntry::Metadata { at: value, keys })),
            Err(kind) => Err(at(kind, cursor)),
        }
    }

    const fn close(&mut self) -> Result<Option<RawEntry<'data>>, Error> {
        self.cursor.skip_space();
        if self.cursor.at < self.cursor.bytes.len() {
            return Err(at(ErrorKind::TrailingCharacters, &self.cursor));
        }
        Ok(None)
    }
}

#[cold]
const fn at(kind: ErrorKind, cursor: &Cursor<'_>) -> Error {
    let number = match kind {
        ErrorKind::NestingTooDeep => super::scan::MAX_DEPTH as u64,
        _ => 0,
    };
    Error::new(kind, raw::wide(cursor.at), number)
}

/// The string whose first character stands at `start`, from a header that was checked.
pub(crate) const fn text_at(bytes: &[u8], start: usize) -> Text<'_> {
    match text(&mut Cursor::new(bytes, start)) {
        Ok(text) => text,
        Err(_) => Text::new(&[], false),
    }
}

/// Takes the rest of a string, from behind its opening quote to behind the closing one.
#[inline(always)]
pub(crate) const fn text<'data>(cursor: &mut Cursor<'data>) -> Result<Text<'data>, ErrorKind> {
    let start = cursor.at;
    let escaped = tri!(cursor.string());
    Ok(Text::new(raw::range(cursor.bytes, start, cursor.at.wrapping_sub(1)), escaped))
}

/// Takes the rest of a key and the colon.
#[inline(always)]
pub(crate) const fn key<'data>(cursor: &mut Cursor<'data>) -> Result<Text<'data>, ErrorKind> {
    let key = tri!(text(cursor));
    tri!(cursor.expect(b':', ErrorKind::ExpectedColon));
    Ok(key)
}

/// Whether a key at the root is `__metadata__`.
#[inline(always)]
const fn is_metadata(key: Text<'_>) -> bool {
    match key.as_plain() {
        Some(plain) => plain.len() == METADATA_KEY.len() && raw::starts_with(plain, 0, b"__metadata__"),
        None => key.is(METADATA_KEY),
    }
}

/// Takes the value of `__metadata__` and counts its keys.
const fn metadata(cursor: &mut Cursor<'_>) -> Result<usize, ErrorKind> {
    if cursor.null() {
        return Ok(0);
    }
    if cursor.peek() != b'{' {
        return cursor.fail(ErrorKind::MetadataNotObject);
    }
    cursor.advance(1);
    let mut keys: usize = 0;
    while tri!(cursor.next_key(keys == 0)) {
        tri!(key(cursor));
        tri!(cursor.expect(b'"', ErrorKind::MetadataNotString));
        tri!(cursor.string());
        keys = keys.wrapping_add(1);
    }
    Ok(keys)
}

/// A field of a tensor's description.
enum Field {
    Dtype,
    Shape,
    Offsets,
    Unknown,
}

/// Takes a field's key and the colon.
#[inline(always)]
const fn field(cursor: &mut Cursor<'_>) -> Result<Field, ErrorKind> {
    // Almost always a field is spelled plainly: then it is known without walking its letters.
    let (field, len) = if raw::starts_with(cursor.bytes, cursor.at, b"dtype\"") {
        (Field::Dtype, 6)
    } else if raw::starts_with(cursor.bytes, cursor.at, b"shape\"") {
        (Field::Shape, 6)
    } else if raw::starts_with(cursor.bytes, cursor.at, b"data_offsets\"") {
        (Field::Offsets, 13)
    } else {
        return rare_field(cursor);
    };
    cursor.advance(len);
    tri!(cursor.expect(b':', ErrorKind::ExpectedColon));
    Ok(field)
}

/// [`field`] for one that is unknown or spelled with escapes.
const fn rare_field(cursor: &mut Cursor<'_>) -> Result<Field, ErrorKind> {
    let key = tri!(key(cursor));
    if key.as_plain().is_none() {
        if key.is("dtype") {
            return Ok(Field::Dtype);
        } else if key.is("shape") {
            return Ok(Field::Shape);
        } else if key.is("data_offsets") {
            return Ok(Field::Offsets);
        }
    }
    Ok(Field::Unknown)
}

/// Takes the description of the tensor whose name stands at `name`.
#[inline(always)]
const fn tensor<'data>(
    cursor: &mut Cursor<'data>,
    name_at: usize,
    name: Text<'data>,
) -> Result<RawTensor<'data>, (ErrorKind, u64)> {
    /// `tri!` for the errors of the grammar, which have no number.
    macro_rules! plain {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(ErrorKind::NestingTooDeep) => {
                    return Err((ErrorKind::NestingTooDeep, super::scan::MAX_DEPTH as u64))
                }
                Err(kind) => return Err((kind, 0)),
            }
        };
    }
    plain!(cursor.expect(b'{', ErrorKind::TensorNotObject));
    let mut dtype = None;
    let mut shape = None;
    let mut offsets = None;
    let mut first = true;
    while plain!(cursor.next_key(first)) {
        first = false;
        let start = cursor.at;
        let twice = match plain!(field(cursor)) {
            Field::Dtype => {
                let twice = dtype.is_some();
                dtype = Some(plain!(dtype_value(cursor)));
                twice
            }
            Field::Shape => {
                let twice = shape.is_some();
                shape = Some(plain!(shape_value(cursor)));
                twice
            }
            Field::Offsets => {
                let twice = offsets.is_some();
                offsets = Some(plain!(offsets_value(cursor)));
                twice
            }
            Field::Unknown => {
                plain!(cursor.skip_value(2));
                false
            }
        };
        if twice {
            cursor.at = start;
            return Err((ErrorKind::DuplicateField, 0));
        }
    }
    match (dtype, shape, offsets) {
        (Some(dtype), Some(shape), Some((offsets, begin, end))) => {
            let (shape, count): (usize, ElementCount) = shape;
            let size = match count.bytes(dtype) {
                Ok(size) => size,
                Err(error) => {
                    cursor.at = shape;
                    return Err(error);
                }
            };
            let data_start = raw::wide(cursor.bytes.len());
            if let Err(kind) = layout::check_offsets(begin, end, size, data_start) {
                cursor.at = offsets;
                let number = if let ErrorKind::SizeMismatch = kind { size } else { 0 };
                return Err((kind, number));
            }
            Ok(RawTensor { name, name_at, shape, offsets, dtype, begin, end })
        }
        (dtype, shape, _) => {
            // Reported at the bracket that ends the description without it.
            cursor.at = cursor.at.wrapping_sub(1);
            let missing = if dtype.is_none() {
                0
            } else if shape.is_none() {
                1
            } else {
                2
            };
            Err((ErrorKind::MissingField, missing))
        }
    }
}

#[inline(always)]
const fn dtype_value(cursor: &mut Cursor<'_>) -> Result<Dtype, ErrorKind> {
    tri!(cursor.expect(b'"', ErrorKind::DtypeNotString));
    let start = cursor.at;
    let name = tri!(text(cursor));
    let dtype = match name.as_plain() {
        Some(plain) => Dtype::from_bytes(plain),
        None => dtype_escaped(name),
    };
    match dtype {
        Some(dtype) => Ok(dtype),
        None => {
            cursor.at = start;
            Err(ErrorKind::UnknownDtype)
        }
    }
}

const fn dtype_escaped(name: Text<'_>) -> Option<Dtype> {
    let mut rest = Dtype::ALL;
    while let Some((dtype, others)) = rest.split_first() {
        if name.is(dtype.name()) {
            return Some(*dtype);
        }
        rest = others;
    }
    None
}

/// Takes a shape; returns where its first dimension stands, and the element count.
#[inline(always)]
const fn shape_value(cursor: &mut Cursor<'_>) -> Result<(usize, ElementCount), ErrorKind> {
    tri!(cursor.expect(b'[', ErrorKind::ShapeNotArray));
    let start = cursor.at;
    let mut count = ElementCount::ONE;
    let mut first = true;
    while tri!(cursor.next_item(first, b']')) {
        first = false;
        let dim = cursor.at;
        count = match count.times(tri!(cursor.unsigned())) {
            Ok(count) => count,
            Err(kind) => {
                cursor.at = dim;
                return Err(kind);
            }
        };
    }
    Ok((start, count))
}

/// Takes `data_offsets`; returns where they stand, begin and end.
#[inline(always)]
const fn offsets_value(cursor: &mut Cursor<'_>) -> Result<(usize, u64, u64), ErrorKind> {
    let byte = cursor.skip_space();
    let start = cursor.at;
    if byte != b'[' {
        return cursor.fail(ErrorKind::OffsetsNotPair);
    }
    cursor.advance(1);
    if cursor.skip_space() == b']' {
        return Err(ErrorKind::OffsetsNotPair);
    }
    let begin = tri!(cursor.unsigned());
    tri!(cursor.expect(b',', ErrorKind::OffsetsNotPair));
    cursor.skip_space();
    let end = tri!(cursor.unsigned());
    tri!(cursor.expect(b']', ErrorKind::OffsetsNotPair));
    Ok((start, begin, end))
}
