//! Section 5: round trips between all pairs, one after the other and at the same time.

use laneway_core::Failure;
use laneway_measure::Rule;
use laneway_measure::p2p::{Lab, RoundTrips, round_trips};

use super::Cluster;
use crate::reproduce::part::{Axes, Claim, Part};

/// paper: mpiblib 5: 100 repetitions of 4 KB.
const REPETITIONS: u32 = 100;
const BYTES: usize = 4 << 10;
const PAPER_SEQUENTIAL: f64 = 3.5;
const PAPER_PARALLEL: f64 = 0.5;

fn trips(cluster: &Cluster, parallel: bool) -> Result<(RoundTrips, f64), Failure> {
    let (found, seconds) = cluster.run(|comm| {
        let lab = Lab::new(comm, Rule::fixed(REPETITIONS));
        round_trips(&lab, BYTES, BYTES, parallel)
    })?;
    Ok((found.unwrap_or_default(), seconds))
}

pub fn part(cluster: &Cluster) -> Result<Part, Failure> {
    let (alone, sequential) = trips(cluster, false)?;
    let (together, parallel) = trips(cluster, true)?;
    let pairs = alone.estimates.iter().zip(&together.estimates);
    let largest = pairs.map(|(a, b)| (a / b).max(b / a)).fold(0.0, f64::max);
    let near = |paper: f64| move |ours: f64| (0.5..2.0).contains(&(ours / paper));
    let gain = PAPER_SEQUENTIAL / PAPER_PARALLEL;
    let claims = vec![
        Claim::seconds("all pairs one after the other", PAPER_SEQUENTIAL, sequential)
            .asked("within a factor of 2", near(PAPER_SEQUENTIAL)),
        Claim::seconds("disjoint pairs at the same time", PAPER_PARALLEL, parallel)
            .asked("within a factor of 2", near(PAPER_PARALLEL)),
        Claim::ratio_of("the one over the other", Some(gain), sequential / parallel)
            .asked("at least 5: significantly less time", |ratio| ratio >= 5.0),
        Claim::ratio_of("estimates of a pair, larger over smaller, the worst", None, largest)
            .asked("at most 1.01: with the same accuracy", |ratio| (1.0..=1.01).contains(&ratio)),
    ];
    Ok(Part {
        name: "p2p",
        heading: "Section 5: 100 round trips of 4K between all pairs",
        claims,
        curves: Vec::new(),
        axes: Axes::TIMES,
    })
}
