//! What stands beside a file while it is changed in place.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use super::new_file::{PIECE, lock, regular, resolve, sync_folder};
use super::{HeaderFile, LoadError, NewFile};
use crate::{
    Dtype, Index, MetadataPair, StdIo, StreamError, TensorInfo, TensorSpec, WriteOptions, raw,
};

/// The bytes that a file had where it is being changed in place, and those that it gets: a file called as
/// it is with `.recovery` behind, from before the first change until the last one is synced.
///
/// If there is one, an [edit](super::FileEditor::save_in_place) was cut off, by a loss of power, say, and
/// [`restore`](Recovery::restore) puts the old bytes back. It is a safetensors file itself: the tensors
/// `old OFFSET` and `new OFFSET` hold what stood and what is to stand there.
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
        match fs::symlink_metadata(&recovery.path) {
            Ok(_) => Ok(Some(recovery)),
            // A name that is too long for it: a change in place is not possible then.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Fails if there is one: neither to be changed nor to be trusted is the file then.
    pub(super) fn refuse(path: &Path) -> io::Result<()> {
        if Self::find(path)?.is_none() {
            return Ok(());
        }
        let message = "a change in place was cut off, and the recovery file is still there";
        Err(io::Error::new(ErrorKind::AlreadyExists, message))
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
    /// [`InvalidData`](ErrorKind::InvalidData) if it does not belong to the file, which has something else
    /// than the old or the new bytes, and [`ResourceBusy`](ErrorKind::ResourceBusy) if a program is at it.
    /// Nothing has changed in these cases.
    pub fn restore(self) -> Result<(), LoadError> {
        regular(fs::metadata(&self.path)?)?;
        let mut from = File::open(&self.path)?;
        let header = HeaderFile::read(&from, Some(from.metadata()?.len()))?;
        regular(fs::metadata(&self.target)?)?;
        let mut to = OpenOptions::new().read(true).write(true).open(&self.target)?;
        lock(&to)?;
        let file_len = to.metadata()?.len();
        let places = places(header.index(), file_len).ok_or_else(belongs_to_another)?;
        for place in &places {
            place.check(&mut from, &mut to)?;
        }
        for place in &places {
            place.put_back(&mut from, &mut to)?;
        }
        to.sync_all()?;
        Ok(self.remove()?)
    }

    /// Stores what the file at `target` has where it gets other bytes.
    pub(super) fn store(
        target: &Path,
        file: &mut File,
        changes: &[(u64, &[u8])],
    ) -> io::Result<Self> {
        let target = resolve(target)?;
        let recovery = Self { path: beside(&target), target };
        let metadata = file.metadata()?;
        // Nobody else may read what nobody else could.
        let new = NewFile::create_as(&recovery.path, &metadata.permissions())?;
        recovery.write(file, metadata.len(), changes, new)?;
        match sync_folder(&recovery.path) {
            Ok(()) => Ok(recovery),
            Err(error) => {
                let _ = recovery.remove();
                Err(error)
            }
        }
    }

    fn write(
        &self,
        file: &mut File,
        file_len: u64,
        changes: &[(u64, &[u8])],
        mut to: NewFile,
    ) -> io::Result<()> {
        let names: Vec<String> =
            changes.iter().flat_map(|(at, _)| [format!("old {at}"), format!("new {at}")]).collect();
        let shapes: Vec<[u64; 1]> = changes.iter().map(|(_, new)| [raw::wide(new.len())]).collect();
        let mut tensors = Vec::new();
        for ((names, shape), (_, new)) in names.chunks(2).zip(&shapes).zip(changes) {
            if let [old_name, new_name] = names {
                tensors.push(TensorSpec::new(&**old_name, Dtype::U8, shape));
                tensors.push(TensorSpec::new(&**new_name, Dtype::U8, shape).with_data(new));
            }
        }
        let file_len = file_len.to_string();
        let mut pairs = [MetadataPair::new(FILE_LEN, &*file_len)];
        let plan = WriteOptions::new()
            .keep_order(true)
            .plan(&mut tensors, Some(&mut pairs))
            .map_err(StreamError::Write)?;
        let mut stream = plan.stream(StdIo(&mut to))?;
        for (at, new) in changes {
            stream.next_tensor()?;
            file.seek(SeekFrom::Start(*at))?;
            in_pieces(raw::wide(new.len()), |piece| {
                file.read_exact(piece)?;
                Ok(stream.write(piece)?)
            })?;
        }
        stream.finish()?;
        to.commit_new()
    }

    /// Removes the file when it is no longer needed.
    pub(super) fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        // If it comes back after a loss of power it does no harm: what it would undo can be done again.
        let _ = sync_folder(&self.path);
        Ok(())
    }
}

