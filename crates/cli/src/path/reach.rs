//! The paths of this machine that `serve` and `drill --to` use, from what the user names.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::Failure;
use laneway_net::advice::{WhyNot, choose};
use laneway_net::interfaces;
use laneway_net::{
    Endpoint, Interface, InterfaceError, LocalPath, NetError, Options, PathName, Secret, Setup,
};
use laneway_path::wire::MOST_PATHS;

/// The first port that a server takes; a firewall opens this one for each path.
pub const PORT: u16 = 7471;

/// The arguments of both ends.
pub fn args() -> [Arg; 3] {
    [
        Arg::new("paths").long("paths").value_name("DEVICE,DEVICE").value_delimiter(',').help(
            "The interfaces that are paths, eth0/2 a second path through one with other ports \
                 [default: all usable ones]",
        ),
        Arg::new("secret").long("secret").value_name("FILE").help(
            "The file with the secret that both ends know, mode 600; without one, loopback only",
        ),
        Arg::new("port")
            .long("port")
            .value_name("PORT")
            .value_parser(value_parser!(u16).range(1..))
            .default_value("7471")
            .help("The server's port on every path; the one after it for a second path, eth0/2"),
    ]
}

pub fn port(matches: &ArgMatches) -> u16 {
    matches.get_one("port").copied().unwrap_or(PORT)
}

pub fn secret(matches: &ArgMatches) -> Result<Secret, Failure> {
    match matches.get_one::<String>("secret") {
        Some(file) => Secret::from_file(Path::new(file)).map_err(failure),
        None => Ok(Secret::none()),
    }
}

fn names(matches: &ArgMatches) -> Result<Vec<PathName>, Failure> {
    let words = matches.get_many::<String>("paths").into_iter().flatten();
    PathName::list(words.map(String::as_str)).map_err(failure)
}

fn listed() -> Result<Vec<Interface>, Failure> {
    interfaces::list().map_err(unlisted)
}

fn unlisted(error: InterfaceError) -> Failure {
    Failure::environment("cannot list the interfaces", error.to_string(), "laneway path info")
}

/// A path to a server: `10.0.0.2`, or `10.0.0.2/2` for the second one to this address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerPath {
    pub ip: IpAddr,
    /// Which of the paths to this address, from 1.
    pub place: u8,
}

impl PeerPath {
    pub fn parse(text: &str) -> Result<PeerPath, String> {
        let (ip, place) = text.split_once('/').unwrap_or((text, "1"));
        let ip = ip.parse().map_err(|_| format!("`{ip}` is no address"))?;
        let place = place.parse().ok().filter(|place| (1..=MOST_PATHS as u8).contains(place));
        let place = place.ok_or(format!("the paths to {ip} are {ip}/1 to {ip}/{MOST_PATHS}"))?;
        Ok(PeerPath { ip, place })
    }

