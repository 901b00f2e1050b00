//! A guard process that removes a lab when its owner is gone, however it went.
//!
//! The owner starts a second process before it makes anything ([`serve`](crate::serve)), and holds
//! the other end of its input. The guard takes the lab's name, so that of two owners one is first.
//! When its input closes (the owner has ended, or was killed) it removes the lab, unless it was
//! asked to keep it or the lab has another owner by then.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::down::{Removed, down};
use crate::error::LabError;
use crate::name::LabName;
use crate::system::is_root;
use crate::task::Task;

/// What the guard says: it has the name, another process has, or it could not take it.
const READY: u8 = b'r';
const TAKEN: u8 = b't';
const FAILED: u8 = b'f';
/// It is of another version.
pub(crate) const OTHER_VERSION: u8 = b'v';
/// The commands to the guard.
const KEEP: u8 = b'k';
const REMOVE: u8 = b'x';
/// An owner's tools die a moment after its input has closed.
const LIMIT: Duration = Duration::from_secs(5);
const MOMENT: Duration = Duration::from_millis(50);

/// The owner's end. Dropped, it has the lab removed.
pub struct Guard {
    lab: LabName,
    child: Child,
    over: bool,
}

impl Guard {
    /// Starts a guard, which is a program that calls [`serve`](crate::serve), and waits until it
    /// has the name.
    pub fn start(lab: &LabName, program: &Path) -> Result<Guard, LabError> {
        if !is_root() {
            return Err(LabError::NotRoot);
        }
        let started = |error| LabError::system("starting a guard", error);
        let mut command = Task::Guard.command(lab, program)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec one system call is made, without arguments.
        unsafe {
            // A signal to the owner's group must not reach it.
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(started)?;
        let mut said = Vec::new();
        if let Some(output) = child.stdout.take() {
            output.take(1).read_to_end(&mut said).map_err(started)?;
        }
        match said[..] {
            [READY] => Ok(Guard { lab: lab.clone(), child, over: false }),
            _ => {
                _ = child.wait();
                match said[..] {
                    [OTHER_VERSION] => Err(LabError::Version {
                        own: env!("CARGO_PKG_VERSION").into(),
                        other: program.display().to_string(),
                    }),
                    [TAKEN] => Err(LabError::Stands(lab.as_str().to_string())),
                    [FAILED] => Err(started(std::io::Error::other(format!(
                        "it cannot write to {}",
                        lab.folder().display()
                    )))),
                    _ => Err(LabError::NotServed { program: program.display().to_string() }),
                }
            }
        }
    }

    /// Lets the lab stand.
    pub fn keep(mut self) -> Result<(), LabError> {
        if self.end(KEEP) {
            return Ok(());
        }
        // A dead guard watches nothing: the lab would stand without having been kept.
        Err(LabError::system("telling the guard to keep the lab", ErrorKind::BrokenPipe.into()))
    }

    /// Has the lab removed, and waits for it.
    pub fn remove(mut self) -> Result<(), LabError> {
        match self.end(REMOVE) {
            true => Ok(()),
            false => down(&self.lab).map(|_| ()),
        }
    }

    /// Tells the guard what to do; whether it did.
    fn end(&mut self, word: u8) -> bool {
        self.over = true;
        let sent =
            self.child.stdin.take().is_some_and(|mut input| input.write_all(&[word]).is_ok());
        self.child.wait().is_ok_and(|status| status.success()) && sent
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.over && !self.end(REMOVE) {
            // An error could not be reported here.
            _ = down(&self.lab);
        }
    }
}

/// What the guard does; returns when its work is done.
pub fn watch(lab: &LabName) -> Result<Option<Removed>, LabError> {
    // SAFETY: the call has no arguments and cannot fail.
    let parent = || unsafe { libc::getppid() };
    let owner = parent();
    let reserved = reserve(lab);
    let word = match &reserved {
        Ok(_) => READY,
        Err(LabError::Stands(_)) => TAKEN,
        Err(_) => FAILED,
    };
    let mut output = std::io::stdout();
    // An owner that is gone already does not read; its input is closed as well.
    _ = output.write_all(&[word]).and_then(|_| output.flush());
    let mine = reserved?;
    let mut commands = Vec::new();
    _ = std::io::stdin().read_to_end(&mut commands);
    if commands.contains(&KEEP) {
        return Ok(None);
    }
    let begun = Instant::now();
    while commands.is_empty() && parent() == owner && begun.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(1));
    }
    if fs::read_to_string(lab.file("owner")).is_ok_and(|owner| owner != mine) {
        return Ok(None);
    }
    let mut removed = down(lab)?;
    if commands.is_empty() {
        thread::sleep(MOMENT);
        let late = down(lab)?;
        removed.namespaces += late.namespaces;
        removed.processes += late.processes;
    }
    Ok(Some(removed))
}

/// Takes the name: of two that come at once, one is first. Returns what is written of the owner.
fn reserve(lab: &LabName) -> Result<String, LabError> {
    let folder = lab.folder();
    let said = |error| LabError::system(format!("making {}", folder.display()), error);
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(said)?;
    }
    match fs::create_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(LabError::Stands(lab.as_str().to_string()));
        }
        done => done.map_err(said)?,
    }
    let now = crate::inject::monotonic();
    let owner = format!("{} {now}", std::process::id());
    // A full disk leaves the name to others.
    lab.write("owner", &owner).inspect_err(|_| _ = fs::remove_dir_all(&folder))?;
    Ok(owner)
}
