//! Starts a process on a host of a lab: in its namespaces, under its name, with its hosts file, and
//! with shared memory of its own.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use crate::error::LabError;
use crate::name::LabName;
use crate::system::namespace_file;

/// What stands over a file of the machine, where the machine has it.
struct Mount {
    source: CString,
    target: CString,
}

fn text(text: &str) -> Result<CString, LabError> {
    CString::new(text).map_err(|error| LabError::system(text.to_string(), error.into()))
}

/// A command that will run on a host.
pub fn command(lab: &LabName, host: &str, program: impl AsRef<OsStr>) -> Result<Command, LabError> {
    let path = namespace_file(&lab.host(host));
    let opened = |error| LabError::system(format!("entering {}", path.display()), error);
    let namespace = File::open(&path).map_err(opened)?;
    let name = text(host)?;
    let mut mounts = Vec::new();
    for (file, target) in [("hosts", "/etc/hosts"), ("resolv.conf", "/etc/resolv.conf")] {
        if std::path::Path::new(target).exists() {
            let source = text(&lab.file(file).display().to_string())?;
            mounts.push(Mount { source, target: text(target)? });
        }
    }
    let words = Words {
        none: text("none")?,
        root: text("/")?,
        sysfs: text("sysfs")?,
        sys: text("/sys")?,
        tmpfs: text("tmpfs")?,
        shm: text("/dev/shm")?,
    };
    let mut command = Command::new(program);
    // SAFETY: between fork and exec only system calls are made, with memory that was made before.
    unsafe {
        command.pre_exec(move || move_in(&namespace, &name, &mounts, &words));
    }
    Ok(command)
}

/// Words that system calls need, made before the fork.
struct Words {
    none: CString,
    root: CString,
    sysfs: CString,
    sys: CString,
    tmpfs: CString,
    shm: CString,
}

fn check(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// In the child: takes it into the host.
fn move_in(namespace: &File, name: &CString, mounts: &[Mount], words: &Words) -> io::Result<()> {
    // SAFETY: system calls on open descriptors and on strings that end with a zero byte.
    unsafe {
        check(libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET))?;
        check(libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC))?;
        check(libc::sethostname(name.as_ptr(), name.as_bytes().len()))?;
        // What is mounted here is not seen elsewhere.
        let (none, private) = (words.none.as_ptr(), libc::MS_REC | libc::MS_PRIVATE);
        check(libc::mount(none, words.root.as_ptr(), ptr::null(), private, ptr::null()))?;
        for mount in mounts {
            let (source, target) = (mount.source.as_ptr(), mount.target.as_ptr());
            check(libc::mount(source, target, ptr::null(), libc::MS_BIND, ptr::null()))?;
        }
        // Devices as this namespace has them; libraries look for cards there.
        let (sysfs, sys) = (words.sysfs.as_ptr(), words.sys.as_ptr());
        check(libc::mount(sysfs, sys, sysfs, 0, ptr::null()))?;
        // Hosts share no memory.
        let (tmpfs, shm) = (words.tmpfs.as_ptr(), words.shm.as_ptr());
        check(libc::mount(tmpfs, shm, tmpfs, 0, ptr::null()))
    }
}
