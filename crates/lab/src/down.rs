//! Removes a lab: its processes, its namespaces with all that is in them, its folder. Finds them by
//! name, so that it also removes what a killed process left behind.

use std::fs::File;
use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::name::LabName;
use crate::system::{
    Identity, identity, is_root, namespace_file, namespaces, processes_in, signal,
};

/// Killed processes are waited for that long, and new namespaces looked for.
const LIMIT: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(5);

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// Network namespaces.
    pub namespaces: usize,
    /// Processes that ran in them.
    pub processes: usize,
}

/// Removes all that a lab of this name has made, if there is any.
pub fn down(lab: &LabName) -> Result<Removed, LabError> {
    if !is_root() {
        return Err(LabError::NotRoot);
    }
    let mut removed = Removed::default();
    // Open until the end, so that nothing else can look like one of them.
    let (mut open, mut known): (Vec<File>, Vec<Identity>) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    // The lab may still be in construction: what comes up meanwhile goes in the next round.
    loop {
        let names = namespaces(&lab.prefix());
        if names.is_empty() {
            break;
        }
        for name in &names {
            let path = namespace_file(name);
            open.extend(File::open(&path));
            known.extend(identity(&path));
        }
        removed.processes += kill_all(&known)?;
        for name in &names {
            remove_namespace(name)?;
            removed.namespaces += 1;
        }
        if begun.elapsed() > LIMIT {
            let what = format!("lab {} is being built as fast as it is removed", lab.as_str());
            return Err(LabError::system(what, ErrorKind::TimedOut.into()));
        }
    }
    remove_folder(lab)?;
    // Processes that entered a namespace just before it lost its name.
    removed.processes += kill_all(&known)?;
    drop(open);
    Ok(removed)
}

fn remove_folder(lab: &LabName) -> Result<(), LabError> {
    let folder = lab.folder();
    // A file that appears meanwhile makes a second time necessary.
    for _ in 0..10 {
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => thread::sleep(STEP),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(LabError::system(format!("removing {}", folder.display()), error));
            }
            _ => return Ok(()),
        }
    }
    let what = format!("removing {}", folder.display());
    Err(LabError::system(what, ErrorKind::DirectoryNotEmpty.into()))
}

/// Ends every process in these namespaces; how many there were.
fn kill_all(namespaces: &[Identity]) -> Result<usize, LabError> {
    let begun = Instant::now();
    let first = processes_in(namespaces);
    let mut left = first.clone();
    while !left.is_empty() {
        if begun.elapsed() > LIMIT {
            let what = format!("processes {left:?} do not end");
            return Err(LabError::system(what, ErrorKind::TimedOut.into()));
        }
        signal(&left, libc::SIGKILL);
        thread::sleep(STEP);
        left = processes_in(namespaces);
    }
    Ok(first.len())
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
        Err(error) if error.kind() != ErrorKind::NotFound => Err(said(error)),
        _ => Ok(()),
    }
}
