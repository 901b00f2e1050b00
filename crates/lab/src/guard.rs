//! Somebody who removes a lab when its owner is gone, however it went.
//!
//! The owner starts a second process before it makes anything, and holds the other end of its
//! input. When that closes (the owner has ended, or was killed) the guard removes the lab, unless it
//! was told to keep it.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::down::{Removed, down};
use crate::error::LabError;
use crate::name::LabName;

const READY: u8 = b'r';
const KEEP: u8 = b'k';

/// The owner's end.
pub struct Guard {
    child: Child,
}

impl Guard {
    /// Starts a guard, which is laneway's own command with these words, and waits until it watches.
    pub fn start(program: &Path, words: &[&str]) -> Result<Guard, LabError> {
        let started = |error| LabError::system("starting a guard", error);
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec one system call is made, without arguments.
        unsafe {
            // A signal to the owner's group must not reach it.
            command.pre_exec(|| {
                libc::setsid();
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(started)?;
        let mut ready = [0];
        if let Some(output) = child.stdout.as_mut() {
            output.read_exact(&mut ready).map_err(started)?;
        }
        Ok(Guard { child })
    }

    /// Lets the lab stand.
    pub fn keep(mut self) -> Result<(), LabError> {
        let told = |error| LabError::system("telling the guard to keep the lab", error);
        if let Some(mut input) = self.child.stdin.take() {
            input.write_all(&[KEEP]).map_err(told)?;
        }
        self.child.wait().map_err(told).map(|_| ())
    }

    /// Has the lab removed, and waits for it.
    pub fn remove(mut self) -> Result<(), LabError> {
        drop(self.child.stdin.take());
        self.child.wait().map_err(|error| LabError::system("waiting for the guard", error))?;
        Ok(())
    }
}

/// What the guard does; returns when its work is done.
pub fn watch(lab: &LabName) -> Result<Option<Removed>, LabError> {
    let (mut input, mut output) = (std::io::stdin(), std::io::stdout());
    // An owner that is gone already does not read; its input is closed as well.
    _ = output.write_all(&[READY]).and_then(|_| output.flush());
    let mut told = Vec::new();
    _ = input.read_to_end(&mut told);
    if told.contains(&KEEP) {
        return Ok(None);
    }
    down(lab).map(Some)
}
