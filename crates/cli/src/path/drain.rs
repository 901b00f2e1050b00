//! `laneway path drain` and `laneway path undrain`: take a path of programs that run out of use by
//! hand, and give it back.

use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_net::NetError;
use laneway_net::control::{self, Answered, Change};

use super::processes::{LIMIT, find, look, nobody, pid, pid_arg};
use crate::output::{self, Output};

/// Connections that have no other path ready get one within this time, or stay.
const MOVES: Duration = Duration::from_secs(2);
const LOOKS: Duration = Duration::from_millis(20);
/// No device and no address is longer.
const LONGEST: usize = 64;

fn with_args(command: Command) -> Command {
    let path = Arg::new("path")
        .value_name("PATH")
        .required(true)
        .help("The path: its device, eth0/2, its address, or its number in a program");
    command.arg(path).arg(pid_arg()).args(output::args())
}

pub fn command() -> Command {
    let command = Command::new("drain")
        .about("Takes the traffic of programs that run off a path, and keeps it off")
        .after_help(
            "Every connection moves to its other path with its messages; nothing is lost. The \
             path stays unused, also by later connections, until `laneway path undrain`. Both \
             ends of a connection move when one is asked. A connection that has no other path \
             that works stays, and moves as soon as it has one; then the exit code is 1. Programs \
             are those of this user on this machine, as `laneway path watch` shows them.\n\n\
             Examples:\n  \
             laneway path drain eth0\n  \
             laneway path drain 10.0.0.1 --pid 4711\n  \
             laneway path undrain eth0",
        );
    with_args(command)
}

pub fn undrain_command() -> Command {
    let command =
        Command::new("undrain").about("Lets programs that run use a path again").after_help(
            "Connections load the path as their alternate one again; they do not move back to it \
             by themselves, unless the program prefers it.\n\n\
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
        return Err(Failure::usage(format!("no path `{word}`"), cause, "laneway path drain eth0"));
    }
    let asked = ask(word, pid(matches), drains)?;
    let mut last = asked.changed.clone();
    let begun = Instant::now();
    while drains && stay(&last) > 0 && begun.elapsed() < MOVES {
        std::thread::sleep(LOOKS);
        // Who has ended meanwhile has nothing left to move.
        last = ask(word, pid(matches), drains).map(|again| again.changed).unwrap_or_default();
    }
    let rows: Vec<Row> = asked.changed.iter().map(|changed| changed.row(&last, drains)).collect();
    let sum = |before: fn(&Change) -> u64, of: &[Changed]| -> u64 {
        of.iter().map(|changed| before(&changed.change)).sum()
    };
    let summary = Row::new().with("paths", rows.len() as u64);
    let summary = match drains {
        true => {
            let had = sum(|change| change.primary_before, &asked.changed);
            summary.with("moved", had.saturating_sub(stay(&last))).with("stay", stay(&last))
        }
        false => summary.with("alternate", sum(|change| change.alternate_after, &asked.changed)),
    };
    let params = Row::new().with("path", word).with("drains", drains);
    let (env, summary) = (Row::new(), Some(summary));
    output.write(&Document { verb: "path", env, params, rows, summary }, None)?;
    asked.silent.iter().for_each(|why| output::note(why));
    if !asked.silent.is_empty() {
        return Ok(Exit::Environment);
    }
    if drains && stay(&last) > 0 {
        output::note("some connections stay: they have no other path that works, and move when");
        output::note("they have one (laneway path watch --once shows them)");
        return Ok(Exit::Gate);
    }
    Ok(Exit::Done)
}

/// A path of a service that was changed.
#[derive(Clone)]
struct Changed {
    pid: u32,
    service: u32,
    change: Change,
}

impl Changed {
    /// With what became of it in the end.
    fn row(&self, last: &[Changed], drains: bool) -> Row {
        let Change { number, name, primary_before, alternate_after, .. } = &self.change;
        let row = Row::new()
            .with("pid", self.pid)
            .with("service", self.service)
            .with("path", name.as_str())
            .with("number", u32::from(*number))
            .with("connections", *primary_before);
        if !drains {
            return row.with("alternate", *alternate_after);
        }
        let key = |changed: &Changed| (changed.pid, changed.service, changed.change.number);
        let now = last.iter().find(|changed| key(changed) == key(self));
        let stay = now.map_or(0, |changed| changed.change.primary_after);
        row.with("moved", primary_before.saturating_sub(stay)).with("stay", stay)
    }
}

fn stay(changed: &[Changed]) -> u64 {
    changed.iter().map(|changed| changed.change.primary_after).sum()
}

struct Asked {
    changed: Vec<Changed>,
    /// Processes that did not answer.
    silent: Vec<String>,
}

fn ask(word: &str, pid: Option<u32>, drains: bool) -> Result<Asked, Failure> {
    let found = find(pid)?;
    if found.is_empty() {
        return Err(nobody(pid));
    }
    let answers = match drains {
        true => control::drain(found, word, LIMIT),
        false => control::undrain(found, word, LIMIT),
    };
    let (mut changed, mut silent) = (Vec::new(), Vec::new());
    for Answered { pid, service, answer } in answers {
        match answer {
            Ok(changes) => {
                changed.extend(changes.into_iter().map(|change| Changed { pid, service, change }));
            }
            // It has no path of this name, as the one of a loopback.
            Err(NetError::ControlRefused { .. }) => {}
            Err(error) => silent.push(error.to_string()),
        }
    }
    match (changed.is_empty(), silent.first()) {
        (true, Some(why)) => {
            let cause = "it is stopped, or of another version";
            Err(Failure::environment(why.clone(), cause, "laneway path watch --once"))
        }
        (true, None) => Err(no_such_path(word, pid)),
        _ => Ok(Asked { changed, silent }),
    }
}

fn no_such_path(word: &str, pid: Option<u32>) -> Failure {
    let seen = look(pid).map(|look| look.seen).unwrap_or_default();
    let paths = seen.iter().flat_map(|seen| &seen.status.paths);
    let mut names: Vec<String> = paths.map(|path| path.name()).collect();
    names.sort();
    names.dedup();
    let cause = format!("there are {}", names.join(", "));
    let try_this = "laneway path watch --once";
    Failure::environment(format!("no process has a path `{word}`"), cause, try_this)
}
