//! How a found fabric lies on a planned one: which switch, host and port is which.
//!
//! Names say it where they are the planned ones. Otherwise the cables do: a switch is known by its
//! distances, and the numbers of shortest ways, to switches that are known already. The first few
//! are guesses among equals, and in a symmetric fabric every one of them is right.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind};
use crate::routing::table::Table;
use crate::wiring::fabric::{Fabric, Part};
use crate::wiring::{End, Host, NO_PORT, Port, Switch, Wiring};

pub(crate) mod fewest;
pub(crate) mod structure;

use structure::Shape;

/// Switches that are known by structure at most: a byte is kept for each pair of them.
pub const MOST_SWITCHES: u32 = 8192;

/// Planned parts by found ones; none for what the plan does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Map {
    /// By found switch: the planned one.
    pub switches: Vec<Option<Switch>>,
    /// By found host: the planned one.
    pub hosts: Vec<Option<Host>>,
    /// By found switch and port: the planned port with the same cable.
    pub ports: Vec<Vec<Option<Port>>>,
    /// Whether ports are those of the plan too: parts were known by name.
    pub by_name: bool,
}

impl Map {
    /// By names where most switches have a planned one, else by structure, if they are not too many
    /// for that.
    pub fn new(found: &dyn Wiring, plan: &dyn Wiring) -> Result<Map, Error> {
        if let Some(map) = Map::by_names(found, plan) {
            return Ok(map);
        }
        let most = found.switches().max(plan.switches());
        if most > MOST_SWITCHES {
            let cause = format!(
                "{most} switches without planned names; every pair of them is compared, so that \
                 at most {MOST_SWITCHES} are taken"
            );
            let what = "the fabric is too large to be recognised by its cables";
            let hint = "the planned names in the discovered fabric";
            return Err(Error::new(ErrorKind::TooLarge, what, cause).with_hint(hint));
        }
        let switches = structure::lay(&Shape::of(found), &Shape::of(plan));
        Ok(Map::of_switches(found, plan, switches))
    }

    /// By names, where most switches have a planned one.
    pub(crate) fn by_names(found: &dyn Wiring, plan: &dyn Wiring) -> Option<Map> {
        let names = |wiring: &dyn Wiring| {
            let switches = (0..wiring.switches()).map(|at| wiring.switch_name(at)).collect();
            let hosts = (0..wiring.hosts()).map(|at| wiring.host_name(at)).collect();
            (switches, hosts)
        };
        let by_name = Map::by_keys(found, names(found), plan, names(plan));
        let known = by_name.switches.iter().flatten().count();
        (2 * known > plan.switches() as usize).then_some(by_name)
    }

    /// By keys that are the same for the same part: names, or GUIDs.
    pub fn by_keys<K: Ord>(
        found: &dyn Wiring,
        (switches, hosts): (Vec<K>, Vec<K>),
        plan: &dyn Wiring,
        (planned_switches, planned_hosts): (Vec<K>, Vec<K>),
    ) -> Map {
        let places = |keys: Vec<K>| -> BTreeMap<K, u32> {
            keys.into_iter().enumerate().map(|(at, key)| (key, at as u32)).collect()
        };
        let (planned_switches, planned_hosts) = (places(planned_switches), places(planned_hosts));
        let switches: Vec<Option<Switch>> =
            switches.iter().map(|key| planned_switches.get(key).copied()).collect();
        let hosts = hosts.iter().map(|key| planned_hosts.get(key).copied()).collect();
        let ports = switches.iter().enumerate().map(|(found_switch, planned)| {
            let has = planned.map_or(0, |planned| plan.ports(planned));
            let ports = 0..found.ports(found_switch as Switch);
            ports.map(|port| (port < has).then_some(port as Port)).collect()
        });
        let ports = ports.collect();
        Map { switches, hosts, ports, by_name: true }
    }

