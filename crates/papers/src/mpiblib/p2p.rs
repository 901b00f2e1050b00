//! Section 5: round trips between all pairs, one after the other and at the same time; on a quiet
//! cluster, with the traffic of others, and through a switch that could not carry them.

use laneway_measure::Rule;
use laneway_measure::p2p::{Lab, RoundTrips, round_trips};

use super::cluster::{Cluster, PLATFORM};
use crate::error::PaperError;
use crate::part::{Axes, How, Part};
use crate::{Claim, Printed};

/// paper: mpiblib 5: 100 repetitions of 4 KB.
const REPETITIONS: u32 = 100;
const BYTES: usize = 4 << 10;
const PAPER_SEQUENTIAL: f64 = 3.5;
const PAPER_PARALLEL: f64 = 0.5;

/// Random messages from each host to each other one: a sixth of what a card carries.
const NOISE: &str = "size = \"16K\"\nevery = \"12ms\"\nrandom = true\n";
/// Seeds of the noise.
const SEEDS: [u64; 3] = [1, 2, 3];
/// A switch that carries as much as two of its sixteen cards.
const NARROW: &str = "lan=2Gbit";

fn trips(cluster: &Cluster, parallel: bool) -> Result<(RoundTrips, f64), PaperError> {
    let (found, seconds) = cluster.run(|comm| {
        let lab = Lab::new(comm, Rule::fixed(REPETITIONS));
        round_trips(&lab, BYTES, BYTES, parallel)
    })?;
    Ok((found.unwrap_or_default(), seconds))
}

/// How far estimates are from those of a quiet cluster, of all pairs together: the root of the mean
/// square of the relative differences.
fn error(found: &[RoundTrips], quiet: &RoundTrips) -> f64 {
    let differences = found.iter().flat_map(|found| found.estimates.iter().zip(&quiet.estimates));
    let squares: Vec<f64> = differences.map(|(one, other)| (one / other - 1.0).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

/// The cluster with the traffic of others, as a file would describe it.
fn noisy(cluster: &Cluster, seed: u64) -> Result<Cluster, PaperError> {
    let mut text = format!("include = [\"{PLATFORM}\"]\nseed = {seed}\n");
    for from in cluster.hosts() {
        for to in cluster.hosts().iter().filter(|to| *to != from) {
            text += &format!("[[background]]\nfrom = \"{from}\"\nto = \"{to}\"\n{NOISE}");
        }
    }
    Cluster::parse("mpiblib16 with noise", &text)
}

/// The errors of one pair after the other and of disjoint pairs at the same time, with noise.
fn with_noise(cluster: &Cluster, quiet: &RoundTrips) -> Result<[f64; 2], PaperError> {
    let mut found = [Vec::new(), Vec::new()];
    for seed in SEEDS {
        let noisy = noisy(cluster, seed)?;
        for (found, parallel) in found.iter_mut().zip([false, true]) {
            found.push(trips(&noisy, parallel)?.0);
        }
    }
    Ok(found.map(|found| error(&found, quiet)))
}

pub fn part(cluster: &Cluster) -> Result<Part, PaperError> {
    let (alone, sequential) = trips(cluster, false)?;
    let (together, parallel) = trips(cluster, true)?;
    let [noisy_alone, noisy_together] = with_noise(cluster, &alone)?;
    let narrow = Cluster::read(&format!("{PLATFORM},{NARROW}"))?;
    let narrow = error(&[trips(&narrow, true)?.0], &trips(&narrow, false)?.0);
    let gain = PAPER_SEQUENTIAL / PAPER_PARALLEL;
    let printed = |seconds: f64| Printed::new(seconds, 0.1);
    let same = Printed::new(1.0, 1.0);
    let claims = vec![
        Claim::seconds("all pairs one after the other", PAPER_SEQUENTIAL, sequential)
            .printed(printed(PAPER_SEQUENTIAL), "")
            .known(9, 3.6, 3.8),
        Claim::seconds("disjoint pairs at the same time", PAPER_PARALLEL, parallel)
            .printed(printed(PAPER_PARALLEL), ""),
        Claim::ratio_of("the one over the other", Some(gain), sequential / parallel),
        Claim::own_ratio(
            "quiet: a pair at the same time over alone, the furthest from 1",
            furthest(&together, &alone),
        )
        .printed(same, "with the same accuracy"),
        Claim::own_ratio("with noise: error of one after the other", noisy_alone),
        Claim::own_ratio("with noise: error at the same time", noisy_together),
        Claim::own_ratio("the one over the other, with noise", noisy_together / noisy_alone)
            .printed(same, "with the same accuracy"),
        Claim::own_ratio("through a switch of 2 Gbit/s: error at the same time", narrow),
    ];
    let heading = "Section 5: 100 round trips of 4K between all pairs";
    Ok(Part { claims, ..Part::new("p2p", How::Simulated, heading, Axes::TIMES) })
}

/// The ratio of two estimates of a pair that is furthest from 1.
fn furthest(one: &RoundTrips, other: &RoundTrips) -> f64 {
    let ratios = one.estimates.iter().zip(&other.estimates).map(|(one, other)| one / other);
    ratios.max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs())).unwrap_or(f64::NAN)
}
