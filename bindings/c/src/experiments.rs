//! The functions that measure an experiment on subsets of the ranks: the caller's own, and
//! point-to-two.

use std::ffi::{c_double, c_int, c_void};

use laneway_core::{Comm, CommError, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{Estimate, Lab, Members, Plan, point_to_two};
use laneway_measure::talk::broadcast;
use laneway_mpi::MpiComm;

use crate::arguments::{Figures, length, list, refused, rule};
use crate::failure::{Exit, Failure};
use crate::flags::measured;
use crate::measure::{adopted, verdict};
use crate::together::{agree, broken, mark_of};

/// One repetition on one member of a subset: the data, how many members there are, their ranks in
/// the communicator, this rank's place among them, and room for the time. It returns 0.
type Experiment =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_int, c_int, *mut c_double) -> c_int;

/// Collective over `comm`: measures an experiment of the caller's on `n` subsets of the ranks, the
/// first of which has `lengths`[0] members, and so on; `members` has the ranks of all of them, one
/// subset after the other. One repetition is one call of the function on every member of a subset:
/// with `data`, how many members there are, their ranks in `comm`, this rank's place among them,
/// and the address of a time. The first member leads: the time of a repetition is what its call
/// takes, or what it writes there, in seconds. The function may send messages on `comm`; those of
/// the measurement do not meet them. It returns 0 where all went well, and otherwise is called on,
/// so that no rank waits for another, and fails the measurement in the end. Where `parallel` is
/// not 0, subsets without a common rank are measured at the same time, else one after the other
/// while all other ranks wait. `times` in seconds, `reps` and `errors` have room for `n`, in the
/// order of the subsets, and are filled on every rank. All ranks give the same subsets.
///
/// # Safety
/// The function may be called with `data`, from this thread; it throws no exception. `lengths`,
/// `times`, `reps` and `errors` have `n` members, and `members` as many as all lengths together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_experiment(
    comm: c_int,
    experiment: Option<
        unsafe extern "C" fn(*mut c_void, c_int, *const c_int, c_int, *mut c_double) -> c_int,
    >,
    data: *mut c_void,
    n: c_int,
    lengths: *const c_int,
    members: *const c_int,
    parallel: c_int,
    min_reps: c_int,
    max_reps: c_int,
    alpha: c_double,
    times: *mut c_double,
    reps: *mut c_int,
    errors: *mut c_double,
) -> c_int {
    measured(|flags| {
        adopted(comm, |comm| {
            let order = rule(min_reps, max_reps, alpha).and_then(|(rule, mark)| {
                let missing =
                    || refused("an argument is missing", "the experiment is NULL", "a function");
                let experiment = experiment.ok_or_else(missing)?;
                // SAFETY: as the caller promises.
                let (figures, subsets) = unsafe {
                    let figures = Figures::new(length(n)?, times, reps, errors, flags)?;
                    (figures, read_subsets(lengths, members, n, comm.size())?)
                };
                let plan = Plan::of(subsets.clone()).map_err(no_subset)?;
                let plan = if parallel != 0 { plan } else { plan.one_by_one() };
                let mark = mark_of([mark, u64::from(parallel != 0), mark_of_subsets(&subsets)]);
                Ok(Order { work: experiment, figures, subsets, plan, rule, mark })
            });
            let mark = order.as_ref().map_or(0, |order| order.mark);
            let Order { work: experiment, figures, subsets, plan, rule, .. } =
                agree(comm, order, mark)?;
            let mut own = Own { experiment, data, failed: None };
            let bench = Bench { comm, rule, subsets };
            let work = |lab: &Lab| lab.run(&plan, |members| own.once(members));
            let verdict = bench.measure(figures, &plan, work);
            agree(comm, own.verdict(comm.rank()), 0)?;
            verdict
        })
    })
}

