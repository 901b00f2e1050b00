//! What can stand between an interface and its use as a path, with a sentence for each.

use std::fmt;
use std::fs;
use std::net::IpAddr;

use crate::inventory::interfaces::{Address, Interface};
use crate::inventory::path_name::PathName;

/// Why an interface cannot be a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNot {
    /// It leads to this machine alone.
    Loopback,
    /// It is switched off.
    Off,
    /// It has no carrier.
    NoCarrier,
    /// It has no address that a peer could reach.
    NoAddress,
}

impl WhyNot {
    /// The first reason against an interface, if there is one.
    pub fn of(interface: &Interface) -> Option<WhyNot> {
        if interface.is_loopback {
            Some(WhyNot::Loopback)
        } else if !interface.is_up {
            Some(WhyNot::Off)
        } else if !interface.has_carrier {
            Some(WhyNot::NoCarrier)
        } else if !interface.addresses.iter().any(Address::is_routable) {
            Some(WhyNot::NoAddress)
        } else {
            None
        }
    }

    /// The words for it.
    pub fn sentence(self) -> &'static str {
        match self {
            WhyNot::Loopback => "it is a loopback interface",
            WhyNot::Off => "it is administratively down",
            WhyNot::NoCarrier => "it has no carrier: cable, switch or the other end is off",
            WhyNot::NoAddress => "it has no address that a peer could reach",
        }
    }
}

/// What the kernel does with packets of an interface that concern another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// 0 answers for any address of the machine.
    pub arp_ignore: u32,
    /// 0 and 1 may ask in the name of another interface's address.
    pub arp_announce: u32,
    /// 1 drops packets from where the route does not lead back by the same interface.
    pub rp_filter: u32,
}

impl Settings {
    /// As the kernel takes them: the larger of an interface's own and that of all.
    pub fn read(name: &str) -> Settings {
        let one = |whose: &str, what: &str| {
            let text = fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{whose}/{what}"));
            text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
        };
        let larger = |what: &str| one("all", what).max(one(name, what));
        Settings {
            arp_ignore: larger("arp_ignore"),
            arp_announce: larger("arp_announce"),
            rp_filter: larger("rp_filter"),
        }
    }

    /// Whether each interface answers and asks for its own addresses alone.
    fn keep_to_own_addresses(self) -> bool {
        self.arp_ignore >= 1 && self.arp_announce >= 2
    }
}

/// A finding for the setup of two paths, with the interfaces that it is about.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// An interface that can be no path.
    Unusable { device: String, why: WhyNot },
    /// Two interfaces in one subnet.
    OneSubnet { devices: [String; 2], subnets: [Address; 2], settings: [Settings; 2] },
    /// The kernel drops what comes by an interface that the way back does not lead through.
    StrictReversePath { device: String, towards: IpAddr, goes_by: Option<String> },
    /// Packets of one are too long for the other.
    UnequalMtu { devices: [String; 2], mtu: [u32; 2] },
    /// Two paths through it that differ in their ports.
    OneDevice { device: String, names: [PathName; 2] },
    /// `taken` are those that lead there, but serve other addresses.
    NoInterfaceFor { peer: IpAddr, taken: Vec<String> },
}

impl Finding {
    /// Whether it keeps its interfaces from being paths of their own.
    pub fn is_obstacle(&self) -> bool {
        match self {
            Finding::OneSubnet { settings, .. } => {
                !settings.iter().all(|settings| settings.keep_to_own_addresses())
            }
            Finding::UnequalMtu { .. } | Finding::OneDevice { .. } => false,
            _ => true,
        }
    }

    /// The interfaces that it is about.
    pub fn devices(&self) -> &[String] {
        match self {
            Finding::Unusable { device, .. }
            | Finding::StrictReversePath { device, .. }
            | Finding::OneDevice { device, .. } => std::slice::from_ref(device),
            Finding::OneSubnet { devices, .. } | Finding::UnequalMtu { devices, .. } => devices,
            Finding::NoInterfaceFor { .. } => &[],
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Unusable { device, why } => {
                write!(f, "{device} cannot be a path: {}.", why.sentence())
            }
            Finding::OneSubnet { devices: [a, b], subnets: [of_a, of_b], settings } => {
                write!(f, "{a} ({of_a}) and {b} ({of_b}) are in one subnet")?;
                if !self.is_obstacle() {
                    return f.write_str(", and keep to their own addresses.");
                }
                let [one, other] = settings;
                let ignore = one.arp_ignore.min(other.arp_ignore);
                let announce = one.arp_announce.min(other.arp_announce);
                write!(
                    f,
                    " and answer for each other's addresses (arp_ignore {ignore}, arp_announce \
                     {announce}), so that both paths may be one cable: give each a subnet of its \
                     own, or sysctl net.ipv4.conf.all.arp_ignore=1 \
                     net.ipv4.conf.all.arp_announce=2."
                )
            }
            Finding::StrictReversePath { device, towards, goes_by } => {
                let goes_by = goes_by.as_deref().unwrap_or("no interface");
                write!(
                    f,
                    "{device} drops packets from {towards}, to which the route goes by {goes_by} \
                     (rp_filter 1): sysctl net.ipv4.conf.{device}.rp_filter=2."
                )
            }
            Finding::UnequalMtu { devices: [a, b], mtu: [of_a, of_b] } => {
                let least = of_a.min(of_b);
                write!(
                    f,
                    "{a} has an MTU of {of_a} and {b} of {of_b}: a connection over both has \
                     packets for {least}."
                )
            }
            Finding::OneDevice { device, names: [one, other] } => write!(
                f,
                "{one} and {other} go through one interface and differ in their UDP ports: they \
                 are two ways where the network spreads flows by their ports (ECMP), and none is \
                 left when {device} fails."
            ),
            Finding::NoInterfaceFor { peer, taken } => match &taken.join(", ")[..] {
                "" => write!(f, "No interface has the subnet of {peer}, or a route to it."),
                taken => write!(f, "No interface is left for {peer}: {taken} would lead there."),
            },
        }
    }
}
