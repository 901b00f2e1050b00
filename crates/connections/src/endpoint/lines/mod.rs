//! The lines of an endpoint: sockets that carry packets, for each path, and waiting for them.
//!
//! It knows peers by their addresses and no connection; what arrives is handed out as it came. A
//! line is a UDP socket of a [`Wire`]; other kinds of lines have their place beside it.

mod focus;
mod wire;

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::Arc;

use laneway_path::{Nanos, PathId};

use super::LocalPath;
use crate::error::NetError;
use crate::system::alarm::Alarm;
use crate::system::readiness::{Readiness, Ready, readable};
use crate::system::socket::{Arrival, MOST_BYTES, Socket};
use focus::Focus;
pub use wire::Traffic;
pub(super) use wire::{LineId, Peer, Wire};

/// The devices and the timer, among the descriptors that are ready.
const DEVICES: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;

pub(super) struct Lines {
    wires: Vec<Wire>,
    readiness: Arc<Readiness>,
    ready: Ready,
    alarm: Alarm,
    focus: Focus,
    buffer: Box<[u8]>,
}

/// What can be read.
pub(super) enum Readable {
    /// The descriptor given to [`Lines::watch`].
    Devices,
    Line(LineId),
}

impl Lines {
    /// Opens a socket for each path.
    pub fn open(paths: &[LocalPath]) -> Result<Lines, NetError> {
        let readiness = Arc::new(Readiness::new()?);
        let open = |(number, path): (usize, &LocalPath)| {
            let socket = Socket::open(path.address, path.last_port, path.device.as_deref())?;
            Wire::new(socket, number, path.device.clone(), Arc::clone(&readiness))
        };
        let wires = paths.iter().enumerate().map(open).collect::<Result<Vec<Wire>, NetError>>()?;
        let alarm = Alarm::new()?;
        readiness.add(alarm.fd(), ALARM)?;
        let buffer = vec![0; MOST_BYTES].into_boxed_slice();
        Ok(Lines { wires, readiness, ready: Ready::new(), alarm, focus: Focus::new(), buffer })
    }

    /// Waits for this descriptor, too.
    pub fn watch(&self, devices: RawFd) -> Result<(), NetError> {
        self.readiness.add(devices, DEVICES)
    }

    /// The number of paths.
    pub fn paths(&self) -> usize {
        self.wires.len()
    }

    pub fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// Where this end is, on each path.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.wires.iter().map(|wire| wire.address).collect()
    }

    /// A connection to a peer begins: where its packets go, on each path.
    pub fn join(&mut self, addresses: &[SocketAddr]) -> Vec<Peer> {
        self.wires.iter_mut().zip(addresses).map(|(wire, address)| wire.join(*address)).collect()
    }

    /// A connection to a peer has ended.
    pub fn leave(&mut self, peers: &[Peer]) {
        self.wires.iter_mut().zip(peers).for_each(|(wire, peer)| wire.leave(peer));
    }
}

/// Transmission.
impl Lines {
    /// Sends packets of `segment` bytes, now or when there is room.
    pub fn send(&mut self, path: PathId, peer: &Peer, pieces: &[IoSlice<'_>], segment: usize) {
        self.wires[usize::from(path.0)].send(peer, pieces, segment);
    }

    /// Sends a packet to any address.
    pub fn send_to(&mut self, path: usize, to: SocketAddr, packet: &[u8]) {
        self.wires[path].send_to(to, packet);
    }

    pub fn has_room(&self, path: PathId, peer: &Peer) -> bool {
        self.wires[usize::from(path.0)].has_room(peer)
    }

    /// Whether packets for a peer have not left this machine.
    pub fn holds(&self, path: PathId, peer: &Peer) -> bool {
        self.wires[usize::from(path.0)].holds(peer)
    }

    /// How many packets may be sent in one call.
    pub fn most_segments(&self, path: PathId, peer: &Peer) -> usize {
        self.wires[usize::from(path.0)].most_segments(peer)
    }

    /// A connection waits for room on a path.
    pub fn hold_up(&mut self, path: PathId, connection: u32) {
        self.wires[usize::from(path.0)].hold_up(connection);
    }

    /// Sends what waited for room: the connections that may go on.
    pub fn go_on(&mut self) -> Vec<u32> {
        self.wires.iter_mut().flat_map(Wire::go_on).collect()
    }
}

/// Arrivals.
impl Lines {
    /// The buffer that packets arrive in; it is given back by [`Lines::put_buffer`].
    pub fn take_buffer(&mut self) -> Box<[u8]> {
        std::mem::take(&mut self.buffer)
    }

    pub fn put_buffer(&mut self, buffer: Box<[u8]>) {
        self.buffer = buffer;
    }

    /// Takes packets that have arrived over a line.
    pub fn receive(&mut self, by: LineId, buffer: &mut [u8]) -> Option<Arrival> {
        let wire = &mut self.wires[by.path];
        let arrival = wire.socket(by.line)?.receive(buffer)?;
        self.focus.note_arrival(by, wire, &self.readiness);
        self.wires[by.path].received.add(arrival.bytes, arrival.segment);
        Some(arrival)
    }

    /// The line to look at first, most of the time instead of all.
    pub fn likely(&mut self) -> Option<LineId> {
        self.focus.likely()
    }

    /// Asks the system what can be read: the number of answers.
    pub fn poll(&mut self) -> usize {
        self.readiness.look(&mut self.ready);
        self.ready.len()
    }

    /// One of the answers of [`Lines::poll`].
    pub fn readable(&mut self, number: usize) -> Option<Readable> {
        match self.ready.readable(number)? {
            DEVICES => Some(Readable::Devices),
            ALARM => {
                self.alarm.silence();
                None
            }
            key => Some(Readable::Line(LineId::from_key(key))),
        }
    }

    /// A line that [`Lines::poll`] says nothing of.
    pub fn apart(&self) -> Option<LineId> {
        self.focus.apart()
    }

    /// A thread serves the endpoint from now on: it waits for what it saw last, and would not know
    /// that another socket is watched apart.
    pub fn served_by_a_thread(&mut self) {
        self.focus.serve(&self.readiness);
    }

    /// The descriptors that a call that waits has to look at: the socket that something came by
    /// last, and the descriptor of all. A sleeper at a socket itself is woken sooner.
    pub fn descriptors(&self) -> [libc::pollfd; 2] {
        let LineId { path, line } = self.focus.hot();
        [readable(self.wires[path].fd(line)), self.readiness.descriptor()]
    }

    /// Ends a sleep at this time, or before.
    pub fn wake_at(&mut self, now: Nanos, at: Nanos) {
        self.alarm.set(now, at);
    }
}
