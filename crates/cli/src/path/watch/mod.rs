//! `laneway path watch`: the paths and connections of programs that run, in the terminal and as
//! Prometheus text in a file.

mod prometheus;
mod rows;
mod screen;

use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::{Exit, Failure};
use laneway_draw::Format;
use laneway_sim::platform::parse_time;

use super::processes::{Look, look, nobody, pid, pid_arg};
use crate::lab::stop::on_signal;
use crate::output::{self, Output};
use rows::Rows;

/// Between two looks, in seconds: from, to.
const EVERY: [f64; 2] = [0.01, 3600.0];
/// A signal is heard after so long at most.
const SLICE: Duration = Duration::from_millis(50);

pub fn command() -> Command {
    Command::new("watch")
        .about("The paths and connections of programs that run, live")
        .after_help(
            "Shows every program of this user on this machine that has connections with several \
             paths (`path serve`, `path drill`, ranks of `--backend net`, programs with a \
             `Service` of laneway-net), until Ctrl-C. A path has its carrier, whether it is \
             drained, the connections that use it, and what went over it. A connection has the \
             state of its queue pair and of its migration (ARMED: the alternate path can take \
             over), messages that wait, migrations, packets sent again and the round trip. More \
             than 32 connections of a program are summed up by their peers or their states.\n\n\
             With --prometheus the file is written anew at each look, and where standard output \
             is no terminal nothing is printed beside it. The sockets of programs are in \
             $LANEWAY_CONTROL_DIR, else in /tmp/laneway-UID.\n\n\
             Examples:\n  \
             laneway path watch\n  \
             laneway path watch --once --format json\n  \
             laneway path watch --pid 4711 --every 100ms\n  \
             laneway path watch --every 5s --prometheus /var/lib/node_exporter/laneway.prom",
        )
        .arg(pid_arg())
        .args(own_args())
        .args(output::args())
}

fn own_args() -> [Arg; 4] {
    [
        Arg::new("every")
            .long("every")
            .value_name("TIME")
            .default_value("1s")
            .help("Between two looks"),
        Arg::new("once").long("once").action(ArgAction::SetTrue).help("One look, then it is over"),
        Arg::new("all")
            .long("all")
            .action(ArgAction::SetTrue)
            .help("Every connection in its own row, however many there are"),
        Arg::new("prometheus")
            .long("prometheus")
            .value_name("FILE")
            .help("Write the metrics to FILE, in the text format of Prometheus"),
    ]
}

/// What was asked for.
struct Watch<'a> {
    output: Output,
    pid: Option<u32>,
    lists_all: bool,
    file: Option<&'a Path>,
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let every = matches.get_one::<String>("every").map_or("1s", String::as_str);
    let seconds = parse_time(every).ok().filter(|time| (EVERY[0]..=EVERY[1]).contains(time));
    let every = seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        let cause = "it is 10ms to 3600s, with its unit";
        Failure::usage(format!("no time `{every}` between two looks"), cause, "--every 1s")
    })?;
    let watch = Watch {
        output: Output::from(matches)?,
        pid: pid(matches),
        lists_all: matches.get_flag("all"),
        file: matches.get_one::<String>("prometheus").map(Path::new),
    };
    if matches.get_flag("once") {
        return watch.once();
    }
    watch.live(every, on_signal(&[libc::SIGINT, libc::SIGTERM]))
}

impl Watch<'_> {
    fn once(&self) -> Result<Exit, Failure> {
        let look = look(self.pid)?;
        self.save(&look)?;
        if look.seen.is_empty() {
            return Err(match look.silent.first() {
                None => nobody(self.pid),
                Some(why) => {
                    let cause = "it is stopped, or of another version";
                    Failure::environment(why.clone(), cause, "laneway path watch")
                }
            });
        }
        self.print(&Rows::new(&look, None, self.lists_all))?;
        look.silent.iter().for_each(|why| output::note(why));
        Ok(Exit::Done)
    }

    fn save(&self, look: &Look) -> Result<(), Failure> {
        self.file.map_or(Ok(()), |file| output::replace(file, &prometheus::text(look)))
    }

    fn print(&self, rows: &Rows) -> Result<(), Failure> {
        let document = rows.document();
        if self.output.format != Format::Table {
            return self.output.write(&document, None);
        }
        self.output.save(&document)?;
        output::print(&rows.tables())
    }

    fn live(&self, every: Duration, over: &AtomicBool) -> Result<Exit, Failure> {
        let terminal = stdout().is_terminal() && self.output.format == Format::Table;
        let mut before: Option<(Look, Instant)> = None;
        let mut was_there = false;
        while !over.load(Ordering::Acquire) && output::is_heard() {
            let (look, at) = (look(self.pid)?, Instant::now());
            self.save(&look)?;
            let is_there = !look.seen.is_empty() || !look.silent.is_empty();
            if self.pid.is_some() && !is_there {
                // The one process that was watched has ended.
                return if was_there { Ok(Exit::Done) } else { Err(nobody(self.pid)) };
            }
            was_there |= is_there;
            let passed = before.as_ref().map(|(look, then)| (look, (at - *then).as_secs_f64()));
            let rows = Rows::new(&look, passed, self.lists_all);
            if terminal {
                self.output.save(&rows.document())?;
                output::print(&screen::draw(&(rows.tables() + &below(&look))))?;
            } else if self.file.is_none() {
                self.print(&rows)?;
                look.silent.iter().for_each(|why| output::note(why));
            }
            before = Some((look, at));
            let next = at + every;
            while Instant::now() < next && !over.load(Ordering::Acquire) {
                std::thread::sleep(SLICE.min(next - Instant::now().min(next)));
            }
        }
        Ok(Exit::Done)
    }
}

/// What stands under the tables of a terminal.
fn below(look: &Look) -> String {
    let mut text: String = look.silent.iter().map(|why| format!("{why}\n")).collect();
    if look.seen.is_empty() {
        text += "\nno process with paths runs here now; Ctrl-C ends\n";
    }
    text
}
