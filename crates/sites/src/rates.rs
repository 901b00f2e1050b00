//! Hosts of unequal rates in the cost model: the fastest are helpers and partners, and the slow
//! ones are served last.

/// Bytes a second of the hosts inside their sites, the fastest first; empty where all are as fast
/// as the site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostRates {
    /// Of the root's site, without the root.
    pub near: Vec<f64>,
    /// Of the other site.
    pub far: Vec<f64>,
}

impl HostRates {
    /// Sorts the rates.
    pub fn new(mut near: Vec<f64>, mut far: Vec<f64>) -> HostRates {
        near.sort_by(|a, b| b.total_cmp(a));
        far.sort_by(|a, b| b.total_cmp(a));
        HostRates { near, far }
    }

    /// Bytes a second to helper number `number`.
    pub fn helper(&self, number: usize, lan: f64) -> f64 {
        self.near.get(number).map_or(lan, |rate| rate.min(lan))
    }

    /// Bytes a second that a lane can have at most: lane 0 is the root's own.
    pub fn lane(&self, lane: usize) -> f64 {
        let helper = lane.checked_sub(1).and_then(|number| self.near.get(number));
        let partner = self.far.get(lane);
        helper.into_iter().chain(partner).copied().fold(f64::INFINITY, f64::min)
    }

    /// Seconds for each byte of a block by which serving the hosts of the root's site that are no
    /// helpers takes longer than at the rate of the site.
    pub fn near_delay(&self, helpers: usize, lan: f64) -> f64 {
        self.near.iter().skip(helpers).map(|rate| delay(*rate, lan)).sum()
    }

    /// The same for the hosts that a partner serves; slow hosts are in different groups, and those
    /// of the lanes that are fed first.
    pub fn far_delay(&self, lane: usize, lanes: usize, lan: f64) -> f64 {
        let slowest = self.far.iter().skip(lanes).rev();
        let first = (lane + lanes - 1) % lanes.max(1);
        slowest.skip(first).step_by(lanes.max(1)).map(|rate| delay(*rate, lan)).sum()
    }
}

fn delay(rate: f64, lan: f64) -> f64 {
    (1.0 / rate - 1.0 / lan).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_hosts_help_last() {
        let rates = HostRates::new(vec![8.0, 2.0, 8.0], vec![8.0, 4.0, 8.0, 8.0]);
        assert_eq!([0, 1, 2].map(|number| rates.helper(number, 5.0)), [5.0, 5.0, 2.0]);
        assert_eq!([0, 1, 3].map(|lane| rates.lane(lane)), [8.0, 8.0, 2.0]);
        assert_eq!((rates.near_delay(1, 8.0), rates.near_delay(3, 8.0)), (0.375, 0.0));
        assert_eq!([0, 1].map(|lane| rates.far_delay(lane, 2, 8.0)), [0.0, 0.125]);
        assert_eq!(HostRates::default().lane(3), f64::INFINITY);
    }
}
