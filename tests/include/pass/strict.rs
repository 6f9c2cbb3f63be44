//! Crates that forbid everything can include a model, and need not use all of it.
#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

extern crate std;

safetensors_core::include_safetensors! {
    /// The file.
    static DIGITS = "../../../examples/digits/digits.safetensors", link_section = ".digits";
    /// A tensor.
    #[allow(dead_code)]
    static WEIGHT: &[[f32; 64]; 32] = "fc1.weight";
    /// Another one.
    static BIAS: &[f32] = "fc2.bias";
    /// Without a tensor.
    static UNUSED = "../../data/include/numbers.safetensors";
}

fn main() {
    assert_eq!(BIAS.len(), 10);
    std::println!("{:?}", DIGITS.tensor("fc2.bias"));
}
