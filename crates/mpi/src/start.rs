//! The start of MPI in this process: the library that was chosen is opened, identified, started and
//! held to a self-test.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use laneway_core::{Comm, CommError, Tag};

use crate::calls::{Mpi, ignores_errors_return};
use crate::clock::MpiClock;
use crate::comm::MpiComm;
use crate::error::MpiError;
use crate::find::{self, Surroundings};
use crate::flavour;
use crate::found::Found;
use crate::functions::Tables;
use crate::guard;
use crate::launcher;
use crate::library::{Library, first_line};
use crate::selftest;
use crate::simulation;
use crate::threads::ThreadLevel;
use crate::world::World;

/// A library that was opened, and what it is.
pub(crate) struct Opened {
    pub mpi: Mpi,
    pub found: Found,
}

fn open_library(choice: Option<&Path>) -> Result<Opened, MpiError> {
    let chosen = find::find(choice, &Surroundings::of_process())?;
    let simulated = simulation::is_simulated();
    let library = Library::open(&chosen.file)?;
    if library.has(flavour::smpi::MARK) && !simulated {
        // Outside a simulation its functions find no rank, and crash.
        return Err(MpiError::NotSimulated { file: Some(library.file().into()) });
    }
    identify(&library, chosen.why)
}

/// What kind of MPI a library is, and its functions.
pub(crate) fn identify(library: &Library, why: String) -> Result<Opened, MpiError> {
    let version = library.version()?;
    let asked = std::env::var("LANEWAY_MPI_FLAVOUR").ok().filter(|asked| !asked.is_empty());
    let family = flavour::decide(library, &version, asked.as_deref())?;
    let flavour = flavour::table(family, library)?;
    let tables = Tables::load(library)?;
    let found = Found {
        file: library.file().into(),
        why,
        family,
        version: first_line(&version),
        standard: library.standard()?,
        large_counts: tables.large.is_some(),
    };
    let handler = if ignores_errors_return(&found) { 0 } else { flavour.errors_return };
    Ok(Opened { mpi: Mpi { tables, flavour, errors_return: Cell::new(handler) }, found })
}

/// Finds and opens the library that [`init`] would use, and does not start MPI.
pub fn open(choice: Option<&Path>) -> Result<Found, MpiError> {
    open_library(choice).map(|opened| opened.found)
}

/// Starts MPI for a process whose one thread calls it, unless `LANEWAY_MPI_THREADS` asks for more,
/// and gives the communicator of all ranks. `choice` is a library file or an installation's folder;
/// without it the library is searched for.
pub fn init(choice: Option<&Path>) -> Result<MpiComm, MpiError> {
    init_with_threads(choice, ThreadLevel::asked()?)
}

/// As [`init`], asking for a thread level; [`MpiComm::thread_level`] is what the library gives.
pub fn init_with_threads(choice: Option<&Path>, asked: ThreadLevel) -> Result<MpiComm, MpiError> {
    launcher::refuse_unjoined_task()?;
    let launcher = launcher::detect(&launcher::of_process)
        .map_err(|because| MpiError::NotLaunched { because })?;
    let Opened { mpi, found } = open_library(choice)?;
    let wtime = mpi.tables.functions.wtime;
    let (abandoned, ended) = (Cell::new(false), Cell::new(false));
    let provided = start(&mpi, asked)?;
    // From here on dropping the world ends MPI, whatever fails.
    let clock = MpiClock::of_library(wtime, mpi.flavour.simulator);
    let mut world = World {
        mpi,
        found,
        launcher,
        threads_asked: Some(asked),
        threads: ThreadLevel::Single,
        clock,
        abandoned,
        lent: false,
        ended,
        wait_limit: Cell::new(None),
    };
    if let Err(what) = proof(&world, provided) {
        // Ranks that did pass would keep MPI_Finalize waiting; a process that leaves without it
        // makes the launcher end them all.
        world.ended.set(true);
        return Err(selftest::failed(&world.found, &what));
    }
    world.threads = ThreadLevel::of(&world.mpi.flavour, provided);
    let key = world.mpi.flavour.keys.wtime_is_global;
    let global = world.mpi.attribute(world.mpi.flavour.comm_world, key);
    world.clock.share(matches!(global, Ok(Some(1))));
    let world = Rc::new(world);
    let all = MpiComm::world(Rc::clone(&world)).map_err(|error| MpiError::Start {
        call: "the first question to MPI_COMM_WORLD",
        text: error.to_string(),
    })?;
    refuse_loneliness(&all)?;
    let asked = |error: CommError| MpiError::Start {
        call: "the question whether all ranks share a host",
        text: error.to_string(),
    };
    if world.mpi.flavour.simulator.is_none() && share_host(&all).map_err(asked)? {
        world.clock.take_host();
    }
    Ok(all)
}

