//! What a lab starts of this command itself: not for people.

use std::os::unix::process::CommandExt;

use clap::{Arg, ArgMatches, Command};
use laneway_lab::{command, wan, watch};

use super::{failure, lab_arg, lab_name};
use crate::failure::{Exit, Failure};

/// What launchers take for ssh: a host, then a command for a shell.
pub fn enter_command() -> Command {
    Command::new("enter")
        .hide(true)
        .about("Runs a shell command on a host of a lab, as ssh would")
        .arg(lab_arg())
        .arg(Arg::new("words").num_args(1..).trailing_var_arg(true).allow_hyphen_values(true))
}

pub fn enter(matches: &ArgMatches) -> Result<Exit, Failure> {
    let lab = lab_name(matches)?;
    let words: Vec<&String> = matches.get_many("words").unwrap_or_default().collect();
    // Options of ssh before the host mean nothing here.
    let mut words = words.into_iter().map(String::as_str).skip_while(|word| word.starts_with('-'));
    let Some(host) = words.next() else {
        return Err(Failure::usage("no host is named", "", "laneway lab enter HOST COMMAND"));
    };
    let line: Vec<&str> = words.collect();
    let mut shell = command(&lab, host, "/bin/sh").map_err(failure)?;
    let error = shell.arg("-c").arg(line.join(" ")).exec();
    Err(Failure::environment(format!("cannot enter {host}"), error.to_string(), ""))
}

/// Removes the lab when its owner is gone.
pub fn guard_command() -> Command {
    Command::new("guard").hide(true).about("Removes a lab when its owner is gone").arg(lab_arg())
}

pub fn guard(matches: &ArgMatches) -> Result<Exit, Failure> {
    watch(&lab_name(matches)?).map_err(failure)?;
    Ok(Exit::Done)
}

/// Is the WAN of a lab.
pub fn wan_command() -> Command {
    Command::new("wan")
        .hide(true)
        .about("Carries packets between the sites of a lab")
        .arg(lab_arg())
}

pub fn wan(matches: &ArgMatches) -> Result<Exit, Failure> {
    wan::run(&lab_name(matches)?).map_err(failure)?;
    Ok(Exit::Done)
}
