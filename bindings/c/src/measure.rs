//! The functions that measure: a collective or a function of the caller's, over a list of sizes.

use std::ffi::{c_char, c_double, c_int, c_void};

use laneway_core::talk::broadcast_text;
use laneway_core::{Comm, CommError, Rank, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::p2p::{Cache, Places};
use laneway_measure::talk::broadcast;
use laneway_measure::timing::serves;
use laneway_measure::{Collective, GlobalClock, Operation, Stage, measure};
use laneway_mpi::{MpiComm, with_adopted};
use laneway_processes::memory;

use crate::arguments::{Figures, Manner, answerer, collective, length, refused, sizes, word};
use crate::failure::{Exit, Failure};
use crate::flags::measured;
use crate::together::{agree, broken, mark_of};

/// Collective over `comm`: measures an operation by an algorithm of ours, or by MPI's own where
/// that is "native", for `n` sizes in bytes (of one rank's block, or of the vector). `times` in
/// seconds, `reps` and `errors` have room for `n` and are filled on every rank; an error is half
/// the confidence interval over the time, and NAN where one repetition cannot tell it. Every answer
/// is checked before it is timed. Of 0 bytes, and on one rank, an algorithm of ours sends nothing:
/// such a point has a time of NAN, no repetitions and the flags "no time" and "nothing sent".
/// laneway_last_flags tells what else is to be known of a point; laneway_set chooses the root and
/// what else is not an argument.
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
                Plan::new(manner, figures, operation, algorithm, self::sizes(sizes, n)?)
            })
        };
        let mark = plan.as_ref().map_or(0, |plan| plan.mark);
        adopted(comm, |comm| agree(comm, plan, mark)?.run(comm))
    })
}

/// Collective over `comm`: measures a function of the caller's, which all ranks call equally often.
/// It returns 0 where all went well, and otherwise is called on, so that no rank waits for another,
/// and fails the measurement in the end. `time`, `reps` and `error` are as in
/// laneway_time_collective, of one point. LANEWAY_TASKS is refused, as its tasks are not known.
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
        let plan = Manner::new(timing, min_reps, max_reps, alpha).and_then(|manner| {
            // SAFETY: as the caller promises.
            let figures = unsafe { Figures::new(1, time, reps, error, flags)? };
            Own::new(manner, figures, &[0], function)
        });
        let mark = plan.as_ref().map_or(0, |plan| plan.mark);
        adopted(comm, |comm| {
            // SAFETY: as the caller promises.
            agree(comm, plan, mark)?.run(comm, &|function, _| unsafe { function(data) })
        })
    })
}

/// Collective over `comm`: measures a function of the caller's for `n` sizes, each of which it is
/// given as its second argument; what a size means is the caller's affair. All else is as in
/// laneway_time_function, and `times`, `reps` and `errors` have room for `n`. A size at which the
/// function fails ends the measurement.
///
/// # Safety
/// The function may be called with `data`, from this thread; it throws no exception. Lists have
/// `n` members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_function_sizes(
    comm: c_int,
    timing: c_int,
    function: Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>,
    data: *mut c_void,
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
        let plan = Manner::new(timing, min_reps, max_reps, alpha).and_then(|manner| {
            // SAFETY: as the caller promises.
            let (figures, sizes) = unsafe {
                (Figures::new(length(n)?, times, reps, errors, flags)?, self::sizes(sizes, n)?)
            };
            Own::new(manner, figures, sizes, function)
        });
        let mark = plan.as_ref().map_or(0, |plan| plan.mark);
        adopted(comm, |comm| {
            // SAFETY: as the caller promises.
            agree(comm, plan, mark)?.run(comm, &|function, size| unsafe { function(data, size) })
        })
    })
}

/// Lends the caller's communicator to `work`.
pub fn adopted(
    comm: c_int,
    work: impl FnOnce(&MpiComm) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: every caller is a function for C, whose caller gives a live communicator of its own.
    unsafe { with_adopted(comm, work) }?
}

/// A function of the caller's that is to be measured.
struct Own<'a, F> {
    manner: Manner,
    figures: Figures<'a>,
    function: F,
    sizes: &'a [c_int],
    mark: u64,
}