/// Tags of the question below; the communicator has no other user yet.
const HOST: Tag = 1;

/// Collective: whether all ranks run on one host, by its name and by when it was started.
fn share_host(all: &MpiComm) -> Result<bool, CommError> {
    let hosts = all.hosts()?;
    if all.clock().is_global() || hosts.iter().any(|host| *host != hosts[0]) {
        return Ok(false);
    }
    let mut own = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    own.resize(64, 0);
    let mut same = own[0] != 0;
    if all.rank() > 0 {
        let mut verdict = [0];
        all.send(0, HOST, &own)?;
        all.recv(Some(0), Some(HOST), &mut verdict)?;
        return Ok(verdict[0] != 0);
    }
    for other in 1..all.size() {
        let mut theirs = [0; 64];
        all.recv(Some(other), Some(HOST), &mut theirs)?;
        same &= theirs[..] == own[..];
    }
    (1..all.size()).try_for_each(|other| all.send(other, HOST, &[u8::from(same)]))?;
    Ok(same)
}

/// The self-test, with signals caught where that is possible: the ranks of a simulation share one
/// process and would undo each other's handlers.
fn proof(world: &World, provided: i32) -> Result<(), String> {
    let (mpi, flavour) = (&world.mpi, &world.mpi.flavour);
    let prove = || {
        selftest::return_errors(mpi, flavour.comm_world)?;
        selftest::return_errors(mpi, flavour.comm_self)?;
        selftest::prove(mpi, provided)
    };
    if flavour.simulator.is_some() {
        return prove();
    }
    let danger = selftest::failed(&world.found, "a call ended in a signal");
    guard::guarded(guard::last_words(&danger), prove)
}

/// Calls MPI_Init_thread, and answers the thread level that it gave.
fn start(mpi: &Mpi, threads: ThreadLevel) -> Result<i32, MpiError> {
    let f = &mpi.tables.functions;
    let (mut begun, mut over) = (0i32, 0i32);
    // SAFETY: these two may be called at any time, and write to words of our own.
    unsafe {
        (f.initialized)(&mut begun);
        (f.finalized)(&mut over);
    }
    if begun != 0 || over != 0 {
        return Err(MpiError::StartedBefore);
    }
    let mut provided = i32::MIN;
    let wanted = mpi.flavour.threads[threads as usize];
    let nothing = std::ptr::null_mut();
    // SAFETY: the standard allows null for the program's arguments; MPI was not started before.
    let code = unsafe { (f.init_thread)(nothing, nothing.cast(), wanted, &mut provided) };
    if code != 0 {
        return Err(MpiError::Start { call: "MPI_Init_thread", text: mpi.error_text(code) });
    }
    Ok(provided)
}

/// A library that cannot talk to the launcher starts a world of one rank, many times. A launcher
/// that does not say how many ranks it started is not believed to have started one.
fn refuse_loneliness(all: &MpiComm) -> Result<(), MpiError> {
    let (world, launcher) = (all.shared(), &all.shared().launcher);
    if laneway_core::Comm::size(all) > 1 || launcher.size == Some(1) {
        return Ok(());
    }
    Err(MpiError::Alone {
        launcher: launcher.kind.name().into(),
        ranks: launcher.size,
        file: world.found.file.clone(),
    })
}
