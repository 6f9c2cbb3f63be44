//! Saving what is at hand.

use std::io;
use std::path::Path;

use super::NewFile;
use crate::{Plan, StdIo, StreamError};

/// Writes a planned file to `path`, as a [`NewFile`]: whatever happens, there is either the old file or the
/// whole new one. The data of all tensors must be [at hand](crate::TensorSpec::with_data).
///
/// The tensors may lie in the very file that is replaced, mapped into memory: it is not touched.
///
/// ```
/// use safetensors_core::host::save;
/// use safetensors_core::{Dtype, TensorSpec, WriteOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let mut tensors = [TensorSpec::new("bias", Dtype::U8, &[3]).with_data(&[1, 2, 3])];
/// save(&WriteOptions::new().plan(&mut tensors, None)?, &path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`StreamError::Sink`] with the error of the operating system;
/// [`MissingData`](crate::WriteErrorKind::MissingData).
pub fn save(plan: &Plan<'_>, path: impl AsRef<Path>) -> Result<(), StreamError<io::Error>> {
    let file = NewFile::create(path).map_err(StreamError::Sink)?;
    let StdIo(file) = plan.stream(StdIo(file))?.finish()?;
    file.commit().map_err(StreamError::Sink)
}
