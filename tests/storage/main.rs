//! Files that are not in memory: what is read of them is what `SafeTensors::parse` finds in the same
//! bytes, and what is written into flash is a file or none.
//!
//! `reading`, `drivers`, `streaming` and `flash` are compiled twice: for storage that answers at once, and
//! for storage that is waited for.
#![allow(clippy::duplicate_mod, reason = "one text for both forms")]

#[path = "../common/mod.rs"]
mod common;

mod at_once;
mod awaited;
mod device;
#[cfg(all(feature = "embedded-io-07", feature = "embedded-io-async-07"))]
mod disk;
#[cfg(all(feature = "embedded-storage-03", feature = "embedded-storage-async-04"))]
mod nor;
#[cfg(feature = "std")]
mod std_io;
