//! Files that are changed where they are on a disk.

use core::{fmt, str};
use std::boxed::Box;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::vec::Vec;

use super::blocks::each_block;
use super::new_file::{BLOCK, lock, regular, resolve};
use super::{HeaderFile, Invalid, LoadError, NewFile, Recovery};
use crate::{
    Checksum, Editor, Entry, Header, Options, PREFIX_LEN, StreamError, WriteError, WriteErrorKind,
    raw,
};

/// Changes a file: its metadata, the names of tensors, their data. It is [`Editor`] for what does not
/// fit memory; nothing but the header is read, unless there is a [`Checksum`]. That is kept right: it is
/// compared before the file is saved, and made anew.
///
/// Nothing is written before [`save`](FileEditor::save), which leaves a whole file whatever happens, or
/// [`save_in_place`](FileEditor::save_in_place).
///
/// ```
/// use safetensors_core::host::FileEditor;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// # std::fs::copy("examples/digits/digits.safetensors", &path)?;
/// let mut editor = FileEditor::open(&path)?;
/// editor.set_metadata("license", "MIT")?;
/// editor.rename("fc2.bias", "output.bias")?;
/// editor.overwrite("output.bias", &[0; 40])?;
/// editor.save()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileEditor<'data> {
    path: PathBuf,
    file: File,
    file_len: u64,
    modified: SystemTime,
    /// The beginning of the file up to its data.
    old_head: Vec<u8>,
    new_head: Vec<u8>,
    /// What the new one takes at least.
    needed: usize,
    /// What is put into the data section, by the offset in it.
    overwritten: BTreeMap<u64, &'data [u8]>,
    /// Whether the file gets a checksum though it has none, or a wrong one.
    new_checksum: bool,
}

