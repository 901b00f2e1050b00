//! What each resource carried over time: the engine's rates, summed up interval by interval.
//!
//! A [`Recorder`] watches a run whose length is known, which costs one run without it. Rates change
//! only at events, so the bytes of an interval are a sum of rates times spans, without an estimate.

use std::collections::BTreeMap;

use crate::cluster::{Delivery, Observer};
use crate::network::{Resource, ResourceId};

/// Intervals that differ by so small a part of one are the same number of them.
const ROUNDING: f64 = 1e-9;

/// Equal intervals from 0 to an end; the last one may be shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    end: f64,
    every: f64,
    count: usize,
}

impl Intervals {
    /// Intervals of `every` seconds up to `end`, both above 0 and finite.
    pub fn new(end: f64, every: f64) -> Intervals {
        let count = (end / every - ROUNDING).ceil().max(1.0) as usize;
        Intervals { end, every, count }
    }

    /// Divides the time up to `end` into `count` equal intervals.
    pub fn divide(end: f64, count: usize) -> Intervals {
        let count = count.max(1);
        Intervals { end, every: end / count as f64, count }
    }

    /// The number of intervals, at least 1.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The start of interval `number` in seconds; the end of the last one for `count`.
    pub fn begin(&self, number: usize) -> f64 {
        if number < self.count { number as f64 * self.every } else { self.end }
    }

    /// Adds a constant rate, from `since` to `until`, to the bytes of the intervals.
    fn add(&self, bytes: &mut [f64], rate: f64, (since, until): (f64, f64)) {
        // Rounding may lead into the next interval.
        let first = ((since / self.every) as usize).saturating_sub(1);
        for (number, carried) in bytes.iter_mut().enumerate().skip(first) {
            let (begin, end) = (self.begin(number), self.begin(number + 1));
            if begin >= until {
                return;
            }
            *carried += rate * (until.min(end) - since.max(begin)).max(0.0);
        }
    }
}

/// The rate of one resource since it last changed, and what it carried before.
#[derive(Clone, Debug, Default)]
struct Load {
    since: f64,
    rate: f64,
    /// For each interval; empty until something is carried.
    bytes: Vec<f64>,
}

/// Records what each resource carries during a run.
#[derive(Clone, Debug)]
pub struct Recorder {
    intervals: Intervals,
    loads: Vec<Load>,
}

impl Recorder {
    /// Creates a recorder for `resources` resources; time after the last interval is not recorded.
    pub fn new(resources: usize, intervals: Intervals) -> Recorder {
        Recorder { intervals, loads: vec![Load::default(); resources] }
    }

    /// The bytes of each interval, for each resource; nothing where it carried nothing at all.
    pub fn finish(mut self) -> Vec<Vec<f64>> {
        for resource in 0..self.loads.len() {
            self.change(self.intervals.end, resource, 0.0);
        }
        self.loads.into_iter().map(|load| load.bytes).collect()
    }

    fn change(&mut self, at: f64, resource: usize, rate: f64) {
        let load = &mut self.loads[resource];
        if load.rate > 0.0 {
            load.bytes.resize(self.intervals.count, 0.0);
            self.intervals.add(&mut load.bytes, load.rate, (load.since, at));
        }
        (load.since, load.rate) = (at, rate);
    }
}

impl Observer for Recorder {
    fn delivered(&mut self, _delivery: &Delivery) {}

    fn loaded(&mut self, at: f64, resource: ResourceId, rate: f64) {
        self.change(at, resource as usize, rate);
    }

    fn loads(&self) -> bool {
        true
    }
}

/// The link of a resource, and its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direction {
    /// The link's name, the same for both of its directions.
    pub link: String,
    /// `out` or `in` of a card or an uplink, `there` or `back` of a link between two ends; empty
    /// where one resource serves both.
    pub direction: &'static str,
}

/// The link and direction of each resource of a platform, by the names that platforms give them.
pub fn directions(resources: &[Resource]) -> Vec<Direction> {
    let numbered = resources.iter().enumerate();
    let places: BTreeMap<&str, usize> = numbered.map(|(at, r)| (r.name.as_str(), at)).collect();
    let place = |name: &str| places.get(name).copied();
    let direction = |(at, resource): (usize, &Resource)| {
        let name = resource.name.as_str();
        let (link, direction) = if let Some((from, to)) = name.split_once(":to:") {
            // The pair is called by the direction that comes first.
            let other = format!("{to}:to:{from}");
            match place(&other).is_some_and(|other| other < at) {
                true => (other, "back"),
                false => (name.to_owned(), "there"),
            }
        } else if let Some(link) = name.strip_suffix(":back") {
            (link.to_owned(), "back")
        } else if place(&format!("{name}:back")).is_some() {
            (name.to_owned(), "there")
        } else {
            let end = |end: &str| name.strip_suffix(end).and_then(|n| n.strip_suffix([':', '-']));
            match (end("out"), end("in")) {
                (Some(link), _) if name.contains(':') => (link.to_owned(), "out"),
                (_, Some(link)) if name.contains(':') => (link.to_owned(), "in"),
                _ => (name.to_owned(), ""),
            }
        };
        Direction { link, direction }
    };
    resources.iter().enumerate().map(direction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_parted_exactly() {
        let intervals = Intervals::new(1.0, 0.3);
        assert_eq!((intervals.count(), intervals.begin(4)), (4, 1.0));
        let mut recorder = Recorder::new(2, intervals);
        recorder.loaded(0.15, 0, 10.0);
        recorder.loaded(0.45, 0, 2.0);
        let carried = recorder.finish();
        let wanted = [1.5, 1.5 + 0.3, 0.6, 0.2];
        for (bytes, wanted) in carried[0].iter().zip(wanted) {
            assert!((bytes - wanted).abs() < 1e-12, "{carried:?}");
        }
        assert!(carried[1].is_empty());
    }

    #[test]
    fn intervals_cover_the_run() {
        for (end, every) in [(1.0, 0.1), (0.7, 0.1), (3.3e-3, 1e-4), (1.0, 5.0), (0.3, 0.3)] {
            let intervals = Intervals::new(end, every);
            let lengths =
                (0..intervals.count()).map(|i| intervals.begin(i + 1) - intervals.begin(i));
            let lengths: Vec<f64> = lengths.collect();
            assert!(lengths.iter().all(|length| *length > 0.0), "{end} {every}: {lengths:?}");
            assert!((lengths.iter().sum::<f64>() - end).abs() < 1e-12);
        }
        for count in [1, 7, 200, 333] {
            assert_eq!(Intervals::divide(0.123, count).count(), count);
        }
    }

    #[test]
    fn resources_are_directions_of_links() {
        let of = |names: &[&str]| -> Vec<String> {
            let resource = |name: &&str| Resource {
                name: (*name).into(),
                rate: 1.0,
                shared: true,
                congestion: Default::default(),
            };
            let resources: Vec<Resource> = names.iter().map(resource).collect();
            let all = directions(&resources).into_iter();
            all.map(|found| format!("{} {}", found.link, found.direction)).collect()
        };
        let cards = ["a:out", "a:in", "a:wan-out", "s:uplink-in", "b:card", "s:lan", "wan:all"];
        let wanted = ["a out", "a in", "a:wan out", "s:uplink in", "b:card ", "s:lan ", "wan:all "];
        assert_eq!(of(&cards), wanted);
        assert_eq!(of(&["x:to:y", "y:to:x"]), ["x:to:y there", "x:to:y back"]);
        assert_eq!(
            of(&["trunk", "trunk:back", "log-in"]),
            ["trunk there", "trunk back", "log-in "]
        );
    }
}
