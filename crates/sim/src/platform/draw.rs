//! Values drawn from the platform's seed: other ones on each host, the same in every run.

/// What a number is drawn for; each has numbers of its own.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    ClockOffset,
    ClockDrift,
    BackgroundGaps,
}

const PURPOSES: u64 = 3;

/// One number of the sequence of splitmix64: three for each host or source of traffic.
pub(super) fn draw(seed: u64, purpose: Purpose, number: u64) -> u64 {
    splitmix64(seed, number.wrapping_mul(PURPOSES).wrapping_add(purpose as u64))
}

/// Number `index` of the sequence that begins at this seed.
fn splitmix64(seed: u64, index: u64) -> u64 {
    let steps = index.wrapping_add(1);
    let mut z = seed.wrapping_add(steps.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A value of every host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    /// The same on all of them.
    Same(f64),
    /// Each its own, at most so far from 0.
    Within(f64),
}

impl Spread {
    pub fn of(self, seed: u64, purpose: Purpose, host: u32) -> f64 {
        match self {
            Spread::Same(value) => value,
            Spread::Within(most) => {
                // 53 bits are all that a number below 1 holds.
                let unit =
                    (draw(seed, purpose, u64::from(host)) >> 11) as f64 / (1u64 << 53) as f64;
                most * (2.0 * unit - 1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published sequence of splitmix64 for this seed.
    #[test]
    fn the_sequence_is_splitmix64() {
        let drawn = [0, 1, 2].map(|index| splitmix64(1234567, index));
        assert_eq!(drawn, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
        assert_eq!(draw(1234567, Purpose::BackgroundGaps, 0), drawn[2]);
    }

    #[test]
    fn a_range_is_filled_evenly() {
        let of = |host| Spread::Within(2.0).of(1, Purpose::ClockDrift, host);
        let values: Vec<f64> = (0..4000).map(of).collect();
        assert!(values.iter().all(|value| value.abs() <= 2.0));
        for quarter in [-2.0, -1.0, 0.0, 1.0] {
            let inside = values.iter().filter(|value| (quarter..quarter + 1.0).contains(*value));
            let inside = inside.count();
            assert!((900..1100).contains(&inside), "{inside} of 4000 from {quarter}");
        }
        assert_eq!(Spread::Same(-3.0).of(1, Purpose::ClockDrift, 7), -3.0);
    }
}
