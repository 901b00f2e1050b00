//! Performance models: estimated by the caller's own ranks, saved, loaded, and asked.

use std::ffi::{c_char, c_double, c_int};
use std::path::Path;

use laneway_core::{Comm, Shape};
use laneway_model::{Fitted, ModelKind, Request, estimate, fit, share};

use crate::arguments::{self, collective, refused, word};
use crate::failure::{Exit, Failure};
use crate::last_error::answer;
use crate::measure::adopted;
use crate::together::{agree, mark_of};

/// Bytes of the messages of experiments.
const SIZES: [u64; 4] = [4 << 10, 32 << 10, 256 << 10, 1 << 20];

/// A model of a network, behind a pointer.
pub struct Model(Fitted);

/// Collective over `comm`: estimates a model ("hockney", "hockney-pairs", "hockney-segments",
/// "loggp", "plogp" or "lmo") by experiments on disjoint pairs and triples of ranks, at the same
/// time where `parallel` is not 0, each until its interval is within `precision` (0.01 is 1 %), in
/// `budget` seconds altogether. Every rank has the model then, and gives it back with
/// laneway_free_model. LANEWAY_WRONG: the model does not hold here; it is there, and predicts
/// nothing.
///
/// # Safety
/// The text is a C string, and `out` has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_estimate_ranks(
    comm: c_int,
    model: *const c_char,
    precision: c_double,
    parallel: c_int,
    budget: c_double,
    out: *mut *mut Model,
) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let kind = unsafe { word(model, "model") }.and_then(kind_of);
        let kind = kind.and_then(|kind| if out.is_null() { Err(no_room()) } else { Ok(kind) });
        adopted(comm, |ranks| {
            let name = kind.as_ref().map_or("", |kind| kind.name());
            let words = [precision.to_bits(), u64::from(parallel != 0), budget.to_bits()];
            let mark = mark_of(name.bytes().map(u64::from).chain(words));
            let kind = agree(ranks, kind, mark)?;
            let fitted = estimated(ranks, kind, precision, parallel != 0, budget)?;
            let holds = demanded(&fitted);
            // SAFETY: there is room for it, as the caller promises, and it is not NULL.
            unsafe { *out = Box::into_raw(Box::new(Model(fitted))) };
            holds
        })
    })
}

fn estimated(
    comm: &dyn Comm,
    kind: ModelKind,
    precision: f64,
    parallel: bool,
    budget: f64,
) -> Result<Fitted, Failure> {
    let gaps = kind.needs_gaps();
    let request = Request { sizes: SIZES.to_vec(), precision, parallel, budget, gaps };
    let experiments = estimate(comm, &request)?;
    // Whether there is a model is known to rank 0 alone.
    let own = experiments.map(|all| fit(&all, kind)).transpose().map_err(Failure::from);
    let own = agree(comm, own, 0)?;
    Ok(share(comm, own.as_ref())?)
}

/// Reads a model that laneway_save_model or `laneway model fit -o` wrote; laneway_free_model gives
/// it back. LANEWAY_WRONG: it is there, and does not hold.
///
/// # Safety
/// The text is a C string, and `out` has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_load_model(file: *const c_char, out: *mut *mut Model) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let file = unsafe { word(file, "file")? };
        if out.is_null() {
            return Err(no_room());
        }
        let text = std::fs::read_to_string(Path::new(file)).map_err(|error| {
            let what = format!("{file} cannot be read");
            Failure::environment(what, error.to_string(), "a file of laneway_save_model")
        })?;
        let fitted = Fitted::load(file, &text)?;
        let holds = demanded(&fitted);
        // SAFETY: there is room for it, as the caller promises, and it is not NULL.
        unsafe { *out = Box::into_raw(Box::new(Model(fitted))) };
        holds
    })
}

