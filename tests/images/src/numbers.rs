//! What the conversions of numbers make of the same bytes, on the host and on the target.

use safetensors_core::{Dtype, Elements, Overflow};

/// Elements that are converted at once; all dtypes have whole ones in so many bytes.
const BYTES: usize = 192;

/// A hash of all numbers that come out of some thousand elements of `dtype`, as `f32` and back.
/// Of F16 and BF16 these are all there are.
pub fn digest(dtype: Dtype) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            // FNV-1a.
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    let mut seed = 1;
    for block in 0..2 * 65_536 / BYTES as u32 + 1 {
        let mut bytes = [0; BYTES];
        for (i, pair) in bytes.chunks_exact_mut(2).enumerate() {
            let pattern = if dtype.bitsize() <= 16 {
                // Every pattern of 16 bits in turn.
                block.wrapping_mul(BYTES as u32 / 2).wrapping_add(i as u32)
            } else {
                seed = random(seed);
                seed >> 16
            };
            pair.copy_from_slice(&(pattern as u16).to_le_bytes());
        }
        let mut values = [0.0; 2 * BYTES];
        let Ok(elements) = Elements::new(dtype, &bytes) else { return 0 };
        let Ok(values) = elements.convert_into(&mut values) else { return 0 };
        for value in values.iter_mut() {
            // A payload is not promised.
            let bits = if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() };
            add(&bits.to_le_bytes());
            // Something between the values of the dtype, and beyond them.
            *value = if value.is_nan() { 0.0 } else { *value * 1.062_5 };
        }
        for overflow in [Overflow::Saturate, Overflow::NonFinite] {
            let mut bytes = [0; BYTES];
            match Elements::convert_from(values, dtype, overflow, &mut bytes) {
                Ok(elements) => add(elements.bytes()),
                Err(_) => return 0,
            }
        }
    }
    hash
}

/// Marsaglia's xorshift.
fn random(mut seed: u32) -> u32 {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^ seed << 5
}
