//! Table 1: what benchmarks of scatter and gather cost with each timing method.

use super::{Compared, OPERATIONS};
use crate::part::{Axes, Claim, Part};

/// Seconds by global, maximum and root.
type Costs = [f64; 3];

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
                    claims.push(Claim::seconds(what, paper, run.seconds()));
                }
                None => claims.push(Claim::own_seconds(what, run.seconds())),
            }
        }
    }
    let ratio =
        |what: &str, of: fn(&[Costs; 2]) -> f64| Claim::ratio_of(what, Some(of(&PAPER)), of(&ours));
    let like = |ratio: f64| (0.9..1.1).contains(&ratio);
    claims.extend([
        ratio("scatter: global over maximum", |[scatter, _]| scatter[0] / scatter[1])
            .asked("at least 2: the global method is costly", |ratio| ratio >= 2.0),
        ratio("gather: global over maximum", |[_, gather]| gather[0] / gather[1])
            .asked("at least 2: the global method is costly", |ratio| ratio >= 2.0),
        ratio("what global adds: gather over scatter", |[scatter, gather]| {
            (gather[0] - gather[1]) / (scatter[0] - scatter[1])
        })
        .asked("within 10 % of 1: comparing clocks costs the same", like),
        ratio("scatter: root over maximum", |[scatter, _]| scatter[2] / scatter[1])
            .asked("within 10 % of 1: both are as efficient", like),
        ratio("gather: root over maximum", |[_, gather]| gather[2] / gather[1])
            .asked("within 10 % of 1: both are as efficient", like),
        ratio("gather over scatter by maximum", |[scatter, gather]| gather[1] / scatter[1])
            .asked("at least 5: gathers of medium size escalate", |ratio| ratio >= 5.0),
    ]);
    Part {
        name: "table-1",
        heading: "Table 1: the whole benchmark, one repetition of each size from 0 to 100K by 1K; \
                  the sum of cost_us of",
        commands: compared.commands(),
        remarks: Vec::new(),
        claims,
        curves: Vec::new(),
        axes: Axes::TIMES,
    }
}
