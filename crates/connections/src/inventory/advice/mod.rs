//! Which interfaces can be paths of their own, and what stands in the way.

mod finding;

use std::net::{IpAddr, Ipv4Addr};

use crate::inventory::interfaces::{Address, Interface, InterfaceError, route};
use crate::inventory::path_name::PathName;

pub use finding::{Finding, Settings, WhyNot};

/// What is to be said of the interfaces of a machine.
pub fn examine(interfaces: &[Interface]) -> Result<Vec<Finding>, InterfaceError> {
    let mut findings = Vec::new();
    for interface in interfaces {
        let device = interface.name.clone();
        findings.extend(WhyNot::of(interface).map(|why| Finding::Unusable { device, why }));
    }
    let usable = usable(interfaces);
    for (i, one) in usable.iter().enumerate() {
        for other in &usable[i + 1..] {
            findings.extend(one_subnet(one, other));
            findings.extend(unequal_mtu(one, other));
        }
    }
    for interface in &usable {
        for neighbour in neighbours(interface, interfaces) {
            findings.extend(strict_reverse_path(interface, neighbour, interfaces)?);
        }
    }
    Ok(findings)
}

/// What is to be said of paths that share a device which can be a path.
pub fn of_one_device(interfaces: &[Interface], paths: &[PathName]) -> Vec<Finding> {
    let is_usable = |path: &&PathName| usable(interfaces).iter().any(|i| i.name == path.device);
    let mut findings = Vec::new();
    for (at, one) in paths.iter().enumerate().filter(|(_, path)| is_usable(path)) {
        let others = paths[at + 1..].iter().filter(|other| other.device == one.device);
        findings.extend(others.map(|other| Finding::OneDevice {
            device: one.device.clone(),
            names: [one.clone(), other.clone()],
        }));
    }
    findings
}

fn usable(interfaces: &[Interface]) -> Vec<&Interface> {
    interfaces.iter().filter(|interface| WhyNot::of(interface).is_none()).collect()
}

/// The pairs of interfaces that can be two paths of one connection.
pub fn pairs<'a>(interfaces: &'a [Interface], findings: &[Finding]) -> Vec<[&'a str; 2]> {
    let apart = |one: &str, other: &str| {
        !findings.iter().filter(|finding| finding.is_obstacle()).any(|finding| {
            let about = |name: &str| finding.devices().iter().any(|device| device == name);
            match finding.devices().len() {
                1 => about(one) || about(other),
                _ => about(one) && about(other),
            }
        })
    };
    let names: Vec<&str> = usable(interfaces).iter().map(|found| found.name.as_str()).collect();
    let mut pairs = Vec::new();
    for (i, one) in names.iter().enumerate() {
        pairs.extend(names[i + 1..].iter().filter(|two| apart(one, two)).map(|two| [*one, *two]));
    }
    pairs
}

/// Only IPv4 asks for hardware addresses in a way that another interface may answer.
fn one_subnet(one: &Interface, other: &Interface) -> Option<Finding> {
    let ipv4 = |address: &&Address| address.ip.is_ipv4();
    let shared = one.addresses.iter().filter(ipv4).find_map(|a| {
        let overlaps = |b: &&Address| a.holds(b.network) || b.holds(a.network);
        Some([*a, *other.addresses.iter().filter(ipv4).find(overlaps)?])
    });
    shared.map(|subnets| Finding::OneSubnet {
        devices: [one.name.clone(), other.name.clone()],
        subnets,
        settings: [Settings::read(&one.name), Settings::read(&other.name)],
    })
}

fn unequal_mtu(one: &Interface, other: &Interface) -> Option<Finding> {
    (one.mtu != other.mtu).then(|| Finding::UnequalMtu {
        devices: [one.name.clone(), other.name.clone()],
        mtu: [one.mtu, other.mtu],
    })
}

