//! The command that starts a rank: this program again or another one, on this host or on another.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::str::FromStr;

use laneway_processes::{Mask, Program, prepare_child};

use crate::attach::MARKER;
use crate::error::RanksError;
use crate::hosts::Host;

/// Names the program that takes the place of ssh, with its options.
const SSH: &str = "LANEWAY_SSH";

/// What starts processes on other hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Starter {
    /// ssh, or what `LANEWAY_SSH` names.
    #[default]
    Ssh,
    /// Slurm's, within an allocation.
    Srun,
}

impl Starter {
    /// The words for all of them.
    pub const NAMES: [&'static str; 2] = ["ssh", "srun"];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Starter::Ssh => "ssh",
            Starter::Srun => "srun",
        }
    }

    /// The program and its words before the shell's command line.
    fn words(self, host: &str) -> Vec<OsString> {
        let plain = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<OsString>>();
        match self {
            Starter::Ssh => {
                let chosen = std::env::var(SSH).unwrap_or_default();
                let mut words: Vec<&str> = chosen.split_whitespace().collect();
                if words.is_empty() {
                    // Never a question, which the user would not see: its input is the rank's.
                    words = vec!["ssh", "-oBatchMode=yes", "-oConnectTimeout=20"];
                }
                words.push(host);
                plain(&words)
            }
            Starter::Srun => plain(&[
                "srun",
                "--nodes=1",
                "--ntasks=1",
                "--overlap",
                "--nodelist",
                host,
                "--",
                "/bin/sh",
                "-c",
            ]),
        }
    }
}

impl FromStr for Starter {
    type Err = ();

    fn from_str(word: &str) -> Result<Starter, ()> {
        [Starter::Ssh, Starter::Srun].into_iter().find(|one| one.name() == word).ok_or(())
    }
}

/// What starts a rank on a host, and its name for people.
pub(crate) fn command(
    program: &Program,
    host: &Host,
    starter: Starter,
    mask: Mask,
) -> Result<(Command, String), RanksError> {
    let here = host.is_here();
    let mut command = match here {
        true => on_this_host(program),
        false => on_another(program, &host.name, starter)?,
    };
    let program = match here {
        true => "this host".to_string(),
        false => command.get_program().to_string_lossy().into_owned(),
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    // SAFETY: the closure runs between fork and exec and makes only async-signal-safe calls.
    unsafe { command.pre_exec(move || prepare_child(&mask)) };
    Ok((command, program))
}

fn on_this_host(program: &Program) -> Command {
    let mut command = program.command();
    command.env(MARKER, "1");
    command
}

fn on_another(program: &Program, host: &str, starter: Starter) -> Result<Command, RanksError> {
    let words = starter.words(host);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(shell_line(program)?);
    Ok(command)
}

/// The program with its arguments in the same folder, and the variables that concern it.
fn shell_line(program: &Program) -> Result<OsString, RanksError> {
    let failed = |error: io::Error| RanksError::system("name this program and its folder", error);
    let file = program.file().map_err(failed)?;
    let folder = std::env::current_dir().map_err(failed)?;
    let mut line = b"cd ".to_vec();
    line.extend(quoted(folder.as_os_str()));
    line.extend(format!(" && exec env {MARKER}=1").into_bytes());
    let own = |name: &OsStr| name.as_bytes().starts_with(b"LANEWAY_") && name != SSH;
    let inherited = std::env::vars_os().filter(|(name, _)| own(name));
    let set = program.variables().map(|(name, value)| (name.to_owned(), value.to_owned()));
    for (name, value) in inherited.chain(set) {
        let pair = [name.as_bytes(), b"=", value.as_bytes()].concat();
        line.push(b' ');
        line.extend(quoted(OsStr::from_bytes(&pair)));
    }
    for word in std::iter::once(file.as_os_str()).chain(program.arguments()) {
        line.push(b' ');
        line.extend(quoted(word));
    }
    Ok(OsStr::from_bytes(&line).to_os_string())
}

/// As a shell takes it for one word, whatever is in it.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = vec![b'\''];
    for &byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend(b"'\\''"),
            other => text.push(other),
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A real shell reads what was quoted.
    #[test]
    fn a_shell_takes_a_quoted_word_for_what_it_is() {
        for word in ["plain", "", "two words", "it's", "$HOME `id` \\ \"x\"", "a\nb", "*;&|<>"] {
            let line = [b"printf %s ", &quoted(OsStr::new(word))[..]].concat();
            let said = Command::new("/bin/sh").arg("-c").arg(OsStr::from_bytes(&line)).output();
            assert_eq!(String::from_utf8_lossy(&said.expect("a shell").stdout), word);
        }
    }

    #[test]
    fn starters_have_names() {
        for name in Starter::NAMES {
            assert_eq!(name.parse().map(Starter::name), Ok(name));
        }
        assert_eq!("rsh".parse::<Starter>(), Err(()));
        let words = Starter::Srun.words("node7");
        assert!(
            words.iter().any(|word| word == "node7") && words.last().is_some_and(|w| w == "-c")
        );
    }
}
