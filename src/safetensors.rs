//! A whole file: header, index and data behind one type.

use core::fmt;
use core::iter::FusedIterator;

use crate::digits::Decimal;
use crate::header::info::TensorInfo;
use crate::header::{Header, Scan};
use crate::index::{Infos, InfosByOffset, Names};
use crate::{Error, Index, Metadata, Options, Slot, TensorView, raw};

/// A safetensors file that was checked by every rule, with the caller's slots as the index.
///
/// ```
/// # use safetensors_core::{Dtype, SafeTensors, Slot};
/// let file = b"\x37\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]}}  \x05\x06";
/// let mut slots = [Slot::EMPTY; 1];
/// let model = SafeTensors::parse(file, &mut slots)?;
/// let w = model.tensor("w").unwrap();
/// assert_eq!((w.dtype(), w.data()), (Dtype::I8, &[5, 6][..]));
/// assert_eq!(w.shape(), [2]);
/// # Ok::<(), safetensors_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct SafeTensors<'data, 'slots> {
    index: Index<'data, 'slots>,
    data: &'data [u8],
}

impl<'data, 'slots> SafeTensors<'data, 'slots> {
    /// Checks `bytes`, a whole file, by every rule, and fills `slots`: as many as
    /// [`Scan::slots_needed`] says, more do no harm.
    ///
    /// Time: n log n in the length of the header, and linear if the tensors come in offset order
    /// and no names were chosen to have one hash. The data is not read.
    ///
    /// Of several faults one is told: the first in the header, except that metadata keys are
    /// compared when they are met if the slots that are free suffice, and that the layout and the
    /// names are looked at last.
    ///
    /// # Errors
    /// Every [`ErrorKind`](crate::ErrorKind) up to `TooFewSlots`.
    pub const fn parse(bytes: &'data [u8], slots: &'slots mut [Slot]) -> Result<Self, Error> {
        Options::new().parse(bytes, slots)
    }

    pub(crate) const fn parse_with(
        options: &Options,
        bytes: &'data [u8],
        slots: &'slots mut [Slot],
    ) -> Result<Self, Error> {
        let header = match options.header(bytes) {
            Ok(header) => header,
            Err(error) => return Err(error),
        };
        let index = match Index::of(header, slots) {
            Ok(index) => index,
            Err(error) => return Err(error),
        };
        match index.check_file_len(raw::wide(bytes.len())) {
            Ok(()) => Ok(Self { index, data: data_of(header, bytes) }),
            Err(error) => Err(error),
        }
    }

    /// Walks `bytes`, a whole file, without memory: what [`Header::scan`] checks, and that the
    /// data is as long as the last tensor demands.
    ///
    /// # Errors
    /// Those of [`Header::read`], [`Header::scan`], and
    /// [`DataTruncated`](crate::ErrorKind::DataTruncated),
    /// [`TrailingBytes`](crate::ErrorKind::TrailingBytes).
    pub const fn scan(bytes: &[u8]) -> Result<Scan, Error> {
        Options::new().scan(bytes)
    }

    pub(crate) const fn scan_with(options: &Options, bytes: &[u8]) -> Result<Scan, Error> {
        let header = match options.header(bytes) {
            Ok(header) => header,
            Err(error) => return Err(error),
        };
        let scan = match header.scan() {
            Ok(scan) => scan,
            Err(error) => return Err(error),
        };
        match header.check_file_len(scan.data_len(), raw::wide(bytes.len())) {
            Ok(()) => Ok(scan),
            Err(error) => Err(error),
        }
    }

    /// The file again, from the bytes and the [slots](Index::slots) of one that was parsed before;
    /// so a `static` array of slots that was filled by the compiler, or an owner of both, becomes
    /// a file.
    ///
    /// Costs nothing and checks nothing. Other bytes or slots than those give wrong answers, never
    /// a panic.
    #[must_use]
    pub const fn with_slots(bytes: &'data [u8], slots: &'slots [Slot]) -> Self {
        let index = Index::with_slots(bytes, slots);
        Self { index, data: data_of(index.header(), bytes) }
    }

    /// The checked header with its slots.
    #[must_use]
    pub const fn index(&self) -> Index<'data, 'slots> {
        self.index
    }

