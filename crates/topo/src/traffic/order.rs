//! Orders in which hosts send: a shift, permutations drawn at random, phases from a list.

use laneway_coll::pace;
use laneway_core::{Phases, Rank, Schedule, own_partners};
use laneway_stats::SplitMix64;

/// paper: fullmesh (1): in phase i host S sends to S + i.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    hosts: u32,
}

impl Shift {
    /// Among `hosts` hosts.
    pub fn new(hosts: u32) -> Shift {
        Shift { hosts }
    }
}

impl Phases for Shift {
    fn count(&self) -> u64 {
        u64::from(self.hosts)
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        ((u64::from(rank) + phase) % u64::from(self.hosts)) as Rank
    }

    fn partners(&self, phase: u64, out: &mut [Rank]) {
        let first = (phase % u64::from(self.hosts)) as Rank;
        let wrapped = (self.hosts - first) as usize;
        for (at, partner) in out.iter_mut().enumerate() {
            *partner = if at < wrapped { first + at as Rank } else { (at - wrapped) as Rank };
        }
    }
}

/// One permutation for each phase, drawn from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    /// How many hosts take part.
    pub hosts: u32,
    /// How many permutations are drawn.
    pub phases: u64,
    /// What they are drawn from.
    pub seed: u64,
    /// Whether a host may be its own partner. The paper's hosts send to others.
    pub fixed_points: bool,
}

impl Phases for Random {
    fn count(&self) -> u64 {
        self.phases
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        let mut all = vec![0; self.hosts as usize];
        self.partners(phase, &mut all);
        all[rank as usize]
    }

    fn partners(&self, phase: u64, out: &mut [Rank]) {
        let mut seeds = SplitMix64::new(self.seed ^ phase.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut draws = SplitMix64::new(seeds.next_u64());
        loop {
            for (at, partner) in out.iter_mut().enumerate() {
                *partner = at as Rank;
            }
            draws.shuffle(out);
            let fixed = |(at, &to): (usize, &Rank)| at == to as usize;
            // One permutation in e has no fixed point, and each of those is as likely as another.
            if self.fixed_points || out.len() < 2 || !out.iter().enumerate().any(fixed) {
                return;
            }
        }
    }
}

/// A list of phases: from a file, or from a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// For each phase the partner of each host; itself where it rests.
    rows: Vec<Vec<Rank>>,
}

impl Listed {
    /// Phases of pairs. Refuses a host that is not there, and one that sends twice in a phase.
    pub fn new(hosts: u32, phases: &[Vec<(Rank, Rank)>]) -> Result<Listed, String> {
        let mut rows = Vec::with_capacity(phases.len());
        for (phase, pairs) in phases.iter().enumerate() {
            let mut row: Vec<Rank> = (0..hosts).collect();
            let mut sends = vec![false; hosts as usize];
            for &(from, to) in pairs {
                if from >= hosts || to >= hosts {
                    return Err(format!("phase {phase}, {from} to {to}: there are {hosts} hosts"));
                }
                if std::mem::replace(&mut sends[from as usize], true) {
                    return Err(format!("phase {phase}: host {from} sends twice"));
                }
                row[from as usize] = to;
            }
            rows.push(row);
        }
        Ok(Listed { rows })
    }

    /// Phases as the partner of each host; what a search has made so is a permutation each.
    pub(crate) fn of_rows(rows: Vec<Vec<Rank>>) -> Listed {
        Listed { rows }
    }

    pub(crate) fn into_rows(self) -> Vec<Vec<Rank>> {
        self.rows
    }
}

/// Any schedule: its own formula where it has one, else its messages when each takes one phase and
/// a host sends one and receives one at a time. All messages count alike, long or short.
pub struct Pattern {
    schedule: Box<dyn Schedule>,
    /// Where the schedule has no formula.
    listed: Listed,
}

impl Pattern {
    /// The messages of a schedule.
    pub fn new(schedule: Box<dyn Schedule>) -> Pattern {
        let mut listed = Listed::default();
        if schedule.phases().is_none() {
            let rest: Vec<Rank> = (0..schedule.ranks()).collect();
            for flight in pace::walk(&*schedule) {
                while listed.rows.len() <= flight.tick as usize {
                    listed.rows.push(rest.clone());
                }
                listed.rows[flight.tick as usize][flight.from as usize] = flight.to;
            }
        }
        Pattern { schedule, listed }
    }

    fn phases(&self) -> &dyn Phases {
        self.schedule.phases().unwrap_or(&self.listed)
    }
}

impl Phases for Pattern {
    fn count(&self) -> u64 {
        self.phases().count()
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        self.phases().partner(rank, phase)
    }

    fn partners(&self, phase: u64, out: &mut [Rank]) {
        self.phases().partners(phase, out);
    }

    fn resting(&self, _phase: u64, partners: &[Rank]) -> u64 {
        own_partners(partners)
    }
}

/// An order of a plan on a fabric that numbers its hosts otherwise. A host without a counterpart
/// in the plan, or that would send to a host that the fabric lacks, rests.
pub struct Renamed {
    order: Box<dyn Phases + Send + Sync>,
    /// For each host what it is in the plan, and for each host of the plan who stands for it.
    planned: Vec<Option<Rank>>,
    found: Vec<Option<Rank>>,
}

impl Renamed {
    /// The order of a plan for hosts that are these in it.
    pub fn new(order: Box<dyn Phases + Send + Sync>, planned: &[Option<Rank>]) -> Renamed {
        let last = planned.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut found = vec![None; last];
        for (host, plan) in planned.iter().enumerate() {
            if let Some(plan) = plan {
                found[*plan as usize] = Some(host as Rank);
            }
        }
        Renamed { order, planned: planned.to_vec(), found }
    }
}

