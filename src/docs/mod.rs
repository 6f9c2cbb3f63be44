//! Pages about the crate as a whole.

#[doc = include_str!("compatibility.md")]
pub mod compatibility {}

#[doc = include_str!("firmware.md")]
pub mod firmware {}

#[doc = include_str!("numbers.md")]
pub mod numbers {}

#[doc = include_str!("safety.md")]
pub mod safety {}
