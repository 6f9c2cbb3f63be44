//! The numbers of a tensor.

mod decode;
mod element;
mod encode;
mod iter;
mod minifloat;

use core::fmt;

pub use element::Element;
pub use iter::{ElementIter, Values};
pub use minifloat::Overflow;

use crate::digits::Decimal;
use crate::{Dtype, Error, ErrorKind, buffer, raw};

/// Elements of one dtype, as they stand in a file: little-endian, those of less than a byte packed.
///
/// [`TensorView::elements`](crate::TensorView::elements) gives those of a tensor,
/// [`Elements::new`] makes them of any bytes, so a tensor that is read piece by piece is converted
/// piece by piece.
///
/// | wanted | call | works |
/// |---|---|---|
/// | a slice of `T` where the bytes lie | [`as_slice`](Self::as_slice) | if they are aligned for `T`, on little-endian machines |
/// | `T` one by one, or copied | [`iter`](Self::iter), [`copy_into`](Self::copy_into) | always |
/// | `f32` of any real dtype | [`value`](Self::value), [`values`](Self::values), [`convert_into`](Self::convert_into) | always |
/// | bytes of `T`, or of any real dtype from `f32` | [`copy_from`](Self::copy_from), [`convert_from`](Self::convert_from) | always |
///
/// ```
/// # use safetensors_core::{Dtype, Elements};
/// let halves = Elements::new(Dtype::F16, &[0x00, 0x3c, 0x00, 0xc0])?;
/// let mut buffer = [0.0; 4];
/// assert_eq!(halves.convert_into(&mut buffer)?, [1.0, -2.0]);
/// # Ok::<(), safetensors_core::Error>(())
/// ```
///
/// Of elements of less than a byte the first is in the lowest bits of the first byte. The page on
/// [numbers](crate::docs::numbers) has the specifications of all formats.
#[derive(Clone, Copy)]
pub struct Elements<'data> {
    bytes: &'data [u8],
    /// Where the tensor is described in its file; 0 if there is none.
    place: u64,
    dtype: Dtype,
}

impl<'data> Elements<'data> {
    /// `bytes` as elements of `dtype`.
    ///
    /// # Errors
    /// [`PartialElement`](ErrorKind::PartialElement) if the last one is cut off. For F6 that is so
    /// unless the bytes are a multiple of three.
    pub const fn new(dtype: Dtype, bytes: &'data [u8]) -> Result<Self, Error> {
        let rest = raw::remainder(bytes.len(), bytes_at_once(dtype));
        if rest != 0 {
            return Err(Error::new(ErrorKind::PartialElement, 0, raw::wide(rest)));
        }
        Ok(Self::of(dtype, bytes, 0))
    }

    /// `bytes`, which must be whole elements, of the tensor described at `place`.
    pub(crate) const fn of(dtype: Dtype, bytes: &'data [u8], place: u64) -> Self {
        Self { bytes, place, dtype }
    }

