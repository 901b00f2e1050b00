//! The lines of an endpoint: sockets that carry packets, for each path, and waiting for them.
//!
//! It knows peers by their addresses and no connection; what arrives is handed out as it came. A
//! line is a UDP socket of a [`Wire`], or one of the [`Streams`].

mod focus;
mod streams;
mod wire;

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::Arc;

use laneway_path::{Nanos, PathId};

use super::LocalPath;
use crate::error::NetError;
use crate::system::alarm::Alarm;
use crate::system::namespace::Namespace;
use crate::system::readiness::{Readiness, Ready, readable};
use crate::system::socket::{Arrival, MOST_BYTES, Socket};
use crate::system::stream::Listener;
use focus::Focus;
pub(super) use streams::{
    Change, Frames, HELLO_BYTES, PREFIX, Stage, StreamId, Streams, frames, is_listener, is_stream,
};
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
    pub streams: Streams,
    /// What frames arrive in; nothing before the first.
    frames: Vec<u8>,
}

/// As much of a stream is taken in one call.
const MOST_OF_STREAM: usize = 512 << 10;
/// How many ports are tried until one is free for datagrams and for streams.
const MOST_PORTS: usize = 64;

/// What can be read.
pub(super) enum Readable {
    /// The descriptor given to [`Lines::watch`].
    Devices,
    Line(LineId),
}

impl Lines {
    /// Opens a socket for each path, and where others may connect to it, a listener beside it.
    pub fn open(paths: &[LocalPath], accepts: bool) -> Result<Lines, NetError> {
        let readiness = Arc::new(Readiness::new()?);
        let mut streams = Streams::new(Arc::clone(&readiness));
        let mut wires = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let (socket, listener) = open_path(path, accepts)?;
            streams.add_path(listener, Namespace::of(socket.fd()))?;
            wires.push(Wire::new(socket, number, path.device.clone(), Arc::clone(&readiness))?);
        }
        let alarm = Alarm::new()?;
        readiness.add(alarm.fd(), ALARM)?;
        let buffer = vec![0; MOST_BYTES].into_boxed_slice();
        let (ready, focus, frames) = (Ready::new(), Focus::new(), Vec::new());
        Ok(Lines { wires, readiness, ready, alarm, focus, buffer, streams, frames })
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
        let at = (wire.fd(by.line), wire.is_full(by.line));
        self.focus.note_arrival(by, at, &self.readiness);
        self.wires[by.path].received.add(arrival.bytes, arrival.segment);
        Some(arrival)
    }

    /// The buffer that frames arrive in; it is given back by [`Lines::put_frames`].
    pub fn take_frames(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.frames);
        buffer.resize(MOST_OF_STREAM, 0);
        buffer
    }

    pub fn put_frames(&mut self, buffer: Vec<u8>) {
        self.frames = buffer;
    }

    /// Takes frames that have arrived over a stream of a path.
    pub fn receive_frames(
        &mut self,
        path: usize,
        stream: StreamId,
        buffer: &mut [u8],
    ) -> Option<Frames> {
        let line = stream.line(path);
        let Some(frames) = self.streams.receive(stream, buffer) else {
            if self.streams.get(stream).is_none() {
                self.focus.forget(line, &self.readiness);
            }
            return None;
        };
        let at = (self.streams.fd(stream), self.streams.is_full(stream));
        self.focus.note_arrival(line, at, &self.readiness);
        let first = frames.first.as_ref().map_or(0, |first| first.1);
        self.wires[path].received.add(first + frames.bytes, usize::MAX);
        Some(frames)
    }

    /// A line is gone that was to be looked at.
    pub fn forget(&mut self, line: LineId) {
        self.focus.forget(line, &self.readiness);
    }

    /// Sends frames over a stream of a path.
    pub fn send_frames(&mut self, path: PathId, stream: StreamId, pieces: &[IoSlice<'_>]) {
        let bytes = pieces.iter().map(|piece| piece.len()).sum();
        self.wires[usize::from(path.0)].sent.add(bytes, usize::MAX);
        self.streams.send(stream, pieces);
    }

    /// Leaves what comes over a stream in the kernel, or takes it again.
    pub fn pause(&mut self, path: usize, stream: StreamId, paused: bool) {
        if paused {
            self.focus.forget(stream.line(path), &self.readiness);
        }
        self.streams.pause(stream, paused);
    }

    /// Gives a stream up.
    pub fn close_stream(&mut self, path: usize, stream: StreamId) {
        self.focus.forget(stream.line(path), &self.readiness);
        self.streams.close(stream);
    }

    /// Begins to connect a stream of a path to a peer.
    pub fn connect_stream(
        &mut self,
        path: usize,
        peer: SocketAddr,
        owner: u32,
        ends_at: Nanos,
    ) -> Option<StreamId> {
        let wire = &self.wires[path];
        self.streams.connect(path, wire.address, wire.device(), peer, owner, ends_at)
    }

    /// The line that something came by last.
    pub fn hot(&self) -> LineId {
        self.focus.hot()
    }

    /// The line to look at first, most of the time instead of all.
    pub fn likely(&mut self, now: Nanos) -> Option<LineId> {
        self.focus.likely(now)
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
        let hot = self.focus.hot();
        let fd = match is_stream(hot) {
            true => self.streams.at(hot).map_or(-1, |stream| self.streams.fd(stream)),
            false => self.wires[hot.path].fd(hot.line),
        };
        [readable(fd), self.readiness.descriptor()]
    }

    /// Ends a sleep at this time, or before.
    pub fn wake_at(&mut self, now: Nanos, at: Nanos) {
        self.alarm.set(now, at);
    }
}

/// The socket of a path, and a listener at the same address and port if others may connect.
fn open_path(path: &LocalPath, accepts: bool) -> Result<(Socket, Option<Listener>), NetError> {
    let device = path.device.as_deref();
    let (mut address, mut taken) = (path.address, Vec::new());
    for _ in 0..MOST_PORTS {
        let socket = Socket::open(address, path.last_port, device)?;
        if !accepts {
            return Ok((socket, None));
        }
        let at = socket.address();
        match Listener::open(at, device) {
            Ok(listener) => return Ok((socket, Some(listener))),
            Err(error) if error.raw_os_error() == Some(libc::EADDRINUSE) => {}
            Err(error) => return Err(NetError::system(format!("listen at {at}"), error)),
        }
        // Another program has the port for streams. This one stays taken until one is found.
        taken.push(socket);
        if path.address.port() != 0 {
            let next = at.port().checked_add(1).filter(|next| *next <= path.last_port);
            let Some(next) = next else { break };
            address.set_port(next);
        }
    }
    let (first, last) = (path.address.port(), path.last_port);
    Err(NetError::NoPort { address: path.address.ip(), first, last })
}
