//! `laneway topo alternates`: the primary and the alternate path of a connection that share least.

use clap::{Arg, ArgMatches, Command};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::alternates::{Address, NoPath, PathBetween, alternates, switches};
use laneway_topo::formats::Identity;
use laneway_topo::{Alternates, Hop, Host, Part, Wiring};

use super::check::why;
use super::export::Forwarding;
use super::machine::{self, Machine};
use crate::output::{self, Output};

/// Paths to each host where nothing says how many there are.
const PATHS: u32 = 4;

pub fn command() -> Command {
    Command::new("alternates")
        .about("Chooses a connection's primary and alternate path: the two that share least")
        .after_help(
            "A path is an address at either end, and the forwarding says which way it takes: out \
             by the address of TO, back by that of FROM. Of all paths between two machines, two \
             are chosen that share the fewest cables, of those the fewest switches, of those the \
             shortest, and have no address in common. The shorter one is the primary path.\n\n\
             A machine is its port, or its ports separated by commas; a name stands for all ports \
             NAME/1, NAME/2, … of an adapter. The cable and the switch of a machine with one port \
             belong to every path and are not counted.\n\n\
             `from_path_bits` and `to_path_bits` are what `VerbsPath` of laneway-net takes at \
             either end, both paths in this order at both ends; lids are the addresses that these \
             bits make, of --lids, the fabric's file, or `laneway topo export --as guid2lid`. Exit \
             code 1 where there is no alternate path, or no path at all.\n\n\
             Examples:\n  \
             laneway topo alternates -t mlfm:d=8 node0 node575\n  \
             laneway topo alternates -t fat-tree-3:d=4 --paths 2 node0 node63 --fail link\n  \
             laneway topo alternates -t fat-tree-2:d=4 --paths 1 node0,node4 node24,node28\n  \
             laneway topo alternates -t file:found.txt --routing lfts.txt nodeA nodeB",
        )
        .args(machine::args())
        .arg(machine::paths_arg().help(
            "Paths to each port, with an address each (LMC 0, 1, 2, …) [default: as many \
                     as the routing or the fabric's file tells, or 4]",
        ))
        .arg(machine_arg("near", "FROM", "The machine that opens the connection: port,port"))
        .arg(machine_arg("far", "TO", "The other one"))
        .args(output::args())
}

fn machine_arg(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(id).value_name(name).required(true).help(help)
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let machine = Machine::from(matches)?;
    let wiring = machine.wiring();
    let (near, far) = (ports(wiring, text("near"))?, ports(wiring, text("far"))?);
    let told = machine.identity().paths() > 1 || matches.contains_id("routing");
    let paths = text("paths").parse().ok().or((!told).then_some(PATHS));
    let own = Forwarding::of(&machine, matches, paths)?;
    let table = own.table(&machine);
    let names = |hosts: &[Host]| -> Vec<String> {
        hosts.iter().map(|&host| wiring.host_name(host)).collect()
    };
    let params = Row::new()
        .with("topology", machine.spec.clone())
        .with("from", names(&near).join(" "))
        .with("to", names(&far).join(" "))
        .with("paths", table.paths());
    let (rows, summary, exit) = match alternates(wiring, &table, &near, &far) {
        Ok(found) => {
            let exit = if found.alternate.is_some() { Exit::Done } else { Exit::Gate };
            (rows(wiring, &own.identity, &found), Some(summary(wiring, &found)), exit)
        }
        Err(NoPath::Lost(lost)) => {
            output::note(&format!("no path arrives: {}", why(wiring, lost)));
            (Vec::new(), None, Exit::Gate)
        }
        Err(NoPath::NoPort) => return Err(twice("a machine without a port")),
        Err(NoPath::Same(host)) => {
            let name = wiring.host_name(host);
            return Err(twice(&format!("{name} is a port of both machines")));
        }
    };
    if rows.len() == 1 {
        output::note(
            "there is no alternate path: one address at either end leaves one path; --paths 4, or \
             further ports",
        );
    }
    output.write(&Document { verb: "topo", env: Row::new(), params, rows, summary }, None)?;
    Ok(exit)
}

fn twice(cause: &str) -> Failure {
    Failure::usage("these are no two machines", cause, "laneway topo alternates … node0 node1")
}

/// The ports of a machine: those that are named, or all of an adapter.
fn ports(wiring: &dyn Wiring, list: &str) -> Result<Vec<Host>, Failure> {
    let hosts = || 0..wiring.hosts();
    let mut ports = Vec::new();
    for name in list.split(',') {
        let is_of = |host: &Host| {
            let port = wiring.host_name(*host);
            let port = port.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'));
            port.is_some_and(|port| port.parse::<u8>().is_ok())
        };
        let exact = hosts().find(|&host| wiring.host_name(host) == name);
        let found: Vec<Host> = match exact {
            Some(host) => vec![host],
            None => hosts().filter(is_of).collect(),
        };
        let known = |host: &Host| ports.contains(host);
        let cause = match found.first() {
            None => format!("the fabric has no host `{name}`"),
            Some(_) if found.iter().any(known) => format!("{name} is named twice"),
            Some(_) => {
                ports.extend(found);
                continue;
            }
        };
        let last = wiring.hosts().saturating_sub(1);
        let try_this = format!("{} {}", wiring.host_name(0), wiring.host_name(last));
        return Err(Failure::usage(format!("no machine `{list}`"), cause, try_this));
    }
    Ok(ports)
}

fn rows(wiring: &dyn Wiring, identity: &Identity, found: &Alternates) -> Vec<Row> {
    let lid = |address: &Address| {
        let own = identity.hosts.get(address.host as usize).map_or(0, |id| u32::from(id.lid));
        (own > 0).then_some(own + address.bits)
    };
    let way = |hops: &[Hop]| -> String {
        let names: Vec<String> = switches(hops).map(|switch| wiring.switch_name(switch)).collect();
        names.join(" ")
    };
    let row = |name: &str, path: &PathBetween| {
        Row::new()
            .with("path", name)
            .with("from", wiring.host_name(path.near.host))
            .with("from_path_bits", path.near.bits)
            .with("from_lid", lid(&path.near))
            .with("to", wiring.host_name(path.far.host))
            .with("to_path_bits", path.far.bits)
            .with("to_lid", lid(&path.far))
            .with("out", way(&path.out))
            .with("back", way(&path.back))
    };
    let alternate = found.alternate.iter().map(|path| row("alternate", path));
    std::iter::once(row("primary", &found.primary)).chain(alternate).collect()
}

/// What both paths pass.
fn summary(wiring: &dyn Wiring, found: &Alternates) -> Row {
    let (cables, switches) = found.shares();
    let name = |part: &Part| match *part {
        Part::Link(switch, port) => wiring.port_name(switch, port),
        Part::Switch(switch) => wiring.switch_name(switch),
        Part::Host(host) => wiring.host_name(host),
    };
    let names: Vec<String> = found.shared.iter().map(name).collect();
    let known = found.alternate.is_some();
    Row::new()
        .with("candidates", found.candidates as u64)
        .with("shared_cables", known.then_some(cables as u64))
        .with("shared_switches", known.then_some(switches as u64))
        .with("shared", (!names.is_empty()).then(|| names.join(" ")))
}
