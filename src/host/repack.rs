//! Files that are written anew.

use core::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::vec::Vec;

use super::new_file::regular;
use super::{HeaderFile, LoadError, Mend, NewFile, Recovery, mend};
use crate::{
    Checksum, Error, ErrorKind, Index, MetadataPair, Options, Plan, StdIo, StreamError, TensorSpec,
    WriteOptions,
};

/// A file that is to be written anew: in canonical order, aligned, without gaps.
///
/// Names, dtypes, shapes, data and metadata are kept; fields of tensors that the format does not know
/// are not. The data is copied by the operating system, and never is in memory.
///
/// ```
/// use safetensors_core::WriteOptions;
/// use safetensors_core::host::Repack;
///
/// # let folder = tempfile::tempdir()?;
/// # let to = folder.path().join("aligned.safetensors");
/// let repack = Repack::open("examples/digits/digits.safetensors")?;
/// repack.save(&to, &WriteOptions::new().align(4096))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Repack {
    file: File,
    header: HeaderFile,
    mended: Vec<Mend>,
}

impl Repack {
    /// Reads the header of the file at `path` and checks it by every rule, but that there may be gaps
    /// between the tensors, as for [`Options::allow_gaps`].
    ///
    /// # Errors
    /// Those of [`HeaderFile::open`], and [`LoadError::Io`] if it is no regular file, or if there is a
    /// [`Recovery`] file beside it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::read(path.as_ref(), false)
    }

    /// [`open`](Repack::open) for a file that is refused for a fault that can be mended: NUL bytes behind the header's JSON, metadata keys that are given twice, bytes behind the last
    /// tensor.
    ///
    /// # Errors
    /// Those of [`open`](Repack::open).
    pub fn open_repairing(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        Self::read(path.as_ref(), true)
    }

    fn read(path: &Path, repair: bool) -> Result<Self, LoadError> {
        Recovery::refuse(path)?;
        regular(fs::metadata(path)?)?;
        let file = File::open(path)?;
        let file_len = regular(file.metadata()?)?.len();
        let mut mended = Vec::new();
        let options = Options::new().allow_gaps(true);
        let header = HeaderFile::read_mended(&options, &file, file_len, |head| {
            if repair {
                mend::nul_padding(head, &mut mended);
                mend::duplicate_keys(head, &mut mended);
            }
        })?;
        mend::gaps(header.index(), &mut mended);
        let index = header.index();
        let end = index.file_len();
        match file_len.saturating_sub(end) {
            0 => {}
            bytes if repair => mended.push(Mend::TrailingBytes(bytes)),
            bytes => return Err(header.refuse(Error::new(ErrorKind::TrailingBytes, end, bytes))),
        }
        let changed = mended.iter().any(|mend| !matches!(mend, Mend::Gap { .. }));
        if changed && Checksum::of(&header.index().header()).is_ok() {
            mended.push(Mend::Checksum);
        }
        Ok(Self { file, header, mended })
    }

    /// What is mended: in the header first, then in the data, both in the order of the file.
    #[must_use]
    pub fn mended(&self) -> &[Mend] {
        &self.mended
    }

    /// The header as it is read.
    #[must_use]
    pub fn index(&self) -> Index<'_, '_> {
        self.header.index()
    }

    /// Writes the new file to `path`, as a [`NewFile`], and returns its length; the path may be that of the
    /// old one.
    ///
    /// If the metadata has a [`Checksum`] that is compared first, and the new file gets its own.
    ///
    /// # Errors
    /// [`StreamError::Sink`] with the error of the operating system, which is
    /// [`InvalidData`](io::ErrorKind::InvalidData) if the checksum is not right, and
    /// [`HeaderTooLarge`](crate::WriteErrorKind::HeaderTooLarge).
    pub fn save(
        mut self,
        path: impl AsRef<Path>,
        options: &WriteOptions,
    ) -> Result<u64, StreamError<io::Error>> {
        let index = self.header.index();
        let mut tensors: Vec<_> = index.iter().map(TensorSpec::from).collect();
        let places: Vec<u64> = index.iter().map(|tensor| tensor.byte_range().start).collect();
        let mut pairs: Option<Vec<_>> = index.metadata().map(|metadata| {
            metadata.iter().map(|(key, value)| MetadataPair::new(key, value)).collect()
        });
        let mut sealed = false;
        if let Some(pairs) = &mut pairs
            && Checksum::of(&index.header()).is_ok()
        {
            let dropped = self.mended.contains(&Mend::Checksum);
            pairs.retain(|pair| !dropped || pair.key() != Checksum::KEY);
            for pair in pairs.iter_mut().filter(|pair| pair.key() == Checksum::KEY) {
                *pair = MetadataPair::new(Checksum::KEY, Checksum::PLACEHOLDER);
                sealed = true;
            }
        }
        if sealed {
            self.check_checksum().map_err(StreamError::Sink)?;
        }
        let plan = options.plan(&mut tensors, pairs.as_deref_mut()).map_err(StreamError::Write)?;
        copy(&plan, &places, &mut self.file, path.as_ref(), sealed).map_err(StreamError::Sink)?;
        Ok(plan.file_len())
    }

    /// Compares the file with its checksum.
    fn check_checksum(&self) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.header.index().header().data_start()))?;
        match self.header.digest(file)? {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = LoadError::Invalid(self.header.invalid(error));
                Err(io::Error::new(io::ErrorKind::InvalidData, error))
            }
        }
    }
}

/// Writes the planned file to `to`, the data from `from`, where that of each tensor begins at its place
/// in `places`, which are in the order given. If it is to be `sealed` it gets its checksum.
fn copy(
    plan: &Plan<'_>,
    places: &[u64],
    from: &mut File,
    to: &Path,
    sealed: bool,
) -> io::Result<()> {
    let mut to = NewFile::create_as(to, &from.metadata()?.permissions())?;
    // The header alone.
    let _ = plan.stream(StdIo(&mut to))?;
    // Neighbours that stay neighbours are copied as one.
    let mut run = Run { from: 0, to: plan.data_start(), len: 0 };
    for tensor in plan.tensors() {
        let (begin, end) = tensor.data_offsets();
        let next = Run {
            from: places.get(tensor.index()).copied().unwrap_or(0),
            to: plan.data_start().saturating_add(begin),
            len: end.saturating_sub(begin),
        };
        if !run.join(&next) {
            run.copy(from, &mut to)?;
            run = next;
        }
    }
    run.copy(from, &mut to)?;
    // There may be tensors without elements behind a gap.
    to.set_len(plan.file_len())?;
    if sealed {
        to.set_checksum()?;
    }
    to.commit()
}

/// Bytes that stand one behind the other in both files.
struct Run {
    from: u64,
    to: u64,
    len: u64,
}

impl Run {
    /// Makes one of this run and the one that follows it, if it does so in both files.
    fn join(&mut self, next: &Self) -> bool {
        let follows = next.len == 0
            || self.len > 0
                && next.from.checked_sub(self.from) == Some(self.len)
                && next.to.checked_sub(self.to) == Some(self.len);
        if follows {
            self.len = self.len.saturating_add(next.len);
        }
        follows
    }

    /// A gap before it reads as zeros.
    fn copy(&self, from: &mut File, to: &mut NewFile) -> io::Result<()> {
        if self.len > 0 {
            from.seek(SeekFrom::Start(self.from))?;
            to.seek(SeekFrom::Start(self.to))?;
            to.copy_from(from, self.len)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Repack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repack")
            .field("index", &self.header.index())
            .field("mended", &self.mended)
            .finish_non_exhaustive()
    }
}
