//! A tensor of another rank, by value.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors";
    static BIAS: [[f32; 10]; 1] = "fc2.bias";
}

fn main() {}
