//! `laneway check`: runs every algorithm with real data and compares every byte.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use laneway_coll::bytes::{self, Case, Group, Plan, Tally};
use laneway_core::units::{counted, format_size};
use laneway_core::{Collective, Comm, Document, Placement, Row, Shape, talk};

use crate::advice;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::placed::{self, Placed};
use crate::progress::Progress;
use crate::session::{self, RankError};
use crate::watchdog::Watchdog;
use crate::words;

pub fn command() -> Command {
    Command::new("check")
        .about("Runs every algorithm with real data on the current backend and checks every byte")
        .after_help(
            "Each algorithm runs for each size and root, in place and not, and its result is \
             compared with the operation's definition; over MPI also with the library's own \
             collective. For reductions the sizes count elements.\n\nExamples:\n  \
             laneway check --ranks 5               everything, on processes of this machine\n  \
             laneway check bcast,reduce --ranks 8  two operations\n  \
             laneway check --backend local:tcp     over TCP sockets\n  \
             laneway check --backend sim:cluster:8  on a simulated cluster\n  \
             laneway check --backend net --hosts a,b:2  over connections that migrate, no MPI\n  \
             laneway check bcast --algorithm knomial:radix=3:segment=1K\n  \
             laneway check --ranks 6 --sites two-sites:2x4  as if the ranks were at two sites\n  \
             mpirun -n 5 laneway check             over the MPI that started it\n  \
             laneway check --ranks 4 --format json | jq .summary",
        )
        .arg(words::ops_arg().help("Operations, comma-separated: bcast,scatter [default: all]"))
        .arg(
            Arg::new("algorithm")
                .long("algorithm")
                .value_name("A,B")
                .value_delimiter(',')
                .help("Algorithms: binomial,knomial:radix=3,native [default: all]"),
        )
        .arg(words::sizes_arg(
            "Bytes of a block or vector, elements for reductions",
            "0,1,7,1K,64K+1",
        ))
        .arg(placed::arg().help(
            "A platform: algorithms take rank r to be on its host r [default: of --backend sim:P]",
        ))
        .args(session::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let collectives = words::ops("check", matches, "all")?;
    let mut names: Vec<String> =
        matches.get_many("algorithm").unwrap_or_default().cloned().collect();
    if names.iter().any(|name| name == "all") {
        names.clear();
    }
    let sizes = words::sizes(matches.get_many("sizes").unwrap_or_default())?;
    let plan = Plan::new(&collectives, &names, sizes).map_err(|unknown| {
        words::unknown_algorithm(&unknown.name, unknown.why, collectives.len())
    })?;
    let output = Output::from(matches)?;
    let sites = placed::from_args(matches);
    let unserved = words::unserved(&collectives, names.iter());
    session::run(&session::checking(matches)?, &|comm| {
        unserved.iter().filter(|_| comm.rank() == 0).for_each(|line| output::note(line));
        checked(comm, &plan, sites.as_deref(), &output)
    })
}

/// Runs the plan on this rank; rank 0 prints.
fn checked(
    comm: &dyn Comm,
    plan: &Plan,
    sites: Option<&str>,
    output: &Output,
) -> Result<Exit, RankError> {
    let printing = comm.rank() == 0;
    let placed = Placed::pretend(comm, sites).map_err(advice::sites::place_error)?;
    let watchdog = Watchdog::new(comm);
    let shape = Shape::new(Collective::Bcast, comm.size(), 1);
    let native = comm.has_native(&shape);
    let placement: Option<Arc<Placement>> = placed.and_then(|placed| placed.place(shape).placement);
    let groups = plan.groups(comm.size(), native);
    if let Some(cause) = talk::objection(comm, too_large(comm, &groups))? {
        let what = "these sizes do not fit into memory";
        return Err(Failure::usage(what, cause, "smaller --sizes, or fewer ranks").into());
    }
    let total = groups.iter().map(|group| group.cases.len()).sum();
    let mut progress = Progress::new(total, printing);
    let mut done = 0;
    let mut before = |case: &Case| {
        watchdog.alive();
        progress.at(done, case.collective.name());
        done += 1;
    };
    let report = bytes::run(comm, &groups, placement.as_ref(), &mut before)?;
    drop(progress);
    let tally = report.tally;
    if printing {
        let env = session::environment(comm);
        let sizes: Vec<String> = plan.sizes().iter().map(|&size| format_size(size)).collect();
        let params = Row::new().with("sizes", sizes.join(",")).with("sites", sites);
        let (rows, summary) = (report.rows, Some(tally.row()));
        let full = Document { verb: "check", env, params, rows, summary };
        let brief = Document { rows: report.brief, ..full.clone() };
        output.write_said(&full, Some(&brief), &[sentence(&tally)])?;
    }
    let nothing = tally.passed + tally.failed == 0;
    if nothing {
        let what = "nothing was checked";
        let cause = "no chosen algorithm serves any of the chosen shapes";
        return Err(Failure::usage(what, cause, "laneway info algorithms").into());
    }
    // All ranks know the outcome and leave with the same code.
    Ok(if tally.failed > 0 { Exit::Gate } else { Exit::Done })
}

/// Why this rank's memory cannot hold the largest call, with all ranks of the run on one host.
fn too_large(comm: &dyn Comm, groups: &[Group]) -> Option<String> {
    let available = laneway_processes::memory::memory_bytes()?;
    let need = |case: &Case| (case.memory_bytes(comm.size()), case.size);
    let (need, size) = groups.iter().flat_map(|group| &group.cases).map(need).max()?;
    (need > available).then(|| {
        let (need, available) = (need >> 20, available >> 20);
        format!("size {} needs about {need} MiB of {available} MiB", format_size(size))
    })
}

/// How many calls came out how, in words.
fn sentence(tally: &Tally) -> String {
    let Tally { passed, failed, skipped, .. } = tally;
    let (calls, was) = (counted(*passed, "call"), if *skipped == 1 { "was" } else { "were" });
    format!("{calls} passed, {failed} failed and {skipped} {was} skipped.")
}
