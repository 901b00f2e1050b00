//! `laneway topo watch`: sees a cut that OpenSM's file engine does not react to, routes around it
//! and has the tables loaded.

use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::Row;
use laneway_processes::shell;
use laneway_topo::files::formats::{Discovered, MOST_BYTES};
use laneway_topo::operations::watch::read;
use laneway_topo::{Rerouted, Watch};

use super::export;
use super::machine::{self, discovered, option};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::time::Time;
use crate::words;

/// A command that takes longer is stopped.
const LONGEST: Duration = Duration::from_secs(120);

pub fn command() -> Command {
    Command::new("watch")
        .about("Re-routes when the fabric changes, and has OpenSM load the new tables")
        .after_help(
            "The fabric is discovered repeatedly, and compared with the topology that it is \
             recognised as. Each change is one line, with its time, what was lost or restored, how \
             many entries changed, and whether OpenSM has loaded them. If cables are gone, the \
             tables keep every entry \
             that still works and lead around the rest; if parts are new, the fabric is routed \
             from scratch, with its topology's own forwarding if it is a known one. A change \
             counts once two discoveries show it. OpenSM runs with -R file -U FILE and reads FILE \
             again when --reload tells it to; tables with a credit loop are written and never \
             loaded. Addresses are the discovered ones. Hosts that have lost their cable are \
             named, and their pairs are `unreached`. With --once, the exit code is 1 if a pair is \
             unreached or there is a credit loop.\n\n\
             Examples:\n  \
             laneway topo watch -o tables.lft --reload 'kill -HUP $(pidof opensm)'\n  \
             laneway topo watch -o tables.lft --every 5s --discover 'ibnetdiscover -C mlx5_1'\n  \
             laneway topo watch --whole found.txt -o tables.lft --once",
        )
        .arg(option("whole", "FOUND", "The whole fabric [default: what is discovered first]"))
        .arg(
            option("discover", "COMMAND", "Command that prints the fabric")
                .default_value("ibnetdiscover"),
        )
        .arg(export::file_arg().required(true).help("Where to write the tables"))
        .arg(option("reload", "COMMAND", "Command that makes OpenSM read them again"))
        .arg(
            option("every", "TIME", "Time between discoveries: 5s, 1min; seconds without a unit")
                .default_value("10s"),
        )
        .arg(Arg::new("once").long("once").action(ArgAction::SetTrue).help("Discover once and end"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let once = matches.get_flag("once");
    let every = every(text("every").unwrap_or("10s"))?;
    let output = Output::from(matches)?;
    let (file, reload) = (text("output").unwrap_or_default(), text("reload"));
    let whole = text("whole").map(discovered).transpose()?;
    let mut watch = Watch::observed(whole, Bar::working())?;
    let mut see = |now: &Discovered| -> Result<Exit, Failure> {
        let Some(rerouted) = watch.update(now)? else { return Ok(Exit::Done) };
        act(&rerouted, file, reload, &output)?;
        let exit = machine::exit(rerouted.holds());
        watch.installed(rerouted);
        Ok(exit)
    };
    let (mut before, mut said) = (None, String::new());
    loop {
        let exit = discover(text("discover").unwrap_or_default()).and_then(|now| {
            // Half of a fabric may be seen while it changes or OpenSM sweeps.
            let is_certain = once || before.as_ref() == Some(&now);
            let exit = if is_certain { see(&now) } else { Ok(Exit::Done) };
            before = Some(now);
            exit
        });
        match exit {
            exit if once => return exit,
            Ok(_) => said.clear(),
            // Whatever it is, a full disk or a command that fails, it may be over at the next look.
            Err(failure) => {
                let text = failure.brief();
                if said != text {
                    output::note(&format!("{} {text}", Time::now().clock()));
                    said = text;
                }
            }
        }
        std::thread::sleep(every);
    }
}

fn discover(command: &str) -> Result<Discovered, Failure> {
    let printed = shell::output(command, LONGEST, MOST_BYTES);
    let text = printed.map_err(|error| failed(command, error))?;
    read(&text).map_err(|error| {
        let what = format!("`{command}` printed no fabric");
        Failure::environment(what, error.to_string(), "--discover ibnetdiscover")
    })
}

/// Says what has changed, writes the tables, and has them loaded.
fn act(
    rerouted: &Rerouted,
    file: &str,
    reload: Option<&str>,
    output: &Output,
) -> Result<(), Failure> {
    machine::notes(rerouted.findings());
    output::replace(Path::new(file), &rerouted.text)?;
    let reload = reload.filter(|_| rerouted.is_loadable());
    if let Some(command) = reload {
        shell::run(command, LONGEST).map_err(|error| failed(command, error))?;
    }
    let (params, time) = (Row::new().with("file", file), Time::now());
    let mut row = Row::new().with("time", time.whole());
    row.0.extend(rerouted.row(file, reload.is_some()).0);
    let document = machine::document(params, vec![row], None);
    let line = format!("{} {}", time.clock(), rerouted.line(reload.is_some()));
    // One line for each change, however long it is.
    output.write_line(&document, &line)
}

/// The time between two discoveries.
fn every(text: &str) -> Result<Duration, Failure> {
    let seconds = words::seconds("every", text)?;
    if (0.1..=86_400.0).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let what = format!("cannot discover every {text}");
    Err(Failure::usage(what, "the time is from 100ms to 24h", "--every 10s"))
}

fn failed(command: &str, error: std::io::Error) -> Failure {
    let what = format!("`{command}` failed");
    Failure::environment(what, error.to_string(), "run it in a shell to see why")
}
