//! Which interfaces of a rank's host are its paths, in an order that all hosts agree on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use laneway_connections::advice::WhyNot;
use laneway_connections::interfaces::{self, Address, Interface};
use laneway_connections::{InterfaceError, LocalPath, NetError, PathName};
use laneway_path::wire::MOST_PATHS;

use crate::error::RanksError;
use crate::words::Paths;

/// This end of each path, and its network if no devices were named.
#[derive(Default)]
pub(crate) struct Chosen {
    pub local: Vec<LocalPath>,
    pub networks: Vec<String>,
}

/// The longest packets to ranks of the same machine, those of most fast networks. Short ones take
/// half as long again for a long message; of longer ones the first window would not fit the
/// buffers that a process without privileges gets.
const NEAR_MTU: u32 = 9000;

/// The way to ranks of the same machine.
pub(crate) fn loopback() -> LocalPath {
    // Where interfaces cannot be listed, what every network carries does.
    near(&interfaces::list().unwrap_or_default())
}

fn near(all: &[Interface]) -> LocalPath {
    let local = LocalPath::at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let device = all.iter().find(|interface| interface.is_loopback);
    let mtu = device.map(|device| device.mtu.min(NEAR_MTU) as usize);
    LocalPath { mtu: mtu.unwrap_or(local.mtu), ..local }
}

pub(crate) fn choose(paths: &Paths) -> Result<Chosen, RanksError> {
    match paths {
        Paths::Loopback => Ok(Chosen::default()),
        Paths::Usable => usable(&listed()?),
        Paths::Devices(devices) => named(&listed()?, devices),
    }
}

fn listed() -> Result<Vec<Interface>, RanksError> {
    interfaces::list().map_err(|error: InterfaceError| {
        RanksError::system("list the interfaces of this host", error)
    })
}

/// Every interface that can be a path, ordered by its network: interfaces may have any name.
fn usable(all: &[Interface]) -> Result<Chosen, RanksError> {
    let usable = all.iter().filter(|interface| WhyNot::of(interface).is_none());
    let mut found: Vec<(IpAddr, u8, LocalPath)> = usable
        .filter_map(|interface| {
            let address = address(interface)?;
            Some((network(address), address.prefix, local_path(interface, address)))
        })
        .collect();
    found.sort_by_key(|(network, prefix, _)| (*network, *prefix));
    found.truncate(MOST_PATHS);
    if found.is_empty() {
        let why = "none but loopback is switched on with a carrier and an address".into();
        return Err(RanksError::Device { device: "an interface of this host".into(), why });
    }
    let networks = found.iter().map(|(network, prefix, _)| format!("{network}/{prefix}"));
    Ok(Chosen {
        networks: networks.collect(),
        local: found.into_iter().map(|(_, _, local)| local).collect(),
    })
}

/// What was given as a path and cannot be one.
pub(crate) fn refused_path(error: NetError) -> RanksError {
    match error {
        NetError::PathName { text, why } => RanksError::Device { device: format!("`{text}`"), why },
        other => RanksError::System { what: "read the paths".into(), error: other.to_string() },
    }
}

/// These in this order. A device without a carrier may get it later. Each path has a port of its
/// own, also where several go through one device.
fn named(all: &[Interface], names: &[String]) -> Result<Chosen, RanksError> {
    let mut local = Vec::new();
    for name in PathName::list(names.iter().map(String::as_str)).map_err(refused_path)? {
        let refused = |why: String| RanksError::Device { device: name.device.clone(), why };
        let Some(interface) = all.iter().find(|interface| interface.name == name.device) else {
            let names: Vec<&str> = all.iter().map(|interface| interface.name.as_str()).collect();
            return Err(refused(format!("this host has {}", names.join(", "))));
        };
        let why_not = WhyNot::of(interface).filter(|why| *why != WhyNot::NoCarrier);
        match (why_not, address(interface)) {
            (None, Some(address)) => local.push(local_path(interface, address)),
            (why, _) => {
                return Err(refused(why.unwrap_or(WhyNot::NoAddress).sentence().into()));
            }
        }
    }
    Ok(Chosen { local, networks: Vec::new() })
}

/// The address that is given to peers: IPv4 if there is one.
fn address(interface: &Interface) -> Option<Address> {
    let routable = || interface.addresses.iter().filter(|address| address.is_routable());
    routable().find(|address| address.ip.is_ipv4()).or_else(|| routable().next()).copied()
}

fn local_path(interface: &Interface, address: Address) -> LocalPath {
    LocalPath {
        device: Some(interface.name.clone()),
        mtu: interface.mtu as usize,
        ..LocalPath::at(SocketAddr::new(address.ip, 0))
    }
}

/// The first address of its subnet.
fn network(address: Address) -> IpAddr {
    let prefix = u32::from(address.prefix);
    match address.network {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - prefix.min(32)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(ip) & mask))
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - prefix.min(128)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(ip) & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_connections::interfaces::OperationalState;

    fn interface(name: &str, ip: &str, prefix: u8) -> Interface {
        Interface {
            name: name.into(),
            index: 1,
            kind: "veth".into(),
            driver: None,
            mtu: 1400,
            is_up: true,
            is_loopback: name == "lo",
            state: OperationalState::Up,
            has_carrier: name != "dead0",
            speed_mbit: None,
            addresses: vec![Address::new(ip.parse().expect("an address"), prefix)],
        }
    }

    fn all() -> Vec<Interface> {
        vec![
            interface("lo", "127.0.0.1", 8),
            interface("b0", "10.1.7.3", 16),
            interface("a0", "10.0.255.9", 24),
            interface("dead0", "10.2.0.1", 24),
        ]
    }

    #[test]
    fn usable_interfaces_are_ordered_by_their_networks() {
        let chosen = usable(&all()).expect("two");
        assert_eq!(chosen.networks, ["10.0.255.0/24", "10.1.0.0/16"]);
        let devices: Vec<_> = chosen.local.iter().map(|path| path.device.as_deref()).collect();
        assert_eq!(devices, [Some("a0"), Some("b0")]);
        assert_eq!(chosen.local[0].mtu, 1400);
        assert!(usable(&all()[..1]).is_err(), "loopback alone");
    }

    #[test]
    fn ranks_of_one_machine_have_packets_that_its_loopback_carries() {
        let mtu = |mtu: u32| near(&[Interface { mtu, ..interface("lo", "127.0.0.1", 8) }]).mtu;
        assert_eq!((mtu(65_536), mtu(9000), mtu(1280)), (9000, 9000, 1280));
        assert_eq!((near(&[]).mtu, near(&all()[1..]).mtu), (1500, 1500));
    }

    #[test]
    fn named_devices_keep_their_order_and_must_be_there() {
        let names = |text: &str| -> Vec<String> { text.split(',').map(str::to_string).collect() };
        let chosen = named(&all(), &names("dead0,b0")).expect("two");
        assert_eq!(chosen.local[0].address.ip(), "10.2.0.1".parse::<IpAddr>().expect("address"));
        let two = named(&all(), &names("b0,b0/2,a0")).expect("three paths, two devices");
        let devices: Vec<_> = two.local.iter().map(|path| path.device.as_deref()).collect();
        assert_eq!(devices, [Some("b0"), Some("b0"), Some("a0")]);
        for bad in ["b0,eth9", "lo", "b0,b0", "b0/2,b0/x"] {
            assert!(matches!(named(&all(), &names(bad)), Err(RanksError::Device { .. })), "{bad}");
        }
    }
}
