//! The course of a survey: latencies, sites, rounds of bandwidths, a second look where it is slow.

use std::collections::BTreeMap;

use laneway_core::{Comm, CommError, Failure, Rank, talk};

use super::error::{Refusal, SurveyError};
use super::findings::{Findings, Rounds};
use super::survey::Survey;
use crate::memory;
use crate::p2p::{Lab, Latencies, Look, Plan, Prober, sites_by_latency};

/// Hears how a survey goes on; all of it may be left out: `()` hears nothing.
pub trait Observer {
    /// This rank goes on; called on every rank, often.
    fn alive(&self) {}

    /// On every rank, before each round of bandwidths.
    fn progress(&self, _rounds: Rounds) {}

    /// On rank 0, after each round but the last: what there is so far.
    fn save(&self, _unfinished: &Unfinished) -> Result<(), Failure> {
        Ok(())
    }
}

impl Observer for () {}

/// What a survey knows before its end, on rank 0.
pub struct Unfinished<'a> {
    /// How far it is.
    pub rounds: Rounds,
    found: &'a Found<'a>,
    /// The pairs of the last round.
    added: &'a [(Rank, Rank)],
}

impl Unfinished<'_> {
    /// The pairs that are done, without a verdict: that takes all of them.
    pub fn findings(&self) -> Findings {
        self.found.findings(self.rounds)
    }

    /// The pairs of the last round alone.
    pub fn added(&self) -> Findings {
        let added = self.added.iter().filter_map(|ranks| self.found.looks.get(ranks));
        self.found.findings_of(added, self.rounds)
    }
}

impl Survey {
    /// Collective: measures all pairs and judges them; the findings, on rank 0.
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
        let mut prober = Prober::new(self.sizes());
        let all = Plan::pairs(comm.size());
        let all = if self.sequential { all.one_by_one() } else { all };
        let latencies = prober.latencies(&lab, &all)?.unwrap_or_default();
        let sites = match known {
            Some(sites) => sites,
            None => announce_numbers(comm, &sites_by_latency(&latencies, comm.size()))?,
        };
        let mut found = Found { survey: self, hosts, sites, looks: BTreeMap::new() };
        let plan = found.plan(all.subsets().map(<[Rank]>::to_vec).collect())?;
        found.measure(&lab, &mut prober, &plan, &latencies, observer)?;
        let rounds = Rounds { done: plan.rounds().len(), all: plan.rounds().len() };
        let doubtful = found.doubtful(comm, rounds)?;
        if !doubtful.is_empty() {
            let plan = found.plan(doubtful)?;
            let latencies = prober.latencies(&lab, &plan)?.unwrap_or_default();
            found.add(prober.transfers(&lab, &plan, &latencies)?.unwrap_or_default());
        }
        Ok((comm.rank() == 0).then(|| found.findings(rounds).judge()))
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

/// The looks that are done; on rank 0, as the others have none.
struct Found<'s> {
    survey: &'s Survey,
    hosts: Vec<String>,
    sites: Vec<u32>,
    looks: BTreeMap<(Rank, Rank), Look>,
}

impl Found<'_> {
    /// Adds looks at pairs; of two at one pair the faster figures count.
    fn add(&mut self, looks: Vec<Look>) {
        for look in looks {
            let known = self.looks.entry((look.from, look.to)).or_insert(look);
            *known = known.faster(&look);
        }
    }

    fn findings(&self, rounds: Rounds) -> Findings {
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
            survey: self.survey.clone(),
        }
    }

    /// Collective: the bandwidths of a plan, a round at a time, so that what is done can be saved
    /// before the next.
    fn measure(
        &mut self,
        lab: &Lab,
        prober: &mut Prober,
        plan: &Plan,
        latencies: &Latencies,
        observer: &dyn Observer,
    ) -> Result<(), SurveyError> {
        let all = plan.rounds().len();
        for (number, round) in plan.rounds().iter().enumerate() {
            observer.progress(Rounds { done: number, all });
            // Its pairs have no rank in common, and so are one round again.
            let looks = prober.transfers(lab, &Plan::of(round.to_vec())?, latencies)?;
            let Some(looks) = looks else { continue };
            let added: Vec<_> = looks.iter().map(|look| (look.from, look.to)).collect();
            self.add(looks);
            if number + 1 < all {
                let rounds = Rounds { done: number + 1, all };
                let unfinished = Unfinished { rounds, found: self, added: &added };
                observer.save(&unfinished).map_err(SurveyError::Observer)?;
            }
        }
        Ok(())
    }

    /// Collective: the pairs that are slow at the first look, which rank 0 knows. A machine that
    /// was busy for a while slows whatever is measured meanwhile, and these get a second look.
    fn doubtful(&self, comm: &dyn Comm, rounds: Rounds) -> Result<Vec<Vec<Rank>>, CommError> {
        let mut own = Vec::new();
        if comm.rank() == 0 {
            let findings = self.findings(rounds).judge();
            let doubtful = findings.verdict.iter().flat_map(|verdict| verdict.doubtful());
            let pair = |index: usize| [findings.pairs[index].from, findings.pairs[index].to];
            own.extend(doubtful.flat_map(pair));
        }
        let ranks = announce_numbers(comm, &own)?;
        Ok(ranks.chunks(2).map(<[Rank]>::to_vec).collect())
    }

    /// Pairs in rounds. Pairs between hosts are apart where they share one, and pairs between
    /// sites where they share the way out of one.
    fn plan(&self, pairs: Vec<Vec<Rank>>) -> Result<Plan, CommError> {
        let mut names: Vec<&String> = self.hosts.iter().collect();
        names.sort_unstable();
        names.dedup();
        let first_site = names.len() as u32;
        let host =
            |rank: Rank| names.binary_search(&&self.hosts[rank as usize]).unwrap_or(0) as u32;
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

/// Collective: the numbers of rank 0, on every rank.
fn announce_numbers(comm: &dyn Comm, own: &[u32]) -> Result<Vec<u32>, CommError> {
    let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
    let bytes = talk::broadcast(comm, &bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}
