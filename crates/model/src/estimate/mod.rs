//! The estimation: which experiments are done after which, on disjoint pairs and triples.
//!
//! paper: mpiblib 4, in the shape of its tool: estimate(communicator, sizes, precision, parallel).
//! Round trips of all pairs, and of some at many sizes; what sends and receives keep their callers;
//! point-to-two and its mirror image, two-to-point, with more ranks where two do not fill a card;
//! two messages of one pair at once; last, experiments that no fit sees, to judge it by.

mod course;
mod once;
mod seen;

use laneway_core::{Comm, Observer, Rank};
use laneway_measure::p2p::Plan;
use laneway_measure::sites::{Flow, LONGEST_TRIED, eager_bytes};
use laneway_measure::talk::broadcast;

use crate::error::ModelError;
use crate::experiments::{ALL_EAGER, Experiments, Kind};
use crate::lmo::{Lmo, SeenIn, fans_of};
use crate::probe::Direction;
use course::Course;

/// What is to be estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Bytes of messages beside the empty ones.
    pub sizes: Vec<u64>,
    /// Half the interval of each time over the time, at most; as far as the budget allows.
    pub precision: f64,
    /// Experiments without a common rank at the same time; right where a switch keeps them apart.
    pub parallel: bool,
    /// Seconds that all of it may take.
    pub budget: f64,
    /// Also the gaps that LogGP and PLogP need.
    pub gaps: bool,
}

impl Default for Request {
    fn default() -> Request {
        let sizes = vec![4 << 10, 32 << 10, 256 << 10];
        Request { sizes, precision: 0.01, parallel: true, budget: 60.0, gaps: false }
    }
}

impl Request {
    /// The sizes in order, if all can be done.
    fn validated(&self, ranks: u32) -> Result<Vec<u64>, ModelError> {
        let refuse = |why: String| Err(ModelError::Request { why });
        if ranks < 2 {
            let experiment = "a round trip";
            return Err(ModelError::TooFewRanks { ranks, needed: 2, experiment });
        }
        if !(self.precision > 0.0 && self.precision < 1.0) {
            return refuse(format!("a precision of {}: above 0 and below 1", self.precision));
        }
        if self.budget.is_nan() || self.budget <= 0.0 {
            return refuse(format!("a budget of {} s", self.budget));
        }
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        if let (&[one], true) = (&sizes[..], self.sizes.len() > 1) {
            let why = format!("all sizes are {one} B: round trips of a second size are missing");
            return Err(ModelError::Sizes { why });
        }
        sizes.retain(|&size| size > 0);
        match sizes.last() {
            None => {
                let why = "no size but that of empty messages".to_string();
                Err(ModelError::Sizes { why })
            }
            Some(&most) if most > MOST_BYTES => {
                let why = format!("{most} B is more than {} MiB", MOST_BYTES >> 20);
                Err(ModelError::Sizes { why })
            }
            Some(_) => Ok(sizes),
        }
    }
}

/// A longer message than this is a mistake.
const MOST_BYTES: u64 = 1 << 30;
/// Messages are short below 2 to this power.
const SHORTEST_CURVE: u32 = 6;
/// The largest number of protocol steps that are sought, and the halvings for each.
const STEPS: usize = 8;
const HALVINGS: usize = 4;
/// The number of partners with which the overheads of a host are measured.
const PARTNERS: usize = 2;
/// The number of ranks on which it is checked whether cards follow sizes.
const HUBS: u32 = 2;
/// And the length of the messages, beside the sizes that are asked for: where protocols differ
/// most, and bytes count.
const SHORT_FAN: u64 = 1 << 10;
/// A card is known that is known to such a part.
const SHARP: f64 = 0.02;
/// Where others disturb, a fan of more ranks than these tells a card.
const FEW: usize = 8;
/// A send that is not over after this number of round-trip times waits for its receive.
const PATIENCE: f64 = 2.0;

/// Collective: measures what every model is fitted to. On rank 0 what was measured; nothing
/// elsewhere.
pub fn estimate(comm: &dyn Comm, request: &Request) -> Result<Option<Experiments>, ModelError> {
    estimate_observed(comm, request, &())
}

