//! A tensor that is not there.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors";
    static WEIGHT: &[[f32; 64]; 32] = "fc3.weight";
}

fn main() {}
