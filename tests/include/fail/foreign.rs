//! Something else.

safetensors_core::include_safetensors! {
    static PAGE = "../../../README.md";
}

fn main() {}
