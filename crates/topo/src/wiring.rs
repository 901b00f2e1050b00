//! What is plugged into what: hosts, switches with numbered ports, and the cable at each port.

pub mod fabric;
pub mod failures;
pub mod graph;
pub mod links;

use std::collections::BTreeMap;

/// A host, counted from 0.
pub type Host = u32;

/// A switch, counted from 0.
pub type Switch = u32;

/// A port of a switch, counted from 0 (files of fabric software count from 1).
pub type Port = u8;

/// More ports than any switch has: what a forwarding table says where it knows no way.
pub const NO_PORT: Port = u8::MAX;

/// Ports that a switch may have at most: InfiniBand numbers them 1 to 254.
pub const MOST_PORTS: u32 = 254;

/// What is at the other end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// There is no cable.
    Nothing,
    /// A host.
    Host(Host),
    /// A port of another switch.
    Switch(Switch, Port),
}

/// Where a cable runs, and so roughly how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// From a host to the switch of its rack.
    Rack,
    /// Within a row of racks: a pod, or the switches of one vertex.
    Row,
    /// Across the hall.
    Hall,
}

impl Reach {
    /// All of them, from the shortest to the longest.
    pub const ALL: [Reach; 3] = [Reach::Rack, Reach::Row, Reach::Hall];

    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Rack => "rack",
            Reach::Row => "row",
            Reach::Hall => "hall",
        }
    }
}

/// A fabric's cables, by a formula or by a list. A host has one cable.
pub trait Wiring: Sync {
    /// How many hosts there are, with a cable or without.
    fn hosts(&self) -> u32;

    /// How many switches there are.
    fn switches(&self) -> u32;

    /// The ports that a switch has, used or not.
    fn ports(&self, switch: Switch) -> u32;

    /// What is plugged into a port.
    fn end(&self, switch: Switch, port: Port) -> End;

    /// The switch and port that a host is plugged into; `None` if its cable is cut.
    fn attached(&self, host: Host) -> Option<(Switch, Port)>;

    /// How a host is called.
    fn host_name(&self, host: Host) -> String {
        format!("node{host}")
    }

    /// How a switch is called.
    fn switch_name(&self, switch: Switch) -> String {
        format!("switch{switch}")
    }

    /// A port as people write it, counted from 1.
    fn port_name(&self, switch: Switch, port: Port) -> String {
        format!("{}/{}", self.switch_name(switch), u32::from(port) + 1)
    }

    /// What is plugged into a port, as people write it.
    fn end_name(&self, switch: Switch, port: Port) -> String {
        match self.end(switch, port) {
            End::Nothing => "nothing".to_string(),
            End::Host(host) => self.host_name(host),
            End::Switch(other, its) => self.port_name(other, its),
        }
    }

    /// Where the cable of a port runs.
    fn reach(&self, switch: Switch, port: Port) -> Reach {
        match self.end(switch, port) {
            End::Host(_) => Reach::Rack,
            End::Nothing | End::Switch(..) => Reach::Hall,
        }
    }
}

/// Some hosts by the switch that they are at; those without a cable are left out.
pub(crate) fn by_switch(
    wiring: &dyn Wiring,
    hosts: impl IntoIterator<Item = Host>,
) -> BTreeMap<Switch, Vec<Host>> {
    let mut all: BTreeMap<Switch, Vec<Host>> = BTreeMap::new();
    for host in hosts {
        if let Some((switch, _)) = wiring.attached(host) {
            all.entry(switch).or_default().push(host);
        }
    }
    all
}
