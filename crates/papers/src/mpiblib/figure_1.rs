//! Figure 1: what IMB tells of single calls and of series without isolation.

use std::ops::Range;

use laneway_core::Collective;
use laneway_measure::Batch;

use super::Cluster;
use crate::error::PaperError;
use crate::part::{Axes, Claim, Curve, Part};

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
    /// Sizes with the longest time on the root.
    longest_on_root: usize,
}

impl Seen {
    fn new(reps: u32, batches: &[Batch]) -> Seen {
        let (least, average, most) = Default::default();
        let mut seen = Seen { reps, least, average, most, longest_on_root: 0 };
        for Batch { rank_means, .. } in batches {
            let times = || rank_means.iter().map(|seconds| seconds * 1e6);
            let most = times().fold(0.0, f64::max);
            seen.least.push(times().fold(f64::INFINITY, f64::min));
            seen.average.push(times().sum::<f64>() / rank_means.len().max(1) as f64);
            seen.most.push(most);
            seen.longest_on_root += usize::from(times().next() == Some(most));
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
    Ok(Part {
        name: "figure-1",
        heading: "Figure 1: IMB's minimum, average and maximum over the ranks, of one call and of \
                  series of 10 and 100",
        commands: Vec::new(),
        remarks: Vec::new(),
        claims,
        curves: curves.collect(),
        axes: Axes::TIMES,
    })
}

fn scatter_claims(scatter: &[Seen]) -> Vec<Claim> {
    let [single, series, long] = scatter else { return Vec::new() };
    let (_, least) = extremes(&single.least, &single.most, 0..KIB.len());
    let last = vec![single.most[KIB.len() - 1]; KIB.len()];
    let (_, medium) = extremes(&single.most, &last, MEDIUM);
    let (_, small) = extremes(&long.most, &single.most, SMALL);
    let (_, large) = extremes(&long.most, &single.most, LARGE);
    let (_, escalated) = extremes(&series.most, &single.most, MEDIUM);
    let (_, diluted) = extremes(&long.most, &single.most, MEDIUM);
    let mut claims = vec![
        Claim::own_ratio("scatter, single: largest minimum over maximum", least)
            .asked("at most 0.4: the root only sends, in relatively little time", |r| r <= 0.4),
        Claim::own_ratio("scatter, single: medium sizes over 100K", medium)
            .asked("below 1: single scatters do not escalate", |r| r < 1.0),
        Claim::own_ratio("scatter, small: 100x over single", small)
            .asked("below 1: the pipeline shortens a repetition", |r| r < 1.0),
        Claim::own_ratio("scatter, large: 100x over single", large)
            .asked("below 1: the pipeline shortens a repetition", |r| r < 1.0),
        Claim::own_ratio("scatter, medium: 10x over single, the worst", escalated)
            .asked("at least 3: the series makes escalations", |r| r >= 3.0),
        Claim::own_ratio("scatter, medium: 100x over single, the worst", diluted),
    ];
    claims.extend(spread_claims("scatter", scatter));
    claims
}

fn gather_claims(gather: &[Seen]) -> Vec<Claim> {
    let [single, series, long] = gather else { return Vec::new() };
    let on_root = single.longest_on_root as f64 / KIB.len() as f64;
    let last = vec![single.most[KIB.len() - 1]; KIB.len()];
    let (medium, _) = extremes(&single.most, &last, MEDIUM);
    let (_, shorter) = extremes(&series.most, &single.most, MEDIUM);
    let (_, shortest) = extremes(&long.most, &single.most, MEDIUM);
    let mut claims = vec![
        Claim::own_ratio("gather, single: part of the sizes with the maximum on the root", on_root)
            .asked("1: there the messages meet", |r| r == 1.0),
        Claim::own_ratio("gather, single: medium sizes over 100K, the least", medium)
            .asked("at least 5: single gathers escalate", |r| r >= 5.0),
        Claim::own_ratio("gather, medium: 10x over single, the worst", shorter)
            .asked("at most 0.2: escalations disappear", |r| r <= 0.2),
        Claim::own_ratio("gather, medium: 100x over single, the worst", shortest)
            .asked("at most 0.1: escalations disappear with repetitions", |r| r <= 0.1),
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
            let claim = Claim::ratio_of(what, None, worst);
            claims.push(claim.asked("below 1: it shrinks with repetitions", |r| r < 1.0));
        }
    }
    claims
}
