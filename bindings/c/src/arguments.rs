//! Reads what C gives: every word is looked at before it is used.

use std::ffi::{CStr, CString, c_char, c_double, c_int};

use laneway_coll::{Algorithm, Params, algorithms, find};
use laneway_core::Collective;
use laneway_core::error::nearest;
use laneway_measure::operation::Answerer;
use laneway_measure::timing::{Global, Maximum, Root, Series, StartTime, Tasks};
use laneway_measure::{Rule, Timing};

use crate::TimingMethod;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::settings::{self, Settings};
use crate::together::mark_of;

/// The confidence of the error of a fixed number of repetitions is 95 % by default.
const USUAL_ALPHA: f64 = 0.05;

pub fn refused(what: &str, cause: impl Into<String>, try_this: &str) -> Failure {
    Failure::usage(what, cause, try_this)
}

/// A text of C.
///
/// # Safety
/// `text` is null or a C string that stays during the call.
pub unsafe fn word<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: as promised.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map_err(|_| refused("invalid text", format!("{name} is not UTF-8"), "UTF-8 text"))
}

fn null(name: &str) -> Failure {
    refused("an argument is missing", format!("{name} is NULL"), "an address with room for it")
}

pub fn collective(name: &str) -> Result<Collective, Failure> {
    Collective::by_name(name).ok_or_else(|| {
        let names = Collective::ALL.map(Collective::name);
        let cause = format!("there is no `{name}`");
        let try_this = nearest(name, names).map_or(names.join(", "), str::to_owned);
        refused("unknown operation", cause, &try_this)
    })
}

/// `native`, or an algorithm of the registry.
pub fn answerer(collective: Collective, name: &str) -> Result<Answerer, Failure> {
    if name == "native" {
        return Ok(Answerer::Native);
    }
    let (algorithm, params) = algorithm(collective, name)?;
    Ok(Answerer::Ours(algorithm, params))
}

/// An algorithm of the registry.
pub fn algorithm(
    collective: Collective,
    name: &str,
) -> Result<(&'static Algorithm, Params), Failure> {
    find(collective, name).map_err(|refusal| {
        let names: Vec<&str> = algorithms(collective).map(|algorithm| algorithm.name).collect();
        refused("unknown algorithm", refusal.0, &names.join(", "))
    })
}

/// When to stop, and a mark that distinguishes it from others.
///
/// paper: mpiblib 3: equal minimum and maximum are a fixed number, and the error arguments are
/// ignored.
pub fn rule(min: c_int, max: c_int, alpha: c_double) -> Result<(Rule, u64), Failure> {
    let fixed = min == max;
    let given = alpha > 0.0 && alpha < 1.0;
    let used = if fixed && !given { USUAL_ALPHA } else { alpha };
    // What is negative is refused like 0.
    let count = |reps: c_int| u32::try_from(reps).unwrap_or(0);
    let rule = Rule::paper(count(min), count(max), used);
    let try_this = "0 < min_reps <= max_reps, and 0 < alpha < 1 where they differ";
    let asked = if fixed { 0 } else { alpha.to_bits() };
    match rule.objection() {
        Some(why) => Err(refused("invalid stopping rule", why, try_this)),
        None => Ok((rule, mark_of([min as u64, max as u64, asked]))),
    }
}

/// How something is measured.
pub struct Manner {
    timing: TimingMethod,
    pub settings: Settings,
    pub rule: Rule,
    /// Tells it from others.
    pub mark: u64,
}

impl Manner {
    pub fn new(timing: c_int, min: c_int, max: c_int, alpha: c_double) -> Result<Manner, Failure> {
        let timing = TimingMethod::of(timing).ok_or_else(|| {
            let cause = format!("there is no timing {timing}");
            refused("unknown timing", cause, "LANEWAY_ROOT to LANEWAY_TASKS")
        })?;
        let (rule, mark) = rule(min, max, alpha)?;
        let settings = settings::current();
        let mark = mark_of([timing as u64, mark, settings.mark()]);
        Ok(Manner { timing, settings, rule, mark })
    }

    /// Whether it is an operation's single tasks that are timed.
    pub fn by_tasks(&self) -> bool {
        matches!(self.timing, TimingMethod::LanewayTasks)
    }

    /// The tasks of a caller's function are not known.
    pub fn refuse_tasks(&self) -> Result<(), Failure> {
        if !self.by_tasks() {
            return Ok(());
        }
        let cause = "the timing `tasks` needs a known algorithm, not a function";
        Err(refused("unsupported timing", cause, "another timing, as LANEWAY_ROOT"))
    }

