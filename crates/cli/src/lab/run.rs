//! `laneway lab run`: a command on the first host of a lab, with what MPI libraries need.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use laneway_lab::{Done, LabName, Plan, Run, read_plan};

use crate::failure::{Exit, Failure};
use crate::links::RecordFile;

use super::fault::{read_timetable, timetable_arg};
use super::stop::on_signal;
use super::{failure, lab_arg, lab_name, record, site, up};

pub fn command() -> Command {
    Command::new("run")
        .about("Runs a command on the first host of a lab; launchers find the other hosts")
        .after_help(
            "With --sites or --platform a lab is built for this run and removed after it; else \
             the existing lab is used. Open MPI, MPICH and Intel MPI start one rank on each host \
             of the lab and communicate over TCP only; environment variables that are already \
             set are kept. The exit code is the command's.\n\nExamples:\n  \
             laneway lab run --sites 2x8 --wan 5ms,25Mbit,100Mbit -- mpirun -n 16 ./program\n  \
             laneway lab run --sites 2x4 --wan 20ms --record links.svg -- mpirun -n 8 ./program\n  \
             laneway lab run --host s1n0 -- ping -c 3 s0n0\n  \
             laneway lab run --timetable faults.txt -- mpirun -n 8 ./program\n  \
             laneway lab run --sites 1x5 --cards 2 -- laneway check --backend net",
        )
        .arg(lab_arg())
        .args(site::args())
        .arg(
            Arg::new("host")
                .long("host")
                .value_name("HOST")
                .help("Where it runs [default: the first]"),
        )
        .arg(
            Arg::new("record")
                .long("record")
                .value_name("FILE")
                .help("Write the rate of every link over time: .json, .csv, .svg or .html"),
        )
        .arg(record::every_arg())
        .arg(timetable_arg())
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .required(true)
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true),
        )
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let file = matches.get_one::<String>("record");
    let file = file.map(|file| RecordFile::from(file)).transpose()?;
    let every = record::every(matches)?;
    let (lab, plan, stands) = find(matches)?;
    let host = host(matches, &plan)?;
    let timetable = read_timetable(matches, &lab, &plan)?;
    let words: Vec<String> = matches.get_many("command").unwrap_or_default().cloned().collect();
    let Some((program, arguments)) = words.split_first() else {
        return Err(Failure::usage("no command is named", "", "laneway lab run -- hostname"));
    };
    let (every, timetable) = (file.as_ref().map(|_| every), timetable.as_ref());
    let run = Run { host: &host, program, arguments, every, timetable };
    // Who is interrupted ends the faults of its timetable first; the command is, too.
    let stop = on_signal(&[libc::SIGINT]);
    let guard = match stands {
        true => None,
        false => Some(up::build(matches, &lab, &plan)?.0),
    };
    // Faults are reported while they happen.
    let ended = run.run(&lab, &plan, stop, |done: &Done| {
        eprintln!("fault: {:.6} s {} {}", done.done, done.part, done.fault);
    });
    if let Some(guard) = guard {
        guard.remove().map_err(failure)?;
    }
    let ended = ended.map_err(failure)?;
    if let (Some(file), Some(links)) = (file, ended.links) {
        record::save(&file, &lab, links)?;
    }
    std::process::exit(ended.code)
}

/// The lab of this run: one that stands, or one to be built for it.
fn find(matches: &ArgMatches) -> Result<(LabName, Plan, bool), Failure> {
    let named = matches.value_source("lab") == Some(ValueSource::CommandLine);
    if named && ["platform", "sites"].iter().any(|name| matches.contains_id(name)) {
        let cause = "a lab for one run has a name of its own";
        return Err(Failure::usage(
            "--lab names an existing lab",
            cause,
            "the same command without --lab",
        ));
    }
    let Some(plan) = site::plan(matches)? else {
        let lab = lab_name(matches)?;
        let plan = read_plan(&lab).map_err(failure)?;
        return Ok((lab, plan, true));
    };
    let lab = LabName::new(&format!("run-{}", std::process::id())).map_err(failure)?;
    Ok((lab, plan, false))
}

/// Where the command runs.
fn host(matches: &ArgMatches, plan: &Plan) -> Result<String, Failure> {
    // A plan has a host.
    let (first, last) = (&plan.hosts[0].name, &plan.hosts[plan.hosts.len() - 1].name);
    let host = matches.get_one::<String>("host").unwrap_or(first);
    if plan.host(host).is_none() {
        let (what, cause) =
            (format!("unknown host `{host}` in this lab"), format!("{first} to {last}"));
        return Err(Failure::usage(what, format!("its hosts are {cause}"), "laneway lab status"));
    }
    Ok(host.clone())
}