    /// Where the server listens for it.
    pub fn address(&self, port: u16) -> Result<SocketAddr, Failure> {
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
fn port_of(first: u16, place: u8) -> Result<u16, Failure> {
    first.checked_add(u16::from(place) - 1).ok_or_else(|| {
        let what = format!("there is no port for path {place} from {first} on");
        Failure::usage(what, "each path through a device has the next port", "--port 7471")
    })
}

/// Where a server is: on each path that is named, or one address of each device that can be one.
pub fn own_paths(matches: &ArgMatches, secret: &Secret) -> Result<Vec<LocalPath>, Failure> {
    let (all, mut named, port) = (listed()?, names(matches)?, port(matches));
    if named.is_empty() && !secret.is_known() {
        return Ok(vec![LocalPath { mtu: 65_536, ..LocalPath::at(([127, 0, 0, 1], port).into()) }]);
    }
    if named.is_empty() {
        let usable = all.iter().filter(|one| WhyNot::of(one).is_none());
        named = usable.map(|one| PathName { device: one.name.clone(), place: 1 }).collect();
    }
    let mut paths = Vec::new();
    for name in named {
        let Some(one) = all.iter().find(|one| one.name == name.device) else {
            let have: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            let (what, cause) = (format!("no interface `{}`", name.device), have.join(", "));
            let cause = format!("there are {cause}");
            return Err(Failure::environment(what, cause, "laneway path info"));
        };
        if let Some(address) = one.addresses.iter().find(|address| address.is_routable()) {
            let port = port_of(port, name.place)?;
            paths.push(local_path(one, SocketAddr::new(address.ip, port)));
        }
    }
    if paths.is_empty() {
        let cause = "no interface that is up has an address";
        return Err(Failure::environment("there is no path", cause, "laneway path info"));
    }
    Ok(paths)
}

fn local_path(interface: &Interface, address: SocketAddr) -> LocalPath {
    let device = Some(interface.name.clone());
    LocalPath { device, mtu: interface.mtu as usize, ..LocalPath::at(address) }
}

/// This end of the paths to a server, in the order of its addresses.
pub fn paths_to(matches: &ArgMatches, peers: &[PeerPath]) -> Result<Vec<LocalPath>, Failure> {
    let twice = (1..peers.len()).find(|at| peers[..*at].contains(&peers[*at]));
    if let Some(peer) = twice.map(|at| peers[at]) {
        let next = PeerPath { place: peer.place + 1, ..peer };
        let what = format!("{peer} is named twice");
        let cause = "each path to a server is another one";
        return Err(Failure::usage(what, cause, format!("--to {peer},{next}")));
    }
    if peers.iter().all(|peer| peer.ip.is_loopback()) {
        let local = |peer: &PeerPath| {
            let address = SocketAddr::new(peer.ip, 0);
            LocalPath { mtu: 65_536, ..LocalPath::at(address) }
        };
        return Ok(peers.iter().map(local).collect());
    }
    let (all, names) = (listed()?, names(matches)?);
    let devices: Vec<&str> = names.iter().map(|name| name.device.as_str()).collect();
    // Several paths to one address go through one device.
    let mut ips: Vec<IpAddr> = Vec::new();
    for peer in peers {
        if !ips.contains(&peer.ip) {
            ips.push(peer.ip);
        }
    }
    let choice = choose(&all, &devices, &ips).map_err(unlisted)?;
    if let Some(finding) = choice.findings.iter().find(|finding| finding.is_obstacle()) {
        let try_this = "laneway path info --peer ADDRESS,ADDRESS";
        return Err(Failure::environment("a path cannot be", finding.to_string(), try_this));
    }
    let found = |peer: &PeerPath| {
        let pair = choice.pairs.iter().find(|pair| pair.peer == peer.ip)?;
        let interface = all.iter().find(|one| one.index == pair.index)?;
        Some(local_path(interface, SocketAddr::new(pair.local, 0)))
    };
    Ok(peers.iter().filter_map(found).collect())
}

pub fn endpoint(
    paths: Vec<LocalPath>,
    secret: Secret,
    accepts: bool,
    spread: bool,
) -> Result<Endpoint, Failure> {
    let setup = Setup { spread, ..Setup::usual() };
    let options = Options { paths, secret, accepts, setup };
    Endpoint::open(options).map_err(failure)
}

/// How an error of a connection reaches a person.
pub fn failure(error: NetError) -> Failure {
    let what = error.to_string();
    match error {
        NetError::OpenSecret { path, .. } => {
            Failure::environment(what, "a secret is for its owner", format!("chmod 600 {path}"))
        }
        NetError::SecretFile { .. } | NetError::ShortSecret { .. } => {
            let try_this = "head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE";
            Failure::environment(what, "the job's secret cannot be used", try_this)
        }
        NetError::NoSecret { .. } => {
            let cause = "anybody who reaches the address could speak for the job";
            Failure::usage(what, cause, "--secret FILE")
        }
        NetError::PathName { .. } => Failure::usage(
            what,
            "a path is a device, or one of several through it: eth0 or eth0/2",
            "--paths eth0,eth0/2; laneway path info lists devices",
        ),
        NetError::Paths { .. } | NetError::Refused(_) => {
            Failure::usage(what, "a connection has one to eight paths", "laneway path info")
        }
        _ => Failure::environment(what, "the network or the other end", "laneway path info"),
    }
}
