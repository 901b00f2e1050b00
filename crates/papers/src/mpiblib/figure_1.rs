//! Figure 1: what IMB tells of single calls and of series without isolation.

use std::ops::Range;

use laneway_core::Collective;
use laneway_measure::Batch;

use super::Cluster;
use crate::Claim;
use crate::error::PaperError;
use crate::part::{Axes, Curve, How, Part};

const KIB: [u64; 14] = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 65, 80, 100];
/// Places among them, as the cluster's buffer and its eager limit part them.
const SMALL: Range<usize> = 0..3;
const MEDIUM: Range<usize> = 3..11;
const LARGE: Range<usize> = 11..14;
/// Repetitions: a single call, a series and a long one.
const REPETITIONS: [u32; 3] = [1, 10, 100];

/// IMB's figures for each size, in microseconds over the ranks.
struct Seen {
    reps: u32,
    least: Vec<f64>,
    average: Vec<f64>,
    most: Vec<f64>,
    /// Sizes with the longest time on the root, and those with the shortest.
    longest_on_root: usize,
    shortest_on_root: usize,
}

impl Seen {
    fn new(reps: u32, batches: &[Batch]) -> Seen {
        let (least, average, most) = Default::default();
        let mut seen = Seen { reps, least, average, most, longest_on_root: 0, shortest_on_root: 0 };
        for Batch { rank_means, .. } in batches {
            let times = || rank_means.iter().map(|seconds| seconds * 1e6);
            let most = times().fold(0.0, f64::max);
            let least = times().fold(f64::INFINITY, f64::min);
            seen.least.push(least);
            seen.average.push(times().sum::<f64>() / rank_means.len().max(1) as f64);
            seen.most.push(most);
            seen.longest_on_root += usize::from(times().next() == Some(most));
            seen.shortest_on_root += usize::from(times().next() == Some(least));
        }
        seen
    }

    fn curves(&self, op: &'static str) -> [Curve; 3] {
        let figures = [("min", &self.least), ("avg", &self.average), ("max", &self.most)];
        figures.map(|(name, times)| {
            let points = KIB.iter().map(|kib| kib << 10).zip(times.iter().copied()).collect();
            Curve::new(op, format!("{}x {name}", self.reps), points)
        })
    }

    fn spreads(&self) -> Vec<f64> {
        self.most.iter().zip(&self.least).map(|(most, least)| most - least).collect()
    }
}

/// The smallest and the largest of one figure over another, at some sizes.
fn extremes(over: &[f64], under: &[f64], places: Range<usize>) -> (f64, f64) {
    let ratios = places.map(|place| over[place] / under[place]);
    ratios.fold((f64::INFINITY, 0.0), |(least, most), r| (least.min(r), most.max(r)))
}

pub fn part(cluster: &Cluster) -> Result<Part, PaperError> {
    let seen = |operation: Collective| -> Result<Vec<Seen>, PaperError> {
        let sizes = KIB.map(|kib| kib << 10);
        let one = |reps| {
            let batches = cluster.series(operation, &sizes, reps)?;
            Ok(Seen::new(reps, &batches))
        };
        REPETITIONS.into_iter().map(one).collect()
    };
    let (scatter, gather) = (seen(Collective::Scatter)?, seen(Collective::Gather)?);
    let mut claims = scatter_claims(&scatter);
    claims.extend(gather_claims(&gather));
    let curves = scatter.iter().flat_map(|seen| seen.curves(Collective::Scatter.name()));
    let curves =
        curves.chain(gather.iter().flat_map(|seen| seen.curves(Collective::Gather.name())));
    let heading = "Figure 1: IMB's minimum, average and maximum over the ranks, of one call and of \
                   series of 10 and 100";
    let part = Part::new("figure-1", How::Simulated, heading, Axes::TIMES);
    Ok(Part { claims, curves: curves.collect(), ..part })
}

/// How much longer sizes of the middle take than the largest, in the same experiment: an escalation
/// is a time that a longer message does not need. The smallest and the largest of all.
fn escalation(seen: &Seen) -> (f64, f64) {
    let last = vec![seen.most[KIB.len() - 1]; KIB.len()];
    extremes(&seen.most, &last, MEDIUM)
}

