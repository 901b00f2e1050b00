//! Hosts of one kind: overheads of every host, and round trips of all with a few references, tell
//! which are alike. Some of each kind are measured in full, and all ranks together judge the fit.

use std::collections::BTreeMap;

use laneway_core::{Comm, Observer, Rank};
use laneway_measure::p2p::Plan;
use laneway_measure::talk::broadcast;
use laneway_stats::SplitMix64;

use super::course::Course;
use super::{Request, held_back, measure, overhead_sizes};
use crate::alike::Alike;
use crate::error::ModelError;
use crate::experiments::{Cost, Experiments, Kind, Timed};
use crate::parameter::Parameter;
use crate::probe::Direction;

/// So many hosts are measured in full, whatever their kinds.
const FEW: u32 = 24;
/// More kinds than these are none: every pair is measured.
const MOST_KINDS: u32 = 12;
const MOST_REFERENCES: usize = 16;
/// About so many ranks stand for all, and so many at least for each kind that has them.
const MEASURED: usize = 16;
const OF_A_KIND: usize = 4;
/// Partners of a fan within a kind, and pairs of its ranks that are drawn.
const FAN: usize = 4;
const DRAWN: u32 = 3;
/// Kinds that change more often are none.
const MOST_WITHIN: u64 = 6;
/// Hosts that differ by more than this part, beyond the measured intervals, are of two kinds.
const LIMIT: f64 = 0.03;
/// Messages that tell kinds are no longer.
const MOST_BYTES: u64 = 64 << 10;
/// About so many rounds for each rank.
const ROUNDS: u32 = 12;
/// In place of a reference: what was compared with the host's partner alone.
const NONE: Rank = Rank::MAX;

/// Kinds of hosts, and what it took to find them.
pub(super) struct Found {
    alike: Alike,
    cost: Cost,
}

/// What rank 0 says that all do next.
enum Next {
    /// Measure round trips of all ranks with this one.
    Reference(Rank),
    /// Measure round trips within each kind.
    Within,
    /// Everything is known.
    Done,
    /// The hosts have too many kinds.
    Unlike,
}

/// Collective: the kinds of hosts, on every rank; none where hosts are few, or not alike.
pub(super) fn find(
    comm: &dyn Comm,
    request: &Request,
    sizes: &[u64],
    observer: &dyn Observer,
) -> Result<Option<Found>, ModelError> {
    let ranks = comm.size();
    if ranks <= FEW {
        return Ok(None);
    }
    let short = sizes.iter().rev().copied().find(|&size| size <= MOST_BYTES);
    let bytes = short.or(sizes.first().copied()).unwrap_or(1);
    let mut course = Course::new(comm, request, (ROUNDS * ranks) as usize, observer);
    trips(&mut course, vec![vec![0, 1]], bytes)?;
    let eager = course.find_eager()?;
    let neighbours = Plan::of(neighbours(ranks))?;
    for bytes in overhead_sizes(&[bytes], eager) {
        for plan in [&neighbours, &neighbours.turned()] {
            course.batch(Kind::SendOverhead { bytes }, plan)?;
            course.batch(Kind::ReceiveOverhead { bytes }, plan)?;
        }
    }
    let mut search = Search::new(ranks);
    loop {
        let next = if course.leads() { search.next(&course.timed) } else { Next::Done };
        match agreed(comm, next)? {
            Next::Unlike => return Ok(None),
            Next::Done => break,
            Next::Reference(reference) => {
                search.references.push(reference);
                let others = (0..ranks).filter(|&rank| rank != reference);
                trips(&mut course, others.map(|rank| vec![reference, rank]).collect(), bytes)?;
            }
            Next::Within => {
                search.share(comm)?;
                search.within += 1;
                trips(&mut course, search.within_kinds(), bytes)?;
                let fans = search.fans();
                for direction in [Direction::Out, Direction::In] {
                    if !fans.is_empty() {
                        course.batch(Kind::Fan { bytes, direction }, &Plan::of(fans.clone())?)?;
                    }
                }
                search.is_within = true;
            }
        }
    }
    let cost = course.cost;
    Ok(Some(Found { alike: search.alike(comm)?, cost }))
}

