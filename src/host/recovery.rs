//! What stands beside a file while it is changed in place.

use core::ops::Range;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;

use super::new_file::{regular, resolve, sync_folder};
use super::{HeaderFile, LoadError, NewFile};
use crate::{Dtype, Index, MetadataPair, StdIo, StreamError, TensorSpec, WriteOptions};

/// The bytes that a file had where it is being changed in place: a file called as it is with `.recovery`
/// behind, from before the first change until the last one is synced.
///
/// If there is one, an [edit](super::FileEditor::save_in_place) was cut off, by a loss of power, say, and
/// [`restore`](Recovery::restore) puts the old bytes back. It is a safetensors file itself: each tensor is
/// called by the offset at which its bytes belong.
#[derive(Debug)]
pub struct Recovery {
    path: PathBuf,
    target: PathBuf,
}

/// The metadata of a recovery file: the length of the file that it belongs to.
const FILE_LEN: &str = "file_len";

impl Recovery {
    /// The one that stands beside the file at `path`, if any. It is not looked into.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn find(path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        // Beside the file itself, not beside a link to it.
        let target = resolve(path.as_ref())?;
        let recovery = Self { path: beside(&target), target };
        Ok(recovery.path.try_exists()?.then_some(recovery))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the old bytes back, and removes the recovery file. It may be cut off and done again.
    ///
    /// # Errors
    /// [`LoadError::Invalid`] if it is no valid file, and [`LoadError::Io`]: its kind is
    /// [`InvalidData`](io::ErrorKind::InvalidData) if it does not belong to the file. Nothing has changed in
    /// both cases.
    pub fn restore(self) -> Result<(), LoadError> {
        let mut from = File::open(&self.path)?;
        let header = HeaderFile::read(&from, Some(from.metadata()?.len()))?;
        let mut to = OpenOptions::new().write(true).open(&self.target)?;
        let places = places(header.index(), regular(to.metadata()?)?.len()).ok_or_else(|| {
            let message = "the recovery file does not belong to this file";
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        for (range, at) in places {
            from.seek(SeekFrom::Start(range.start))?;
            to.seek(SeekFrom::Start(at))?;
            io::copy(&mut (&from).take(len(&range)), &mut to)?;
        }
        to.sync_all()?;
        Ok(self.remove()?)
    }

    /// Stores what the file at `target` has in `ranges`, which do not overlap.
    pub(super) fn store(target: &Path, file: &mut File, ranges: &[Range<u64>]) -> io::Result<Self> {
        let target = target.canonicalize()?;
        let recovery = Self { path: beside(&target), target };
        let file_len = file.metadata()?.len().to_string();
        let names: Vec<String> = ranges.iter().map(|range| range.start.to_string()).collect();
        let shapes: Vec<[u64; 1]> = ranges.iter().map(|range| [len(range)]).collect();
        let mut tensors: Vec<_> = names
            .iter()
            .zip(&shapes)
            .map(|(name, shape)| TensorSpec::new(&**name, Dtype::U8, shape))
            .collect();
        let mut pairs = [MetadataPair::new(FILE_LEN, &*file_len)];
        let plan = WriteOptions::new()
            .keep_order(true)
            .plan(&mut tensors, Some(&mut pairs))
            .map_err(StreamError::Write)?;
        let mut new = NewFile::create(&recovery.path)?;
        plan.stream(StdIo(&mut new))?;
        for range in ranges {
            file.seek(SeekFrom::Start(range.start))?;
            new.copy_from(file, len(range))?;
        }
        new.commit_new()?;
        Ok(recovery)
    }

    /// Removes the file when it is no longer needed.
    pub(super) fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        sync_folder(&self.path)
    }
}

/// Where the recovery file of `target` is.
fn beside(target: &Path) -> PathBuf {
    let mut path = OsString::from(target);
    path.push(".recovery");
    path.into()
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The ranges of a recovery file, and where in a file of `file_len` bytes they belong. `None` if it is
/// another's, or none at all.
fn places(index: Index<'_, '_>, file_len: u64) -> Option<Vec<(Range<u64>, u64)>> {
    if index.metadata()?.value(FILE_LEN)? != *file_len.to_string() {
        return None;
    }
    index
        .iter_by_offset()
        .map(|tensor| {
            let at: u64 = tensor.name().as_str()?.parse().ok()?;
            let end = at.checked_add(tensor.data_len())?;
            (end <= file_len).then_some((tensor.byte_range(), at))
        })
        .collect()
}
