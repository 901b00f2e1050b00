//! A command of the user, run by the shell: neither its time nor the length of what it prints is
//! trusted.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::child::kill_group;

/// What a command has printed is waited for so long after its end: something that it has left
/// running may hold its output open.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Between two looks at whether a command has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a command to its end. One that takes longer than `limit` is killed with whatever it has
/// started.
pub fn run(command: &str, limit: Duration) -> io::Result<()> {
    perform(command, limit, Stdio::null(), |_| {})
}

/// What a command prints, up to `most` bytes.
///
/// ```
/// use std::time::Duration;
///
/// let printed = laneway_processes::shell::output("echo here", Duration::from_secs(60), 1 << 20)?;
/// assert_eq!(printed, "here\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn output(command: &str, limit: Duration, most: u64) -> io::Result<String> {
    let (sender, said) = mpsc::channel();
    perform(command, limit, Stdio::piped(), |pipe| {
        // It only reads. Where something holds the pipe open it is left behind, and ends with it.
        spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.take(most).read_to_end(&mut bytes);
            let _ = sender.send(bytes);
        });
    })?;
    let bytes = said.recv_timeout(LAST_WORDS).map_err(|_| {
        io::Error::other("it has ended, and something that it started still holds its output")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn perform(
    command: &str,
    limit: Duration,
    stdout: Stdio,
    listen: impl FnOnce(ChildStdout),
) -> io::Result<()> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(stdout).process_group(0);
    let mut child = shell.spawn()?;
    if let Some(pipe) = child.stdout.take() {
        listen(pipe);
    }
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(io::Error::other(status.to_string())),
            Ok(None) if Instant::now() < deadline => sleep(LOOK),
            _ => {
                kill_group(child.id());
                let _ = child.wait();
                let cause = format!("it takes more than {} s", limit.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, cause));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_not_trusted() {
        let long = Duration::from_secs(60);
        assert!(run("true", long).is_ok());
        assert!(run("exit 3", long).is_err_and(|error| error.to_string().contains('3')));
        assert_eq!(output("printf 12345", long, 3).expect("it prints"), "123");
        let begun = Instant::now();
        let late = run("sleep 60 & wait", Duration::from_millis(50)).expect_err("too late");
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(30), "it was waited for");
    }
}
