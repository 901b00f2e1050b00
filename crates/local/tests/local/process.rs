//! Starts a launcher with a mark in its environment, and finds whatever bears that mark.

use std::io::{BufRead, BufReader, Read, Write};
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
    transport: &str,
    variables: &[(&str, &str)],
    input: &str,
) -> Result<Running, String> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("LANEWAY_TEST_MARK={}-{number}.", std::process::id());
    let (name, value) = mark.split_once('=').expect("it was just joined so");
    let mut command = Command::new("/proc/self/exe");
    command.args(["run", scenario, &ranks.to_string(), transport]).env(name, value);
    command.envs(variables.iter().copied());
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
    /// Reads a line that the ranks print when they are on their way.
    pub fn await_line(&mut self) -> Result<(), String> {
        let read = self.stdout.read_line(&mut self.seen).map_err(|error| error.to_string())?;
        self.start = Instant::now();
        if read == 0 { Err("the ranks ended before they said anything".into()) } else { Ok(()) }
    }

    pub fn launcher(&self) -> i32 {
        self.child.id() as i32
    }

    /// The processes of all ranks, found in one look.
    pub fn ranks(&self, count: u32) -> Result<Vec<i32>, String> {
        let marked = marked(&self.mark);
        let of = |rank| {
            let wanted = format!("LANEWAY_LOCAL_RANK={rank}");
            let found = marked.iter().find(|(_, environment)| environment.contains(&wanted));
            found.map(|(pid, _)| *pid).ok_or_else(|| format!("rank {rank} is not running"))
        };
        (0..count).map(of).collect()
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
        let mut left = marked(&self.mark);
        while !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
            left = marked(&self.mark);
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
        for (pid, _) in marked(&self.mark) {
            // SAFETY: plain call; the process bears a mark that only this case gave out.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        // It has ended by now, by itself or by our hand; the system shall forget it.
        let _ = self.child.wait();
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

/// Files with our name where shared memory and sockets are usually left behind.
pub fn files_left() -> Vec<String> {
    ["/dev/shm", "/tmp", "/run"]
        .iter()
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.contains("laneway"))
        .collect()
}
