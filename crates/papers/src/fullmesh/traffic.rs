//! Figures 13 to 17: what conflicts leave of the bandwidth, in an all-to-all and at random.

use laneway_stats::summary::Summary;
use laneway_topo::traffic::order::Random;
use laneway_topo::{Counter, Host, Port, Routing, Switch, Tally, Topology, topology};

use super::{DEGREES, counted};
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, Part};
use crate::{Bound, Claim, Printed};

/// As in the figures: the proposal, and the two trees that it stands between.
const KINDS: [&str; 3] = ["mlfm", "fat-tree-3", "fat-tree-3-half"];

/// Permutations at random, by degree. The paper has 100 of each, the mean of which is too uncertain
/// on the smallest fabrics to tell the figures that it prints from others.
const TRIALS: [u64; 3] = [10_000, 300, 100];
/// As many as the paper's.
const PAPER_TRIALS: f64 = 100.0;
const SEED: u64 = 1;

/// A mean with its standard error.
#[derive(Clone, Copy)]
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    /// Throughputs of permutations: of each the mean over messages of 1 / conflict.
    fn of(trials: &[Tally]) -> Estimate {
        let throughputs: Vec<f64> = trials.iter().map(Tally::flow_mean).collect();
        match Summary::of(&throughputs) {
            Some(summary) => Estimate {
                mean: summary.mean,
                error: summary.stddev / (summary.count as f64).sqrt(),
            },
            None => Estimate { mean: f64::NAN, error: f64::NAN },
        }
    }

    /// One over another that was drawn independently.
    fn over(self, other: Estimate) -> Estimate {
        let mean = self.mean / other.mean;
        let relative = (self.error / self.mean).hypot(other.error / other.mean);
        Estimate { mean, error: mean * relative }
    }
}

/// The half tree with another choice of the cable up, which the paper leaves open: numbers d / 2
/// apart share one, where laneway's own forwarding lets two neighbours share.
struct DModK<'t>(&'t dyn Topology);

impl Routing for DModK<'_> {
    fn port(&self, switch: Switch, host: Host) -> Option<Port> {
        let (d, port) = (self.0.d(), self.0.port(switch, host)?);
        // Leaves come first, and have their cables up behind those of their hosts.
        let is_up = switch < d * d && u32::from(port) >= d;
        Some(if is_up { (d + host % (d / 2)) as Port } else { port })
    }
}

/// What was counted on one fabric.
struct Counted {
    trials: u64,
    alltoall: Tally,
    /// Permutations without fixed points, and any.
    random: Vec<Tally>,
    any: Vec<Tally>,
}

impl Counted {
    fn new(kind: &str, d: u32, trials: u64) -> Result<Counted, PaperError> {
        let fabric = topology(&format!("{kind}:d={d}")).map_err(PaperError::testbed)?;
        let (hosts, counter) = (fabric.hosts(), counter(&*fabric, &*fabric)?);
        let drawn = |fixed_points| {
            let order = Random { hosts, phases: trials, seed: SEED, fixed_points };
            counter.count_each(&order, &())
        };
        let alltoall = counter.count(&*fabric.order());
        Ok(Counted { trials, alltoall, random: drawn(false), any: drawn(true) })
    }

    /// 1 / the mean over phases of the largest conflict.
    fn inverse_mean(&self) -> f64 {
        self.alltoall.phases.iter().sum::<u64>() as f64 / self.alltoall.time() as f64
    }

    /// The share of messages with each conflict, from 1 on.
    fn shares(&self) -> Vec<f64> {
        let mut all = Tally::default();
        self.random.iter().for_each(|trial| all.merge(trial));
        let messages: u64 = all.flows.iter().sum();
        all.flows.iter().skip(1).map(|&count| count as f64 / messages as f64).collect()
    }
}

fn counter(fabric: &dyn Topology, routing: &dyn Routing) -> Result<Counter, PaperError> {
    Counter::new(fabric, routing)
        .map_err(|why| PaperError::Testbed(format!("{}: {why}", fabric.spec())))
}

/// What the figures share: counted once, when it is first asked for.
#[derive(Default)]
pub struct Traffic {
    /// By degree, then by kind.
    counted: [Option<[Counted; 3]>; 3],
}

