//! What can be seen of an endpoint from outside.

use laneway_path::{Counters, PathId};

use super::{Endpoint, LocalPath};
use crate::control::{ConnectionStatus, PathStatus, Status, program};
use crate::end::End;
use crate::wire::Wire;

impl Endpoint {
    /// The state of every path and every connection.
    pub fn status(&self) -> Status {
        Status {
            program: program(),
            paths: self.path_status(),
            connections: self.ends.iter().flatten().filter_map(of_connection).collect(),
            dropped: self.dropped,
            totals: self.totals(),
        }
    }

    /// What all connections have counted, also those that are gone.
    pub fn totals(&self) -> Counters {
        let mut totals = self.past;
        self.connections().for_each(|connection| totals.add(connection.counters()));
        totals
    }

    /// The state of every path.
    pub fn path_status(&self) -> Vec<PathStatus> {
        let paths = self.wires.iter().zip(&self.paths).enumerate();
        paths
            .map(|(number, (wire, path))| {
                let same = |other: &&LocalPath| other.device == path.device;
                let before = self.paths[..number].iter().filter(same).count();
                // Paths without a device have no name but their addresses.
                let place = if path.device.is_some() { before + 1 } else { 1 };
                of_path(number, place, wire, path)
            })
            .collect()
    }
}

fn of_path(number: usize, place: usize, wire: &Wire, path: &LocalPath) -> PathStatus {
    PathStatus {
        number: number as u8,
        address: wire.address,
        device: path.device.clone(),
        place: place as u8,
        carrier: wire.carrier,
        drained: wire.drained,
        sent: wire.sent,
        received: wire.received,
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
    })
}