/// For each subnet of an interface, an address in it that is not this machine's.
fn neighbours(interface: &Interface, all: &[Interface]) -> Vec<IpAddr> {
    let own: Vec<IpAddr> = all.iter().flat_map(|i| &i.addresses).map(|a| a.ip).collect();
    let subnets = interface.addresses.iter().filter(|address| address.ip.is_ipv4());
    subnets
        .filter_map(|address| {
            let IpAddr::V4(network) = address.network else { return None };
            let size = 1_u64 << (32 - u32::from(address.prefix.min(32)));
            let first = u64::from(u32::from(network)) & !(size - 1);
            let inside = (0..size).filter(|i| size <= 2 || (1..size - 1).contains(i));
            let hosts = inside.map(|i| IpAddr::V4(Ipv4Addr::from((first + i) as u32)));
            hosts.take(own.len() + 1).find(|host| !own.contains(host))
        })
        .collect()
}

fn strict_reverse_path(
    interface: &Interface,
    towards: IpAddr,
    all: &[Interface],
) -> Result<Option<Finding>, InterfaceError> {
    if towards.is_ipv6() || Settings::read(&interface.name).rp_filter != 1 {
        return Ok(None);
    }
    let by = route(towards, None)?.map(|route| route.by);
    if by == Some(interface.index) {
        return Ok(None);
    }
    let goes_by = all.iter().find(|other| Some(other.index) == by).map(|other| other.name.clone());
    Ok(Some(Finding::StrictReversePath { device: interface.name.clone(), towards, goes_by }))
}

/// A path: one of our interfaces with its address, and the peer's address at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Our interface.
    pub device: String,
    /// Its index in the kernel.
    pub index: u32,
    /// Our address there.
    pub local: IpAddr,
    /// The peer's address.
    pub peer: IpAddr,
}

/// Paths to a peer, and what there is to say about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// A path each.
    pub pairs: Vec<Pair>,
    /// What a person should know of them.
    pub findings: Vec<Finding>,
}

/// Gives as many of a peer's addresses as possible an interface of their own: the one whose subnet
/// holds the address, else one with a route to it. `interfaces` are all that there are; where
/// `devices` names some, only these are chosen.
pub fn choose(
    interfaces: &[Interface],
    devices: &[&str],
    peers: &[IpAddr],
) -> Result<Choice, InterfaceError> {
    let mut usable = usable(interfaces);
    usable.retain(|found| devices.is_empty() || devices.contains(&found.name.as_str()));
    let ways = peers.iter().map(|peer| ways(&usable, *peer)).collect::<Result<Vec<_>, _>>()?;
    let mut choice = Choice::default();
    let taken: Vec<Vec<usize>> =
        ways.iter().map(|ways| ways.iter().map(|way| way.interface).collect()).collect();
    for (at, way) in assign(&taken, usable.len()).into_iter().enumerate() {
        let peer = peers[at];
        let Some(way) = way.map(|way| &ways[at][way]) else {
            let taken = ways[at].iter().map(|way| usable[way.interface].name.clone()).collect();
            choice.findings.push(Finding::NoInterfaceFor { peer, taken });
            continue;
        };
        let interface = usable[way.interface];
        let Interface { name, index, .. } = interface;
        choice.findings.extend(strict_reverse_path(interface, peer, interfaces)?);
        let (device, index) = (name.clone(), *index);
        choice.pairs.push(Pair { device, index, local: way.local, peer });
    }
    Ok(choice)
}

/// An interface by which a peer's address can be reached, and the address to do it from.
struct Way {
    interface: usize,
    local: IpAddr,
}

