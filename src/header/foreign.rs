//! Files that are something else.

use crate::ErrorKind;

/// What the input is if it is not safetensors. Asked only when it can't be.
#[cold]
pub(crate) const fn foreign_format(bytes: &[u8]) -> Option<ErrorKind> {
    // Upper-case letters of ASCII differ from lower-case ones by this bit.
    const LOWER: u8 = 0x20;
    let [a, b, c, d] = match bytes.first_chunk::<4>() {
        Some(start) => *start,
        None => return None,
    };
    match [a, b, c, d] {
        [b'v', b'e', b'r', b's'] => Some(ErrorKind::GitLfsPointer),
        [b'P', b'K', 3, 4] => Some(ErrorKind::ZipArchive),
        // Header sizes begin like this as well, but with a zero third.
        [0x80, 2..=5, 1..=255, _] => Some(ErrorKind::Pickle),
        [0x1f, 0x8b, 8, _] => Some(ErrorKind::Gzip),
        [b'G', b'G', b'U', b'F'] => Some(ErrorKind::Gguf),
        _ => match [a, b | LOWER, c | LOWER, d | LOWER] {
            [b'<', b'!', b'd', b'o'] | [b'<', b'h', b't', b'm'] => Some(ErrorKind::Html),
            _ => None,
        },
    }
}
