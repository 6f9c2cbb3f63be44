//! Source code that holds a model, for projects that want no parser at all.

mod c;
mod names;
mod rust;
mod values;

use core::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::string::{String, ToString};
use std::vec::Vec;

use super::new_file::regular;
use super::{HeaderFile, LoadError, Recovery};
use crate::{Dtype, Index, TensorInfo, Text};
pub use names::identifier;

/// Writes the tensors of a file as constants of C or Rust: arrays of their shape, aligned, with static
/// assertions of their sizes, and the metadata as strings.
///
/// | dtype | C | Rust |
/// |---|---|---|
/// | F64, F32 | `double`, `float`, as hexadecimal floats | `f64`, `f32`, as decimals |
/// | I8 … U64 | `int8_t` … `uint64_t` | `i8` … `u64` |
/// | C64 | `float` with a last dimension of 2 | `[f32; 2]` |
/// | BOOL, F8 | `uint8_t`, the codes | `u8` |
/// | F16, BF16 | `uint16_t`, the codes | `u16` |
/// | F6, F4 | `uint8_t`, the packed bytes, one dimension | `u8` |
///
/// Every number comes out as it is, on machines of either endianness; only of NaN in C the payload is lost.
/// The data is read piece by piece, so memory does not grow with it; but the source is several times as long,
/// and compilers take long, and much memory, for many megabytes. Tensors of more than 11 dimensions are
/// arrays of one.
///
/// A name becomes an [`identifier`]. If two names become one, the second is called `…_2`. Whatever strangers write into a file, names, keys, values, can't
/// become code: it stands in comments and strings, escaped.
///
/// ```
/// use safetensors_core::host::Embed;
///
/// let model = Embed::open("examples/digits/digits.safetensors", "digits")?;
/// let mut header = Vec::new();
/// model.write_c_header(&mut header)?;
/// let header = String::from_utf8(header)?;
/// assert!(header.contains("extern const float digits_fc1_weight[32][64];"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Embed {
    file: File,
    header: HeaderFile,
    /// What the comment at the top calls the file.
    source: String,
    prefix: String,
    align: u32,
    section: Option<String>,
}

/// A tensor, and what it is called.
struct Tensor<'a> {
    info: TensorInfo<'a>,
    /// The lengths of the array.
    dims: Vec<u64>,
    name: String,
}

/// A pair of the metadata, and what it is called.
struct Pair<'a> {
    key: Text<'a>,
    value: Text<'a>,
    name: String,
}

impl Embed {
    /// What stands in the first line of what is written; so that it can be told from what somebody wrote by
    /// hand.
    pub const MARK: &str = "Made by `safetensors embed`";

