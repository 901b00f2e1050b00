//! `laneway topo new`: a fabric by formula, as a plan that can be changed by hand.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::cost::Parts;
use laneway_topo::formats;

use super::export::named;
use super::machine::{self, Machine};
use crate::output::{self, Output};

pub fn command() -> Command {
    // A fabric's file says nothing of its forwarding.
    let [topology, _, _, fail, fail_seed] = machine::args();
    Command::new("new")
        .about("Makes a fabric, says what it is, and writes it as a file")
        .after_help(
            "The file is TOML: switches, hosts and cables, to be changed by hand and taken by \
             every verb as --topology file:FABRIC.toml.\n\nExamples:\n  \
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
    let machine = Machine::unrouted(matches)?;
    let wiring = machine.wiring();
    let parts = Parts::of(wiring);
    if let Some(file) = matches.get_one::<String>("output") {
        output::replace(Path::new(file), &named(formats::toml::write(wiring))?)?;
    }
    let names = |count: u32, name: &dyn Fn(u32) -> String| match count {
        0 => String::new(),
        count => format!("{} to {}", name(0), name(count - 1)),
    };
    let row = Row::new()
        .with("topology", machine.spec.clone())
        .with("nodes", parts.hosts)
        .with("switches", parts.switches)
        .with("ports_used", parts.ports_used)
        .with("cables", parts.all_cables())
        .with("node_names", names(wiring.hosts(), &|host| wiring.host_name(host)))
        .with("switch_names", names(wiring.switches(), &|switch| wiring.switch_name(switch)));
    let params = Row::new().with("topology", machine.spec.clone());
    let env = Row::new();
    output.write(&Document { verb: "topo", env, params, rows: vec![row], summary: None }, None)?;
    Ok(Exit::Done)
}