    /// What so few ranks cannot do; all of them refuse alike.
    pub fn check(&self, ranks: u32) -> Result<(), Failure> {
        let root = self.settings.root;
        if root < ranks {
            return Ok(());
        }
        let cause = format!("the setting is {root}, and the ranks are 0 to {}", ranks - 1);
        Err(refused("invalid root", cause, "laneway_set(\"root\", \"0\")"))
    }

    pub fn timing(&self) -> Box<dyn Timing> {
        let Settings { root, confirmation, resync, series, .. } = self.settings;
        match self.timing {
            TimingMethod::LanewayMaximum => Box::new(Maximum),
            TimingMethod::LanewayGlobal => Box::new(Global { resync }),
            TimingMethod::LanewayStartTime => Box::new(StartTime::default()),
            TimingMethod::LanewayLoop => Box::new(Series { length: series }),
            TimingMethod::LanewayTasks => Box::new(Tasks::new(root)),
            TimingMethod::LanewayRoot => Box::new(Root::new(root, confirmation)),
        }
    }
}

/// Sizes in bytes of C; `n` is seen to be positive, and so are they, or 0.
///
/// # Safety
/// `first` is null or the first of `n`, which stay unchanged during the call.
pub unsafe fn sizes<'a>(first: *const c_int, n: c_int) -> Result<&'a [c_int], Failure> {
    // SAFETY: as promised.
    let sizes = unsafe { list(first, n, "M")? };
    match sizes.iter().find(|size| **size < 0) {
        Some(size) => Err(refused("invalid size", format!("M has a size of {size}"), "0 or more")),
        None => Ok(sizes),
    }
}

/// A list of C; `n` is seen to be positive.
///
/// # Safety
/// `first` is null or the first of `n`, which stay unchanged during the call.
pub unsafe fn list<'a, T>(first: *const T, n: c_int, name: &str) -> Result<&'a [T], Failure> {
    let n = length(n)?;
    if first.is_null() {
        return Err(null(name));
    }
    // SAFETY: as promised.
    Ok(unsafe { std::slice::from_raw_parts(first, n) })
}

/// A list of C that may be empty.
///
/// # Safety
/// As for [`list`].
pub unsafe fn items<'a, T>(first: *const T, count: c_int, name: &str) -> Result<&'a [T], Failure> {
    match count {
        0 => Ok(&[]),
        // SAFETY: as promised.
        1.. => unsafe { list(first, count, name) },
        _ => Err(refused("invalid list", format!("{name} has {count} members"), "0 or more")),
    }
}

pub fn length(n: c_int) -> Result<usize, Failure> {
    let length = usize::try_from(n).ok().filter(|&n| n > 0);
    length.ok_or_else(|| refused("nothing to measure", format!("n is {n}"), "n of 1 or more"))
}

/// Where the figures of a measurement go. Addresses and no slices, as a caller that does not care
/// for some of them may give the same room twice.
pub struct Figures<'a> {
    room: usize,
    times: *mut c_double,
    reps: *mut c_int,
    errors: *mut c_double,
    flags: &'a mut Flags,
}

impl<'a> Figures<'a> {
    /// # Safety
    /// Each is null or has this much room, which the call uses alone.
    pub unsafe fn new(
        room: usize,
        times: *mut c_double,
        reps: *mut c_int,
        errors: *mut c_double,
        flags: &'a mut Flags,
    ) -> Result<Figures<'a>, Failure> {
        let missing = [("T", times.is_null()), ("reps", reps.is_null()), ("a", errors.is_null())];
        match missing.into_iter().find(|(_, missing)| *missing && room > 0) {
            Some((name, _)) => Err(null(name)),
            None => Ok(Figures { room, times, reps, errors, flags }),
        }
    }

    /// Takes back the figures of the last point, which is none.
    pub fn withdraw(&mut self, flags: &str) {
        self.flags.pop();
        self.put(f64::NAN, 0, f64::NAN, flags);
    }

    /// The figures of the next point, and what is to be known of them.
    pub fn put(&mut self, time: f64, reps: u32, error: f64, flags: &str) {
        let at = self.flags.len();
        assert!(at < self.room, "as many points as there is room for");
        // No flag holds a zero, which would end it.
        self.flags.push(CString::new(flags).unwrap_or_default());
        let reps = c_int::try_from(reps).unwrap_or(c_int::MAX);
        // SAFETY: `at` was just seen to lie within the room that `new` was promised.
        unsafe {
            self.times.add(at).write(time);
            self.reps.add(at).write(reps);
            self.errors.add(at).write(error);
        }
    }
}
