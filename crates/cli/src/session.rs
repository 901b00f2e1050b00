//! Where a verb's ranks come from: processes of this machine or of several hosts, the MPI that
//! started us, or threads of this process on a simulated cluster.

mod net;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Arg, ArgMatches};
use laneway_core::{Comm, CommError, Exit, Failure, Row, Tag};
use laneway_local::{Launch, Transport};
use laneway_measure::cores::Cores;
use laneway_measure::{crowded, sizes};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, Program, SimError};

use crate::{handshake, output};
use net::Net;

/// What the ranks of a run are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Their times are the result: more ranks than cores on a host are told of.
    Measuring,
    /// They do something right or wrong, however long it takes.
    Checking,
}

impl Purpose {
    /// Ranks on this machine where nobody says how many: one for each core, and as many as it takes
    /// to have a message, or a tree with branches.
    fn usual_ranks(self) -> u32 {
        let least = match self {
            Purpose::Measuring => 2,
            Purpose::Checking => 4,
        };
        Cores::here().usable().clamp(least, laneway_local::MOST_RANKS)
    }
}

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
         2:16, 2:16:+2: on the first so many of the most",
    );
    with_backend(ranks)
}

fn ranks_arg() -> Arg {
    Arg::new("ranks").long("ranks").short('n').env("LANEWAY_RANKS")
}

fn one_count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        "it is one number; only `measure coll` takes a list or a range of them".to_string()
    })
}

