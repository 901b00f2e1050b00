//! Removes a lab: its processes, its namespaces with all that is in them, its folder. Finds them by
//! name, so that it also removes what somebody left behind who was killed.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::name::LabName;
use crate::system::{is_root, namespace_file, namespaces, processes, signal};

/// Killed processes are waited for that long.
const LIMIT: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub namespaces: usize,
    pub processes: usize,
}

/// Removes all that a lab of this name has made, if there is any.
pub fn down(lab: &LabName) -> Result<Removed, LabError> {
    if !is_root() {
        return Err(LabError::NotRoot);
    }
    let mut removed = Removed::default();
    // Somebody may still be building: what comes up meanwhile goes in the next round.
    loop {
        let names = namespaces(&lab.prefix());
        removed.processes += kill_all(&names);
        for name in &names {
            remove_namespace(name)?;
            removed.namespaces += 1;
        }
        if namespaces(&lab.prefix()).is_empty() {
            break;
        }
    }
    match std::fs::remove_dir_all(lab.folder()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::system(format!("removing {}", lab.folder().display()), error))
        }
        _ => Ok(removed),
    }
}

/// Ends every process in these namespaces; how many there were.
fn kill_all(names: &[String]) -> usize {
    let begun = Instant::now();
    let first = processes(names);
    let mut left = first.clone();
    while !left.is_empty() && begun.elapsed() < LIMIT {
        signal(&left, libc::SIGKILL);
        thread::sleep(STEP);
        left = processes(names);
    }
    first.len()
}

/// As `ip netns delete` does: the last reference gone, the kernel removes the rest.
fn remove_namespace(name: &str) -> Result<(), LabError> {
    let path = namespace_file(name);
    let said = |error| LabError::system(format!("removing {}", path.display()), error);
    let text = path.display().to_string();
    let target = std::ffi::CString::new(text).map_err(|error| said(error.into()))?;
    // SAFETY: the path ends with a zero byte and is read during the call only.
    unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(said(error)),
        _ => Ok(()),
    }
}
