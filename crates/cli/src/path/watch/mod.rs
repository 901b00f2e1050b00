//! `laneway path watch`: the paths and connections of programs that run, in the terminal and as
//! Prometheus text in a file.

mod screen;

use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_connections::watch::{Rows, Snapshot, Sums, metrics, snapshot};
use laneway_core::{Document, Row};
use laneway_draw::Format;
use laneway_report::table::{Style, render_as};
use laneway_sim::platform::parse_time;

use super::processes::{no_control, no_process, pid, pid_arg};
use crate::failure::{Exit, Failure};
use crate::lab::stop::on_signal;
use crate::output::{self, Output};

/// Between two looks, in seconds: from, to.
const EVERY: [f64; 2] = [0.01, 3600.0];
/// A signal is heard after so long at most.
const SLICE: Duration = Duration::from_millis(50);

pub fn command() -> Command {
    Command::new("watch")
        .about("Shows the paths and connections of running programs, live")
        .after_help(
            "Lists every program of this user on this machine whose connections have several \
             paths (`path serve`, `path drill`, ranks of `--backend net`, programs with a \
             `Service` of laneway-connections), until Ctrl-C. For each path: whether it has a \
             carrier, whether it is drained, the connections that use it, and its traffic. For \
             each connection: the state of its queue pair and of its migration (ARMED: the \
             alternate path can take over), waiting messages, migrations, retransmitted packets \
             and the round trip. More than 32 connections of a program are grouped by peer or \
             state.\n\n\
             With --prometheus the file is rewritten at every update, and nothing is printed if \
             standard output is not a terminal. It has metrics of each process, and \
             laneway_path_host_... of all of them, with histograms of round trips and stalls. \
             Programs have their control sockets in $LANEWAY_CONTROL_DIR, or in \
             /tmp/laneway-UID.\n\n\
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
            .help("The time between two updates"),
        Arg::new("once")
            .long("once")
            .action(ArgAction::SetTrue)
            .help("Print the current state once and exit"),
        Arg::new("all")
            .long("all")
            .action(ArgAction::SetTrue)
            .help("One row for each connection, however many there are"),
        Arg::new("prometheus")
            .long("prometheus")
            .value_name("FILE")
            .help("Write metrics to FILE in the text format of Prometheus"),
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
        let cause = "it is a time with its unit, from 10ms to 3600s";
        Failure::usage(format!("invalid time `{every}` between updates"), cause, "--every 1s")
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
        let look = snapshot(self.pid).map_err(no_control)?;
        self.save(&look, &mut Sums::new())?;
        if look.seen.is_empty() {
            return Err(match look.silent.first() {
                None => no_process(self.pid),
                Some(why) => {
                    let cause = "it is stopped, or runs another version";
                    Failure::environment(why.clone(), cause, "laneway path watch")
                }
            });
        }
        self.print(&Rows::new(&look, None, self.lists_all))?;
        look.silent.iter().for_each(|why| output::note(why));
        Ok(Exit::Done)
    }

    fn save(&self, look: &Snapshot, sums: &mut Sums) -> Result<(), Failure> {
        sums.add(look);
        self.file.map_or(Ok(()), |file| output::replace(file, &metrics(look, sums)))
    }

    fn print(&self, rows: &Rows) -> Result<(), Failure> {
        let document = document(all_rows(rows), Some(rows.summary.clone()));
        if self.output.format != Format::Table {
            return self.output.write(&document, None);
        }
        self.output.save(&document)?;
        output::print(&tables(rows))
    }

    fn live(&self, every: Duration, over: &AtomicBool) -> Result<Exit, Failure> {
        let terminal = stdout().is_terminal() && self.output.format == Format::Table;
        let mut before: Option<(Snapshot, Instant)> = None;
        let (mut was_there, mut sums) = (false, Sums::new());
        while !over.load(Ordering::Acquire) && output::is_heard() {
            let (look, at) = (snapshot(self.pid).map_err(no_control)?, Instant::now());
            self.save(&look, &mut sums)?;
            let is_there = !look.seen.is_empty() || !look.silent.is_empty();
            if self.pid.is_some() && !is_there {
                // The one process that was watched has ended.
                return if was_there { Ok(Exit::Done) } else { Err(no_process(self.pid)) };
            }
            was_there |= is_there;
            let passed = before.as_ref().map(|(look, then)| (look, (at - *then).as_secs_f64()));
            let rows = Rows::new(&look, passed, self.lists_all);
            if terminal {
                self.output.save(&document(all_rows(&rows), Some(rows.summary.clone())))?;
                output::print(&screen::draw(&(tables(&rows) + &below(&look))))?;
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

/// All rows, which tell by `what` which they are.
fn all_rows(rows: &Rows) -> Vec<Row> {
    rows.paths.iter().chain(&rows.connections).cloned().collect()
}

fn document(rows: Vec<Row>, summary: Option<Row>) -> Document {
    Document { verb: "path", env: Row::new(), params: Row::new(), rows, summary }
}

/// For a person: a table of the paths, and one of the connections.
fn tables(rows: &Rows) -> String {
    let paths = document(rows.brief_paths(), None);
    let connections = document(rows.brief_connections(), None);
    let gap = if rows.paths.is_empty() { "" } else { "\n" };
    // A column that comes and goes would make a table that is shown again and again hard to read.
    let width = Some(screen::columns());
    let style = Style { width, all_columns: true, ..Style::default() };
    let [paths, connections] = [paths, connections].map(|rows| render_as(&rows, &style));
    let below = if rows.connections.is_empty() { "" } else { "\n" };
    format!("{paths}{gap}{connections}{below}{}\n", rows.sentence)
}

/// What stands under the tables of a terminal.
fn below(look: &Snapshot) -> String {
    let mut text: String = look.silent.iter().map(|why| format!("{why}\n")).collect();
    if look.seen.is_empty() {
        text += "\nno process with paths is running; Ctrl-C to quit\n";
    }
    text
}
