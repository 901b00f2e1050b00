//! A path's sockets: one that is open to all, and one for each peer that connections go to.
//!
//! The socket of a peer is at the same address as the open one and connected to the peer's, which
//! spares the system looking for the way with every packet. What is read from either is the same.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::error::NetError;
use crate::system::address::RawAddress;
use crate::system::readiness::Readiness;
use crate::system::socket::{Sent, Socket};

/// Peers with a socket of their own; all others share the open one.
const MOST_LINES: usize = 64;

/// The line that is open to all.
pub(crate) const OPEN: usize = 0;

/// Packets that wait for room in the socket.
struct Waiting {
    to: RawAddress,
    bytes: Vec<u8>,
    segment: usize,
}

/// Packets that went one way over a path, handshakes and what was sent again included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// How many packets.
    pub packets: u64,
    /// Without the heads of UDP and IP.
    pub bytes: u64,
}

impl Traffic {
    /// Counts bytes in packets of a length, the last of which may be shorter.
    pub(crate) fn add(&mut self, bytes: usize, segment: usize) {
        self.bytes += bytes as u64;
        self.packets += bytes.div_ceil(segment.max(1)) as u64;
    }
}

struct Line {
    socket: Socket,
    /// None for the open one.
    peer: Option<SocketAddr>,
    /// Connections that use it.
    users: usize,
    waiting: VecDeque<Waiting>,
}

/// Where a connection's packets of one path go.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub address: SocketAddr,
    raw: RawAddress,
    line: usize,
}

pub(crate) struct Wire {
    /// Where this end of the path is.
    pub address: SocketAddr,
    pub sent: Traffic,
    pub received: Traffic,
    lines: Vec<Option<Line>>,
    readiness: Arc<Readiness>,
    path: usize,
    device: Option<String>,
    /// For the first peer: the user of the endpoint may be in another network namespace than the
    /// process that opened it, and cannot open one here.
    spare: Option<Socket>,
    /// Lines without room.
    full: usize,
    /// Connections that have data and wait for room here.
    held_up: Vec<u32>,
}

/// A line of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineId {
    pub path: usize,
    pub line: usize,
}

impl LineId {
    /// The key of its descriptor among those that are ready.
    pub fn key(self) -> u64 {
        (self.path as u64) << 32 | self.line as u64
    }

    pub fn from_key(key: u64) -> LineId {
        LineId { path: (key >> 32) as usize, line: key as u32 as usize }
    }
}

fn key(path: usize, line: usize) -> u64 {
    LineId { path, line }.key()
}

impl Wire {
    pub fn new(
        socket: Socket,
        path: usize,
        device: Option<String>,
        readiness: Arc<Readiness>,
    ) -> Result<Wire, NetError> {
        readiness.add(socket.fd(), key(path, OPEN))?;
        let address = socket.address();
        let spare = Some(socket.another(device.as_deref())?);
        let open = Line { socket, peer: None, users: 0, waiting: VecDeque::new() };
        let (lines, held_up) = (vec![Some(open)], Vec::new());
        Ok(Wire {
            address,
            sent: Traffic::default(),
            received: Traffic::default(),
            lines,
            readiness,
            path,
            device,
            spare,
            full: 0,
            held_up,
        })
    }

