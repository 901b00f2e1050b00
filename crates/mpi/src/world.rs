//! The start and the end of MPI in this process, and what every call to it needs.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use laneway_core::{Comm, CommError, Tag};

use crate::clock::MpiClock;
use crate::comm::{Attribute, MpiComm};
use crate::error::MpiError;
use crate::find::{self, Surroundings};
use crate::flavour::{self, Family, Flavour, Handle};
use crate::functions::Tables;
use crate::guard;
use crate::launcher::{self, Launcher};
use crate::library::{Found, Library, first_line};
use crate::selftest;
use crate::simulation;
use crate::threads::ThreadLevel;

/// A library's functions and constants: all that a call needs.
pub(crate) struct Mpi {
    pub tables: Tables,
    pub flavour: Flavour,
    /// The error handler that lets a failed call return; 0 where our own is still to be made.
    errors_return: Cell<Handle>,
}

/// Intel MPI 2021.19 accepts MPI_ERRORS_RETURN in its standard ABI and then ends the run all the
/// same; a handler that does nothing works there. (MPICH 5, in turn, takes an error for settled
/// once a user's handler has seen it, so MPI_ERRORS_RETURN it is everywhere else.)
fn ignores_errors_return(found: &Found) -> bool {
    found.family == Family::Standard && found.version.starts_with("Intel(R) MPI")
}

/// Errors are the caller's business: the call that failed returns its code.
extern "C" fn leave_it_to_the_caller(_comm: *mut Handle, _code: *mut i32) {}

impl Mpi {
    /// Makes errors on `comm` return.
    pub fn return_errors(&self, comm: Handle) -> Result<(), CommError> {
        let f = &self.tables.functions;
        let mut handler = self.errors_return.get();
        // SAFETY: the handler is a function for good, and its handle goes to a word of our own. C
        // calls it with further arguments, which no calling convention of a target that builds
        // here lets it trip over.
        unsafe {
            if handler == 0 {
                let code = (f.comm_create_errhandler)(leave_it_to_the_caller, &mut handler);
                self.check("MPI_Comm_create_errhandler", code)?;
                self.errors_return.set(handler);
            }
            self.check("MPI_Comm_set_errhandler", (f.comm_set_errhandler)(comm, handler))
        }
    }

