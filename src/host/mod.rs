//! Files: what a core without an operating system leaves to its caller.

mod error;
mod header_file;

pub use error::{Invalid, LoadError};
pub use header_file::HeaderFile;
