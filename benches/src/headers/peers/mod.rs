//! Who is measured: this crate, and others.

pub mod core_json;
pub mod cpp;
pub mod least;
pub mod ours;
pub mod reference;
pub mod simd;
pub mod sonic;
