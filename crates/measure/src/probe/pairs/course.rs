//! The course of a survey: latencies, sites, rounds of bandwidths, a second look where it is slow.

use laneway_core::{Comm, CommError, Rank, talk};

use super::error::{Refusal, SurveyError};
use super::findings::{Findings, Rounds};
use super::found::{Bench, Found};
use super::sample;
use super::survey::Survey;
use crate::SaveError;
use crate::p2p::{Deal, Lab, Plan, Prober, sites_by_latency};
use laneway_processes::memory;

/// Hears how a survey goes on; all of it may be left out: `()` hears nothing.
pub trait Observer {
    /// This rank goes on; called on every rank, often.
    fn alive(&self) {}

    /// On every rank, before each round of bandwidths.
    fn progress(&self, _rounds: Rounds) {}

    /// On rank 0, after each round but the last: what there is so far.
    fn save(&self, _unfinished: &Unfinished) -> Result<(), SaveError> {
        Ok(())
    }
}

impl Observer for () {}

/// What a survey knows before its end, on rank 0.
pub struct Unfinished<'a> {
    /// How far it is.
    pub rounds: Rounds,
    pub(super) found: &'a Found<'a>,
    /// The pairs of the last round.
    pub(super) added: &'a [(Rank, Rank)],
}

impl Unfinished<'_> {
    /// The pairs that are done, without a verdict: that takes all of them.
    pub fn findings(&self) -> Findings {
        self.found.findings(self.rounds)
    }

    /// The pairs of the last round alone.
    pub fn added(&self) -> Findings {
        self.found.findings_added(self.added, self.rounds)
    }
}

impl Survey {
    /// Collective: measures all pairs, or a sample, and judges them; the findings, on rank 0.
    pub fn run(
        &self,
        comm: &dyn Comm,
        observer: &dyn Observer,
    ) -> Result<Option<Findings>, SurveyError> {
        self.check(comm.size())?;
        self.refuse_large(comm)?;
        let hosts = comm.hosts()?;
        let known = self.sites.of(&hosts)?;
        let own = comm.dup()?;
        let alive = |_: usize, _: usize| observer.alive();
        let lab = Lab { each_round: &alive, ..Lab::new(&*own, self.rule) };
        let found = Found::new(self, comm.rank(), hosts);
        let bench = Bench { comm, lab, prober: Prober::new(self.sizes()), observer };
        match self.sample {
            Some(_) => sample::run(bench, found, known),
            None => self.run_all(bench, found, known),
        }
    }

    fn run_all(
        &self,
        mut bench: Bench,
        mut found: Found,
        known: Option<Vec<u32>>,
    ) -> Result<Option<Findings>, SurveyError> {
        let comm = bench.comm;
        let is_first = comm.rank() == 0;
        let all = is_first.then(|| Plan::pairs(comm.size()));
        let one_by_one = |plan: Plan| if self.sequential { plan.one_by_one() } else { plan };
        let deal = Deal::new(bench.lab.comm, all.clone().map(one_by_one))?;
        let latencies = bench.prober.latencies_dealt(&bench.lab, &deal)?.unwrap_or_default();
        found.sites = match known {
            Some(sites) => sites,
            None => announce_numbers(comm, &sites_by_latency(&latencies, comm.size()))?,
        };
        let pairs = all.iter().flat_map(Plan::subsets).map(<[Rank]>::to_vec).collect();
        let plan = is_first.then(|| found.plan(pairs)).transpose()?;
        let deal = Deal::new(bench.lab.comm, plan)?;
        found.measure(&mut bench, &deal, Some(&latencies))?;
        let rounds = Rounds { done: deal.rounds(), all: deal.rounds() };
        // A machine that was busy for a while slows whatever is measured meanwhile: what is slow
        // at the first look gets a second one.
        let again = is_first.then(|| found.plan(found.doubtful(rounds))).transpose()?;
        found.look(&mut bench, again)?;
        Ok(is_first.then(|| found.findings(rounds).judge()))
    }

    /// Collective: nothing begins where the long message does not fit on one of the machines.
    fn refuse_large(&self, comm: &dyn Comm) -> Result<(), SurveyError> {
        let (size, sharers) = (self.size as u64, memory::sharers(comm)?.len() as u64);
        // Out and in, and as much under way.
        let need = size.saturating_mul(3).saturating_mul(sharers);
        match talk::objection(comm, memory::objection(need, size))? {
            Some(cause) => Err(Refusal::Memory(cause).into()),
            None => Ok(()),
        }
    }
}

/// Collective: the numbers of rank 0, on every rank.
pub(super) fn announce_numbers(comm: &dyn Comm, own: &[u32]) -> Result<Vec<u32>, CommError> {
    let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
    let bytes = talk::broadcast(comm, &bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}
