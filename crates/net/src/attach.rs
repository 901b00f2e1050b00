//! A rank's side of the start: hears from the launcher who it is, says where it is, and connects.

use std::io::{BufRead, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use laneway_connections::{
    Endpoint, LocalPath, NetError, Options, PathKind, Secret, Security, Setup,
};
use laneway_processes::{Cores, Monotonic, hostname, reduce_timer_slack};

use crate::RanksComm;
use crate::error::RanksError;
use crate::link::{Making, NetLink};
use crate::machine::machine;
use crate::paths::{self, Chosen};
use crate::roster::{RanksWorld, Roster};
use crate::words::{Ended, Greeting, Seat, Word};

/// Tells a process that its standard input is a launcher's pipe.
pub(crate) const MARKER: &str = "LANEWAY_NET_RANK";

/// No connection takes longer to open than this, whatever the limit of waits is.
const CONNECT: Duration = Duration::from_secs(60);

/// How a process ends that could not become a rank, or has lost its launcher. The launcher, which
/// reports why, does not read it.
const NOT_A_RANK: i32 = 3;

static ATTACHED: AtomicBool = AtomicBool::new(false);

/// Whether a launcher started this process as a rank; a rank's own children are none.
pub fn is_rank() -> bool {
    ATTACHED.load(Ordering::Relaxed) || std::env::var_os(MARKER).is_some()
}

/// Connects to the other ranks; `None` in a process that is not a rank. Once in a process, before
/// it has started a thread. From then on the process ends when its standard input does.
pub fn attach() -> Result<Option<RanksComm>, RanksError> {
    if std::env::var_os(MARKER).is_none() {
        return Ok(None);
    }
    ATTACHED.store(true, Ordering::Relaxed);
    // SAFETY: no other thread runs yet, as the documentation demands. Children are no ranks.
    unsafe { std::env::remove_var(MARKER) };
    reduce_timer_slack();
    // Never shown: the secret is in it.
    let greeting =
        Greeting::parse(&next_line()).ok_or(RanksError::Launcher { what: "greeting".into() })?;
    match take_part(&greeting) {
        Ok(comm) => {
            say(&Word::Ready);
            Ok(Some(comm))
        }
        Err(error) => {
            say(&Word::Failed(error.clone()));
            // The launcher reports it, once for all ranks, and ends this one; if it is gone, the
            // program gets the error.
            while !next_line().is_empty() {}
            Err(error)
        }
    }
}

/// The launcher's next line; empty when it is gone.
fn next_line() -> String {
    let mut line = String::new();
    // What cannot be read is as good as nothing: the launcher is gone.
    _ = std::io::stdin().lock().read_line(&mut line);
    line
}

fn say(word: &Word) {
    let mut output = std::io::stdout().lock();
    // A launcher that does not listen any more has closed our input, too.
    _ = output.write_all(word.encode().as_bytes()).and_then(|()| output.flush());
}

fn take_part(greeting: &Greeting) -> Result<RanksComm, RanksError> {
    let Greeting { rank, size, limit, connections, spread, .. } = *greeting;
    let secret = Secret::from_bytes(greeting.secret.as_bytes()).map_err(net_error)?;
    let Chosen { local, networks } = paths::choose(&greeting.paths)?;
    if spread && local.len() == 1 {
        return Err(RanksError::Spread { what: "one path".into() });
    }
    let security = Security::from_env().map_err(net_error)?;
    let kind = PathKind::from_env().map_err(net_error)?;
    let (security, kind) = (Some(security), Some(kind));
    let usual = Setup { security, kind, ..Setup::usual().lasting(limit) };
    let near = open(vec![paths::loopback()], secret, usual)?;
    let far = match local.is_empty() {
        true => None,
        false => Some(open(local, secret, Setup { spread, ..usual })?),
    };
    let seat = Seat {
        host: hostname(),
        machine: machine(),
        near: near.addresses()[0],
        far: far.as_ref().map(Endpoint::addresses).unwrap_or_default(),
        networks,
    };
    say(&Word::Seat(seat));
    let unknown_table = || RanksError::Launcher { what: "table".into() };
    let seats = (0..size).map(|_| Seat::parse(&next_line()).ok_or_else(unknown_table));
    let roster = Arc::new(Roster::new(seats.collect::<Result<Vec<Seat>, RanksError>>()?));
    listen(roster.clone())?;
    let is_global = (0..size).all(|other| roster.are_near(rank, other));
    let (mates, cores) = (roster.core_mates(rank), Cores::available());
    let alone = mates.len() <= cores.count() as usize;
    let mut description = describe(&roster, rank as usize, connections, spread);
    description.push(("security", security.map_or("", Security::name).into()));
    description.push(("path_kind", kind.map_or("", PathKind::name).into()));
    let far = far.filter(|_| !is_global);
    if far.is_none() && !is_global {
        let error = "the launcher took all ranks for processes of one machine";
        return Err(RanksError::system("reach the other hosts", error));
    }
    let making = Making { rank, roster: roster.clone(), near, far, connections, alone, limit };
    let link = NetLink::connect(making, limit.min(CONNECT))?;
    // The threads that keep the connections were started before, and stay free.
    let own = mates.iter().position(|&mate| mate == rank);
    let bound = alone && own.is_some_and(|own| cores.bind(own as u32));
    description.push(("binding", if bound { "core" } else { "none" }.into()));
    let world = RanksWorld { roster, clock: Monotonic { alone, is_global }, description };
    Ok(RanksComm::world(Box::new(link), Rc::new(world), rank, limit))
}

fn open(paths: Vec<LocalPath>, secret: Secret, setup: Setup) -> Result<Endpoint, RanksError> {
    let options = Options { paths, secret, accepts: true, setup };
    Endpoint::open(options).map_err(net_error)
}

fn net_error(error: NetError) -> RanksError {
    RanksError::system("open this rank's end of the paths", error)
}

fn describe(
    roster: &Roster,
    rank: usize,
    connections: usize,
    spread: bool,
) -> Vec<(&'static str, String)> {
    let seat = &roster.seats[rank];
    let all_near = roster.seats.iter().all(|other| other.machine == seat.machine);
    let paths: Vec<String> = match all_near {
        true => vec!["loopback".into()],
        false => seat.far.iter().map(|address| address.ip().to_string()).collect(),
    };
    vec![
        ("backend", "net".into()),
        ("paths", paths.join(",")),
        ("connections_per_pair", connections.to_string()),
        ("spread", if spread { "yes" } else { "no" }.into()),
    ]
}

/// Hears of ranks that have ended, beside the program; and ends it when the launcher is gone.
fn listen(roster: Arc<Roster>) -> Result<(), RanksError> {
    let thread = std::thread::Builder::new().name("laneway-launcher".into());
    let started = thread.spawn(move || {
        loop {
            let line = next_line();
            if line.is_empty() {
                // SAFETY: plain call. The launcher has gone, so that no message could be read.
                unsafe { libc::_exit(NOT_A_RANK) };
            }
            if let Some(Ended { rank, how }) = Ended::parse(&line) {
                roster.announce(rank, how);
            }
        }
    });
    started.map(|_| ()).map_err(|error| RanksError::system("start a thread", error))
}
