//! Strings of the header: checked JSON text that is unescaped when asked, without memory.

use core::cmp::Ordering;
use core::fmt::{self, Write};
use core::hash::{Hash, Hasher as CoreHasher};
use core::str::{self, Chars as StrChars};

use super::quoted::Quoted;
#[cfg(feature = "defmt")]
use super::quoted::Shown;
use super::scan;
use crate::raw::{self, FAST, Hasher, WORD};
use crate::siphash::SipHasher;
use crate::{Error, buffer};

/// A string of the header: the name of a tensor, a metadata key or a metadata value. A `str` can be
/// one, too: to be written into a header, or to be shown [in quotes](Text::quoted).
///
/// It borrows the header. Escapes (`\n`, `\u00e9`, surrogate pairs) are resolved on the way: two
/// texts are equal, ordered and hashed by the characters they stand for, and compare with `str`.
///
/// ```
/// # use safetensors_core::{Header, Entry};
/// let file = b"\x19\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"\\u00e9\"}}";
/// # let mut file = file.to_vec(); file[0] = file.len() as u8 - 8;
/// let value = Header::read(&file)?.metadata().unwrap().value("k").unwrap();
/// assert_eq!(value, "é");
/// assert_eq!(value.raw(), b"\\u00e9");
/// let mut buffer = [0; 8];
/// assert_eq!(value.decode_into(&mut buffer)?, "é");
/// # Ok::<(), safetensors_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Text<'data> {
    raw: &'data [u8],
    escaped: bool,
}

impl<'data> Text<'data> {
    /// `raw` must be what stands between the quotes of a string that the scanner accepted.
    pub(crate) const fn new(raw: &'data [u8], escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The text as it stands in the header between the quotes, escapes and all; of a `str` its bytes.
    #[must_use]
    pub const fn raw(&self) -> &'data [u8] {
        self.raw
    }

