//! How a verb learns where its ranks come from: see [`laneway_backend`].

mod net;

use clap::{Arg, ArgMatches};
use laneway_backend::{Backend, Notice, Purpose};
use laneway_core::{Comm, Row};
use laneway_local::Transport;
use laneway_measure::sizes;

use crate::failure::{Exit, Failure};
use crate::{journal, output, progress};

pub use laneway_backend::{environment, is_rank};

/// Why a rank of this command stopped before its end.
pub type RankError = laneway_backend::RankError<Failure>;

/// What each rank does.
pub type Part<'a> = &'a (dyn Fn(&dyn Comm) -> Result<Exit, RankError> + Sync);

/// The arguments of every verb that runs on ranks.
pub fn args() -> Vec<Arg> {
    let ranks = ranks_arg().value_name("N").value_parser(one_count).help(
        "Start N processes of this machine [default: a rank for each core; at least 2, at least \
         4 to check]; use the first N ranks of mpirun, or hosts of a simulated cluster [default: \
         all]",
    );
    with_backend(ranks)
}

fn with_backend(ranks: Arg) -> Vec<Arg> {
    [ranks, backend_arg()].into_iter().chain(net::args()).collect()
}

/// The same for a verb that runs on several numbers of ranks, one after the other.
pub fn sweep_args() -> Vec<Arg> {
    let ranks = ranks_arg().value_name("N,M").help(
        "Start N processes of this machine [default: a rank for each core, at least 2]; use the \
         first N ranks of mpirun, or hosts of a simulated cluster [default: all]. 2,4 or ranges \
         2:16, 2:16:+2: one size after the other, on the first ranks",
    );
    with_backend(ranks)
}

fn ranks_arg() -> Arg {
    Arg::new("ranks").long("ranks").short('n').env("LANEWAY_RANKS")
}

fn one_count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        "it must be one number; only `measure coll` takes a list or a range".to_string()
    })
}

fn backend_arg() -> Arg {
    Arg::new("backend").long("backend").env("LANEWAY_BACKEND").value_name("B").help(
        "local[:shm|unix|tcp], net[:DEV,DEV] (docs/net.md), mpi[:LIBRARY], or sim:PLATFORM \
         (docs/platforms.md) [default: mpi under mpirun, else local]",
    )
}

fn refuse_count(ranks: u64) -> Result<(), Failure> {
    let most = laneway_local::MOST_RANKS;
    if (1..=u64::from(most)).contains(&ranks) {
        return Ok(());
    }
    let cause = format!("a run has 1 to {most} ranks on one machine");
    Err(Failure::usage(format!("cannot run {ranks} ranks"), cause, "--ranks 4"))
}

/// The numbers of ranks of a verb with [`sweep_args`], rising; `None` if none was given.
pub fn counts(matches: &ArgMatches) -> Result<Vec<u32>, Failure> {
    let Some(text) = matches.get_one::<String>("ranks") else { return Ok(Vec::new()) };
    let counts = sizes::parse(text).map_err(|cause| {
        let what = format!("invalid numbers of ranks `{text}`");
        Failure::usage(what, cause, "--ranks 4, --ranks 2,4,8, or --ranks 2:16")
    })?;
    counts.iter().try_for_each(|&count| refuse_count(count))?;
    Ok(counts.into_iter().map(|count| count as u32).collect())
}

/// For a verb whose ranks do something right or wrong.
pub fn checking(matches: &ArgMatches) -> Result<Backend, Failure> {
    let ranks = matches.get_one::<u32>("ranks").copied();
    ranks.map_or(Ok(()), |ranks| refuse_count(u64::from(ranks)))?;
    backend(matches, ranks, Purpose::Checking)
}

/// For a verb whose ranks are timed.
pub fn measuring(matches: &ArgMatches) -> Result<Backend, Failure> {
    Ok(checking(matches)?.with_purpose(Purpose::Measuring))
}

/// As many ranks as the largest number of [`counts`], which are timed.
pub fn sweep(matches: &ArgMatches) -> Result<Backend, Failure> {
    backend(matches, counts(matches)?.last().copied(), Purpose::Measuring)
}

/// Processes of this machine, and exactly this number.
pub fn local(transport: Transport, ranks: u32) -> Backend {
    Backend::local(transport).with_ranks(ranks).with_notices(print_notice)
}

fn backend(matches: &ArgMatches, ranks: Option<u32>, purpose: Purpose) -> Result<Backend, Failure> {
    let name = matches.get_one::<String>("backend");
    let backend = match name.map(|name| laneway_backend::open(name)).transpose()? {
        Some(backend) if backend.is_net() => {
            let devices = name.and_then(|name| name.strip_prefix("net:"));
            Backend::over_network(net::network(matches, devices)?)
        }
        other => {
            net::refuse_args(matches)?;
            other.unwrap_or_default()
        }
    };
    let backend = ranks.into_iter().fold(backend, Backend::with_ranks);
    Ok(backend.with_purpose(purpose).with_notices(print_notice))
}

/// What a person reads of a run, and which option helps.
fn print_notice(notice: &Notice) {
    let advice = match notice {
        Notice::Interrupted { .. } => return journal::say_left(),
        Notice::UsualRanks(_) => "; --ranks N for another number".to_string(),
        Notice::Crowded { crowd, .. } if crowd.cores == 1 => String::new(),
        Notice::Crowded { crowd, ranks } if crowd.ranks < *ranks => {
            "; fewer ranks on a host give each its own".to_string()
        }
        Notice::Crowded { crowd, .. } => format!("; --ranks {} gives each its own", crowd.cores),
        _ => String::new(),
    };
    output::note(&format!("{notice}{advice}"));
}

/// Runs a part on every rank of the chosen backend.
pub fn run(backend: &Backend, part: Part) -> Result<Exit, Failure> {
    // Ranks that measure are not to be disturbed by what is drawn each second.
    progress::clear();
    if backend.starts_processes() {
        output::ensure_open()?;
    }
    let code =
        backend.run::<Failure>(&|comm| part(comm).map(|exit| exit as u8)).map_err(|error| {
            if backend.starts_processes() {
                journal::say_left();
            }
            Failure::from(error)
        })?;
    // Other codes are those of a signal that has ended the ranks: with it this process ends, too.
    Ok(Exit::of(code).unwrap_or_else(|| std::process::exit(code.into())))
}

/// What `info env` says without ranks: this machine, and the MPI library that would be used.
pub fn alone(backend: &Backend) -> Result<Row, Failure> {
    let explicit = backend.mpi_library();
    let chosen = explicit.is_some() || std::env::var_os("LANEWAY_MPI").is_some();
    let row = laneway_backend::machine();
    let threads = laneway_mpi::ThreadLevel::asked()?;
    match laneway_mpi::open(explicit.as_deref()) {
        Ok(found) => Ok(row
            .with("mpi", found.version)
            .with("mpi_file", found.file.display().to_string())
            .with("mpi_flavour", found.family.name())
            .with("mpi_chosen", found.why)
            .with("thread_level_asked", threads.name())),
        // A library that was named must be one; that none is installed is only worth telling.
        Err(error) if chosen => Err(error.into()),
        Err(error) => Ok(row.with("mpi", format!("none: {error}"))),
    }
}
