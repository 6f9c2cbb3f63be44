//! Reads and writes [safetensors], the file format in which most machine-learning weights are shipped: on
//! microcontrollers, in wasm, and on desktops.
//!
//! - **No `std`, no heap, no `unsafe`** in the core. The caller gives the memory, one 40-byte [`Slot`] for
//!   each tensor, or none at all. Its three dependencies are small and need none of them either: half,
//!   byteorder, bytemuck.
//! - **No panic is reachable.** A program that calls every entry point is linked for Cortex-M3 without a
//!   panic handler; see the page on [safety](docs::safety).
//! - **Every rule is checked**, and whatever is wrong is told with its kind, its byte and the name of the
//!   tensor. The verdicts are those of the reference implementation, with
//!   [four differences](docs::compatibility).
//! - **Everything is `const`**: a model that is linked into firmware is checked by the compiler, with
//!   [`include_safetensors!`].
//! - **64-bit offsets everywhere**: the header of a 600 GB model can be read on a 32-bit machine, from the
//!   header's bytes alone.
//!
//! # Look up a tensor in bytes that are at hand
//!
//! ```
//! use safetensors_core::{Dtype, SafeTensors, Slot};
//!
//! let file = include_bytes!("../examples/digits/digits.safetensors");
//! let mut slots = [Slot::EMPTY; 8];
//! let model = SafeTensors::parse(file, &mut slots)?;
//!
//! let weight = model.tensor("fc1.weight").unwrap();
//! assert_eq!(weight.dtype(), Dtype::F32);
//! assert_eq!(weight.shape(), [32, 64]);
//! assert_eq!(weight.data().len(), 32 * 64 * 4);
//! assert_eq!(model.metadata().unwrap().value("format").unwrap(), "pt");
//! # Ok::<(), safetensors_core::Error>(())
//! ```
//!
//! # Use the weights as numbers
//!
//! ```
//! use safetensors_core::{SafeTensors, Slot};
//!
//! # let file = include_bytes!("../examples/digits/digits.safetensors");
//! # let mut slots = [Slot::EMPTY; 8];
//! let model = SafeTensors::parse(file, &mut slots)?;
//! let weight = model.tensor("fc1.weight").unwrap();
//!
//! // Converted from whatever they are in the file, or borrowed if they are `f32` and aligned.
//! let mut numbers = [0.0; 32 * 64];
//! weight.elements().convert_into(&mut numbers)?;
//! if let Ok(borrowed) = weight.elements().as_slice::<f32>() {
//!     assert_eq!(borrowed, numbers);
//! }
//!
//! // A part of them: every second row of the first eight columns.
//! let part = weight.slice((safetensors_core::TensorIndexer::ALL.step(2), ..8))?;
//! assert!(part.dims().eq([16, 8]));
//! let mut numbers = [0.0; 16 * 8];
//! part.convert_into(&mut numbers)?;
//! # Ok::<(), safetensors_core::Error>(())
//! ```
//!
//! # Let the compiler check a model in flash
//!
//! ```
//! # #[cfg(target_endian = "little")] {
//! safetensors_core::include_safetensors! {
//!     static DIGITS = "../examples/digits/digits.safetensors";
//!     static FC1_WEIGHT: &[[f32; 64]; 32] = "fc1.weight";
//! }
//!
//! assert_eq!(DIGITS.len(), 4);
//! assert_eq!(FC1_WEIGHT[31][63], 0.36359265);
//! # }
//! ```
//!
//! A broken file, a name that is not there, another dtype or shape stops the build. No parser is linked.
//! See [`include_safetensors!`].
//!
//! # Write a file into a buffer
//!
//! ```
//! use safetensors_core::{Dtype, Elements, MetadataPair, TensorSpec, WriteOptions};
//!
//! // Calibrated weights, as F16 in the file.
//! let mut halves = [0; 6];
//! let weight = [0.5, -1.0, 2.0];
//! # use safetensors_core::Overflow::Saturate;
//! let weight = Elements::convert_from(&weight, Dtype::F16, Saturate, &mut halves)?;
//!
//! let mut tensors = [TensorSpec::new("w", Dtype::F16, &[3]).with_data(weight.bytes())];
//! let mut metadata = [MetadataPair::new("calibrated", "2026-12-01")];
//! let plan = WriteOptions::new().plan(&mut tensors, Some(&mut metadata))?;
//!
//! let mut flash = [0xff; 512];
//! assert_eq!(plan.file_len(), 118); // known before a byte is written
//! let file = plan.write_into(&mut flash)?;
//! # assert!(safetensors_core::SafeTensors::scan(file).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Look into a file of any size by fetching its header
//!
//! ```
//! use safetensors_core::{Header, Index, PREFIX_LEN, Slot};
//! # fn fetch(range: core::ops::Range<usize>) -> Vec<u8> {
//! #     include_bytes!("../examples/digits/digits.safetensors")[range].to_vec()
//! # }
//!
//! let prefix = fetch(0..PREFIX_LEN);
//! let len = Header::len_from_prefix(*prefix.first_chunk().unwrap())?;
//! let head = fetch(0..len);
//!
//! let mut slots = vec![Slot::EMPTY; Header::read(&head)?.scan()?.slots_needed()];
//! let index = Index::build(&head, &mut slots)?;
//! let range = index.tensor("fc2.bias").unwrap().byte_range();
//! assert_eq!(range, 8_928..8_968);
//! # Ok::<(), safetensors_core::Error>(())
//! ```
//!
//! # Read a model from flash that is not mapped
//!
//! ```
//! use safetensors_core::{Slot, StoredSafeTensors};
//!
//! # let file = include_bytes!("../examples/digits/digits.safetensors");
//! # let chip = |offset: u64, to: &mut [u8]| {
//! #     to.copy_from_slice(&file[offset as usize..][..to.len()]);
//! #     Ok::<_, core::convert::Infallible>(to.len())
//! # };
//! // `chip` is a closure here; features make sources of the drivers of flash and of files.
//! let mut header = [0; 1024];
//! let mut slots = [Slot::EMPTY; 8];
//! let mut model = StoredSafeTensors::open(chip, &mut header, &mut slots)?;
//!
//! let bias = model.tensor("fc2.bias").unwrap();
//! let mut numbers = [0.0; 10];
//! model.convert_into(&bias, &mut numbers, &mut [0; 64])?; // through 64 bytes
//!
//! let weight = model.tensor("fc1.weight").unwrap(); // 8 KiB
//! let mut buffer = [0; 256];
//! let mut chunks = model.chunks(&weight);
//! while let Some(elements) = chunks.next(&mut buffer)? {
//!     let _ = elements.values()?.sum::<f32>();
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`AsyncStoredSafeTensors`] is the same for storage that is waited for.
//!
//! # Which entry
//!
//! | at hand | memory | entry | checks |
//! |---|---|---|---|
//! | the whole file | slots | [`SafeTensors::parse`] | everything |
//! | the header | slots | [`Index::build`], then [`Index::check_file_len`] | everything |
//! | storage that is not mapped | slots, a buffer for the header | [`StoredSafeTensors::open`], [`AsyncStoredSafeTensors::open`] | everything |
//! | the whole file | none | [`SafeTensors::scan`] | all but duplicates; the layout if tensors come in offset order |
//! | the header | none | [`Header::scan`] | the same but for the length of the data |
//! | the header | none | [`Header::entries`] | one entry at a time, each by itself |
//! | a path, for the compiler | none | [`include_safetensors!`] | everything, when it builds |
//! | 8 bytes | none | [`Header::len_from_prefix`] | the header's length |
//!
//! # Layers, from the bottom
//!
//! 1. `raw`: bytes, words and numbers in `const fn`; the one module that casts.
//! 2. `header::scan`: the JSON grammar; the only code that walks header bytes. On top of it
//!    `description` (one tensor), `entry` (one entry), `text` (strings that are unescaped when asked).
//! 3. `layout`: the only arithmetic on sizes and offsets.
//! 4. [`Header`], [`Entries`], [`Metadata`], [`Shape`]: what needs no memory.
//! 5. `slots`: the caller's memory, put in offset order and made an index by name.
//! 6. [`Index`] and [`SafeTensors`]: everything checked; accessors that can't fail.
//! 7. [`Elements`]: the numbers of a tensor, [converted](docs::numbers) if need be; [`TensorSlice`]: parts
//!    of it; [`Quantized`]: integers that stand for real numbers.
//! 8. [`StoredSafeTensors`] and [`AsyncStoredSafeTensors`] over a [`Source`] or an [`AsyncSource`]: files
//!    that are not in memory.
//! 9. [`WriteOptions`], [`Plan`], [`Stream`] and [`AsyncStream`]: files that are written; [`Editor`]: files
//!    that are changed in memory.
//! 10. `host` (feature `std`): files on a disk, read, saved and changed. The command on top of it.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | none | the core; this is the default |
//! | `checksum` | `Checksum`: a CRC-32 in the metadata, checked at boot |
//! | `defmt` | `defmt::Format` of what firmware logs; the page on [firmware](docs::firmware) says how it looks |
//! | `embedded-io-07` | `EmbeddedIo`: files that are streamed to an `embedded_io::Write`, or read from what is `Read` and `Seek` |
//! | `embedded-io-async-07` | the same for embedded-io-async |
//! | `embedded-storage-03` | `EmbeddedStorage` and `NorFlashSource`: files in flash that is not mapped; `NorFlashSink`: files written into it |
//! | `embedded-storage-async-04` | the same for embedded-storage-async, with `AsyncNorFlashSink` |
//! | `heapless-09` | `OwnedSafeTensors` and `OwnedIndex`, with slots of their own; `to_heapless` of names and shapes |
//! | `serde-json-core-07` | `Text::decode_json` and `encode_json`: JSON in metadata values |
//! | `std` | `host`: the header of a file without its data; saving, editing and repacking files; models as source code; `StdIo` |
//! | `cli` | the command `safetensors` |
//!
//! The minimum supported Rust version is 1.89.
//!
//! [safetensors]: https://github.com/huggingface/safetensors
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

