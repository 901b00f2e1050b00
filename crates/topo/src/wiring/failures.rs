//! Parts of a fabric that fail: named as `link:SWITCH/PORT`, `switch:NAME` or `host:NAME`, or drawn
//! at random as `link` or `switch`.

use laneway_stats::SplitMix64;

use crate::error::{Error, ErrorKind};
use crate::wiring::fabric::{Fabric, Part};
use crate::wiring::{End, Port, Switch, Wiring};

/// Finds the part of a fabric that a word names; `fabric` is what is left of `whole`. What is drawn
/// still has a cable; what is named may have lost its cable already (see [`already_out`]).
pub fn part(
    whole: &dyn Wiring,
    fabric: &Fabric,
    word: &str,
    draws: &mut SplitMix64,
) -> Result<Part, Error> {
    let refused = |cause: String| {
        let what = format!("cannot take out `{word}`");
        Error::new(ErrorKind::Part, what, cause).with_hint(example(fabric, word))
    };
    let switch = |name: &str| {
        fabric.switch_by_name(name).ok_or_else(|| refused(format!("unknown switch `{name}`")))
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
            // One without a cable has failed already, or does not matter.
            let plugged = |&switch: &Switch| {
                (0..fabric.ports(switch) as Port).any(|at| fabric.end(switch, at) != End::Nothing)
            };
            let left: Vec<Switch> = (0..fabric.switches()).filter(plugged).collect();
            match left.is_empty() {
                true => Err(refused("no switch with a cable is left".into())),
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
                return Err(refused("a link is SWITCH/PORT, with ports counted from 1".into()));
            };
            let switch = switch(name)?;
            let ports = fabric.ports(switch);
            match port.parse::<u32>() {
                Ok(port) if (1..=ports).contains(&port) => {
                    let port = (port - 1) as Port;
                    if whole.end(switch, port) == End::Nothing {
                        return Err(refused(format!("nothing is plugged into {place}")));
                    }
                    Ok(Part::Link(switch, port))
                }
                _ => Err(refused(format!("{name} has ports 1 to {ports}"))),
            }
        }
        _ => Err(refused("a part is link:SWITCH/PORT, switch:NAME or host:NAME".into())),
    }
}

/// Why nothing is left to take out at a port: the cable that `whole` has there is out already, with
/// one of the parts that have `failed`. None for a cable that is still there, and for other parts.
pub fn already_out(
    whole: &dyn Wiring,
    fabric: &Fabric,
    failed: &[Part],
    part: Part,
) -> Option<String> {
    let Part::Link(switch, port) = part else { return None };
    if fabric.end(switch, port) != End::Nothing {
        return None;
    }
    let is_failed = |part: Part| failed.contains(&part);
    let (own, far) = (whole.port_name(switch, port), whole.end_name(switch, port));
    let other_end = format!("{own} is the other end of the cable {far} to {own}");
    Some(match whole.end(switch, port) {
        _ if is_failed(part) => format!("the cable {own} to {far}"),
        End::Switch(other, its) if is_failed(Part::Link(other, its)) => other_end,
        End::Host(host) if is_failed(Part::Host(host)) => other_end,
        End::Switch(other, _) if is_failed(Part::Switch(other)) => {
            format!("the cable {own} to {far}, with {}", whole.switch_name(other))
        }
        _ => format!("the cable {own} to {far}, with {}", whole.switch_name(switch)),
    })
}

/// A part that can be taken out, of the kind that a word begins with.
fn example(fabric: &Fabric, word: &str) -> String {
    let link = links(fabric).first().map(|&(switch, port)| fabric.port_name(switch, port));
    match (word.split(':').next(), link) {
        (Some("host"), _) if fabric.hosts() > 0 => format!("host:{}", fabric.host_name(0)),
        (Some("switch"), _) | (_, None) => format!("switch:{}", fabric.switch_name(0)),
        (_, Some(link)) => format!("link:{link}"),
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

/// The name of a part of a fabric in which it has not failed.
pub fn part_name(whole: &dyn Wiring, part: Part) -> String {
    match part {
        Part::Switch(switch) => whole.switch_name(switch),
        Part::Host(host) => whole.host_name(host),
        Part::Link(switch, port) => {
            let (from, to) = (whole.port_name(switch, port), whole.end_name(switch, port));
            format!("the cable {from} to {to}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_or_drawn() {
        let whole = crate::topology("mlfm:d=2").expect("a mesh");
        let mut fabric = Fabric::of(&*whole);
        let mut draws = SplitMix64::new(1);
        let mut named = |fabric: &Fabric, word: &str| part(&*whole, fabric, word, &mut draws);
        let link = named(&fabric, "link:vertex-0-0/3").expect("a cable");
        assert_eq!(part_name(&fabric, link), "the cable vertex-0-0/3 to edge-0-1/1");
        assert_eq!(named(&fabric, "host:node3"), Ok(Part::Host(3)));
        fabric.fail(link);
        for (word, said) in [
            ("link:vertex-0-0/3", "the cable vertex-0-0/3 to edge-0-1/1"),
            (
                "link:edge-0-1/1",
                "edge-0-1/1 is the other end of the cable vertex-0-0/3 to edge-0-1/1",
            ),
        ] {
            let part = named(&fabric, word).expect("a cable of the whole fabric");
            let out = already_out(&*whole, &fabric, &[link], part);
            assert_eq!(out.as_deref(), Some(said));
        }
        let other = named(&fabric, "link:vertex-0-0/4").expect("a cable");
        assert_eq!(already_out(&*whole, &fabric, &[link], other), None);
        let unknown = named(&fabric, "link:vertex-0-0/99").expect_err("no such port");
        assert_eq!(unknown.hint.as_deref(), Some("link:vertex-0-0/4"));
        for _ in 0..100 {
            let drawn = named(&fabric, "link").expect("cables are left");
            assert_ne!(drawn, link);
        }
        for word in ["cable", "link:", "link:vertex-0-0/99", "switch:none", "host:none", "host"] {
            assert_eq!(named(&fabric, word).map_err(|error| error.kind), Err(ErrorKind::Part));
        }
    }
}
