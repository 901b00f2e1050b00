//! What a survey has found so far, and how pairs are added to it: planned, measured, measured
//! again.

use std::collections::BTreeMap;

use laneway_core::{Comm, CommError, Rank};

use super::course::{Observer, Unfinished};
use super::error::SurveyError;
use super::findings::{Findings, Rounds};
use super::survey::Survey;
use crate::p2p::{Deal, Lab, Latencies, Look, Plan, Prober};

/// What pairs are measured with.
pub(super) struct Bench<'c> {
    pub comm: &'c dyn Comm,
    /// Over a communicator of its own.
    pub lab: Lab<'c>,
    pub prober: Prober,
    pub observer: &'c dyn Observer,
}

/// The looks that are done; on rank 0, as the others have none.
pub(super) struct Found<'s> {
    pub survey: &'s Survey,
    /// The name of each rank's host, on rank 0.
    pub hosts: Vec<String>,
    /// The number of each rank's host.
    pub numbers: Vec<u32>,
    pub sites: Vec<u32>,
    pub looks: BTreeMap<(Rank, Rank), Look>,
}

/// The largest number of times that results are saved: each time takes all ranks.
const MOST_PARTS: usize = 64;

impl<'s> Found<'s> {
    /// Rank 0 keeps the names of the hosts.
    pub fn new(survey: &'s Survey, rank: Rank, hosts: Vec<String>) -> Found<'s> {
        let mut known = BTreeMap::new();
        let number = |host| {
            let next = known.len() as u32;
            *known.entry(host).or_insert(next)
        };
        let numbers = hosts.iter().map(number).collect();
        let hosts = if rank == 0 { hosts } else { Vec::new() };
        Found { survey, hosts, numbers, sites: Vec::new(), looks: BTreeMap::new() }
    }

    /// Adds looks at pairs; of two at one pair the faster figures count.
    fn add(&mut self, looks: Vec<Look>) {
        for look in looks {
            let known = self.looks.entry((look.from, look.to)).or_insert(look);
            *known = known.faster(&look);
        }
    }

    pub fn findings(&self, rounds: Rounds) -> Findings {
        self.findings_of(self.looks.values(), rounds)
    }

    fn findings_of<'l>(&self, looks: impl Iterator<Item = &'l Look>, rounds: Rounds) -> Findings {
        let sizes = self.survey.sizes();
        Findings {
            hosts: self.hosts.clone(),
            sites: self.sites.clone(),
            pairs: looks.map(|look| look.pair(sizes)).collect(),
            rounds,
            verdict: None,
            coverage: None,
            survey: self.survey.clone(),
        }
    }

    /// Only the pairs of the last round.
    pub fn findings_added(&self, added: &[(Rank, Rank)], rounds: Rounds) -> Findings {
        self.findings_of(added.iter().filter_map(|ranks| self.looks.get(ranks)), rounds)
    }

    /// Collective: the bandwidths of pairs, some rounds at a time, so that what is done can be
    /// saved before the next, and their latencies where they are not known.
    pub fn measure(
        &mut self,
        bench: &mut Bench,
        deal: &Deal,
        latencies: Option<&Latencies>,
    ) -> Result<(), SurveyError> {
        let Bench { lab, prober, observer, .. } = bench;
        let own;
        let latencies = match latencies {
            Some(latencies) => latencies,
            None => {
                own = prober.latencies_dealt(lab, deal)?.unwrap_or_default();
                &own
            }
        };
        let all = deal.rounds();
        let step = all.div_ceil(MOST_PARTS).max(1);
        for first in (0..all).step_by(step) {
            observer.progress(Rounds { done: first, all });
            let end = (first + step).min(all);
            let looks = prober.transfers_dealt(lab, &deal.part(first..end), latencies)?;
            let Some(looks) = looks else { continue };
            let added: Vec<_> = looks.iter().map(|look| (look.from, look.to)).collect();
            self.add(looks);
            if end < all {
                let rounds = Rounds { done: end, all };
                let unfinished = Unfinished { rounds, found: self, added: &added };
                observer.save(&unfinished).map_err(SurveyError::Observer)?;
            }
        }
        Ok(())
    }

    /// Collective: the pairs of a plan that rank 0 has, latencies and bandwidths; how many there
    /// are.
    pub fn look(&mut self, bench: &mut Bench, plan: Option<Plan>) -> Result<usize, CommError> {
        let deal = Deal::new(bench.lab.comm, plan)?;
        if deal.rounds() == 0 {
            return Ok(0);
        }
        let Bench { lab, prober, .. } = bench;
        let latencies = prober.latencies_dealt(lab, &deal)?.unwrap_or_default();
        let looks = prober.transfers_dealt(lab, &deal, &latencies)?.unwrap_or_default();
        self.add(looks);
        Ok(deal.rounds())
    }

    /// The pairs that are slow at the first look.
    pub fn doubtful(&self, rounds: Rounds) -> Vec<Vec<Rank>> {
        let findings = self.findings(rounds).judge();
        let doubtful = findings.verdict.iter().flat_map(|verdict| verdict.doubtful());
        let pair = |index: usize| vec![findings.pairs[index].from, findings.pairs[index].to];
        doubtful.map(pair).collect()
    }

    /// Pairs in rounds. Pairs between hosts are apart where they share one, and pairs between
    /// sites where they share the way out of one.
    pub fn plan(&self, pairs: Vec<Vec<Rank>>) -> Result<Plan, CommError> {
        let first_site = self.numbers.len() as u32;
        let host = |rank: Rank| self.numbers[rank as usize];
        let site = |rank: Rank| first_site + self.sites[rank as usize];
        let shared = |pair: &[Rank]| {
            let [a, b] = [pair[0], pair[1]];
            match (host(a) == host(b), site(a) == site(b)) {
                (true, _) => Vec::new(),
                (false, true) => vec![host(a), host(b)],
                (false, false) => vec![host(a), host(b), site(a), site(b)],
            }
        };
        let plan = Plan::without_shared(pairs, shared)?;
        Ok(if self.survey.sequential { plan.one_by_one() } else { plan })
    }
}
