//! The model is checked by the compiler: nothing of the file is checked when the program runs, and the layers
//! are arrays. What JSON is read is that of the metadata.
#![no_std]
#![no_main]

use firmware::board::{self, Stack, println};
use firmware::held_out::{self, Expected, Words};
use firmware::network::{CLASSES, HIDDEN, PIXELS, dense, relu};
use safetensors_core::include_safetensors;

include_safetensors! {
    static DIGITS = "../../../digits/digits.safetensors";
    static FC1_WEIGHT: &[[f32; PIXELS]; HIDDEN] = "fc1.weight";
    static FC1_BIAS: &[f32; HIDDEN] = "fc1.bias";
    static FC2_WEIGHT: &[[f32; HIDDEN]; CLASSES] = "fc2.weight";
    static FC2_BIAS: &[f32; CLASSES] = "fc2.bias";
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let stack = Stack::paint();
    let good = run();
    println!("measured: {} of {} bytes of stack", stack.high_water(), stack.room());
    println!("measured: {} bytes of static RAM", board::static_ram());
    board::exit(good)
}

fn forward(pixels: &[f32; PIXELS]) -> [f32; CLASSES] {
    let hidden = dense(FC1_WEIGHT, FC1_BIAS, pixels);
    dense(FC2_WEIGHT, FC2_BIAS, &hidden.map(relu))
}

fn run() -> bool {
    let mut scratch = [0; 256];
    let Some((classes, normalization)) = held_out::metadata(&DIGITS, &mut scratch) else {
        return false;
    };
    println!("classes: {}", Words(&classes));
    held_out::print_labels(&classes);
    held_out::evaluate("f32", Expected::F32, &classes, &normalization, forward).is_some()
}
