//! What can be seen of an endpoint from outside.

use std::net::SocketAddr;

use laneway_path::{Counters, MigrationState, Nanos, PathId, QpState};

use super::connections::End;
use super::{Dropped, Endpoint, LocalPath, Traffic};
use crate::driver::kind::PathKind;
use crate::inventory::path_name::PathName;

/// One endpoint of a process, as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The name of the program.
    pub program: String,
    /// Its paths.
    pub paths: Vec<PathStatus>,
    /// Its connections.
    pub connections: Vec<ConnectionStatus>,
    /// Packets that it dropped.
    pub dropped: Dropped,
    /// What all connections have counted, also those that are gone.
    pub totals: Counters,
}

/// One path of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStatus {
    /// Its number, from 0.
    pub number: u8,
    /// Where it begins here.
    pub address: SocketAddr,
    /// The device that it goes through.
    pub device: Option<String>,
    /// Which of the paths through its device it is, from 1.
    pub place: u8,
    /// Whether the device has a carrier.
    pub carrier: bool,
    /// Whether it was taken out of use by hand.
    pub drained: bool,
    /// What left by it.
    pub sent: Traffic,
    /// What came by it.
    pub received: Traffic,
}

/// One connection of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionStatus {
    /// Of its queue pair.
    pub number: u32,
    /// The peer's address on the first path, wherever the traffic goes.
    pub peer: SocketAddr,
    /// The state of its queue pair.
    pub state: QpState,
    /// What becomes of its alternate path.
    pub migration: MigrationState,
    /// The path in use.
    pub primary: u8,
    /// The alternate path, where there is one.
    pub alternate: Option<u8>,
    /// Messages that were given and have not arrived.
    pub waiting_messages: u64,
    /// How often it moved to another path.
    pub migrations: u64,
    /// Packets that were sent more than once.
    pub sent_again: u64,
    /// Over the primary path.
    pub round_trip: Option<Nanos>,
    /// What carries its data.
    pub kind: PathKind,
}

impl PathStatus {
    /// The path through its device, or its address where it has none.
    pub fn name(&self) -> String {
        let device = self.device.clone();
        let name = device.map(|device| PathName { device, place: self.place }.to_string());
        name.unwrap_or_else(|| self.address.to_string())
    }

    /// Whether a person who says this word means it: its device, and so all paths through it, its
    /// name, its address or its number.
    pub fn is_called(&self, word: &str) -> bool {
        let name = word.parse::<PathName>().ok();
        let is_named = |PathName { device, place }: PathName| {
            self.device.as_deref() == Some(device.as_str()) && self.place == place
        };
        self.device.as_deref() == Some(word)
            || name.is_some_and(is_named)
            || self.address.to_string() == word
            || self.address.ip().to_string() == word
            || self.number.to_string() == word
    }
}

impl Endpoint {
    /// The state of every path and every connection.
    pub fn status(&self) -> Status {
        Status {
            program: program(),
            paths: self.path_status(),
            connections: self.connections.iter().filter_map(of_connection).collect(),
            dropped: self.dropped,
            totals: self.totals(),
        }
    }

    /// What all connections have counted, also those that are gone.
    pub fn totals(&self) -> Counters {
        self.connections.totals()
    }

    /// The state of every path.
    pub fn path_status(&self) -> Vec<PathStatus> {
        let paths = self.paths.iter().zip(self.lines.wires());
        paths
            .enumerate()
            .map(|(number, (path, wire))| {
                let same = |other: &&LocalPath| other.device == path.device;
                let before = self.paths[..number].iter().filter(same).count();
                let id = PathId(number as u8);
                PathStatus {
                    number: number as u8,
                    address: wire.address,
                    device: path.device.clone(),
                    // Paths without a device have no name but their addresses.
                    place: if path.device.is_some() { before as u8 + 1 } else { 1 },
                    carrier: self.health.has_carrier(id),
                    drained: self.health.is_drained(id),
                    sent: wire.sent,
                    received: wire.received,
                }
            })
            .collect()
    }
}

fn of_connection(end: &End) -> Option<ConnectionStatus> {
    let connection = &end.connection;
    Some(ConnectionStatus {
        number: connection.number(),
        peer: end.peers.first()?.address,
        state: connection.state(),
        migration: connection.migration(),
        primary: connection.primary().0,
        alternate: connection.alternate().map(|PathId(path)| path),
        waiting_messages: connection.waiting() as u64,
        migrations: connection.counters().migrations,
        sent_again: connection.counters().sent_again,
        round_trip: connection.round_trip(connection.primary()),
        kind: if connection.has_streams() { PathKind::Stream } else { PathKind::Datagram },
    })
}

/// The name of this program.
fn program() -> String {
    let first = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&first).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
