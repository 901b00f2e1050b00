//! Numbers for cables in one direction: the links that messages share.

use crate::routing::Hop;
use crate::wiring::{End, Port, Switch, Wiring};

/// A link leaves a switch by a port; links are numbered switch by switch, port by port.
#[derive(Clone, Debug)]
pub struct Links {
    /// The first link of each switch, and the number of all.
    first: Vec<u32>,
}

impl Links {
    /// Numbers the links of a fabric.
    pub fn of(wiring: &dyn Wiring) -> Links {
        let mut first = vec![0];
        let mut count = 0;
        for switch in 0..wiring.switches() {
            count += wiring.ports(switch);
            first.push(count);
        }
        Links { first }
    }

    /// What each link leads to.
    pub fn ends(&self, wiring: &dyn Wiring) -> Vec<End> {
        let ports = |switch| (0..wiring.ports(switch) as Port).map(move |port| (switch, port));
        let all = (0..wiring.switches()).flat_map(ports);
        all.map(|(switch, port)| wiring.end(switch, port)).collect()
    }

    /// The number of links.
    pub fn count(&self) -> u32 {
        self.first[self.first.len() - 1]
    }

    /// The link that leaves a switch by a port.
    pub fn link(&self, switch: Switch, port: Port) -> u32 {
        self.first[switch as usize] + u32::from(port)
    }

    /// The link of a port that may not be there.
    pub fn checked(&self, switch: Switch, port: Port) -> Option<u32> {
        let link = self.link(switch, port);
        (link < self.first[switch as usize + 1]).then_some(link)
    }

    /// The switch and port of a link.
    pub fn hop(&self, link: u32) -> Hop {
        let switch = self.first.partition_point(|&first| first <= link) as u32 - 1;
        Hop { switch, port: (link - self.first[switch as usize]) as Port }
    }
}
