//! What the core says of a file, in full. Built for the host and for the target, which must agree.

use core::fmt::{self, Write};

use safetensors_core::{SafeTensors, Slot};

/// Slots that suffice for every file of the corpus.
pub const SLOTS: usize = 256;

/// Writes the error, or everything that the file holds.
pub fn write(bytes: &[u8], slots: &mut [Slot], out: &mut impl Write) -> fmt::Result {
    let model = match SafeTensors::parse(bytes, slots) {
        Ok(model) => model,
        Err(error) => return writeln!(out, "{error:?} {}", error.display(bytes)),
    };
    for view in &model {
        let mut buffer = [0; 256];
        let found = view.name().decode_into(&mut buffer).map(|name| model.tensor(name).is_some());
        writeln!(out, "{:?} {:?} {found:?}", view.info(), view.data())?;
    }
    writeln!(out, "{:?}", model.metadata())
}

/// The same, as a number.
pub fn digest(bytes: &[u8], slots: &mut [Slot]) -> u64 {
    let mut digest = Fnv(0xcbf2_9ce4_8422_2325);
    // Fails only if the writer does.
    let _ = write(bytes, slots, &mut digest);
    digest.0
}

/// The hash FNV-1a.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}