/// Collective over `comm`: point-to-two, for all ranks i and all pairs j < k of others: i sends
/// `size` bytes to j and then to k, both answer with an empty message, and the time is that of i,
/// from its first send to the second answer. Where `parallel` is not 0, triples without a common
/// rank are measured at the same time, else one after the other while all other ranks wait. Of p
/// ranks, `times` in seconds, `reps` and `errors` have room for p (p - 1) (p - 2) / 2, by i, then
/// j, then k, and are filled on every rank.
///
/// # Safety
/// The lists have so much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_point_to_two(
    comm: c_int,
    size: c_int,
    min_reps: c_int,
    max_reps: c_int,
    alpha: c_double,
    parallel: c_int,
    times: *mut c_double,
    reps: *mut c_int,
    errors: *mut c_double,
) -> c_int {
    measured(|flags| {
        adopted(comm, |comm| {
            let plan = Plan::triples(comm.size());
            let plan = if parallel != 0 { plan } else { plan.one_by_one() };
            let mut subsets: Vec<Vec<Rank>> = plan.subsets().map(<[Rank]>::to_vec).collect();
            subsets.sort_unstable();
            let order = rule(min_reps, max_reps, alpha).and_then(|(rule, mark)| {
                // SAFETY: as the caller promises.
                let figures = unsafe { Figures::new(subsets.len(), times, reps, errors, flags)? };
                let cause = format!("a message of {size} bytes");
                let bytes = usize::try_from(size)
                    .map_err(|_| refused("invalid size", cause, "0 or more"))?;
                let mark = mark_of([mark, size as u64, u64::from(parallel != 0)]);
                Ok(Order { work: bytes, figures, subsets, plan, rule, mark })
            });
            let mark = order.as_ref().map_or(0, |order| order.mark);
            let Order { work: bytes, figures, subsets, plan, rule, .. } = agree(comm, order, mark)?;
            let bench = Bench { comm, rule, subsets };
            bench.measure(figures, &plan, |lab| point_to_two(lab, &plan, bytes))
        })
    })
}

/// What is to be measured, and how.
struct Order<'a, W> {
    /// An experiment, or how many bytes it is to send.
    work: W,
    figures: Figures<'a>,
    subsets: Vec<Vec<Rank>>,
    plan: Plan,
    rule: Rule,
    mark: u64,
}

fn mark_of_subsets(subsets: &[Vec<Rank>]) -> u64 {
    mark_of(subsets.iter().flat_map(|subset| {
        [subset.len() as u64].into_iter().chain(subset.iter().map(|&rank| rank.into()))
    }))
}

fn no_subset(error: CommError) -> Failure {
    refused("invalid subset", error.to_string(), "ranks of the communicator, each of them once")
}

/// The subsets that C gives, whose ranks are seen to be there.
///
/// # Safety
/// `lengths` is null or the first of `n`, `members` null or the first of as many as they say.
unsafe fn read_subsets(
    lengths: *const c_int,
    members: *const c_int,
    n: c_int,
    ranks: u32,
) -> Result<Vec<Vec<Rank>>, Failure> {
    // SAFETY: as promised.
    let lengths = unsafe { list(lengths, n, "lengths")? };
    if let Some(bad) = lengths.iter().find(|&&length| length < 1 || length as u32 > ranks) {
        let cause = format!("a subset of {bad} members, of {ranks} ranks");
        return Err(refused("invalid subset", cause, "1 member to all ranks"));
    }
    let total: i64 = lengths.iter().map(|&length| i64::from(length)).sum();
    let total = c_int::try_from(total)
        .map_err(|_| refused("too many subsets", format!("{total} members"), "fewer of them"))?;
    // SAFETY: as promised.
    let members = unsafe { list(members, total, "members")? };
    let rank = |member: &c_int| {
        let cause = format!("there is no rank {member}: they are 0 to {}", ranks - 1);
        let rank = Rank::try_from(*member).ok().filter(|&rank| rank < ranks);
        rank.ok_or_else(|| refused("invalid subset", cause, "ranks of the communicator"))
    };
    let all = members.iter().map(rank).collect::<Result<Vec<Rank>, Failure>>()?;
    let mut rest = &all[..];
    let subsets = lengths.iter().map(|&length| {
        let (subset, others) = rest.split_at(length as usize);
        rest = others;
        subset.to_vec()
    });
    Ok(subsets.collect())
}

