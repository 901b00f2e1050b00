//! All calls of a plan, and what came of them in rows.

use std::sync::Arc;

use laneway_core::{Comm, CommError, Placement, Row};

use super::case::{Case, Outcome};
use super::plan::Group;
use super::tally::Tally;

/// What came of the calls of a plan, the same on every rank.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// A row for each call.
    pub rows: Vec<Row>,
    /// A row for each algorithm, with the first thing to know about it.
    pub brief: Vec<Row>,
    /// How many calls came out how.
    pub tally: Tally,
}

/// Collective: makes the calls of these groups in their order; `before` is called before each
/// of them.
pub fn run(
    comm: &dyn Comm,
    groups: &[Group],
    placement: Option<&Arc<Placement>>,
    before: &mut dyn FnMut(&Case),
) -> Result<Report, CommError> {
    let mut report = Report::default();
    for group in groups {
        let sequence = report.rows.len() as u16;
        let outcomes = group.run(comm, placement, sequence, before)?;
        report.tally.add(&Tally::of(&outcomes));
        report.brief.push(brief_row(group, &outcomes));
        let rows = group.cases.iter().zip(&outcomes);
        report.rows.extend(rows.map(|(case, outcome)| case.row(comm.size(), outcome)));
    }
    Ok(report)
}

/// An algorithm, and why its first failed call failed, or else why its first skipped one was.
fn brief_row(group: &Group, outcomes: &[Outcome]) -> Row {
    let failed = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Failed(why) => Some(why),
        _ => None,
    });
    let skipped = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Skipped(why) => Some(why),
        _ => None,
    });
    let mut row = Row::new().with("op", group.collective.name()).with("algorithm", group.algorithm);
    row.0.extend(Tally::of(outcomes).row().0);
    row.with("note", failed.or(skipped).map_or("", String::as_str))
}
