//! `laneway check`: runs every algorithm with real data and compares every byte.

mod case;
mod data;
mod plan;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::format_size;
use laneway_core::{Collective, Comm, CommError, Document, Exit, Failure, Row};

use crate::output::{self, Output};
use crate::placed::{self, Placed};
use crate::progress::Progress;
use crate::session;
use crate::words;
use case::{Case, Outcome};
use laneway_backend::Watchdog;
use laneway_core::talk;
use plan::{Group, Plan};

pub fn command() -> Command {
    Command::new("check")
        .about("Runs every algorithm with real data on the current backend and checks every byte")
        .after_help(
            "Each algorithm runs for each size and root, in place and apart, and its answer is \
             compared with the operation's definition; over MPI also with the library's own \
             collective. For reductions the sizes count elements.\n\nExamples:\n  \
             laneway check --ranks 5               everything, on processes of this machine\n  \
             laneway check bcast reduce --ranks 8  two operations\n  \
             laneway check --backend local:tcp     over TCP sockets\n  \
             laneway check --backend sim:cluster:8 on a simulated cluster\n  \
             laneway check --backend net --hosts a,b:2  over connections that migrate, no MPI\n  \
             laneway check bcast --algorithm knomial:radix=3:segment=1K\n  \
             laneway check --ranks 6 --sites two-sites:2x4  as if the ranks were at two sites\n  \
             mpirun -n 5 laneway check             over the MPI that started it\n  \
             laneway check --ranks 4 --format json | jq .summary",
        )
        .arg(
            Arg::new("op")
                .value_name("OP")
                .action(ArgAction::Append)
                .help("Operations to check: bcast, scatterv, ... [default: all]"),
        )
        .arg(
            Arg::new("algorithm")
                .long("algorithm")
                .value_name("A,B")
                .value_delimiter(',')
                .help("Algorithms: binomial,knomial:radix=3,native [default: all]"),
        )
        .arg(
            Arg::new("sizes")
                .long("sizes")
                .value_name("S,T")
                .value_delimiter(',')
                .default_value("0,1,7,1K,64K+1")
                .help("Bytes of a block or vector; elements for reductions"),
        )
        .arg(placed::arg().help(
            "A platform: algorithms take rank r to be on its host r [default: of --backend sim:P]",
        ))
        .args(session::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let collectives = collectives(matches)?;
    let names: Vec<String> = matches.get_many("algorithm").unwrap_or_default().cloned().collect();
    let plan = Plan::new(&collectives, &names, sizes(matches)?)?;
    let output = Output::from(matches)?;
    let sites = placed::asked(matches);
    session::run(&session::checking(matches)?, &|comm| {
        checked(comm, &plan, sites.as_deref(), &output)
    })
}

fn collectives(matches: &ArgMatches) -> Result<Vec<Collective>, Failure> {
    let names: Vec<&String> = matches.get_many("op").unwrap_or_default().collect();
    if names.is_empty() {
        return Ok(Collective::ALL.to_vec());
    }
    names.into_iter().map(|name| words::collective("check", name)).collect()
}

fn sizes(matches: &ArgMatches) -> Result<Vec<u64>, Failure> {
    let texts: Vec<&String> = matches.get_many("sizes").unwrap_or_default().collect();
    texts.into_iter().map(|text| words::size(text)).collect()
}

/// Runs the plan on this rank; rank 0 prints.
fn checked(
    comm: &dyn Comm,
    plan: &Plan,
    sites: Option<&str>,
    output: &Output,
) -> Result<Exit, CheckError> {
    let printing = comm.rank() == 0;
    let placed = Placed::pretend(comm, sites).map_err(placed::refused)?;
    let watchdog = Watchdog::new(comm);
    let native = comm.has_native(&laneway_core::Shape::new(Collective::Bcast, comm.size(), 1));
    let groups = plan.cases(comm.size(), native);
    if let Some(cause) = talk::objection(comm, too_large(comm, &groups))? {
        let what = "these sizes do not fit into memory";
        return Err(Failure::usage(what, cause, "smaller --sizes, or fewer ranks").into());
    }
    let total = groups.iter().map(|group| group.cases.len()).sum();
    let mut progress = Progress::new(total, printing);
    let (mut sequence, mut rows, mut brief) = (0u16, Vec::new(), Vec::new());
    let mut sums = Sums::default();
    for group in &groups {
        let mut outcomes = Vec::with_capacity(group.cases.len());
        for case in &group.cases {
            watchdog.alive();
            progress.at(sequence as usize, group.collective.name());
            sequence = sequence.wrapping_add(1);
            outcomes.push(case.run(comm, placed.as_ref(), sequence)?);
        }
        merge(comm, &mut outcomes)?;
        let group_sums = Sums::of(&outcomes);
        sums.add(&group_sums);
        brief.push(group_sums.row(group, &outcomes));
        rows.extend(group.cases.iter().zip(&outcomes).map(|(c, o)| row(c, comm.size(), o)));
    }
    drop(progress);
    if printing {
        let env = session::environment(comm);
        let sizes: Vec<String> = plan.sizes.iter().map(|&size| format_size(size)).collect();
        let params = Row::new().with("sizes", sizes.join(",")).with("sites", sites);
        let summary = Some(sums.summary());
        let full = Document { verb: "check", env, params, rows, summary };
        let brief = Document { rows: brief, ..full.clone() };
        output.write(&full, Some(&brief))?;
    }
    let nothing = sums.passed + sums.failed == 0;
    if nothing {
        let what = "nothing was checked";
        let cause = "no chosen algorithm serves any of the chosen shapes";
        return Err(Failure::usage(what, cause, "laneway info algorithms").into());
    }
    // All ranks know the outcome and leave with the same code.
    Ok(if sums.failed > 0 { Exit::Gate } else { Exit::Done })
}

/// Collective: a call failed if it failed anywhere; everybody learns of it.
fn merge(comm: &dyn Comm, outcomes: &mut [Outcome]) -> Result<(), CommError> {
    let failures: String = outcomes
        .iter()
        .enumerate()
        .filter_map(|(i, outcome)| match outcome {
            Outcome::Failed(why) => Some(format!("{i} {}\n", why.replace('\n', " "))),
            _ => None,
        })
        .collect();
    let all = talk::collect(comm, failures.as_bytes())?.concat();
    let all = talk::announce(comm, &all)?;
    for line in String::from_utf8_lossy(&all).lines() {
        let Some((index, why)) = line.split_once(' ') else { continue };
        let outcome = index.parse::<usize>().ok().and_then(|index| outcomes.get_mut(index));
        if let Some(outcome) = outcome.filter(|outcome| **outcome == Outcome::Passed) {
            *outcome = Outcome::Failed(why.to_owned());
        }
    }
    Ok(())
}

/// Why this rank's memory cannot hold the largest call, with all ranks of the run on one host.
fn too_large(comm: &dyn Comm, groups: &[Group]) -> Option<String> {
    let available = laneway_measure::memory::memory_bytes()?;
    let need = |case: &Case| {
        let shape = case.shape(comm.size());
        let most = |rank| shape.in_len(rank).saturating_add(shape.out_len(rank));
        // Ours, the wanted answer, scratch, and the library's answer.
        let largest = (0..comm.size()).map(most).max().unwrap_or(0).saturating_mul(4);
        (largest.saturating_mul(u64::from(comm.size())), case.size)
    };
    let (need, size) = groups.iter().flat_map(|group| &group.cases).map(need).max()?;
    (need > available).then(|| {
        let (need, available) = (need >> 20, available >> 20);
        format!("size {} needs about {need} MiB of {available} MiB", format_size(size))
    })
}

fn row(case: &Case, ranks: u32, outcome: &Outcome) -> Row {
    let (ok, detail) = match outcome {
        Outcome::Passed => (Some(true), None),
        Outcome::Failed(why) => (Some(false), Some(why.clone())),
        Outcome::Skipped(why) => (None, Some(why.clone())),
    };
    let element = u64::from(case.content.element());
    Row::new()
        .with("op", case.collective.name())
        .with("algorithm", case.algorithm_name())
        .with("ranks", ranks)
        .with("root", case.collective.has_root().then_some(case.root))
        .with("size_bytes", case.size.saturating_mul(element))
        .with("in_place", case.in_place)
        .with("reduction", case.content.name())
        .with("ok", ok)
        .with("detail", detail)
}

#[derive(Default)]
struct Sums {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Sums {
    fn of(outcomes: &[Outcome]) -> Sums {
        let mut sums = Sums::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Passed => sums.passed += 1,
                Outcome::Failed(_) => sums.failed += 1,
                Outcome::Skipped(_) => sums.skipped += 1,
            }
        }
        sums
    }

    fn add(&mut self, other: &Sums) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    fn summary(&self) -> Row {
        let row = Row::new().with("passed", self.passed).with("failed", self.failed);
        row.with("skipped", self.skipped)
    }

    /// One line for people: an algorithm, and the first thing to know about it.
    fn row(&self, group: &Group, outcomes: &[Outcome]) -> Row {
        let said = |wanted: fn(&Outcome) -> Option<&String>| outcomes.iter().find_map(wanted);
        let failed = said(|outcome| match outcome {
            Outcome::Failed(why) => Some(why),
            _ => None,
        });
        let skipped = said(|outcome| match outcome {
            Outcome::Skipped(why) => Some(why),
            _ => None,
        });
        Row::new()
            .with("op", group.collective.name())
            .with("algorithm", group.algorithm)
            .with("passed", self.passed)
            .with("failed", self.failed)
            .with("skipped", self.skipped)
            .with("note", failed.or(skipped).map_or("", String::as_str))
    }
}

/// A run that did not come to its end.
pub use crate::session::RankError as CheckError;

/// Collective: every algorithm once, with blocks of `size`; how many were right and wrong.
pub fn one_of_each(comm: &dyn Comm, size: u64) -> Result<(u64, u64), CheckError> {
    let plan = Plan::new(&Collective::ALL, &[], vec![size])?;
    let (mut right, mut wrong) = (0, 0);
    for (number, group) in plan.cases(comm.size(), false).iter().enumerate() {
        let Some(case) = group.cases.first() else { continue };
        let mut outcome = [case.run(comm, None, number as u16)?];
        merge(comm, &mut outcome)?;
        match outcome {
            [Outcome::Passed] => right += 1,
            [Outcome::Failed(_)] => wrong += 1,
            [Outcome::Skipped(_)] => {}
        }
    }
    Ok((right, wrong))
}
