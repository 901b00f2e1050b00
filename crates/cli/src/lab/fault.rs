//! `laneway lab fault`: breaks a lab, now or by a timetable.

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::{Document, Row};
use laneway_lab::{
    Done, KINDS, LabName, Plan, Timetable, carry_out, monotonic, parse_fault, read_plan,
};

use super::stop::on_signal;
use super::{failure, lab_arg, lab_name};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    let kinds: String =
        KINDS.iter().map(|kind| format!("  {}\n      {}\n", kind.usage, kind.effect)).collect();
    Command::new("fault")
        .about("Injects faults into a lab: links, the WAN, hosts; now or by a timetable")
        .after_help(format!(
            "Faults:\n{kinds}\n`for TIME` at the end undoes it after that time; otherwise it \
             stays until `--heal`. A timetable has a line for each fault, with the time first \
             (`1.5s drop s0n0 for 200ms`). Rows say when each was planned, begun and done, in \
             seconds of the machine's monotonic clock.\n\nExamples:\n  \
             laneway lab fault carrier s0n0 for 1s\n  \
             laneway lab fault drop s0n0:eth0 out\n  \
             laneway lab fault drop s0n0:eth0 out --heal\n  \
             laneway lab fault loss 'site0>site1' 1%\n  \
             laneway lab fault --timetable day.txt --export done.csv"
        ))
        .arg(lab_arg())
        .arg(
            Arg::new("words")
                .value_name("FAULT")
                .num_args(1..)
                .required_unless_present("timetable"),
        )
        .arg(
            Arg::new("heal")
                .long("heal")
                .action(ArgAction::SetTrue)
                .conflicts_with("timetable")
                .help("End this fault, which is in effect"),
        )
        .arg(timetable_arg().conflicts_with("words"))
        .args(output::args())
}

pub fn timetable_arg() -> Arg {
    Arg::new("timetable")
        .long("timetable")
        .value_name("FILE")
        .help("A file of faults with their times, counted from now")
}

/// Reads the timetable of a lab from the file that was named.
pub fn read_timetable(
    matches: &ArgMatches,
    lab: &LabName,
    plan: &Plan,
) -> Result<Option<Timetable>, Failure> {
    let Some(file) = matches.get_one::<String>("timetable") else { return Ok(None) };
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::environment(format!("cannot read `{file}`"), error.to_string(), "--timetable FILE")
    })?;
    Timetable::parse(&text, lab, plan).map(Some).map_err(failure)
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let lab = lab_name(matches)?;
    let plan = read_plan(&lab).map_err(failure)?;
    let mut done = Vec::new();
    let words: Vec<&String> = matches.get_many("words").unwrap_or_default().collect();
    let words = words.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    match read_timetable(matches, &lab, &plan)? {
        Some(table) => run_table(&table, &lab, &mut done)?,
        None => {
            let fault = parse_fault(&words, &lab, &plan).map_err(failure)?;
            if matches.get_flag("heal") && fault.end.is_empty() {
                let what = format!("`{}` cannot be undone", fault.words);
                return Err(Failure::usage(what, "", "laneway lab fault --help"));
            }
            if matches.get_flag("heal") {
                done.push(carry_out(&lab, &fault, false, monotonic()).map_err(failure)?);
            } else {
                let table = Timetable::now(fault).map_err(failure)?;
                run_table(&table, &lab, &mut done)?;
            }
        }
    }
    let rows = done.iter().map(row).collect();
    let params = Row::new().with("lab", lab.as_str());
    let env = Row::new();
    output.write(&Document { verb: "lab", env, params, rows, summary: None }, None)?;
    Ok(Exit::Done)
}

fn run_table(table: &Timetable, lab: &LabName, done: &mut Vec<Done>) -> Result<(), Failure> {
    // What has begun is ended, also where this command is stopped.
    let stop = on_signal(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP]);
    table.run(lab, stop, |one| done.push(one.clone())).map_err(failure)
}

/// One thing that was done, as a row.
pub fn row(done: &Done) -> Row {
    Row::new()
        .with("fault", done.fault.clone())
        .with("part", done.part)
        .with("planned_s", done.planned)
        .with("begun_s", done.begun)
        .with("done_s", done.done)
        .with("late_us", 1e6 * (done.done - done.planned))
}
