//! Integer weights with a scale and a zero point beside them.

use core::fmt;

use crate::digits::Decimal;
use crate::elements::Elements;
use crate::{Dtype, Error, ErrorKind, SafeTensors, TensorView, buffer, raw};

/// A tensor of 8-bit integers that stand for real numbers, with the tensors that say for which:
/// `(integer − zero point) × scale`.
///
/// The convention is that of [compressed-tensors](https://github.com/vllm-project/compressed-tensors),
/// in whose files quantised models are shared. For a tensor `w` it asks for:
///
/// | name | dtype | shape |
/// |---|---|---|
/// | `w` | I8 or U8 | any |
/// | `w_scale` | a float | one element, or one for each index of the outermost dimension of `w` |
/// | `w_zero_point`, or none for zero | I8, U8, I16, U16 or I32 | likewise |
///
/// One for each index: of shape `[channels]` or `[channels, 1, …]`.
///
/// ```
/// # use safetensors_core::{SafeTensors, Slot};
/// # let json = concat!(
/// #     r#"{"w":{"dtype":"I8","shape":[2,2],"data_offsets":[8,12]},"#,
/// #     r#""w_scale":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#);
/// # let data = [&0.5_f32.to_le_bytes()[..], &2_f32.to_le_bytes(), &[1, 0xfe, 3, 4]].concat();
/// # let file = [&(json.len() as u64).to_le_bytes(), json.as_bytes(), &data].concat();
/// let mut slots = [Slot::EMPTY; 2];
/// let model = SafeTensors::parse(&file, &mut slots)?;
/// let weight = model.quantized("w")?.unwrap();
/// assert_eq!(weight.integers().as_slice::<i8>()?, [1, -2, 3, 4]);
/// assert_eq!([weight.scale(0), weight.scale(1)], [0.5, 2.0]);
/// assert_eq!(weight.dequantize_into(&mut [0.0; 4])?, [0.5, -1.0, 6.0, 8.0]);
/// # Ok::<(), safetensors_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Quantized<'data> {
    integers: Elements<'data>,
    scale: Elements<'data>,
    zero_point: Elements<'data>,
    channels: usize,
}

impl<'data> Quantized<'data> {
    /// The longest name, in bytes, that [`SafeTensors::quantized`] can look up.
    pub const MAX_NAME: usize = NAME_BUFFER - ZERO_POINT.len();

    /// `weight` with its scales and zero points, for files with other names than those above.
    ///
    /// # Errors
    /// [`DtypeMismatch`](ErrorKind::DtypeMismatch) if one of the tensors has another dtype than
    /// those above, [`ChannelMismatch`](ErrorKind::ChannelMismatch) if there is neither one scale or
    /// zero point nor one for each channel.
    pub fn new(
        weight: TensorView<'data>,
        scale: TensorView<'data>,
        zero_point: Option<TensorView<'data>>,
    ) -> Result<Self, Error> {
        check_dtype(weight, is_integer)?;
        check_dtype(scale, is_float)?;
        let channels = weight.shape().dim(0).unwrap_or(1);
        check_channels(scale, channels)?;
        if let Some(zero_point) = zero_point {
            check_dtype(zero_point, is_zero_point)?;
            check_channels(zero_point, channels)?;
        }
        let none = Elements::of(Dtype::I8, &[], 0);
        Ok(Self {
            integers: weight.elements(),
            scale: scale.elements(),
            zero_point: zero_point.map_or(none, |tensor| tensor.elements()),
            channels: raw::size(channels).unwrap_or(0),
        })
    }

