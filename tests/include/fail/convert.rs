//! Only `f32` is converted to.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors";
    static BIAS: [i8; 10] = "fc2.bias";
}

fn main() {}
