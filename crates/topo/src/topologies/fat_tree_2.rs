//! The two-level fat tree: leaves, and a spine switch above for each cable up.

use laneway_core::Phases;

use super::{Bisection, Kind, Topology};
use crate::routing::Routing;
use crate::traffic::order::Shift;
use crate::wiring::{End, Host, Port, Reach, Switch, Wiring};

/// The kind.
pub const KIND: Kind = Kind {
    name: "fat-tree-2",
    sentence: "two-level fat tree: 2 d^2 hosts, 3 d switches of 2 d ports",
    source: "Nakashima and Miwa 2014, table 1",
    least: 1,
    only_even: false,
    build: |d| Box::new(Tree2 { degree: d }),
};

/// Leaf i is switch i, spine s is switch 2 d + s; a leaf has its hosts at the first d ports.
#[derive(Clone, Debug)]
pub struct Tree2 {
    degree: u32,
}

impl Wiring for Tree2 {
    fn hosts(&self) -> u32 {
        2 * self.degree * self.degree
    }

    fn switches(&self) -> u32 {
        3 * self.degree
    }

    fn ports(&self, _switch: Switch) -> u32 {
        2 * self.degree
    }

    fn end(&self, switch: Switch, port: Port) -> End {
        let (d, port) = (self.degree, u32::from(port));
        match switch.checked_sub(2 * d) {
            _ if port >= 2 * d => End::Nothing,
            None if port < d => End::Host(switch * d + port),
            None => End::Switch(2 * d + port - d, switch as Port),
            Some(spine) => End::Switch(port, (d + spine) as Port),
        }
    }

    fn attached(&self, host: Host) -> Option<(Switch, Port)> {
        Some((host / self.degree, (host % self.degree) as Port))
    }

    fn switch_name(&self, switch: Switch) -> String {
        match switch.checked_sub(2 * self.degree) {
            None => format!("leaf-{switch}"),
            Some(spine) => format!("spine-{spine}"),
        }
    }

    fn reach(&self, switch: Switch, port: Port) -> Reach {
        if let End::Host(_) = self.end(switch, port) { Reach::Rack } else { Reach::Row }
    }
}

impl Routing for Tree2 {
    /// The destination's number chooses the spine.
    fn port(&self, switch: Switch, host: Host) -> Option<Port> {
        let (leaf, number) = (host / self.degree, host % self.degree);
        let port = match switch.checked_sub(2 * self.degree) {
            None if switch == leaf => number,
            None => self.degree + number,
            Some(_) => leaf,
        };
        Some(port as Port)
    }
}

impl Topology for Tree2 {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn d(&self) -> u32 {
        self.degree
    }

    fn order(&self) -> Box<dyn Phases + Send + Sync> {
        Box::new(Shift::new(self.hosts()))
    }

    fn bisection(&self) -> Bisection {
        Bisection { per_host: 1.0, in_paper: Some(1.0) }
    }
}
