//! Peers in C++: what `cpp/peers.cpp` is built to, loaded when the program runs.

use std::hint::black_box;
use std::path::Path;
use std::ptr;

use libloading::Library;

use crate::headers::input::{self, Found};
use crate::headers::work::Work;

pub const GLAZE_PARSE: Work = work::<0>();
pub const GLAZE_LOOK_UPS: Work = work::<1>();
pub const SAFETENSORS_CPP_PARSE: Work = work::<2>();
pub const SAFETENSORS_CPP_LOOK_UPS: Work = work::<3>();

const FUNCTIONS: [&str; 4] =
    ["glaze_parse", "glaze_look_ups", "safetensors_cpp_parse", "safetensors_cpp_look_ups"];

type Function = unsafe extern "C" fn(*const RawInput, *mut Found) -> bool;

/// The functions, as long as the library is there.
pub struct Peers {
    functions: [Function; FUNCTIONS.len()],
    _library: Library,
}

impl Peers {
    pub fn load(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: nothing but what its runtime does is run when it is loaded.
        let library = unsafe { Library::new(path) }?;
        let mut functions = Vec::new();
        for name in FUNCTIONS {
            // SAFETY: `cpp/peers.cpp` gives all of them this type.
            functions.push(*unsafe { library.get::<Function>(name) }?);
        }
        Ok(Self { functions: functions.try_into().unwrap(), _library: library })
    }
}

#[repr(C)]
struct RawName {
    start: *const u8,
    len: usize,
}

#[repr(C)]
struct RawInput {
    head: *const u8,
    head_len: usize,
    names: *const RawName,
    names_len: usize,
}

/// An input as C++ takes it.
pub struct Input<'a> {
    peers: &'a Peers,
    head: &'a [u8],
    /// They point to what was borrowed as long.
    names: Vec<RawName>,
}

impl<'a> Input<'a> {
    pub fn new(peers: &'a Peers, head: &'a [u8], names: &'a [String]) -> Self {
        let names = names.iter().map(|name| RawName { start: name.as_ptr(), len: name.len() });
        Self { peers, head, names: names.collect() }
    }

    fn call(&self, function: usize, found: Option<&mut Found>) -> bool {
        let input = RawInput {
            head: self.head.as_ptr(),
            head_len: self.head.len(),
            names: self.names.as_ptr(),
            names_len: self.names.len(),
        };
        let found = found.map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: all that it points to lives; the function reads it, keeps none of it, and writes
        // nothing but what it found.
        unsafe { self.peers.functions[function](black_box(&raw const input), found) }
    }
}

const fn work<const FUNCTION: usize>() -> Work {
    Work::of_head(run::<FUNCTION>, found::<FUNCTION>)
}

fn run<const FUNCTION: usize>(input: &mut input::Input<'_>) {
    black_box(input.cpp.as_ref().unwrap().call(FUNCTION, None));
}

fn found<const FUNCTION: usize>(input: &mut input::Input<'_>) -> Option<Found> {
    let mut found = Found::default();
    let accepts = input.cpp.as_ref().unwrap().call(FUNCTION, Some(&mut found));
    accepts.then_some(found)
}
