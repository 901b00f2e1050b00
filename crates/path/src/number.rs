//! Packet numbers: 24 bits travel, 64 count.
//!
//! At 10 Gbit/s and 1,500 bytes a packet 24 bits are used up in 19 seconds. Inside, numbers never
//! wrap: what travels is extended to the number nearest to the one that is expected.

const BITS: u32 = 24;
const MASK: u64 = (1 << BITS) - 1;
const HALF: u64 = 1 << (BITS - 1);

/// The 24 bits of a number in a packet.
pub fn wire(number: u64) -> u32 {
    (number & MASK) as u32
}

/// The number nearest to `near` that has these 24 bits.
pub fn extend(near: u64, wire: u32) -> u64 {
    let ahead = u64::from(wire).wrapping_sub(near) & MASK;
    if ahead < HALF {
        return near + ahead;
    }
    let behind = (1 << BITS) - ahead;
    // Below the first number there is none: it must be ahead after all.
    near.checked_sub(behind).unwrap_or(near + ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_wrap() {
        for near in [0, 1, HALF - 1, HALF, MASK, MASK + 1, 7 * (MASK + 1) + 3] {
            for distance in [0, 1, 1000, HALF - 1] {
                assert_eq!(extend(near, wire(near + distance)), near + distance);
                if distance <= near {
                    assert_eq!(extend(near, wire(near - distance)), near - distance);
                }
            }
        }
    }
}
