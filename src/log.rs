//! What firmware logs, with defmt.
//!
//! Words are interned: they are in the file that the log is decoded with, not in flash. Enums are their
//! variants; see `derive(defmt::Format)` where they are.
//!
//! Names, keys and values come from a file that a stranger may have made. If all of a text is visible ASCII
//! it is logged in quotes; otherwise it is logged as the bytes between its quotes in the header, everything
//! else than visible ASCII escaped, so that nothing reaches a terminal that would act on it.

use defmt::{Format, Formatter, write};

use crate::header::text::Quoted;
use crate::{
    Deviation, DisplayError, Elements, Error, Index, Metadata, Plan, SafeTensors, Shape, Slice,
    StoredSafeTensors, TensorInfo, TensorSlice, TensorView, Text, WriteError, raw,
};

impl Format for Error {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{} ({=u64}) at byte {=u64}", self.kind(), self.number(), self.offset());
    }
}

impl Format for DisplayError<'_> {
    fn format(&self, f: Formatter<'_>) {
        match self.place() {
            Some((true, key)) => write!(f, "metadata {}: {}", key, self.error),
            Some((false, name)) => write!(f, "tensor {}: {}", name, self.error),
            None => self.error.format(f),
        }
    }
}

impl Format for WriteError {
    fn format(&self, f: Formatter<'_>) {
        match self.index() {
            Some(index) => {
                write!(f, "{} ({=u64}), item {=usize}", self.kind(), self.number(), index)
            }
            None => write!(f, "{} ({=u64})", self.kind(), self.number()),
        }
    }
}

impl Format for Text<'_> {
    fn format(&self, f: Formatter<'_>) {
        let is_visible = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'"';
        match self.as_str() {
            Some(text) if text.as_bytes().iter().all(is_visible) => write!(f, "\"{=str}\"", text),
            _ => write!(f, "{=[u8]:a}", self.raw()),
        }
    }
}

impl Format for Quoted<'_> {
    fn format(&self, f: Formatter<'_>) {
        self.0.format(f);
    }
}

/// As `[2, 3]`.
impl Format for Shape<'_> {
    fn format(&self, f: Formatter<'_>) {
        dims(self.iter(), f);
    }
}

fn dims(dims: impl Iterator<Item = u64>, f: Formatter<'_>) {
    write!(f, "[");
    for (i, dim) in dims.enumerate() {
        match i {
            0 => write!(f, "{=u64}", dim),
            _ => write!(f, ", {=u64}", dim),
        }
    }
    write!(f, "]");
}

impl Format for TensorInfo<'_> {
    fn format(&self, f: Formatter<'_>) {
        let (begin, end) = self.data_offsets();
        write!(
            f,
            "{}: {} {}, {=u64} to {=u64}",
            self.name(),
            self.dtype(),
            self.shape(),
            begin,
            end
        );
    }
}

impl Format for TensorView<'_> {
    fn format(&self, f: Formatter<'_>) {
        self.info().format(f);
    }
}

impl Format for Elements<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{=usize} of {}", self.len(), self.dtype());
    }
}

impl<const N: usize> Format for Slice<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{} ", self.dtype());
        dims(self.dims(), f);
    }
}

impl<const N: usize> Format for TensorSlice<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{} ", self.dtype());
        dims(self.dims(), f);
    }
}

impl Format for Index<'_, '_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{=usize} tensors, {=u64} bytes of data", self.len(), self.data_len());
    }
}

impl Format for SafeTensors<'_, '_> {
    fn format(&self, f: Formatter<'_>) {
        self.index().format(f);
    }
}

impl<S> Format for StoredSafeTensors<'_, '_, S> {
    fn format(&self, f: Formatter<'_>) {
        self.index().format(f);
    }
}

/// As `{"a": "1", "b": "2"}`.
impl Format for Metadata<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{{");
        for (i, (key, value)) in self.iter().enumerate() {
            match i {
                0 => write!(f, "{}: {}", key, value),
                _ => write!(f, ", {}: {}", key, value),
            }
        }
        write!(f, "}}");
    }
}

impl Format for Deviation<'_> {
    fn format(&self, f: Formatter<'_>) {
        match self.tensor() {
            Some(name) => {
                write!(f, "tensor {}: {} at byte {=u64}", name, self.kind(), self.offset());
            }
            None => write!(f, "{} at byte {=u64}", self.kind(), self.offset()),
        }
    }
}

impl Format for Plan<'_> {
    fn format(&self, f: Formatter<'_>) {
        let tensors = raw::wide(self.tensors().len());
        write!(f, "{=u64} tensors, {=u64} bytes", tensors, self.file_len());
    }
}

#[cfg(feature = "checksum")]
impl Format for crate::Checksum {
    fn format(&self, f: Formatter<'_>) {
        let digits = self.digits();
        write!(f, "{=str}", core::str::from_utf8(&digits).unwrap_or_default());
    }
}
