//! `laneway path drain` and `laneway path undrain`: take a path of programs that run out of use by
//! hand, and give it back.

use clap::{Arg, ArgMatches, Command};
use laneway_connections::watch;
use laneway_core::{Document, Row};

use super::processes::{pid, pid_arg};
use crate::advice::path::undrained;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

/// No device and no address is longer.
const LONGEST: usize = 64;

fn with_args(command: Command) -> Command {
    let path = Arg::new("path")
        .value_name("PATH")
        .required(true)
        .help("The path: a device (eth0, eth0/2), an address, or its number in a program");
    command.arg(path).arg(pid_arg()).args(output::args())
}

pub fn command() -> Command {
    let command = Command::new("drain")
        .about("Moves the traffic of running programs off a path, and keeps it off")
        .after_help(
            "Every connection moves to its other path with its messages; nothing is lost. The \
             path stays unused, by later connections too, until `laneway path undrain`. Both ends \
             of a connection move when one is drained. A connection without another working path \
             stays until it has one; then the exit code is 1. Affects the programs of this user \
             on this machine, as listed by `laneway path watch`.\n\n\
             Examples:\n  \
             laneway path drain eth0\n  \
             laneway path drain 10.0.0.1 --pid 4711\n  \
             laneway path undrain eth0",
        );
    with_args(command)
}

pub fn undrain_command() -> Command {
    let command =
        Command::new("undrain").about("Lets running programs use a path again").after_help(
            "The path becomes the alternate path of connections again. They do not move back to \
             it by themselves, unless the program asks for it.\n\n\
             Examples:\n  \
             laneway path undrain eth0\n  \
             laneway path undrain eth0 --pid 4711",
        );
    with_args(command)
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    change(matches, true)
}

pub fn undrain(matches: &ArgMatches) -> Result<Exit, Failure> {
    change(matches, false)
}

fn change(matches: &ArgMatches, drains: bool) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let word = matches.get_one::<String>("path").map_or("", String::as_str);
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if word.is_empty() || word.len() > LONGEST || word.contains(is_odd) {
        let cause = "a path is named by its device, its address or its number";
        return Err(Failure::usage(
            format!("unknown path `{word}`"),
            cause,
            "laneway path drain eth0",
        ));
    }
    let (pid, params) = (pid(matches), Row::new().with("path", word).with("drains", drains));
    let asked = if drains { watch::drain(word, pid) } else { watch::undrain(word, pid) };
    let asked = asked.map_err(|error| undrained(error, pid))?;
    let (env, rows, summary) = (Row::new(), asked.rows(), Some(asked.summary()));
    let document = Document { verb: "path", env, params, rows, summary };
    output.write_said(&document, None, &[asked.sentence()])?;
    asked.silent.iter().for_each(|why| output::note(why));
    if !asked.silent.is_empty() {
        return Ok(Exit::Environment);
    }
    if drains && asked.stay() > 0 {
        output::note("some connections stay: they have no other working path, and move when they");
        output::note("have one (laneway path watch --once lists them)");
        return Ok(Exit::Gate);
    }
    Ok(Exit::Done)
}