/// Collective: round trips with and without bytes, both ways, of the pairs.
fn trips(course: &mut Course, pairs: Vec<Vec<Rank>>, bytes: u64) -> Result<(), ModelError> {
    let plan = Plan::of(pairs)?;
    for (out_bytes, back_bytes) in [(0, 0), (bytes, 0), (0, bytes)] {
        course.batch(Kind::RoundTrip { out_bytes, back_bytes }, &plan)?;
    }
    Ok(())
}

/// Every rank in a pair; the last of an odd number with rank 0.
fn neighbours(ranks: u32) -> Vec<Vec<Rank>> {
    let pair =
        |first: Rank| if first + 1 < ranks { vec![first, first + 1] } else { vec![first, 0] };
    (0..ranks).step_by(2).map(pair).collect()
}

/// Collective: what rank 0 says.
fn agreed(comm: &dyn Comm, next: Next) -> Result<Next, ModelError> {
    let mut word = match next {
        Next::Reference(reference) => [f64::from(reference)],
        Next::Within => [-1.0],
        Next::Done => [-2.0],
        Next::Unlike => [-3.0],
    };
    broadcast(comm, &mut word)?;
    Ok(match word[0] {
        -1.0 => Next::Within,
        -2.0 => Next::Done,
        -3.0 => Next::Unlike,
        reference => Next::Reference(reference as Rank),
    })
}

/// Figures of one host, by what was measured and with which reference.
type Figures = BTreeMap<(Kind, Rank), Parameter>;

/// The search for kinds; rank 0 sees what was measured, and the others what it says.
struct Search {
    kinds: Vec<u32>,
    references: Vec<Rank>,
    /// Whether the round trips and fans within kinds come from the kinds as they are, and how many
    /// times there were some.
    is_within: bool,
    within: u64,
    differ: f64,
    compared: u64,
}

impl Search {
    fn new(ranks: u32) -> Search {
        let kinds = vec![0; ranks as usize];
        let (references, is_within, within) = (Vec::new(), false, 0);
        Search { kinds, references, is_within, within, differ: 0.0, compared: 0 }
    }

    /// On rank 0: what comes after what was measured.
    fn next(&mut self, timed: &[Timed]) -> Next {
        let before = std::mem::take(&mut self.kinds);
        self.sort(timed, before.len());
        let known = self.kinds == before;
        let count = self.kinds.iter().max().map_or(0, |&most| most + 1);
        if count > MOST_KINDS || self.references.len() >= MOST_REFERENCES {
            return Next::Unlike;
        }
        let references = self.references.clone();
        let is_reference = |rank: &Rank| references.contains(rank);
        let has_none = |kind: &u32| !self.members(*kind).iter().any(is_reference);
        if let Some(kind) = (0..count).find(has_none) {
            return self.members(kind).first().map_or(Next::Unlike, |&rank| Next::Reference(rank));
        }
        if !self.is_within || !known {
            return if self.within < MOST_WITHIN { Next::Within } else { Next::Unlike };
        }
        match self.unlike_within(timed) {
            None => Next::Done,
            // Of two that are faster with each other than others are, one tells who else is.
            Some(pair) => match pair.into_iter().find(|rank| !is_reference(rank)) {
                Some(rank) => {
                    self.is_within = false;
                    Next::Reference(rank)
                }
                None => Next::Unlike,
            },
        }
    }

    fn members(&self, kind: u32) -> Vec<Rank> {
        (0..).zip(&self.kinds).filter(|(_, own)| **own == kind).map(|(rank, _)| rank).collect()
    }

    /// Gives each host the first kind whose first host is like it.
    fn sort(&mut self, timed: &[Timed], ranks: usize) {
        let figures = figures(timed, &self.references, ranks);
        let mut founders: Vec<usize> = Vec::new();
        (self.differ, self.compared) = (0.0, 0);
        for (rank, own) in figures.iter().enumerate() {
            let like = |&founder: &usize| difference(own, &figures[founder]);
            let found = founders.iter().map(like).position(|found| found.is_some());
            match found {
                Some(kind) => {
                    let (differ, compared) = like(&founders[kind]).unwrap_or((0.0, 0));
                    self.differ = self.differ.max(differ);
                    self.compared += compared;
                    self.kinds.push(kind as u32);
                }
                None => {
                    self.kinds.push(founders.len() as u32);
                    founders.push(rank);
                }
            }
        }
    }

