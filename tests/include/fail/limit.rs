//! An option.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors",
        options = safetensors_core::Options::new().header_limit(100);
}

fn main() {}
