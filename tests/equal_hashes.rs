//! Names chosen to have one hash: still told apart, found, and refused when given twice.
//!
//! The hash is no secret, so anybody can choose such names. The names here are made for words of
//! 64 bits; elsewhere, or with another hash, they are just names.

mod common;

use common::{entry_points, file};
use safetensors_core::{ErrorKind, SafeTensors, Slot};

/// The constants of the hash.
const FACTORS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// One step of the hash, over 16 bytes of text.
fn step(state: u64, first: u64, second: u64) -> u64 {
    let factors = (state ^ first ^ FACTORS[0], second ^ FACTORS[1]);
    let product = u128::from(factors.0).wrapping_mul(u128::from(factors.1));
    (product >> 64) as u64 ^ product as u64 ^ factors.0 ^ factors.1.rotate_left(32)
}

/// 24 letters and digits; whatever 4 bytes follow twice, the hash is the same. The last 8 of them
/// are chosen so that the second step multiplies what follows by one, and its halves cancel out.
fn magnet() -> String {
    for n in 0_u64.. {
        let block = format!("{n:016}");
        let word = |at: usize| u64::from_le_bytes(block.as_bytes()[at..at + 8].try_into().unwrap());
        let end = (step(0, word(0), word(8)) ^ FACTORS[0] ^ 1).to_le_bytes();
        if end.iter().all(u8::is_ascii_alphanumeric) {
            return block + std::str::from_utf8(&end).unwrap();
        }
    }
    unreachable!()
}

/// As many names, in an order of their own.
fn names(count: u64) -> Vec<String> {
    let magnet = magnet();
    (0..count)
        .map(|i| {
            let end = format!("{:04}", i * 7919 % count);
            format!("{magnet}{end}{end}")
        })
        .collect()
}

fn with_names(names: &[String]) -> Vec<u8> {
    let entries: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let end = i + 1;
            format!("\"{name}\":{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[{i},{end}]}}")
        })
        .collect();
    file(format!("{{{}}}", entries.join(",")), &vec![0; names.len()])
}

#[test]
fn each_is_found() {
    let names = names(5000);
    let bytes = with_names(&names);
    let mut slots = vec![Slot::EMPTY; names.len()];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    for (i, name) in names.iter().enumerate() {
        assert_eq!(model.tensor(name).unwrap().info().data_offsets().0, i as u64);
    }
    assert!(model.tensor(&format!("{}abcdefgh", &names[0][..24])).is_none());
}

#[test]
fn what_is_given_twice_is_refused() {
    let mut names = names(500);
    assert!(entry_points::ask(&with_names(&names)).is_ok());
    names[499] = names[7].clone();
    let error = entry_points::ask(&with_names(&names)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateName);

    let pairs = |names: &[String]| {
        let pairs: Vec<_> = names.iter().map(|name| format!("\"{name}\":\"\"")).collect();
        file(format!("{{\"__metadata__\":{{{}}}}}", pairs.join(",")), &[])
    };
    let error = entry_points::ask(&pairs(&names)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateKey);
    names.pop();
    assert!(entry_points::ask(&pairs(&names)).is_ok());
}
