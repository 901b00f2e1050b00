//! What `--fail` takes out of a fabric: a part by its name, or one that is drawn.

use laneway_core::Failure;
use laneway_stats::SplitMix64;
use laneway_topo::{End, Fabric, Part, Port, Switch, Wiring};

/// A part by its name, or one that is drawn.
pub fn part(fabric: &Fabric, word: &str, draws: &mut SplitMix64) -> Result<Part, Failure> {
    let refused = |cause: String| {
        let try_this = format!(
            "--fail link:{}/1, --fail switch:{}, --fail link",
            fabric.switch_name(0),
            fabric.switch_name(0)
        );
        Failure::usage(format!("cannot take out `{word}`"), cause, try_this)
    };
    let switch = |name: &str| {
        fabric.switch_by_name(name).ok_or_else(|| refused(format!("there is no switch `{name}`")))
    };
    match word.split_once(':') {
        None if word == "link" => {
            let links = links(fabric);
            let drawn = links.get(draws.index(links.len()));
            drawn
                .map(|&(switch, port)| Part::Link(switch, port))
                .ok_or_else(|| refused("there are no cables between switches".into()))
        }
        None if word == "switch" => {
            // One without a cable has failed already, or is no loss.
            let plugged = |&switch: &Switch| {
                (0..fabric.ports(switch) as Port).any(|at| fabric.end(switch, at) != End::Nothing)
            };
            let left: Vec<Switch> = (0..fabric.switches()).filter(plugged).collect();
            match left.is_empty() {
                true => Err(refused("no switch is left that has a cable".into())),
                false => Ok(Part::Switch(left[draws.index(left.len())])),
            }
        }
        Some(("switch", name)) => Ok(Part::Switch(switch(name)?)),
        Some(("host", name)) => match fabric.host_by_name(name) {
            Some(host) => Ok(Part::Host(host)),
            None => Err(refused(format!("there is no host `{name}`"))),
        },
        Some(("link", place)) => {
            let Some((name, port)) = place.rsplit_once('/') else {
                return Err(refused("a link is SWITCH/PORT, ports counted from 1".into()));
            };
            let switch = switch(name)?;
            let ports = fabric.ports(switch);
            match port.parse::<u32>() {
                Ok(port) if (1..=ports).contains(&port) => {
                    let port = (port - 1) as Port;
                    if fabric.end(switch, port) == End::Nothing {
                        return Err(refused(format!("nothing is plugged into {place}")));
                    }
                    Ok(Part::Link(switch, port))
                }
                _ => Err(refused(format!("{name} has ports 1 to {ports}"))),
            }
        }
        _ => Err(refused("a part is link, switch, or host".into())),
    }
}

/// The cables between switches that are still there, each once.
fn links(fabric: &Fabric) -> Vec<(Switch, Port)> {
    let ports = |switch| (0..fabric.ports(switch) as Port).map(move |port| (switch, port));
    let once = |&(switch, port): &(Switch, Port)| match fabric.end(switch, port) {
        End::Switch(other, its) => (switch, port) < (other, its),
        End::Nothing | End::Host(_) => false,
    };
    (0..fabric.switches()).flat_map(ports).filter(once).collect()
}

/// What failed, for a person.
pub fn told(fabric: &Fabric, part: Part) -> String {
    match part {
        Part::Switch(switch) => fabric.switch_name(switch),
        Part::Host(host) => fabric.host_name(host),
        Part::Link(switch, port) => {
            let (from, to) = (fabric.port_name(switch, port), fabric.end_name(switch, port));
            format!("the cable {from} to {to}")
        }
    }
}