    /// The integers, I8 or U8.
    #[must_use]
    pub const fn integers(&self) -> Elements<'data> {
        self.integers
    }

    /// The length of the outermost dimension; 1 for a scalar.
    #[must_use]
    pub const fn channels(&self) -> usize {
        self.channels
    }

    /// The scale of a channel.
    #[must_use]
    pub const fn scale(&self, channel: usize) -> f32 {
        of_channel(&self.scale, channel)
    }

    /// The zero point of a channel, an integer.
    #[must_use]
    pub const fn zero_point(&self, channel: usize) -> f32 {
        of_channel(&self.zero_point, channel)
    }

    /// Writes the real numbers to the beginning of `to` and returns them there.
    ///
    /// # Errors
    /// [`BufferTooSmall`](ErrorKind::BufferTooSmall) if they are more than `to` holds.
    pub fn dequantize_into<'to>(&self, to: &'to mut [f32]) -> Result<&'to mut [f32], Error> {
        let to = self.integers.convert_into(to)?;
        let per_channel = raw::quotient(to.len(), self.channels).max(1);
        for (channel, values) in to.chunks_mut(per_channel).enumerate() {
            let (scale, zero_point) = (self.scale(channel), self.zero_point(channel));
            for value in values {
                *value = (*value - zero_point) * scale;
            }
        }
        Ok(to)
    }
}

const SCALE: &str = "_scale";
const ZERO_POINT: &str = "_zero_point";
const NAME_BUFFER: usize = 256;

impl<'data> SafeTensors<'data, '_> {
    /// The quantised tensor called `name`, with the tensors beside it that are called `name_scale`
    /// and `name_zero_point`; see [`Quantized`]. `None` if there is no such tensor, or no scale.
    ///
    /// # Errors
    /// Those of [`Quantized::new`], and [`BufferTooSmall`](ErrorKind::BufferTooSmall) if the name is
    /// longer than [`Quantized::MAX_NAME`].
    pub fn quantized(&self, name: &str) -> Result<Option<Quantized<'data>>, Error> {
        let Some(weight) = self.tensor(name) else { return Ok(None) };
        let Some(scale) = self.beside(name, SCALE)? else { return Ok(None) };
        let zero_point = self.beside(name, ZERO_POINT)?;
        Quantized::new(weight, scale, zero_point).map(Some)
    }

    /// The tensor whose name is that of another with `suffix` behind it.
    fn beside(&self, name: &str, suffix: &str) -> Result<Option<TensorView<'data>>, Error> {
        let mut joined = [0; NAME_BUFFER];
        let len = name.len().saturating_add(suffix.len());
        let joined = buffer::prefix(&mut joined, len, 0)?;
        let bytes = name.bytes().chain(suffix.bytes());
        joined.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        Ok(core::str::from_utf8(joined).ok().and_then(|name| self.tensor(name)))
    }
}

fn check_dtype(tensor: TensorView<'_>, is_fit: fn(Dtype) -> bool) -> Result<(), Error> {
    let dtype = tensor.dtype();
    if is_fit(dtype) {
        return Ok(());
    }
    let number = raw::wide(raw::small(dtype.number()));
    Err(Error::new(ErrorKind::DtypeMismatch, tensor.info().place(), number))
}

const fn is_integer(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::I8 | Dtype::U8)
}

const fn is_float(dtype: Dtype) -> bool {
    matches!(
        dtype,
        Dtype::F16
            | Dtype::BF16
            | Dtype::F32
            | Dtype::F64
            | Dtype::F8_E4M3
            | Dtype::F8_E5M2
            | Dtype::F8_E8M0
            | Dtype::F8_E4M3FNUZ
            | Dtype::F8_E5M2FNUZ
    )
}

const fn is_zero_point(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::I8 | Dtype::U8 | Dtype::I16 | Dtype::U16 | Dtype::I32)
}

/// One element, or one for each channel.
fn check_channels(tensor: TensorView<'_>, channels: u64) -> Result<(), Error> {
    let shape = tensor.shape();
    let count = shape.element_count();
    if count == 1 || (count == channels && shape.dim(0) == Some(channels)) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::ChannelMismatch, tensor.info().place(), channels))
}

/// Of the only element, or of the one for a channel; 0 if there is none.
const fn of_channel(elements: &Elements<'_>, channel: usize) -> f32 {
    match elements.value(if elements.len() == 1 { 0 } else { channel }) {
        Some(value) => value,
        None => 0.0,
    }
}

/// What it is, and for how many channels.
impl fmt::Debug for Quantized<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Quantized { integers: ")?;
        self.integers.fmt(f)?;
        f.write_str(", channels: ")?;
        Decimal(raw::wide(self.channels)).fmt(f)?;
        f.write_str(" }")
    }
}
