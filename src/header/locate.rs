//! In whose entry an error is.

use super::scan::Cursor;
use super::text::Text;
use super::{Header, PREFIX_LEN, entry};
use crate::{ErrorKind, raw};

/// The tensor, or (`true`) the metadata key, in whose entry the byte at `offset` is.
pub(crate) const fn name_around(input: &[u8], offset: u64) -> Option<(bool, Text<'_>)> {
    let bytes = Header::trusted(input).bytes();
    let target = match raw::size(offset) {
        Some(target) if target < bytes.len() => target,
        _ => return None,
    };
    let mut cursor = Cursor::new(bytes, PREFIX_LEN);
    if cursor.expect(b'{', ErrorKind::ExpectedObject).is_err() {
        return None;
    }
    let (mut metadata, mut first) = (false, true);
    // Ends at the latest at the error: the walk stumbles over the same fault.
    loop {
        match cursor.next_key(first) {
            Ok(true) if cursor.at.saturating_sub(1) <= target => first = false,
            Ok(false) if metadata => {
                metadata = false;
                continue;
            }
            _ => return None,
        }
        let Ok(key) = entry::key(&mut cursor) else { return None };
        if !metadata && key.is(entry::METADATA_KEY) && cursor.skip_space() == b'{' {
            (metadata, first) = (true, true);
            cursor.advance(1);
            continue;
        }
        if cursor.skip_value(1).is_err() || cursor.at > target {
            let is_tensor = metadata || !key.is(entry::METADATA_KEY);
            return if is_tensor { Some((metadata, key)) } else { None };
        }
    }
}
