//! Ranks: each sample's place in the order of all, and how many share a place.

/// The places of samples in rising order, from 1; equal ones share the mean of their places.
pub(crate) struct Ranks {
    /// In the order of the samples.
    pub places: Vec<f64>,
    /// The sum of `t^3 - t` over all groups of `t` equal samples: 0 without ties.
    pub ties: f64,
}

pub(crate) fn ranks(samples: &[f64]) -> Ranks {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_unstable_by(|&i, &j| samples[i].total_cmp(&samples[j]));
    let mut places = vec![0.0; samples.len()];
    let mut ties = 0.0;
    let mut start = 0;
    for group in order.chunk_by(|&i, &j| samples[i] == samples[j]) {
        let size = group.len() as f64;
        for &i in group {
            places[i] = start as f64 + (size + 1.0) / 2.0;
        }
        ties += size * size * size - size;
        start += group.len();
    }
    Ranks { places, ties }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_share_their_places() {
        let found = ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]);
        assert_eq!(found.places, [4.0, 1.0, 4.0, 2.0, 4.0]);
        assert_eq!(found.ties, 24.0);
        assert_eq!(ranks(&[0.0, -0.0]).places, [1.5, 1.5], "the two zeros are equal");
        assert!(ranks(&[]).places.is_empty());
    }
}
