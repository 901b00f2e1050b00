//! The machine's network interfaces, as the kernel lists them: links, addresses, and by which one a
//! route goes.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::inventory::ethtool::Ethtool;
use crate::inventory::netlink::{Malformed, Socket, attributes, push_attribute, u16_at, u32_at};

/// What went wrong between us and the system; the message of an error says what its fields are.
#[allow(missing_docs)]
#[derive(Debug)]
#[non_exhaustive]
pub enum InterfaceError {
    /// The system refused a call.
    System { what: &'static str, error: io::Error },
    /// No interface can have this name.
    Name(String),
}

impl InterfaceError {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> InterfaceError {
        move |error| InterfaceError::System { what, error }
    }
}

impl fmt::Display for InterfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterfaceError::System { what, error } => write!(f, "{what}: {error}"),
            InterfaceError::Name(name) => write!(f, "`{name}` cannot be an interface's name"),
        }
    }
}

impl std::error::Error for InterfaceError {}

/// One interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its index in the kernel.
    pub index: u32,
    /// `veth`, `bridge` and the like where the kernel says so, else the kind of hardware.
    pub kind: String,
    /// The kernel's driver, where one says so.
    pub driver: Option<String>,
    /// The longest packet, IP included.
    pub mtu: u32,
    /// Whether it is switched on.
    pub is_up: bool,
    /// Whether it leads to this machine alone.
    pub is_loopback: bool,
    /// The state that the kernel reports.
    pub state: OperationalState,
    /// Whether it has a carrier.
    pub has_carrier: bool,
    /// Its speed, if the driver reports one.
    pub speed_mbit: Option<u32>,
    /// Its addresses.
    pub addresses: Vec<Address>,
}

/// The state of RFC 2863, which the kernel follows a little after the carrier.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationalState {
    Unknown,
    NotPresent,
    Down,
    LowerLayerDown,
    Testing,
    Dormant,
    Up,
}

impl OperationalState {
    fn from_number(number: u8) -> OperationalState {
        match number {
            1 => OperationalState::NotPresent,
            2 => OperationalState::Down,
            3 => OperationalState::LowerLayerDown,
            4 => OperationalState::Testing,
            5 => OperationalState::Dormant,
            6 => OperationalState::Up,
            _ => OperationalState::Unknown,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            OperationalState::Unknown => "unknown",
            OperationalState::NotPresent => "not-present",
            OperationalState::Down => "down",
            OperationalState::LowerLayerDown => "lower-layer-down",
            OperationalState::Testing => "testing",
            OperationalState::Dormant => "dormant",
            OperationalState::Up => "up",
        }
    }
}

/// An address of an interface, and the subnet that is reached by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// An address of the subnet: the other end's on a point-to-point link, else our own.
    pub network: IpAddr,
    /// How many bits of it are the subnet's.
    pub prefix: u8,
}

impl Address {
    /// An address in a subnet of its own.
    pub fn new(ip: IpAddr, prefix: u8) -> Address {
        Address { ip, network: ip, prefix }
    }