    fn all_members(&self) -> Vec<Vec<Rank>> {
        let count = self.kinds.iter().max().map_or(0, |&most| most + 1);
        (0..count).map(|kind| self.members(kind)).collect()
    }

    /// Every rank with a few of its kind that are drawn: no order of ranks keeps two from meeting.
    fn within_kinds(&self) -> Vec<Vec<Rank>> {
        let mut draws = SplitMix64::new(self.within);
        let mut pairs: Vec<Vec<Rank>> = Vec::new();
        for mut members in self.all_members() {
            for _ in 0..DRAWN {
                draws.shuffle(&mut members);
                pairs.extend(members.chunks_exact(2).map(<[Rank]>::to_vec));
            }
        }
        pairs
    }

    /// Every rank with the next of its kind: a card that is faster than all others shows here.
    fn fans(&self) -> Vec<Vec<Rank>> {
        let kinds = self.all_members().into_iter().filter(|members| members.len() > FAN);
        let fans = |members: Vec<Rank>| {
            let fan =
                |hub: usize| (hub..=hub + FAN).map(|at| members[at % members.len()]).collect();
            (0..members.len()).map(fan).collect::<Vec<Vec<Rank>>>()
        };
        kinds.flat_map(fans).collect()
    }

    /// The fastest of the pairs of a kind that are not alike; none where all are.
    fn unlike_within(&mut self, timed: &[Timed]) -> Option<[Rank; 2]> {
        let mut first: BTreeMap<(u32, Kind), (Parameter, [Rank; 2])> = BTreeMap::new();
        let mut unlike = None;
        for one in timed {
            let (&[i, j], Kind::RoundTrip { .. }) = (&one.ranks[..], one.kind) else { continue };
            let [kind, other] = [i, j].map(|rank| self.kinds[rank as usize]);
            if kind != other {
                continue;
            }
            let (known, pair) = *first.entry((kind, one.kind)).or_insert((one.time, [i, j]));
            let (differ, limit) = apart(one.time, known);
            if differ > limit {
                unlike = Some(if one.time.value < known.value { [i, j] } else { pair });
            } else {
                self.differ = self.differ.max(differ);
                self.compared += 1;
            }
        }
        unlike
    }

    /// Collective: the kinds that rank 0 found, on every rank.
    fn share(&mut self, comm: &dyn Comm) -> Result<(), ModelError> {
        let mut numbers: Vec<f64> = self.kinds.iter().map(|&kind| f64::from(kind)).collect();
        broadcast(comm, &mut numbers)?;
        self.kinds = numbers.into_iter().map(|number| number as u32).collect();
        Ok(())
    }

    /// Collective: what was found, on every rank.
    fn alike(mut self, comm: &dyn Comm) -> Result<Alike, ModelError> {
        self.share(comm)?;
        let mut numbers = [self.differ, self.compared as f64];
        broadcast(comm, &mut numbers)?;
        let measured = chosen(&self.kinds);
        let Search { kinds, references, .. } = self;
        let ([differ, compared], limit) = (numbers, LIMIT);
        let compared = compared as u64;
        Ok(Alike { kinds, measured, references, limit, differ, compared })
    }
}

/// The figures of each host: overheads, and round trips with references.
fn figures(timed: &[Timed], references: &[Rank], ranks: usize) -> Vec<Figures> {
    let mut all = vec![Figures::new(); ranks];
    for one in timed {
        let (host, reference) = match (one.kind, &one.ranks[..]) {
            (Kind::RoundTrip { .. }, &[reference, host]) if references.contains(&reference) => {
                (host, reference)
            }
            (Kind::SendOverhead { .. } | Kind::ReceiveOverhead { .. }, &[host, _]) => (host, NONE),
            (Kind::Fan { .. }, &[host, ..]) => (host, NONE),
            _ => continue,
        };
        // Of fans the last count: their members are of the kinds as they are.
        all[host as usize].insert((one.kind, reference), one.time);
    }
    all
}

