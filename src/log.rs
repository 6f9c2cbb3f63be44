//! What firmware logs, with the feature `defmt`: as [`Debug`](core::fmt::Debug) shows it, errors and
//! deviations as `Display` does.
//!
//! Words are interned: only numbers and what stands in the file go over the wire.
//!
//! What is inside of a value is logged with `write!`, never with its `format`, which of a derived `Format`
//! is a panic.

// Clippy does not see that two interned strings differ.
#![allow(clippy::if_same_then_else)]

use defmt::{Format, Formatter, Str, intern, write};

use crate::header::quoted::Shown;
use crate::words::NumberWords;
use crate::write::DisplayWriteError;
use crate::{
    Deviation, Dims, DisplayError, Dtype, Elements, Error, ErrorKind, Header, Index, Metadata,
    MetadataPair, Plan, Quantized, Quoted, SafeTensors, Shape, ShapeSpec, Slice, SliceDims, Slot,
    StorageError, StreamError, TensorInfo, TensorSlice, TensorSpec, TensorView, Text, WriteError,
    raw,
};

// ── text ──

/// In quotes, with everything escaped that could break a line of the log or mislead who reads it.
impl Format for Text<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{}", self.quoted());
    }
}

impl Format for Quoted<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "\"");
        let mut chars = self.text().chars();
        loop {
            let run = chars.harmless_run();
            if !run.is_empty() {
                write!(f, "{=str}", run);
            }
            let Some(character) = chars.next() else { break };
            match Shown::of(character) {
                Shown::Itself => write!(f, "{=char}", character),
                Shown::Escape(escape) => write!(f, "{=str}", escape),
                Shown::Code => write!(f, "\\u{{{=u32:x}}}", raw::code(character)),
            }
        }
        write!(f, "\"");
    }
}

// ── errors ──

impl Format for Error {
    fn format(&self, f: Formatter<'_>) {
        let (kind, number) = (self.kind(), self.number());
        write!(f, "{=istr}", kind.interned_message());
        match kind {
            ErrorKind::MissingField => match number {
                0 => write!(f, ", dtype"),
                1 => write!(f, ", shape"),
                _ => write!(f, ", data_offsets"),
            },
            ErrorKind::DtypeMismatch => {
                if let Some(dtype) = Dtype::numbered(number) {
                    write!(f, ", {}", dtype);
                }
            }
            ErrorKind::ChecksumMismatch => {
                write!(f, ", which is {=u32:08x}", raw::low_bits(number))
            }
            _ => log_number(kind.interned_number_words(), number, f),
        }
        if !(kind.is_of_caller() && self.offset() == 0) {
            write!(f, " (at byte {=u64})", self.offset());
        }
    }
}

fn log_number(words: Option<NumberWords<Str>>, number: u64, f: Formatter<'_>) {
    let Some((before, one, many)) = words else { return };
    let behind = if number == 1 { one } else { many };
    write!(f, ", {=istr}{=u64}{=istr}", before, number, behind);
}

/// Whose error it is.
fn log_owner(is_key: bool, f: Formatter<'_>) {
    write!(f, "{=istr} ", if is_key { intern!("metadata") } else { intern!("tensor") });
}

impl Format for DisplayError<'_> {
    fn format(&self, f: Formatter<'_>) {
        if let Some((is_key, name)) = self.place() {
            log_owner(is_key, f);
            write!(f, "{}: ", name);
        }
        write!(f, "{}", self.error());
    }
}

impl Format for WriteError {
    fn format(&self, f: Formatter<'_>) {
        if let Some(index) = self.index() {
            log_owner(self.is_of_key(), f);
            write!(f, "{=u64}: ", raw::wide(index));
        }
        log_message(self, f);
    }
}

/// Without the tensor.
fn log_message(error: &WriteError, f: Formatter<'_>) {
    write!(f, "{=istr}", error.kind().interned_message());
    log_number(error.kind().interned_number_words(), error.number(), f);
}

impl Format for DisplayWriteError<'_> {
    fn format(&self, f: Formatter<'_>) {
        let Some((is_key, name)) = self.name() else { return write!(f, "{}", self.error()) };
        log_owner(is_key, f);
        write!(f, "{}: ", name);
        log_message(self.error(), f);
    }
}

impl<E: Format> Format for StorageError<E> {
    fn format(&self, f: Formatter<'_>) {
        match self {
            Self::Format(error) => write!(f, "{}", error),
            Self::Source(error) => write!(f, "{}", error),
        }
    }
}

impl<E: Format> Format for StreamError<E> {
    fn format(&self, f: Formatter<'_>) {
        match self {
            Self::Write(error) => write!(f, "{}", error),
            Self::Sink(error) => write!(f, "{}", error),
        }
    }
}

