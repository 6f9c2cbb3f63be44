//! Files that take the place of others in one step.

use core::fmt;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::vec;
use std::vec::Vec;

use tempfile::{Builder, NamedTempFile};

use crate::raw;

/// What an operating system copies or shares at once: a few pages of memory, and some blocks of any
/// file system. On Linux with ext4 a copy that moves data by less takes up to twice as long.
pub(super) const BLOCK: u64 = 1 << 16;
/// What is copied at once, in bytes.
const PIECE: u64 = 1 << 20;

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
    permissions: Option<Permissions>,
    unfinished: Unfinished,
}

impl NewFile {
    /// Begins a file that is to stand at `path`. Symbolic links are followed: what is replaced is the
    /// file to which they point, if there is one.
    ///
    /// # Errors
    /// Those of the operating system; [`InvalidInput`](io::ErrorKind::InvalidInput) if there is something
    /// at `path` that is no regular file.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = resolve(path.as_ref())?;
        let old = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            old => Some(regular(old?)?),
        };
        let mut builder = Builder::new();
        builder.prefix(".safetensors-").suffix(".tmp");
        let permissions = old.map(|old| old.permissions());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file, and never open to more people than the old one.
            let of_any = Permissions::from_mode(0o666);
            builder.permissions(permissions.clone().unwrap_or(of_any));
        }
        let file = builder.tempfile_in(folder(&path))?;
        let unfinished = Unfinished::new(file.path());
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { file, path, permissions, unfinished })
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

    /// Puts the file where it is to stand, in place of what is there, whose permissions it gets (its
    /// owner it does not). It is synced before, and the folder behind, so that it survives a loss of
    /// power.
    ///
    /// # Errors
    /// Those of the operating system. Nothing has changed then, but for an error of the folder's sync,
    /// which comes when the new file is in its place.
    pub fn commit(self) -> io::Result<()> {
        self.place(|file, path| file.persist(path))
    }

    /// [`commit`](NewFile::commit) that fails if there is a file.
    pub(super) fn commit_new(self) -> io::Result<()> {
        self.place(|file, path| file.persist_noclobber(path))
    }

    fn place(
        self,
        persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, tempfile::PersistError>,
    ) -> io::Result<()> {
        let Self { file, path, permissions, unfinished } = self;
        let file = file.into_inner()?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        persist(file, &path)?;
        drop(unfinished);
        sync_folder(&path)
    }
}

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

/// Makes names in the folder of a file survive a loss of power.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    // Elsewhere folders can't be opened.
    #[cfg(unix)]
    File::open(folder(path))?.sync_all()?;
    let _ = path;
    Ok(())
}