impl Traffic {
    fn at(&mut self, degree: usize) -> Result<&[Counted; 3], PaperError> {
        let d = DEGREES[degree];
        let place = &mut self.counted[degree];
        if place.is_none() {
            let [one, two, three] = KINDS.map(|kind| Counted::new(kind, d, TRIALS[degree]));
            *place = Some([one?, two?, three?]);
        }
        Ok(place.as_ref().expect("filled above"))
    }

    pub fn figure_13(&mut self) -> Result<Part, PaperError> {
        let mut claims = Vec::new();
        let mut bars = bars("all-to-all");
        for (degree, d) in DEGREES.into_iter().enumerate() {
            let counted = self.at(degree)?;
            for (kind, (counted, bar)) in KINDS.iter().zip(counted.iter().zip(&mut bars)) {
                let ours = counted.alltoall.phase_mean();
                bar.points.push((u64::from(d), ours));
                if *kind != "fat-tree-3-half" {
                    let what = format!("{kind}, d = {d}: throughput");
                    claims.push(Claim::ratio_of(what, Some(1.0), ours).equal());
                }
            }
        }
        for (degree, d) in DEGREES.into_iter().enumerate() {
            // The text: 0.52 to 0.50.
            let paper = [Some(0.52), None, Some(0.50)][degree];
            let printed = Printed::range(0.50, 0.52, 0.01);
            let by = |what: &str, ours: f64| {
                Claim::ratio_of(format!("fat-tree-3-half, d = {d}: {what}"), paper, ours)
            };
            let fabric =
                topology(&format!("fat-tree-3-half:d={d}")).map_err(PaperError::testbed)?;
            let other = counter(&*fabric, &DModK(&*fabric))?.count(&*fabric.order());
            let [.., half] = self.at(degree)?;
            let claim = by("throughput", half.alltoall.phase_mean());
            // At d = 4 the cable up that a message takes decides, which we chose to fit.
            claims.push(match d {
                4 => claim,
                _ => claim.printed(printed, "0.52 to 0.50"),
            });
            claims.extend([
                by("the same, 1 / mean of the largest conflicts", half.inverse_mean()),
                by("the same, mean over messages of 1 / conflict", half.alltoall.flow_mean()),
                by("throughput, forwarded by d-mod-k", other.phase_mean()),
            ]);
        }
        Ok(Part {
            claims,
            curves: bars.into(),
            ..counted(
                "figure-13",
                "Figure 13: all-to-all; throughput is the mean over phases of 1 / the phase's \
                      largest conflict, as section 6.1 says. The paper does not say how the half \
                      tree chooses a cable up: with two neighbours at one cable its figures come \
                      out, with d-mod-k more phases are free of conflict",
                axes("throughput", "d"),
            )
        })
    }