fn backend_arg() -> Arg {
    Arg::new("backend").long("backend").env("LANEWAY_BACKEND").value_name("B").help(
        "local[:shm|unix|tcp], net[:DEV,DEV] (docs/path.md), mpi[:LIBRARY], or sim:PLATFORM \
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

/// The numbers of ranks of a verb with [`sweep_args`], rising; none where none was given.
pub fn counts(matches: &ArgMatches) -> Result<Vec<u32>, Failure> {
    let Some(text) = matches.get_one::<String>("ranks") else { return Ok(Vec::new()) };
    let counts = sizes::parse(text).map_err(|cause| {
        let what = format!("no numbers of ranks `{text}`");
        Failure::usage(what, cause, "--ranks 4, --ranks 2,4,8, or --ranks 2:16")
    })?;
    counts.iter().try_for_each(|&count| refuse_count(count))?;
    Ok(counts.into_iter().map(|count| count as u32).collect())
}

/// What carries the messages.
#[derive(Debug, PartialEq, Eq)]
enum Backend {
    Local(Transport),
    /// Connections that migrate.
    Net(Net),
    Mpi(Option<PathBuf>),
    /// A platform by its name.
    Sim(String),
}

/// What the command line chose.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    backend: Option<Backend>,
    ranks: Option<u32>,
    purpose: Purpose,
}

impl Choice {
    /// For a verb whose ranks do something right or wrong.
    pub fn from(matches: &ArgMatches) -> Result<Choice, Failure> {
        let ranks = matches.get_one::<u32>("ranks").copied();
        ranks.map_or(Ok(()), |ranks| refuse_count(u64::from(ranks)))?;
        Choice::of(matches, ranks, Purpose::Checking)
    }

    /// For a verb whose ranks are timed.
    pub fn measuring(matches: &ArgMatches) -> Result<Choice, Failure> {
        Ok(Choice { purpose: Purpose::Measuring, ..Choice::from(matches)? })
    }

    /// With so many ranks unless the command line said how many.
    pub fn with_ranks(self, ranks: u32) -> Choice {
        Choice { ranks: self.ranks.or(Some(ranks)), ..self }
    }

    /// As many ranks as the largest number of [`counts`], which are timed.
    pub fn sweep(matches: &ArgMatches) -> Result<Choice, Failure> {
        Choice::of(matches, counts(matches)?.last().copied(), Purpose::Measuring)
    }

    fn of(matches: &ArgMatches, ranks: Option<u32>, purpose: Purpose) -> Result<Choice, Failure> {
        let word = matches.get_one::<String>("backend");
        let backend = word.map(|word| backend(word, matches)).transpose()?;
        if !matches!(backend, Some(Backend::Net(_))) {
            net::refuse_args(matches)?;
        }
        Ok(Choice { backend, ranks, purpose })
    }

    /// Exactly this backend and so many ranks.
    pub fn local(transport: Transport, ranks: u32) -> Choice {
        let backend = Some(Backend::Local(transport));
        Choice { backend, ranks: Some(ranks), purpose: Purpose::Checking }
    }

    /// Whether this process is one of several, or asked to start several.
    pub fn has_ranks(&self) -> bool {
        let started = laneway_mpi::launched().is_some() || is_rank();
        let chosen =
            matches!(self.backend, Some(Backend::Local(_) | Backend::Net(_) | Backend::Sim(_)));
        started || self.ranks.is_some() || chosen
    }
}

/// Whether this process was started as a rank by laneway itself.
pub fn is_rank() -> bool {
    laneway_local::is_rank() || laneway_ranks::is_rank()
}

fn backend(word: &str, matches: &ArgMatches) -> Result<Backend, Failure> {
    let (kind, detail) = match word.split_once(':') {
        Some((kind, detail)) => (kind, Some(detail)),
        None => (word, None),
    };
    match (kind, detail) {
        ("local", None) => Ok(Backend::Local(Transport::default())),
        ("local", Some(transport)) => {
            let transport = transport.parse().map_err(laneway_local::LocalError::into_failure)?;
            Ok(Backend::Local(transport))
        }
        ("net", devices) => Ok(Backend::Net(Net::from(matches, devices)?)),
        ("mpi", library) => Ok(Backend::Mpi(library.map(PathBuf::from))),
        ("sim", Some(platform)) => Ok(Backend::Sim(platform.to_string())),
        _ => {
            let cause = "the backends are local[:shm|unix|tcp], net[:DEV,DEV], mpi[:LIBRARY] and \
                         sim:PLATFORM";
            let what = format!("no backend `{word}`");
            Err(Failure::usage(what, cause, "--backend local:shm, or --backend mpi"))
        }
    }
}

/// What each rank does; whether it ended well.
pub type Part<'a> = &'a (dyn Fn(&dyn Comm) -> Result<Exit, RankError> + Sync);

/// Runs a part on every rank of the chosen backend. This process becomes one of the ranks, starts
/// them and waits for them, or is all of them.
pub fn run(choice: &Choice, part: Part) -> Result<Exit, Failure> {
    if let Some(comm) = laneway_local::attach().map_err(laneway_local::LocalError::into_failure)? {
        return perform(choice, &comm, part);
    }
    if let Some(comm) = laneway_ranks::attach().map_err(laneway_ranks::RanksError::into_failure)? {
        return over_network(choice, &comm, part);
    }
    match &choice.backend {
        Some(Backend::Mpi(library)) => mpi(choice, library.clone(), part),
        Some(Backend::Sim(platform)) => simulated(choice, platform, part),
        Some(Backend::Net(net)) => {
            refuse_in_simulation("ranks over the network are real")?;
            net::refuse_launched()?;
            net.launch(choice.ranks, || usual_ranks(choice)).map(exit_of)
        }
        None if laneway_mpi::launched().is_some() => mpi(choice, None, part),
        Some(Backend::Local(transport)) => launch(choice, *transport),
        None => launch(choice, Transport::default()),
    }
}

/// What one rank does of a run, from its beginning to its end.
fn perform(choice: &Choice, comm: &dyn Comm, part: Part) -> Result<Exit, Failure> {
    if let Err(error) = laneway_local::wait_limit() {
        return concluded(comm, Err(error.into_failure().into()));
    }
    let warned = match choice.purpose {
        Purpose::Measuring => warn_of_crowd(comm),
        Purpose::Checking => Ok(()),
    };
    concluded(comm, warned.map_err(RankError::from).and_then(|()| part(comm)))
}

/// Collective: rank 0 says so where more ranks than cores are on a host.
fn warn_of_crowd(comm: &dyn Comm) -> Result<(), CommError> {
    let Some(crowd) = crowded(comm)?.filter(|_| comm.rank() == 0) else { return Ok(()) };
    let advice = match crowd.cores {
        1 => String::new(),
        _ if crowd.ranks < comm.size() => "; fewer ranks on a host give each its own".to_string(),
        cores => format!("; --ranks {cores} gives each its own"),
    };
    output::note(&format!("{crowd}{advice}"));
    Ok(())
}

/// All ranks are threads of this process, in virtual time.
fn simulated(choice: &Choice, spec: &str, part: Part) -> Result<Exit, Failure> {
    if laneway_mpi::launched().is_some() {
        let what = "one simulation is enough";
        let cause = "a launcher started several processes, and each would simulate all ranks";
        return Err(Failure::usage(what, cause, "the same command without the launcher"));
    }
    let platform = Platform::read(spec).map_err(|error| error.into_failure())?;
    let hosts = platform.hosts();
    let most = hosts.min(laneway_local::MOST_RANKS);
    let ranks = choice.ranks.unwrap_or(hosts);
    if ranks > most {
        let what = format!("cannot simulate {ranks} ranks");
        let cause =
            format!("{spec} has {hosts} hosts, and a rank is a thread here: at most {most}");
        let schedules = format!("--ranks {most}, or laneway sim, which needs no threads");
        return Err(Failure::usage(what, cause, schedules));
    }
    let ended = Program::new(&platform, ranks).run(|comm| perform(choice, comm, part));
    match ended {
        // Rank 0 has the failures that all ranks know.
        Ok(ended) => ended.results.into_iter().next().unwrap_or(Ok(Exit::Done)),
        Err(SimError::Aborted { code }) => Ok(exit_of(code)),
        Err(error) => {
            let what = "the simulated ranks cannot go on";
            Err(Failure::environment(what, error.to_string(), "another --backend, or report it"))
        }
    }
}

/// Ranks of several hosts first see that all of them run the same program.
fn over_network(choice: &Choice, comm: &dyn Comm, part: Part) -> Result<Exit, Failure> {
    if comm.clock().is_global() {
        return perform(choice, comm, part);
    }
    match handshake::same_program(comm) {
        Ok(None) => perform(choice, comm, part),
        Ok(Some(failure)) => concluded(comm, Err(failure.into())),
        Err(error) => Err(fatal(comm, error)),
    }
}

fn refuse_in_simulation(cause: &str) -> Result<(), Failure> {
    if !laneway_mpi::is_simulated() {
        return Ok(());
    }
    let what = "a simulated rank cannot start processes";
    let cause = format!("{cause}, and this process is a simulation");
    Err(Failure::usage(what, cause, "--backend mpi, or laneway outside smpirun"))
}

/// Ranks of this machine where nobody says how many, and a word about it.
fn usual_ranks(choice: &Choice) -> u32 {
    let ranks = choice.purpose.usual_ranks();
    output::note(&format!("{ranks} ranks on this machine; --ranks N for another number"));
    ranks
}

fn launch(choice: &Choice, transport: Transport) -> Result<Exit, Failure> {
    refuse_in_simulation("the local backend is real")?;
    output::ensure_open()?;
    let ranks = choice.ranks.unwrap_or_else(|| usual_ranks(choice));
    let code = Launch { ranks, transport, limit: None }.run();
    let code = code.map_err(laneway_local::LocalError::into_failure)?;
    Ok(exit_of(code))
}

/// The exit that a number means. Ctrl-C and its like are 128 and the signal, as shells count: with
/// those this process ends at once.
fn exit_of(code: i32) -> Exit {
    match code {
        0 => Exit::Done,
        1 => Exit::Gate,
        2 => Exit::Usage,
        3 => Exit::Environment,
        4 => Exit::Precision,
        code => std::process::exit(code),
    }
}

fn mpi(choice: &Choice, library: Option<PathBuf>, part: Part) -> Result<Exit, Failure> {
    let world =
        laneway_mpi::init(library.as_deref()).map_err(laneway_mpi::MpiError::into_failure)?;
    let size = world.size();
    let same = handshake::same_program(&world);
    let stop = match same {
        Ok(None) => None,
        Ok(Some(failure)) => Some(failure),
        Err(error) => return Err(fatal(&world, error)),
    };
    let stop = stop.or_else(|| match choice.ranks {
        Some(ranks) if ranks > size => {
            let what = format!("cannot use {ranks} ranks");
            let cause = format!("the launcher started {size}");
            Some(Failure::usage(what, cause, format!("mpirun -n {ranks} laneway …")))
        }
        _ => None,
    });
    if let Some(failure) = stop {
        return concluded(&world, Err(failure.into()));
    }
    let Some(ranks) = choice.ranks.filter(|&ranks| ranks < size) else {
        return perform(choice, &world, part);
    };
    let chosen = (world.rank() < ranks).then_some(0);
    let parted = world.split(chosen, world.rank());
    match parted {
        Ok(Some(comm)) => perform(choice, &*comm, part),
        Ok(None) => Ok(Exit::Done),
        Err(error) => Err(fatal(&world, error)),
    }
}

/// The tag of a message that only says that something is over.
const OVER: Tag = 2;

/// Between two looks of a rank that waits for others to end.
const NAP: Duration = Duration::from_millis(5);

/// Collective: the ranks from `count` on wait until rank 0, which was busy with those below, comes
/// here. Receiving would keep a core busy that the others may need, so on a real machine they sleep
/// and look now and then; `alive` is called each time.
pub fn reunite(comm: &dyn Comm, count: u32, alive: &dyn Fn()) -> Result<(), CommError> {
    if comm.rank() == 0 {
        return (count..comm.size()).try_for_each(|other| comm.send(other, OVER, &[]));
    }
    if comm.rank() < count {
        return Ok(());
    }
    let naps = !comm.clock().is_virtual();
    while naps && comm.probe(Some(0), Some(OVER), false)?.is_none() {
        alive();
        thread::sleep(NAP);
    }
    comm.recv(Some(0), Some(OVER), &mut []).map(|_| ())
}

/// Why a rank stopped before its end.
#[derive(Debug)]
pub enum RankError {
    /// All ranks know of it, or it concerns rank 0 alone.
    Failure(Failure),
    /// It happened here, and the others do not know and may be waiting.
    Alone(Failure),
    /// The others do not know and may be waiting.
    Comm(CommError),
}

impl From<Failure> for RankError {
    fn from(failure: Failure) -> RankError {
        RankError::Failure(failure)
    }
}

impl From<CommError> for RankError {
    fn from(error: CommError) -> RankError {
        RankError::Comm(error)
    }
}

/// The end of a rank's part: rank 0 tells of failures that all know, anybody of those they do not,
/// and ends the whole run.
fn concluded(comm: &dyn Comm, result: Result<Exit, RankError>) -> Result<Exit, Failure> {
    match result {
        Ok(exit) => Ok(exit),
        // Before it leaves: a launcher ends all ranks as soon as one has left with a failure.
        Err(RankError::Failure(failure)) if comm.rank() == 0 => Ok(output::show(failure)),
        Err(RankError::Failure(failure)) => Ok(failure.exit),
        Err(RankError::Alone(failure)) => comm.abort(output::show(failure) as i32),
        Err(RankError::Comm(error)) => Err(fatal(comm, error)),
    }
}

/// Says what happened here and ends the whole run. Of a dead rank the local launcher tells.
fn fatal(comm: &dyn Comm, error: CommError) -> Failure {
    let seen_by_launcher = laneway_local::is_rank() && matches!(error, CommError::PeerDied { .. });
    if !seen_by_launcher {
        let what = format!("rank {} cannot go on", comm.rank());
        let try_this = "run again; if it stays, report it with the output of `laneway info env`";
        output::show(Failure::environment(what, error.to_string(), try_this));
    }
    comm.abort(Exit::Environment as i32)
}

/// What every document says of the run.
pub fn environment(comm: &dyn Comm) -> Row {
    let mut row = machine();
    for (name, value) in comm.describe() {
        // What the ranks say of the machine is nearer than what this process sees.
        row.0.retain(|(other, _)| *other != name);
        row.0.push((name.into(), value.into()));
    }
    row.with("ranks", comm.size()).with("clock_is_global", comm.clock().is_global())
}

/// What `info env` says without ranks: this machine, and the MPI library that would be used.
pub fn alone(choice: &Choice) -> Result<Row, Failure> {
    let explicit = match &choice.backend {
        Some(Backend::Mpi(Some(library))) => Some(library.clone()),
        _ => None,
    };
    let chosen = explicit.is_some() || std::env::var_os("LANEWAY_MPI").is_some();
    let row = machine();
    let threads = laneway_mpi::ThreadLevel::asked().map_err(laneway_mpi::MpiError::into_failure)?;
    match laneway_mpi::open(explicit.as_deref()) {
        Ok(found) => Ok(row
            .with("mpi", found.version)
            .with("mpi_file", found.file.display().to_string())
            .with("mpi_flavour", found.family.name())
            .with("mpi_chosen", found.why)
            .with("thread_level_asked", threads.name())),
        // A library that was named must be one; that none is installed is only worth telling.
        Err(error) if chosen => Err(error.into_failure()),
        Err(error) => Ok(row.with("mpi", format!("none: {error}"))),
    }
}

fn machine() -> Row {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    Row::new()
        .with("host", host.trim())
        .with("os", std::env::consts::OS)
        .with("arch", std::env::consts::ARCH)
        .with("cores", cores)
        .with("memory_bytes", memory_bytes())
        .with("laneway", env!("CARGO_PKG_VERSION"))
}

/// The machine's memory, where the system tells.
pub fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}
