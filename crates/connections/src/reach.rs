//! The paths of this machine on which a server listens, and those to a server's addresses.
//!
//! ```
//! use laneway_connections::Secret;
//! use laneway_connections::reach::{PORT, PeerPath, own_paths, paths_to};
//!
//! // Without a secret a server is on loopback alone.
//! let paths = own_paths(&[], PORT, &Secret::none())?;
//! assert_eq!(paths[0].address, "127.0.0.1:7471".parse().expect("an address"));
//! // Two paths to one address, distinguished by their ports.
//! let peers = ["127.0.0.1", "127.0.0.1/2"].map(|text| PeerPath::parse(text).expect("a path"));
//! assert_eq!(paths_to(&[], &peers)?.len(), 2);
//! assert_eq!(peers[1].address(PORT)?.port(), 7472);
//! # Ok::<(), laneway_connections::reach::ReachError>(())
//! ```

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use laneway_path::wire::MOST_PATHS;

use crate::driver::secret::Secret;
use crate::endpoint::LocalPath;
use crate::inventory::advice::{Finding, WhyNot, choose};
use crate::inventory::interfaces::{self, Interface, InterfaceError};
use crate::inventory::path_name::PathName;

/// The first port that a server takes; a firewall opens this one for each path.
pub const PORT: u16 = 7471;
/// What loopback carries in one packet.
const LOOPBACK_MTU: usize = 65_536;

/// Why there is no path.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReachError {
    /// The interfaces of this machine could not be listed.
    Interfaces(InterfaceError),
    /// No interface has this name.
    Unknown {
        /// As it was asked for.
        name: String,
        /// The names that there are.
        have: Vec<String>,
    },
    /// No interface that is up has an address.
    NoPath,
    /// A path of a device has no port left.
    NoPort {
        /// The port of the first path.
        first: u16,
        /// Which of the paths through a device, from 1.
        place: u8,
    },
    /// A path to a server is named twice.
    Twice(PeerPath),
    /// An interface or a route stands in the way.
    Obstacle(Box<Finding>),
}

impl fmt::Display for ReachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReachError::Interfaces(error) => write!(f, "cannot list the interfaces: {error}"),
            ReachError::Unknown { name, .. } => write!(f, "unknown interface `{name}`"),
            ReachError::NoPath => f.write_str("no interface that is up has an address"),
            ReachError::NoPort { first, place } => {
                write!(f, "no port for path {place}, counted from {first}")
            }
            ReachError::Twice(peer) => write!(f, "{peer} is named twice"),
            ReachError::Obstacle(finding) => finding.fmt(f),
        }
    }
}

impl Error for ReachError {}

impl From<InterfaceError> for ReachError {
    fn from(error: InterfaceError) -> ReachError {
        ReachError::Interfaces(error)
    }
}

/// A path to a server: `10.0.0.2`, or `10.0.0.2/2` for the second one to this address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerPath {
    /// The server's address.
    pub ip: IpAddr,
    /// Which of the paths to this address, from 1.
    pub place: u8,
}

impl PeerPath {
    /// Reads one; the error is a sentence.
    pub fn parse(text: &str) -> Result<PeerPath, String> {
        let (ip, place) = text.split_once('/').unwrap_or((text, "1"));
        let ip = ip.parse().map_err(|_| format!("`{ip}` is not an address"))?;
        let place = place.parse().ok().filter(|place| (1..=MOST_PATHS as u8).contains(place));
        let place = place.ok_or(format!("the paths to {ip} are {ip}/1 to {ip}/{MOST_PATHS}"))?;
        Ok(PeerPath { ip, place })
    }

    /// Where the server listens for it, whose first port is this.
    pub fn address(&self, port: u16) -> Result<SocketAddr, ReachError> {
        Ok(SocketAddr::new(self.ip, port_of(port, self.place)?))
    }
}

impl fmt::Display for PeerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            1 => write!(f, "{}", self.ip),
            place => write!(f, "{}/{place}", self.ip),
        }
    }
}

/// The server's port on the path of this place through its device.
fn port_of(first: u16, place: u8) -> Result<u16, ReachError> {
    first.checked_add(u16::from(place) - 1).ok_or(ReachError::NoPort { first, place })
}

/// Where a server is: on each path that is named, or one address of each device that can be one;
/// on loopback where nothing is named and no secret is known.
pub fn own_paths(
    named: &[PathName],
    port: u16,
    secret: &Secret,
) -> Result<Vec<LocalPath>, ReachError> {
    let all = interfaces::list()?;
    if named.is_empty() && !secret.is_known() {
        let loopback = LocalPath::at(([127, 0, 0, 1], port).into());
        return Ok(vec![LocalPath { mtu: LOOPBACK_MTU, ..loopback }]);
    }
    let mut named = named.to_vec();
    if named.is_empty() {
        let usable = all.iter().filter(|one| WhyNot::of(one).is_none());
        named = usable.map(|one| PathName { device: one.name.clone(), place: 1 }).collect();
    }
    let mut paths = Vec::new();
    for PathName { device, place } in named {
        let Some(one) = all.iter().find(|one| one.name == device) else {
            let have = all.iter().map(|one| one.name.clone()).collect();
            return Err(ReachError::Unknown { name: device, have });
        };
        if let Some(address) = one.addresses.iter().find(|address| address.is_routable()) {
            let port = port_of(port, place)?;
            paths.push(local_path(one, SocketAddr::new(address.ip, port)));
        }
    }
    if paths.is_empty() { Err(ReachError::NoPath) } else { Ok(paths) }
}

fn local_path(interface: &Interface, address: SocketAddr) -> LocalPath {
    let device = Some(interface.name.clone());
    LocalPath { device, mtu: interface.mtu as usize, ..LocalPath::at(address) }
}

/// This end of the paths to a server, in the order of its addresses. Where devices are named, only
/// these are used.
pub fn paths_to(named: &[PathName], peers: &[PeerPath]) -> Result<Vec<LocalPath>, ReachError> {
    let twice = (1..peers.len()).find(|at| peers[..*at].contains(&peers[*at]));
    if let Some(at) = twice {
        return Err(ReachError::Twice(peers[at]));
    }
    if peers.iter().all(|peer| peer.ip.is_loopback()) {
        let local = |peer: &PeerPath| {
            let address = SocketAddr::new(peer.ip, 0);
            LocalPath { mtu: LOOPBACK_MTU, ..LocalPath::at(address) }
        };
        return Ok(peers.iter().map(local).collect());
    }
    let all = interfaces::list()?;
    let devices: Vec<&str> = named.iter().map(|name| name.device.as_str()).collect();
    // Several paths to one address go through one device.
    let mut ips: Vec<IpAddr> = Vec::new();
    for peer in peers {
        if !ips.contains(&peer.ip) {
            ips.push(peer.ip);
        }
    }
    let choice = choose(&all, &devices, &ips)?;
    if let Some(finding) = choice.findings.iter().find(|finding| finding.is_obstacle()) {
        return Err(ReachError::Obstacle(Box::new(finding.clone())));
    }
    let found = |peer: &PeerPath| {
        let pair = choice.pairs.iter().find(|pair| pair.peer == peer.ip)?;
        let interface = all.iter().find(|one| one.index == pair.index)?;
        Some(local_path(interface, SocketAddr::new(pair.local, 0)))
    };
    Ok(peers.iter().filter_map(found).collect())
}
