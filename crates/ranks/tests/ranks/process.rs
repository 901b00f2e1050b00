//! Starts a launcher with a mark in its environment, and finds whatever bears that mark.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// What a run left behind.
pub struct Outcome {
    /// `None` when a signal ended the launcher.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    seen: String,
    mark: String,
    start: Instant,
}

/// Starts the launcher of a scenario.
pub fn start(
    scenario: &str,
    ranks: u32,
    connections: u32,
    variables: &[(&str, &str)],
) -> Result<Running, String> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("LANEWAY_TEST_MARK={}-{number}.", std::process::id());
    let (name, value) = mark.split_once('=').expect("it was just joined so");
    let mut command = Command::new("/proc/self/exe");
    command.args(["run", scenario, &ranks.to_string(), &connections.to_string()]);
    command.env(name, value).envs(variables.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().ok_or("the child has an output")?;
    Ok(Running { child, stdout: BufReader::new(stdout), seen: String::new(), mark, start })
}

impl Running {
    /// The process of a rank that prints its number when it is on its way.
    pub fn await_rank(&mut self, rank: u32) -> Result<i32, String> {
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the ranks ended before they said anything".into());
            }
            if let Some(pid) = line.trim().strip_prefix(&format!("rank {rank} is ")) {
                self.start = Instant::now();
                return pid.parse().map_err(|_| format!("{line:?} names no process"));
            }
        }
    }

    pub fn launcher(&self) -> i32 {
        self.child.id() as i32
    }

    /// Waits for the launcher, then makes sure that nothing is left.
    pub fn finish(mut self) -> Result<Outcome, String> {
        let status = loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if self.start.elapsed() > LIMIT => {
                    self.child.kill().map_err(|error| error.to_string())?;
                    self.child.wait().map_err(|error| error.to_string())?;
                    return Err(format!("not over after {} s", LIMIT.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let took = self.start.elapsed();
        // Ranks that die with their launcher need a moment; no more than that.
        let deadline = Instant::now() + Duration::from_millis(900);
        let mut left = marked(&self.mark);
        while !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
            left = marked(&self.mark);
        }
        if !left.is_empty() {
            // Dropping this ends them.
            return Err(format!("processes {left:?} are left"));
        }
        self.stdout.read_to_string(&mut self.seen).map_err(|error| error.to_string())?;
        let mut stderr = String::new();
        if let Some(mut pipe) = self.child.stderr.take() {
            pipe.read_to_string(&mut stderr).map_err(|error| error.to_string())?;
        }
        Ok(Outcome { code: status.code(), stdout: std::mem::take(&mut self.seen), stderr, took })
    }
}

/// Whatever went wrong, nothing of a case outlives it.
impl Drop for Running {
    fn drop(&mut self) {
        for pid in marked(&self.mark) {
            // SAFETY: plain call; the process bears a mark that only this case gave out.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        // It has ended by now, by itself or by our hand; the system shall forget it.
        _ = self.child.wait();
    }
}

/// Processes with a word in their environment, other than zombies.
fn marked(mark: &str) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            bytes.split(|&byte| byte == 0).any(|word| word == mark.as_bytes())
        })
        .collect()
}
