//! Pages about the crate as a whole.

#[doc = include_str!("compatibility.md")]
pub mod compatibility {}

// Its program is no test of this crate; `tests/run.sh firmware` builds and runs it.
#[cfg_attr(not(doctest), doc = include_str!("firmware.md"))]
pub mod firmware {}

#[doc = include_str!("numbers.md")]
pub mod numbers {}

#[doc = include_str!("safety.md")]
pub mod safety {}

#[doc = include_str!("speed.md")]
///
#[doc = include_str!("growth.svg")]
pub mod speed {}
