//! `laneway topo import`: which topology a discovered fabric is.

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::{End, Wiring, recognise};

use super::diff::told;
use super::machine::discovered;
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("import")
        .about("Reads a discovered fabric and recognises which topology it is")
        .after_help(
            "Formats are told apart by content: netlists of ibnetdiscover and ibsim, TOML, lists \
             of cables, topology.conf, graphs of Graphviz, platforms of SimGrid. Names, GUIDs and \
             the order of ports do not matter. What differs from the topology is named.\n\n\
             Examples:\n  \
             ibnetdiscover > found.txt; laneway topo import found.txt\n  \
             laneway topo import found.txt --map    which part is which\n  \
             laneway topo import drawn.dot          graph { a -- b; a -- h1; b -- h2 }\n  \
             laneway topo import platform.xml       hosts, routers, links and routes",
        )
        .arg(Arg::new("file").value_name("FILE").required(true).help("The discovered fabric"))
        .arg(
            Arg::new("map")
                .long("map")
                .action(clap::ArgAction::SetTrue)
                .help("A row for each switch and host: what it is in the topology"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let file = matches.get_one::<String>("file").map_or("", String::as_str);
    let found = discovered(file)?;
    let fabric = &found.fabric;
    let recognised = recognise(fabric);
    if recognised.is_none() && matches.get_flag("map") {
        let cause = "the fabric is like none of the topologies that are known";
        return Err(Failure::usage(format!("no map of `{file}`"), cause, "leave --map out"));
    }
    let differences = recognised.as_ref().map_or(&[][..], |found| &found.differences);
    for difference in differences {
        output::note(&told(difference));
    }
    let ports = |switch| (0..fabric.ports(switch) as u8).map(move |port| fabric.end(switch, port));
    let ends = (0..fabric.switches()).flat_map(ports);
    let (mut to_hosts, mut between) = (0u64, 0u64);
    for end in ends {
        match end {
            End::Nothing => {}
            End::Host(_) => to_hosts += 1,
            End::Switch(..) => between += 1,
        }
    }
    let summary = Row::new()
        .with("file", file)
        .with("topology", recognised.as_ref().map(|found| found.plan.spec()))
        .with("switches", fabric.switches())
        .with("hosts", fabric.hosts())
        .with("cables", to_hosts + between / 2)
        .with("differences", recognised.as_ref().map(|found| found.differences.len() as u64));
    let mut rows = Vec::new();
    if let Some(recognised) = recognised.as_ref().filter(|_| matches.get_flag("map")) {
        let (map, plan) = (&recognised.map, &*recognised.plan);
        for (switch, planned) in map.switches.iter().enumerate() {
            let planned = planned.map(|planned| plan.switch_name(planned));
            rows.push(row("switch", &fabric.switch_name(switch as u32), planned));
        }
        for (host, planned) in map.hosts.iter().enumerate() {
            let planned = planned.map(|planned| plan.host_name(planned));
            rows.push(row("host", &fabric.host_name(host as u32), planned));
        }
    }
    let (rows, summary) =
        if rows.is_empty() { (vec![summary], None) } else { (rows, Some(summary)) };
    let params = Row::new().with("file", file);
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary }, None)?;
    Ok(Exit::Done)
}

fn row(kind: &str, found: &str, planned: Option<String>) -> Row {
    Row::new().with("kind", kind).with("found", found).with("planned", planned)
}
