//! What becomes of a file that is read, written again and edited, on the host and on the target.

use core::convert::Infallible;

use safetensors_core::{
    Dtype, Editor, MetadataPair, SafeTensors, Slot, TensorSpec, WriteError, WriteOptions,
};

/// Files of so many tensors and pairs, and so many bytes, are written.
const TENSORS: usize = 24;
const BYTES: usize = 4096;

/// A hash of the bytes in the end; 0 of files that are not valid or too large.
pub fn digest(bytes: &[u8], slots: &mut [Slot]) -> u64 {
    let Ok(model) = SafeTensors::parse(bytes, slots) else { return 0 };
    let mut tensors = [TensorSpec::new("", Dtype::U8, &[0]); TENSORS];
    let mut pairs = [MetadataPair::new("", ""); TENSORS];
    let metadata = model.metadata().into_iter().flatten();
    let keys = metadata.clone().count();
    let (Some(tensors), Some(pairs)) = (tensors.get_mut(..model.len()), pairs.get_mut(..keys))
    else {
        return 0;
    };
    for (to, view) in tensors.iter_mut().zip(&model) {
        *to = view.into();
    }
    for (to, (key, value)) in pairs.iter_mut().zip(metadata) {
        *to = MetadataPair::new(key, value);
    }
    written(tensors, pairs).unwrap_or(0)
}

fn written(
    tensors: &mut [TensorSpec<'_>],
    pairs: &mut [MetadataPair<'_>],
) -> Result<u64, WriteError> {
    let plan = WriteOptions::new().reserve(20).plan(tensors, Some(pairs))?;
    let mut buffer = [0; BYTES];
    let len = plan.write_into(&mut buffer)?.len();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.add(&buffer[..len]);
    // The same as a stream.
    let mut streamed = Fnv(0xcbf2_9ce4_8422_2325);
    let sink = |bytes: &[u8]| {
        let some = &bytes[..bytes.len().min(7)];
        streamed.add(some);
        Ok::<_, Infallible>(some.len())
    };
    let ended = plan.stream(sink).and_then(|stream| stream.finish()).is_ok();
    assert!(ended && streamed.0 == hash.0);
    // A change that fits, one for which the data is moved, and one back.
    let Ok(mut editor) = Editor::open(&mut buffer, len) else { return Ok(0) };
    editor.set_metadata("\u{1}", "fits")?;
    editor.set_metadata("long", "x\n\u{1f600}, over the end of what was there to spare")?;
    editor.remove_metadata("\u{1}")?;
    if let Some(first) = plan.tensors().first() {
        editor.rename(first.name(), "renamed")?;
    }
    hash.add(editor.finish());
    Ok(hash.0)
}

/// The hash FNV-1a.
struct Fnv(u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