    /// The text itself, when it needs no unescaping; almost every name is such a text.
    #[must_use]
    pub const fn as_str(&self) -> Option<&'data str> {
        if self.escaped {
            return None;
        }
        match str::from_utf8(self.raw) {
            Ok(text) => Some(text),
            Err(_) => None,
        }
    }

    /// [`Text::as_str`] without looking at the bytes again.
    #[inline(always)]
    pub(crate) const fn as_plain(&self) -> Option<&'data [u8]> {
        if self.escaped { None } else { Some(self.raw) }
    }

    /// The length in bytes of UTF-8, unescaped.
    #[must_use]
    pub const fn len(&self) -> usize {
        if !self.escaped {
            return self.raw.len();
        }
        let mut bytes = self.bytes();
        let mut len: usize = 0;
        while bytes.next().is_some() {
            len = len.wrapping_add(1);
        }
        len
    }

    /// Whether the text is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The characters, unescaped.
    #[must_use]
    pub fn chars(&self) -> Chars<'data> {
        match self.as_str() {
            Some(text) => Chars { run: text.chars(), rest: &[] },
            None => Chars { run: "".chars(), rest: self.raw },
        }
    }

    /// Copies the unescaped text into `buffer` and returns it as `str`.
    ///
    /// # Errors
    /// [`BufferTooSmall`](crate::ErrorKind::BufferTooSmall), with the bytes needed as its number.
    pub fn decode_into<'buffer>(&self, buffer: &'buffer mut [u8]) -> Result<&'buffer str, Error> {
        let len = self.len();
        let buffer = buffer::prefix(buffer, len, 0)?;
        let mut bytes = self.bytes();
        for to in buffer.iter_mut() {
            *to = bytes.next().unwrap_or(0);
        }
        Ok(str::from_utf8(buffer).unwrap_or(""))
    }

    /// Whether this is the text `other`; `==` that can be used in a `const`.
    #[must_use]
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub const fn is(&self, other: &str) -> bool {
        match self.as_plain() {
            Some(plain) if FAST => raw::equal(plain, other.as_bytes()),
            _ => self.compare(&Text::new(other.as_bytes(), false)).is_eq(),
        }
    }

    /// The text in quotes, with everything escaped that could mislead a terminal or a reader:
    /// control characters, bidirectional controls, zero-width characters, quotes, backslashes.
    /// [`Debug`](fmt::Debug) shows a text this way, and with the feature `defmt` so does a log.
    ///
    /// ```
    /// # use safetensors_core::Header;
    /// # let mut file = b"\0\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"\\u001b[2J\"}}".to_vec();
    /// # file[0] = file.len() as u8 - 8;
    /// # let value = Header::read(&file)?.metadata().unwrap().value("k").unwrap();
    /// assert_eq!(value.quoted().to_string(), "\"\\u{1b}[2J\"");
    /// # Ok::<(), safetensors_core::Error>(())
    /// ```
    #[must_use]
    pub const fn quoted(&self) -> Quoted<'data> {
        Quoted::new(*self)
    }

    /// Orders by the bytes of the unescaped text, as `str` does.
    pub(crate) const fn compare(&self, other: &Text<'_>) -> Ordering {
        if FAST && !self.escaped && !other.escaped {
            return raw::compare(self.raw, other.raw);
        }
        let (mut a, mut b) = (self.bytes(), other.bytes());
        loop {
            return match (a.next(), b.next()) {
                (Some(a), Some(b)) if a == b => continue,
                (Some(a), Some(b)) => {
                    if a < b {
                        Ordering::Less
                    } else {
                        Ordering::Greater
                    }
                }
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
            };
        }
    }

    /// The hash of the unescaped text.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn hash(&self) -> u32 {
        match self.as_plain() {
            Some(plain) if FAST => Hasher::hash(plain),
            _ => self.hash_bytes(),
        }
    }

    #[cfg_attr(target_pointer_width = "64", cold)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    const fn hash_bytes(&self) -> u32 {
        let mut bytes = self.bytes();
        let mut hasher = Hasher::new();
        let mut len: usize = 0;
        loop {
            let (first, more) = bytes.next_word();
            let (second, end) = bytes.next_word();
            len = len.wrapping_add(more).wrapping_add(end);
            if end < WORD {
                return hasher.finish(first, second, len);
            }
            hasher = hasher.add(first, second);
        }
    }

    /// The [SipHash](SipHasher) of the unescaped text, on machines whose words are as long as it takes.
    pub(crate) const fn hash_with(&self, key: u32) -> u32 {
        let key = [raw::wide32(key), 0];
        if let Some(plain) = self.as_plain() {
            return raw::low_bits(SipHasher::hash(plain, key));
        }
        let mut bytes = self.bytes();
        let mut hasher = SipHasher::new(key);
        let mut len: usize = 0;
        loop {
            let (word, more) = bytes.next_word();
            len = len.wrapping_add(more);
            if more < WORD {
                return raw::low_bits(hasher.finish(raw::wide(word), raw::wide(len)));
            }
            hasher = hasher.add(raw::wide(word));
        }
    }

    pub(crate) const fn bytes(&self) -> Bytes<'data> {
        Bytes { rest: self.raw, escaped: self.escaped, code: 0, left: 0 }
    }
}

/// The unescaped bytes of a text.
pub(crate) struct Bytes<'data> {
    rest: &'data [u8],
    /// If not, a backslash is just that: the text is a caller's.
    escaped: bool,
    /// A character that was escaped, of whose UTF-8 the last `left` bytes are still to come.
    code: u32,
    left: u32,
}

