//! Forwarding tables as OpenSM reads them (`-R file -U FILE`) and as it, `ibroute` and `dump_lfts`
//! print them.

mod reading;

use std::fmt::Write;

use super::identity::Identity;
use crate::engines::column::{Column, Look};
use crate::engines::heights::Heights;
use crate::engines::turns::Turns;
use crate::graph::Graph;
use crate::table::Table;
use crate::wiring::{NO_PORT, Port, Switch, Wiring};
pub use reading::{addresses, read};

/// Writes a table. The switches themselves are destinations too, because OpenSM and its tools talk
/// to them: by ways that are legal in an order of the switches in which the table's own are, if
/// there is such an order, so that they add no circle of waiting links.
pub fn write(wiring: &dyn Wiring, table: &Table, identity: &Identity) -> String {
    let to_switches = ways_to_switches(wiring, table);
    let last = identity.destinations().keys().last().copied().unwrap_or(0);
    let last = identity.switches.iter().map(|id| id.lid).fold(last, u16::max);
    let mut text = String::new();
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (own, name) = (identity.switches[switch as usize], wiring.switch_name(switch));
        let _ = writeln!(
            text,
            "Unicast lids [0x0-{last:#x}] of switch Lid {} guid {:#018x} ({name}):",
            own.lid, own.guid
        );
        for (destination, &port) in table.row_of(switch).iter().enumerate() {
            if port == NO_PORT {
                continue;
            }
            let (host, path) =
                (destination / table.paths() as usize, destination % table.paths() as usize);
            let (id, name) = (identity.hosts[host], wiring.host_name(host as u32));
            let (lid, port) = (usize::from(id.lid) + path, u32::from(port) + 1);
            let guid = id.guid;
            let _ = writeln!(
                text,
                "{lid:#06x} {port:03} : (Channel Adapter portguid {guid:#018x}: '{name}')"
            );
        }
        for (to, ways) in to_switches.iter().enumerate() {
            let port = match ways[switch as usize] {
                _ if to == switch as usize => 0,
                NO_PORT => continue,
                port => u32::from(port) + 1,
            };
            let (id, name) = (identity.switches[to], wiring.switch_name(to as Switch));
            let (lid, guid) = (id.lid, id.guid);
            let _ =
                writeln!(text, "{lid:#06x} {port:03} : (Switch portguid {guid:#018x}: '{name}')");
        }
        text.push('\n');
    }
    text
}

/// For each switch the ports by which all of them send to it.
fn ways_to_switches(wiring: &dyn Wiring, table: &Table) -> Vec<Vec<Port>> {
    let graph = Graph::of(wiring);
    let heights =
        Heights::from_turns(&graph, &Turns::of(&graph, table), &vec![0; graph.switches()]);
    let mut column = Column::new(&graph, &heights);
    let ways = |to: Switch| {
        column.begin(to, NO_PORT);
        column.complete(&mut [], Look::Blind);
        (0..wiring.switches()).map(|from| column.port(from)).collect()
    };
    (0..wiring.switches()).map(ways).collect()
}
