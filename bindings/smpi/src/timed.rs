//! One collective at a time in virtual time, for comparison with our simulator: all ranks begin at
//! the same instant, and the time ends when the last of them is done.
//!
//! ```text
//! smpirun … liblaneway_smpi.so virtual-time bcast binomial,pipeline:segment=8K 1K,64K
//! ```
//!
//! No barrier and no repetition: virtual time has neither skew nor noise. The settings that leave
//! nothing but the time of the links are in `tests/simulation.rs`; `start_skew_s` shows whether the
//! ranks did begin at one instant. SMPI counts 16 bytes more than a message has.

use std::ffi::OsString;
use std::io::Write;

use laneway_coll::{Algorithm, Params, find};
use laneway_core::units::parse_size;
use laneway_core::{Buffers, Collective, Comm, CommError, DataType, Exec, Exit, Failure};
use laneway_core::{ReduceOp, Reduction, Shape, Tag};

/// The first argument that leads here instead of to the command.
pub const NAME: &str = "virtual-time";

/// Virtual seconds between the agreement on an instant and that instant: longer than any message
/// needs to tell of it, and free.
const LEAD_SECONDS: f64 = 10.0;

const TAG: Tag = 2;

/// What to time.
struct Plan {
    collective: Collective,
    algorithms: Vec<(String, &'static Algorithm, Params)>,
    sizes: Vec<u64>,
}

/// Runs `OP ALGORITHM,… SIZE,…` on this rank; rank 0 prints a line of CSV for each pair.
pub fn run(args: &[OsString]) -> u8 {
    let exit = plan(args).and_then(|plan| {
        let comm = laneway_mpi::init(None).map_err(laneway_mpi::MpiError::into_failure)?;
        timed(&comm, &plan).map_err(|error| {
            let what = format!("rank {} cannot go on", comm.rank());
            let failure = Failure::environment(what, error.to_string(), "");
            let _ = writeln!(std::io::stderr(), "{failure}");
            // The others may be waiting for this rank.
            comm.abort(Exit::Environment as i32)
        })
    });
    match exit {
        Ok(()) => Exit::Done as u8,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{failure}");
            failure.exit as u8
        }
    }
}

fn plan(args: &[OsString]) -> Result<Plan, Failure> {
    let usage = |cause: String| {
        let what = format!("{NAME} is not understood");
        Failure::usage(what, cause, format!("{NAME} bcast binomial,linear 1K,64K"))
    };
    let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).collect();
    let [operation, algorithms, sizes] = words[..] else {
        return Err(usage("it takes OP ALGORITHM,… SIZE,…".into()));
    };
    let collective = Collective::by_name(operation)
        .ok_or_else(|| usage(format!("there is no operation `{operation}`")))?;
    let algorithm = |spelled: &str| match find(collective, spelled) {
        Ok((algorithm, params)) => Ok((spelled.to_owned(), algorithm, params)),
        Err(refusal) => Err(usage(refusal.to_string())),
    };
    let size =
        |text: &str| parse_size(text).map_err(|cause| usage(format!("no size `{text}`: {cause}")));
    let algorithms = algorithms.split(',').map(algorithm).collect::<Result<_, _>>()?;
    let sizes = sizes.split(',').map(size).collect::<Result<_, _>>()?;
    Ok(Plan { collective, algorithms, sizes })
}

fn timed(comm: &dyn Comm, plan: &Plan) -> Result<(), CommError> {
    let operation = plan.collective.name();
    say(comm, "op,algorithm,ranks,size_bytes,time_s,start_skew_s")?;
    for (spelled, algorithm, params) in &plan.algorithms {
        for &size in &plan.sizes {
            let ranks = comm.size();
            let shape = Shape::new(plan.collective, ranks, size).with_element(1, true);
            if let Some(Time { seconds, skew_seconds }) = one(comm, algorithm, params, &shape)? {
                let line = format!("{operation},{spelled},{ranks},{size},{seconds},{skew_seconds}");
                say(comm, &line)?;
            }
        }
    }
    Ok(())
}

/// Prints a line on rank 0.
fn say(comm: &dyn Comm, line: &str) -> Result<(), CommError> {
    if comm.rank() != 0 {
        return Ok(());
    }
    writeln!(std::io::stdout(), "{line}").map_err(|error| CommError::System {
        what: "cannot write to standard output".into(),
        error: error.to_string(),
    })
}

/// From the first entry to the last exit, and from the first entry to the last.
struct Time {
    seconds: f64,
    skew_seconds: f64,
}

/// Collective: runs the schedule once; rank 0 gets the time.
fn one(
    comm: &dyn Comm,
    algorithm: &Algorithm,
    params: &Params,
    shape: &Shape,
) -> Result<Option<Time>, CommError> {
    let refused = |what: String| CommError::Argument { what };
    shape.validate().map_err(|bad| refused(bad.0))?;
    let schedule = algorithm.schedule(shape, params).map_err(|refusal| refused(refusal.0))?;
    let rank = comm.rank();
    let input = vec![1; shape.in_len(rank) as usize];
    let mut output = vec![1; shape.out_len(rank) as usize];
    let mut tmp = vec![0; schedule.tmp_len(rank) as usize];
    let reduction = shape.collective.reduces();
    let reduction = reduction.then_some(Reduction::Builtin(ReduceOp::Max, DataType::U8));
    let buffers = Buffers::new(&input, &mut output, &mut tmp);
    let mut exec = Exec::new(comm, &*schedule, buffers, reduction, 0)?;

    comm.clock().sleep_until(agreed_instant(comm)?);
    let entry = comm.clock().now();
    exec.run()?;
    let exit = comm.clock().now();
    collected(comm, entry, exit)
}

/// Collective: an instant that lies ahead of every rank.
fn agreed_instant(comm: &dyn Comm) -> Result<f64, CommError> {
    if comm.rank() != 0 {
        let mut bytes = [0; 8];
        comm.recv(Some(0), Some(TAG), &mut bytes)?;
        return Ok(f64::from_le_bytes(bytes));
    }
    let instant = comm.clock().now() + LEAD_SECONDS;
    for to in 1..comm.size() {
        comm.send(to, TAG, &instant.to_le_bytes())?;
    }
    Ok(instant)
}

/// Collective: the time over all ranks, on rank 0.
fn collected(comm: &dyn Comm, entry: f64, exit: f64) -> Result<Option<Time>, CommError> {
    if comm.rank() != 0 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&entry.to_le_bytes());
        bytes[8..].copy_from_slice(&exit.to_le_bytes());
        comm.send(0, TAG, &bytes)?;
        return Ok(None);
    }
    let (mut first, mut last, mut end) = (entry, entry, exit);
    for from in 1..comm.size() {
        let (mut entry, mut exit) = ([0; 8], [0; 8]);
        let mut bytes = [0; 16];
        comm.recv(Some(from), Some(TAG), &mut bytes)?;
        entry.copy_from_slice(&bytes[..8]);
        exit.copy_from_slice(&bytes[8..]);
        let (entry, exit) = (f64::from_le_bytes(entry), f64::from_le_bytes(exit));
        (first, last, end) = (first.min(entry), last.max(entry), end.max(exit));
    }
    Ok(Some(Time { seconds: end - first, skew_seconds: last - first }))
}
