//! A tensor that can't be borrowed where it lies.

safetensors_core::include_safetensors! {
    static ODD = "../../data/include/odd.safetensors";
    static F32: &[f32] = "f32";
}

fn main() {}
