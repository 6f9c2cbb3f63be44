//! Files that are something else.

use super::PREFIX_LEN;
use crate::{ErrorKind, raw};

/// What the input is if it is not safetensors. Asked only when it can't be.
#[cold]
pub(crate) const fn foreign_format(bytes: &[u8]) -> Option<ErrorKind> {
    let mut lower = [0; PREFIX_LEN];
    let mut rest: &mut [u8] = &mut lower;
    while let Some((to, others)) = rest.split_first_mut() {
        let at = PREFIX_LEN.wrapping_sub(others.len()).wrapping_sub(1);
        *to = raw::byte(bytes, at).to_ascii_lowercase();
        rest = others;
    }
    match lower {
        [b'v', b'e', b'r', b's', b'i', b'o', b'n', b' '] => Some(ErrorKind::GitLfsPointer),
        [b'p', b'k', 3, 4, ..] => Some(ErrorKind::ZipArchive),
        [0x80, 2..=5, ..] => Some(ErrorKind::Pickle),
        [b'<', b'!', b'd', b'o', b'c', b't', ..] | [b'<', b'h', b't', b'm', b'l', ..] => {
            Some(ErrorKind::Html)
        }
        [0x1f, 0x8b, ..] => Some(ErrorKind::Gzip),
        [b'g', b'g', b'u', b'f', ..] => Some(ErrorKind::Gguf),
        _ => None,
    }
}