impl<'data> FileEditor<'data> {
    /// Reads the header of the file at `path` and checks it by every rule.
    ///
    /// # Errors
    /// Those of [`HeaderFile::open`]; [`LoadError::Io`] as well if it is no regular file, or
    /// ([`AlreadyExists`](io::ErrorKind::AlreadyExists)) if there is a [`Recovery`] file beside it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = resolve(path.as_ref())?;
        Recovery::refuse(&path)?;
        // Before it is opened: a pipe would wait for somebody to write.
        regular(fs::metadata(&path)?)?;
        let file = File::open(&path)?;
        let metadata = regular(file.metadata()?)?;
        let (file_len, modified) = (metadata.len(), metadata.modified()?);
        let old_head = HeaderFile::read(&file, Some(file_len))?.into_head();
        let new_head = old_head.clone();
        Ok(Self {
            path,
            file,
            file_len,
            modified,
            old_head,
            new_head,
            needed: 0,
            overwritten: BTreeMap::new(),
            new_checksum: false,
        })
    }

    /// The header as it is now.
    #[must_use]
    pub fn header(&self) -> Header<'_> {
        Header::trusted(&self.new_head)
    }

    /// [`Editor::set_metadata`].
    ///
    /// # Errors
    /// [`HeaderTooLarge`](WriteErrorKind::HeaderTooLarge).
    pub fn set_metadata(&mut self, key: &str, value: &str) -> Result<(), WriteError> {
        self.edit(|editor| editor.set_metadata(key, value))
    }

    /// [`Editor::remove_metadata`].
    ///
    /// # Errors
    /// None.
    pub fn remove_metadata(&mut self, key: &str) -> Result<bool, WriteError> {
        self.edit(|editor| editor.remove_metadata(key))
    }

    /// [`Editor::rename`].
    ///
    /// # Errors
    /// Those of [`Editor::rename`].
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), WriteError> {
        self.edit(|editor| editor.rename(from, to))
    }

    /// [`Editor::reserve`].
    ///
    /// # Errors
    /// [`HeaderTooLarge`](WriteErrorKind::HeaderTooLarge).
    pub fn reserve(&mut self, bytes: u32) -> Result<(), WriteError> {
        self.edit(|editor| editor.reserve(bytes))
    }

    /// Stores the [`Checksum`] of the file in its metadata, whatever stands there now. All data is read for
    /// it when the file is saved.
    ///
    /// # Errors
    /// [`HeaderTooLarge`](WriteErrorKind::HeaderTooLarge).
    pub fn set_checksum(&mut self) -> Result<(), WriteError> {
        self.new_checksum = true;
        self.set_metadata(Checksum::KEY, Checksum::PLACEHOLDER)
    }

    /// Replaces the data of the tensor called `name` by as many other bytes.
    ///
    /// # Errors
    /// [`NoSuchTensor`](WriteErrorKind::NoSuchTensor), and [`WrongDataLen`](WriteErrorKind::WrongDataLen) with
    /// the bytes that it must have.
    pub fn overwrite(&mut self, name: &str, data: &'data [u8]) -> Result<(), WriteError> {
        let tensor = self.header().entries().find_map(|entry| match entry {
            Ok(Entry::Tensor(tensor)) if tensor.name() == name => Some(tensor),
            _ => None,
        });
        let Some(tensor) = tensor else {
            return Err(WriteError::of_file(WriteErrorKind::NoSuchTensor, 0));
        };
        if raw::wide(data.len()) != tensor.data_len() {
            return Err(WriteError::of_file(WriteErrorKind::WrongDataLen, tensor.data_len()));
        }
        let offset = tensor.data_offsets().0;
        // Tensors without data may share their offset with another.
        if !data.is_empty() {
            self.overwritten.insert(offset, data);
        }
        Ok(())
    }

    /// Whether the header fits where the old one is, so that [`save_in_place`](FileEditor::save_in_place)
    /// can do it.
    #[must_use]
    pub fn fits_in_place(&self) -> bool {
        self.new_head.len() == self.old_head.len()
    }

    /// Writes a new file with the changes and puts it in place of the old one, as [`NewFile`] says. If
    /// its data has to be moved, that of files over 16 MiB is moved by multiples of 64 KiB, so that the
    /// operating system can copy it, or share it.
    ///
    /// # Errors
    /// Those of the operating system; [`InvalidData`](io::ErrorKind::InvalidData) if the file was changed in
    /// the meantime or has not the checksum in its metadata,
    /// [`ResourceBusy`](io::ErrorKind::ResourceBusy) if it is being changed.
    pub fn save(mut self) -> io::Result<()> {
        lock(&self.file)?;
        self.check_unchanged(&fs::metadata(&self.path)?)?;
        self.renew_checksum(&mut self.file.try_clone()?)?;
        let (old_start, new_start) =
            (raw::wide(self.old_head.len()), raw::wide(self.new_head.len()));
        let mut new = NewFile::create(&self.path)?;
        new.write_all(&self.new_head)?;
        self.file.seek(SeekFrom::Start(old_start))?;
        new.copy_from(&mut self.file, self.file_len.saturating_sub(old_start))?;
        for (offset, data) in &self.overwritten {
            new.seek(SeekFrom::Start(new_start.saturating_add(*offset)))?;
            new.write_all(data)?;
        }
        self.check_unchanged(&fs::metadata(&self.path)?)?;
        new.commit()
    }

    /// Writes the changes into the file itself, whose data is neither copied nor moved. What they
    /// replace is kept in a [`Recovery`] file beside it until they are synced. Programs that have the
    /// file open or mapped see them.
    ///
    /// # Errors
    /// [`NoRoomInPlace`](WriteErrorKind::NoRoomInPlace) if the header does not
    /// [fit](FileEditor::fits_in_place). [`StreamError::Sink`] with the error of the operating system:
    /// [`InvalidData`](io::ErrorKind::InvalidData) if the file was changed in the meantime or has not the
    /// checksum in its metadata, [`ResourceBusy`](io::ErrorKind::ResourceBusy) if it is being changed. The
    /// file is then as it was, or, if that can't be done, the recovery file is still there.
    pub fn save_in_place(mut self) -> Result<(), StreamError<io::Error>> {
        self.check_room()?;
        let mut file = self.lock_in_place().map_err(StreamError::Sink)?;
        self.renew_checksum(&mut file).map_err(StreamError::Sink)?;
        // Whatever stood in the place of the checksum may have been shorter.
        self.check_room()?;
        self.write_in_place(file).map_err(StreamError::Sink)
    }

    /// That the header fits in place of the old one: behind it there is data.
    fn check_room(&self) -> Result<(), StreamError<io::Error>> {
        if self.fits_in_place() {
            return Ok(());
        }
        let missing = raw::wide(self.needed.saturating_sub(self.old_head.len()));
        let error = WriteError::of_file(WriteErrorKind::NoRoomInPlace, missing);
        Err(StreamError::Write(error))
    }

    fn lock_in_place(&self) -> io::Result<File> {
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        lock(&file)?;
        Ok(file)
    }

    fn write_in_place(&self, mut file: File) -> io::Result<()> {
        let mut head = Vec::new();
        file.rewind()?;
        Read::by_ref(&mut file).take(raw::wide(self.old_head.len())).read_to_end(&mut head)?;
        // Times may be too coarse to tell.
        if head != self.old_head {
            return Err(changed());
        }
        self.check_unchanged(&file.metadata()?)?;
        let places = self.places();
        let recovery = Recovery::store(&self.path, &mut file, &places)?;
        let written = places.iter().try_for_each(|(at, bytes)| {
            file.seek(SeekFrom::Start(*at))?;
            file.write_all(bytes)
        });
        match written.and_then(|()| file.sync_all()) {
            Ok(()) => recovery.remove(),
            Err(error) => {
                // It takes the lock itself.
                drop(file);
                // If that fails as well the recovery file stays, and is found.
                let _ = recovery.restore();
                Err(error)
            }
        }
    }

    /// Makes the checksum that of the new file, if there is to be one. The data is read once, for this one
    /// and the one of the old file, which must be right: a fault is not to be sealed.
    fn renew_checksum(&mut self, file: &mut File) -> io::Result<()> {
        let (old, new) = (Header::trusted(&self.old_head), self.header());
        let mut before = match Checksum::of(&old) {
            Ok(checksum) if !self.new_checksum => Some(checksum),
            _ => None,
        };
        let kept = new.metadata().is_some_and(|metadata| metadata.value(Checksum::KEY).is_some());
        if before.is_none() && !self.new_checksum || !kept {
            return Ok(());
        }
        self.edit(|editor| editor.set_metadata(Checksum::KEY, Checksum::PLACEHOLDER))
            .map_err(invalid)?;
        let mut after = Checksum::of(&self.header()).map_err(invalid)?;
        file.seek(SeekFrom::Start(raw::wide(self.old_head.len())))?;
        let mut offset: u64 = 0;
        each_block(file, |block| {
            if let Some(before) = &mut before {
                before.update(block);
            }
            let len = raw::wide(block.len());
            self.overlay(offset, block);
            after.update(block);
            offset = offset.saturating_add(len);
        })?;
        if let Some(Err(error)) = before.map(|before| before.check()) {
            return Err(invalid(LoadError::Invalid(Invalid::new(error, self.old_head.clone()))));
        }
        let digits = after.digits();
        let digits = str::from_utf8(&digits).unwrap_or_default();
        self.edit(|editor| editor.set_metadata(Checksum::KEY, digits)).map_err(invalid)
    }

    /// Puts what is overwritten into a block of the data that begins at `offset`.
    fn overlay(&self, offset: u64, block: &mut [u8]) {
        let end = offset.saturating_add(raw::wide(block.len()));
        for (at, data) in self.overwritten.range(..end) {
            // Where the data begins in the block, or the block in the data.
            let (to, from) = (at.saturating_sub(offset), offset.saturating_sub(*at));
            let (Some(to), Some(from)) = (raw::size(to), raw::size(from)) else { continue };
            let (to, from) = (block.get_mut(to..), data.get(from..));
            let pairs = to.unwrap_or_default().iter_mut().zip(from.unwrap_or_default());
            pairs.for_each(|(to, from)| *to = *from);
        }
    }

    /// What another program wrote since this one read the header would be lost.
    fn check_unchanged(&self, now: &Metadata) -> io::Result<()> {
        let then = self.file.metadata()?;
        // A file that took its place may be as long and as old.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if (now.dev(), now.ino()) != (then.dev(), then.ino()) {
                return Err(changed());
            }
        }
        for metadata in [now, &then] {
            if (metadata.len(), metadata.modified()?) != (self.file_len, self.modified) {
                return Err(changed());
            }
        }
        Ok(())
    }

    /// What is to be written, and where in the file.
    fn places(&self) -> Vec<(u64, &[u8])> {
        let data_start = raw::wide(self.old_head.len());
        let mut places = Vec::from([(0, &*self.new_head)]);
        let at = |(offset, data): (&u64, &&'data [u8])| (data_start.saturating_add(*offset), *data);
        places.extend(self.overwritten.iter().map(at));
        places
    }

    /// Moves the data of a large file by whole blocks if it has to be moved: the operating system then
    /// can copy it, or share it between both files. The spaces are room for changes in place.
    fn keep_blocks(&mut self) {
        let block = raw::size(BLOCK).unwrap_or(1);
        let more = self.new_head.len().saturating_sub(self.old_head.len());
        let len = self.old_head.len().saturating_add(more.next_multiple_of(block));
        let json_len = raw::wide(len.saturating_sub(PREFIX_LEN));
        if self.file_len >= LARGE && json_len <= Options::DEFAULT_HEADER_LIMIT.into() {
            self.new_head.resize(len, b' ');
            if let Some(prefix) = self.new_head.first_chunk_mut() {
                *prefix = json_len.to_le_bytes();
            }
        }
    }

    /// Makes a change, with more room if need be.
    fn edit<R>(
        &mut self,
        change: impl Fn(&mut Editor<'_>) -> Result<R, WriteError>,
    ) -> Result<R, WriteError> {
        let len = self.new_head.len();
        loop {
            let mut editor = Editor::trusted(&mut self.new_head, len);
            match change(&mut editor) {
                Err(error) if error.kind() == WriteErrorKind::BufferTooSmall => {
                    self.new_head.resize(raw::size(error.number()).unwrap_or(usize::MAX), 0);
                }
                result => {
                    let len = editor.finish().len();
                    self.new_head.truncate(len);
                    self.needed = len;
                    self.keep_blocks();
                    return result;
                }
            }
        }
    }
}

/// Smaller files are copied in no time, and shall not grow by a block.
const LARGE: u64 = 1 << 24;

fn changed() -> io::Error {
    invalid("the file was changed in the meantime")
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl fmt::Debug for FileEditor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileEditor").field("path", &self.path).finish_non_exhaustive()
    }
}
