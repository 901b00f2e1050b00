//! Figure 2: the timing methods find the same times, but where ranks do not begin together.

use super::measured::{Point, Run};
use super::{Compared, OPERATIONS};
use crate::part::{Axes, Curve, How, Part};
use crate::{Bound, Claim};

/// Below, a call takes no longer than ranks begin apart after a barrier, or a confirmation takes.
const CLEAR_BYTES: u64 = 16 << 10;
/// A small gather, to tell why it is too short.
const SMALL_BYTES: u64 = 2 << 10;

pub fn part(compared: &Compared) -> Part {
    let (mut claims, mut curves) = (Vec::new(), Vec::new());
    for (operation, runs) in OPERATIONS.iter().zip(&compared.runs) {
        let op = operation.name();
        let with_truth = runs.iter().flat_map(|run| &run.points);
        let truth = with_truth.filter_map(|point| Some((point.size, point.truth?))).collect();
        let truth = Curve::new(op, "truth", truth);
        let methods: Vec<Curve> = runs.iter().map(|run| curve(op, run)).collect();
        for method in &methods {
            claims.extend(to_the_truth(method, &truth));
        }
        if let [global, maximum, root, _] = &methods[..] {
            let pairs = [(global, maximum), (global, root), (maximum, root)];
            let apart = pairs.map(|(a, b)| largest(a, b, is_clear));
            let what = format!("{op}: the paper's three to each other, from 16K, largest");
            let most = apart.into_iter().fold(0.0, f64::max);
            claims.push(Claim::own_ratio(what, most));
            for method in [maximum, root] {
                claims.push(as_accurate(method, global, &truth));
            }
        }
        claims.extend(runs.iter().filter_map(|run| apart(op, run, &truth)));
        curves.push(truth);
        curves.extend(methods);
    }
    let heading = "Figure 2: the timing methods against each other and the truth, one repetition \
                   of each size; relative differences; by the commands of table 1";
    let commands = compared.commands();
    let part = Part::new("figure-2", How::Simulated, heading, Axes::TIMES);
    Part { claims, curves, commands, ..part }
}

/// Whether a method is as accurate as the one with clocks that agree: its mean error over all sizes
/// is not the larger one.
fn as_accurate(method: &Curve, global: &Curve, truth: &Curve) -> Claim {
    let ratio = mean(method, truth) / mean(global, truth);
    let what = format!("{}: error of {} over that of global", method.op, method.label);
    let claim = Claim::own_ratio(what, ratio);
    let claim = claim.asked(Bound::AtMost(1.0), "as accurate as that with global time");
    match (method.op, method.label.as_str()) {
        ("scatter", "maximum") => claim.known(8, 2.2, 2.8),
        ("scatter", "root") => claim.known(8, 34.0, 40.0),
        _ => claim,
    }
}

fn curve(op: &'static str, run: &Run) -> Curve {
    let points = run.points.iter().map(|point| (point.size, point.time)).collect();
    Curve::new(op, run.method.name, points)
}

/// Why small calls are off: how far apart ranks began a small one, of what it takes.
fn apart(op: &str, run: &Run, truth: &Curve) -> Option<Claim> {
    let small = |point: &&Point| point.size == SMALL_BYTES;
    let skew = run.points.iter().find(small)?.skew?;
    let (_, truth) = truth.points.iter().find(|(size, _)| *size == SMALL_BYTES)?;
    let what = format!("{op} of 2K by {}: ranks begin apart, over the truth", run.method.name);
    Some(Claim::ratio_of(what, None, skew / truth))
}

fn is_clear(size: u64) -> bool {
    size >= CLEAR_BYTES
}

/// The largest difference of one curve to another, as a part of that, at some sizes.
fn largest(one: &Curve, other: &Curve, at: impl Fn(u64) -> bool) -> f64 {
    let pairs = one.points.iter().zip(&other.points).filter(|(point, _)| at(point.0));
    pairs.map(|(one, other)| (one.1 / other.1 - 1.0).abs()).fold(0.0, f64::max)
}

/// The mean difference of one curve to another, as a part of that.
fn mean(one: &Curve, other: &Curve) -> f64 {
    let pairs = one.points.iter().zip(&other.points);
    let sum: f64 = pairs.map(|(one, other)| (one.1 / other.1 - 1.0).abs()).sum();
    sum / one.points.len().min(other.points.len()) as f64
}

fn to_the_truth(method: &Curve, truth: &Curve) -> [Claim; 2] {
    let claim = |what: &str, ours: f64| {
        let what = format!("{}: {} to the truth, {what}, largest", method.op, method.label);
        Claim::own_ratio(what, ours)
    };
    [
        claim("below 16K", largest(method, truth, |size| !is_clear(size))),
        claim("from 16K", largest(method, truth, is_clear)),
    ]
}
