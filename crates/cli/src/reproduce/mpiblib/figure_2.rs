//! Figure 2: the three timing methods find the same times.

use laneway_core::Failure;

use super::{COMPARED, Cluster, Compared, OPERATIONS};
use crate::reproduce::part::{Axes, Claim, Curve, Part};

/// Below, a call takes no longer than the barrier before it or the confirmation after it.
const CLEAR_BYTES: u64 = 16 << 10;

pub fn part(cluster: &Cluster, compared: &Compared) -> Result<Part, Failure> {
    let (mut claims, mut curves) = (Vec::new(), Vec::new());
    // A size of 0 sends nothing: there is no time to agree on.
    let sizes = &compared.sizes[1..];
    for (op, operation) in OPERATIONS.into_iter().enumerate() {
        let name = operation.name();
        let truths = cluster.truths(operation, sizes)?;
        let truth = curve(name, "truth", sizes, truths.into_iter());
        let methods: Vec<Curve> = COMPARED
            .iter()
            .zip(&compared.sweeps[op])
            .map(|(method, sweep)| {
                let samples = sweep.batches[1..].iter().flat_map(|batch| batch.samples.first());
                curve(name, method().name(), sizes, samples.map(|sample| sample.time))
            })
            .collect();
        for method in &methods {
            claims.extend(to_the_truth(method, &truth));
        }
        let [global, maximum, root] = &methods[..] else { continue };
        let pairs = [(global, maximum), (global, root), (maximum, root)];
        let most = pairs.map(|(a, b)| largest(a, b, CLEAR_BYTES)).into_iter().fold(0.0, f64::max);
        claims.push(
            Claim::ratio_of(
                format!("{name}: methods to each other, from 16K, largest"),
                None,
                most,
            )
            .asked("at most 0.1: they agree", |part| part <= 0.1),
        );
        curves.push(truth);
        curves.extend(methods);
    }
    Ok(Part {
        name: "figure-2",
        heading: "Figure 2: the timing methods against each other and the truth, one call of each \
                  size; relative differences",
        claims,
        curves,
        axes: Axes::TIMES,
    })
}

fn curve(
    op: &'static str,
    label: &str,
    sizes: &[u64],
    seconds: impl Iterator<Item = f64>,
) -> Curve {
    let points = sizes.iter().copied().zip(seconds.map(|seconds| seconds * 1e6)).collect();
    Curve { op, label: label.to_owned(), points }
}

fn differences<'a>(
    one: &'a Curve,
    other: &'a Curve,
    from_bytes: u64,
) -> impl Iterator<Item = f64> + 'a {
    let pairs = one.points.iter().zip(&other.points);
    let clear = pairs.filter(move |(point, _)| point.0 >= from_bytes);
    clear.map(|(one, other)| (one.1 / other.1 - 1.0).abs())
}

fn largest(one: &Curve, other: &Curve, from_bytes: u64) -> f64 {
    differences(one, other, from_bytes).fold(0.0, f64::max)
}

fn to_the_truth(method: &Curve, truth: &Curve) -> [Claim; 3] {
    let whole = differences(method, truth, 0).sum::<f64>() / truth.points.len().max(1) as f64;
    let claim = |what: &str, ours: f64| {
        Claim::ratio_of(format!("{}: {} to the truth, {what}", method.op, method.label), None, ours)
    };
    [
        claim("all sizes, mean", whole).asked("at most 0.05: as accurate", |part| part <= 0.05),
        claim("from 16K, largest", largest(method, truth, CLEAR_BYTES))
            .asked("at most 0.1: as accurate", |part| part <= 0.1),
        claim("all sizes, largest", largest(method, truth, 0)),
    ]
}
