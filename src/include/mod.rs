//! What [`include_safetensors!`](crate::include_safetensors) calls.
//!
//! Not part of the public interface. Everything here runs in a `const` and stops the build where it
//! can't go on, so its panics are never in a program.
#![allow(clippy::panic)]

mod array;
mod macros;
mod message;

pub use array::Array;

use crate::header::text::Text;
use crate::{Dtype, Error, Options, SafeTensors, Slot, TensorView, raw};
use array::Dims;
use message::Message;

/// The bytes of a file as words, in the order in which they lie in memory, zeros behind them. A
/// reference to words can be cast to one to numbers; the type around them sees to their alignment.
#[must_use]
pub const fn words<const BYTES: usize, const WORDS: usize>(file: &[u8]) -> [u64; WORDS] {
    let mut bytes = [0; BYTES];
    let (to, _) = bytes.split_at_mut(file.len());
    to.copy_from_slice(file);
    bytemuck::must_cast(bytes)
}

/// The file again.
#[must_use]
pub const fn bytes(words: &'static [u64], len: usize) -> &'static [u8] {
    raw::range(bytemuck::must_cast_slice(words), 0, len)
}

/// How many slots the file needs.
#[must_use]
#[track_caller]
pub const fn slots_needed(path: &str, options: Options, file: &[u8]) -> usize {
    match options.scan(file) {
        Ok(scan) => scan.slots_needed(),
        Err(error) => stop(path, &error, file),
    }
}

/// The slots of the file.
#[must_use]
#[track_caller]
pub const fn slots<const N: usize>(path: &str, options: Options, file: &[u8]) -> [Slot; N] {
    let mut slots = [Slot::EMPTY; N];
    match options.parse(file, &mut slots) {
        Ok(_) => slots,
        Err(error) => stop(path, &error, file),
    }
}

/// The bytes of a `T`.
#[must_use]
pub const fn size<T: Array>() -> usize {
    size_of::<T>()
}

/// How many numbers a `T` has.
#[must_use]
pub const fn count<T: Array>() -> usize {
    raw::quotient(size_of::<T>(), size_of::<T::Element>())
}

/// An included file.
#[derive(Clone, Copy, Debug)]
pub struct Included {
    /// As the macro was given it.
    pub path: &'static str,
    /// The whole file.
    pub words: &'static [u64],
    /// The same, parsed.
    pub model: SafeTensors<'static, 'static>,
}

impl Included {
    /// A tensor of the shape that `T` has, where it lies. `COUNT` is [that](count) of `T`.
    #[must_use]
    #[track_caller]
    pub const fn array<T: Array, const COUNT: usize>(&self, name: &str) -> &'static T {
        self.check_dims(&self.tensor(name), T::DIMS, false);
        self.elements::<T, COUNT>(name)
    }

    /// How many `T` fill a tensor, which is of any shape if `T` is a number, and otherwise of that of
    /// `T` behind one more dimension.
    #[must_use]
    #[track_caller]
    pub const fn rows<T: Array>(&self, name: &str) -> usize {
        let view = self.tensor(name);
        let rows = if T::DIMS.outermost().is_none() {
            Some(view.shape().element_count())
        } else {
            self.check_dims(&view, T::DIMS, true);
            view.shape().dim(0)
        };
        match rows {
            // There may be more than this machine can count, of arrays that are empty.
            Some(rows) => match raw::size(rows) {
                Some(rows) => rows,
                None => usize::MAX,
            },
            None => 0,
        }
    }

    /// [`Included::array`] without a look at the shape.
    #[must_use]
    #[track_caller]
    pub const fn elements<T: Array, const COUNT: usize>(&self, name: &str) -> &'static T {
        let view = self.tensor(name);
        if !same(view.dtype(), T::DTYPE) {
            self.stop_at_dtype(&view, T::DTYPE);
        }
        let size = size_of::<T::Element>();
        if cfg!(target_endian = "big") && size > 1 {
            let mut message = self.about(&view);
            message
                .words(" can't be borrowed on a big-endian machine; take it as an array by value");
            message.panic()
        }
        let start = match raw::size(view.info().byte_range().start) {
            Some(start) => start,
            None => 0,
        };
        if raw::remainder(start, size) != 0 {
            let mut message = self.about(&view);
            message.words(" begins at byte ");
            message.number(raw::wide(start));
            message.words(" of the file, which is no multiple of ");
            message.number(raw::wide(size));
            message.words(
                "; take it as an array by value, or mend the file with `safetensors repack`",
            );
            message.panic()
        }
        let all: &'static [T::Element] = bytemuck::must_cast_slice(self.words);
        let (_, behind) = all.split_at(raw::quotient(start, size));
        match behind.first_chunk::<COUNT>() {
            Some(elements) => bytemuck::must_cast_ref(elements),
            None => panic!("the tensor is shorter than it was when its rows were counted"),
        }
    }

    /// The numbers of a tensor of the shape that `T` has: its elements, or for `f32` what they are
    /// converted to. `BYTES` is the size of `T`.
    #[must_use]
    #[track_caller]
    pub const fn copy<T: Array, const BYTES: usize>(&self, name: &str) -> T {
        let view = self.tensor(name);
        self.check_dims(&view, T::DIMS, false);
        let elements = view.elements();
        let exact = same(view.dtype(), T::DTYPE);
        let converts = same(T::DTYPE, Dtype::F32) && elements.values().is_ok();
        if !exact && !converts {
            self.stop_at_dtype(&view, T::DTYPE);
        }
        let mut bytes = [0; BYTES];
        if exact {
            bytes.copy_from_slice(view.data());
            if cfg!(target_endian = "big") {
                reverse_each(&mut bytes, size_of::<T::Element>());
            }
        } else {
            elements.put_values(&mut bytes);
        }
        bytemuck::must_cast(bytes)
    }

    #[track_caller]
    const fn tensor(&self, name: &str) -> TensorView<'static> {
        match self.model.tensor(name) {
            Some(view) => view,
            None => {
                let mut message = Message::new();
                message.path(self.path);
                message.words(" has no tensor ");
                message.quoted(&Text::new(name.as_bytes(), false));
                message.panic()
            }
        }
    }

    /// Compares the shape, but for its first dimension if there is `one_more`.
    #[track_caller]
    const fn check_dims(&self, view: &TensorView<'_>, wanted: Dims, one_more: bool) {
        let mut dims = view.shape().iter();
        let mut fits = !one_more || dims.next_dim().is_some();
        let mut rest = wanted.outermost();
        while let Some((len, inner)) = rest {
            fits &= matches!(dims.next_dim(), Some(dim) if dim == len);
            rest = inner.outermost();
        }
        if fits && dims.next_dim().is_none() {
            return;
        }
        let mut message = self.about(view);
        message.words(" has the shape [");
        let mut dims = view.shape().iter();
        let mut comma = "";
        let mut shown: usize = 0;
        while let Some(dim) = dims.next_dim() {
            message.words(comma);
            if shown == 20 {
                message.words("…");
                break;
            }
            message.number(dim);
            comma = ", ";
            shown = shown.wrapping_add(1);
        }
        message.words("], not [");
        let mut comma = "";
        if one_more {
            message.words("_");
            comma = ", ";
        }
        let mut rest = wanted.outermost();
        while let Some((len, inner)) = rest {
            message.words(comma);
            message.number(len);
            comma = ", ";
            rest = inner.outermost();
        }
        message.words("]");
        message.panic()
    }

    #[track_caller]
    const fn stop_at_dtype(&self, view: &TensorView<'_>, wanted: Dtype) -> ! {
        let mut message = self.about(view);
        message.words(" is ");
        message.words(view.dtype().name());
        message.words(", not ");
        message.words(wanted.name());
        message.panic()
    }

    const fn about(&self, view: &TensorView<'_>) -> Message {
        let mut message = Message::new();
        message.path(self.path);
        message.words(": tensor ");
        message.quoted(&view.name());
        message
    }
}

const fn same(a: Dtype, b: Dtype) -> bool {
    a.number() == b.number()
}

/// Reverses the bytes of each number of so many.
const fn reverse_each(mut bytes: &mut [u8], size: usize) {
    while !bytes.is_empty() {
        let (mut number, others) = bytes.split_at_mut(size);
        while let [first, middle @ .., last] = number {
            (*first, *last) = (*last, *first);
            number = middle;
        }
        bytes = others;
    }
}

/// Stops the build because of a fault of the file.
#[track_caller]
const fn stop(path: &str, error: &Error, file: &[u8]) -> ! {
    let mut message = Message::new();
    message.path(path);
    message.words(": ");
    message.error(error, file);
    message.panic()
}
