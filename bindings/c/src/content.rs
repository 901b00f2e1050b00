//! What is in the buffers of a call whose answer is compared.

use laneway_core::Rank;

/// What receive buffers hold before a call.
pub(crate) const BACKGROUND: u8 = 0xA5;

/// How a buffer is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Of data that is only moved any bytes will do.
    Bytes,
    /// Whole numbers up to `most` of this many bytes, whose reductions are exact in any order.
    Integers {
        bytes: usize,
        most: u64,
    },
    Floats {
        most: u64,
    },
    Doubles {
        most: u64,
    },
}

impl Content {
    /// As `laneway_time_own` declares it; what is not known there is filled with bytes.
    pub fn new(kind: i64, bytes: i64, most: i64) -> Content {
        let most = most.max(1) as u64;
        match (kind, bytes) {
            (1, 1..=16) => Content::Integers { bytes: bytes as usize, most },
            (2, 4) => Content::Floats { most },
            (3, 8) => Content::Doubles { most },
            _ => Content::Bytes,
        }
    }
}

/// Fills a rank's buffer; two variants differ everywhere.
pub fn fill(content: &Content, rank: Rank, variant: u64, into: &mut [u8]) {
    let number = |index: usize, most: u64| {
        // A multiplicative hash, so that no two places are alike by a period.
        let place = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        1 + (u64::from(rank) * 7 + place + variant * 5) % most
    };
    match *content {
        Content::Bytes => {
            for (index, byte) in into.iter_mut().enumerate() {
                let index = index as u64;
                let mixed = index * 31 + (index >> 8) * 17 + u64::from(rank) * 101 + variant * 57;
                *byte = mixed as u8;
            }
        }
        Content::Integers { bytes, most } => {
            for (index, element) in into.chunks_mut(bytes).enumerate() {
                element.fill(0);
                element[0] = number(index, most) as u8;
            }
        }
        Content::Floats { most } => {
            for (index, element) in into.chunks_mut(4).enumerate() {
                let value = (number(index, most) as f32).to_ne_bytes();
                element.copy_from_slice(&value[..element.len()]);
            }
        }
        Content::Doubles { most } => {
            for (index, element) in into.chunks_mut(8).enumerate() {
                let value = (number(index, most) as f64).to_ne_bytes();
                element.copy_from_slice(&value[..element.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_differs_by_rank_and_variant() {
        let all = [
            Content::Bytes,
            Content::new(1, 4, 13),
            Content::new(1, 1, 13),
            Content::new(2, 4, 13),
            Content::new(3, 8, 2),
        ];
        for content in all {
            let filled = |rank: Rank, variant: u64| {
                let mut bytes = vec![0u8; 203];
                fill(&content, rank, variant, &mut bytes);
                bytes
            };
            assert_ne!(filled(0, 0), filled(1, 0), "{content:?}");
            assert_ne!(filled(0, 0), filled(0, 1), "{content:?}");
            assert_ne!(filled(0, 0)[..64], filled(0, 0)[64..128], "{content:?}");
        }
    }

    #[test]
    fn numbers_are_small_and_whole() {
        let mut bytes = [0u8; 80];
        fill(&Content::new(3, 8, 13), 3, 1, &mut bytes);
        let (values, _) = bytes.as_chunks::<8>();
        for value in values.iter().map(|&value| f64::from_ne_bytes(value)) {
            assert!(value.fract() == 0.0 && (1.0..=13.0).contains(&value), "{value}");
        }
        assert_eq!(Content::new(2, 7, 13), Content::Bytes);
    }
}
