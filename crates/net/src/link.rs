//! Frames over connections that migrate: one, or a few in turn, to every other rank.
//!
//! A connection carries messages in order. A frame is a message that begins with its header, and
//! where its payload is long, further messages of payload alone. The connections of an endpoint
//! share buffers, of which each may have a few; who has as many messages under way as its peer may
//! have buffers has no room until one has arrived.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use laneway_connections::{ConnectionId, Endpoint, NetError, Notice, What, wait_for_any};
use laneway_core::{CommError, Rank};
use laneway_message::{HEADER, Header, Link, broken};
use laneway_path::{Event, Why};

use crate::error::RanksError;
use crate::peer::{Arrived, MESSAGE, Peer, RECEIVES};
use crate::roster::Roster;
use crate::side::Side;

/// Messages up to this length go at once.
const EAGER: usize = 64 << 10;

/// The longest sleep: that a rank has ended is heard of by other ways than a connection.
const SLICE: Duration = Duration::from_millis(20);

const SPINS_ALONE: u32 = 40;
const SPINS_SHARED: u32 = 1;

/// Buffers that are kept for the next messages.
const SPARE: usize = 64;

pub(crate) struct NetLink {
    rank: Rank,
    roster: Arc<Roster>,
    sides: Vec<Side>,
    peers: Vec<Option<Peer>>,
    spare: Vec<Vec<u8>>,
    /// Every rank of this machine has a core of its own.
    alone: bool,
    limit: Duration,
    no_answer: Option<Rank>,
    /// Ranks with arrivals that were not taken yet.
    ready: Vec<Rank>,
}

/// How a link is made.
pub(crate) struct Making {
    pub rank: Rank,
    pub roster: Arc<Roster>,
    /// To ranks of this machine, and to others where there are any.
    pub near: Endpoint,
    pub far: Option<Endpoint>,
    /// With each other rank.
    pub connections: usize,
    pub alone: bool,
    pub limit: Duration,
}

/// A connection's label says which rank opens it, and which of the pair's it is. Only ranks of the
/// run know the secret that lets them say so.
fn label(rank: Rank, connection: usize) -> u64 {
    u64::from(rank) << 32 | connection as u64
}

impl NetLink {
    /// Connects with every other rank. The lower one of two opens their connections.
    pub fn connect(making: Making, within: Duration) -> Result<NetLink, RanksError> {
        let Making { rank, roster, near, far, connections, alone, limit } = making;
        let endpoints = std::iter::once(near).chain(far);
        let sides: Result<Vec<Side>, NetError> = endpoints.map(Side::start).collect();
        let size = roster.seats.len() as Rank;
        let peer = |other: Rank| {
            let side = usize::from(!roster.are_near(rank, other));
            (other != rank).then(|| Peer::new(side, connections))
        };
        let peers = (0..size).map(peer).collect();
        let sides = sides.map_err(failed)?;
        let (spare, no_answer, ready) = (Vec::new(), None, Vec::new());
        let mut link =
            NetLink { rank, roster, sides, peers, spare, alone, limit, no_answer, ready };
        for other in rank + 1..size {
            link.begin_open(other, connections, within).map_err(failed)?;
        }
        link.await_all(within)?;
        Ok(link)
    }

    fn begin_open(&mut self, other: Rank, count: usize, within: Duration) -> Result<(), NetError> {
        let seat = &self.roster.seats[other as usize];
        let far = !self.roster.are_near(self.rank, other);
        let addresses = if far { &seat.far[..] } else { std::slice::from_ref(&seat.near) };
        let (mut endpoint, owners) = self.sides[usize::from(far)].visit_with_owners();
        for connection in 0..count {
            let id = endpoint.begin_open(addresses, label(self.rank, connection), within)?;
            owners.insert(id, (other, connection));
        }
        Ok(())
    }

    /// Waits until all connections stand. A rank that has ended is not waited for: it had its own
    /// connections, and wanted nothing more of us.
    fn await_all(&mut self, within: Duration) -> Result<(), RanksError> {
        let begun = Instant::now();
        loop {
            self.look();
            let is_missing = |rank: &Rank| {
                let peer = self.peers[*rank as usize].as_ref();
                peer.is_some_and(|peer| !peer.is_connected()) && self.roster.ended(*rank).is_none()
            };
            let mut all = 0..self.peers.len() as Rank;
            let Some(missing) = all.find(is_missing) else { return Ok(()) };
            let silent = self.no_answer.filter(is_missing);
            if begun.elapsed() > within || silent.is_some() {
                return Err(self.unanswered(silent.unwrap_or(missing), within));
            }
            self.rest(SLICE);
        }
    }