    /// The data section.
    #[must_use]
    pub const fn data(&self) -> &'data [u8] {
        self.data
    }

    /// The number of tensors.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no tensors.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The tensor called `name`, compared unescaped. Takes the time to hash the name.
    #[must_use]
    pub const fn tensor(&self, name: &str) -> Option<TensorView<'data>> {
        match self.index.tensor(name) {
            Some(info) => Some(view(self.data, info)),
            None => None,
        }
    }

    /// The tensor that is number `i` in offset order.
    #[must_use]
    pub const fn by_offset(&self, i: usize) -> Option<TensorView<'data>> {
        match self.index.by_offset(i) {
            Some(info) => Some(view(self.data, info)),
            None => None,
        }
    }

    /// The tensors in header order; walks the header again.
    #[must_use]
    pub const fn iter(&self) -> Tensors<'data> {
        Tensors { data: self.data, infos: self.index.iter() }
    }

    /// The tensors in the order of their data. Tensors without elements that share an offset keep
    /// no particular order.
    #[must_use]
    pub fn iter_by_offset(&self) -> TensorsByOffset<'data, 'slots> {
        TensorsByOffset { data: self.data, infos: self.index.iter_by_offset() }
    }

    /// The names in header order; walks the header again.
    #[must_use]
    pub const fn names(&self) -> Names<'data> {
        self.index.names()
    }

    /// The metadata, when there is any that is not null.
    #[must_use]
    pub const fn metadata(&self) -> Option<Metadata<'data>> {
        self.index.metadata()
    }
}

/// What stands behind the header in `bytes`.
const fn data_of<'data>(header: Header<'_>, bytes: &'data [u8]) -> &'data [u8] {
    raw::range(bytes, header.bytes().len(), bytes.len())
}

/// The tensor's bytes; none if they are not there, which a parse excludes.
const fn view<'data>(data: &'data [u8], info: TensorInfo<'data>) -> TensorView<'data> {
    let (begin, end) = info.data_offsets();
    let bytes = match (raw::size(begin), raw::size(end)) {
        (Some(begin), Some(end)) => raw::range(data, begin, end),
        _ => &[],
    };
    TensorView::new(info, bytes)
}

impl<'data> IntoIterator for SafeTensors<'data, '_> {
    type Item = TensorView<'data>;
    type IntoIter = Tensors<'data>;

    fn into_iter(self) -> Tensors<'data> {
        self.iter()
    }
}

impl<'data> IntoIterator for &SafeTensors<'data, '_> {
    type Item = TensorView<'data>;
    type IntoIter = Tensors<'data>;

    fn into_iter(self) -> Tensors<'data> {
        self.iter()
    }
}

impl fmt::Debug for SafeTensors<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SafeTensors { tensors: ")?;
        Decimal(raw::wide(self.len())).fmt(f)?;
        f.write_str(", .. }")
    }
}

/// The tensors of a [`SafeTensors`] in header order.
#[derive(Clone, Copy)]
pub struct Tensors<'data> {
    data: &'data [u8],
    infos: Infos<'data>,
}

impl<'data> Tensors<'data> {
    /// [`Iterator::next`] that can be used in a `const`.
    pub const fn next_tensor(&mut self) -> Option<TensorView<'data>> {
        match self.infos.next_info() {
            Some(info) => Some(view(self.data, info)),
            None => None,
        }
    }
}

impl<'data> Iterator for Tensors<'data> {
    type Item = TensorView<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_tensor()
    }
}

impl FusedIterator for Tensors<'_> {}

impl fmt::Debug for Tensors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tensors { .. }")
    }
}

/// The tensors of a [`SafeTensors`] in offset order.
#[derive(Clone)]
pub struct TensorsByOffset<'data, 'slots> {
    data: &'data [u8],
    infos: InfosByOffset<'data, 'slots>,
}

impl<'data> Iterator for TensorsByOffset<'data, '_> {
    type Item = TensorView<'data>;

    fn next(&mut self) -> Option<Self::Item> {
        self.infos.next().map(|info| view(self.data, info))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.infos.size_hint()
    }
}

impl DoubleEndedIterator for TensorsByOffset<'_, '_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.infos.next_back().map(|info| view(self.data, info))
    }
}

impl ExactSizeIterator for TensorsByOffset<'_, '_> {}

impl FusedIterator for TensorsByOffset<'_, '_> {}

impl fmt::Debug for TensorsByOffset<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TensorsByOffset { .. }")
    }
}
