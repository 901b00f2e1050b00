//! The paths of this machine that `serve` and `drill --to` use, from what the user names.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::Failure;
use laneway_net::advice::{WhyNot, choose};
use laneway_net::interfaces;
use laneway_net::{
    Endpoint, Interface, InterfaceError, LocalPath, NetError, Options, Secret, Setup,
};

/// The first port that a server takes; a firewall opens this one for each path.
pub const PORT: u16 = 7471;

/// The arguments of both ends.
pub fn args() -> [Arg; 3] {
    [
        Arg::new("paths")
            .long("paths")
            .value_name("DEVICE,DEVICE")
            .value_delimiter(',')
            .help("The interfaces that are paths [default: all usable ones]"),
        Arg::new("secret").long("secret").value_name("FILE").help(
            "The file with the secret that both ends know, mode 600; without one, loopback only",
        ),
        Arg::new("port")
            .long("port")
            .value_name("PORT")
            .value_parser(value_parser!(u16).range(1..))
            .default_value("7471")
            .help("The server's port on every path"),
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

fn devices(matches: &ArgMatches) -> Vec<&str> {
    matches.get_many::<String>("paths").into_iter().flatten().map(String::as_str).collect()
}

fn listed() -> Result<Vec<Interface>, Failure> {
    interfaces::list().map_err(unlisted)
}

fn unlisted(error: InterfaceError) -> Failure {
    Failure::environment("cannot list the interfaces", error.to_string(), "laneway path info")
}

/// Where a server is: one address of each device that can be a path.
pub fn own_paths(matches: &ArgMatches, secret: &Secret) -> Result<Vec<LocalPath>, Failure> {
    let (all, named, port) = (listed()?, devices(matches), port(matches));
    if let Some(name) = named.iter().find(|name| all.iter().all(|one| one.name != **name)) {
        let have: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        let cause = format!("there are {}", have.join(", "));
        return Err(Failure::environment(
            format!("no interface `{name}`"),
            cause,
            "laneway path info",
        ));
    }
    if named.is_empty() && !secret.is_known() {
        return Ok(vec![LocalPath { mtu: 65_536, ..LocalPath::at(([127, 0, 0, 1], port).into()) }]);
    }
    let usable = |one: &&Interface| match named.is_empty() {
        true => WhyNot::of(one).is_none(),
        false => named.contains(&one.name.as_str()),
    };
    let path = |one: &Interface| {
        let address = one.addresses.iter().find(|address| address.is_routable())?;
        Some(local_path(one, SocketAddr::new(address.ip, port)))
    };
    let paths: Vec<LocalPath> = all.iter().filter(usable).filter_map(path).collect();
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
pub fn paths_to(matches: &ArgMatches, peers: &[IpAddr]) -> Result<Vec<LocalPath>, Failure> {
    if peers.iter().all(IpAddr::is_loopback) {
        let local =
            |peer: &IpAddr| LocalPath { mtu: 65_536, ..LocalPath::at(SocketAddr::new(*peer, 0)) };
        return Ok(peers.iter().map(local).collect());
    }
    let all = listed()?;
    let choice = choose(&all, &devices(matches), peers).map_err(unlisted)?;
    if let Some(finding) = choice.findings.iter().find(|finding| finding.is_obstacle()) {
        let try_this = "laneway path info --peer ADDRESS,ADDRESS";
        return Err(Failure::environment("a path cannot be", finding.to_string(), try_this));
    }
    let found = |pair: &laneway_net::advice::Pair| {
        let interface = all.iter().find(|one| one.index == pair.index)?;
        Some(local_path(interface, SocketAddr::new(pair.local, 0)))
    };
    Ok(choice.pairs.iter().filter_map(found).collect())
}

pub fn endpoint(paths: Vec<LocalPath>, secret: Secret, accepts: bool) -> Result<Endpoint, Failure> {
    let options = Options { paths, secret, accepts, setup: Setup::usual() };
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
        NetError::Paths { .. } | NetError::Refused(_) => {
            Failure::usage(what, "a connection has one to eight paths", "laneway path info")
        }
        _ => Failure::environment(what, "the network or the other end", "laneway path info"),
    }
}