    /// Whether another address is in the subnet.
    pub fn holds(&self, other: IpAddr) -> bool {
        let differs = |a: u128, b: u128, bits: u32| {
            let outside = bits.saturating_sub(u32::from(self.prefix));
            (a ^ b).checked_shr(outside).unwrap_or(0) != 0
        };
        match (self.network, other) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                !differs(u32::from(a).into(), u32::from(b).into(), u32::BITS)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => !differs(a.into(), b.into(), u128::BITS),
            _ => false,
        }
    }

    /// Whether it is valid beyond one link, so that it can be offered to a peer.
    pub fn is_routable(&self) -> bool {
        match self.ip {
            IpAddr::V4(_) => true,
            IpAddr::V6(ip) => !ip.is_unicast_link_local(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

/// Every interface of the calling thread's network namespace, by index.
pub fn list() -> Result<Vec<Interface>, InterfaceError> {
    let failed = || InterfaceError::system("listing network interfaces");
    let mut socket = Socket::open().map_err(failed())?;
    let drivers = Ethtool::open().map_err(failed())?;
    let links = socket.dump(libc::RTM_GETLINK, &[0; LINK_HEADER]).map_err(failed())?;
    let mut found = Vec::new();
    for link in &links {
        let mut interface = read_link(link).map_err(io::Error::from).map_err(failed())?;
        interface.driver = drivers.driver(&interface.name);
        interface.speed_mbit = drivers.speed_mbit(&interface.name);
        found.push(interface);
    }
    let addresses = socket.dump(libc::RTM_GETADDR, &[0; ADDRESS_HEADER]).map_err(failed())?;
    for address in &addresses {
        let read = read_address(address).map_err(io::Error::from).map_err(failed())?;
        let Some((index, address)) = read else { continue };
        if let Some(owner) = found.iter_mut().find(|interface| interface.index == index) {
            owner.addresses.push(address);
        }
    }
    found.sort_by_key(|interface| interface.index);
    Ok(found)
}

const LINK_HEADER: usize = 16;
const ADDRESS_HEADER: usize = 8;
const ROUTE_HEADER: usize = 12;

/// Attributes that `libc` has for some systems alone.
const IFLA_CARRIER: u16 = 33;
const IFLA_INFO_KIND: u16 = 1;

/// An interface without what its driver and its addresses add.
fn read_link(body: &[u8]) -> Result<Interface, Malformed> {
    let flags = u32_at(body, 8)? as i32;
    let mut found = Interface {
        name: String::new(),
        index: u32_at(body, 4)?,
        kind: hardware(u16_at(body, 2)?).into(),
        driver: None,
        mtu: 0,
        is_up: flags & libc::IFF_UP != 0,
        is_loopback: flags & libc::IFF_LOOPBACK != 0,
        state: OperationalState::Unknown,
        has_carrier: false,
        speed_mbit: None,
        addresses: Vec::new(),
    };
    for (kind, value) in attributes(body.get(LINK_HEADER..).ok_or(Malformed)?)? {
        match kind {
            libc::IFLA_IFNAME => found.name = text(value),
            libc::IFLA_MTU => found.mtu = u32_at(value, 0)?,
            libc::IFLA_OPERSTATE => {
                let number = value.first().ok_or(Malformed)?;
                found.state = OperationalState::from_number(*number);
            }
            // One that is switched off keeps its last word on the carrier.
            IFLA_CARRIER => {
                found.has_carrier = found.is_up && *value.first().ok_or(Malformed)? != 0;
            }
            libc::IFLA_LINKINFO => {
                let kind = attributes(value)?.into_iter().find(|(kind, _)| *kind == IFLA_INFO_KIND);
                found.kind = kind.map_or(found.kind, |(_, value)| text(value));
            }
            _ => {}
        }
    }
    Ok(found)
}

fn hardware(number: u16) -> &'static str {
    match number {
        libc::ARPHRD_ETHER => "ethernet",
        libc::ARPHRD_LOOPBACK => "loopback",
        libc::ARPHRD_INFINIBAND => "infiniband",
        libc::ARPHRD_NONE => "tunnel",
        _ => "other",
    }
}

/// A text up to its zero.
fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// An address with the index of its interface; nothing where it is of another family.
fn read_address(body: &[u8]) -> Result<Option<(u32, Address)>, Malformed> {
    let [family, prefix] = *body.first_chunk().ok_or(Malformed)?;
    let index = u32_at(body, 4)?;
    let (mut local, mut network) = (None, None);
    for (kind, value) in attributes(body.get(ADDRESS_HEADER..).ok_or(Malformed)?)? {
        match kind {
            libc::IFA_LOCAL => local = read_ip(family, value)?,
            libc::IFA_ADDRESS => network = read_ip(family, value)?,
            _ => {}
        }
    }
    let address = local.or(network).map(|ip| {
        let network = network.unwrap_or(ip);
        (index, Address { ip, network, prefix })
    });
    Ok(address)
}

fn read_ip(family: u8, bytes: &[u8]) -> Result<Option<IpAddr>, Malformed> {
    Ok(match i32::from(family) {
        libc::AF_INET => Some(Ipv4Addr::from(*bytes.first_chunk::<4>().ok_or(Malformed)?).into()),
        libc::AF_INET6 => Some(Ipv6Addr::from(*bytes.first_chunk::<16>().ok_or(Malformed)?).into()),
        _ => None,
    })
}

/// Where packets to an address would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// The interface's index.
    pub by: u32,
    /// The address that they would leave from.
    pub from: Option<IpAddr>,
    /// Whether they go by a gateway; otherwise the kernel takes the address to be on the link.
    pub has_gateway: bool,
}

/// The kernel's route to an address, or its route by one interface; nothing where there is none.
pub fn route(to: IpAddr, by: Option<u32>) -> Result<Option<Route>, InterfaceError> {
    let failed = || InterfaceError::system("looking up a route");
    let (family, octets) = match to {
        IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec()),
        IpAddr::V6(ip) => (libc::AF_INET6, ip.octets().to_vec()),
    };
    let mut question = vec![0; ROUTE_HEADER];
    question[0] = family as u8;
    question[1] = octets.len() as u8 * 8;
    push_attribute(&mut question, libc::RTA_DST, &octets);
    if let Some(by) = by {
        push_attribute(&mut question, libc::RTA_OIF, &by.to_ne_bytes());
    }
    let mut socket = Socket::open().map_err(failed())?;
    let answer = match socket.ask(libc::RTM_GETROUTE, 0, &question) {
        Ok(answer) => answer,
        Err(error) if is_without_route(&error) => return Ok(None),
        Err(error) => return Err(failed()(error)),
    };
    let Some(body) = answer.first() else { return Ok(None) };
    read_route(body).map_err(io::Error::from).map_err(failed())
}

