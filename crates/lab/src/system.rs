//! What a lab asks of the system: namespaces entered, `ip` and `tc` run, processes found.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::emulator::run_in_namespace;
use crate::error::LabError;
use crate::name::NAMESPACES;

/// How long a tool may take.
const LIMIT_MS: i32 = 30_000;

pub(crate) fn is_root() -> bool {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

pub(crate) fn namespace_file(namespace: &str) -> PathBuf {
    Path::new(NAMESPACES).join(namespace)
}

/// Does something in a network namespace, on a thread of its own: sockets and files of /proc/net
/// that it opens stay there, and so do processes that it starts.
pub fn within<T: Send>(namespace: &str, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
    let path = namespace_file(namespace);
    run_in_namespace(&path, || Ok(work()))
        .map_err(|error| LabError::system(format!("entering {}", path.display()), error))
}

/// A thread that runs before everything ordinary, with the processes that it starts, until this
/// value is gone. Where the system refuses that, it goes on as it was.
pub(crate) struct RealTime {
    before: i32,
}

impl RealTime {
    pub fn request() -> RealTime {
        let parameters = libc::sched_param { sched_priority: 1 };
        // SAFETY: the parameters live longer than the call, 0 is the calling thread, and the other
        // two calls take numbers alone.
        unsafe {
            let before = libc::sched_getscheduler(0);
            libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters);
            // Where refused, timers of ordinary threads would be 50 us late.
            libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize);
            RealTime { before }
        }
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if self.before != libc::SCHED_OTHER {
            return;
        }
        let parameters = libc::sched_param { sched_priority: 0 };
        // SAFETY: as above; 0 is the thread's usual slack.
        unsafe {
            libc::sched_setscheduler(0, libc::SCHED_OTHER, &parameters);
            libc::prctl(libc::PR_SET_TIMERSLACK, 0_usize);
        }
    }
}

/// Has a process killed when the thread that starts it ends.
pub fn die_with_owner(command: &mut Command) {
    let owner = std::process::id() as i32;
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() != owner {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

/// Runs `ip` or `tc` with one command a line; each namespace has its own call.
pub(crate) fn batch(
    tool: &'static str,
    namespace: Option<&str>,
    lines: &str,
) -> Result<(), LabError> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut command = Command::new(tool);
    if let Some(namespace) = namespace {
        command.args(["-n", namespace]);
    }
    // A tool must not go on building after its parent was killed.
    die_with_owner(&mut command);
    Started::new(command, tool)?.feed(lines)
}

/// A tool that was started and waits for its lines: to start it takes longer than what it does.
pub(crate) struct Started {
    tool: &'static str,
    child: Child,
}

impl Started {
    /// From within a namespace, for a change of what stands, which is quicker than [`batch`].
    pub fn within(tool: &'static str, namespace: &str) -> Result<Started, LabError> {
        within(namespace, || Started::new(Command::new(tool), tool))?
    }

    fn new(mut command: Command, tool: &'static str) -> Result<Started, LabError> {
        command.args(["-b", "-"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| LabError::system(format!("starting {tool}"), error))?;
        Ok(Started { tool, child })
    }

    /// Gives it its lines, and waits for it.
    pub fn feed(mut self, lines: &str) -> Result<(), LabError> {
        if let Some(mut input) = self.child.stdin.take() {
            // A tool that ends early says why on its other channel.
            _ = input.write_all(lines.as_bytes());
        }
        wait_for_end(&mut self.child, self.tool)?;
        let mut said = String::new();
        let ended = |error| LabError::system(format!("waiting for {}", self.tool), error);
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut said).map_err(ended)?;
        }
        if self.child.wait().map_err(ended)?.success() {
            return Ok(());
        }
        let said = said.trim().replace('\n', "; ");
        // It gives the line by its number.
        let number = said.rsplit("-:").next().and_then(|number| number.parse::<usize>().ok());
        let line = number.and_then(|number| lines.lines().nth(number.checked_sub(1)?));
        Err(LabError::Tool { command: format!("{} {}", self.tool, line.unwrap_or_default()), said })
    }
}

impl Drop for Started {
    /// One that got no lines has done nothing.
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A tool says why it fails before it ends; one that neither speaks nor ends is killed.
fn wait_for_end(child: &mut Child, tool: &str) -> Result<(), LabError> {
    let Some(errors) = &child.stderr else { return Ok(()) };
    let mut watched = libc::pollfd { fd: errors.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which is our own.
    if unsafe { libc::poll(&mut watched, 1, LIMIT_MS) } == 0 {
        _ = child.kill();
        let what = format!("{tool} did not end within {} s", LIMIT_MS / 1000);
        return Err(LabError::system(what, ErrorKind::TimedOut.into()));
    }
    Ok(())
}

/// The namespaces whose names begin like this.
pub(crate) fn namespaces(prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    found.sort();
    found
}

/// What distinguishes a namespace from any other: the device and inode of its file.
pub(crate) type Identity = (u64, u64);

pub(crate) fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|data| (data.dev(), data.ino()))
}

/// The processes in a namespace.
pub(crate) fn processes(namespaces: &[String]) -> Vec<i32> {
    let inside: Vec<Identity> =
        namespaces.iter().filter_map(|name| identity(&namespace_file(name))).collect();
    processes_in(&inside)
}

/// The processes in any of some namespaces, but for this one; the machine's own namespace has none
/// of a lab, whatever its file is called.
pub(crate) fn processes_in(namespaces: &[Identity]) -> Vec<i32> {
    let machine = identity(Path::new("/proc/1/ns/net"));
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| *id != std::process::id() as i32)
        .filter(|id| {
            let own = identity(Path::new(&format!("/proc/{id}/ns/net")));
            own.is_some_and(|own| Some(own) != machine && namespaces.contains(&own))
        })
        .collect()
}

/// Sends a signal to processes; those that are gone are none.
pub(crate) fn signal(processes: &[i32], signal: i32) {
    for process in processes.iter().filter(|process| **process > 1) {
        // SAFETY: a signal to another process touches no memory of this one.
        unsafe { libc::kill(*process, signal) };
    }
}
