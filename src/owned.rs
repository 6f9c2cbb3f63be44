//! Owners of their slots, and copies of names and shapes: what fits in a struct of the caller's.

use core::fmt;

use heapless::{String, Vec};

use crate::digits::Decimal;
use crate::{Error, ErrorKind, Index, Options, SafeTensors, Shape, Slot, Text, raw};

/// A [`SafeTensors`] that has its slots with it, room for `N`, so that it can be returned, kept in
/// a struct or sent elsewhere without borrowing anything but the file.
///
/// `N` must be at least what [`Scan::slots_needed`](crate::Scan::slots_needed) says: a parse checks
/// metadata keys in slots as well.
///
/// ```
/// use safetensors_core::{Error, OwnedSafeTensors};
///
/// struct Classifier {
///     model: OwnedSafeTensors<'static, 8>,
/// }
///
/// impl Classifier {
///     fn new() -> Result<Self, Error> {
///         let file = include_bytes!("../examples/digits/digits.safetensors");
///         Ok(Self { model: OwnedSafeTensors::parse(file)? })
///     }
/// }
///
/// let classifier = Classifier::new()?;
/// let bias = classifier.model.view().tensor("fc2.bias").unwrap();
/// assert_eq!(bias.shape(), [10]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct OwnedSafeTensors<'data, const N: usize> {
    bytes: &'data [u8],
    /// Those in use.
    slots: Vec<Slot, N>,
}

impl<'data, const N: usize> OwnedSafeTensors<'data, N> {
    /// [`SafeTensors::parse`] into slots of its own.
    ///
    /// # Errors
    /// Those of [`SafeTensors::parse`]; [`ErrorKind::TooFewSlots`] if `N` is too small.
    pub fn parse(bytes: &'data [u8]) -> Result<Self, Error> {
        Self::parse_with(&Options::new(), bytes)
    }

    /// [`Options::parse`] into slots of its own.
    ///
    /// # Errors
    /// Those of [`OwnedSafeTensors::parse`].
    pub fn parse_with(options: &Options, bytes: &'data [u8]) -> Result<Self, Error> {
        let mut slots = empty_slots();
        let used = options.parse(bytes, &mut slots)?.len();
        slots.truncate(used);
        Ok(Self { bytes, slots })
    }

    /// The file, for all that can be asked of it. Costs nothing.
    #[must_use]
    pub fn view(&self) -> SafeTensors<'data, '_> {
        SafeTensors::with_slots(self.bytes, &self.slots)
    }
}

impl<const N: usize> fmt::Debug for OwnedSafeTensors<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "OwnedSafeTensors", self.slots.len())
    }
}

/// An [`Index`] that has its slots with it, room for `N`; for a file of which only the header is at
/// hand.
///
/// ```
/// # use safetensors_core::OwnedIndex;
/// let head = b"\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ";
/// let index = OwnedIndex::<1>::build(head)?;
/// assert_eq!(index.view().tensor("w").unwrap().byte_range(), 64..72);
/// # Ok::<(), safetensors_core::Error>(())
/// ```
#[derive(Clone)]
pub struct OwnedIndex<'data, const N: usize> {
    /// Without its slots.
    index: Index<'data, 'static>,
    /// Those in use.
    slots: Vec<Slot, N>,
}

impl<'data, const N: usize> OwnedIndex<'data, N> {
    /// [`Index::build`] into slots of its own.
    ///
    /// # Errors
    /// Those of [`Index::build`]; [`ErrorKind::TooFewSlots`] if `N` is too small.
    pub fn build(bytes: &'data [u8]) -> Result<Self, Error> {
        Self::build_with(&Options::new(), bytes)
    }

    /// [`Options::index`] into slots of its own.
    ///
    /// # Errors
    /// Those of [`OwnedIndex::build`].
    pub fn build_with(options: &Options, bytes: &'data [u8]) -> Result<Self, Error> {
        let mut slots = empty_slots();
        let index = options.index(bytes, &mut slots)?;
        let (index, used) = (index.rebound(&[]), index.len());
        slots.truncate(used);
        Ok(Self { index, slots })
    }

    /// The index, for all that can be asked of it. Costs nothing.
    #[must_use]
    pub fn view(&self) -> Index<'data, '_> {
        self.index.rebound(&self.slots)
    }
}

impl<const N: usize> fmt::Debug for OwnedIndex<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug(f, "OwnedIndex", self.slots.len())
    }
}

/// As many slots as there is room for, filled where they are.
fn empty_slots<const N: usize>() -> Vec<Slot, N> {
    let mut slots = Vec::new();
    while slots.push(Slot::EMPTY).is_ok() {}
    slots
}

fn debug(f: &mut fmt::Formatter<'_>, name: &str, tensors: usize) -> fmt::Result {
    f.write_str(name)?;
    f.write_str(" { tensors: ")?;
    Decimal(raw::wide(tensors)).fmt(f)?;
    f.write_str(", .. }")
}

impl Text<'_> {
    /// The text itself, unescaped, in a string of its own.
    ///
    /// ```
    /// # use safetensors_core::SafeTensors;
    /// # use safetensors_core::Slot;
    /// let file = include_bytes!("../examples/digits/digits.safetensors");
    /// # let mut slots = [Slot::EMPTY; 8];
    /// # let model = SafeTensors::parse(file, &mut slots)?;
    /// let format = model.metadata().unwrap().value("format").unwrap();
    /// assert_eq!(format.to_heapless::<8>()?, "pt");
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BufferTooSmall`], with the bytes needed as its number.
    pub fn to_heapless<const N: usize>(&self) -> Result<String<N>, Error> {
        let mut text = String::new();
        for character in self.chars() {
            if text.push(character).is_err() {
                return Err(Error::new(ErrorKind::BufferTooSmall, 0, raw::wide(self.len())));
            }
        }
        Ok(text)
    }
}

impl Shape<'_> {
    /// The dimensions, outermost first, in a vector of their own.
    ///
    /// ```
    /// # use safetensors_core::{SafeTensors, Slot};
    /// let file = include_bytes!("../examples/digits/digits.safetensors");
    /// # let mut slots = [Slot::EMPTY; 8];
    /// # let model = SafeTensors::parse(file, &mut slots)?;
    /// let shape = model.tensor("fc1.weight").unwrap().shape();
    /// assert_eq!(shape.to_heapless::<4>()?, [32, 64]);
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::BufferTooSmall`], with the rank as its number.
    pub fn to_heapless<const N: usize>(&self) -> Result<Vec<u64, N>, Error> {
        let mut dims = Vec::new();
        for dim in self {
            if dims.push(dim).is_err() {
                return Err(Error::new(ErrorKind::BufferTooSmall, 0, raw::wide(self.rank())));
            }
        }
        Ok(dims)
    }
}