    /// The type of the elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The bytes as they stand in the file.
    #[must_use]
    pub const fn bytes(&self) -> &'data [u8] {
        self.bytes
    }

    /// The number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.dtype.bitsize() {
            4 => self.bytes.len().wrapping_mul(2),
            6 => raw::quotient(self.bytes.len(), 3).wrapping_mul(4),
            bits => raw::quotient(self.bytes.len(), bits >> 3),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The elements where they lie, without a copy.
    ///
    /// ```
    /// # use safetensors_core::{Dtype, Elements};
    /// let bytes = Elements::new(Dtype::I8, &[1, 0xff])?;
    /// assert_eq!(bytes.as_slice::<i8>()?, [1, -1]);
    /// let error = bytes.as_slice::<u8>().unwrap_err();
    /// assert_eq!(error.to_string(), "elements are of another dtype, I8");
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DtypeMismatch`](ErrorKind::DtypeMismatch) if they are no `T`,
    /// [`Misaligned`](ErrorKind::Misaligned) if they do not begin at a multiple of its alignment,
    /// [`BigEndianHost`](ErrorKind::BigEndianHost) if it is longer than a byte and the machine
    /// big-endian, [`InvalidBool`](ErrorKind::InvalidBool) if one of `bool` is neither 0 nor 1.
    pub fn as_slice<T: Element>(&self) -> Result<&'data [T], Error> {
        self.check::<T>()?;
        if self.is_empty() {
            return Ok(&[]);
        }
        if cfg!(target_endian = "big") && size_of::<T>() > 1 {
            return Err(self.error(ErrorKind::BigEndianHost, 0));
        }
        if let Some(i) = T::invalid(self.bytes) {
            return Err(self.error(ErrorKind::InvalidBool, i));
        }
        T::cast(self.bytes).ok_or(self.error(ErrorKind::Misaligned, align_of::<T>()))
    }

    /// The elements one by one.
    ///
    /// # Errors
    /// [`DtypeMismatch`](ErrorKind::DtypeMismatch) if they are no `T`.
    pub fn iter<T: Element>(&self) -> Result<ElementIter<'data, T>, Error> {
        self.check::<T>()?;
        Ok(ElementIter::new(self.bytes))
    }

    /// Copies the elements to the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// [`DtypeMismatch`](ErrorKind::DtypeMismatch) if they are no `T`,
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if they are more than `to` holds.
    pub fn copy_into<'to, T: Element>(&self, to: &'to mut [T]) -> Result<&'to mut [T], Error> {
        self.check::<T>()?;
        let to = self.room(to)?;
        for (to, bytes) in to.iter_mut().zip(self.bytes.chunks_exact(size_of::<T>())) {
            *to = T::decode(bytes);
        }
        Ok(to)
    }

    /// The element number `i` as `f32`, rounded to the nearest if it has to be; usable in a `const`.
    /// `None` behind the last one, and for complex numbers.
    ///
    /// ```
    /// # use safetensors_core::{Dtype, Elements};
    /// const VALUE: Option<f32> = match Elements::new(Dtype::F4, &[0x72]) {
    ///     Ok(packed) => packed.value(1),
    ///     Err(_) => None,
    /// };
    /// assert_eq!(VALUE, Some(6.0));
    /// ```
    #[must_use]
    pub const fn value(&self, i: usize) -> Option<f32> {
        if i < self.len() { decode::value(self.dtype, self.bytes, i) } else { None }
    }

    /// Puts the values as `f32` of this machine into `to`, in few steps for the compiler, which does it.
    pub(crate) const fn put_values(&self, to: &mut [u8]) {
        decode::put_values(self.dtype, self.bytes, to);
    }

    /// The elements one by one as `f32`, rounded to the nearest where they have to be.
    ///
    /// # Errors
    /// [`NotReal`](ErrorKind::NotReal) for complex numbers.
    pub const fn values(&self) -> Result<Values<'data>, Error> {
        match self.check_real() {
            Ok(()) => Ok(Values::new(*self)),
            Err(error) => Err(error),
        }
    }

    /// Converts the elements to `f32` at the beginning of `to` and returns them there.
    ///
    /// Every value of the floats up to 32 bits, of BOOL (0 and 1; any byte but 0 is true) and of the
    /// integers up to 16 bits is exact. F64 and the other integers are rounded to the nearest, of two
    /// that are as near to the even one (IEEE 754); F64 beyond the largest `f32` becomes infinite.
    /// NaN stays NaN. Sources: the page on [numbers](crate::docs::numbers).
    ///
    /// # Errors
    /// [`NotReal`](ErrorKind::NotReal) for complex numbers,
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if the elements are more than `to` holds.
    pub fn convert_into<'to>(&self, to: &'to mut [f32]) -> Result<&'to mut [f32], Error> {
        self.check_real()?;
        let to = self.room(to)?;
        decode::values(self.dtype, self.bytes, to);
        Ok(to)
    }

    /// Writes `values` to the beginning of `to` as they stand in a file.
    ///
    /// ```
    /// # use safetensors_core::{Dtype, Elements};
    /// let mut bytes = [0; 8];
    /// let elements = Elements::copy_from(&[1_i16, -2], &mut bytes)?;
    /// assert_eq!((elements.dtype(), elements.bytes()), (Dtype::I16, &[1, 0, 0xfe, 0xff][..]));
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if they need more bytes than `to` has.
    pub fn copy_from<T: Element>(values: &[T], to: &'data mut [u8]) -> Result<Self, Error> {
        let to = buffer::prefix(to, size_of_val(values), 0)?;
        for (bytes, value) in to.chunks_exact_mut(size_of::<T>()).zip(values) {
            value.encode(bytes);
        }
        Ok(Self::of(T::DTYPE, to, 0))
    }

    /// Converts `values` to elements of `dtype` at the beginning of `to`.
    ///
    /// Values are rounded to the nearest, of two that are as near to the even one; `overflow` says
    /// what becomes of those beyond the largest finite one. For integers the fraction is rounded in
    /// the same way; BOOL is 0 for zeros and 1 for all others; F8_E8M0, which has powers of two
    /// alone, is NaN for what is not positive. NaN stays NaN. Sources: the page on
    /// [numbers](crate::docs::numbers).
    ///
    /// ```
    /// # use safetensors_core::{Dtype, Elements, Overflow};
    /// let mut bytes = [0; 4];
    /// let values = [0.3, 1000.0];
    /// let small = Elements::convert_from(&values, Dtype::F8_E4M3, Overflow::Saturate, &mut bytes)?;
    /// assert_eq!(small.values()?.collect::<Vec<_>>(), [0.3125, 448.0]);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Nothing is to be read from `to` after one of them.
    /// [`NotReal`](ErrorKind::NotReal) for complex numbers,
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if more bytes are needed than `to` has,
    /// [`PartialByte`](ErrorKind::PartialByte) if the last byte is not filled (F4 comes in twos, F6 in
    /// fours),
    /// [`NanNotRepresentable`](ErrorKind::NanNotRepresentable) for NaN as F4, F6 or an integer.
    pub fn convert_from(
        values: &[f32],
        dtype: Dtype,
        overflow: Overflow,
        to: &'data mut [u8],
    ) -> Result<Self, Error> {
        let nothing = Self::of(dtype, &[], 0);
        nothing.check_real()?;
        let len = encode::byte_len(dtype, values.len())
            .map_err(|bits| nothing.error(ErrorKind::PartialByte, bits))?;
        let to = buffer::prefix(to, len, 0)?;
        if encode::values(values, dtype, overflow, to).is_none() {
            let i = values.iter().position(|value| value.is_nan()).unwrap_or(0);
            return Err(nothing.error(ErrorKind::NanNotRepresentable, i));
        }
        Ok(Self::of(dtype, to, 0))
    }

    fn check<T: Element>(&self) -> Result<(), Error> {
        if self.dtype == T::DTYPE {
            return Ok(());
        }
        Err(self.error(ErrorKind::DtypeMismatch, raw::small(self.dtype.number())))
    }

    const fn check_real(&self) -> Result<(), Error> {
        match self.dtype {
            Dtype::C64 => Err(self.error(ErrorKind::NotReal, 0)),
            _ => Ok(()),
        }
    }

    /// The beginning of `to`, as long as there are elements.
    fn room<'to, T>(&self, to: &'to mut [T]) -> Result<&'to mut [T], Error> {
        buffer::prefix(to, self.len(), self.place)
    }

    const fn error(&self, kind: ErrorKind, number: usize) -> Error {
        Error::new(kind, self.place, raw::wide(number))
    }
}

/// The fewest bytes that hold whole elements.
pub(crate) const fn bytes_at_once(dtype: Dtype) -> usize {
    match dtype.bitsize() {
        4 => 1,
        6 => 3,
        bits => bits >> 3,
    }
}

/// What they are, and how many.
impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elements { dtype: ")?;
        f.write_str(self.dtype.name())?;
        f.write_str(", len: ")?;
        Decimal(raw::wide(self.len())).fmt(f)?;
        f.write_str(" }")
    }
}
