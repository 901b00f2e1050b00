//! The multi-lane paper's algorithm for each number of lanes, simulated and by its cost model.

use laneway_coll::{Parameter, find};
use laneway_core::{Collective, Document, Failure, Row, Shape};
use laneway_sites::model::{Form, ModelError, TwoSites};
use laneway_sites::{NotTwoSites, Sharing, Sites};

use super::{Plan, failure};
use crate::output;

pub fn document(plan: &Plan, range: &str) -> Result<Document, Failure> {
    let layout = plan.platform.layout().map_err(|why| not_two_sites(NotTwoSites(why)))?;
    let hosts: Vec<u32> = (0..layout.hosts.len() as u32).collect();
    let mut rows = Vec::new();
    for &op in &plan.operations {
        for &size in &plan.sizes {
            let model = |sharing| {
                TwoSites::of(&layout, &hosts, plan.root, size, sharing).map_err(not_two_sites)
            };
            let models =
                Models { constant: model(Sharing::Constant)?, shared: model(Sharing::Shared)? };
            let lanes = parse(range, models.constant.most_lanes())?;
            models.tell(op, size)?;
            for lanes in lanes {
                rows.push(row(plan, op, size, lanes, &models)?);
            }
        }
    }
    let params = Row::new().with("platform", plan.platform.name()).with("root", plan.root);
    Ok(Document { verb: "sites", env: Row::new(), params, rows, summary: None })
}

/// The cost model in both readings of what a pair of hosts gets of the link.
struct Models {
    constant: TwoSites,
    shared: TwoSites,
}

impl Models {
    /// Says how many lanes each form would take.
    fn tell(&self, op: Collective, size: u64) -> Result<(), Failure> {
        let best = |model: &TwoSites, form| model.best(form).map_err(no_model);
        let printed = best(&self.constant, Form::Printed)?;
        let shared = best(&self.shared, Form::Printed)?;
        let corrected = best(&self.shared, Form::Corrected)?;
        let overlapped = best(&self.shared, Form::Overlapped)?;
        output::note(&format!(
            "{} of {size} bytes: the printed model takes {} lanes with a constant rate of each, {} \
             where they share the link; corrected {}, with sends that overlap {}",
            op.name(),
            printed.lanes,
            shared.lanes,
            corrected.lanes,
            overlapped.lanes
        ));
        Ok(())
    }
}

fn row(
    plan: &Plan,
    op: Collective,
    size: u64,
    lanes: u32,
    models: &Models,
) -> Result<Row, Failure> {
    let sites = Sites::one_each(&plan.platform);
    let shape = Shape::new(op, sites.placement().ranks(), size).with_root(plan.root);
    let (algorithm, params) = find(op, "multi-lane").map_err(|_| {
        let cause = format!("{} has no algorithm `multi-lane`", op.name());
        Failure::usage("lanes are of scatter and gather", cause, "--op scatter,gather")
    })?;
    let params = params.with(Parameter::Lanes, u64::from(lanes));
    let outcome = sites.simulate(&shape, algorithm, &params).map_err(failure)?;
    let time = |model: &TwoSites, form| model.time(form, lanes).map_err(no_model);
    Ok(Row::new()
        .with("op", op.name())
        .with("size_bytes", size)
        .with("p", lanes)
        .with("simulated_us", outcome.finish * 1e6)
        .with("printed_us", time(&models.constant, Form::Printed)? * 1e6)
        .with("printed_shared_us", time(&models.shared, Form::Printed)? * 1e6)
        .with("corrected_us", time(&models.shared, Form::Corrected)? * 1e6)
        .with("overlapped_us", time(&models.shared, Form::Overlapped)? * 1e6))
}

/// `1:32`, or one number.
fn parse(range: &str, most: u32) -> Result<std::ops::RangeInclusive<u32>, Failure> {
    let (low, high) = range.split_once(':').unwrap_or((range, range));
    let numbers = (low.parse::<u32>(), high.parse::<u32>());
    let try_this = format!("--lanes 1:{most}");
    let (Ok(low), Ok(high)) = numbers else {
        let what = format!("`{range}` is no range of lanes");
        return Err(Failure::usage(what, "it is a number, or two as in 1:32", try_this));
    };
    if low == 0 || low > high || high > most {
        let cause = format!("the smaller site has {most} hosts, and a lane takes one of each");
        return Err(Failure::usage(format!("no lanes {range}"), cause, try_this));
    }
    Ok(low..=high)
}

fn no_model(error: ModelError) -> Failure {
    Failure::usage("the cost model has no answer", error.to_string(), "another --platform")
}

fn not_two_sites(why: NotTwoSites) -> Failure {
    let try_this = "--platform two-sites:32x32, or without --lanes";
    Failure::usage("lanes are counted between two sites", why.0, try_this)
}
