//! A fabric as a list of cables: what was read from a file, or what a failure has left.

use crate::wiring::{End, Host, MOST_PORTS, Port, Reach, Switch, Wiring};

/// A part that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The cable at a port, in both directions.
    Link(Switch, Port),
    /// A switch with all its cables.
    Switch(Switch),
    /// A host with its cable.
    Host(Host),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SwitchBox {
    name: String,
    ends: Vec<End>,
    reach: Vec<Reach>,
}

/// A fabric in memory: cables between switches and hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fabric {
    switches: Vec<SwitchBox>,
    hosts: Vec<(String, Option<(Switch, Port)>)>,
}

/// The reason why a cable is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible(pub String);

impl Fabric {
    /// How many hosts there are, with a cable or without.
    pub fn hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// How many switches there are.
    pub fn switches(&self) -> u32 {
        self.switches.len() as u32
    }

    /// Copies any wiring.
    pub fn of(wiring: &dyn Wiring) -> Fabric {
        let switches = (0..wiring.switches()).map(|switch| {
            let ports = 0..wiring.ports(switch) as Port;
            SwitchBox {
                name: wiring.switch_name(switch),
                ends: ports.clone().map(|port| wiring.end(switch, port)).collect(),
                reach: ports.map(|port| wiring.reach(switch, port)).collect(),
            }
        });
        let hosts = (0..wiring.hosts()).map(|host| (wiring.host_name(host), wiring.attached(host)));
        Fabric { switches: switches.collect(), hosts: hosts.collect() }
    }

    /// Adds a switch without cables.
    pub fn add_switch(&mut self, name: &str, ports: u32) -> Result<Switch, Impossible> {
        if ports > MOST_PORTS {
            return Err(Impossible(format!("switch {name} has {ports} ports, more than 254")));
        }
        let (ends, reach) = (vec![End::Nothing; ports as usize], vec![Reach::Hall; ports as usize]);
        self.switches.push(SwitchBox { name: name.to_string(), ends, reach });
        Ok(self.switches.len() as Switch - 1)
    }

    /// Adds a host without a cable.
    pub fn add_host(&mut self, name: &str) -> Host {
        self.hosts.push((name.to_string(), None));
        self.hosts.len() as Host - 1
    }

    /// Plugs a cable into a port and a host or another port.
    pub fn plug(&mut self, (switch, port): (Switch, Port), end: End) -> Result<(), Impossible> {
        self.ensure_free(switch, port)?;
        match end {
            End::Nothing => return Ok(()),
            End::Host(host) => match self.hosts.get_mut(host as usize) {
                None => return Err(Impossible(format!("there is no host {host}"))),
                Some((name, Some(_))) => {
                    return Err(Impossible(format!("host {name} has a cable already")));
                }
                Some((_, place)) => *place = Some((switch, port)),
            },
            End::Switch(other, its) => {
                self.ensure_free(other, its)?;
                if (switch, port) == (other, its) {
                    let what = "a cable from a port to itself";
                    return Err(Impossible(what.to_string()));
                }
                self.switches[other as usize].ends[its as usize] = End::Switch(switch, port);
            }
        }
        let own = &mut self.switches[switch as usize];
        own.ends[port as usize] = end;
        if let End::Host(_) = end {
            own.reach[port as usize] = Reach::Rack;
        }
        Ok(())
    }

    /// Sets the reach of the cable at a port; no effect without a cable.
    pub fn set_reach(&mut self, (switch, port): (Switch, Port), reach: Reach) {
        let end = self.end(switch, port);
        if end != End::Nothing {
            self.switches[switch as usize].reach[port as usize] = reach;
        }
        if let End::Switch(other, its) = end {
            self.switches[other as usize].reach[its as usize] = reach;
        }
    }

    fn ensure_free(&self, switch: Switch, port: Port) -> Result<(), Impossible> {
        let Some(own) = self.switches.get(switch as usize) else {
            return Err(Impossible(format!("there is no switch {switch}")));
        };
        match own.ends.get(port as usize) {
            Some(End::Nothing) => Ok(()),
            Some(_) => {
                let what = format!("port {} of switch {} is taken", u32::from(port) + 1, own.name);
                Err(Impossible(what))
            }
            None => {
                let (port, name, ports) = (u32::from(port) + 1, &own.name, own.ends.len());
                Err(Impossible(format!("switch {name} has {ports} ports, and no port {port}")))
            }
        }
    }

    /// Removes a part: the cable, or all cables of the switch or host.
    pub fn fail(&mut self, part: Part) {
        match part {
            Part::Link(switch, port) => {
                let ends = &mut self.switches[switch as usize].ends;
                match std::mem::replace(&mut ends[port as usize], End::Nothing) {
                    End::Nothing => {}
                    End::Host(host) => self.hosts[host as usize].1 = None,
                    End::Switch(other, its) => {
                        self.switches[other as usize].ends[its as usize] = End::Nothing;
                    }
                }
            }
            Part::Switch(switch) => {
                for port in 0..self.ports(switch) as Port {
                    self.fail(Part::Link(switch, port));
                }
            }
            Part::Host(host) => {
                if let Some((switch, port)) = self.attached(host) {
                    self.fail(Part::Link(switch, port));
                }
            }
        }
    }

    /// Finds a switch by its name.
    pub fn switch_by_name(&self, name: &str) -> Option<Switch> {
        self.switches.iter().position(|switch| switch.name == name).map(|at| at as Switch)
    }

    /// Finds a host by its name.
    pub fn host_by_name(&self, name: &str) -> Option<Host> {
        self.hosts.iter().position(|host| host.0 == name).map(|at| at as Host)
    }
}

impl Wiring for Fabric {
    fn hosts(&self) -> u32 {
        Fabric::hosts(self)
    }

    fn switches(&self) -> u32 {
        Fabric::switches(self)
    }

    fn ports(&self, switch: Switch) -> u32 {
        self.switches[switch as usize].ends.len() as u32
    }

    fn end(&self, switch: Switch, port: Port) -> End {
        let ends = &self.switches[switch as usize].ends;
        ends.get(port as usize).copied().unwrap_or(End::Nothing)
    }

    fn attached(&self, host: Host) -> Option<(Switch, Port)> {
        self.hosts[host as usize].1
    }

    fn host_name(&self, host: Host) -> String {
        self.hosts[host as usize].0.clone()
    }

    fn switch_name(&self, switch: Switch) -> String {
        self.switches[switch as usize].name.clone()
    }

    fn reach(&self, switch: Switch, port: Port) -> Reach {
        self.switches[switch as usize].reach[port as usize]
    }
}
