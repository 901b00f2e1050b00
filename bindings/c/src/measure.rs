//! The functions that measure: a collective over a list of sizes, or a function of the caller's.

use std::ffi::{c_char, c_double, c_int, c_void};

use laneway_core::{Comm, CommError, Exit, Failure, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::talk::announce;
use laneway_measure::{Collective, GlobalClock, Isolation, Operation, Procedure, Stage, measure};
use laneway_mpi::{MpiComm, MpiError, with_adopted};

use crate::arguments::{Figures, Manner, answerer, collective, length, list, refused, word};
use crate::flags::measured;
use crate::together::{agree, broken, mark_of, told};

/// Collective over `comm`: measures an operation by an algorithm of ours, or by MPI's own where
/// that is "native", for `n` sizes in bytes (of one rank's block, or of the vector). `times` in
/// seconds, `reps` and `errors` have room for `n` and are filled on every rank; an error is half
/// the confidence interval over the time, and NAN where one repetition cannot tell it. The root is
/// rank 0. Every answer is checked before it is timed. laneway_last_flags tells what else is to be
/// known of a point.
///
/// # Safety
/// Texts are C strings, and lists have `n` members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_collective(
    comm: c_int,
    timing: c_int,
    operation: *const c_char,
    algorithm: *const c_char,
    n: c_int,
    sizes: *const c_int,
    min_reps: c_int,
    max_reps: c_int,
    alpha: c_double,
    times: *mut c_double,
    reps: *mut c_int,
    errors: *mut c_double,
) -> c_int {
    measured(|flags| {
        // SAFETY: as the caller promises.
        let plan = unsafe {
            Manner::new(timing, min_reps, max_reps, alpha).and_then(|manner| {
                let figures = Figures::new(length(n)?, times, reps, errors, flags)?;
                Plan::new(manner, figures, operation, algorithm, list(sizes, n, "M")?)
            })
        };
        let mark = plan.as_ref().map_or(0, |plan| plan.mark);
        adopted(comm, |comm| agree(comm, plan, mark)?.run(comm))
    })
}

/// Collective over `comm`: measures a function of the caller's, which all ranks call equally often.
/// It answers 0 where all went well, and otherwise is called on, so that no rank waits for another,
/// and fails the measurement in the end. `time`, `reps` and `error` are as in
/// laneway_time_collective, of one point.
///
/// # Safety
/// The function may be called with `data`, from this thread; it throws no exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_function(
    comm: c_int,
    timing: c_int,
    function: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    data: *mut c_void,
    min_reps: c_int,
    max_reps: c_int,
    alpha: c_double,
    time: *mut c_double,
    reps: *mut c_int,
    error: *mut c_double,
) -> c_int {
    measured(|flags| {
        let missing = || refused("an argument is missing", "the function is NULL", "a function");
        let plan = Manner::new(timing, min_reps, max_reps, alpha).and_then(|manner| {
            // SAFETY: as the caller promises.
            let figures = unsafe { Figures::new(1, time, reps, error, flags)? };
            Ok((manner, figures, function.ok_or_else(missing)?))
        });
        let mark = plan.as_ref().map_or(0, |(manner, ..)| manner.mark);
        adopted(comm, |comm| {
            let (manner, mut figures, function) = agree(comm, plan, mark)?;
            let mut code = 0;
            let mut operation = || {
                // SAFETY: as the caller promises.
                let said = unsafe { function(data) };
                code = if code == 0 { said } else { code };
                Ok::<(), CommError>(())
            };
            let reached = point(comm, &manner, &mut operation, &mut figures)?;
            let failed = || {
                let cause = format!("it returned {code} on rank {}", comm.rank());
                Failure::new(Exit::Gate, "the function failed", cause, "a function that answers 0")
            };
            agree(comm, if code == 0 { Ok(()) } else { Err(failed()) }, 0)?;
            verdict(reached)
        })
    })
}

/// Lends the caller's communicator to `work`.
pub fn adopted(
    comm: c_int,
    work: impl FnOnce(&MpiComm) -> Result<(), Failure>,
) -> Result<(), Failure> {
    with_adopted(comm, work).map_err(MpiError::into_failure)?
}

