//! What pieces of work get, and what they find in it.

use safetensors_core::Slot;

use super::peers::cpp;

pub struct Input<'a> {
    pub file: &'a [u8],
    /// The file up to the end of its header.
    pub head: &'a [u8],
    /// In header order.
    pub names: &'a [String],
    /// As many as a parse needs.
    pub slots: &'a mut [Slot],
    /// For copies of the header.
    pub scratch: Vec<u8>,
    /// What simd-json uses again.
    pub simd_json: simd_json::Buffers,
    pub cpp: Option<cpp::Input<'a>>,
}

impl<'a> Input<'a> {
    /// A header without its file.
    pub fn of_head(head: &'a [u8], names: &'a [String], slots: &'a mut [Slot]) -> Self {
        Self {
            file: head,
            head,
            names,
            slots,
            scratch: Vec::new(),
            simd_json: Default::default(),
            cpp: None,
        }
    }

    pub fn json(&self) -> &'a [u8] {
        &self.head[8..]
    }
}

/// What all find alike, which is checked before anything is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Found {
    tensors: u64,
    /// The sum of where tensors begin and end.
    offsets: u64,
}

impl Found {
    pub fn add(&mut self, begin: u64, end: u64) {
        self.tensors += 1;
        self.offsets = self.offsets.wrapping_add(begin).wrapping_add(end);
    }
}

impl FromIterator<(u64, u64)> for Found {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(offsets: I) -> Self {
        let mut found = Self::default();
        offsets.into_iter().for_each(|(begin, end)| found.add(begin, end));
        found
    }
}