    fn unanswered(&self, rank: Rank, within: Duration) -> RanksError {
        let seat = &self.roster.seats[rank as usize];
        let near = self.roster.are_near(self.rank, rank);
        let all = if near { std::slice::from_ref(&seat.near) } else { &seat.far[..] };
        let addresses: Vec<String> = all.iter().map(ToString::to_string).collect();
        RanksError::NoAnswer {
            rank,
            host: seat.host.clone(),
            addresses: addresses.join(", "),
            seconds: within.as_secs(),
        }
    }

    /// Takes what has happened on every side.
    fn look(&mut self) {
        for side in 0..self.sides.len() {
            let (mut endpoint, owners) = self.sides[side].visit_with_owners();
            endpoint.progress();
            let mut news = News {
                rank: self.rank,
                side,
                endpoint: &mut endpoint,
                owners,
                peers: &mut self.peers,
                spare: &mut self.spare,
                roster: &self.roster,
                no_answer: &mut self.no_answer,
                ready: &mut self.ready,
            };
            while let Some(notice) = news.endpoint.poll() {
                news.take(notice);
            }
        }
    }

    fn rest(&mut self, limit: Duration) {
        let mut guards: Vec<MutexGuard<'_, Endpoint>> =
            self.sides.iter_mut().map(Side::visit).collect();
        let mut endpoints: Vec<&mut Endpoint> =
            guards.iter_mut().map(|guard| &mut **guard).collect();
        wait_for_any(&mut endpoints, limit);
    }

    /// Sends one message of two parts, where there is room for it.
    fn transmit(&mut self, to: Rank, head: &[u8], payload: &[u8]) -> bool {
        let Some(peer) = &mut self.peers[to as usize] else { return false };
        let Some(id) = peer.room() else { return false };
        let mut message = self.spare.pop().unwrap_or_default();
        message.clear();
        message.extend_from_slice(head);
        message.extend_from_slice(payload);
        if let Err(error) = self.sides[peer.side].visit().send(id, 0, message) {
            self.roster.note(to, &format!("the connection to it: {error}"));
            return false;
        }
        peer.on_left();
        true
    }

    /// A message was read: its buffer waits for the next one.
    fn give_back(&mut self, from: Rank, read: Option<Arrived>) {
        let (Some(peer), Some(read)) = (&self.peers[from as usize], read) else { return };
        let Some(id) = peer.connections[read.connection] else { return };
        let given = self.sides[peer.side].visit().give_back(id, read.bytes);
        if let Err(error) = given {
            self.roster.note(from, &format!("the connection from it: {error}"));
        }
    }

    /// Whether something that was sent has not arrived at a rank that could still take it.
    fn has_undelivered(&mut self) -> bool {
        for side in &mut self.sides {
            let (endpoint, owners) = side.visit_with_owners();
            for (&id, &(rank, _)) in owners.iter() {
                let waits = endpoint.get(id).is_ok_and(|connection| !connection.is_idle());
                if waits && self.roster.ended(rank).is_none() {
                    return true;
                }
            }
        }
        false
    }
}

fn failed(error: NetError) -> RanksError {
    RanksError::system("open connections", error)
}

/// One side's news, and what they change.
struct News<'a> {
    rank: Rank,
    side: usize,
    endpoint: &'a mut Endpoint,
    owners: &'a mut BTreeMap<ConnectionId, (Rank, usize)>,
    peers: &'a mut [Option<Peer>],
    spare: &'a mut Vec<Vec<u8>>,
    roster: &'a Roster,
    no_answer: &'a mut Option<Rank>,
    ready: &'a mut Vec<Rank>,
}

impl News<'_> {
    fn take(&mut self, notice: Notice) {
        let id = notice.connection;
        if let What::Accepted { label } = notice.what {
            return self.accept(id, label);
        }
        let Some(&(rank, connection)) = self.owners.get(&id) else { return };
        let Some(peer) = &mut self.peers[rank as usize] else { return };
        match notice.what {
            What::Connected => self.stands(id, rank, connection),
            What::NoAnswer => *self.no_answer = Some(rank),
            What::Closed => self.roster.note(rank, "it closed its connection"),
            What::Event(Event::Sent { message, .. }) => {
                peer.on_sent(connection);
                if self.spare.len() < SPARE {
                    self.spare.push(message);
                }
            }
            What::Event(Event::Received { message, .. }) => {
                peer.on_received(connection, message);
                self.ready.push(rank);
            }
            What::Event(Event::Failed { why }) => self.roster.note(rank, broke(why)),
            _ => {}
        }
    }

    /// Accepts a connection of a lower rank; all others are refused.
    fn accept(&mut self, id: ConnectionId, label: u64) {
        let (rank, connection) = ((label >> 32) as Rank, label as u32 as usize);
        let peer = self.peers.get(rank as usize).and_then(Option::as_ref);
        let expected = peer.is_some_and(|peer| {
            let free = peer.connections.get(connection) == Some(&None);
            rank < self.rank && peer.side == self.side && free
        });
        if expected {
            self.owners.insert(id, (rank, connection));
            self.stands(id, rank, connection);
        } else if self.endpoint.close(id).is_err() {
            // It has gone by itself.
        }
    }

    /// A connection stands: messages find buffers from now on.
    fn stands(&mut self, id: ConnectionId, rank: Rank, connection: usize) {
        if self.endpoint.share_receives(id, RECEIVES, MESSAGE).is_err() {
            return self.roster.note(rank, "its connection broke at once");
        }
        if let Some(peer) = &mut self.peers[rank as usize] {
            peer.connections[connection] = Some(id);
        }
    }
}

