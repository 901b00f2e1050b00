//! The command that measures in a lab, run as a person would type it, for a limited time: ranks of
//! an MPI are processes of a program, and a lab that may have to be killed needs one of its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_coll::find;
use laneway_core::Collective;
use laneway_lab::{LabName, die_with_owner, down};
use laneway_report::figure::plain;
use laneway_report::links::{self, LinkUse};
use laneway_report::{Record, read};

use crate::Request;

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
    /// None of a single repetition.
    pub interval: Option<(f64, f64)>,
    /// The longest repetition.
    pub most: f64,
}

impl Seen {
    /// Between what the time may be.
    pub fn range(&self) -> (f64, f64) {
        self.interval.unwrap_or((self.time, self.time))
    }
}

/// What a run has measured, and why that is not all.
#[derive(Default)]
pub struct Ran {
    pub seen: Vec<Seen>,
    /// What every link carried, where that was recorded.
    pub links: Vec<LinkUse>,
    pub missing: Option<String>,
}

/// Who starts the ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// An MPI library, over TCP.
    Mpi,
    /// laneway itself, over its own connections.
    Own,
}

/// What is measured where.
pub struct Plan<'a> {
    /// What the lab is made of: words of `lab run`.
    pub lab: Vec<&'a str>,
    pub ranks: u32,
    pub by: Ranks,
    pub operations: &'a [Collective],
    pub algorithms: &'a [String],
    pub sizes: &'a str,
    pub reps: u32,
    /// How often the rates of links are recorded.
    pub recorded: Option<&'a str>,
    /// How long the whole run may take where the call has no budget, the lab's building among it.
    pub usual: Duration,
}

/// Where a run leaves what it found.
struct Files {
    rows: PathBuf,
    links: PathBuf,
}

impl Plan<'_> {
    /// The command's words after `laneway`; ranks run `program`.
    fn words(&self, launcher: &str, program: &str, record: &str) -> Vec<String> {
        let (ranks, reps) = (self.ranks.to_string(), self.reps.to_string());
        let (algorithms, operations) = (self.algorithms.join(","), names(self.operations));
        let mut words = vec!["lab", "run"];
        words.extend(&self.lab);
        words.push("--no-probe");
        if let Some(every) = self.recorded {
            words.extend(["--record", record, "--every", every]);
        }
        words.push("--");
        let measure = ["measure", "coll", &operations];
        match self.by {
            Ranks::Mpi => {
                words.extend([launcher, "-n", &ranks, program]);
                words.extend(measure);
            }
            Ranks::Own => {
                words.push(program);
                words.extend(measure);
                words.extend(["--backend", "net", "--ranks", &ranks]);
            }
        }
        words.extend(["--algorithm", &algorithms, "--sizes", self.sizes]);
        // Of three repetitions the smallest and the largest enclose the median in 3 of 4 cases.
        words.extend(["--reps", &reps, "--level", "75%", "--timing", "maximum"]);
        words.extend(["--format", "json"]);
        words.into_iter().map(str::to_owned).collect()
    }

    /// As a person types it.
    pub fn line(&self) -> String {
        let launcher = launcher().unwrap_or("mpirun");
        format!("laneway {}", self.words(launcher, "laneway", "wan.json").join(" "))
    }

    /// Runs it for as long as the call may take: what was measured, and why not all was. No lab is
    /// left.
    pub fn run(&self, request: &Request) -> Ran {
        let folder = std::env::temp_dir().join(format!("laneway-reproduce-{}", process::id()));
        let ran = self.run_in(&folder, request);
        // It is in the folder for temporary files, should it stay.
        _ = std::fs::remove_dir_all(&folder);
        ran.unwrap_or_else(|why| Ran { missing: Some(why), ..Ran::default() })
    }

    fn run_in(&self, folder: &Path, request: &Request) -> Result<Ran, String> {
        let launcher = launcher().or((self.by == Ranks::Own).then_some(""));
        let launcher = launcher.ok_or("there is no mpirun on the path")?;
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        // What is done stands there when the command is killed.
        let files = Files { rows: folder.join("rows.json"), links: folder.join("links.json") };
        let limit = request.left(self.usual);
        let program = &request.program;
        let links = files.links.to_string_lossy();
        let mut words = self.words(launcher, &program.to_string_lossy(), &links);
        words.extend(["--export".to_owned(), files.rows.to_string_lossy().into_owned()]);
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
        Ok(self.found(&files, ended, &err, limit))
    }

    /// What is in the files, and why that is not all.
    fn found(&self, files: &Files, ended: Option<ExitStatus>, err: &str, limit: Duration) -> Ran {
        let read_from = |file: &Path| {
            let text = std::fs::read_to_string(file).ok()?;
            read("lab", &text).ok()
        };
        let rows = read_from(&files.rows).map(|run| run.rows).unwrap_or_default();
        let seen = self.rows(&rows);
        let links = read_from(&files.links).and_then(|run| links::read(&run).ok());
        let sizes = self.sizes.split(',').count();
        let asked = self.operations.len() * self.algorithms.len() * sizes;
        let short = format!("{} of {asked} figures were measured", seen.len());
        let missing = match ended {
            None => Some(format!("{short} within {} s; --budget gives it more", limit.as_secs())),
            Some(status) if status.success() => (seen.len() != asked).then_some(short),
            Some(status) => Some(said(err).unwrap_or_else(|| status.to_string())),
        };
        Ran { seen, links: links.unwrap_or_default(), missing }
    }

    /// By the names that were asked for, also where some are not there yet.
    fn rows(&self, rows: &[Record]) -> Vec<Seen> {
        let mut all = Vec::new();
        for (row, seen) in rows.iter().filter_map(|row| Some((row, seen(row)?))) {
            let column = row.get("spelled").or_else(|| row.get("algorithm"));
            let spelled = column.map(plain).unwrap_or_default();
            let is = |asked: &&String| label(seen.op, asked) == spelled;
            // What was chosen is none of the others, which would have answered for it.
            let chosen = || self.algorithms.iter().find(|asked| *asked == CHOSEN);
            let algorithm = self.algorithms.iter().find(is).or_else(chosen);
            all.extend(algorithm.map(|name| Seen { algorithm: name.clone(), ..seen }));
        }
        all
    }
}

