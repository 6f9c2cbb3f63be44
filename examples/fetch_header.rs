//! Reads two pieces of a file, as a program would that fetches it over a network, and tells where a
//! tensor's bytes are.
//!
//! ```text
//! cargo run --example fetch_header examples/digits/digits.safetensors fc1.weight
//! ```

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use safetensors_core::{Header, Index, PREFIX_LEN, Slot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: fetch_header FILE TENSOR".into());
    };
    let mut file = File::open(path)?;

    let prefix = fetch(&mut file, PREFIX_LEN)?;
    let len = Header::len_from_prefix(*prefix.first_chunk().ok_or("shorter than 8 bytes")?)?;
    let head = fetch(&mut file, len)?;

    let needed = Header::read(&head)?.scan()?.slots_needed();
    let mut slots = vec![Slot::EMPTY; needed];
    let index =
        Index::build(&head, &mut slots).map_err(|error| error.display(&head).to_string())?;
    match index.tensor(&name) {
        Some(info) => println!("{} {} bytes {:?}", info.dtype(), info.shape(), info.byte_range()),
        None => println!("no tensor {name:?} among {}", index.len()),
    }
    Ok(())
}

/// The first `len` bytes of the file.
fn fetch(file: &mut File, len: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