/// The ways to an address: by its subnet, the narrowest first; else by the kernel's route, and then
/// by interfaces with a gateway to it.
fn ways(usable: &[&Interface], peer: IpAddr) -> Result<Vec<Way>, InterfaceError> {
    let mut holding: Vec<(u8, Way)> = Vec::new();
    for (interface, found) in usable.iter().enumerate() {
        let holds = |address: &&Address| address.is_routable() && address.holds(peer);
        let narrowest = found.addresses.iter().filter(holds).max_by_key(|address| address.prefix);
        holding.extend(narrowest.map(|a| (a.prefix, Way { interface, local: a.ip })));
    }
    if !holding.is_empty() {
        holding.sort_by_key(|(prefix, _)| std::cmp::Reverse(*prefix));
        return Ok(holding.into_iter().map(|(_, way)| way).collect());
    }
    let mut routed = Vec::new();
    let usual = route(peer, None)?.map(|route| route.by);
    for (interface, found) in usable.iter().enumerate() {
        let Some(route) = route(peer, Some(found.index))? else { continue };
        // Without a gateway, the kernel answers for any interface that it is asked about.
        if !route.has_gateway && usual != Some(found.index) {
            continue;
        }
        let own = found.addresses.iter().filter(|address| address.is_routable());
        let first = own.map(|a| a.ip).find(|ip| ip.is_ipv4() == peer.is_ipv4());
        let way = route.from.or(first).map(|local| Way { interface, local });
        routed.extend(way.map(|way| (usual != Some(found.index), way)));
    }
    routed.sort_by_key(|(is_unusual, _)| *is_unusual);
    Ok(routed.into_iter().map(|(_, way)| way).collect())
}

/// For each list of interfaces, which of them it gets, so that as many lists as possible get one of
/// their own. A list takes what is free, and only if nothing is, has others look for another.
fn assign(wanted: &[Vec<usize>], interfaces: usize) -> Vec<Option<usize>> {
    fn find(
        who: usize,
        wanted: &[Vec<usize>],
        seen: &mut [bool],
        owner: &mut [Option<usize>],
    ) -> bool {
        if let Some(&free) = wanted[who].iter().find(|&&interface| owner[interface].is_none()) {
            owner[free] = Some(who);
            return true;
        }
        for &interface in &wanted[who] {
            if std::mem::replace(&mut seen[interface], true) {
                continue;
            }
            if owner[interface].is_some_and(|other| find(other, wanted, seen, owner)) {
                owner[interface] = Some(who);
                return true;
            }
        }
        false
    }
    let mut owner = vec![None; interfaces];
    for who in 0..wanted.len() {
        find(who, wanted, &mut vec![false; interfaces], &mut owner);
    }
    let own = |(who, wanted): (usize, &Vec<usize>)| {
        wanted.iter().position(|interface| owner[*interface] == Some(who))
    };
    wanted.iter().enumerate().map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::assign;

    #[test]
    fn as_many_as_possible_get_an_interface_of_their_own() {
        assert_eq!(assign(&[vec![0, 1], vec![0]], 2), [Some(1), Some(0)]);
        assert_eq!(assign(&[vec![0, 1], vec![0, 1]], 2), [Some(0), Some(1)], "in order");
        assert_eq!(assign(&[vec![0], vec![0]], 2), [Some(0), None]);
        assert_eq!(
            assign(&[vec![], vec![2, 1], vec![2], vec![1, 0]], 3),
            [None, Some(1), Some(0), Some(1)]
        );
        assert_eq!(assign(&[], 0), []);
    }

    /// The most lists that can get one of their own, by trying everything.
    fn most(wanted: &[Vec<usize>], taken: u32) -> usize {
        let Some((first, rest)) = wanted.split_first() else { return 0 };
        let free = first.iter().filter(|&&interface| taken & 1 << interface == 0);
        let with = free.map(|interface| 1 + most(rest, taken | 1 << interface)).max();
        with.unwrap_or(0).max(most(rest, taken))
    }

    #[test]
    fn no_other_assignment_serves_more() {
        // Every choice of the interfaces that three addresses can have, and a fourth that has two.
        for bits in 0..1_usize << 12 {
            let list = |at: usize| (0..4).filter(|i| bits >> (4 * at + i) & 1 == 1).collect();
            let wanted = [list(0), vec![0, 3], list(1), list(2)];
            let found = assign(&wanted, 4);
            let mut used: Vec<usize> =
                found.iter().zip(&wanted).filter_map(|(at, of)| Some(of[(*at)?])).collect();
            used.sort_unstable();
            used.dedup();
            assert_eq!(used.len(), found.iter().flatten().count(), "{wanted:?}: one has two");
            assert_eq!(used.len(), most(&wanted, 0), "{wanted:?}: {found:?}");
        }
    }
}
