//! A process that a launcher starts: this program again or another one, what it does before it
//! runs, and its end.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::signals::Mask;

/// Exit codes with which a rank has reported its failure itself.
pub const REPORTED: std::ops::RangeInclusive<i32> = 1..=4;

/// This program with the same arguments, as one more process.
pub fn same_program() -> Command {
    Program::this().command()
}

/// The program that a launcher starts once for each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `None` for this program.
    path: Option<PathBuf>,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl Program {
    /// This program with the arguments of this process.
    pub fn this() -> Program {
        let arguments = std::env::args_os().skip(1).collect();
        Program { path: None, arguments, variables: Vec::new() }
    }

    /// A program by its file, or by a name that the search path finds; without arguments.
    pub fn named(path: impl Into<PathBuf>) -> Program {
        Program { path: Some(path.into()), arguments: Vec::new(), variables: Vec::new() }
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl Into<OsString>) {
        self.arguments.push(argument.into());
    }

    /// Sets a variable of its environment.
    pub fn env(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    /// The file to run on any host that has it at the same place.
    pub fn file(&self) -> io::Result<PathBuf> {
        self.path.clone().map_or_else(std::env::current_exe, Ok)
    }

    /// Its arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &OsStr> {
        self.arguments.iter().map(OsString::as_os_str)
    }

    /// The variables that were set for it.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The command that starts it on this host.
    pub fn command(&self) -> Command {
        let mut command = match &self.path {
            Some(path) => Command::new(path),
            None => Command::new("/proc/self/exe"),
        };
        if let Some(name) = std::env::args_os().next().filter(|_| self.path.is_none()) {
            command.arg0(name);
        }
        command.args(&self.arguments).envs(self.variables());
        command
    }
}

/// Between fork and exec: lets the signals of before through again. The process lies in a group
/// that is not the terminal's, and may write to it all the same, also where the terminal stops
/// such writers (stty tostop). Makes only async-signal-safe calls.
pub fn prepare_child(mask: &Mask) -> io::Result<()> {
    // SAFETY: plain calls, each async-signal-safe.
    unsafe {
        libc::signal(libc::SIGTTOU, libc::SIG_IGN);
        match libc::sigprocmask(libc::SIG_SETMASK, &mask.0, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Kills a process and its group. It must be a child that was not yet waited for: then its number
/// cannot mean another process.
pub fn kill_group(pid: u32) {
    let pid = pid as libc::pid_t;
    // SAFETY: plain calls. The group may not exist yet, so the process is named as well.
    unsafe {
        libc::kill(-pid, libc::SIGKILL);
        libc::kill(pid, libc::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn the_same_program_has_the_same_arguments() {
        let command = same_program();
        let own: Vec<_> = std::env::args_os().skip(1).collect();
        assert!(command.get_args().eq(own.iter().map(|word| word.as_os_str())));
        let same = std::fs::read_link(command.get_program()).expect("a link");
        assert_eq!(same, std::env::current_exe().expect("a program"));
    }

    #[test]
    fn a_named_program_has_its_own_arguments_and_variables() {
        let mut program = Program::named("/bin/sh");
        program.arg("-c");
        program.arg("echo $WORD");
        program.env("WORD", "good morning");
        let said = program.command().output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&said.stdout), "good morning\n");
        assert_eq!(program.file().expect("a file"), PathBuf::from("/bin/sh"));
    }

    /// A shell and its own child, which holds the pipe open as long as it lives.
    #[test]
    fn a_child_is_killed_with_its_group() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 60 & echo; wait"]).process_group(0).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let mut output = child.stdout.take().expect("a pipe");
        io::Read::read_exact(&mut output, &mut [0]).expect("its child was started");
        let begun = Instant::now();
        kill_group(child.id());
        assert_eq!(child.wait().expect("a status").signal(), Some(libc::SIGKILL));
        assert_eq!(io::Read::read(&mut output, &mut [0]).expect("a pipe"), 0, "it is still open");
        assert!(begun.elapsed() < Duration::from_secs(30), "its child slept to the end");
    }
}
