//! Files that take the place of others in one step.

use core::fmt;
use std::fs::{self, File, Metadata, Permissions, TryLockError};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::vec;
use std::vec::Vec;

use tempfile::{Builder, NamedTempFile};

use super::Recovery;
use super::blocks::each_block;
use super::header_file::read_head;
use crate::{Checksum, Header, raw};

/// What an operating system copies or shares at once: a few pages of memory, and some blocks of any
/// file system. On Linux with ext4 a copy that moves data by less takes up to twice as long.
pub(super) const BLOCK: u64 = 1 << 16;
/// What is copied at once, in bytes.
pub(super) const PIECE: u64 = 1 << 20;

/// A file that is written beside the one whose place it takes when it is complete.
///
/// Until [`commit`](NewFile::commit) the old file stays as it is, whatever happens: programs that have it
/// open or mapped keep it even then. The new one is called `.safetensors-` and something random, in the
/// same folder; it is removed if it is not committed, and stays behind only if the process is killed. A
/// program that handles signals removes it with [`remove_unfinished`].
///
/// It is buffered, so small pieces cost little.
///
/// ```
/// use std::io::Write;
/// use safetensors_core::host::NewFile;
/// use safetensors_core::{Dtype, StdIo, TensorSpec, WriteOptions};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// let mut tensors = [TensorSpec::new("log", Dtype::F32, &[1000])];
/// let plan = WriteOptions::new().plan(&mut tensors, None)?;
/// let mut file = NewFile::create(&path)?;
/// let mut stream = plan.stream(StdIo(&mut file))?;
/// while let Some(_) = stream.next_tensor()? {
///     for number in 0..1000 {
///         stream.write(&(number as f32).to_le_bytes())?;
///     }
/// }
/// stream.finish()?;
/// file.commit()?;
/// # assert_eq!(std::fs::metadata(&path)?.len(), plan.file_len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NewFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    /// Of the old file.
    old: Option<Metadata>,
    unfinished: Unfinished,
}

