//! Table 1: what benchmarks of scatter and gather cost with each timing method.

use std::ops::RangeInclusive;

use super::{Compared, OPERATIONS};
use crate::part::{Axes, How, Part};
use crate::{Claim, Printed};

/// Seconds by global, maximum and root.
type Costs = [f64; 3];

/// The ranges of ours, each with the number of its reason.
const KNOWN: [[(u8, f64, f64); 3]; 2] = [
    [(4, 9.2, 9.7), (3, 2.1, 2.3), (3, 2.5, 2.7)],
    [(4, 32.5, 34.0), (3, 25.5, 26.5), (3, 26.0, 27.0)],
];

/// By operation, in our order.
const PAPER: [Costs; 2] = [[28.7, 0.8, 0.8], [44.7, 15.6, 15.7]];

pub fn part(compared: &Compared) -> Part {
    let mut claims = Vec::new();
    let mut ours = [[0.0; 3]; 2];
    for (op, operation) in OPERATIONS.iter().enumerate() {
        for (by, run) in compared.runs[op].iter().enumerate() {
            let what = format!("{} by {}", operation.name(), run.method.name);
            match PAPER[op].get(by) {
                Some(&paper) => {
                    ours[op][by] = run.seconds();
                    let claim = Claim::seconds(what, paper, run.seconds());
                    let (reason, low, high) = KNOWN[op][by];
                    let claim = claim.printed(Printed::new(paper, 0.1), "");
                    claims.push(claim.known(reason, low, high));
                }
                None => claims.push(Claim::own_seconds(what, run.seconds())),
            }
        }
    }
    let ratio = |what: &str, of: fn(&[Costs; 2]) -> (f64, f64)| {
        let ((over, under), (our_over, our_under)) = (of(&PAPER), of(&ours));
        let printed = Printed::new(over, 0.1).over(Printed::new(under, 0.1));
        let claim = Claim::ratio_of(what, Some(over / under), our_over / our_under);
        claim.printed(printed, "by the table")
    };
    claims.extend([
        ratio("scatter: global over maximum", |[scatter, _]| (scatter[0], scatter[1]))
            .known(4, 4.1, 4.5),
        ratio("gather: global over maximum", |[_, gather]| (gather[0], gather[1]))
            .known(3, 1.25, 1.32),
        ratio("scatter: root over maximum", |[scatter, _]| (scatter[2], scatter[1]))
            .known(5, 1.14, 1.21),
        ratio("gather: root over maximum", |[_, gather]| (gather[2], gather[1]))
            .known(5, 1.013, 1.02),
        ratio("gather over scatter by maximum", |[scatter, gather]| (gather[1], scatter[1]))
            .known(3, 11.5, 12.2),
    ]);
    for (op, operation) in OPERATIONS.iter().enumerate() {
        for (by, name) in [(1, "maximum"), (2, "root")] {
            let what = format!("{}: global costs more than {name}", operation.name());
            let claim = Claim::own_ratio(what, ours[op][0] / ours[op][by]);
            claims.push(claim.above(1.0, "maximum and root are much more efficient"));
        }
    }
    let what = "gather over scatter by maximum: part of the difference at medium sizes";
    let claim = Claim::own_ratio(what, medium_part(compared));
    claims.push(claim.above(0.5, "the difference is caused by gathers of middle sizes"));
    let heading = "Table 1: the whole benchmark, one repetition of each size from 0 to 100K by 1K; \
                   the sum of cost_us of";
    let part = Part::new("table-1", How::Simulated, heading, Axes::TIMES);
    Part { claims, commands: compared.commands(), ..part }
}

/// How much of what gathers cost more than scatters is at sizes of the middle.
fn medium_part(compared: &Compared) -> f64 {
    const MEDIUM: RangeInclusive<u64> = 5 << 10..=64 << 10;
    const MAXIMUM: usize = 1;
    let cost = |op: usize, is: &dyn Fn(u64) -> bool| -> f64 {
        let points = compared.runs[op][MAXIMUM].points.iter().filter(|point| is(point.size));
        points.map(|point| point.cost).sum()
    };
    let more = |is: &dyn Fn(u64) -> bool| cost(1, is) - cost(0, is);
    more(&|size| MEDIUM.contains(&size)) / more(&|_| true)
}
