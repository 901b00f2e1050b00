//! Surveys of clusters, and how what is blamed compares with what is wrong.

use laneway_core::{Comm, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{
    Direction, LATENCY, Lab, Limits, Pair, Plan, Scope, Sizes, Verdict, survey, verdict,
};
use laneway_measure::pairs::{Sample, Sites, Survey};
use laneway_measure::repeat::{Aim, LEAST_SAMPLES};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

use super::cluster::{Cluster, Damage};

/// As `laneway measure pairs` has it.
const RULE: Rule = Rule {
    aim: Aim::Median { precision: 0.03, level: 0.95 },
    min_reps: LEAST_SAMPLES,
    max_reps: 100,
    budget: 0.5,
};

/// All pairs of a simulated cluster.
pub fn pairs(platform: &Platform, sites: &[u32]) -> Result<Vec<Pair>, String> {
    let out = |pair: &[Rank]| {
        let [a, b] = [sites[pair[0] as usize], sites[pair[1] as usize]];
        if a == b { vec![] } else { vec![a, b] }
    };
    let ranks = platform.hosts();
    let all = Plan::pairs(ranks).subsets().map(<[Rank]>::to_vec).collect();
    let plan = Plan::without_shared(all, out).map_err(|error| error.to_string())?;
    let sizes = Sizes { latency: 8, bandwidth: 1 << 20 };
    let program = |comm: &dyn Comm| survey(&Lab::new(comm, RULE), &plan, sizes);
    let ended = Program::new(platform, ranks).limit(1e4).run(program);
    let first = ended.map_err(|error| error.to_string())?.results.into_iter().next();
    let found = first.ok_or("no rank")?.map_err(|error| error.to_string())?;
    found.ok_or("nothing at rank 0".to_string())
}

/// What is blamed.
pub fn blamed(verdict: &Verdict) -> Vec<Damage> {
    let nodes = verdict.slow_nodes.iter().map(|node| match (node.measure, node.direction) {
        (LATENCY, _) => Damage::HostLatency(node.rank),
        (_, Direction::Both) if node.scope == Scope::Far => Damage::FarCard(node.rank),
        (_, Direction::Both) => Damage::Card(node.rank),
        (_, Direction::In) => Damage::CardIn(node.rank),
        (_, Direction::Out) => Damage::CardOut(node.rank),
    });
    let links = verdict.slow_pairs.iter().map(|pair| match (pair.measure, pair.both_ways) {
        (LATENCY, _) => Damage::LinkLatency(pair.from, pair.to),
        (_, true) => Damage::Link(pair.from, pair.to),
        (_, false) => Damage::LinkTowards(pair.from, pair.to),
    });
    nodes.chain(links).collect()
}

/// What came of one cluster.
pub struct Outcome {
    pub right: Vec<Damage>,
    /// Blamed, and sound.
    pub wrong: Vec<Damage>,
    /// Damaged, and not blamed.
    pub missed: Vec<Damage>,
    pub sentences: Vec<String>,
}

pub fn outcome(name: &str, cluster: &Cluster) -> Result<Outcome, String> {
    let platform = cluster.platform(name).map_err(|why| format!("{why}\n{}", cluster.text))?;
    let ranks = platform.hosts();
    let sites: Vec<u32> = (0..ranks).map(|host| platform.site_of(host).unwrap_or(0)).collect();
    let limits = Limits::default();
    let found = pairs(&platform, &sites)?;
    let verdict = verdict(&found, platform.host_names(), &sites, &limits);
    Ok(compared(cluster, &verdict, verdict.sentences(platform.host_names(), &limits)))
}

/// What came of a sample of one cluster.
#[allow(dead_code)] // The benchmark and the test of all pairs take none.
pub fn sampled(name: &str, cluster: &Cluster) -> Result<Outcome, String> {
    let platform = cluster.platform(name).map_err(|why| format!("{why}\n{}", cluster.text))?;
    let mut survey = Survey::new();
    survey.sample = Some(Sample { partners: None, seed: 1 });
    let sites = (0..platform.hosts()).map(|host| Some(platform.site_of(host).unwrap_or(0)));
    survey.sites = Sites::Known(sites.collect());
    let program = |comm: &dyn Comm| survey.run(comm, &());
    let ended = Program::new(&platform, platform.hosts()).run(program);
    let first = ended.map_err(|error| error.to_string())?.results.into_iter().next();
    let found = first.ok_or("no rank")?.map_err(|error| error.to_string())?;
    let found = found.ok_or("nothing at rank 0")?;
    let verdict = found.verdict.as_ref().ok_or("no verdict")?;
    Ok(compared(cluster, verdict, found.sentences()))
}

fn compared(cluster: &Cluster, verdict: &Verdict, sentences: Vec<String>) -> Outcome {
    let (right, wrong) = blamed(verdict).into_iter().partition(|b| cluster.damage.contains(b));
    let right: Vec<Damage> = right;
    let missed = cluster.damage.iter().copied().filter(|d| !right.contains(d)).collect();
    Outcome { right, wrong, missed, sentences }
}

/// What came of many.
#[derive(Default)]
pub struct Score {
    /// Of each kind: found, and all.
    pub kinds: [(usize, usize); Damage::KINDS.len()],
    pub right: usize,
    pub wrong: usize,
}

impl Score {
    pub fn add(&mut self, outcome: &Outcome) {
        for damage in &outcome.right {
            self.kinds[damage.kind()].0 += 1;
            self.kinds[damage.kind()].1 += 1;
        }
        for damage in &outcome.missed {
            self.kinds[damage.kind()].1 += 1;
        }
        self.right += outcome.right.len();
        self.wrong += outcome.wrong.len();
    }

    pub fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        let all: usize = self.kinds.iter().map(|kind| kind.1).sum();
        self.right as f64 / all.max(1) as f64
    }

    /// Of each kind that there was.
    pub fn recalls(&self) -> impl Iterator<Item = (&'static str, f64, usize)> {
        let kinds = Damage::KINDS.into_iter().zip(self.kinds);
        kinds
            .filter(|(_, (_, all))| *all > 0)
            .map(|(name, (found, all))| (name, found as f64 / all as f64, all))
    }
}
