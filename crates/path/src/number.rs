//! Packet numbers: they begin with 24 bits and count up to 64.
//!
//! InfiniBand's packet sequence numbers have 24 bits. At 10 Gbit/s and 1,500 bytes a packet these
//! are used up in 19 seconds, and a packet that was held back for longer looks like a new one. So
//! packets carry numbers of 64 bits, which never wrap.

/// The first number of each end is below this, as a packet sequence number of InfiniBand is.
pub const START_LIMIT: u32 = 1 << 24;

/// The number of packets by which one may be late: far more than are ever under way.
const MOST_LATE: u64 = 1 << 20;

/// Whether a packet is so late that it was held back on its way.
pub(crate) fn is_held_back(number: u64, expected: u64) -> bool {
    expected.saturating_sub(number) > MOST_LATE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packets_far_behind_were_held_back() {
        for (number, expected, is) in [
            (0, 0, false),
            (7, 3, false),
            (u64::MAX, 0, false),
            (5, 5 + MOST_LATE, false),
            (5, 6 + MOST_LATE, true),
            (0, u64::MAX, true),
        ] {
            assert_eq!(is_held_back(number, expected), is, "{number} {expected}");
        }
    }
}
