//! Files that are something else.

use crate::ErrorKind;

/// What the input is if it is not safetensors. Asked only when it can't be.
#[cold]
pub(crate) const fn foreign_format(bytes: &[u8]) -> Option<ErrorKind> {
    const VERSION: u32 = u32::from_le_bytes(*b"vers");
    const ZIP: u32 = u32::from_le_bytes(*b"PK\x03\x04");
    const GGUF: u32 = u32::from_le_bytes(*b"GGUF");
    const DOCTYPE: u32 = u32::from_le_bytes(*b"<!do");
    const HTML: u32 = u32::from_le_bytes(*b"<htm");
    // Letters of ASCII in lower case; the first byte as it is.
    const LOWER: u32 = u32::from_le_bytes([0, 0x20, 0x20, 0x20]);
    let Some(start) = bytes.first_chunk() else { return None };
    let word = u32::from_le_bytes(*start);
    match (word, word | LOWER, start) {
        (VERSION, ..) => Some(ErrorKind::GitLfsPointer),
        (ZIP, ..) => Some(ErrorKind::ZipArchive),
        (GGUF, ..) => Some(ErrorKind::Gguf),
        (_, DOCTYPE | HTML, _) => Some(ErrorKind::Html),
        // Header sizes begin like these two as well, but with a zero third.
        (.., [0x80, 2..=5, 1..=255, _]) => Some(ErrorKind::Pickle),
        (.., [0x1f, 0x8b, 8, _]) => Some(ErrorKind::Gzip),
        _ => None,
    }
}
