//! What is measured, each on a whole file and on a header alone.
//!
//! Times are those of files. Instructions are those of headers, as valgrind can't map the largest
//! files: that leaves the comparison with the file's length out of ours, and the reference's layout
//! check out of the reference's, in whose favour it is.

use super::input::{Found, Input};
use super::peers::{core_json, cpp, least, ours, reference, simd, sonic};

pub type Run = fn(&mut Input<'_>);

/// Returns nothing if it refuses the header.
pub type Find = fn(&mut Input<'_>) -> Option<Found>;

pub struct Work {
    pub on_file: Run,
    pub on_head: Run,
    /// To check it; what takes bytes for bytes has none.
    pub found: Option<Find>,
}

impl Work {
    /// What works on the header, whether the file is there or not.
    pub const fn of_head(run: Run, found: Find) -> Self {
        Self { on_file: run, on_head: run, found: Some(found) }
    }
}

/// A piece of work; an index into [`ALL`] and into what was measured.
#[derive(Clone, Copy)]
pub enum Job {
    Scan,
    Parse,
    LookUps,
    Open,
    ReferenceParse,
    ReferenceLookUps,
    ReferenceMetadata,
    CoreJson,
    SonicEntries,
    SonicFields,
    SonicDom,
    SimdTape,
    SimdDom,
    SimdLookUps,
    Memchr,
    Memcpy,
    GlazeParse,
    GlazeLookUps,
    CppParse,
    CppLookUps,
}

/// In the order of [`Job`].
const ALL: [Work; 20] = [
    ours::SCAN,
    ours::PARSE,
    ours::LOOK_UPS,
    ours::OPEN,
    reference::PARSE,
    reference::LOOK_UPS,
    reference::METADATA,
    core_json::SCAN,
    sonic::ENTRIES,
    sonic::FIELDS,
    sonic::DOM,
    simd::TAPE,
    simd::DOM,
    simd::LOOK_UPS,
    least::MEMCHR,
    least::MEMCPY,
    cpp::GLAZE_PARSE,
    cpp::GLAZE_LOOK_UPS,
    cpp::SAFETENSORS_CPP_PARSE,
    cpp::SAFETENSORS_CPP_LOOK_UPS,
];

/// All of them, those in C++ if they were loaded.
pub fn all(cpp: bool) -> &'static [Work] {
    const IN_RUST: usize = Job::GlazeParse as usize;
    if cpp { &ALL } else { &ALL[..IN_RUST] }
}
