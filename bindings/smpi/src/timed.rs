//! One collective at a time in virtual time, or a list of messages, for comparison with our
//! simulator: all ranks begin at the same instant, and the time ends when the last of them is done.
//!
//! ```text
//! smpirun … liblaneway_smpi.so virtual-time bcast binomial,pipeline:segment=8K 1K,64K
//! smpirun … liblaneway_smpi.so virtual-time scatter far-first,relay 1M 3 two-sites:8x8
//! smpirun … liblaneway_smpi.so virtual-time messages 0:1:1M,0:2:64K
//! ```
//!
//! After the sizes may stand the root, and after it the platform whose sites the ranks get.
//!
//! No barrier and no repetition: virtual time has neither skew nor noise. The settings that leave
//! nothing but the time of the links are those that `laneway sim --export-simgrid` writes;
//! `start_skew_s` shows whether the ranks did begin at one instant. SMPI counts 16 bytes more than
//! a message has. Of a list every rank tells when it was done.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use laneway_cli::failure::{Exit, Failure};
use laneway_coll::messages::{Message, Messages};
use laneway_coll::{Algorithm, Params, find};
use laneway_core::units::parse_size;
use laneway_core::{Buffers, Collective, Comm, CommError, DataType, Exec};
use laneway_core::{Placement, Rank, ReduceOp, Reduction, Schedule, Shape, talk};
use laneway_sim::HostId;
use laneway_sim::platform::Platform;

/// The first argument that leads here instead of to the command.
pub const NAME: &str = "virtual-time";

/// Virtual seconds between the agreement on an instant and that instant, and from there to the
/// collection of results: longer than any message or collective needs, and free.
const LEAD_SECONDS: f64 = 10.0;

