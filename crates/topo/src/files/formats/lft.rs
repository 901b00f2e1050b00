//! Forwarding tables as OpenSM reads them (`-R file -U FILE`) and as it, `ibroute` and `dump_lfts`
//! print them.

mod dump;
mod reading;

use std::fmt::Write;

use super::identity::Identity;
pub use crate::routing::agents::to_switches;
use crate::routing::table::Table;
use crate::wiring::{NO_PORT, Switch, Wiring};
pub use dump::{Dump, read, read_both};

/// Writes a table, and the ways to the switches that go with it: they are destinations too, because
/// OpenSM and its tools talk to them.
pub fn write(wiring: &dyn Wiring, table: &Table, identity: &Identity) -> String {
    write_both(wiring, table, &to_switches(wiring, table), identity)
}

/// Writes a table to hosts and one to switches.
pub fn write_both(
    wiring: &dyn Wiring,
    table: &Table,
    to_switches: &Table,
    identity: &Identity,
) -> String {
    let last = identity.destinations().keys().last().copied().unwrap_or(0);
    let last = identity.switches.iter().map(|id| id.lid).fold(last, u16::max);
    let mut text = String::new();
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (own, mut name) = (identity.switches[switch as usize], wiring.switch_name(switch));
        // Readers take a pair of quotes away.
        if name.starts_with('\'') && name.ends_with('\'') {
            name = format!("'{name}'");
        }
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
        for (to, &port) in to_switches.row_of(switch).iter().enumerate() {
            let port = match port {
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
