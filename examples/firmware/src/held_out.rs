//! Images that the model was not trained on, with their labels and what numpy makes of them.

use core::fmt;

use safetensors_core::{SafeTensors, include_safetensors};
use serde::Deserialize;

use crate::board::println;
use crate::network::{CLASSES, PIXELS, likeliest};

include_safetensors! {
    /// The file; examples/digits/make_variants.py made it.
    pub static HELD_OUT = "../../digits/held-out.safetensors";
    static IMAGES: &[[u8; PIXELS]] = "images";
    static LABELS: &[u8] = "labels";
    static F32: &[[f32; CLASSES]] = "logits.f32";
    static F16: &[[f32; CLASSES]] = "logits.f16";
    static BF16: &[[f32; CLASSES]] = "logits.bf16";
    static INT8: &[[f32; CLASSES]] = "logits.int8";
}

/// What the network gives for each image in numpy, by the kind of its weights.
#[derive(Clone, Copy)]
pub enum Expected {
    F32,
    F16,
    Bf16,
    Int8,
}

impl Expected {
    fn logits(self) -> &'static [[f32; CLASSES]] {
        match self {
            Self::F32 => F32,
            Self::F16 => F16,
            Self::Bf16 => BF16,
            Self::Int8 => INT8,
        }
    }
}

/// So many images are shown.
const FIRST: usize = 10;

/// How many images there are.
pub fn count() -> usize {
    IMAGES.len()
}

/// Prints what the first images show.
pub fn print_labels(classes: &[&str; CLASSES]) {
    let mut first = [""; FIRST];
    for (first, label) in first.iter_mut().zip(LABELS) {
        *first = classes.get(usize::from(*label)).unwrap_or(&"?");
    }
    println!("are : {} …", Words(&first));
}

/// How pixels become inputs; JSON in the metadata of the model.
#[derive(Deserialize)]
pub struct Normalization {
    pub scale: f32,
    pub offset: f32,
}

/// The names of the classes and how to normalise, out of the metadata.
pub fn metadata<'a>(
    model: &SafeTensors<'_, '_>,
    scratch: &'a mut [u8; 256],
) -> Option<([&'a str; CLASSES], Normalization)> {
    let metadata = model.metadata()?;
    let (first, second) = scratch.split_at_mut(128);
    let classes = metadata.value("classes")?.decode_json(first).ok()?;
    Some((classes, metadata.value("normalization")?.decode_json(second).ok()?))
}

/// Runs the network on all images, prints how it did, and returns how many it got right; `None` if an
/// output is not, bit by bit, what numpy has.
pub fn evaluate(
    name: &str,
    expected: Expected,
    classes: &[&str; CLASSES],
    normalization: &Normalization,
    forward: impl Fn(&[f32; PIXELS]) -> [f32; CLASSES],
) -> Option<usize> {
    let (mut right, mut same) = (0, 0);
    let mut first = [""; FIRST];
    for (i, ((image, label), logits)) in
        IMAGES.iter().zip(LABELS).zip(expected.logits()).enumerate()
    {
        let inputs =
            image.map(|pixel| f32::from(pixel) * normalization.scale + normalization.offset);
        let outputs = forward(&inputs);
        let class = likeliest(&outputs);
        right += usize::from(class == usize::from(*label));
        same += usize::from(outputs.map(f32::to_bits) == logits.map(f32::to_bits));
        if let Some(first) = first.get_mut(i) {
            *first = classes[class];
        }
    }
    let all = count();
    let percent = (right * 10_000 + all / 2) / all;
    println!(
        "{:4}: {} … {} of {} right ({}.{:02} %), {} outputs as in numpy",
        name,
        Words(&first),
        right,
        all,
        percent / 100,
        percent % 100,
        same
    );
    (same == all).then_some(right)
}

/// With spaces between them.
pub struct Words<'a>(pub &'a [&'a str]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, word)| {
            f.write_str(if i == 0 { "" } else { " " })?;
            f.write_str(word)
        })
    }
}
