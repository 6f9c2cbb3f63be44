//! What both programs share: the network, the images it is tried on, and the board.
#![no_std]

pub mod board;
pub mod held_out;
pub mod network;
