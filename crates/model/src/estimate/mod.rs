//! The estimation: which experiments are done after which, on disjoint pairs and triples.
//!
//! paper: mpiblib 4, in the shape of its tool: estimate(communicator, sizes, precision, parallel).
//! Round trips of all pairs, and of some at many sizes; what sends and receives keep their callers;
//! point-to-two and its mirror image, two-to-point, with more ranks where two do not fill a card;
//! two messages of one pair at once; last, experiments that no fit sees, to judge it by.

mod alike;
mod cards;
mod course;
mod held_back;
mod once;
mod seen;

use laneway_core::{Comm, Observer, Rank};
use laneway_measure::p2p::Plan;
use laneway_measure::talk::broadcast;

use crate::error::ModelError;
use crate::experiments::{Experiments, Kind};
use crate::lmo::{Lmo, SeenIn};
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
/// Ranks of a group that echoes, and how many of them lead in turn.
const ECHOES: u32 = 4;

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
    let sizes = request.validated(comm.size())?;
    let own = comm.dup()?;
    let hosts = own.hosts()?;
    if let Some(found) = alike::find(&*own, request, &sizes, observer)? {
        return alike::estimate(&*own, request, (&sizes, hosts), found, observer);
    }
    let course = measure(&*own, request, &sizes, observer)?;
    Ok((comm.rank() == 0).then(|| course.experiments(hosts)))
}

/// Collective: all experiments on all ranks.
fn measure<'c>(
    own: &'c dyn Comm,
    request: &Request,
    sizes: &[u64],
    observer: &'c dyn Observer,
) -> Result<Course<'c>, ModelError> {
    let (ranks, hosts) = (own.size(), own.hosts()?);
    let rounds = planned_rounds(request, ranks, sizes);
    let mut course = Course::new(own, request, rounds, observer);
    let pairs = Plan::pairs(ranks);
    course.batch(Kind::RoundTrip { out_bytes: 0, back_bytes: 0 }, &pairs)?;
    for &size in sizes {
        course.batch(Kind::RoundTrip { out_bytes: size, back_bytes: 0 }, &pairs)?;
        course.batch(Kind::RoundTrip { out_bytes: 0, back_bytes: size }, &pairs)?;
    }
    let eager = course.find_eager()?;
    let some = some_pairs(&pairs)?;
    for bytes in curve_sizes(sizes) {
        course.batch(Kind::Curve { bytes }, &some)?;
    }
    for bytes in overhead_sizes(sizes, eager) {
        for plan in [&some, &some.turned()] {
            course.batch(Kind::SendOverhead { bytes }, plan)?;
            course.batch(Kind::ReceiveOverhead { bytes }, plan)?;
        }
    }
    let half = Plan::of(some.rounds().first().cloned().unwrap_or_default())?;
    find_overheads(&mut course, &half, &hosts, eager, sizes)?;
    if request.gaps {
        for bytes in [0].into_iter().chain(sizes.iter().copied()) {
            course.batch(Kind::Gap { bytes }, &some)?;
        }
    }
    if ranks > 2 {
        find_steps(&mut course, &some, &hosts, eager)?;
        cards::fill_cards(&mut course, &hosts, eager, sizes)?;
        cards::compare_sizes(&mut course, &hosts, eager, sizes)?;
        follow(&mut course, [&pairs, &some], &hosts, eager, sizes)?;
    }
    course.hold_back = true;
    held_back::check(&mut course, sizes)?;
    Ok(course)
}

/// Overheads of every other host at the sizes between, and where they leap also between these.
fn find_overheads(
    course: &mut Course,
    half: &Plan,
    hosts: &[String],
    eager_bytes: u64,
    sizes: &[u64],
) -> Result<(), ModelError> {
    let longest = overhead_sizes(sizes, eager_bytes).into_iter().max().unwrap_or(0);
    let mut next: Vec<u64> = curve_sizes(sizes).filter(|&bytes| bytes < longest).collect();
    for _ in 0..=HALVINGS {
        for &bytes in &next {
            course.batch(Kind::SendOverhead { bytes }, half)?;
            course.batch(Kind::ReceiveOverhead { bytes }, half)?;
        }
        let mut between = [0.0; STEPS];
        if course.leads() {
            let (hosts, timed) = (hosts.to_vec(), course.timed.clone());
            let so_far = Experiments { hosts, eager_bytes, timed, ..Experiments::default() };
            // What goes wrong here goes wrong in the fit as well, and is told there.
            let steps = Lmo::overhead_steps(&so_far).unwrap_or_default();
            between.iter_mut().zip(steps).for_each(|(size, step)| *size = step as f64);
        }
        broadcast(course.comm, &mut between)?;
        next = between.into_iter().filter(|&size| size > 0.0).map(|size| size as u64).collect();
    }
    Ok(())
}

/// Of empty messages, and of the longest eager ones.
fn overhead_sizes(sizes: &[u64], eager: u64) -> Vec<u64> {
    let mut overheads = vec![0];
    overheads.extend(sizes.iter().rev().copied().find(|&size| size <= eager).or(Some(eager)));
    overheads.dedup();
    overheads
}

/// The largest number of rounds; each has its part of the budget. One batch of them is done twice
/// where others disturb.
fn planned_rounds(request: &Request, ranks: u32, sizes: &[u64]) -> usize {
    let gaps = if request.gaps { sizes.len() + 1 } else { 0 };
    let (curves, sizes) = (curve_sizes(sizes).count(), sizes.len());
    (4 + 2 * sizes) * ranks as usize
        + PARTNERS * (9 + curves + STEPS * HALVINGS / 2 + gaps)
        + 6 * ranks as usize
        + 8
        + 2 * HUBS as usize * (sizes + 1)
        + 2 * ECHOES as usize
        + 2 * curves
        + 2 * STEPS * HALVINGS / 2
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

/// One rank with all others.
fn around(hub: Rank, ranks: u32) -> Result<Plan, ModelError> {
    Ok(Plan::of(vec![(0..ranks).map(|step| (hub + step) % ranks).collect()])?)
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
