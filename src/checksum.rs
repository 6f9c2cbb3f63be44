//! A checksum in the metadata, over the whole file.

use core::convert::Infallible;
use core::fmt;
use core::str;

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

use crate::digits::hex8;
use crate::header::text::Text;
use crate::raw::{self, FAST};
use crate::write::without_sink;
use crate::{
    Editor, Error, ErrorKind, Header, MetadataPair, Plan, SafeTensors, Stream, WriteError,
    WriteErrorKind,
};

/// A table of 16 KiB where speed counts, of 1 KiB elsewhere.
type Lookup = Table<{ if FAST { 16 } else { 1 } }>;

static CRC: Crc<u32, Lookup> = Crc::<u32, Lookup>::new(&CRC_32_ISO_HDLC);

/// The checksum of a file, which is compared with the one in its metadata: a model in flash that was cut
/// off, or of which a bit flipped, is found at boot.
///
/// It is the CRC-32 of zlib, Ethernet and PNG (CRC-32/ISO-HDLC) of **all bytes of the file**, the header
/// included, in which the checksum's own eight digits count as `0`. It stands in the metadata under the
/// key [`safetensors_core.crc32`](Self::KEY) as eight lower-case hexadecimal digits. Every change of the
/// file makes it wrong, or, in the key, [missing](ErrorKind::ChecksumMissing): refuse a file without one where
/// one is expected. It finds accidents, not attackers: who changes a file can change it as well.
///
/// | at hand | to check it | to store it |
/// |---|---|---|
/// | the whole file | [`SafeTensors::check_checksum`] | [`Editor::set_checksum`] |
/// | a file in storage | [`StoredSafeTensors::check_checksum`](crate::StoredSafeTensors::check_checksum) | |
/// | what is to be written | | [`Plan::checksum`] |
/// | the header, then the data piece by piece | `Checksum` itself | [`place`](Self::place) and [`digits`](Self::digits) |
/// | a file on a disk | `safetensors verify` | `safetensors metadata --checksum` |
///
/// In Python it is stored with the zeros and then put right:
///
/// ```python
/// import zlib
/// import safetensors.torch
///
/// key = "safetensors_core.crc32"
/// file = bytearray(safetensors.torch.save(tensors, {key: "00000000"}))
/// at = file.index(f'"{key}":"'.encode()) + len(key) + 4
/// file[at:at + 8] = b"%08x" % zlib.crc32(file)
/// ```
///
/// ```
/// use safetensors_core::{Checksum, Editor, ErrorKind, SafeTensors, Slot};
///
/// # let file = include_bytes!("../examples/digits/digits.safetensors");
/// let mut buffer = [0; 11_000];
/// buffer[..file.len()].copy_from_slice(file);
/// let mut editor = Editor::open(&mut buffer, file.len())?;
/// editor.set_checksum()?;
/// let file = editor.finish();
///
/// let mut slots = [Slot::EMPTY; 8];
/// SafeTensors::parse(file, &mut slots)?.check_checksum()?;
///
/// // A bit of the last number flips.
/// file[file.len() - 1] ^= 1;
/// let error = SafeTensors::parse(file, &mut slots)?.check_checksum().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ChecksumMismatch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Checksum {
    digest: Digest<'static, u32, Lookup>,
    pub(crate) stored: u32,
    place: usize,
}

impl Checksum {
    /// Under which key it stands in the metadata.
    pub const KEY: &str = "safetensors_core.crc32";

    /// What stands there before it is known.
    pub const PLACEHOLDER: &str = "00000000";

    /// Begins with the header. The data follows with [`update`](Self::update).
    ///
    /// # Errors
    /// [`ChecksumMissing`](ErrorKind::ChecksumMissing) if the metadata has no such key,
    /// [`ChecksumInvalid`](ErrorKind::ChecksumInvalid) if its value is not eight hexadecimal digits, of
    /// which letters are lower-case, without escapes.
    pub fn of(header: &Header<'_>) -> Result<Self, Error> {
        let key = Text::from(Self::KEY);
        let pair = header.metadata().and_then(|metadata| metadata.find(&key).ok());
        let Some(pair) = pair else {
            return Err(Error::new(ErrorKind::ChecksumMissing, 0, 0));
        };
        // Without the quotes.
        let (start, end) = (pair.value.start.wrapping_add(1), pair.value.end.wrapping_sub(1));
        let bytes = header.bytes();
        let digits = <&[u8; 8]>::try_from(raw::range(bytes, start, end));
        let Some(stored) = digits.ok().and_then(value) else {
            return Err(Error::new(ErrorKind::ChecksumInvalid, raw::wide(start), 0));
        };
        let mut checksum = Self { digest: CRC.digest(), stored, place: start };
        checksum.update(raw::range(bytes, 0, start));
        checksum.update(Self::PLACEHOLDER.as_bytes());
        checksum.update(raw::range(bytes, end, bytes.len()));
        Ok(checksum)
    }

    /// Goes on with the next bytes of the data section.
    pub fn update(&mut self, data: &[u8]) {
        self.digest.update(data);
    }

    /// Where its first digit stands, in bytes from the start of the file.
    #[must_use]
    pub const fn place(&self) -> u64 {
        raw::wide(self.place)
    }

