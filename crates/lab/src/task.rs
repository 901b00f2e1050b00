//! Processes that a lab needs beside the program: its guard, its WAN, and what launchers take for
//! ssh. The program is started again for each, and [`serve`] does the task there.

use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::enter::command;
use crate::error::LabError;
use crate::guard::{OTHER_VERSION, watch};
use crate::name::LabName;
use crate::wan;

/// Holds the task, the version of who gives it, and the lab.
const TASK: &str = "LANEWAY_LAB_TASK";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a process does for a lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Removes the lab when its owner is gone.
    Guard,
    /// Carries packets between the sites.
    Wan,
    /// Runs a shell command on a host, as ssh would.
    Enter,
}

impl Task {
    const ALL: [Task; 3] = [Task::Guard, Task::Wan, Task::Enter];

    fn name(self) -> &'static str {
        match self {
            Task::Guard => "guard",
            Task::Wan => "wan",
            Task::Enter => "enter",
        }
    }

    /// What the variable holds.
    fn word(self, lab: &LabName) -> String {
        format!("{} {VERSION} {}", self.name(), lab.as_str())
    }

    /// A program that calls [`serve`], with this task.
    pub fn command(self, lab: &LabName, program: &Path) -> Result<Command, LabError> {
        refuse_unserved()?;
        let mut command = Command::new(program);
        command.env(TASK, self.word(lab)).current_dir("/");
        Ok(command)
    }

    /// A line for a shell that starts a program with this task.
    pub fn shell_line(self, lab: &LabName, program: &Path) -> String {
        let quoted = program.display().to_string().replace('\'', r"'\''");
        format!("{TASK}='{}' exec '{quoted}' \"$@\"", self.word(lab))
    }
}

/// A program that was started with a task and does not serve it would start itself again.
fn refuse_unserved() -> Result<(), LabError> {
    match std::env::var_os(TASK) {
        None => Ok(()),
        Some(_) => Err(LabError::NotServed { program: this_program()?.display().to_string() }),
    }
}

/// The file of this program, which is also the guard, the WAN and the ssh of its labs if it calls
/// [`serve`].
pub fn this_program() -> Result<PathBuf, LabError> {
    std::env::current_exe().map_err(|error| LabError::system("finding this program's file", error))
}

/// Does the task that this process was started for by a lab; `None` in any other process, which
/// goes on with its own work. A program that builds labs calls this first in `main`, before it
/// starts a thread, and ends when there was a task:
///
/// ```
/// fn main() -> Result<(), laneway_lab::LabError> {
///     if let Some(done) = laneway_lab::serve() {
///         return done;
///     }
///     // What the program is for.
///     Ok(())
/// }
/// ```
///
/// A task of another version of this crate is refused.
pub fn serve() -> Option<Result<(), LabError>> {
    let word = std::env::var(TASK).ok()?;
    // SAFETY: no other thread runs yet, as the documentation demands. Children have no task.
    unsafe { std::env::remove_var(TASK) };
    Some(parse(&word).and_then(|(task, lab)| perform(task, &lab)))
}

fn parse(word: &str) -> Result<(Task, LabName), LabError> {
    let parts: Vec<&str> = word.split(' ').collect();
    let task = Task::ALL.into_iter().find(|task| Some(&task.name()) == parts.first());
    let (Some(task), [_, version, lab]) = (task, &parts[..]) else {
        return Err(LabError::Name(format!("{TASK} is {word:?}")));
    };
    if *version != VERSION {
        if task == Task::Guard {
            // The owner waits for one byte; one that is gone does not read.
            _ = std::io::stdout().write_all(&[OTHER_VERSION]);
        }
        return Err(LabError::Version { own: VERSION.into(), other: (*version).to_string() });
    }
    Ok((task, LabName::new(lab)?))
}

fn perform(task: Task, lab: &LabName) -> Result<(), LabError> {
    match task {
        Task::Guard => watch(lab).map(|_| ()),
        Task::Wan => wan::run(lab),
        Task::Enter => enter(lab),
    }
}

/// A host, then a command for a shell. Options of ssh before the host mean nothing here.
fn enter(lab: &LabName) -> Result<(), LabError> {
    let words = std::env::args().skip(1);
    let mut words = words.skip_while(|word| word.starts_with('-'));
    let no_host = || LabError::system("entering a host: none is named", ErrorKind::NotFound.into());
    let host = words.next().ok_or_else(no_host)?;
    let line: Vec<String> = words.collect();
    let mut shell = command(lab, &host, "/bin/sh")?;
    let error = shell.arg("-c").arg(line.join(" ")).exec();
    Err(LabError::system(format!("entering {host}"), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_for_the_same_version() {
        let lab = LabName::new("mine").expect("a name");
        for task in Task::ALL {
            let (read, of) = parse(&task.word(&lab)).expect("a task");
            assert_eq!((read, of.as_str()), (task, "mine"));
        }
        let other = parse("wan 0.0.7 mine").map(|_| ()).expect_err("another version");
        assert!(other.to_string().contains("0.0.7"), "{other}");
        for word in ["", "wan", "bake 0.1.0 mine", "wan 0.1.0 mine more"] {
            assert!(parse(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_shell_takes_the_line() {
        let lab = LabName::new("mine").expect("a name");
        let line = Task::Enter.shell_line(&lab, Path::new("/bin/env"));
        let said = Command::new("/bin/sh").args(["-c", &line]).output().expect("a shell");
        let expected = format!("{TASK}=enter {VERSION} mine");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.lines().any(|line| line == expected), "{said}");
    }
}
