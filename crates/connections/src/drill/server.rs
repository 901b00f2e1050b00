//! The end that sends back what it gets.

use std::collections::BTreeMap;
use std::time::Duration;

use laneway_path::Event;

use super::{CONTROL_BYTES, Checked, MAIN, State};
use crate::driver::notice::{ConnectionId, Notice, What};
use crate::endpoint::{Endpoint, wait_for_any};
use crate::error::NetError;
use crate::service::Service;

const LOOKS: Duration = Duration::from_millis(20);
/// Receives that wait at a time.
const RECEIVES: u64 = 2;

/// What a server has seen.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Served {
    /// Whether messages came once and in order.
    pub checked: Checked,
    /// How often the connection moved to another path.
    pub migrations: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Connections that broke.
    pub broken: u64,
}

/// One endpoint's connections.
struct Echo {
    service: Service,
    bytes: usize,
    /// The label of each connection, and what came over it.
    peers: BTreeMap<ConnectionId, (u64, Checked)>,
    served: Served,
}

impl Echo {
    fn new(endpoint: Endpoint, bytes: usize) -> Result<Echo, NetError> {
        let (service, peers) = (Service::start(endpoint)?, BTreeMap::new());
        Ok(Echo { service, bytes, peers, served: Served::default() })
    }

    fn go_on(&mut self, state: &State) -> Result<(), NetError> {
        loop {
            // The thread of the service may go on between two notices.
            let notice = self.service.endpoint().poll();
            match notice {
                Some(notice) => self.on_notice(notice)?,
                None => break,
            }
        }
        let endpoint = self.service.endpoint();
        let main = self.peers.iter().filter(|(_, (label, _))| *label == MAIN);
        state.update(main.filter_map(|(id, _)| endpoint.get(*id).ok()));
        Ok(())
    }

    fn on_notice(&mut self, Notice { connection, what }: Notice) -> Result<(), NetError> {
        match what {
            What::Accepted { label } => {
                self.peers.insert(connection, (label, Checked::default()));
                self.served.connections += 1;
                for id in 0..RECEIVES {
                    let room = Vec::with_capacity(self.bytes);
                    self.post(connection, id, room)?;
                }
            }
            What::Event(Event::Received { id, message }) => {
                if let Some((_, checked)) = self.peers.get_mut(&connection) {
                    checked.on_message(&message);
                }
                unless_closed(self.service.endpoint().send(connection, id, message))?;
            }
            // What went back makes room for what comes next.
            What::Event(Event::Sent { id, message }) => {
                self.post(connection, id, message)?;
            }
            What::Event(Event::Migrated { .. }) => self.served.migrations += 1,
            What::Event(Event::Failed { .. }) => {
                self.served.broken += 1;
                self.leave(connection);
            }
            What::Closed => self.leave(connection),
            _ => {}
        }
        Ok(())
    }

    fn post(&self, connection: ConnectionId, id: u64, room: Vec<u8>) -> Result<(), NetError> {
        unless_closed(self.service.endpoint().post_receive(connection, id, room))
    }

    fn leave(&mut self, connection: ConnectionId) {
        if let Some((_, checked)) = self.peers.remove(&connection) {
            self.served.checked.add(&checked);
        }
    }
}

/// The peer may have closed a connection before its last notices are looked at.
fn unless_closed(asked: Result<(), NetError>) -> Result<(), NetError> {
    match asked {
        Err(NetError::UnknownConnection { .. }) => Ok(()),
        other => other,
    }
}

/// Echoes messages of up to `bytes` until the stop flag is set.
pub fn serve(
    main: Endpoint,
    control: Option<Endpoint>,
    bytes: usize,
    computes: Duration,
    state: &State,
) -> Result<Served, NetError> {
    let mut main = Echo::new(main, bytes.max(super::LEAST_BYTES))?;
    let mut control = control.map(|control| Echo::new(control, CONTROL_BYTES)).transpose()?;
    while !state.is_stopped() {
        main.go_on(state)?;
        if let Some(control) = &mut control {
            control.go_on(&State::default())?;
        }
        if !computes.is_zero() {
            super::client::compute(computes);
        }
        let mut first = main.service.endpoint();
        let mut second = control.as_ref().map(|control| control.service.endpoint());
        let mut both = vec![&mut *first];
        both.extend(second.as_deref_mut());
        wait_for_any(&mut both, LOOKS);
    }
    let here: Vec<ConnectionId> = main.peers.keys().copied().collect();
    here.into_iter().for_each(|connection| main.leave(connection));
    Ok(main.served)
}
