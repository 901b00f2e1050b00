//! `laneway topo new`: a fabric by formula, as a plan that can be changed by hand.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::cost::Parts;
use laneway_topo::files::export::plan;

use super::machine;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

pub fn command() -> Command {
    // A fabric's file says nothing of its forwarding.
    let [topology, _, _, fail, fail_seed] = machine::args();
    Command::new("new")
        .about("Makes a fabric, says what it is, and writes it as a file")
        .after_help(
            "The file is TOML: switches, hosts and cables. It can be edited by hand, and every \
             verb reads it as --topology file:FABRIC.toml.\n\n\
             Examples:\n  \
             laneway topo new --topology mlfm:d=4\n  \
             laneway topo new --topology mlfm:p=36 -o fabric.toml\n  \
             laneway topo new --topology mlfm:d=4 --fail switch:edge-0-1 -o damaged.toml",
        )
        .args([topology, fail, fail_seed])
        .arg(Arg::new("output").short('o').value_name("FILE").help("Write the fabric, as TOML"))
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let machine = machine::unrouted(matches)?;
    if let Some(file) = matches.get_one::<String>("output") {
        output::replace(Path::new(file), &plan(&machine)?)?;
    }
    let parts = Parts::of(machine.wiring());
    let row = parts.row(&machine.spec, machine.wiring());
    let params = Row::new().with("topology", machine.spec.clone());
    let answer = [parts.sentence(&machine.spec)];
    machine::write_records(&output, params, vec![row], &answer)?;
    Ok(Exit::Done)
}