impl Bytes<'_> {
    pub(crate) const fn next(&mut self) -> Option<u8> {
        if self.left > 0 {
            self.left = self.left.wrapping_sub(1);
            let bits = raw::low_byte(raw::index(self.code >> self.left.wrapping_mul(6)));
            return Some(0x80 | bits & 0x3f);
        }
        let Some((first, rest)) = self.rest.split_first() else { return None };
        if *first != b'\\' || !self.escaped {
            self.rest = rest;
            return Some(*first);
        }
        if FAST
            && let [_, second, rest @ ..] = self.rest
            && *second != b'u'
        {
            self.rest = rest;
            return Some(scan::unescape_short(*second));
        }
        let (character, rest) = scan::unescape(self.rest);
        self.rest = rest;
        self.code = raw::code(character);
        // The first byte says how many follow, and has the bits that these leave.
        let (follow, mark) = match self.code {
            0..=0x7f => (0, 0),
            0x80..=0x7ff => (1, 0xc0),
            0x800..=0xffff => (2, 0xe0),
            _ => (3, 0xf0),
        };
        self.left = follow;
        Some(mark | raw::low_byte(raw::index(self.code >> follow.wrapping_mul(6))))
    }

    /// The next bytes as a word with zeros behind them, and how many they are.
    const fn next_word(&mut self) -> (usize, usize) {
        let mut word = [0; WORD];
        let mut len: usize = 0;
        let mut rest: &mut [u8] = &mut word;
        while let Some((to, others)) = rest.split_first_mut() {
            let Some(byte) = self.next() else { break };
            *to = byte;
            len = len.wrapping_add(1);
            rest = others;
        }
        (usize::from_le_bytes(word), len)
    }
}

/// The unescaped characters of a [`Text`].
#[derive(Clone)]
pub struct Chars<'data> {
    run: StrChars<'data>,
    rest: &'data [u8],
}

impl<'data> Chars<'data> {
    /// Takes the characters up to the next escape.
    fn run(&mut self) -> &'data str {
        let end = self.rest.iter().position(|byte| *byte == b'\\').unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at_checked(end).unwrap_or((&[], &[]));
        self.rest = rest;
        str::from_utf8(run).unwrap_or("")
    }
}

#[cfg(feature = "defmt")]
impl<'data> Chars<'data> {
    /// Takes the characters up to the next that is escaped, or that [`Quoted`] would escape.
    pub(crate) fn harmless_run(&mut self) -> &'data str {
        if self.run.as_str().is_empty() {
            self.run = self.run().chars();
        }
        let text = self.run.as_str();
        while let Some(character) = self.run.clone().next() {
            if !matches!(Shown::of(character), Shown::Itself) {
                break;
            }
            self.run.next();
        }
        let len = text.len().wrapping_sub(self.run.as_str().len());
        text.get(..len).unwrap_or("")
    }
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        if let Some(character) = self.run.next() {
            return Some(character);
        }
        if self.rest.first() == Some(&b'\\') {
            let (character, rest) = scan::unescape(self.rest);
            self.rest = rest;
            return Some(character);
        }
        self.run = self.run().chars();
        self.run.next()
    }
}

impl core::iter::FusedIterator for Chars<'_> {}

impl fmt::Debug for Chars<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chars { .. }")
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.as_str() {
            return f.write_str(text);
        }
        let mut chars = self.chars();
        while !chars.rest.is_empty() {
            f.write_str(chars.run())?;
            if !chars.rest.is_empty() {
                let (character, rest) = scan::unescape(chars.rest);
                f.write_char(character)?;
                chars.rest = rest;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.quoted(), f)
    }
}

impl<'data> From<&'data str> for Text<'data> {
    fn from(text: &'data str) -> Self {
        Self::new(text.as_bytes(), false)
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other).is_eq()
    }
}

impl Eq for Text<'_> {}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.is(other)
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.is(other)
    }
}

impl PartialEq<Text<'_>> for str {
    fn eq(&self, other: &Text<'_>) -> bool {
        other.is(self)
    }
}

impl PartialEq<Text<'_>> for &str {
    fn eq(&self, other: &Text<'_>) -> bool {
        other.is(self)
    }
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other)
    }
}

impl Hash for Text<'_> {
    fn hash<H: CoreHasher>(&self, state: &mut H) {
        let mut bytes = self.bytes();
        while let Some(byte) = bytes.next() {
            state.write_u8(byte);
        }
        state.write_u8(0xff);
    }
}