impl<'a, F> Own<'a, F> {
    fn new(
        manner: Manner,
        figures: Figures<'a>,
        sizes: &'a [c_int],
        function: Option<F>,
    ) -> Result<Own<'a, F>, Failure> {
        manner.refuse_tasks()?;
        let missing = || refused("an argument is missing", "the function is NULL", "a function");
        let function = function.ok_or_else(missing)?;
        let mark = mark_of([manner.mark].into_iter().chain(sizes.iter().map(|&size| size as u64)));
        Ok(Own { manner, figures, function, sizes, mark })
    }

    /// Collective: `call` does the function once, for a size.
    fn run(mut self, comm: &MpiComm, call: &dyn Fn(&F, c_int) -> c_int) -> Result<(), Failure> {
        self.manner.check(comm.size())?;
        let mut reached = true;
        for &size in self.sizes {
            let mut code = 0;
            let mut operation = || {
                let said = call(&self.function, size);
                code = if code == 0 { said } else { code };
                Ok::<(), CommError>(())
            };
            reached &= point(comm, &self.manner, &mut operation, &mut self.figures)?;
            let failed = || {
                let cause = format!("it returned {code} on rank {}", comm.rank());
                Failure::new(Exit::Gate, "the function failed", cause, "a function that returns 0")
            };
            agree(comm, if code == 0 { Ok(()) } else { Err(failed()) }, 0)?;
        }
        verdict(reached)
    }
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
        if manner.by_tasks() && !serves(collective, answerer.name()) {
            let cause = format!("{operation} {algorithm} does not consist of single tasks");
            let try_this = "bcast or scatter, linear or binomial, or another timing";
            return Err(refused("unsupported timing", cause, try_this));
        }
        let words = operation.bytes().chain([0]).chain(algorithm.bytes()).map(u64::from);
        let sizes_as_words = sizes.iter().map(|&size| size as u64);
        let mark = mark_of([manner.mark].into_iter().chain(words).chain(sizes_as_words));
        Ok(Plan { manner, figures, collective, answerer, sizes, mark })
    }

    /// Our algorithms send nothing where there is nothing to send or no rank to send it to; what a
    /// library does then is its own affair.
    fn sends_nothing(&self, size: c_int, ranks: u32) -> bool {
        let ours = matches!(self.answerer, Answerer::Ours(..));
        let nothing = size == 0 && self.collective != laneway_core::Collective::Barrier;
        ours && (nothing || ranks == 1)
    }

    fn run(mut self, comm: &MpiComm) -> Result<(), Failure> {
        self.manner.check(comm.size())?;
        let root = if self.collective.has_root() { self.manner.settings.root } else { 0 };
        let (mut reached, mut any) = (true, false);
        let cache = self.manner.settings.cache;
        let largest = self.sizes.iter().copied().max().unwrap_or(0) as u64;
        let largest = Shape::new(self.collective, comm.size(), largest).with_root(root);
        memory_for(comm, cache, |rank| (largest.in_len(rank), largest.out_len(rank)))?;
        for &size in self.sizes {
            if self.sends_nothing(size, comm.size()) {
                self.figures.put(f64::NAN, 0, f64::NAN, "no time,nothing sent");
                continue;
            }
            any = true;
            let shape = Shape::new(self.collective, comm.size(), size as u64).with_root(root);
            let made = Collective::new(comm, &shape, self.answerer);
            let mut made = made.map_err(|refusal| {
                refused("the algorithm cannot do it", refusal.0, "another algorithm, or native")
            })?;
            let wrong = made.validate().map_err(broken)?;
            let wrong = wrong.map(|what| {
                let try_this = "another algorithm, and a report of this one";
                Failure::new(Exit::Gate, "the operation gave a wrong answer", what, try_this)
            });
            agree(comm, wrong.map_or(Ok(()), Err), 0)?;
            let mut made = made.with_cache(cache);
            let mut ready = made.ready().map_err(broken)?;
            reached &= point(comm, &self.manner, &mut ready, &mut self.figures)?;
        }
        // A sweep from 0 bytes succeeds by its other sizes.
        verdict(reached && any)
    }
}

/// Collective where caches are to be cold: refuses buffers that this host has no memory for. Each
/// rank has a length of each of its two buffers.
pub fn memory_for(
    comm: &MpiComm,
    cache: Cache,
    lengths: impl Fn(Rank) -> (u64, u64),
) -> Result<(), Failure> {
    if cache == Cache::Warm {
        return Ok(());
    }
    let sharers = memory::sharers(comm).map_err(broken)?;
    let need = sharers.iter().fold(0u64, |need, &rank| {
        let (input, output) = lengths(rank);
        need.saturating_add(Places::need(cache, input, output))
    });
    let (input, output) = lengths(comm.rank());
    let refusal = memory::objection(need, input.max(output)).map(|cause| {
        let try_this = "laneway_set(\"cache\", \"cold:64M\"), or fewer ranks on a host";
        refused("there is not enough memory for cold caches", cause, try_this)
    });
    agree(comm, refusal.map_or(Ok(()), Err), 0)
}

/// Collective: measures one point, and tells every rank; whether it is as precise as was asked.
pub fn point(
    comm: &MpiComm,
    manner: &Manner,
    operation: &mut dyn Operation,
    figures: &mut Figures,
) -> Result<bool, Failure> {
    // Messages of the measurement meet none of the operation, which may be ours on `comm`.
    let own = comm.dup().map_err(broken)?;
    let clock = GlobalClock::new(&*own, manner.settings.sync).with_trips(manner.settings.trips);
    let (isolation, start) = (manner.settings.isolation, manner.settings.start);
    let mut stage = Stage { isolation, start, ..Stage::new(&*own, clock) };
    let found = measure(&mut stage, &mut *manner.timing(), operation, &manner.rule);
    let (mut words, mut flags) = ([f64::NAN; 4], String::new());
    if let Some(point) = found.map_err(broken)? {
        let (error, reached) =
            (point.error.unwrap_or(f64::NAN), f64::from(u8::from(point.reached)));
        words = [point.estimate, point.samples.len() as f64, error, reached];
        flags = point.notes.join(",");
    }
    broadcast(&*own, &mut words).map_err(broken)?;
    let [time, reps, error, reached] = words;
    figures.put(time, reps as u32, error, &broadcast_text(&*own, &flags).map_err(broken)?);
    Ok(reached == 1.0)
}

/// Whether all figures are as precise as was asked.
pub fn verdict(reached: bool) -> Result<(), Failure> {
    let failure = || {
        let what = "the requested precision was not reached";
        let cause = "max_reps were not enough, or a time is zero or less, or nothing is sent; all \
                     figures that can be had are there";
        let try_this = "laneway_last_flags(), more repetitions, or a larger alpha";
        Failure::new(Exit::Precision, what, cause, try_this)
    };
    if reached { Ok(()) } else { Err(failure()) }
}
