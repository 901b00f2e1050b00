//! A survey that does not measure every pair with care.
//!
//! Each host is measured with a few random partners (`draw.rs`). Then every pair of hosts gets a
//! quick look, a message of each kind (`looks.rs`, `quick.rs`), and what stands out is measured
//! with care, together with further partners of its hosts, until the verdict needs no more
//! (`choose.rs`). The verdict rests on pairs that were measured with care alone; a quick look only
//! says where to measure.

mod choose;
mod draw;
mod looks;
mod quick;
mod usual;

use laneway_core::CommError;

use super::course::announce_numbers;
use super::error::SurveyError;
use super::findings::{Findings, Rounds};
use super::found::{Bench, Found};
use crate::p2p::{Deal, sites_by_latency};
use crate::talk::{broadcast, synchronise};
use choose::Chooser;
use draw::Draw;
use quick::Quick;
use usual::{Bounds, Usual};

/// Partners of each host where the caller names no number.
pub const PARTNERS: u32 = 8;

/// Fewer would not tell a host from a link.
pub const LEAST_PARTNERS: u32 = 2;

/// How many pairs are measured with care to begin with, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Partners of each host; [`PARTNERS`] at most, and no more than there are, where it is none.
    pub partners: Option<u32>,
    /// Of the random choice.
    pub seed: u64,
}

/// The largest number of times that the verdict chooses further pairs.
const MOST_CHOICES: usize = 8;

/// Collective: measures a sample and judges it; the findings, on rank 0.
pub(super) fn run(
    mut bench: Bench,
    mut found: Found,
    known: Option<Vec<u32>>,
) -> Result<Option<Findings>, SurveyError> {
    let comm = bench.comm;
    let Some(sample) = found.survey.sample else { return Ok(None) };
    found.sites = match known {
        Some(sites) => sites,
        None => {
            let latencies = quick::latencies(&bench)?;
            announce_numbers(comm, &sites_by_latency(&latencies, comm.size()))?
        }
    };
    let is_first = comm.rank() == 0;
    // Rank 0 alone knows and chooses pairs.
    let mut draw = is_first.then(|| Draw::new(&found.numbers, &found.sites, sample));
    let plan = draw.as_mut().map(|draw| found.plan(draw.pairs())).transpose()?;
    let deal = Deal::new(bench.lab.comm, plan)?;
    found.measure(&mut bench, &deal, None)?;
    let quick = look_at_all(&bench, &found)?;
    let mut chooser = draw.map(|draw| Chooser::new(draw, quick));
    let mut rounds = deal.rounds();
    for _ in 0..MOST_CHOICES {
        let next = chooser.as_mut().map(|chooser| {
            let wanted = chooser.next(&found.findings(NONE).judge(), &found);
            found.plan(wanted)
        });
        match found.look(&mut bench, next.transpose()?)? {
            0 => break,
            more => rounds += more,
        }
    }
    synchronise(bench.lab.comm)?;
    Ok(chooser.map(|chooser| {
        let findings = found.findings(Rounds { done: rounds, all: rounds }).judge();
        let coverage = chooser.coverage(&findings, &found);
        Findings { coverage: Some(coverage), ..findings }
    }))
}

/// Every rank knows what is usual between each two sites; of more there are no quick looks.
const MOST_SITES: u32 = 256;

const NONE: Rounds = Rounds { done: 0, all: 0 };

/// Collective: quick looks at all pairs of hosts, bounded by what is usual in the sample.
fn look_at_all(bench: &Bench, found: &Found) -> Result<Quick, CommError> {
    if found.survey.sequential {
        return Ok(Quick::default());
    }
    let sites = found.sites.iter().max().map_or(0, |&most| most + 1);
    if sites > MOST_SITES {
        return Ok(Quick::default());
    }
    let mut numbers = vec![f64::NAN; Bounds::count(sites)];
    if bench.comm.rank() == 0 {
        let findings = found.findings(NONE).judge();
        numbers = Usual::of(&findings, &found.numbers).bounds(&findings, sites);
    }
    broadcast(bench.lab.comm, &mut numbers)?;
    looks::look_at_all(bench, found, &Bounds::new(sites, numbers), sites)
}
