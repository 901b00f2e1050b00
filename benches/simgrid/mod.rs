//! SimGrid as the peer: its two programs of this folder, compiled and run with what suits it best.

use std::fmt::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{BLOCK_BYTES, FLOW_BYTES, LATENCY_S, Pass, RATE, Work};

/// Plain max-min fairness, as ours, and not a word in between.
const NETWORK: [&str; 7] = [
    "--cfg=network/model:CM02",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=network/crosstraffic:0",
    "--log=root.thres:critical",
];

/// The fastest choice for flows, if not by much. It is wrong where two messages leave one host at
/// one instant (3.32 forgets links of the second), but in a permutation none do.
const LAZY: &str = "--cfg=network/optim:Lazy";

/// The fastest choice for ranks, which only communicate: every message waits for its receive, which
/// here is always there, so that the virtual time is the same as with eager ones.
const SMPI: [&str; 9] = [
    "--cfg=network/optim:Full",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/wtime:0",
    "--cfg=smpi/pedantic:no",
    "--cfg=smpi/async-small-thresh:0",
    "--cfg=smpi/send-is-detached-thresh:0",
    "--cfg=smpi/privatization:no",
    "--cfg=contexts/factory:raw",
    "--cfg=contexts/stack-size:64",
];

/// Longest run of a program, in seconds; one that takes longer is killed with all that it started.
const LIMIT_S: &str = "300";

/// The compiled programs, in a folder that goes with it.
pub struct Simgrid {
    folder: PathBuf,
}

/// What SMPI says of an all-to-all.
pub struct AllToAll {
    /// Of the processor, without SMPI's start.
    pub seconds: f64,
    /// Virtual.
    pub finish: f64,
}

impl Simgrid {
    /// Says why not, where SimGrid or a compiler is missing.
    pub fn new() -> Result<Simgrid, String> {
        println!("peer: {}", output(bounded("smpirun").arg("-version"))?.trim());
        let folder = std::env::temp_dir().join(format!("laneway-simgrid-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let simgrid = Simgrid { folder };
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("simgrid");
        for (compiler, source, library) in
            [("g++", "flows.cpp", Some("-lsimgrid")), ("smpicc", "pairwise.c", None)]
        {
            let source = sources.join(source);
            let program = simgrid.folder.join(source.file_stem().unwrap_or_default());
            let mut command = bounded(compiler);
            command.args(["-O2", "-DNDEBUG", "-o"]).arg(program).arg(source).args(library);
            output(&mut command)?;
        }
        Ok(simgrid)
    }

    /// Writes the permutations with their routes, as flows.cpp reads them.
    pub fn write(&self, work: &Work) -> Result<PathBuf, String> {
        let permutations = work.permutations.len();
        let mut text =
            format!("{} {} {RATE} {FLOW_BYTES} {permutations}\n", work.hosts, work.links);
        let mut way = Vec::new();
        for (from, to) in work.permutations.iter().flat_map(|partners| (0..).zip(partners)) {
            way.clear();
            (work.way)(from, *to, &mut way);
            // Writing into a string cannot fail.
            _ = write!(text, "{from} {to} {}", way.len());
            way.iter().for_each(|link| _ = write!(text, " {link}"));
            text.push('\n');
        }
        let file = self.folder.join(format!("flows-{}", work.hosts));
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        Ok(file)
    }

    /// One pass over the permutations in the file.
    pub fn flows(&self, file: &Path) -> Result<Pass, String> {
        let mut command = bounded(self.folder.join("flows"));
        let text = output(command.args(NETWORK).arg(LAZY).arg(file))?;
        let mut lines = text.lines();
        let seconds = lines.next().and_then(|line| line.parse().ok());
        let times: Option<Vec<[f64; 2]>> = lines
            .map(|line| {
                let (last, mean) = line.split_once(' ')?;
                Some([last.parse().ok()?, mean.parse().ok()?])
            })
            .collect();
        match (seconds, times) {
            (Some(seconds), Some(times)) => Ok(Pass { seconds, times }),
            _ => Err(format!("flows.cpp printed what cannot be read: {text}")),
        }
    }

    /// The pairwise all-to-all on a flat cluster like ours, less a run that only starts and ends.
    pub fn all_to_all(&self, ranks: u32) -> Result<AllToAll, String> {
        let last = ranks - 1;
        // A message passes the links of two hosts.
        let latency = LATENCY_S / 2.0;
        let platform = format!(
            "<?xml version='1.0'?>\n\
             <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
             <platform version=\"4.1\"><cluster id=\"flat\" prefix=\"host-\" suffix=\"\" \
             radical=\"0-{last}\" speed=\"1Gf\" bw=\"{RATE}Bps\" lat=\"{latency}s\"/></platform>\n"
        );
        let hosts: String = (0..ranks).map(|host| format!("host-{host}\n")).collect();
        for (name, text) in [("platform.xml", platform), ("hosts", hosts)] {
            std::fs::write(self.folder.join(name), text).map_err(|error| error.to_string())?;
        }
        let (start, _) = self.smpirun(ranks, None)?;
        let (whole, finish) = self.smpirun(ranks, Some(BLOCK_BYTES))?;
        Ok(AllToAll { seconds: whole - start, finish })
    }

    /// Seconds of the processor of one run, and the virtual time of its end.
    fn smpirun(&self, ranks: u32, bytes: Option<u64>) -> Result<(f64, f64), String> {
        let mut command = bounded("smpirun");
        command.current_dir(&self.folder).args(["-np", &ranks.to_string()]);
        command.args(["-platform", "platform.xml", "-hostfile", "hosts"]);
        command.args(NETWORK).args(SMPI).arg("./pairwise");
        command.args(bytes.map(|bytes| bytes.to_string()));
        let begun = children_s();
        let text = output(&mut command)?;
        let seconds = children_s() - begun;
        let finish = text.trim().parse();
        finish.map(|finish| (seconds, finish)).map_err(|_| format!("pairwise.c printed: {text}"))
    }
}

impl Drop for Simgrid {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A program under `timeout`, which kills its whole group at the limit, and when we are gone.
fn bounded(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", LIMIT_S]).arg(program).stdin(Stdio::null());
    let parent = std::process::id();
    // SAFETY: between fork and exec only system calls are made that are allowed there.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM, 0, 0, 0);
            // Where we were gone before, no signal comes.
            if libc::getppid() as u32 == parent { Ok(()) } else { libc::_exit(1) }
        })
    };
    command
}

/// What the program printed, or what went wrong.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} failed ({}): {}", output.status, said.trim()))
}

/// Seconds that the programs run so far, and what they started, have had a processor.
fn children_s() -> f64 {
    // SAFETY: all zeros are a valid value of a structure of numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in the structure that it is given, which lives until it returns.
    match unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) } {
        0 => {
            let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
            seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
        _ => f64::NAN,
    }
}
