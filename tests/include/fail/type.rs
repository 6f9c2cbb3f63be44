//! No array.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors";
    static BIAS: Vec<f32> = "fc2.bias";
}

fn main() {}
