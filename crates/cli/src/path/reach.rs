//! The paths of this machine that `serve` and `drill --to` use, from what the user names.

use std::net::SocketAddr;
use std::path::Path;

use clap::{Arg, ArgMatches, value_parser};
use laneway_connections::reach::{self, PORT, PeerPath};
use laneway_connections::{Endpoint, LocalPath, Options, PathName, Secret, Setup};

pub use crate::advice::path::failure;
use crate::advice::path::unreached;
use crate::failure::Failure;

/// The arguments of both ends.
pub fn args() -> [Arg; 3] {
    [
        Arg::new("paths").long("paths").value_name("DEVICE,DEVICE").value_delimiter(',').help(
            "The interfaces to use as paths, comma-separated; eth0/2 is a second path through eth0 \
             with other ports [default: all usable ones]",
        ),
        Arg::new("secret").long("secret").value_name("FILE").help(
            "The file with the secret of both ends, mode 600; without it, loopback only. \
                 LANEWAY_SECURITY, the same at both ends, says how messages are protected: \
                 encrypt, authenticate (default) or trust. LANEWAY_PATH_KIND of the end that \
                 opens a connection says what carries its data: datagram (default) or stream",
        ),
        Arg::new("port")
            .long("port")
            .value_name("PORT")
            .value_parser(value_parser!(u16).range(1..))
            .default_value("7471")
            .help("The server's port on each path; a second path (eth0/2) has the next port"),
    ]
}

fn port(matches: &ArgMatches) -> u16 {
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

/// Where a server is: on each path that is named, or one address of each device that can be one.
pub fn own_paths(matches: &ArgMatches, secret: &Secret) -> Result<Vec<LocalPath>, Failure> {
    reach::own_paths(&names(matches)?, port(matches), secret).map_err(unreached)
}

/// This end of the paths to a server, in the order of its addresses.
pub fn paths_to(matches: &ArgMatches, peers: &[PeerPath]) -> Result<Vec<LocalPath>, Failure> {
    reach::paths_to(&names(matches)?, peers).map_err(unreached)
}

/// The server's addresses, with its ports.
pub fn addresses(matches: &ArgMatches, peers: &[PeerPath]) -> Result<Vec<SocketAddr>, Failure> {
    let port = port(matches);
    peers.iter().map(|peer| peer.address(port).map_err(unreached)).collect()
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
