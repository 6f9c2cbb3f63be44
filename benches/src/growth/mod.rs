//! How cost grows: with the number of tensors, and with the length of the worst headers.
//!
//! A check without a picture leaves out what it has no limit for, and the longest headers, so that it
//! takes a minute.

mod attacks;
mod collide;
mod header;
mod hostile;
mod models;
mod picture;
mod proof;
mod svg;
mod tensors;

use std::fs;
use std::process::ExitCode;

use crate::Choice;

/// Prints the tables, draws them if that is asked for, and returns whether the limits hold.
pub fn print(choice: &Choice) -> bool {
    let points = if choice.quick() { Vec::new() } else { tensors::print(choice) };
    let (bars, mut holds) = hostile::print(choice);
    if let Some(path) = &choice.svg {
        fs::write(path, picture::draw(&points, &bars)).unwrap();
    }
    if choice.check && choice.callgrind {
        holds &= tensors::check(choice);
        holds &= !choice.has("one hash") || proof::check();
    }
    holds
}

/// What callgrind runs.
pub fn count(arguments: &[&str]) -> ExitCode {
    match arguments {
        [order, tensors] => tensors::count(order, tensors),
        _ => proof::count(),
    }
}
