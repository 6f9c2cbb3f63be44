//! Options in another order.

safetensors_core::include_safetensors! {
    static DIGITS = "../../../examples/digits/digits.safetensors", link_section = ".a", align = 8;
}

fn main() {}
