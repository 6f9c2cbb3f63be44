//! Mutations that know the format, so that the fuzzer gets past the layout rules with many tensors.

mod input;

pub use input::Input;
use libfuzzer_sys::fuzzer_mutate;
use safetensors_core::Dtype;

/// A mutation as libFuzzer's own; one in four then lays the tensors of a header anew, one in eight
/// gives it one more before that.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let size = fuzzer_mutate(data, size, max_size);
    if !seed.is_multiple_of(4) || data.first() != Some(&b'h') {
        return size;
    }
    let Ok(mut header) = String::from_utf8(data[..size].to_vec()) else { return size };
    if seed.is_multiple_of(8) {
        add(&mut header, seed / 8);
    }
    lay(&mut header, seed / 8);
    match data[..max_size].get_mut(..header.len()) {
        Some(place) => {
            place.copy_from_slice(header.as_bytes());
            header.len()
        }
        None => size,
    }
}

/// Repeats a description under another name.
fn add(header: &mut String, seed: u32) {
    let places = descriptions(header);
    if let Some((start, end)) = places.get(seed as usize % places.len().max(1)) {
        let entry = format!(",\"{seed:x}\":{}", &header[*start..*end]);
        header.insert_str(*end, &entry);
    }
}

/// Gives the tensors places without gaps, in header order or, one time in two, in another order.
fn lay(header: &mut String, seed: u32) {
    let sizes: Vec<u64> = descriptions(header)
        .iter()
        .map(|(start, end)| data_len(&header[*start..*end]).unwrap_or(0))
        .collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    if seed.is_multiple_of(2) {
        // Any order will do, if only it is the same for the same seed.
        order.sort_by_key(|i| (*i as u32 ^ seed).wrapping_mul(0x9e37_79b9));
    }
    let mut ranges = vec![(0, 0); sizes.len()];
    let mut offset = 0_u64;
    for i in order {
        let end = offset.saturating_add(sizes[i]);
        ranges[i] = (offset, end);
        offset = end;
    }
    // One time in three one of them is misplaced: in another, across a border, or behind the end.
    if seed.is_multiple_of(3) && !ranges.is_empty() {
        let i = seed as usize / 3 % ranges.len();
        let begin = u64::from(seed / 64) % (offset.saturating_add(2));
        ranges[i] = (begin, begin.saturating_add(sizes[i]));
    }
    // From the last one, so that the places of the others stay.
    for ((start, end), (begin, stop)) in descriptions(header).into_iter().zip(ranges).rev() {
        if let Some((from, to)) = list(&header[start..end], "data_offsets") {
            header.replace_range(start + from..start + to, &format!("{begin},{stop}"));
        }
    }
}

/// Where the innermost objects with `data_offsets` are, as far as plain text search tells.
fn descriptions(header: &str) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (at, _) in header.match_indices("\"data_offsets\"") {
        if let (Some(start), Some(len)) = (header[..at].rfind('{'), header[at..].find('}'))
            && places.last().is_none_or(|(_, end)| *end <= start)
        {
            places.push((start, at + len + 1));
        }
    }
    places
}

/// What is between the brackets of the field.
fn list(description: &str, field: &str) -> Option<(usize, usize)> {
    let at = description.find(&format!("\"{field}\":["))? + field.len() + 4;
    Some((at, at + description[at..].find(']')?))
}

fn data_len(description: &str) -> Option<u64> {
    let (_, dtype) = description.split_once("\"dtype\":\"")?;
    let dtype = Dtype::from_name(dtype.split('"').next()?)?;
    let (from, to) = list(description, "shape")?;
    let dims = description[from..to].split(',').map(str::trim).filter(|dim| !dim.is_empty());
    let elements = dims.map(|dim| dim.parse().ok()).try_fold(1, |n: u64, dim| n.checked_mul(dim?));
    elements?.checked_mul(dtype.bitsize() as u64).map(|bits| bits / 8)
}

#[cfg(test)]
mod tests {
    #[test]
    fn lays_tensors_anew() {
        let description = |offsets| {
            format!("{{\"dtype\":\"F32\",\"shape\":[2, 1],\"data_offsets\":[{offsets}]}}")
        };
        let mut header = format!("h{{\"a\":{},\"b\":{}}}", description(""), description("7,9"));
        super::add(&mut header, 5);
        super::lay(&mut header, 5);
        let expected = [description("0,8"), description("8,16"), description("16,24")];
        let [a, b, c] = expected;
        assert_eq!(header, format!("h{{\"a\":{a},\"b\":{b},\"5\":{c}}}"));
    }
}
