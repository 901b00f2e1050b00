//! `laneway topo diff`: which cables are not where they were planned.

use clap::{Arg, ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::ErrorKind;
use laneway_topo::machine::differ::compare;
use laneway_topo::machine::fabric_file;
use laneway_topo::{Fabric, topology};

use super::machine::{self, discovered};
use crate::advice::Advised;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("diff")
        .about("Names the wrong, missing and extra cables of a discovered fabric")
        .after_help(
            "If the found switches have the planned names, ports must be the planned ones too; \
             otherwise only the connections count. A host may have further words after its \
             planned name. Ports are numbered from 1. The exit code is 1 if something differs.\n\n\
             Examples:\n  \
             laneway topo diff mlfm:d=8 found.txt\n  \
             laneway topo diff plan.toml found.txt --format json",
        )
        .arg(Arg::new("plan").value_name("PLAN").required(true).help("mlfm:d=8, or a file"))
        .arg(Arg::new("found").value_name("FOUND").required(true).help("The discovered fabric"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let output = Output::from(matches)?;
    let plan = match fabric_file(text("plan")) {
        Some(_) => discovered(text("plan"))?.fabric,
        None => {
            let plan = topology(text("plan")).map_err(|error| match (error.kind, &error.hint) {
                (ErrorKind::Topology, Some(name)) => {
                    error.trying(format!("laneway topo diff {name} {}", text("found")))
                }
                _ => error.failure(),
            });
            Fabric::of(&*plan?)
        }
    };
    let found = discovered(text("found"))?;
    let compared = compare(&plan, &found.fabric)?;
    let params = Row::new().with("plan", text("plan")).with("found", text("found"));
    let (summary, answer) = (Some(compared.summary()), [compared.sentence()]);
    machine::write_list(&output, params, compared.rows(), summary, &answer)?;
    Ok(machine::exit(compared.differences.is_empty()))
}