/// Where the recovery file of `target` is.
fn beside(target: &Path) -> PathBuf {
    let mut path = OsString::from(target);
    path.push(".recovery");
    path.into()
}

fn belongs_to_another() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the recovery file does not belong to this file")
}

/// Where old and new bytes are in a recovery file, and where in the other they belong.
struct Place {
    old: u64,
    new: u64,
    at: u64,
    len: u64,
}

impl Place {
    /// Whether the file has what it had or what it was to get, byte for byte.
    fn check(&self, from: &mut File, to: &mut File) -> io::Result<()> {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        let mut done: u64 = 0;
        in_pieces(self.len, |found| {
            for (bytes, start) in [(&mut old, self.old), (&mut new, self.new)] {
                bytes.resize(found.len(), 0);
                from.seek(SeekFrom::Start(start.saturating_add(done)))?;
                from.read_exact(bytes)?;
            }
            to.seek(SeekFrom::Start(self.at.saturating_add(done)))?;
            to.read_exact(found)?;
            done = done.saturating_add(raw::wide(found.len()));
            let mut bytes = found.iter().zip(&old).zip(&new);
            match bytes.all(|((found, old), new)| found == old || found == new) {
                true => Ok(()),
                false => Err(belongs_to_another()),
            }
        })
    }

    fn put_back(&self, from: &mut File, to: &mut File) -> io::Result<()> {
        from.seek(SeekFrom::Start(self.old))?;
        to.seek(SeekFrom::Start(self.at))?;
        in_pieces(self.len, |piece| {
            from.read_exact(piece)?;
            to.write_all(piece)
        })
    }
}

/// Calls `each` with buffers that are as long as `len` in all.
fn in_pieces(mut len: u64, mut each: impl FnMut(&mut [u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; raw::size(len.min(PIECE)).unwrap_or(0)];
    while len > 0 {
        let piece = raw::size(len.min(PIECE)).and_then(|len| buffer.get_mut(..len));
        let piece = piece.unwrap_or_default();
        each(piece)?;
        len = len.saturating_sub(raw::wide(piece.len()).max(1));
    }
    Ok(())
}

/// The places of a recovery file for a file of `file_len` bytes. `None` if it is another's, or none at
/// all.
fn places(index: Index<'_, '_>, file_len: u64) -> Option<Vec<Place>> {
    if index.metadata()?.value(FILE_LEN)? != *file_len.to_string() {
        return None;
    }
    let mut places = Vec::new();
    for old in index.iter() {
        let name = old.name();
        let Some(at) = name.as_str()?.strip_prefix("old ") else { continue };
        let new: TensorInfo<'_> = index.tensor(&format!("new {at}"))?;
        let at: u64 = at.parse().ok()?;
        let len = old.data_len();
        if new.data_len() != len || at.checked_add(len)? > file_len {
            return None;
        }
        places.push(Place { old: old.byte_range().start, new: new.byte_range().start, at, len });
    }
    // Of each an old and a new one, and nothing else.
    (places.len().checked_mul(2)? == index.len()).then_some(places)
}