    /// The digits that belong [there](Self::place), if all data was given.
    #[must_use]
    pub fn digits(&self) -> [u8; 8] {
        hex8(self.value())
    }

    /// Compares it with the one that is stored, after all data was given.
    ///
    /// # Errors
    /// [`ChecksumMismatch`](ErrorKind::ChecksumMismatch).
    pub fn check(&self) -> Result<(), Error> {
        let value = self.value();
        if value == self.stored {
            return Ok(());
        }
        Err(Error::new(ErrorKind::ChecksumMismatch, self.place(), value.into()))
    }

    pub(crate) fn value(&self) -> u32 {
        self.digest.clone().finalize()
    }
}

/// The number that eight digits stand for.
fn value(digits: &[u8; 8]) -> Option<u32> {
    if digits.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    Some(raw::hex4(digits, 0)? << 16 | raw::hex4(digits, 4)?)
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checksum { value: ")?;
        f.write_str(str::from_utf8(&self.digits()).unwrap_or_default())?;
        f.write_str(", stored: ")?;
        f.write_str(str::from_utf8(&hex8(self.stored)).unwrap_or_default())?;
        f.write_str(" }")
    }
}

impl SafeTensors<'_, '_> {
    /// Compares the file with the [`Checksum`] in its metadata. Reads all of it.
    ///
    /// # Errors
    /// [`ChecksumMissing`](ErrorKind::ChecksumMissing), [`ChecksumInvalid`](ErrorKind::ChecksumInvalid),
    /// [`ChecksumMismatch`](ErrorKind::ChecksumMismatch).
    pub fn check_checksum(&self) -> Result<(), Error> {
        let mut checksum = Checksum::of(&self.index().header())?;
        checksum.update(self.data());
        checksum.check()
    }
}

impl Editor<'_> {
    /// Stores the [`Checksum`] of the file in its metadata. It is wrong after the next change, so this
    /// comes last.
    ///
    /// # Errors
    /// [`MissingData`](WriteErrorKind::MissingData) if the data is not in the buffer, or not all of it, and
    /// those of [`set_metadata`](Editor::set_metadata).
    pub fn set_checksum(&mut self) -> Result<(), WriteError> {
        let header = self.header();
        let end =
            header.scan().map_or(0, |scan| scan.data_len()).saturating_add(header.data_start());
        let missing = end.saturating_sub(raw::wide(self.file().len()));
        if missing > 0 {
            return Err(WriteError::of_file(WriteErrorKind::MissingData, missing));
        }
        self.set_metadata(Checksum::KEY, Checksum::PLACEHOLDER)?;
        let header = self.header();
        // It is there now.
        let Ok(mut checksum) = Checksum::of(&header) else { return Ok(()) };
        checksum.update(raw::range(self.file(), header.bytes().len(), self.file().len()));
        let digits = checksum.digits();
        self.set_metadata(Checksum::KEY, str::from_utf8(&digits).unwrap_or_default())
    }
}

impl Plan<'_> {
    /// The digits of the [`Checksum`] of the file, if its metadata has the [key](Checksum::KEY); a plan that
    /// is the same but for those digits as its value writes a file that has the checksum.
    ///
    /// ```
    /// use safetensors_core::{Checksum, Dtype, MetadataPair, TensorSpec, WriteOptions};
    ///
    /// let mut tensors = [TensorSpec::new("w", Dtype::U8, &[3]).with_data(&[1, 2, 3])];
    /// let mut metadata = [MetadataPair::new(Checksum::KEY, Checksum::PLACEHOLDER)];
    /// let digits = WriteOptions::new().plan(&mut tensors, Some(&mut metadata))?.checksum()?;
    /// let digits = str::from_utf8(&digits)?;
    ///
    /// let mut metadata = [MetadataPair::new(Checksum::KEY, digits)];
    /// let plan = WriteOptions::new().plan(&mut tensors, Some(&mut metadata))?;
    /// # let mut buffer = [0; 200];
    /// # let file = plan.write_into(&mut buffer)?;
    /// # let mut slots = [safetensors_core::Slot::EMPTY; 1];
    /// # safetensors_core::SafeTensors::parse(file, &mut slots)?.check_checksum()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ChecksumMissing`](WriteErrorKind::ChecksumMissing) if the metadata has no such key, or another value
    /// than the [placeholder](Checksum::PLACEHOLDER); [`MissingData`](WriteErrorKind::MissingData) for a tensor
    /// without data.
    pub fn checksum(&self) -> Result<[u8; 8], WriteError> {
        let is_placeholder = |pair: &MetadataPair<'_>| {
            pair.key() == Checksum::KEY && pair.value() == Checksum::PLACEHOLDER
        };
        if !self.metadata().unwrap_or_default().iter().any(is_placeholder) {
            return Err(WriteError::of_file(WriteErrorKind::ChecksumMissing, 0));
        }
        let mut digest = CRC.digest();
        let sink = |bytes: &[u8]| {
            digest.update(bytes);
            Ok::<_, Infallible>(bytes.len())
        };
        let _ = self.stream(sink).and_then(Stream::finish).map_err(without_sink)?;
        Ok(hex8(digest.finalize()))
    }
}