/// The same, and tells how far it is.
pub fn estimate_observed(
    comm: &dyn Comm,
    request: &Request,
    observer: &dyn Observer,
) -> Result<Option<Experiments>, ModelError> {
    let ranks = comm.size();
    let sizes = request.validated(ranks)?;
    let own = comm.dup()?;
    let hosts = own.hosts()?;
    let rounds = planned_rounds(request, ranks, &sizes);
    let mut course = Course::new(&*own, request, rounds, observer);
    let pairs = Plan::pairs(ranks);
    course.batch(Kind::RoundTrip { out_bytes: 0, back_bytes: 0 }, &pairs)?;
    for &size in &sizes {
        course.batch(Kind::RoundTrip { out_bytes: size, back_bytes: 0 }, &pairs)?;
        course.batch(Kind::RoundTrip { out_bytes: 0, back_bytes: size }, &pairs)?;
    }
    let patience = |bytes: usize| PATIENCE * course.trip(bytes as u64);
    let eager = match eager_bytes(&*own, Flow { from: 0, to: 1 }, &patience)? {
        LONGEST_TRIED.. => ALL_EAGER,
        eager => eager as u64,
    };
    let some = some_pairs(&pairs)?;
    for bytes in curve_sizes(&sizes) {
        course.batch(Kind::Curve { bytes }, &some)?;
    }
    let mut overheads = vec![0];
    overheads.extend(sizes.iter().rev().copied().find(|&size| size <= eager).or(Some(eager)));
    overheads.dedup();
    for bytes in overheads {
        for plan in [&some, &some.turned()] {
            course.batch(Kind::SendOverhead { bytes }, plan)?;
            course.batch(Kind::ReceiveOverhead { bytes }, plan)?;
        }
    }
    if request.gaps {
        for bytes in [0].into_iter().chain(sizes.iter().copied()) {
            course.batch(Kind::Gap { bytes }, &some)?;
        }
    }
    if ranks > 2 {
        find_steps(&mut course, &some, &hosts, eager)?;
        fill_cards(&mut course, &hosts, eager, &sizes)?;
        compare_sizes(&mut course, &hosts, eager, &sizes)?;
        follow(&mut course, [&pairs, &some], &hosts, eager, &sizes)?;
    }
    course.hold_back = true;
    check(&mut course, &sizes)?;
    let (timed, cost) = (course.timed, course.cost);
    let experiments = Experiments { hosts, eager_bytes: eager, timed, cost };
    Ok((comm.rank() == 0).then_some(experiments))
}

/// The largest number of rounds; each has its part of the budget. One batch of them is done twice
/// where others disturb.
fn planned_rounds(request: &Request, ranks: u32, sizes: &[u64]) -> usize {
    let gaps = if request.gaps { sizes.len() + 1 } else { 0 };
    let (curves, sizes) = (curve_sizes(sizes).count(), sizes.len());
    (4 + 2 * sizes) * ranks as usize
        + PARTNERS * (9 + curves + STEPS * HALVINGS / 2 + gaps)
        + 4 * ranks as usize
        + 8
        + 2 * HUBS as usize * (sizes + 1)
}

/// Powers of two up to the largest size, and twice that: the last two are its slope.
fn curve_sizes(sizes: &[u64]) -> impl Iterator<Item = u64> {
    let largest = sizes.last().copied().unwrap_or(1);
    let below = (SHORTEST_CURVE..).map(|power| 1 << power).take_while(move |&size| size < largest);
    below.chain([largest, 2 * largest])
}

/// Every rank with a few partners.
fn some_pairs(all: &Plan) -> Result<Plan, ModelError> {
    let rounds = all.rounds().iter().take(PARTNERS);
    Ok(Plan::of(rounds.flatten().cloned().collect())?)
}

