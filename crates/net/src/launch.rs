//! Starts the ranks, on this host or on others, and tells them where the others are.

use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use laneway_connections::PathName;
use laneway_core::Rank;
use laneway_path::wire::MOST_PATHS;
use laneway_processes::{Program, random_bytes};

use crate::error::{MOST_RANKS, RanksError};
use crate::hosts::{Host, place};
use crate::output::{News, read};
use crate::paths::refused_path;
use crate::signals::SignalListener;
use crate::starter::{self, Starter};
use crate::supervise::{Stop, Supervisor};
use crate::words::{Greeting, Paths, Seat, Word};

/// Connections of a pair of ranks, at most.
pub const MOST_CONNECTIONS: usize = 16;

/// A run to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// How many processes.
    pub ranks: u32,
    /// None: all ranks on this host.
    pub hosts: Vec<Host>,
    /// Devices that are paths, the same on every host; none: those that can be. `eth0/2` is a
    /// second path through a device, with other ports.
    pub devices: Vec<String>,
    /// What starts them on other hosts.
    pub starter: Starter,
    /// Connections of each pair of ranks; messages go over them in turn.
    pub connections: usize,
    /// Whether a pair's connections begin with different paths, so that messages go over all.
    pub spread: bool,
    /// How long a wait, of a rank or for one, may go without news.
    pub limit: Duration,
}

impl Launch {
    /// Runs this program as `ranks` ranks and returns their exit code when all have ended. Blocks;
    /// meant for the main thread of a program that has no other yet.
    pub fn run(&self) -> Result<i32, RanksError> {
        self.run_program(&Program::this())
    }