impl Format for Deviation<'_> {
    fn format(&self, f: Formatter<'_>) {
        if let Some(tensor) = self.tensor() {
            log_owner(false, f);
            write!(f, "{}: ", tensor);
        }
        write!(f, "{=istr}", self.kind().interned_message());
        if let Some(word) = self.word() {
            write!(f, " {}", word);
        }
        write!(f, " (at byte {=u64})", self.offset());
    }
}

// ── what is read ──

fn log_dims(dims: impl Iterator<Item = u64>, f: Formatter<'_>) {
    write!(f, "[");
    let mut separator = intern!("");
    for dim in dims {
        write!(f, "{=istr}{=u64}", separator, dim);
        separator = intern!(", ");
    }
    write!(f, "]");
}

impl Format for Shape<'_> {
    fn format(&self, f: Formatter<'_>) {
        log_dims(self.iter(), f);
    }
}

impl Format for Dims<'_> {
    fn format(&self, f: Formatter<'_>) {
        log_dims(*self, f);
    }
}

impl Format for TensorInfo<'_> {
    fn format(&self, f: Formatter<'_>) {
        let (begin, end) = self.data_offsets();
        write!(
            f,
            "TensorInfo {{ name: {}, dtype: {}, shape: {}, data_offsets: [{=u64}, {=u64}] }}",
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
        write!(f, "TensorView({})", self.info());
    }
}

impl Format for Metadata<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "{{");
        let mut separator = intern!("");
        for (key, value) in self {
            write!(f, "{=istr}{}: {}", separator, key, value);
            separator = intern!(", ");
        }
        write!(f, "}}");
    }
}

impl Format for Header<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Header {{ data_start: {=u64}, .. }}", self.data_start());
    }
}

impl Format for Index<'_, '_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Index {{ tensors: {=u64}, .. }}", raw::wide(self.len()));
    }
}

impl Format for SafeTensors<'_, '_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "SafeTensors {{ tensors: {=u64}, .. }}", raw::wide(self.len()));
    }
}

impl<S> Format for crate::StoredSafeTensors<'_, '_, S> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "StoredSafeTensors({})", self.index());
    }
}

impl<S> Format for crate::AsyncStoredSafeTensors<'_, '_, S> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "AsyncStoredSafeTensors({})", self.index());
    }
}

#[cfg(feature = "heapless-09")]
impl<const N: usize> Format for crate::OwnedSafeTensors<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "OwnedSafeTensors {{ tensors: {=u64}, .. }}", raw::wide(self.view().len()));
    }
}

#[cfg(feature = "heapless-09")]
impl<const N: usize> Format for crate::OwnedIndex<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "OwnedIndex {{ tensors: {=u64}, .. }}", raw::wide(self.view().len()));
    }
}

impl Format for Slot {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Slot {{ .. }}");
    }
}

#[cfg(feature = "checksum")]
impl Format for crate::Checksum {
    fn format(&self, f: Formatter<'_>) {
        write!(
            f,
            "Checksum {{ value: {=u32:08x}, stored: {=u32:08x} }}",
            self.value(),
            self.stored
        );
    }
}

// ── numbers ──

impl Format for Elements<'_> {
    fn format(&self, f: Formatter<'_>) {
        let len = raw::wide(self.len());
        write!(f, "Elements {{ dtype: {}, len: {=u64} }}", self.dtype(), len);
    }
}

impl Format for Quantized<'_> {
    fn format(&self, f: Formatter<'_>) {
        let channels = raw::wide(self.channels());
        write!(f, "Quantized {{ integers: {}, channels: {=u64} }}", self.integers(), channels);
    }
}

impl<const N: usize> Format for Slice<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Slice {{ dtype: {}, dims: {} }}", self.dtype(), self.dims());
    }
}

impl<const N: usize> Format for SliceDims<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        log_dims(self.clone(), f);
    }
}

impl<const N: usize> Format for TensorSlice<'_, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "TensorSlice(Slice {{ dtype: {}, dims: {} }})", self.dtype(), self.dims());
    }
}

// ── what is written ──

impl Format for ShapeSpec<'_> {
    fn format(&self, f: Formatter<'_>) {
        log_dims(self.iter(), f);
    }
}

impl Format for TensorSpec<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(
            f,
            "TensorSpec {{ name: {}, dtype: {}, shape: {}{=istr} }}",
            self.name(),
            self.dtype(),
            self.shape(),
            if self.data().is_some() { intern!(", with data") } else { intern!("") }
        );
    }
}

impl Format for MetadataPair<'_> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "MetadataPair({}, {})", self.key(), self.value());
    }
}

impl Format for Plan<'_> {
    fn format(&self, f: Formatter<'_>) {
        let tensors = raw::wide(self.tensors().len());
        write!(f, "Plan {{ tensors: {=u64}, file_len: {=u64} }}", tensors, self.file_len());
    }
}
