//! A forwarding table: one byte for each switch and destination, as switches keep it.

use laneway_core::{Observer, Stage};

use crate::routing::Routing;
use crate::wiring::{Host, NO_PORT, Port, Switch, Wiring};

/// The ports of all switches for all destinations. With several paths to a host, path `p` of host
/// `h` is destination `h * paths + p`, as an InfiniBand port with a mask has consecutive addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    hosts: u32,
    paths: u32,
    switches: u32,
    ports: Vec<Port>,
}

impl Table {
    /// A table without ways.
    pub fn empty(switches: u32, hosts: u32, paths: u32) -> Table {
        let ports = vec![NO_PORT; switches as usize * hosts as usize * paths as usize];
        Table { hosts, paths, switches, ports }
    }

    /// What a routing says for every switch and host.
    pub fn of(wiring: &dyn Wiring, routing: &dyn Routing) -> Table {
        Table::of_observed(wiring, routing, &())
    }

    /// The same, with progress reports.
    pub fn of_observed(
        wiring: &dyn Wiring,
        routing: &dyn Routing,
        observer: &dyn Observer,
    ) -> Table {
        let mut table = Table::empty(wiring.switches(), wiring.hosts(), 1);
        let stage = Stage::new(observer, "switches tabulated", wiring.switches().into());
        for switch in stage.over(0..wiring.switches()) {
            routing.row(switch, table.row_mut(switch));
        }
        table
    }

    /// How many hosts it leads to.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// How many switches it is for.
    pub fn switches(&self) -> u32 {
        self.switches
    }

    /// Paths to each host.
    pub fn paths(&self) -> u32 {
        self.paths
    }

    /// Hosts times paths.
    pub fn destinations(&self) -> u32 {
        self.hosts * self.paths
    }

    /// A switch's ports by destination; [`NO_PORT`] where it knows no way.
    #[inline]
    pub fn row_of(&self, switch: Switch) -> &[Port] {
        let wide = self.destinations() as usize;
        &self.ports[switch as usize * wide..][..wide]
    }

    /// The entries of a switch, to be changed.
    pub fn row_mut(&mut self, switch: Switch) -> &mut [Port] {
        let wide = self.destinations() as usize;
        &mut self.ports[switch as usize * wide..][..wide]
    }

    /// The port of one path to a host; [`NO_PORT`] where the switch knows no way.
    #[inline]
    pub fn entry(&self, switch: Switch, host: Host, path: u32) -> Port {
        self.row_of(switch)[(host * self.paths + path) as usize]
    }

    /// Changes an entry.
    pub fn set(&mut self, switch: Switch, destination: u32, port: Port) {
        self.row_mut(switch)[destination as usize] = port;
    }

    /// One of the paths alone, as a routing of its own.
    pub fn path(&self, path: u32) -> Path<'_> {
        Path { table: self, path: path.min(self.paths - 1) }
    }
}

impl Routing for Table {
    fn port(&self, switch: Switch, host: Host) -> Option<Port> {
        self.path(0).port(switch, host)
    }

    fn row(&self, switch: Switch, row: &mut [Port]) {
        self.path(0).row(switch, row);
    }
}

/// One path to each host.
#[derive(Clone, Copy, Debug)]
pub struct Path<'t> {
    table: &'t Table,
    path: u32,
}

impl Routing for Path<'_> {
    fn port(&self, switch: Switch, host: Host) -> Option<Port> {
        let port = self.table.row_of(switch)[(host * self.table.paths + self.path) as usize];
        (port != NO_PORT).then_some(port)
    }

    fn row(&self, switch: Switch, row: &mut [Port]) {
        let own = self.table.row_of(switch).iter().skip(self.path as usize);
        for (into, &port) in row.iter_mut().zip(own.step_by(self.table.paths as usize)) {
            *into = port;
        }
    }
}