/// What laneway chooses for the sites.
pub const CHOSEN: &str = "chosen";

/// An algorithm as rows spell it.
fn label(op: Collective, asked: &str) -> String {
    find(op, asked).map_or_else(|_| asked.to_owned(), |(found, params)| found.label(&params))
}

fn names(operations: &[Collective]) -> String {
    operations.iter().map(|op| op.name()).collect::<Vec<_>>().join(",")
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

/// The exit status of the command; `None` if it had to be killed.
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
        // An error could not be handled any more.
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
        interval: ms("ci_low_us").zip(ms("ci_high_us")),
        most: ms("max_us")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_known_though_some_is_missing() {
        let algorithms = ["single-lane", "multi-lane:lanes=2", "multi-lane:lanes=4", CHOSEN];
        let algorithms = algorithms.map(str::to_owned);
        let plan = Plan {
            lab: Vec::new(),
            ranks: 8,
            by: Ranks::Mpi,
            operations: &[Collective::Scatter],
            algorithms: &algorithms,
            sizes: "1K",
            reps: 1,
            recorded: None,
            usual: Duration::ZERO,
        };
        let row = |algorithm: &str, spelled: &str| {
            format!(
                "scatter,{algorithm},1024,5000,7000,{spelled}\n",
                spelled = if spelled.is_empty() { algorithm } else { spelled }
            )
        };
        // The first and the second that were asked for are missing.
        let text = "op,algorithm,size_bytes,time_us,max_us,spelled\n".to_owned()
            + &row("multi-lane", "multi-lane:lanes=4:window=1")
            + &row("far-first", "");
        let found = read("rows.csv", &text).expect("rows");
        let seen = plan.rows(&found.rows);
        let names: Vec<&str> = seen.iter().map(|seen| seen.algorithm.as_str()).collect();
        assert_eq!(names, ["multi-lane:lanes=4", CHOSEN]);
        assert_eq!((seen[0].time, seen[0].most, seen[0].range()), (5.0, 7.0, (5.0, 5.0)));
    }
}
