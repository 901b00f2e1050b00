//! Rows of what is chosen, or of all that was tried.

use std::time::Instant;

use laneway_coll::Parameter;
use laneway_core::{Collective, Document, Failure, Row, Shape};
use laneway_sites::{Candidate, Choice, Sites};

use super::{Plan, failure};
use crate::output;

pub fn document(plan: &Plan, all: bool) -> Result<Document, Failure> {
    let sites = Sites::one_each(&plan.platform);
    let (mut rows, mut simulated) = (Vec::new(), 0);
    let begun = Instant::now();
    let mut limits = Vec::new();
    for &op in &plan.operations {
        for &size in &plan.sizes {
            let root = if op.has_root() { plan.root } else { 0 };
            let shape = Shape::new(op, sites.placement().ranks(), size).with_root(root);
            let choice = sites.choose(&shape).map_err(failure)?;
            simulated += choice.simulated;
            limits.extend(choice.bound.as_ref().map(|bound| bound.limit.clone()));
            if all {
                rows.extend(choice.all.iter().map(|one| row(op, size, one, &choice)));
            } else {
                rows.push(row(op, size, &choice.best, &choice));
            }
        }
    }
    // A platform of other parts than cards and links has no bound that is known.
    if let (true, Err(why)) = (limits.is_empty(), plan.platform.layout()) {
        output::note(&format!("no bound is known here: {why}"));
    }
    limits.dedup();
    if !limits.is_empty() {
        output::note(&format!("the bound is set by {}", limits.join(", ")));
    }
    let summary = Row::new()
        .with("simulated", simulated)
        .with("choosing_ms", begun.elapsed().as_secs_f64() * 1e3);
    let params = Row::new().with("platform", plan.platform.name()).with("root", plan.root);
    Ok(Document { verb: "sites", env: Row::new(), params, rows, summary: Some(summary) })
}

fn row(op: Collective, size: u64, candidate: &Candidate, choice: &Choice) -> Row {
    let bound = choice.bound.as_ref().map(|bound| bound.time);
    Row::new()
        .with("op", op.name())
        .with("size_bytes", size)
        .with("choice", candidate.algorithm.name)
        .with("lanes", candidate.get(Parameter::Lanes))
        .with("window", candidate.get(Parameter::Window))
        .with("near", candidate.get(Parameter::Near))
        .with("segment_bytes", candidate.get(Parameter::Segment))
        .with("own_thousandths", candidate.get(Parameter::Own))
        .with("stripes", candidate.get(Parameter::Stripes))
        .with("connections", candidate.get(Parameter::Connections))
        .with("predicted_us", candidate.time * 1e6)
        .with("bound_us", bound.map(|time| time * 1e6))
        .with("over_bound", bound.map(|time| candidate.time / time))
        .with("spelled", candidate.spelled())
}