    /// Ports and hosts follow from the switches: cables between the same two are equals.
    pub(crate) fn of_switches(
        found: &dyn Wiring,
        plan: &dyn Wiring,
        switches: Vec<Option<Switch>>,
    ) -> Map {
        let free =
            |switch: u32| (0..found.ports(switch)).map(|_| None).collect::<Vec<Option<Port>>>();
        let mut map = Map {
            hosts: vec![None; found.hosts() as usize],
            ports: (0..found.switches()).map(free).collect(),
            switches,
            by_name: false,
        };
        // Planned ports that have not been given away, by what they lead to.
        let mut left: BTreeMap<(Switch, Option<Switch>), Vec<Port>> = BTreeMap::new();
        for switch in 0..plan.switches() {
            for port in (0..plan.ports(switch) as Port).rev() {
                let to = match plan.end(switch, port) {
                    End::Nothing => continue,
                    End::Host(_) => None,
                    End::Switch(other, _) => Some(other),
                };
                left.entry((switch, to)).or_default().push(port);
            }
        }
        for switch in 0..found.switches() {
            let Some(own) = map.switches[switch as usize] else { continue };
            for port in 0..found.ports(switch) as Port {
                match found.end(switch, port) {
                    End::Host(host) => {
                        let planned = left.get_mut(&(own, None)).and_then(Vec::pop);
                        map.ports[switch as usize][port as usize] = planned;
                        if let Some(End::Host(to)) = planned.map(|planned| plan.end(own, planned)) {
                            map.hosts[host as usize] = Some(to);
                        }
                    }
                    End::Switch(other, its) if (switch, port) < (other, its) => {
                        let Some(to) = map.switches[other as usize] else { continue };
                        let planned = left.get_mut(&(own, Some(to))).and_then(Vec::pop);
                        let Some(planned) = planned else { continue };
                        map.ports[switch as usize][port as usize] = Some(planned);
                        if let End::Switch(to, back) = plan.end(own, planned) {
                            map.ports[other as usize][its as usize] = Some(back);
                            if let Some(left) = left.get_mut(&(to, Some(own))) {
                                left.retain(|&port| port != back);
                            }
                        }
                    }
                    End::Nothing | End::Switch(..) => {}
                }
            }
        }
        map
    }

    /// The end of a found port, in the plan's numbers.
    pub fn end(&self, found: &dyn Wiring, switch: Switch, port: Port) -> Option<End> {
        match found.end(switch, port) {
            End::Nothing => Some(End::Nothing),
            End::Host(host) => self.hosts[host as usize].map(End::Host),
            End::Switch(other, its) => {
                let port = self.ports[other as usize][its as usize]?;
                self.switches[other as usize].map(|other| End::Switch(other, port))
            }
        }
    }

    /// The found port of each planned one.
    fn found_ports(&self, found: Switch) -> BTreeMap<Port, Port> {
        let ports = self.ports[found as usize].iter().enumerate();
        ports.filter_map(|(at, planned)| planned.map(|planned| (planned, at as Port))).collect()
    }

    /// The plan without the cables that were not found.
    pub fn left(&self, found: &dyn Wiring, plan: &dyn Wiring) -> Fabric {
        let mut there = vec![Vec::new(); plan.switches() as usize];
        for switch in 0..found.switches() {
            let Some(own) = self.switches[switch as usize] else { continue };
            for port in 0..found.ports(switch) as Port {
                let Some(planned) = self.ports[switch as usize][port as usize] else { continue };
                let end = self.end(found, switch, port);
                if end == Some(plan.end(own, planned)) && end != Some(End::Nothing) {
                    there[own as usize].push(planned);
                }
            }
        }
        let mut left = Fabric::of(plan);
        for switch in 0..plan.switches() {
            for port in 0..plan.ports(switch) as Port {
                if !there[switch as usize].contains(&port) {
                    left.fail(Part::Link(switch, port));
                }
            }
        }
        left
    }

    /// Whether the found fabric has a cable that the plan has not.
    pub fn has_extra(&self, found: &dyn Wiring, plan: &dyn Wiring) -> bool {
        let extra = |switch: Switch, port: Port| {
            if found.end(switch, port) == End::Nothing {
                return false;
            }
            let planned = self.switches[switch as usize]
                .zip(self.ports[switch as usize][port as usize])
                .map(|(own, port)| plan.end(own, port));
            planned.is_none() || planned != self.end(found, switch, port)
        };
        (0..found.switches())
            .any(|switch| (0..found.ports(switch) as Port).any(|port| extra(switch, port)))
    }

    /// A table of the plan, in the found fabric's numbers.
    pub fn table(&self, found: &dyn Wiring, planned: &Table) -> Table {
        let paths = planned.paths();
        let mut table = Table::empty(found.switches(), found.hosts(), paths);
        for switch in 0..found.switches() {
            let Some(own) = self.switches[switch as usize] else { continue };
            let ports = self.found_ports(switch);
            for (host, to) in self.hosts.iter().enumerate() {
                let Some(to) = *to else { continue };
                for path in 0..paths {
                    let port = planned.row_of(own)[(to * paths + path) as usize];
                    let port = ports.get(&port).copied().unwrap_or(NO_PORT);
                    table.set(switch, host as u32 * paths + path, port);
                }
            }
        }
        table
    }
}