impl NewFile {
    /// Begins a file that is to stand at `path`. Symbolic links are followed: what is replaced is the
    /// file to which they point, if there is one.
    ///
    /// # Errors
    /// Those of the operating system; [`InvalidInput`](io::ErrorKind::InvalidInput) if there is something
    /// at `path` that is no regular file, [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is a
    /// [`Recovery`] file beside it.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::begin(path.as_ref(), None)
    }

    /// [`create`](NewFile::create) with these permissions, if there is no file yet.
    pub(super) fn create_as(path: &Path, permissions: &Permissions) -> io::Result<Self> {
        Self::begin(path, Some(permissions))
    }

    fn begin(path: &Path, permissions: Option<&Permissions>) -> io::Result<Self> {
        let path = resolve(path)?;
        Recovery::refuse(&path)?;
        let old = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            old => Some(regular(old?)?),
        };
        let mut builder = Builder::new();
        builder.prefix(".safetensors-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file, and never open to more people than the old one.
            let of_old = old.as_ref().map(Metadata::permissions);
            let of_any = permissions.cloned().unwrap_or(Permissions::from_mode(0o666));
            builder.permissions(of_old.unwrap_or(of_any));
        }
        let _ = permissions;
        let file = builder.tempfile_in(folder(&path))?;
        let unfinished = Unfinished::new(file.path());
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { file, path, old, unfinished })
    }

    /// Makes the file as long as that: zeros are added, or what is behind is cut off.
    pub(super) fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().as_file().set_len(len)
    }

    /// Writes the next `len` bytes of `from`. If they move by a multiple of 64 KiB the operating system
    /// copies them, or lets both files share them, where it can.
    ///
    /// # Errors
    /// Those of the operating system; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if `from` ends before.
    pub fn copy_from(&mut self, from: &mut File, len: u64) -> io::Result<()> {
        let (at, to) = (from.stream_position()?, self.stream_position()?);
        // It does so fastest from the start of a block on.
        let before = to.next_multiple_of(BLOCK).saturating_sub(to);
        if len < PIECE || !at.abs_diff(to).is_multiple_of(BLOCK) {
            return self.copy_by_hand(from, len);
        }
        self.copy_by_hand(from, before)?;
        // An empty buffer lets it see the file behind.
        self.file.flush()?;
        let rest = len.saturating_sub(before);
        if io::copy(&mut from.take(rest), self.file.get_mut().as_file_mut())? < rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Reads the file as it was written so far, and puts its [`Checksum`] into its metadata, where there
    /// must be a place for it: a [placeholder](Checksum::PLACEHOLDER) or other digits. What is written afterwards goes to its end.
    ///
    /// # Errors
    /// Those of the operating system; [`InvalidData`](io::ErrorKind::InvalidData) without a place for it.
    pub fn set_checksum(&mut self) -> io::Result<()> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        self.file.flush()?;
        let file = self.file.get_mut().as_file_mut();
        file.rewind()?;
        let head = read_head(file, None)?;
        let mut checksum =
            Header::read(&head).and_then(|header| Checksum::of(&header)).map_err(invalid)?;
        each_block(file, |block| checksum.update(block))?;
        file.seek(SeekFrom::Start(checksum.place()))?;
        file.write_all(&checksum.digits())?;
        file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn copy_by_hand(&mut self, from: &mut File, mut len: u64) -> io::Result<()> {
        let mut buffer = vec![0; raw::size(len.min(PIECE)).unwrap_or(0)];
        while len > 0 {
            let piece = len.min(PIECE);
            let buffer =
                raw::size(piece).and_then(|piece| buffer.get_mut(..piece)).unwrap_or_default();
            from.read_exact(buffer)?;
            self.file.write_all(buffer)?;
            len = len.saturating_sub(piece);
        }
        Ok(())
    }

    /// Puts the file where it is to stand, in place of what is there, whose permissions it gets, and its
    /// owner and group if the system lets. It is synced before, and the folder behind, where that can
    /// be done, so that it survives a loss of power.
    ///
    /// # Errors
    /// Those of the operating system; nothing has changed then.
    pub fn commit(self) -> io::Result<()> {
        let path = self.place(|file, path| file.persist(path))?;
        // It is in its place whatever comes of this.
        let _ = sync_folder(&path);
        Ok(())
    }

    /// [`commit`](NewFile::commit) that fails if there is a file, and leaves the folder to be synced.
    pub(super) fn commit_new(self) -> io::Result<()> {
        self.place(|file, path| file.persist_noclobber(path)).map(|_| ())
    }

    fn place(
        self,
        persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, tempfile::PersistError>,
    ) -> io::Result<PathBuf> {
        let Self { file, path, old, unfinished } = self;
        let file = file.into_inner()?;
        if let Some(old) = old {
            keep_owner(file.as_file(), &old);
            file.as_file().set_permissions(old.permissions())?;
        }
        file.as_file().sync_all()?;
        persist(file, &path)?;
        drop(unfinished);
        Ok(path)
    }
}

/// Gives a file the owner and the group of an old one, if the system lets.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    // Its group may be possible where its owner is not.
    let _ = fchown(file, None, Some(old.gid()));
    let _ = fchown(file, Some(old.uid()), None);
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The temporary files of this process that are not in their places yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of all [`NewFile`]s of this process that are not committed: for a program
/// that is told to end, before it does. Whoever still writes to one gets an error when committing it.
pub fn remove_unfinished() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // It may just have come to its place.
        let _ = fs::remove_file(path);
    }
}

/// The path of a temporary file, while it is one.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|path| *path != self.0);
    }
}

/// The file to which symbolic links point, if there is one, whatever becomes the current folder.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path::absolute(path),
        // Longer than the system takes, with the folders before it.
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Ok(path.to_path_buf()),
        path => path,
    }
}

/// What can be replaced: a device or a folder can't.
pub(super) fn regular(metadata: Metadata) -> io::Result<Metadata> {
    if metadata.is_file() {
        return Ok(metadata);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Makes names in the folder of a file survive a loss of power, where that can be done.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    // Elsewhere folders can't be opened.
    let synced = if cfg!(unix) {
        File::open(folder(path)).and_then(|folder| folder.sync_all())
    } else {
        Ok(())
    };
    match synced {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Sees to it that no other program of this crate changes a file until it is closed.
pub(super) fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let message = "another program is changing the file";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
        }
        // On some network's file systems there is no such thing.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
