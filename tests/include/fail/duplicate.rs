//! What only a parse with slots finds.

safetensors_core::include_safetensors! {
    static BROKEN = "../../data/cases/reject/names--dup_adjacent_ranges_both_cover.safetensors";
}

fn main() {}
