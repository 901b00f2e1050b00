//! `laneway topo alternates`: the primary and the alternate path of a connection that share least.

use clap::{Arg, ArgMatches, Command};
use laneway_core::Row;
use laneway_topo::Host;
use laneway_topo::routing::alternates::{NoPath, alternates, ports};

use super::machine;
use super::route::addressed;
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};

/// Paths to each host where nothing says how many there are.
const PATHS: u32 = 4;

pub fn command() -> Command {
    Command::new("alternates")
        .about("Chooses a connection's primary and alternate path: the two that share least")
        .after_help(
            "A path is an address at either end, and the forwarding says which way it takes: out \
             by the address of TO, back by that of FROM. Of all paths between two machines, the \
             two are chosen that share the fewest cables, then the fewest switches, then are the \
             shortest, and have no address in common. The shorter one is the primary path.\n\n\
             A machine is its port, or a comma-separated list of its ports; a name stands for all \
             ports NAME/1, NAME/2, … of an adapter. The cable and the switch of a machine with \
             one port are on every path and are not counted.\n\n\
             `from_path_bits` and `to_path_bits` are what `VerbsPath` of laneway-connections takes \
             at either end, both paths in this order at both ends; lids are the addresses that \
             these bits make, from --lids, the fabric's file, or `laneway topo export --as \
             guid2lid`. The exit code is 1 if there is no alternate path, or no path at all.\n\n\
             Examples:\n  \
             laneway topo alternates -t mlfm:d=8 node0 node575\n  \
             laneway topo alternates -t fat-tree-3:d=4 --paths 2 node0 node63 --fail link\n  \
             laneway topo alternates -t fat-tree-2:d=4 --paths 1 node0,node4 node24,node28\n  \
             laneway topo alternates -t file:found.txt --routing lfts.txt node0 node575",
        )
        .args(machine::args())
        .arg(machine::paths_arg().help(
            "Paths to each port, with an address each (LMC 0, 1, 2, …) [default: as many \
             as the routing or the fabric's file has, or 4]",
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
    let machine = machine::from(matches)?;
    let wiring = machine.wiring();
    let ports = |name: &str| ports(wiring, text(name));
    let (near, far) = (ports("near")?, ports("far")?);
    let is_known = machine.identity().paths() > 1 || matches.contains_id("routing");
    let paths = text("paths").parse().ok().or((!is_known).then_some(PATHS));
    let own = addressed(&machine, None, paths)?;
    let table = own.table(&machine);
    let names = |hosts: &[Host]| -> Vec<String> {
        hosts.iter().map(|&host| wiring.host_name(host)).collect()
    };
    let params = Row::new()
        .with("topology", machine.spec.clone())
        .with("from", names(&near).join(" "))
        .with("to", names(&far).join(" "))
        .with("paths", table.paths());
    let (rows, summary, answer) = match alternates(wiring, &table, &near, &far) {
        Ok(found) => {
            let answer = vec![found.sentence(wiring)];
            (found.rows(wiring, &own.identity), Some(found.summary(wiring)), answer)
        }
        Err(reason @ NoPath::Lost(_)) => {
            output::note(&reason.describe(wiring));
            (Vec::new(), None, vec!["There is no path.".to_string()])
        }
        Err(reason) => {
            let (what, try_this) = ("FROM and TO must be two different machines", "node0 node1");
            return Err(Failure::usage(what, reason.describe(wiring), try_this));
        }
    };
    if rows.len() == 1 {
        output::note(
            "there is no alternate path: one address at either end leaves one path; --paths 4, or \
             further ports",
        );
    }
    let has_two = rows.len() == 2;
    machine::write_records_summed(&output, params, rows, summary, &answer)?;
    Ok(machine::exit(has_two))
}