/// Sizes between those at which messages take another time: a step of a protocol is found to a
/// sixteenth of its power of two.
fn find_steps(
    course: &mut Course,
    some: &Plan,
    hosts: &[String],
    eager_bytes: u64,
) -> Result<(), ModelError> {
    for _ in 0..HALVINGS {
        let mut between = [0.0; STEPS];
        if course.leads() {
            let (hosts, timed) = (hosts.to_vec(), course.timed.clone());
            let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
            // An error here is an error in the fit as well, and is reported there.
            let steps = Lmo::without_cards(&so_far, SeenIn::Fastest)
                .map(|lmo| lmo.steps())
                .unwrap_or_default();
            between.iter_mut().zip(steps).for_each(|(size, step)| *size = step as f64);
        }
        broadcast(course.comm, &mut between)?;
        for bytes in between.into_iter().filter(|&size| size > 0.0) {
            course.batch(Kind::Curve { bytes: bytes as u64 }, some)?;
        }
        if between[0] == 0.0 {
            return Ok(());
        }
    }
    Ok(())
}

/// Fans of every rank: with two others, and with more of them where two do not fill its card.
fn fill_cards(
    course: &mut Course,
    hosts: &[String],
    eager_bytes: u64,
    sizes: &[u64],
) -> Result<(), ModelError> {
    let ranks = hosts.len() as u32;
    let bytes = sizes.last().copied().unwrap_or(0);
    let directions = [Direction::Out, Direction::In];
    // Whose card is not filled yet, by direction and rank.
    let mut open = vec![1.0; 2 * ranks as usize];
    let mut width = 2;
    loop {
        for (number, direction) in directions.into_iter().enumerate() {
            let is_open = |rank: &Rank| open[number * ranks as usize + *rank as usize] > 0.0;
            let fan = |hub: Rank| (0..=width).map(|step| (hub + step) % ranks).collect();
            let subsets: Vec<Vec<Rank>> = (0..ranks).filter(is_open).map(fan).collect();
            if !subsets.is_empty() {
                course.batch(Kind::Fan { bytes, direction }, &Plan::of(subsets)?)?;
            }
        }
        if width == ranks - 1 {
            return Ok(());
        }
        width = (2 * width).min(ranks - 1);
        if course.leads() {
            let timed = course.timed.clone();
            let hosts = hosts.to_vec();
            let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
            open = still_open(&so_far, bytes);
        }
        broadcast(course.comm, &mut open)?;
        if open.iter().all(|&flag| flag == 0.0) {
            return Ok(());
        }
    }
}

/// Where messages of some sizes are no straight line: fans of messages shorter than those that tell
/// cards, of all ranks around some of them. They say whether what depends on the size takes from
/// cards as well.
fn compare_sizes(
    course: &mut Course,
    hosts: &[String],
    eager_bytes: u64,
    sizes: &[u64],
) -> Result<(), ModelError> {
    let longest = sizes.last().copied().unwrap_or(0);
    let mut shorter: Vec<u64> = [SHORT_FAN].iter().chain(sizes).copied().collect();
    shorter.retain(|&bytes| bytes < longest);
    shorter.sort_unstable();
    shorter.dedup();
    let mut curved = [0.0];
    if course.leads() {
        let (hosts, timed) = (hosts.to_vec(), course.timed.clone());
        let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
        // An error here is an error in the fit as well, and is reported there.
        let is_curved = |seen_in| {
            Lmo::without_cards(&so_far, seen_in).is_ok_and(|lmo: Lmo| !lmo.sizes.is_empty())
        };
        let any = [SeenIn::Middle, SeenIn::Fastest].into_iter().any(is_curved);
        curved = [f64::from(u8::from(any))];
    }
    broadcast(course.comm, &mut curved)?;
    if curved[0] == 0.0 {
        return Ok(());
    }
    let ranks = hosts.len() as u32;
    let mut hubs: Vec<Rank> = (0..HUBS).map(|part| part * ranks / HUBS).collect();
    hubs.dedup();
    for (bytes, hub) in
        shorter.into_iter().flat_map(|bytes| hubs.iter().map(move |&hub| (bytes, hub)))
    {
        for direction in [Direction::Out, Direction::In] {
            course.batch(Kind::Fan { bytes, direction }, &around(hub, ranks)?)?;
        }
    }
    Ok(())
}

/// One rank with all others.
fn around(hub: Rank, ranks: u32) -> Result<Plan, ModelError> {
    Ok(Plan::of(vec![(0..ranks).map(|step| (hub + step) % ranks).collect()])?)
}