    /// Reads the header of the file at `path` and checks it by every rule. In C all identifiers begin with
    /// `prefix`, made an [`identifier`].
    ///
    /// # Errors
    /// Those of [`HeaderFile::open`]; [`LoadError::Io`] as well if it is no regular file, or if there is a
    /// [`Recovery`] file beside it.
    pub fn open(path: impl AsRef<Path>, prefix: &str) -> Result<Self, LoadError> {
        let path = path.as_ref();
        Recovery::refuse(path)?;
        // Before it is opened: a pipe would wait for somebody to write.
        regular(fs::metadata(path)?)?;
        let file = File::open(path)?;
        let file_len = regular(file.metadata()?)?.len();
        let header = HeaderFile::read(&file, Some(file_len))?;
        let source = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { file, header, source, prefix: identifier(prefix), align: 16, section: None })
    }

    /// Lets the data of each tensor begin at a multiple of `bytes`, a power of two, 16 by default.
    #[must_use]
    pub fn align(self, bytes: u32) -> Self {
        Self { align: bytes.next_power_of_two(), ..self }
    }

    /// Puts the data into a section of that name. In C that takes GCC or Clang.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) unless it consists of ASCII letters, digits, `.`, `_`
    /// and `-`.
    pub fn section(self, name: &str) -> io::Result<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_plain) {
            let text = "a section's name consists of letters, digits, `.`, `_` and `-`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(Self { section: Some(name.into()), ..self })
    }

    /// The header of the file.
    #[must_use]
    pub fn index(&self) -> Index<'_, '_> {
        self.header.index()
    }

    /// Writes the header, C99 or later or C++11 or later: declarations and sizes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_c_header(&self, out: impl Write) -> io::Result<()> {
        c::header(self, out)
    }

    /// Writes the source, C99 or later: the numbers. `header` is the name of the header's file.
    ///
    /// # Errors
    /// Those of `out`, and of the file that is read.
    pub fn write_c_source(&self, header: &str, out: impl Write) -> io::Result<()> {
        c::source(self, header, out)
    }

    /// Writes a Rust module that needs nothing but `core`.
    ///
    /// # Errors
    /// Those of `out`, and of the file that is read.
    pub fn write_rust(&self, out: impl Write) -> io::Result<()> {
        rust::module(self, out)
    }

    /// The tensors in the order of their data, each with the name that it is given.
    fn tensors(&self, mut name: impl FnMut(&str) -> String) -> Vec<Tensor<'_>> {
        let tensors = self.index().iter_by_offset().map(|info| Tensor {
            name: name(&info.name().to_string()),
            dims: dims(&info),
            info,
        });
        tensors.collect()
    }

    /// The metadata, likewise.
    fn pairs(&self, mut name: impl FnMut(&str) -> String) -> Vec<Pair<'_>> {
        let pairs = self.index().metadata().into_iter().flatten();
        pairs.map(|(key, value)| Pair { name: name(&key.to_string()), key, value }).collect()
    }

    /// What stands at the top.
    fn notice(&self) -> String {
        let (name, version) = (comment(&Text::from(&*self.source)), env!("CARGO_PKG_VERSION"));
        std::format!("{} {version} from {name}. Not to be edited.", Self::MARK)
    }
}

/// Tensors with more dimensions become arrays with one: compilers of C need not take more.
const MAX_RANK: usize = 11;

/// The lengths of the array that holds a tensor.
fn dims(info: &TensorInfo<'_>) -> Vec<u64> {
    match info.dtype() {
        // Packed: as bytes.
        Dtype::F4 | Dtype::F6_E2M3 | Dtype::F6_E3M2 => Vec::from([info.data_len()]),
        dtype if info.shape().rank() > MAX_RANK => {
            let numbers = if dtype == Dtype::C64 { 2 } else { 1 };
            Vec::from([info.shape().element_count().saturating_mul(numbers)])
        }
        Dtype::C64 => info.shape().iter().chain([2]).collect(),
        _ => info.shape().iter().collect(),
    }
}

/// How a tensor is described in a comment.
fn description(info: &TensorInfo<'_>) -> String {
    std::format!("{}: {} {}", comment(&info.name()), info.dtype(), info.shape())
}

/// A text in quotes as it can stand in a comment of C or Rust: ASCII, in one line, and nothing in it ends
/// the comment or begins another.
fn comment(text: &Text<'_>) -> String {
    /// Longer ones are cut.
    const LIMIT: usize = 200;
    let mut shown = String::new();
    for character in text.quoted().to_string().chars() {
        if shown.len() > LIMIT {
            return shown + "...\"";
        }
        match character {
            // `*/`, `/*` and trigraphs.
            '*' | '/' | '?' if shown.ends_with(['*', '/', '?']) => shown.push(' '),
            _ => {}
        }
        match character {
            ' '..='~' => shown.push(character),
            // Backslashes are at ends of lines alone a danger, and this ends with a quote.
            _ => shown.extend(character.escape_unicode()),
        }
    }
    shown
}

impl fmt::Debug for Embed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embed")
            .field("index", &self.index())
            .field("prefix", &self.prefix)
            .field("align", &self.align)
            .field("section", &self.section)
            .finish_non_exhaustive()
    }
}