/// The largest part by which two hosts differ, and in how many figures they were compared; none
/// where they are not alike.
fn difference(one: &Figures, other: &Figures) -> Option<(f64, u64)> {
    let (mut most, mut compared) = (0.0f64, 0);
    for (key, own) in one {
        let Some(others) = other.get(key) else { continue };
        let (differ, limit) = apart(*own, *others);
        if differ > limit {
            return None;
        }
        (most, compared) = (most.max(differ), compared + 1);
    }
    Some((most, compared))
}

/// The part by which two times differ, and by which they may.
fn apart(one: Parameter, other: Parameter) -> (f64, f64) {
    let larger = one.value.max(other.value).max(f64::MIN_POSITIVE);
    let unsure = (one.half() + other.half()) / larger;
    ((one.value - other.value).abs() / larger, LIMIT + unsure)
}

/// The ranks that stand for all: of each kind in its part of all, and a few at least.
fn chosen(kinds: &[u32]) -> Vec<Rank> {
    let count = kinds.iter().max().map_or(0, |&most| most + 1);
    let mut all = Vec::new();
    for kind in 0..count {
        let ranks = (0..).zip(kinds).filter(|(_, own)| **own == kind);
        let members: Vec<Rank> = ranks.map(|(rank, _)| rank).collect();
        let part = MEASURED * members.len() / kinds.len();
        let wanted = part.max(OF_A_KIND).min(members.len());
        all.extend((0..wanted).map(|number| members[number * members.len() / wanted]));
    }
    all.sort_unstable();
    all
}

/// Collective: all experiments on the ranks that stand for others, and those that no fit sees on
/// all of them. On rank 0 what was measured.
pub(super) fn estimate(
    comm: &dyn Comm,
    request: &Request,
    (sizes, hosts): (&[u64], Vec<String>),
    found: Found,
    observer: &dyn Observer,
) -> Result<Option<Experiments>, ModelError> {
    let Found { alike, mut cost } = found;
    let mut spent = [cost.seconds];
    broadcast(comm, &mut spent)?;
    let left = Request { budget: request.budget - spent[0], ..request.clone() };
    let place = alike.measured.binary_search(&comm.rank()).ok();
    let own = comm.split(place.map(|_| 0), comm.rank())?;
    let part = own.as_deref().map(|own| {
        let hosts = own.hosts()?;
        Ok(measure(own, &left, sizes, observer)?.experiments(hosts))
    });
    let part = agree_on_budget(comm, request, part)?;
    let mut spent = [spent[0] + part.as_ref().map_or(0.0, |part| part.cost.seconds)];
    broadcast(comm, &mut spent)?;
    let left = Request { budget: request.budget - spent[0], ..request.clone() };
    let mut course = Course::new(comm, &left, super::ECHOES as usize * 4, observer);
    course.hold_back = true;
    held_back::check_all(&mut course, sizes)?;
    let Some(mut part) = part.filter(|_| comm.rank() == 0) else { return Ok(None) };
    let ranks = |ranks: &[Rank]| ranks.iter().map(|&rank| alike.measured[rank as usize]).collect();
    part.timed.iter_mut().for_each(|timed| timed.ranks = ranks(&timed.ranks));
    for more in [part.cost, course.cost] {
        cost.seconds += more.seconds;
        cost.experiments += more.experiments;
        cost.rounds += more.rounds;
        cost.repetitions += more.repetitions;
    }
    let timed = part.timed.into_iter().chain(course.timed).collect();
    let eager_bytes = part.eager_bytes;
    Ok(Some(Experiments { hosts, eager_bytes, timed, cost, alike: Some(alike) }))
}

/// Collective: ranks that had no part in the experiments learn of a budget that is spent.
fn agree_on_budget(
    comm: &dyn Comm,
    request: &Request,
    part: Option<Result<Experiments, ModelError>>,
) -> Result<Option<Experiments>, ModelError> {
    let spent = match &part {
        Some(Err(ModelError::Budget { seconds, spent, .. })) => request.budget - seconds + spent,
        // Whatever else fails, fails here.
        Some(Err(error)) => return Err(error.clone()),
        _ => 0.0,
    };
    let mut spent = [spent];
    broadcast(comm, &mut spent)?;
    match spent[0] > 0.0 {
        true => {
            let (seconds, before) = (request.budget, "all experiments");
            Err(ModelError::Budget { seconds, spent: spent[0], before })
        }
        false => part.transpose(),
    }
}