/// A collective that is to be measured.
struct Plan<'a> {
    manner: Manner,
    figures: Figures<'a>,
    collective: laneway_core::Collective,
    answerer: Answerer,
    sizes: &'a [c_int],
    mark: u64,
}

impl<'a> Plan<'a> {
    /// # Safety
    /// Texts are null or C strings.
    unsafe fn new(
        manner: Manner,
        figures: Figures<'a>,
        operation: *const c_char,
        algorithm: *const c_char,
        sizes: &'a [c_int],
    ) -> Result<Plan<'a>, Failure> {
        // SAFETY: as promised.
        let (operation, algorithm) =
            unsafe { (word(operation, "op")?, word(algorithm, "algorithm")?) };
        let collective = collective(operation)?;
        let answerer = answerer(collective, algorithm)?;
        if let Some(size) = sizes.iter().find(|size| **size < 0) {
            return Err(refused("no such size", format!("M has a size of {size}"), "0 or more"));
        }
        let words = operation.bytes().chain([0]).chain(algorithm.bytes()).map(u64::from);
        let sizes_as_words = sizes.iter().map(|&size| size as u64);
        let mark = mark_of([manner.mark].into_iter().chain(words).chain(sizes_as_words));
        Ok(Plan { manner, figures, collective, answerer, sizes, mark })
    }

    fn run(mut self, comm: &MpiComm) -> Result<(), Failure> {
        let mut reached = true;
        for &size in self.sizes {
            let shape = Shape::new(self.collective, comm.size(), size as u64);
            let made = Collective::new(comm, &shape, self.answerer).map_err(broken)?;
            let mut made = made.map_err(|why| {
                refused("the algorithm cannot do it", why, "another algorithm, or native")
            })?;
            let wrong = made.validate().map_err(broken)?;
            let wrong = wrong.map(|what| {
                let try_this = "laneway check, and a report of what it says";
                Failure::new(Exit::Gate, "the operation gave a wrong answer", what, try_this)
            });
            agree(comm, wrong.map_or(Ok(()), Err), 0)?;
            let mut ready = made.ready().map_err(broken)?;
            reached &= point(comm, &self.manner, &mut ready, &mut self.figures)?;
        }
        verdict(reached)
    }
}

/// Collective: measures one point, and tells every rank; whether it is as precise as was asked.
fn point(
    comm: &MpiComm,
    manner: &Manner,
    operation: &mut dyn Operation,
    figures: &mut Figures,
) -> Result<bool, Failure> {
    // Messages of the measurement meet none of the operation, which may be ours on `comm`.
    let own = comm.dup().map_err(broken)?;
    let clock = GlobalClock::new(&*own, Procedure::default());
    let mut stage = Stage { comm: &*own, clock, isolation: Isolation::barrier() };
    let found = measure(&mut stage, &mut *manner.timing(), operation, &manner.rule);
    let (mut words, mut flags) = ([f64::NAN; 4], String::new());
    if let Some(point) = found.map_err(broken)? {
        let (error, reached) =
            (point.error.unwrap_or(f64::NAN), f64::from(u8::from(point.reached)));
        words = [point.estimate, point.samples.len() as f64, error, reached];
        flags = point.notes.join(",");
    }
    announce(&*own, &mut words).map_err(broken)?;
    let [time, reps, error, reached] = words;
    figures.put(time, reps as u32, error, &told(&*own, &flags).map_err(broken)?);
    Ok(reached == 1.0)
}

/// Whether all figures are as precise as was asked.
pub fn verdict(reached: bool) -> Result<(), Failure> {
    let failure = || {
        let what = "the precision that was asked for is not reached";
        let cause = "max_reps were not enough, or a time is zero or less; all figures are there";
        let try_this = "laneway_last_flags(), more repetitions, or a larger alpha";
        Failure::new(Exit::Precision, what, cause, try_this)
    };
    if reached { Ok(()) } else { Err(failure()) }
}