#[doc(hidden)]
#[path = "include/mod.rs"]
pub mod __include;
mod buffer;
#[cfg(feature = "checksum")]
mod checksum;
mod digits;
pub mod docs;
mod dtype;
mod edit;
mod elements;
mod error;
mod header;
#[cfg(feature = "std")]
pub mod host;
mod index;
mod io;
#[cfg(feature = "serde-json-core-07")]
mod json;
mod layout;
#[cfg(feature = "defmt")]
mod log;
mod metadata;
mod options;
#[cfg(feature = "heapless-09")]
mod owned;
mod quantized;
mod raw;
mod safetensors;
mod shape;
mod siphash;
mod slice;
mod slot;
mod slots;
mod storage;
mod tensor;
mod words;
mod write;

#[cfg(feature = "checksum")]
pub use checksum::Checksum;
pub use dtype::Dtype;
pub use edit::Editor;
pub use elements::{Element, ElementIter, Elements, Overflow, Values};
pub use error::{DisplayError, Error, ErrorKind};
pub use header::deviation::{Deviation, DeviationKind, Deviations};
pub use header::entries::{Entries, Entry, Position};
pub use header::info::TensorInfo;
pub use header::quoted::Quoted;
pub use header::text::{Chars, Text};
pub use header::{Header, PREFIX_LEN, Scan};
pub use index::{Index, Infos, InfosByOffset, Names};
#[cfg(any(feature = "embedded-io-07", feature = "embedded-io-async-07"))]
pub use io::EmbeddedIo;
#[cfg(feature = "std")]
pub use io::StdIo;
#[cfg(feature = "serde-json-core-07")]
pub use json::encode_json;
pub use metadata::{Metadata, Pairs};
pub use options::Options;
#[cfg(feature = "heapless-09")]
pub use owned::{OwnedIndex, OwnedSafeTensors};
pub use quantized::Quantized;
pub use safetensors::{SafeTensors, Tensors, TensorsByOffset};
pub use shape::{Dims, Shape};
pub use slice::{ByteRanges, Indices, Runs, Slice, SliceDims, TensorIndexer, TensorSlice};
pub use slot::Slot;
pub use storage::{
    AsyncChunks, AsyncSource, AsyncStoredSafeTensors, Chunks, Part, Source, StartingAt,
    StorageError, StoredSafeTensors,
};
#[cfg(any(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
pub use storage::{EmbeddedStorage, NorFlashSource};
pub use tensor::TensorView;
#[cfg(feature = "embedded-storage-async-04")]
pub use write::AsyncNorFlashSink;
#[cfg(feature = "embedded-storage-03")]
pub use write::NorFlashSink;
pub use write::{
    AsyncSink, AsyncStream, DisplayWriteError, MetadataPair, Plan, ShapeSpec, Sink, Stream,
    StreamError, TensorSpec, WriteError, WriteErrorKind, WriteOptions,
};

/// The examples of the README are compiled and run as tests.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