impl Phases for Renamed {
    fn count(&self) -> u64 {
        self.order.count()
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        let planned = self.planned.get(rank as usize).copied().flatten();
        let target = planned.map(|plan| self.order.partner(plan, phase));
        let found = target.and_then(|target| self.found.get(target as usize).copied().flatten());
        found.unwrap_or(rank)
    }

    /// A host that keeps a message in the plan keeps it here.
    fn resting(&self, phase: u64, partners: &[Rank]) -> u64 {
        let is_planned = |rank: usize| {
            let planned = self.planned.get(rank).copied().flatten();
            planned.is_some_and(|plan| self.order.partner(plan, phase) == plan)
        };
        let rests = |&(rank, &to): &(usize, &Rank)| rank == to as usize && !is_planned(rank);
        partners.iter().enumerate().filter(rests).count() as u64
    }
}

impl Phases for Listed {
    fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    fn partner(&self, rank: Rank, phase: u64) -> Rank {
        self.rows[phase as usize][rank as usize]
    }

    fn partners(&self, phase: u64, out: &mut [Rank]) {
        out.copy_from_slice(&self.rows[phase as usize]);
    }

    fn resting(&self, _phase: u64, partners: &[Rank]) -> u64 {
        own_partners(partners)
    }
}

/// The demand of an order on the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Messages of the host that sends or receives most: the least number of phases.
    pub most: u64,
    /// Whether every ordered pair of the hosts that are there is sent, and that once.
    pub is_alltoall: bool,
}

/// Looks at every message of an order; `is_there` has a value for each host.
pub fn demand(order: &dyn Phases, is_there: &[bool]) -> Demand {
    let hosts = is_there.len();
    let there = is_there.iter().filter(|&&there| there).count() as u64;
    let (mut sent, mut received) = (vec![0u64; hosts], vec![0u64; hosts]);
    let (mut partners, mut all) = (vec![0; hosts], 0);
    // A host sends one message in a phase, so fewer phases need no further look.
    let mut is_alltoall = order.count() + 1 >= there;
    let mut met = vec![0u64; if is_alltoall { (hosts * hosts).div_ceil(64) } else { 0 }];
    for phase in 0..order.count() {
        order.partners(phase, &mut partners);
        for (from, &to) in partners.iter().enumerate().filter(|&(from, &to)| from != to as usize) {
            let to = to as usize;
            sent[from] += 1;
            received[to] += 1;
            all += 1;
            if is_alltoall {
                let (pair, bit) = ((from * hosts + to) / 64, (from * hosts + to) % 64);
                is_alltoall = is_there[from] && is_there[to] && met[pair] >> bit & 1 == 0;
                met[pair] |= 1 << bit;
            }
        }
    }
    let most = sent.into_iter().chain(received).max().unwrap_or(0);
    Demand { most, is_alltoall: is_alltoall && all == there * there.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_known_by_its_messages() {
        let alltoall = |order: &dyn Phases, there: &[bool]| demand(order, there).is_alltoall;
        assert_eq!(demand(&Shift::new(5), &[true; 5]), Demand { most: 4, is_alltoall: true });
        // Host 4 is gone, and another host sends to it.
        assert!(!alltoall(&Shift::new(5), &[true, true, true, true, false]));
        let three = [vec![(0, 1), (1, 2), (2, 0)], vec![(0, 2), (1, 0)], vec![(2, 1)]];
        let order = Listed::new(4, &three).expect("pairs");
        assert_eq!(
            demand(&order, &[true, true, true, false]),
            Demand { most: 2, is_alltoall: true }
        );
        assert!(!alltoall(&order, &[true; 4]));
        // One message twice and another not at all.
        let twice = [vec![(0, 1), (1, 2), (2, 0)], vec![(0, 1), (1, 0)], vec![(2, 1)]];
        let order = Listed::new(3, &twice).expect("pairs");
        assert_eq!(demand(&order, &[true; 3]), Demand { most: 3, is_alltoall: false });
        // Four to one, in one phase: it takes four.
        let pile = Listed::new(6, &[vec![(0, 5), (1, 5), (2, 5), (3, 5)]]).expect("pairs");
        assert_eq!(demand(&pile, &[true; 6]), Demand { most: 4, is_alltoall: false });
    }

    /// A host that is its own partner rests in a list, and keeps a message in an all-to-all.
    #[test]
    fn resting_hosts_and_kept_messages() {
        let resting = |order: &dyn Phases, phase| {
            let mut partners = vec![0; 4];
            order.partners(phase, &mut partners);
            order.resting(phase, &partners)
        };
        assert_eq!(resting(&Shift::new(4), 0), 0);
        assert_eq!(resting(&Listed::new(4, &[vec![(0, 1)]]).expect("pairs"), 0), 3);
        // Host 1 is not in the plan and rests; the others are 0, 1 and 2 there.
        let renamed = Renamed::new(Box::new(Shift::new(3)), &[Some(0), None, Some(1), Some(2)]);
        assert_eq!((resting(&renamed, 0), resting(&renamed, 1)), (1, 1));
        // The plan's host 3 was not found: a host that would send to it rests.
        let renamed = Renamed::new(Box::new(Shift::new(4)), &[Some(0), Some(1), Some(2), None]);
        assert_eq!((resting(&renamed, 0), resting(&renamed, 1)), (1, 2));
    }
}