    #[inline]
    pub fn check(&self, call: &'static str, code: i32) -> Result<(), CommError> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    /// An error code of MPI with its class and MPI's own words.
    #[cold]
    pub fn error(&self, call: &'static str, code: i32) -> CommError {
        let text = self.error_text(code);
        CommError::Library { call, class: self.error_class(code), text }
    }

    pub fn error_class(&self, code: i32) -> i32 {
        let mut class = code;
        // SAFETY: the one argument that is written to is a word of our own.
        unsafe { (self.tables.functions.error_class)(code, &mut class) };
        class
    }

    pub fn error_text(&self, code: i32) -> String {
        // The longest declared MPI_MAX_ERROR_STRING is 512.
        let (mut text, mut length) = ([0u8; 2048], 0i32);
        // SAFETY: the buffer is longer than any text, and zeros stand behind what is written.
        unsafe { (self.tables.functions.error_string)(code, text.as_mut_ptr(), &mut length) };
        let text = String::from_utf8_lossy(&text);
        let text = text.trim_end_matches('\0');
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A predefined attribute; `None` where the library does not have it.
    pub fn attribute(&self, comm: Handle, key: i32) -> Result<Option<i64>, CommError> {
        let (mut value, mut has) = (std::ptr::null::<i32>(), 0i32);
        // SAFETY: both results go to words of our own.
        let code =
            unsafe { (self.tables.functions.comm_get_attr)(comm, key, &mut value, &mut has) };
        self.check("MPI_Comm_get_attr", code)?;
        if has == 0 || value.is_null() {
            return Ok(None);
        }
        // SAFETY: for a predefined key the standard makes the value the address of an int.
        Ok(Some(i64::from(unsafe { *value })))
    }
}

/// How a run ends that cannot go on.
pub(crate) const EXIT_ENVIRONMENT: i32 = 3;

/// MPI between its start and its end; every communicator holds one share of it.
pub(crate) struct World {
    pub mpi: Mpi,
    pub found: Found,
    pub launcher: Launcher,
    /// What was asked for; none where the program around us asked.
    pub threads_asked: Option<ThreadLevel>,
    /// What the library gives.
    pub threads: ThreadLevel,
    pub clock: MpiClock,
    /// Set when transfers were given up, after which the end of MPI could wait for ever.
    pub abandoned: Cell<bool>,
    /// The program around us started MPI, and ends it.
    pub lent: bool,
    pub ended: Cell<bool>,
}

impl World {
    /// Ends MPI; a second call does nothing.
    pub fn end(&self) -> Result<(), CommError> {
        if self.ended.replace(true) || self.lent {
            return Ok(());
        }
        if self.abandoned.get() || std::thread::panicking() {
            self.abort(EXIT_ENVIRONMENT);
        }
        // SAFETY: MPI was started by `init`, as it is not lent, and `ended` makes this its one end.
        self.mpi.check("MPI_Finalize", unsafe { (self.mpi.tables.functions.finalize)() })
    }

    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    pub fn abort(&self, code: i32) -> ! {
        if self.mpi.flavour.simulator.is_some() {
            // All ranks are this one process. MPI_Abort would unwind their stacks with an exception
            // of C++, which must not pass through Rust, and lose the code; exit handlers would wait
            // for the simulator from within it.
            // SAFETY: the process ends here; nothing is buffered that was meant to be seen.
            unsafe { libc::_exit(code) }
        }
        // SAFETY: MPI may be ended in this way at any time between its start and its end.
        unsafe { (self.mpi.tables.functions.abort)(self.mpi.flavour.comm_world, code) };
        std::process::exit(code)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = self.end();
    }
}

pub(crate) struct Opened {
    pub mpi: Mpi,
    pub found: Found,
}

fn open_library(choice: Option<&Path>) -> Result<Opened, MpiError> {
    let chosen = find::find(choice, &Surroundings::of_process())?;
    let simulated = simulation::is_simulated();
    let library = Library::open(&chosen.file)?;
    if library.has(flavour::smpi::MARK) && !simulated {
        // Outside a simulation its functions find no rank to speak for, and crash.
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

/// As [`init`], asking for a thread level; [`MpiComm::thread_level`] tells what the library gives.
pub fn init_with_threads(choice: Option<&Path>, asked: ThreadLevel) -> Result<MpiComm, MpiError> {
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

/// Tags of the question below; nobody else uses the communicator yet.
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
    let danger = selftest::failed(&world.found, "a call ended in a signal").into_failure();
    guard::guarded(format!("{danger}\n"), prove)
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

/// A library that cannot talk to the launcher starts a world of one rank, many times.
fn refuse_loneliness(all: &MpiComm) -> Result<(), MpiError> {
    let (world, launcher) = (all.shared(), &all.shared().launcher);
    match launcher.size {
        Some(ranks) if ranks > 1 && laneway_core::Comm::size(all) == 1 => Err(MpiError::Alone {
            launcher: launcher.kind.name().into(),
            ranks,
            file: world.found.file.clone(),
        }),
        _ => Ok(()),
    }
}

impl Attribute {
    pub(crate) fn key(self, flavour: &Flavour) -> i32 {
        let keys = &flavour.keys;
        match self {
            Attribute::TagUb => keys.tag_ub,
            Attribute::WtimeIsGlobal => keys.wtime_is_global,
            Attribute::Host => keys.host,
            Attribute::Io => keys.io,
            Attribute::UniverseSize => keys.universe_size,
            Attribute::AppNum => keys.app_num,
            Attribute::LastUsedCode => keys.last_used_code,
        }
    }
}