fn is_without_route(error: &io::Error) -> bool {
    const NONE: [i32; 5] =
        [libc::ENETUNREACH, libc::EHOSTUNREACH, libc::ENETDOWN, libc::ENODEV, libc::EINVAL];
    error.raw_os_error().is_some_and(|code| NONE.contains(&code))
}

fn read_route(body: &[u8]) -> Result<Option<Route>, Malformed> {
    let family = *body.first().ok_or(Malformed)?;
    let (mut by, mut from, mut has_gateway) = (None, None, false);
    for (kind, value) in attributes(body.get(ROUTE_HEADER..).ok_or(Malformed)?)? {
        match kind {
            libc::RTA_OIF => by = Some(u32_at(value, 0)?),
            libc::RTA_PREFSRC => from = read_ip(family, value)?,
            libc::RTA_GATEWAY | libc::RTA_VIA => has_gateway = true,
            _ => {}
        }
    }
    Ok(by.map(|by| Route { by, from, has_gateway }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::netlink::messages;

    /// Reads bytes as everything that they could be.
    fn read(bytes: &[u8]) -> usize {
        let bodies = messages(bytes).unwrap_or_default().into_iter().map(|message| message.body);
        let mut understood = 0;
        for body in bodies.chain([bytes]) {
            understood += usize::from(read_link(body).is_ok());
            understood += usize::from(matches!(read_address(body), Ok(Some(_))));
            understood += usize::from(matches!(read_route(body), Ok(Some(_))));
        }
        understood
    }

    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for _ in 0..100_000 {
            let length = random(&mut state) as usize % 200;
            let mut bytes: Vec<u8> = (0..length).map(|_| random(&mut state) as u8).collect();
            // Small lengths get further than random ones.
            for at in (0..length.saturating_sub(1)).step_by(4) {
                if random(&mut state).is_multiple_of(2) {
                    bytes[at] %= 40;
                    bytes[at + 1] = 0;
                }
            }
            read(&bytes);
        }
    }

    /// What the kernel says, cut anywhere and with any bytes changed.
    #[test]
    fn real_messages_cut_and_changed_are_read_or_refused() {
        let mut socket = Socket::open().expect("a netlink socket");
        let mut bodies = socket.dump(libc::RTM_GETLINK, &[0; LINK_HEADER]).expect("links");
        bodies.extend(socket.dump(libc::RTM_GETADDR, &[0; ADDRESS_HEADER]).expect("addresses"));
        let mut state = 7;
        let mut refused = 0;
        for body in &bodies {
            assert!(read(body) > 0, "a whole message is understood");
            for length in 0..body.len() {
                refused += usize::from(read_link(&body[..length]).is_err());
            }
            for _ in 0..2_000 {
                let mut changed = body.clone();
                for _ in 0..=random(&mut state) % 4 {
                    let at = random(&mut state) as usize % changed.len();
                    changed[at] = random(&mut state) as u8;
                }
                read(&changed);
            }
        }
        assert!(refused > 16, "messages that are cut are refused");
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let zero = [0_u8; 16];
        assert_eq!(messages(&zero), Err(Malformed), "it would never end");
        assert_eq!(attributes(&[3, 0, 1, 0]), Err(Malformed));
        assert_eq!(attributes(&[9, 0, 1, 0, 5, 5, 5, 5]), Err(Malformed));
        assert_eq!(attributes(&[6, 0, 1, 0x80, 5, 6]), Ok(vec![(1, &[5, 6][..])]));
        assert_eq!(read_link(&[0; 15]), Err(Malformed));
        assert_eq!(read_address(&[2]), Err(Malformed));
    }

    #[test]
    fn a_subnet_holds_its_own() {
        let address = |text: &str, prefix| Address::new(text.parse().expect("an address"), prefix);
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert!(address("10.1.2.3", 24).holds(ip("10.1.2.200")));
        assert!(!address("10.1.2.3", 24).holds(ip("10.1.3.3")));
        assert!(address("10.1.2.3", 0).holds(ip("192.0.2.1")));
        assert!(!address("10.1.2.3", 32).holds(ip("10.1.2.2")));
        assert!(address("fd00::1", 64).holds(ip("fd00::ffff:1")));
        assert!(!address("fd00::1", 64).holds(ip("fd00:0:0:1::1")));
        assert!(address("fd00::1", 0).holds(ip("::1")) && !address("::1", 0).holds(ip("0.0.0.0")));
        assert!(!address("fe80::1", 64).is_routable());
    }
}
