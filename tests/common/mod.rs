//! Shared by the tests: files built from their header text, the corpus, the oracle, and one
//! function that asks every entry point of the core.
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod corpus;
pub(crate) mod entry_points;
pub(crate) mod oracle;
mod walked;

use std::collections::BTreeMap;

/// A tensor of a listing: name, dtype, shape, begin, end.
pub(crate) type Row = (String, String, Vec<u64>, u64, u64);

/// What a file holds, in an order of its own: tensors by name, metadata by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) tensors: Vec<Row>,
    pub(crate) metadata: Option<BTreeMap<String, String>>,
}

/// A file: the length prefix, `header`, and `data`.
pub(crate) fn file(header: impl AsRef<[u8]>, data: &[u8]) -> Vec<u8> {
    let header = header.as_ref();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header);
    file.extend_from_slice(data);
    file
}

/// A file made of a fuzzer's bytes. The first says how: as they stand, or as a header for which the
/// length prefix and a data section of the right length are added, so that the fuzzer need not find
/// those.
pub(crate) fn fuzzed(input: &[u8]) -> Vec<u8> {
    match input.split_first() {
        Some((b'h', header)) => {
            let bytes = file(header, &[]);
            let scan = safetensors_core::Header::read(&bytes).and_then(|header| header.scan());
            let data_len = scan.map_or(0, |scan| scan.data_len().min(1 << 16));
            file(header, &vec![0; data_len as usize])
        }
        Some((_, bytes)) => bytes.to_vec(),
        None => Vec::new(),
    }
}