fn broke(why: Why) -> &'static str {
    match why {
        Why::Retries | Why::NotReadyRetries => {
            "the connection to it broke: no response on any path for as long as a wait may take"
        }
        Why::Message => "the connection to it broke: it sent more than fits a message",
        Why::Asked => "the connection to it was given up",
        _ => "the connection to it broke",
    }
}

impl Link for NetLink {
    fn eager_limit(&self) -> usize {
        EAGER
    }

    fn spins(&self) -> u32 {
        if self.alone { SPINS_ALONE } else { SPINS_SHARED }
    }

    unsafe fn begin(
        &mut self,
        to: Rank,
        header: &Header,
        data: *const u8,
        len: usize,
    ) -> Result<Option<usize>, CommError> {
        let count = len.min(MESSAGE - HEADER);
        let payload = match count {
            0 => &[][..],
            // SAFETY: the caller vouches for the data.
            _ => unsafe { std::slice::from_raw_parts(data, count) },
        };
        Ok(self.transmit(to, &header.encode(), payload).then_some(count))
    }

    unsafe fn more(&mut self, to: Rank, data: *const u8, len: usize) -> Result<usize, CommError> {
        let mut taken = 0;
        while taken < len {
            let count = (len - taken).min(MESSAGE);
            // SAFETY: the caller vouches for the data, of which this is a part.
            let payload = unsafe { std::slice::from_raw_parts(data.add(taken), count) };
            if !self.transmit(to, &[], payload) {
                break;
            }
            taken += count;
        }
        Ok(taken)
    }

    fn poll(&mut self, ready: &mut Vec<Rank>) -> Result<(), CommError> {
        self.look();
        ready.append(&mut self.ready);
        Ok(())
    }

    fn open(&mut self, from: Rank) -> Result<Option<Header>, CommError> {
        let Some(peer) = &mut self.peers[from as usize] else { return Ok(None) };
        let unread = peer.unread();
        if unread.is_empty() {
            return Ok(None);
        }
        let Some(bytes) = unread.first_chunk() else {
            return Err(broken(
                from,
                format!("a message of {} bytes without header", unread.len()),
            ));
        };
        let header = Header::decode(from, bytes)?;
        let read = peer.on_read(HEADER);
        self.give_back(from, read);
        Ok(Some(header))
    }

    unsafe fn take(&mut self, from: Rank, into: *mut u8, len: usize) -> Result<usize, CommError> {
        let mut taken = 0;
        while taken < len {
            let Some(peer) = &mut self.peers[from as usize] else { break };
            let unread = peer.unread();
            let count = unread.len().min(len - taken);
            if count == 0 {
                break;
            }
            // SAFETY: the caller vouches for the room, and the message has no other user.
            unsafe { std::ptr::copy_nonoverlapping(unread.as_ptr(), into.add(taken), count) };
            let read = peer.on_read(count);
            self.give_back(from, read);
            taken += count;
        }
        Ok(taken)
    }

    fn sleep(&mut self, limit: Duration, _writers: &[Rank]) -> Result<(), CommError> {
        self.rest(limit.min(SLICE));
        Ok(())
    }
}

/// What was sent arrives before this rank leaves; then the others hear that it has left. After a
/// panic nothing is said: the launcher will.
impl Drop for NetLink {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let begun = Instant::now();
        while self.has_undelivered() && begun.elapsed() < self.limit {
            self.look();
            self.rest(SLICE);
        }
        for side in &mut self.sides {
            let (mut endpoint, owners) = side.visit_with_owners();
            for &id in owners.keys() {
                // What the peer has closed needs no closing.
                _ = endpoint.close(id);
            }
        }
    }
}