/// Cards that were not filled, or that the times hardly tell, although messages were under way at
/// the same time; and where others disturb, those that few messages filled: one of two that meets
/// others is late, and tells nothing of the card. Where a host's processor is slower than the ways
/// from it, messages follow each other, and no number of them fills the card. An error here is an
/// error in the fit as well, and is reported there.
fn still_open(experiments: &Experiments, bytes: u64) -> Vec<f64> {
    let ranks = experiments.ranks();
    let none = vec![0.0; 2 * ranks as usize];
    let lmo = Lmo::without_cards(experiments, SeenIn::Fastest);
    let Ok(lmo) = lmo.and_then(|lmo| lmo.as_fans(experiments)) else { return none };
    let is_open = |direction: Direction, rank: Rank| {
        let fans: Vec<_> = fans_of(experiments, rank, direction).collect();
        let card = lmo.card(&fans, direction, experiments.eager_bytes);
        let host = &lmo.hosts[rank as usize];
        let (each, byte) = match direction {
            Direction::Out => (host.send, host.per_byte_sent),
            Direction::In => (host.receive, host.per_byte_received),
        };
        let busy = each.value + bytes as f64 * byte.value;
        let way = |other: Rank| match direction {
            Direction::Out => lmo.per_byte(rank, other).value,
            Direction::In => lmo.per_byte(other, rank).value,
        };
        let slowest = (0..ranks).filter(|&other| other != rank).map(way).fold(0.0, f64::max);
        let few = fans.iter().all(|timed| timed.ranks.len() <= FEW);
        let disturbed = fans.iter().any(|timed| timed.is_disturbed());
        let known = match card {
            Ok(None) => false,
            Ok(Some(_)) if few && disturbed => false,
            Ok(Some(card)) => card.half() <= SHARP * card.value,
            Err(_) => true,
        };
        !known && busy < bytes as f64 * slowest
    };
    let flags = [Direction::Out, Direction::In].into_iter().flat_map(|direction| {
        (0..ranks).map(move |rank| f64::from(u8::from(is_open(direction, rank))))
    });
    flags.collect()
}

/// Two messages of one pair: of some pairs, whether the second waits behind the first; and where it
/// does not, what both have together, of all.
fn follow(
    course: &mut Course,
    [all, some]: [&Plan; 2],
    hosts: &[String],
    eager_bytes: u64,
    sizes: &[u64],
) -> Result<(), ModelError> {
    let bytes = sizes.last().copied().unwrap_or(0);
    course.batch(Kind::Overtake { bytes }, some)?;
    let mut beside = [0.0];
    if course.leads() {
        let (hosts, timed) = (hosts.to_vec(), course.timed.clone());
        let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
        // An error here is an error in the fit as well, and is reported there.
        let in_order = Lmo::without_cards(&so_far, SeenIn::Fastest).and_then(|mut lmo| {
            lmo.find_order(&so_far)?;
            Ok(lmo.in_order)
        });
        beside = [f64::from(u8::from(in_order == Ok(false)))];
    }
    broadcast(course.comm, &mut beside)?;
    if beside[0] > 0.0 {
        course.batch(Kind::Double { bytes }, all)?;
        course.batch(Kind::Double { bytes }, &all.turned())?;
    }
    Ok(())
}

/// What no fit sees: another size, all ranks at once, and one with all others.
fn check(course: &mut Course, sizes: &[u64]) -> Result<(), ModelError> {
    let ranks = course.comm.size();
    let largest = sizes.last().copied().unwrap_or(1);
    let before = sizes.iter().rev().nth(1).copied().unwrap_or(largest.div_ceil(4));
    let bytes = (largest as f64 * before as f64).sqrt().round().max(1.0) as u64;
    let all_ranks = Plan::of(vec![(0..ranks).collect()])?;
    for distance in [1, ranks / 2] {
        course.batch(Kind::Shift { bytes, distance }, &all_ranks)?;
    }
    for (hub, direction) in [(0, Direction::Out), (ranks / 2, Direction::In)] {
        course.batch(Kind::Fan { bytes, direction }, &around(hub, ranks)?)?;
    }
    Ok(())
}