    /// The same with any program that calls [`attach`](crate::attach), and that every host has in
    /// the same place.
    pub fn run_program(&self, program: &Program) -> Result<i32, RanksError> {
        match self.supervised(program) {
            Ok(code) | Err(Stop::Code(code)) => Ok(code),
            Err(Stop::Signal(signal)) => Ok(128 + signal),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn supervised(&self, program: &Program) -> Result<i32, Stop> {
        let placed = self.placed()?;
        let greeting = self.greeting(&placed)?;
        let (tell, news) = channel();
        let of_signals = tell.clone();
        // A supervisor that has stopped listening needs no signals.
        let signals =
            SignalListener::start(move |signal| _ = of_signals.send(News::Signal(signal)))?;
        let mut supervisor = Supervisor::new(news);
        for (rank, host) in (0..).zip(&placed) {
            // When one cannot be started, dropping the supervisor ends those that were.
            let command = starter::command(program, host, self.starter, signals.before())?;
            self.start(rank, host, command, &tell, &mut supervisor)?;
        }
        for rank in 0..self.ranks {
            supervisor.say(rank, &Greeting { rank, ..greeting.clone() }.encode());
        }
        let words = supervisor.hear_all(self.limit, "say where it is")?;
        let seats: Vec<Seat> = words.into_iter().filter_map(Word::into_seat).collect();
        agree_on_networks(&seats)?;
        let table: String = seats.iter().map(Seat::encode).collect();
        supervisor.say_to_all(&table);
        supervisor.hear_all(self.limit, "connect with the others")?;
        supervisor.watch()
    }

    fn placed(&self) -> Result<Vec<Host>, RanksError> {
        if !(1..=MOST_RANKS).contains(&self.ranks) {
            return Err(RanksError::Ranks { asked: self.ranks });
        }
        if !(1..=MOST_CONNECTIONS).contains(&self.connections) {
            return Err(RanksError::Connections { asked: self.connections });
        }
        if self.spread && self.connections == 1 {
            return Err(RanksError::Spread { what: "one connection".into() });
        }
        place(self.ranks, &self.hosts)
    }

    fn greeting(&self, placed: &[Host]) -> Result<Greeting, RanksError> {
        PathName::list(self.devices.iter().map(String::as_str)).map_err(refused_path)?;
        if self.devices.len() > MOST_PATHS {
            let why = format!("a connection has at most {MOST_PATHS} paths");
            return Err(RanksError::Device { device: self.devices[MOST_PATHS].clone(), why });
        }
        let paths = match &self.devices[..] {
            [] if placed.iter().all(Host::is_here) => Paths::Loopback,
            [] => Paths::Usable,
            devices => Paths::Devices(devices.to_vec()),
        };
        Ok(Greeting {
            rank: 0,
            size: self.ranks,
            secret: secret()?,
            limit: self.limit,
            connections: self.connections,
            spread: self.spread,
            paths,
        })
    }

    fn start(
        &self,
        rank: Rank,
        host: &Host,
        (mut command, program): (Command, String),
        tell: &Sender<News>,
        supervisor: &mut Supervisor,
    ) -> Result<(), RanksError> {
        let failed =
            |error: std::io::Error| RanksError::Spawn { rank, program, error: error.to_string() };
        let mut child = command.spawn().map_err(failed)?;
        let output = child.stdout.take();
        supervisor.add(child, host.name.clone());
        let tell = tell.clone();
        if let Some(output) = output {
            // Who does not listen any more needs no news.
            thread::spawn(move || read(rank, output, |news| _ = tell.send(news)));
        }
        Ok(())
    }
}

impl Word {
    fn into_seat(self) -> Option<Seat> {
        match self {
            Word::Seat(seat) => Some(seat),
            _ => None,
        }
    }
}

/// A random secret as hexadecimal digits.
fn secret() -> Result<String, RanksError> {
    let bytes: [u8; 32] =
        random_bytes().map_err(|error| RanksError::system("read random bytes", error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Without named devices, hosts must have the same networks, and each its own addresses.
fn agree_on_networks(seats: &[Seat]) -> Result<(), RanksError> {
    let Some(first) = seats.first() else { return Ok(()) };
    for seat in seats {
        if seat.networks != first.networks {
            let of = |seat: &Seat| (seat.host.clone(), seat.networks.join(" and "));
            return Err(RanksError::Networks { one: of(first), other: of(seat) });
        }
        for other in seats.iter().filter(|other| other.machine != seat.machine) {
            let shared = |(a, b): (&std::net::SocketAddr, &std::net::SocketAddr)| a.ip() == b.ip();
            if let Some((address, _)) = seat.far.iter().zip(&other.far).find(|&pair| shared(pair)) {
                return Err(RanksError::SameAddress {
                    address: address.ip().to_string(),
                    hosts: [seat.host.clone(), other.host.clone()],
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(host: &str, far: &[&str], networks: &[&str]) -> Seat {
        Seat {
            host: host.into(),
            machine: host.into(),
            near: "127.0.0.1:5".parse().expect("address"),
            far: far.iter().map(|text| text.parse().expect("address")).collect(),
            networks: networks.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn hosts_with_other_networks_or_the_same_address_are_refused() {
        let nets = ["10.0.0.0/24", "10.1.0.0/24"];
        let a = seat("a", &["10.0.0.1:1", "10.1.0.1:1"], &nets);
        let b = seat("b", &["10.0.0.2:1", "10.1.0.2:1"], &nets);
        assert_eq!(agree_on_networks(&[a.clone(), b.clone(), a.clone()]), Ok(()));
        let c = seat("c", &["10.0.0.3:1"], &nets[..1]);
        assert!(matches!(agree_on_networks(&[a.clone(), c]), Err(RanksError::Networks { .. })));
        let d = seat("d", &["10.0.0.4:1", "10.1.0.1:9"], &nets);
        assert!(matches!(agree_on_networks(&[a, d]), Err(RanksError::SameAddress { .. })));
    }

    #[test]
    fn what_cannot_be_run_is_refused_before_anything_starts() {
        let launch = Launch {
            ranks: 2,
            hosts: vec![],
            devices: vec![],
            starter: Starter::Ssh,
            connections: 1,
            spread: false,
            limit: Duration::from_secs(1),
        };
        let refused = |launch: Launch| launch.run().expect_err("refused");
        let none = refused(Launch { ranks: 0, ..launch.clone() });
        let many = refused(Launch { connections: 17, ..launch.clone() });
        let alone = refused(Launch { spread: true, ..launch.clone() });
        let device = refused(Launch { devices: vec!["eth 0".into()], ..launch.clone() });
        let twice = refused(Launch { devices: vec!["eth0".into(), "eth0".into()], ..launch });
        assert!(twice.cause().contains("eth0/2"), "{twice}");
        assert_eq!(none, RanksError::Ranks { asked: 0 });
        assert_eq!(many, RanksError::Connections { asked: 17 });
        assert!(matches!(alone, RanksError::Spread { .. }), "{alone}");
        assert!(matches!(device, RanksError::Device { .. }), "{device}");
        assert!(matches!(twice, RanksError::Device { .. }), "{twice}");
    }
}
