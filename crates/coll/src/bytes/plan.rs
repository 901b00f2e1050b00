//! Which calls are checked: every algorithm, size and root, in place and apart.

use std::fmt;
use std::sync::Arc;

use laneway_core::{Collective, Comm, CommError, Placement, Rank};

use super::case::{Case, Outcome};
use super::content::Content;
use super::tally::agree;
use crate::answerer::Answerer;
use crate::registry::{Algorithm, Params, algorithms, find, refused_name};

/// Up to this many ranks every rank is a root; beyond, the first, the last and the middle one.
const ALL_ROOTS: u32 = 8;

/// What is to be checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The algorithms of each collective.
    groups: Vec<(Collective, Vec<(&'static Algorithm, Params)>)>,
    native_asked: bool,
    ours_asked: bool,
    sizes: Vec<u64>,
}

/// The calls of one collective and algorithm.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Group {
    /// What is called.
    pub collective: Collective,
    /// Who does it, by name.
    pub algorithm: &'static str,
    /// The calls in their order.
    pub cases: Vec<Case>,
}

impl Group {
    /// Collective: makes all calls, numbered from `sequence` on, and lets all ranks agree on what
    /// came of each. `before` is called before each call.
    pub fn run(
        &self,
        comm: &dyn Comm,
        placement: Option<&Arc<Placement>>,
        sequence: u16,
        before: &mut dyn FnMut(&Case),
    ) -> Result<Vec<Outcome>, CommError> {
        let mut outcomes = Vec::with_capacity(self.cases.len());
        for (case, number) in self.cases.iter().zip(0u64..) {
            before(case);
            outcomes.push(case.run(comm, placement, sequence.wrapping_add(number as u16))?);
        }
        agree(comm, &mut outcomes)?;
        Ok(outcomes)
    }
}

/// A name that none of the collectives has for an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAlgorithm {
    /// The name as it was given.
    pub name: String,
    /// What is wrong with it, and what is near.
    pub why: String,
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", refused_name(&self.name), self.why)
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl Plan {
    /// Every algorithm of every collective, and the library's own.
    pub fn every(sizes: Vec<u64>) -> Plan {
        let own = |collective| algorithms(collective).map(|a| (a, a.defaults())).collect();
        let groups = Collective::ALL.into_iter().map(|collective| (collective, own(collective)));
        Plan { groups: groups.collect(), native_asked: true, ours_asked: true, sizes }
    }

    /// `names` are algorithms as [`find`] reads them, or `native`; none means all.
    pub fn new(
        collectives: &[Collective],
        names: &[String],
        sizes: Vec<u64>,
    ) -> Result<Plan, UnknownAlgorithm> {
        let mut groups = Vec::new();
        let ours: Vec<&String> = names.iter().filter(|name| *name != "native").collect();
        let mut used = vec![false; ours.len()];
        for &collective in collectives {
            let mut chosen = Vec::new();
            if names.is_empty() {
                chosen.extend(algorithms(collective).map(|a| (a, a.defaults())));
            }
            for (i, name) in ours.iter().enumerate() {
                if let Ok(found) = find(collective, name) {
                    used[i] = true;
                    chosen.push(found);
                }
            }
            groups.push((collective, chosen));
        }
        if let Some(i) = used.iter().position(|used| !used) {
            return Err(unknown_algorithm(collectives, ours[i]));
        }
        let native_asked = names.is_empty() || names.iter().any(|name| name == "native");
        let ours_asked = names.is_empty() || !ours.is_empty();
        Ok(Plan { groups, native_asked, ours_asked, sizes })
    }

    /// Bytes of a block or vector, or elements where the collective reduces.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The calls for `ranks` ranks, with the library's own if available.
    pub fn groups(&self, ranks: u32, native: bool) -> Vec<Group> {
        let reductions = Content::reductions();
        let mut next_reduction = 0;
        let mut all = Vec::new();
        for (collective, chosen) in &self.groups {
            let ours = chosen.iter().filter(|_| self.ours_asked);
            let mut answerers: Vec<Answerer> = ours.map(|&(a, p)| Answerer::Ours(a, p)).collect();
            if native && self.native_asked {
                answerers.push(Answerer::Native);
            }
            for answerer in answerers {
                let mut cases = Vec::new();
                // A barrier has no size.
                let sizes: &[u64] =
                    if *collective == Collective::Barrier { &[0] } else { &self.sizes };
                for &size in sizes {
                    for root in roots(*collective, ranks) {
                        for in_place in [false, true] {
                            let case = |content| Case {
                                collective: *collective,
                                answerer,
                                root,
                                size,
                                in_place,
                                content,
                            };
                            if !collective.reduces() {
                                cases.push(case(Content::Bytes));
                                continue;
                            }
                            cases.push(case(reductions[next_reduction]));
                            next_reduction = (next_reduction + 1) % reductions.len();
                            if matches!(answerer, Answerer::Ours(..)) {
                                cases.push(case(Content::Maps));
                            }
                        }
                    }
                }
                cases.retain(makes_sense);
                let algorithm = cases.first().map_or("", |case| case.answerer.name());
                all.push(Group { collective: *collective, algorithm, cases });
            }
        }
        all
    }
}

/// A barrier has no buffers, a broadcast is always in place; an algorithm that does not keep the
/// order, or does not work in place, is not asked to.
fn makes_sense(case: &Case) -> bool {
    let algorithm = match case.answerer {
        Answerer::Ours(algorithm, _) => Some(algorithm),
        Answerer::Native => None,
    };
    match case.collective {
        Collective::Barrier | Collective::Bcast => !case.in_place,
        _ => {
            (!case.in_place || algorithm.is_none_or(|a| a.in_place))
                && (!matches!(case.content, Content::Maps) || algorithm.is_some_and(|a| a.ordered))
        }
    }
}

fn roots(collective: Collective, ranks: u32) -> Vec<Rank> {
    match collective.has_root() {
        false => vec![0],
        true if ranks <= ALL_ROOTS => (0..ranks).collect(),
        true => vec![0, ranks / 2, ranks - 1],
    }
}

fn unknown_algorithm(collectives: &[Collective], name: &str) -> UnknownAlgorithm {
    // A wrong parameter of a known algorithm says more than "unknown".
    let known = name.split(':').next().unwrap_or_default();
    let best = collectives
        .iter()
        .find(|&&c| algorithms(c).any(|a| a.name == known))
        .or_else(|| {
            collectives.iter().find(|&&c| {
                find(c, name).err().is_some_and(|refusal| refusal.0.contains("did you mean"))
            })
        })
        .or(collectives.first());
    let why = match best.map(|&collective| find(collective, name)) {
        Some(Err(refusal)) => refusal.0,
        _ => "no operation was named".into(),
    };
    UnknownAlgorithm { name: name.to_owned(), why }
}
