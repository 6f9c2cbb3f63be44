//! Safetensors without `std`, heap, `unsafe` or panics.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable
)]

#[cfg(feature = "std")]
extern crate std;

mod dtype;
mod error;
mod header;
#[cfg(feature = "std")]
pub mod host;
mod index;
mod layout;
mod metadata;
mod options;
mod raw;
mod safetensors;
mod shape;
mod slot;
mod slots;
mod tensor;

pub use dtype::Dtype;
pub use error::{DisplayError, Error, ErrorKind};
pub use header::deviation::{Deviation, DeviationKind, Deviations};
pub use header::entries::{Entries, Entry, Position};
pub use header::info::TensorInfo;
pub use header::text::{Chars, Quoted, Text};
pub use header::{Header, PREFIX_LEN, Scan};
pub use index::{Index, Infos, InfosByOffset, Names};
pub use metadata::{Metadata, Pairs};
pub use options::Options;
pub use safetensors::{SafeTensors, Tensors, TensorsByOffset};
pub use shape::{Dims, Shape};
pub use slot::Slot;
pub use tensor::TensorView;
