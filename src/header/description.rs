//! The description of a tensor: dtype, shape and data_offsets, each by itself and together.

use super::entry::{key, text};
use super::scan::{Cursor, tri};
use super::text::Text;
use crate::layout::{self, ElementCount};
use crate::raw::{self, FAST};
use crate::{Dtype, ErrorKind};

/// The description of a tensor as positions and numbers.
#[derive(Clone, Copy)]
pub(crate) struct RawTensor<'data> {
    pub(crate) name: Text<'data>,
    /// Behind the opening quote of the name.
    pub(crate) name_at: usize,
    /// Behind the opening bracket of the shape.
    pub(crate) shape: usize,
    /// At the value of `data_offsets`, where errors of the layout are reported.
    pub(crate) offsets: usize,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(super) count: ElementCount,
    pub(crate) dtype: Dtype,
}

impl RawTensor<'_> {
    pub(crate) const EMPTY: Self = Self {
        name: Text::new(&[], false),
        name_at: 0,
        shape: 0,
        offsets: 0,
        begin: 0,
        end: 0,
        count: ElementCount::ONE,
        dtype: Dtype::BOOL,
    };
}

/// Checks what a description says, the cursor behind it. An error comes with its number.
#[inline(always)]
pub(crate) const fn check(
    cursor: &mut Cursor<'_>,
    tensor: &RawTensor<'_>,
) -> Result<(), (ErrorKind, u64)> {
    let size = match tensor.count.bytes(tensor.dtype) {
        Ok(size) => size,
        Err(error) => {
            cursor.at = tensor.shape;
            return Err(error);
        }
    };
    let data_start = raw::wide(cursor.bytes.len());
    if let Err(kind) = layout::check_offsets(tensor.begin, tensor.end, size, data_start) {
        cursor.at = tensor.offsets;
        let number = if let ErrorKind::SizeMismatch = kind { size } else { 0 };
        return Err((kind, number));
    }
    Ok(())
}

/// Takes a description, whatever the order of its fields and however it is spelled.
pub(crate) const fn take(
    cursor: &mut Cursor<'_>,
    tensor: &mut RawTensor<'_>,
) -> Result<(), (ErrorKind, u64)> {
    /// `tri!` for errors without a number.
    macro_rules! plain {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(kind) => return Err((kind, 0)),
            }
        };
    }
    plain!(cursor.expect(b'{', ErrorKind::TensorNotObject));
    let mut seen = 0;
    let mut first = true;
    while plain!(cursor.next_key(first)) {
        first = false;
        let start = cursor.at;
        let field = plain!(field(cursor));
        plain!(match field {
            Field::Dtype => dtype_field(cursor, tensor),
            Field::Shape => shape_field(cursor, tensor),
            Field::Offsets => offsets_field(cursor, tensor),
            Field::Unknown => cursor.skip_value(2),
        });
        if seen & field.bit() != 0 {
            cursor.at = start;
            return Err((ErrorKind::DuplicateField, 0));
        }
        seen |= field.bit();
    }
    let missing = match seen {
        7 => return Ok(()),
        0 | 2 | 4 | 6 => 0,
        1 | 5 => 1,
        _ => 2,
    };
    // Reported at the bracket that ends the description without the field.
    cursor.at = cursor.at.wrapping_sub(1);
    Err((ErrorKind::MissingField, missing))
}

/// A field of a tensor's description.
enum Field {
    Dtype,
    Shape,
    Offsets,
    Unknown,
}

impl Field {
    /// A bit for each field that may stand only once.
    const fn bit(&self) -> u8 {
        match self {
            Self::Dtype => 1,
            Self::Shape => 2,
            Self::Offsets => 4,
            Self::Unknown => 0,
        }
    }
}

/// Takes a field's key and the colon.
#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn field(cursor: &mut Cursor<'_>) -> Result<Field, ErrorKind> {
    let key = tri!(key(cursor));
    Ok(if key.is("dtype") {
        Field::Dtype
    } else if key.is("shape") {
        Field::Shape
    } else if key.is("data_offsets") {
        Field::Offsets
    } else {
        Field::Unknown
    })
}

#[cfg_attr(target_pointer_width = "64", inline(always))]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
const fn dtype_value(cursor: &mut Cursor<'_>) -> Result<Dtype, ErrorKind> {
    tri!(cursor.expect(b'"', ErrorKind::DtypeNotString));
    let start = cursor.at;
    let name = tri!(text(cursor));
    let dtype = match name.as_plain() {
        Some(plain) if FAST => Dtype::from_bytes(plain),
        _ => dtype_named(name),
    };
    match dtype {
        Some(dtype) => Ok(dtype),
        None => {
            cursor.at = start;
            Err(ErrorKind::UnknownDtype)
        }
    }
}

/// [`Dtype::from_bytes`] for a name that may have escapes, and without its table.
const fn dtype_named(name: Text<'_>) -> Option<Dtype> {
    let mut rest = Dtype::ALL;
    while let Some((dtype, others)) = rest.split_first() {
        if name.is(dtype.name()) {
            return Some(*dtype);
        }
        rest = others;
    }
    None
}

const fn dtype_field(cursor: &mut Cursor<'_>, tensor: &mut RawTensor<'_>) -> Result<(), ErrorKind> {
    tensor.dtype = tri!(dtype_value(cursor));
    Ok(())
}

/// Takes a shape.
const fn shape_field(cursor: &mut Cursor<'_>, tensor: &mut RawTensor<'_>) -> Result<(), ErrorKind> {
    tri!(cursor.expect(b'[', ErrorKind::ShapeNotArray));
    tensor.shape = cursor.at;
    tensor.count = ElementCount::ONE;
    let mut first = true;
    while tri!(cursor.next_item(first, b']')) {
        first = false;
        let dim = cursor.at;
        match tensor.count.times(tri!(cursor.unsigned())) {
            Ok(count) => tensor.count = count,
            Err(kind) => {
                cursor.at = dim;
                return Err(kind);
            }
        }
    }
    Ok(())
}

/// Takes `data_offsets`.
const fn offsets_field(
    cursor: &mut Cursor<'_>,
    tensor: &mut RawTensor<'_>,
) -> Result<(), ErrorKind> {
    let byte = cursor.skip_space();
    tensor.offsets = cursor.at;
    if byte != b'[' {
        return cursor.fail(ErrorKind::OffsetsNotPair);
    }
    cursor.advance(1);
    if cursor.skip_space() == b']' {
        return Err(ErrorKind::OffsetsNotPair);
    }
    tensor.begin = tri!(cursor.unsigned());
    tri!(cursor.expect(b',', ErrorKind::OffsetsNotPair));
    cursor.skip_space();
    tensor.end = tri!(cursor.unsigned());
    cursor.expect(b']', ErrorKind::OffsetsNotPair)
}