    /// The device that its packets leave by.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    fn open(&self) -> Option<&Line> {
        self.lines[OPEN].as_ref()
    }

    /// The socket of a line, while there is one.
    pub fn socket(&mut self, line: usize) -> Option<&mut Socket> {
        self.lines.get_mut(line)?.as_mut().map(|line| &mut line.socket)
    }

    /// The descriptor of a line; -1, which nothing comes by, where there is none.
    pub fn fd(&self, line: usize) -> RawFd {
        let line = self.lines.get(line).and_then(Option::as_ref);
        line.map_or(-1, |line| line.socket.fd())
    }

    /// Whether room to send is waited for on a line.
    pub fn is_full(&self, number: usize) -> bool {
        let line = self.lines.get(number).and_then(Option::as_ref);
        line.is_some_and(|line| !line.waiting.is_empty())
    }

    /// A connection to this peer begins.
    pub fn join(&mut self, address: SocketAddr) -> Peer {
        let is = |line: &Option<Line>| line.as_ref().is_some_and(|l| l.peer == Some(address));
        let known = self.lines.iter().position(is);
        // Where there can be no more sockets, the open one does.
        let line = known.or_else(|| self.connect(address).ok()).unwrap_or(OPEN);
        if let Some(line) = &mut self.lines[line] {
            line.users += 1;
        }
        Peer { address, raw: RawAddress::new(address), line }
    }

    fn connect(&mut self, address: SocketAddr) -> Result<usize, NetError> {
        let free = self.lines.iter().position(Option::is_none).unwrap_or(self.lines.len());
        let spare = self.spare.take_if(|_| free <= MOST_LINES);
        let open = self.open().filter(|_| free <= MOST_LINES);
        let open = &open.ok_or(NetError::TooManyConnections)?.socket;
        let another = spare.map_or_else(|| open.another(self.device.as_deref()), Ok)?;
        let socket = open.beside(another, address)?;
        self.readiness.add(socket.fd(), key(self.path, free))?;
        let line = Line { socket, peer: Some(address), users: 0, waiting: VecDeque::new() };
        if free == self.lines.len() {
            self.lines.push(None);
        }
        self.lines[free] = Some(line);
        Ok(free)
    }

    /// A connection to this peer has ended.
    pub fn leave(&mut self, peer: &Peer) {
        let Some(line) = &mut self.lines[peer.line] else { return };
        line.users = line.users.saturating_sub(1);
        if line.users == 0 && peer.line != OPEN {
            self.full -= usize::from(!line.waiting.is_empty());
            // Its number may be another socket's next.
            self.readiness.rejoin();
            self.lines[peer.line] = None;
        }
    }

    pub fn has_room(&self, peer: &Peer) -> bool {
        self.lines[peer.line].as_ref().is_none_or(|line| line.waiting.is_empty())
    }

    /// Whether packets for this peer have not left this machine.
    pub fn holds(&self, peer: &Peer) -> bool {
        let line = self.lines[peer.line].as_ref();
        line.is_some_and(|line| !line.waiting.is_empty() || line.socket.holds_packets())
    }

    /// How many packets may be given to one call.
    pub fn most_segments(&self, peer: &Peer) -> usize {
        self.lines[peer.line].as_ref().map_or(1, |line| line.socket.most_segments())
    }

    /// Sends packets, now or when there is room.
    pub fn send(&mut self, peer: &Peer, pieces: &[IoSlice<'_>], segment: usize) {
        self.send_by(peer.line, &peer.raw, pieces, segment);
    }

    /// Sends a packet to any address.
    pub fn send_to(&mut self, to: SocketAddr, packet: &[u8]) {
        self.send_by(OPEN, &RawAddress::new(to), &[IoSlice::new(packet)], packet.len());
    }

    fn send_by(&mut self, line: usize, to: &RawAddress, pieces: &[IoSlice<'_>], segment: usize) {
        self.sent.add(pieces.iter().map(|piece| piece.len()).sum(), segment);
        let key = key(self.path, line);
        let Some(line) = &mut self.lines[line] else { return };
        let had_room = line.waiting.is_empty();
        if had_room && line.socket.send(to, pieces, segment) == Sent::Taken {
            return;
        }
        let bytes = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
        line.waiting.push_back(Waiting { to: *to, bytes, segment });
        if had_room {
            self.full += 1;
            self.readiness.watch_room(line.socket.fd(), key, true);
        }
    }

    /// A connection waits for room here.
    pub fn hold_up(&mut self, connection: u32) {
        if !self.held_up.contains(&connection) {
            self.held_up.push(connection);
        }
    }

    /// Sends what waited for room; the connections that wait for some, if a line has some now.
    pub fn go_on(&mut self) -> Vec<u32> {
        if self.full == 0 {
            return Vec::new();
        }
        let mut any = false;
        for (number, line) in self.lines.iter_mut().enumerate() {
            let Some(line) = line.as_mut().filter(|line| !line.waiting.is_empty()) else {
                continue;
            };
            while let Some(Waiting { to, bytes, segment }) = line.waiting.front() {
                if line.socket.send(to, &[IoSlice::new(bytes)], *segment) == Sent::Full {
                    break;
                }
                line.waiting.pop_front();
            }
            if line.waiting.is_empty() {
                any = true;
                self.full -= 1;
                self.readiness.watch_room(line.socket.fd(), key(self.path, number), false);
            }
        }
        if any { std::mem::take(&mut self.held_up) } else { Vec::new() }
    }
}