/// Writes a model to a file, for laneway_load_model and for `laneway model show` and `predict`.
///
/// # Safety
/// The model is one of these functions' and was not given back; the text is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_save_model(model: *const Model, file: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let (model, file) = unsafe { (known(model)?, word(file, "file")?) };
        std::fs::write(Path::new(file), model.0.save()).map_err(|error| {
            let what = format!("{file} cannot be written");
            Failure::environment(what, error.to_string(), "a folder in which you can create files")
        })
    })
}

/// What an algorithm of laneway takes for an operation of `size` bytes, in seconds, to `seconds`,
/// and the ends of its interval to `low` and `high`, which may be NULL; both are NAN where the
/// model was seen to be too far off to promise an interval. `ranks` is 0 for as many as the model
/// was estimated on. Nothing is called, and no MPI is needed.
///
/// # Safety
/// The model is one of these functions' and was not given back; the texts are C strings, and there
/// is room for each number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_predict(
    model: *const Model,
    operation: *const c_char,
    algorithm: *const c_char,
    ranks: c_int,
    size: c_int,
    root: c_int,
    seconds: *mut c_double,
    low: *mut c_double,
    high: *mut c_double,
) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let (model, operation, algorithm) =
            unsafe { (known(model)?, word(operation, "op")?, word(algorithm, "algorithm")?) };
        let numbers = (u32::try_from(ranks), u64::try_from(size), u32::try_from(root));
        let (Ok(ranks), Ok(size), Ok(root)) = numbers else {
            let cause = format!("{ranks} ranks, size {size}, root {root}");
            return Err(refused("invalid call", cause, "0 bytes or more, from a rank"));
        };
        let collective = collective(operation)?;
        let ranks = if ranks == 0 { model.0.hosts.len() as u32 } else { ranks };
        let shape = Shape::new(collective, ranks, size).with_root(root);
        let no_call = |cause: String| refused("invalid call", cause, "another root or size");
        shape.validate().map_err(|bad| no_call(bad.0))?;
        let (found, params) = arguments::algorithm(collective, algorithm)?;
        if laneway_model::needs_placement(found, &params) {
            let cause = format!("`{algorithm}` depends on the sites of ranks, which are unknown");
            return Err(no_call(cause));
        }
        let schedule = found.schedule(&shape, &params).map_err(|refusal| no_call(refusal.0))?;
        let prediction = model.0.predict(&*schedule)?;
        let ends = prediction.interval.map_or([f64::NAN; 2], |ends| [ends.low, ends.high]);
        let figures = [prediction.seconds, ends[0], ends[1]];
        for (to, figure) in [seconds, low, high].into_iter().zip(figures) {
            if !to.is_null() {
                // SAFETY: as the caller promises.
                unsafe { *to = figure };
            }
        }
        Ok(())
    })
}

/// Gives a model back; NULL is none.
///
/// # Safety
/// The model is one of these functions', and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_free_model(model: *mut Model) {
    if !model.is_null() {
        // SAFETY: it came from a box, and has no other user.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// # Safety
/// It is NULL or a model that was not given back.
unsafe fn known<'a>(model: *const Model) -> Result<&'a Model, Failure> {
    // SAFETY: as promised.
    unsafe { model.as_ref() }.ok_or_else(|| {
        refused("an argument is missing", "model is NULL", "laneway_estimate_model before")
    })
}

fn kind_of(name: &str) -> Result<ModelKind, Failure> {
    ModelKind::by_name(name).ok_or_else(|| {
        let all = ModelKind::ALL.map(ModelKind::name).join(", ");
        refused("unknown model", format!("there is no `{name}`"), &all)
    })
}

fn no_room() -> Failure {
    refused("an argument is missing", "out is NULL", "an address with room for a pointer")
}

/// A model that does not hold is there all the same.
fn demanded(fitted: &Fitted) -> Result<(), Failure> {
    let quality = &fitted.quality;
    if quality.holds() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Gate,
        "the model does not hold here",
        format!("it is {:.1} % off for {}", 100.0 * quality.worst, quality.worst_of),
        "another model",
    ))
}
