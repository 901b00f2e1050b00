//! What tests need of the machine they run on, and a record of those that lack it.
//!
//! A test that cannot run must not look like one that passed. It asks here for what it needs, and
//! where that is missing the test's name and the reason go to the file that `LANEWAY_SKIPPED`
//! names; `./test` prints the list at its end. What `LANEWAY_REQUIRE` lists must be there: a test
//! that lacks it fails. What `LANEWAY_HIDE` lists counts as missing, to run as on a machine without
//! it. Both are comma-separated names of needs, or `all`.
//!
//! What takes long asks for its amount: [`amount`] and [`some_of`] are small in `./test`, and
//! everything in `./test long`.
//!
//! Tests of launchers share three things more: [`cases`], the harness of a program that starts
//! itself again, [`marked`], processes that are never left behind, and [`yielding`], for more ranks
//! than cores. Only tests depend on this crate.

pub mod cases;
pub mod marked;
pub mod yielding;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// One thing that not every machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Mpi,
    Simgrid,
    /// OpenSM and the simulator of InfiniBand fabrics.
    Fabric,
    Gnuplot,
    /// fish and zsh.
    Shells,
    Cmake,
    Cbindgen,
    PkgConfig,
    Taskset,
    Git,
    /// Records packets, and the right to.
    Tcpdump,
    /// The headers of libibverbs and a C compiler; no device.
    Verbs,
    /// Asked for by `./test` itself.
    Miri,
    /// So much free memory as a test fills.
    Memory,
    /// So few cores that more ranks than cores can be started.
    Cores,
    /// What the system lets only some users do.
    Rights,
    /// Network namespaces and TUN devices, and the right to make them.
    Namespaces,
}

impl Need {
    pub const ALL: [Need; 17] = [
        Need::Mpi,
        Need::Simgrid,
        Need::Fabric,
        Need::Gnuplot,
        Need::Shells,
        Need::Cmake,
        Need::Cbindgen,
        Need::PkgConfig,
        Need::Taskset,
        Need::Git,
        Need::Tcpdump,
        Need::Verbs,
        Need::Miri,
        Need::Memory,
        Need::Cores,
        Need::Rights,
        Need::Namespaces,
    ];

    /// As the variables of the environment spell it.
    pub fn name(self) -> &'static str {
        match self {
            Need::Mpi => "mpi",
            Need::Simgrid => "simgrid",
            Need::Fabric => "fabric",
            Need::Gnuplot => "gnuplot",
            Need::Shells => "shells",
            Need::Cmake => "cmake",
            Need::Cbindgen => "cbindgen",
            Need::PkgConfig => "pkg-config",
            Need::Taskset => "taskset",
            Need::Git => "git",
            Need::Tcpdump => "tcpdump",
            Need::Verbs => "verbs",
            Need::Miri => "miri",
            Need::Memory => "memory",
            Need::Cores => "cores",
            Need::Rights => "rights",
            Need::Namespaces => "namespaces",
        }
    }

    /// Whether the running test can have it; an error in `found` is the reason why not, and is
    /// recorded. Panics where it is missing and required.
    pub fn is_met(self, found: Result<(), String>) -> bool {
        self.is_met_in(&running_test(), found)
    }

    /// The same, for a test whose harness names no thread after it.
    pub fn is_met_in(self, test: &str, found: Result<(), String>) -> bool {
        let name = self.name();
        let found = match self.is_listed_in("LANEWAY_HIDE") {
            true => Err("hidden by LANEWAY_HIDE".into()),
            false => found,
        };
        let Err(why) = found else { return true };
        let why = why.replace(['\n', '\t'], " ");
        assert!(!self.is_listed_in("LANEWAY_REQUIRE"), "{name} is required, but {why}");
        println!("skipped: {test}: {name}: {why}");
        if let Some(file) = std::env::var_os("LANEWAY_SKIPPED") {
            record(Path::new(&file), &format!("{test}\t{name}: {why}\n"));
        }
        false
    }

    fn is_listed_in(self, variable: &str) -> bool {
        let list = std::env::var(variable).unwrap_or_default();
        let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.fold(false, |listed, word| {
            let known = word == "all" || Need::ALL.iter().any(|need| need.name() == word);
            assert!(known, "{variable}: nothing is called {word:?}");
            listed || word == "all" || word == self.name()
        })
    }
}

/// Whether tests try everything they can, as in `./test long`.
pub fn is_long() -> bool {
    std::env::var_os("LANEWAY_LONG").is_some()
}

/// The first of two amounts in `./test`, the second in `./test long`.
pub fn amount<T>(short: T, long: T) -> T {
    if is_long() { long } else { short }
}

/// All of these in `./test long`. Otherwise one, which depends on the running test, so that the
/// tests of a run together use each of them.
pub fn some_of<T>(mut all: Vec<T>) -> Vec<T> {
    if !is_long() && all.len() > 1 {
        let sum = running_test().bytes().fold(0, |sum: usize, byte| sum + usize::from(byte));
        let one = all.swap_remove(sum % all.len());
        all = vec![one];
    }
    all
}

/// Whether a file is there.
pub fn file(path: impl AsRef<Path>) -> Result<(), String> {
    let path = path.as_ref();
    if path.is_file() { Ok(()) } else { Err(format!("there is no {}", path.display())) }
}

/// Whether a program is on the path.
pub fn program(name: &str) -> Result<(), String> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    match std::env::split_paths(&folders).any(|folder| folder.join(name).is_file()) {
        true => Ok(()),
        false => Err(format!("there is no {name} on the path")),
    }
}

/// Whether the C compiler finds a header.
pub fn header(name: &str) -> Result<(), String> {
    let mut compiler = Command::new("cc");
    compiler.args(["-E", "-x", "c", "-include", name, "/dev/null"]);
    match compiler.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err(format!("the C compiler finds no {name}")),
        Err(error) => Err(format!("there is no C compiler: {error}")),
    }
}

/// Whether ranks for every core, and more, are few enough to start.
pub fn cores_at_most(most: u32, cores: u32) -> Result<(), String> {
    if cores <= most { Ok(()) } else { Err(format!("{cores} cores would take too many ranks")) }
}

/// The program and the thread, which harnesses name after the test.
fn running_test() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo adds a dash and a hash.
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
    // The tests of most crates are one program of this name.
    let package = std::env::var("CARGO_PKG_NAME").ok().filter(|_| program == "it");
    let program = package.as_deref().unwrap_or(program);
    format!("{program}::{}", std::thread::current().name().unwrap_or("?"))
}

/// One write in append mode, so that tests at the same time do not mix their lines.
fn record(file: &Path, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot record a skip in {}: {error}", file.display()));
}
