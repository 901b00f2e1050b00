//! The command that measures in a lab, run as a person would type it, for a limited time: ranks of
//! an MPI are processes of a program, and a lab that may have to be killed needs one of its own.

use std::io::Read;
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_core::Collective;
use laneway_lab::{LabName, die_with_owner, down};
use laneway_report::figure::plain;
use laneway_report::{Record, read};

use crate::Request;

/// The whole run, the lab's building among it, where the call has no budget.
const LIMIT: Duration = Duration::from_secs(85);
/// How long a lab's guard may take to remove it.
const REMOVAL: Duration = Duration::from_secs(15);
const MOMENT: Duration = Duration::from_millis(20);
/// Of these the first that is there starts the ranks: Open MPI before what is usual here, because
/// Debian's MPICH does not always end across a WAN.
const LAUNCHERS: [&str; 2] = ["mpirun.openmpi", "mpirun"];

/// What real ranks took for a call, in milliseconds.
pub struct Seen {
    pub op: Collective,
    /// As it was asked for.
    pub algorithm: String,
    pub size: u64,
    pub time: f64,
    pub interval: (f64, f64),
}

/// What a run has measured, and why that is not all.
pub struct Ran {
    pub seen: Vec<Seen>,
    pub missing: Option<String>,
}

/// What is measured where.
pub struct Plan<'a> {
    pub platform: &'a str,
    pub ranks: u32,
    pub algorithms: &'a [String],
    pub sizes: &'a str,
    pub reps: u32,
}

impl Plan<'_> {
    /// The command's words after `laneway`; ranks run `program`.
    fn words(&self, launcher: &str, program: &str) -> Vec<String> {
        let (ranks, reps) = (self.ranks.to_string(), self.reps.to_string());
        let algorithms = self.algorithms.join(",");
        let lab = ["lab", "run", "--platform", self.platform, "--no-probe", "--"];
        let launch = [launcher, "-n", &ranks, program, "measure", "coll", "scatter,gather"];
        // Of three repetitions the smallest and the largest enclose the median in 3 of 4 cases.
        let how = ["--reps", &reps, "--level", "75%", "--timing", "maximum", "--format", "json"];
        let what = ["--algorithm", &algorithms, "--sizes", self.sizes];
        let words = lab.iter().chain(&launch).chain(&what).chain(&how);
        words.map(|word| word.to_string()).collect()
    }

    /// As a person types it.
    pub fn line(&self) -> String {
        let launcher = launcher().unwrap_or("mpirun");
        format!("laneway {}", self.words(launcher, "laneway").join(" "))
    }

    /// Runs it for as long as the call may take: what was measured, and why not all was. No lab is
    /// left.
    pub fn run(&self, request: &Request) -> Ran {
        let folder = std::env::temp_dir().join(format!("laneway-reproduce-{}", process::id()));
        let ran = self.run_in(&folder, request);
        // It is in the folder for temporary files, should it stay.
        _ = std::fs::remove_dir_all(&folder);
        ran.unwrap_or_else(|why| Ran { seen: Vec::new(), missing: Some(why) })
    }

    fn run_in(&self, folder: &Path, request: &Request) -> Result<Ran, String> {
        let launcher = launcher().ok_or("there is no mpirun on the path")?;
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        // What is done stands there when the command is killed.
        let rows = folder.join("rows.json");
        let limit = request.left(LIMIT);
        let program = &request.program;
        let mut words = self.words(launcher, &program.to_string_lossy());
        words.extend(["--export".to_owned(), rows.to_string_lossy().into_owned()]);
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null());
        // What is typed is all that counts, whatever the environment says.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("LANEWAY_") {
                command.env_remove(name);
            }
        }
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        die_with_owner(&mut command);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let lab =
            LabName::new(&format!("run-{}", child.id())).map_err(|error| error.to_string())?;
        let err = text(child.stderr.take());
        let ended = wait(&mut child, limit);
        remove(&lab);
        let err = err.join().unwrap_or_default();
        let seen = std::fs::read_to_string(&rows).map_or(Ok(Vec::new()), |text| self.rows(&text));
        let seen = seen.unwrap_or_default();
        let asked = 2 * self.algorithms.len() * self.sizes.split(',').count();
        let short = format!("{} of {asked} figures were measured", seen.len());
        let missing = match ended {
            None => Some(format!("{short} within {} s; --budget gives it more", limit.as_secs())),
            Some(status) if status.success() => (seen.len() != asked).then_some(short),
            Some(status) => Some(said(&err).unwrap_or_else(|| status.to_string())),
        };
        Ok(Ran { seen, missing })
    }

    fn rows(&self, text: &str) -> Result<Vec<Seen>, String> {
        let found = read("lab", text).map_err(|error| error.to_string())?;
        let mut all: Vec<Seen> = Vec::new();
        for row in &found.rows {
            let Some(seen) = seen(row) else { continue };
            // A row names what was chosen; of one call, rows are in the order of the algorithms.
            let alike = |one: &&Seen| (one.op, one.size) == (seen.op, seen.size);
            let place = all.iter().filter(alike).count();
            let algorithm = self.algorithms.get(place).cloned().unwrap_or_default();
            all.push(Seen { algorithm, ..seen });
        }
        Ok(all)
    }
}

fn launcher() -> Option<&'static str> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        |name: &&str| std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    LAUNCHERS.into_iter().find(is_there)
}

/// All that a command writes, read beside it so that no pipe is ever full.
fn text<R: Read + Send + 'static>(from: Option<R>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What came before an error is what there is.
            _ = from.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// How the command ended; none where it had to be killed.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => thread::sleep(MOMENT),
            Err(_) => break,
        }
    }
    // Its lab's guard sees that it is gone.
    _ = child.kill();
    _ = child.wait();
    None
}

/// Waits until the guard has removed the lab, and does it where there is none any more.
fn remove(lab: &LabName) {
    let begun = Instant::now();
    while lab.folder().exists() && begun.elapsed() < REMOVAL {
        thread::sleep(MOMENT);
    }
    if lab.folder().exists() {
        // Nobody is left who could do more.
        _ = down(lab);
    }
}

/// What a command says of its failure, without what to try.
fn said(err: &str) -> Option<String> {
    let after = |line: &str| line.split_once("error: ").map(|(_, what)| what.trim().to_owned());
    err.lines().find_map(after)
}

fn seen(row: &Record) -> Option<Seen> {
    let op = plain(row.get("op")?);
    let op = [Collective::Scatter, Collective::Gather].into_iter().find(|one| op == one.name())?;
    let ms = |name: &str| row.number(name).map(|us| us * 1e-3);
    Some(Seen {
        op,
        algorithm: String::new(),
        size: row.number("size_bytes")? as u64,
        time: ms("time_us").filter(|time| *time > 0.0)?,
        interval: (ms("ci_low_us")?, ms("ci_high_us")?),
    })
}