fn scatter_claims(scatter: &[Seen]) -> Vec<Claim> {
    let [single, series, long] = scatter else { return Vec::new() };
    let on_root = single.shortest_on_root as f64 / KIB.len() as f64;
    let (_, least) = extremes(&single.least, &single.most, 0..KIB.len());
    let (_, small) = extremes(&long.most, &single.most, SMALL);
    let (_, large) = extremes(&long.most, &single.most, LARGE);
    let [alone, escalated, diluted] = [single, series, long].map(|seen| escalation(seen).1);
    let shorter = "the execution time in the series is smaller than in a single experiment";
    let mut claims = vec![
        Claim::ratio_of(
            "scatter, single: part of the sizes with the minimum on the root",
            Some(1.0),
            on_root,
        )
        .equal()
        .known(7, 0.0, 0.0),
        Claim::own_ratio("scatter, single: largest minimum over maximum", least),
        Claim::own_ratio("scatter, single: medium sizes over 100K, the most", alone)
            .below(1.0, "escalations that do not happen in single experiments"),
        Claim::own_ratio("scatter, small: 100x over single", small).below(1.0, shorter),
        Claim::own_ratio("scatter, large: 100x over single", large).below(1.0, shorter),
        Claim::own_ratio("scatter, 10x: medium sizes over 100K, the most", escalated)
            .above(1.0, "for medium-sized messages, escalations are observed"),
        Claim::own_ratio("scatter, 100x: medium sizes over 100K, the most", diluted)
            .above(1.0, "for medium-sized messages, escalations are observed")
            .known(6, 0.55, 0.6),
    ];
    claims.extend(spread_claims("scatter", scatter));
    claims
}

fn gather_claims(gather: &[Seen]) -> Vec<Claim> {
    let [single, series, long] = gather else { return Vec::new() };
    let on_root = single.longest_on_root as f64 / KIB.len() as f64;
    let (_, shorter) = extremes(&series.most, &single.most, MEDIUM);
    let (_, shortest) = extremes(&long.most, &single.most, MEDIUM);
    let gone = "escalations disappear with the increase of the number of repetitions";
    let mut claims = vec![
        Claim::ratio_of(
            "gather, single: part of the sizes with the maximum on the root",
            Some(1.0),
            on_root,
        )
        .equal(),
        Claim::own_ratio("gather, single: medium sizes over 100K, the least", escalation(single).0)
            .above(1.0, "escalations for medium-sized messages, in single experiments"),
        Claim::own_ratio("gather, 10x: medium sizes over 100K, the most", escalation(series).1),
        Claim::own_ratio("gather, 100x: medium sizes over 100K, the most", escalation(long).1)
            .below(1.0, gone),
        Claim::own_ratio("gather, medium: 10x over single, the worst", shorter).below(1.0, gone),
        Claim::own_ratio("gather, medium: 100x over single, the worst", shortest).below(1.0, gone),
    ];
    claims.extend(spread_claims("gather", gather));
    claims
}

/// Whether the difference between minimum and maximum shrinks with repetitions: from each curve to
/// the next, at the worst of its small, medium and large sizes.
fn spread_claims(op: &str, curves: &[Seen]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (few, many) in curves.iter().zip(curves.iter().skip(1)) {
        for (sizes, places) in [("small", SMALL), ("medium", MEDIUM), ("large", LARGE)] {
            let (_, worst) = extremes(&many.spreads(), &few.spreads(), places);
            let (few, many) = (few.reps, many.reps);
            let what =
                format!("{op}, {sizes}: maximum less minimum, {many}x over {few}x, the worst");
            let claim = Claim::own_ratio(what, worst);
            let claim = claim.below(1.0, "the difference decreases with the repetitions");
            claims.push(match (op, sizes, few) {
                ("scatter", "medium", 1) => claim.known(1, 14.0, 15.5),
                ("scatter", "medium", _) => claim.known(1, 12.0, 13.5),
                ("gather", "small", 1) => claim.known(2, 39.0, 43.0),
                _ => claim,
            });
        }
    }
    claims
}
