//! Rows of another length.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors";
    static WEIGHT: &[[f32; 32]] = "fc1.weight";
}

fn main() {}
