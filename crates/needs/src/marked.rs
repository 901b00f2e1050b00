//! Processes of a case: started with a mark in their environment, found by it, and never left
//! behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::cases::{PART, Verdict};

const LIMIT: Duration = Duration::from_secs(60);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// `None` when a signal ended the launcher.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

/// A launcher, and whatever it has started.
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    seen: String,
    mark: String,
    start: Instant,
}

/// Starts this program for a part of a case, as [`crate::cases::main`] tells it by these words.
pub fn start(words: &[&str], variables: &[(&str, &str)], input: &str) -> Result<Running, String> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("LANEWAY_TEST_MARK={}-{number}.", std::process::id());
    let (name, value) = mark.split_once('=').expect("it was just joined so");
    let mut command = Command::new("/proc/self/exe");
    command.arg(PART).args(words).env(name, value).envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let stdin = child.stdin.take();
    if let Some(mut stdin) = stdin {
        match stdin.write_all(input.as_bytes()) {
            // A command that refuses its arguments is gone before it reads anything.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            written => written.map_err(|error| error.to_string())?,
        }
    }
    let stdout = child.stdout.take().ok_or("the child has an output")?;
    Ok(Running { child, stdout: BufReader::new(stdout), seen: String::new(), mark, start })
}

impl Running {
    /// Reads on to a line that begins so, which the ranks print when they are on their way; gives
    /// the rest of it. The time that the run takes counts from here.
    pub fn await_line(&mut self, beginning: &str) -> Result<String, String> {
        loop {
            let at = self.seen.len();
            let read = self.stdout.read_line(&mut self.seen).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the ranks ended before they said anything".into());
            }
            if let Some(rest) = self.seen[at..].trim().strip_prefix(beginning) {
                self.start = Instant::now();
                return Ok(rest.to_owned());
            }
        }
    }

    pub fn launcher(&self) -> i32 {
        self.child.id() as i32
    }

    /// The processes of this run and the words of their environments, found in one look.
    pub fn processes(&self) -> Vec<(i32, Vec<String>)> {
        marked(&self.mark)
    }

    /// Waits for the launcher, then makes sure that nothing is left.
    pub fn finish(mut self) -> Result<Outcome, String> {
        let status = loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if self.start.elapsed() > LIMIT => {
                    // Its ranks die with it.
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
        let mut left = self.processes();
        while !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
            left = self.processes();
        }
        if !left.is_empty() {
            let pids: Vec<i32> = left.iter().map(|(pid, _)| *pid).collect();
            // Dropping this ends them.
            return Err(format!("processes {pids:?} are left"));
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
        for (pid, _) in self.processes() {
            // SAFETY: plain call; the process bears a mark that only this case gave out.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        // It has ended by now, by itself or by our hand; the system shall forget it.
        _ = self.child.wait();
    }
}

impl Outcome {
    /// The exit code, and words that the error output must have.
    pub fn expect(self, code: i32, words: &[&str]) -> Verdict {
        let missing = words.iter().find(|word| !self.stderr.contains(**word));
        if self.code == Some(code) && missing.is_none() {
            return Ok(());
        }
        let Outcome { code: got, stdout, stderr, took } = self;
        let expected = format!("expected {code} and {words:?}");
        Err(format!("code {got:?}, {expected}, after {took:?}\n{stdout}{stderr}"))
    }

    /// A good end, and words that the output must have.
    pub fn expect_output(self, words: &[&str]) -> Verdict {
        match words.iter().find(|word| !self.stdout.contains(**word)) {
            None => self.expect(0, &[]),
            Some(word) => Err(format!("no {word:?} in {:?}", self.stdout)),
        }
    }

    /// The same, if it took less than this.
    pub fn in_time(self, limit: Duration) -> Result<Outcome, String> {
        match self.took < limit {
            true => Ok(self),
            false => Err(format!("it took {:?} to end\n{}", self.took, self.stderr)),
        }
    }
}

/// Processes with a word in their environment, other than zombies.
fn marked(mark: &str) -> Vec<(i32, Vec<String>)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| {
            let bytes = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let words: Vec<String> =
                bytes.split(|&byte| byte == 0).map(|w| String::from_utf8_lossy(w).into()).collect();
            words.iter().any(|word| word == mark).then_some((pid, words))
        })
        .collect()
}