    pub fn figure_14(&mut self) -> Result<Part, PaperError> {
        let mut claims = Vec::new();
        let mut bars = bars("random permutations");
        let mut ratios = Vec::new();
        for (degree, d) in DEGREES.into_iter().enumerate() {
            let counted = self.at(degree)?;
            for (kind, (counted, bar)) in KINDS.iter().zip(counted.iter().zip(&mut bars)) {
                let Estimate { mean, error } = Estimate::of(&counted.random);
                bar.points.push((u64::from(d), mean));
                claims.push(Claim::own_ratio(format!("{kind}, d = {d}: throughput"), mean));
                claims.push(Claim::own_ratio(format!("{kind}, d = {d}: standard error"), error));
            }
            let [mesh, tree, _] = counted;
            let ratio = Estimate::of(&mesh.random).over(Estimate::of(&tree.random));
            let any = Estimate::of(&mesh.any).over(Estimate::of(&tree.any));
            ratios.push(ratio.mean);
            // paper: fullmesh 6.3: 3.0 to 9.4 % less, the less the larger d is.
            let paper = [Some(1.0 - 0.094), None, Some(1.0 - 0.030)][degree];
            let claim = Claim::ratio_of(format!("d = {d}: mesh over tree"), paper, ratio.mean);
            // A mean of 100 permutations has an error of its own, the paper's as ours, beside the
            // rounding of what is printed.
            let trials = counted[0].trials as f64;
            let most = 2.0 * ratio.error.hypot(ratio.error * (trials / PAPER_TRIALS).sqrt());
            let (low, high) = paper.map_or((1.0 - 0.094, 1.0 - 0.030), |paper| (paper, paper));
            let bound = Bound::Within(low - most - 0.0005, high + most + 0.0005);
            claims.push(claim.asked(bound, "3.0 to 9.4 % less, with two standard errors of both"));
            claims.push(Claim::own_ratio(format!("d = {d}: its standard error"), ratio.error));
            claims.push(Claim::own_ratio(
                format!("d = {d}: mesh over tree, also fixed points"),
                any.mean,
            ));
        }
        let grows = ratios.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::INFINITY, f64::min);
        claims.push(
            Claim::ratio_of("mesh over tree, from d to the next, least growth", None, grows)
                .above(1.0, "the larger d is, the closer they are"),
        );
        Ok(Part {
            claims,
            curves: bars.into(),
            ..counted(
                "figure-14",
                "Figure 14: random permutations (10,000, 300 and 100 at d = 4, 8 and 18), the \
                 mean over messages of 1 / conflict",
                axes("throughput", "d"),
            )
        })
    }

    pub fn histogram(&mut self, name: &'static str, degree: usize) -> Result<Part, PaperError> {
        let d = DEGREES[degree];
        let mut shares: Vec<Vec<f64>> = self.at(degree)?.iter().map(Counted::shares).collect();
        let longest = shares.iter().map(Vec::len).max().unwrap_or(0);
        shares.iter_mut().for_each(|shares| shares.resize(longest, 0.0));
        let mut claims = Vec::new();
        let means = [0, 1, 2].map(|kind: usize| {
            let shares = shares[kind].iter().zip(1..);
            shares.map(|(share, conflict)| share * f64::from(conflict)).sum::<f64>()
        });
        for (kind, mean) in KINDS.iter().zip(means) {
            claims.push(Claim::ratio_of(format!("{kind}: mean conflict"), None, mean));
        }
        let ratio =
            Claim::ratio_of("mean conflict, mesh over half tree", None, means[0] / means[2]);
        claims.push(ratio.below(1.0, "fewer conflicts than the half tree for every d"));
        let apart = apart(&shares[0], &shares[1]);
        let what = "mesh and tree: share of messages that differ";
        claims.push(Claim::ratio_of(what, None, apart));
        if let Some(before) = degree.checked_sub(1) {
            let smaller = self.at(before)?;
            let ratio = apart / self::apart(&smaller[0].shares(), &smaller[1].shares());
            let what = format!("the same over that at d = {}", DEGREES[before]);
            let said = "the larger d is, the closer the distributions are";
            claims.push(Claim::ratio_of(what, None, ratio).below(1.0, said));
        }
        let curves = KINDS.iter().zip(shares).map(|(kind, shares)| {
            let points = (1..).zip(shares).collect();
            Curve::new("share of messages by conflict", *kind, points)
        });
        Ok(Part {
            claims,
            curves: curves.collect(),
            ..counted(
                name,
                match d {
                    4 => "Figure 15: conflicts of random permutations, d = 4",
                    8 => "Figure 16: conflicts of random permutations, d = 8",
                    _ => "Figure 17: conflicts of random permutations, d = 18",
                },
                axes("share of messages", "conflicts of a message in random permutations"),
            )
        })
    }
}

/// Half the sum of the differences of two distributions: the messages that would have to change
/// their place.
fn apart(one: &[f64], other: &[f64]) -> f64 {
    let share = |shares: &[f64], at: usize| shares.get(at).copied().unwrap_or(0.0);
    let places = 0..one.len().max(other.len());
    places.map(|at| (share(one, at) - share(other, at)).abs()).sum::<f64>() / 2.0
}

fn bars(op: &'static str) -> [Curve; 3] {
    KINDS.map(|kind| Curve::new(op, kind, Vec::new()))
}

fn axes(up: &'static str, along: &'static str) -> Axes {
    Axes { across: "at", unit: None, up, along, drawn: Drawn::Bars }
}