/// The caller's experiment, and the first code but 0 that it answered here.
struct Own {
    experiment: Experiment,
    data: *mut c_void,
    failed: Option<String>,
}

impl Own {
    /// One repetition, in seconds.
    fn once(&mut self, members: &Members) -> Result<f64, CommError> {
        let ranks: Vec<c_int> = members.ranks.iter().map(|&rank| rank as c_int).collect();
        let (count, place) = (ranks.len() as c_int, members.position as c_int);
        let mut reported = f64::NAN;
        let begun = members.now();
        // SAFETY: as the caller of the library promises; the list and the time are our own.
        let code =
            unsafe { (self.experiment)(self.data, count, ranks.as_ptr(), place, &mut reported) };
        let took = members.now() - begun;
        if code != 0 {
            self.failed.get_or_insert_with(|| format!("it returned {code}"));
        }
        if reported.is_infinite() || reported < 0.0 {
            self.failed.get_or_insert_with(|| format!("it reported a time of {reported} s"));
            return Ok(took);
        }
        Ok(if reported.is_nan() { took } else { reported })
    }

    fn verdict(&self, rank: Rank) -> Result<(), Failure> {
        let Some(how) = &self.failed else { return Ok(()) };
        let (what, try_this) = ("the experiment failed", "a function that returns 0");
        Err(Failure::new(Exit::Gate, what, format!("{how} on rank {rank}"), try_this))
    }
}

/// Where subsets are measured; the order is that of the figures.
struct Bench<'c> {
    comm: &'c MpiComm,
    rule: Rule,
    subsets: Vec<Vec<Rank>>,
}

impl Bench<'_> {
    /// Collective: does the work on a communicator of its own, and tells every rank what came of
    /// it.
    fn measure(
        &self,
        mut figures: Figures,
        plan: &Plan,
        work: impl FnOnce(&Lab) -> Result<Option<Vec<Estimate>>, CommError>,
    ) -> Result<(), Failure> {
        let own = self.comm.dup().map_err(broken)?;
        let found = work(&Lab::new(&*own, self.rule)).map_err(broken)?;
        let mut words = vec![0.0; WORDS * self.subsets.len()];
        if let Some(found) = found {
            for (words, estimate) in words.chunks_mut(WORDS).zip(self.in_order(plan, found)) {
                let error = estimate.error.unwrap_or(f64::NAN);
                let reached = f64::from(u8::from(estimate.reached));
                words.copy_from_slice(&[estimate.value, estimate.reps.into(), error, reached]);
            }
        }
        broadcast(&*own, &mut words).map_err(broken)?;
        verdict(put(&words, &mut figures))
    }

    /// What was found in the order of a plan, in the order of the subsets. Equal subsets are
    /// exchangeable.
    fn in_order(&self, plan: &Plan, found: Vec<Estimate>) -> Vec<Estimate> {
        let mut done: Vec<(&[Rank], Estimate)> = plan.subsets().zip(found).collect();
        done.sort_by_key(|(subset, _)| *subset);
        let mut places: Vec<usize> = (0..self.subsets.len()).collect();
        places.sort_by_key(|&place| &self.subsets[place]);
        let mut rows: Vec<(usize, Estimate)> =
            places.into_iter().zip(done.into_iter().map(|(_, estimate)| estimate)).collect();
        rows.sort_by_key(|(place, _)| *place);
        rows.into_iter().map(|(_, estimate)| estimate).collect()
    }
}

/// The numbers of an estimate: time, repetitions, error, whether that is what was asked.
const WORDS: usize = 4;

/// Writes the figures; whether all of them are times, and as precise as was asked.
fn put(words: &[f64], figures: &mut Figures) -> bool {
    let mut all = true;
    for words in words.chunks(WORDS) {
        let &[time, reps, error, reached] = words else { return false };
        let (took, single) = (time > 0.0, reps == 1.0);
        let flags = match (single, took) {
            (false, true) => "",
            (true, true) => "single",
            (false, false) => "no time",
            (true, false) => "single,no time",
        };
        figures.put(time, reps as u32, error, flags);
        all &= took && reached == 1.0;
    }
    all
}