/// What to time.
enum Plan {
    Collective {
        collective: Collective,
        algorithms: Vec<(String, &'static Algorithm, Params)>,
        sizes: Vec<u64>,
        root: Rank,
        placement: Option<Arc<Placement>>,
    },
    Messages(Vec<Message>),
}

/// Runs a plan on this rank; rank 0 prints lines of CSV.
pub fn run(args: &[OsString]) -> u8 {
    let exit = plan(args).and_then(|plan| {
        let comm = laneway_mpi::init(None)?;
        timed(&comm, &plan).map_err(|error| {
            let what = format!("rank {} cannot continue", comm.rank());
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
            failure.exit() as u8
        }
    }
}

fn plan(args: &[OsString]) -> Result<Plan, Failure> {
    let usage = |cause: String| {
        let what = format!("invalid arguments of {NAME}");
        Failure::usage(what, cause, format!("{NAME} bcast binomial,linear 1K,64K"))
    };
    let words: Vec<&str> = args.iter().filter_map(|word| word.to_str()).collect();
    if let ["messages", list] = words[..] {
        let message = |text: &str| message(text).ok_or_else(|| usage(format!("no `{text}`")));
        return Ok(Plan::Messages(list.split(',').map(message).collect::<Result<_, _>>()?));
    }
    let (operation, algorithms, sizes, root, platform) = match words[..] {
        [operation, algorithms, sizes] => (operation, algorithms, sizes, "0", None),
        [operation, algorithms, sizes, root] => (operation, algorithms, sizes, root, None),
        [operation, algorithms, sizes, root, platform] => {
            (operation, algorithms, sizes, root, Some(platform))
        }
        _ => {
            let cause =
                "it takes OP ALGORITHM,… SIZE,… [ROOT [PLATFORM]], or messages FROM:TO:SIZE,…";
            return Err(usage(cause.into()));
        }
    };
    let root = root.parse().map_err(|_| usage(format!("no root `{root}`")))?;
    let placement = platform.map(placement).transpose().map_err(usage)?;
    let collective = Collective::by_name(operation)
        .ok_or_else(|| usage(format!("unknown operation `{operation}`")))?;
    let algorithm = |spelled: &str| match find(collective, spelled) {
        Ok((algorithm, params)) => Ok((spelled.to_owned(), algorithm, params)),
        Err(refusal) => Err(usage(refusal.to_string())),
    };
    let size =
        |text: &str| parse_size(text).map_err(|cause| usage(format!("no size `{text}`: {cause}")));
    let algorithms = algorithms.split(',').map(algorithm).collect::<Result<_, _>>()?;
    let sizes = sizes.split(',').map(size).collect::<Result<_, _>>()?;
    Ok(Plan::Collective { collective, algorithms, sizes, root, placement })
}

/// Where ranks are that are one on each host of a platform.
fn placement(platform: &str) -> Result<Arc<Placement>, String> {
    let platform = Platform::read(platform).map_err(|error| error.to_string())?;
    let hosts: Vec<HostId> = (0..platform.hosts()).collect();
    Ok(Arc::new(platform.placement(&hosts)))
}

fn message(text: &str) -> Option<Message> {
    let (from, rest) = text.split_once(':')?;
    let (to, bytes) = rest.split_once(':')?;
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    Some(Message { from, to, bytes: parse_size(bytes).ok()? })
}

fn timed(comm: &dyn Comm, plan: &Plan) -> Result<(), CommError> {
    match plan {
        Plan::Messages(list) => {
            say(comm, "rank,time_s,start_skew_s")?;
            let times = messages(comm, list)?;
            for (rank, seconds) in times.per_rank.iter().enumerate() {
                say(comm, &format!("{rank},{seconds},{}", times.skew_seconds))?;
            }
        }
        Plan::Collective { collective, algorithms, sizes, root, placement } => {
            let (operation, ranks) = (collective.name(), comm.size());
            say(comm, "op,algorithm,ranks,size_bytes,time_s,start_skew_s")?;
            for (spelled, algorithm, params) in algorithms {
                for &size in sizes {
                    let shape = Shape::new(*collective, ranks, size).with_root(*root);
                    let mut shape = shape.with_element(1, true);
                    if let Some(placement) = placement {
                        shape = shape.with_placement(placement.clone());
                    }
                    let Times { per_rank, skew_seconds } = one(comm, algorithm, params, &shape)?;
                    let seconds = per_rank.into_iter().fold(0.0, f64::max);
                    let run = format!("{operation},{spelled},{ranks},{size}");
                    say(comm, &format!("{run},{seconds},{skew_seconds}"))?;
                }
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

/// From the first entry to each rank's exit, and to the last entry. Only rank 0 knows.
struct Times {
    per_rank: Vec<f64>,
    skew_seconds: f64,
}

fn refused(what: String) -> CommError {
    CommError::Argument { what }
}

/// Collective: runs the schedule once.
fn one(
    comm: &dyn Comm,
    algorithm: &Algorithm,
    params: &Params,
    shape: &Shape,
) -> Result<Times, CommError> {
    shape.validate().map_err(|bad| refused(bad.0))?;
    let schedule = algorithm.schedule(shape, params).map_err(|refusal| refused(refusal.0))?;
    let rank = comm.rank();
    let reduction = shape.collective.reduces();
    let reduction = reduction.then_some(Reduction::Builtin(ReduceOp::Max, DataType::U8));
    run_once(comm, &*schedule, (shape.in_len(rank), shape.out_len(rank)), reduction)
}

fn messages(comm: &dyn Comm, list: &[Message]) -> Result<Times, CommError> {
    let schedule = Messages::new(comm.size(), list).map_err(|refusal| refused(refusal.0))?;
    let rank = comm.rank();
    run_once(comm, &schedule, (schedule.in_len(rank), schedule.out_len(rank)), None)
}

fn run_once(
    comm: &dyn Comm,
    schedule: &dyn Schedule,
    (in_len, out_len): (u64, u64),
    reduction: Option<Reduction>,
) -> Result<Times, CommError> {
    let input = vec![1; in_len as usize];
    let mut output = vec![1; out_len as usize];
    let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
    let buffers = Buffers::new(&input, &mut output, &mut tmp);
    let mut exec = Exec::new(comm, schedule, buffers, reduction, 0)?;

    let instant = agreed_instant(comm)?;
    comm.clock().sleep_until(instant);
    let entry = comm.clock().now();
    exec.run()?;
    let exit = comm.clock().now();
    // What a rank reports must not meet what others are still doing.
    comm.clock().sleep_until(instant + LEAD_SECONDS);
    collected(comm, entry, exit)
}

/// Collective: an instant that lies ahead of every rank.
fn agreed_instant(comm: &dyn Comm) -> Result<f64, CommError> {
    let mut bytes = (comm.clock().now() + LEAD_SECONDS).to_le_bytes();
    talk::broadcast_exact(comm, 0, &mut bytes)?;
    Ok(f64::from_le_bytes(bytes))
}

/// Collective: the times of all ranks, on rank 0.
fn collected(comm: &dyn Comm, entry: f64, exit: f64) -> Result<Times, CommError> {
    let all = talk::gather_exact(comm, [entry.to_le_bytes(), exit.to_le_bytes()].as_flattened())?;
    let times = all.as_chunks::<8>().0.iter().map(|time| f64::from_le_bytes(*time));
    let (entries, exits) = (times.clone().step_by(2), times.skip(1).step_by(2));
    let first = entries.clone().fold(f64::INFINITY, f64::min);
    let last = entries.fold(f64::NEG_INFINITY, f64::max);
    let per_rank = exits.map(|exit| exit - first).collect();
    Ok(Times { per_rank, skew_seconds: last - first })
}
