//! `laneway lab down`: removes a lab, or what is left of one.

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::counted;
use laneway_lab::{LabName, Removed, down};

use super::{failure, lab_arg, lab_name};
use crate::failure::{Exit, Failure};

pub fn command() -> Command {
    Command::new("down")
        .about("Removes a lab, or what is left of one")
        .after_help(
            "Finds namespaces, processes and files by the lab's name, also after a crash.\n\n\
             Examples:\n  laneway lab down\n  laneway lab down --lab two\n  laneway lab down --all",
        )
        .arg(lab_arg())
        .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("Every lab there is"))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let labs = match matches.get_flag("all") {
        true => LabName::all(),
        false => vec![lab_name(matches)?],
    };
    let mut ended = Ok(Exit::Done);
    for lab in labs {
        let name = lab.as_str();
        match down(&lab) {
            Ok(Removed { namespaces, processes, .. }) => {
                let namespaces = counted(namespaces as u64, "namespace");
                let processes = counted(processes as u64, "process");
                eprintln!("{name}: {namespaces} and {processes} removed");
            }
            Err(error) => ended = ended.and(Err(failure(error))),
        }
    }
    ended
}
