//! What is usual between two sites, or within one, and from when on a quick look stands out.

use std::collections::BTreeMap;

use super::super::findings::Findings;

/// A look that takes this part of the limit stands out: the limit is for a figure of many messages.
const MARGIN: f64 = 0.97;

/// Seconds of a short message, and of the bytes of a long one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seconds {
    pub latency: f64,
    pub transfer: f64,
}

const UNKNOWN: Seconds = Seconds { latency: f64::NAN, transfer: f64::NAN };

/// By the sites of sender and receiver, of pairs between hosts.
pub(super) struct Usual {
    by_sites: BTreeMap<(u32, u32), Seconds>,
}

impl Usual {
    /// As a verdict has it; the number of each rank's host is given.
    pub fn of(findings: &Findings, hosts: &[u32]) -> Usual {
        let mut by_sites = BTreeMap::new();
        let marks = findings.verdict.iter().flat_map(|verdict| &verdict.marks);
        for (pair, marks) in findings.pairs.iter().zip(marks) {
            let [a, b] = [pair.from as usize, pair.to as usize];
            if hosts[a] == hosts[b] {
                continue;
            }
            let latency = marks.latency.usual;
            let [one, other] = [findings.sites[a], findings.sites[b]];
            for (from, to, way) in [(one, other, marks.there), (other, one, marks.back)] {
                by_sites.insert((from, to), Seconds { latency, transfer: way.usual });
            }
        }
        Usual { by_sites }
    }

    pub fn get(&self, from: u32, to: u32) -> Seconds {
        self.by_sites.get(&(from, to)).copied().unwrap_or(UNKNOWN)
    }

    /// The bounds of looks between all sites, as numbers that can be broadcast.
    pub fn bounds(&self, findings: &Findings, sites: u32) -> Vec<f64> {
        let limits = findings.survey.limits();
        let most = limits.least_rate.map_or(f64::INFINITY, |rate| rate.seconds());
        let numbers = |from: u32, to: u32| {
            let usual = self.get(from, to);
            let transfer = (usual.transfer / limits.least_bandwidth).min(most);
            [MARGIN * limits.most_latency * usual.latency, MARGIN * transfer]
        };
        let pairs = (0..sites).flat_map(|from| (0..sites).map(move |to| (from, to)));
        pairs.flat_map(|(from, to)| numbers(from, to)).collect()
    }
}

/// The bounds between all sites, on every rank.
pub(super) struct Bounds {
    sites: u32,
    numbers: Vec<f64>,
}

impl Bounds {
    /// The numbers of a broadcast of the bounds of `sites` sites.
    pub fn count(sites: u32) -> usize {
        2 * sites as usize * sites as usize
    }

    pub fn new(sites: u32, numbers: Vec<f64>) -> Bounds {
        Bounds { sites, numbers }
    }

    pub fn get(&self, from: u32, to: u32) -> Seconds {
        let at = 2 * (from * self.sites + to) as usize;
        match self.numbers.get(at..at + 2) {
            Some(&[latency, transfer]) => Seconds { latency, transfer },
            _ => UNKNOWN,
        }
    }
}
