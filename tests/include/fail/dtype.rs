//! A tensor of another dtype.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors";
    static BIAS: &[u8; 10] = "fc2.bias";
}

fn main() {}
