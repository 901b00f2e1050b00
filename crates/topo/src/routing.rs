//! Which port a switch sends out by, for each destination: what a forwarding table says.

pub mod agents;
pub mod alternates;
pub mod apart;
pub mod engines;
pub(crate) mod follow;
pub mod reroute;
pub mod table;

use crate::wiring::{End, Host, Port, Switch, Wiring};

/// Destination-based forwarding, by a formula or by a table.
pub trait Routing: Sync {
    /// The port by which `switch` sends to `host`; `None` if it knows no way.
    fn port(&self, switch: Switch, host: Host) -> Option<Port>;

    /// The same for all hosts from 0 on, [`crate::wiring::NO_PORT`] where there is no way.
    fn row(&self, switch: Switch, row: &mut [Port]) {
        for (host, port) in row.iter_mut().enumerate() {
            *port = self.port(switch, host as Host).unwrap_or(crate::wiring::NO_PORT);
        }
    }
}

/// A hop: one cable in one direction, by the port it leaves from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// The switch that it leaves.
    pub switch: Switch,
    /// The port that it leaves by.
    pub port: Port,
}

/// Why a message does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// The source or the destination has no cable.
    Unplugged(Host),
    /// The switch's table has no entry, or one for a port with nothing behind it.
    NoWay(Switch),
    /// It came to another host.
    Astray(Host),
    /// It passed more switches than the hop limit: it must be going round.
    Loop(Switch),
}

/// Follows a message from host to host and visits every hop, the one to the destination included.
pub fn walk(
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    from: Host,
    to: Host,
    mut hop: impl FnMut(Hop),
) -> Result<(), Lost> {
    let (mut switch, _) = wiring.attached(from).ok_or(Lost::Unplugged(from))?;
    wiring.attached(to).ok_or(Lost::Unplugged(to))?;
    for _ in 0..=wiring.switches() {
        let port = routing.port(switch, to).ok_or(Lost::NoWay(switch))?;
        hop(Hop { switch, port });
        match wiring.end(switch, port) {
            End::Host(host) if host == to => return Ok(()),
            End::Host(host) => return Err(Lost::Astray(host)),
            End::Switch(next, _) => switch = next,
            End::Nothing => return Err(Lost::NoWay(switch)),
        }
    }
    Err(Lost::Loop(switch))
}
