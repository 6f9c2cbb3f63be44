//! A header that contradicts itself.

safetensors_core::include_safetensors! {
    static BROKEN = "../../data/cases/reject/layout--hole_mid_1_byte.safetensors";
    static A: &[u8] = "a";
}

fn main() {}
