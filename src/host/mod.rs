//! Files: what a core without an operating system leaves to its caller.

mod blocks;
mod embed;
mod error;
mod file_editor;
mod header_file;
mod mend;
mod new_file;
mod recovery;
mod repack;
mod save;

pub use embed::{Embed, identifier};
pub use error::{Invalid, LoadError};
pub use file_editor::FileEditor;
pub use header_file::HeaderFile;
pub use mend::Mend;
pub use new_file::{NewFile, remove_unfinished};
pub use recovery::Recovery;
pub use repack::Repack;
pub use save::save;
