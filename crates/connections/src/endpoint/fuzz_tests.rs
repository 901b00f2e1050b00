//! Hostile packets against two endpoints that talk: each is refused and counted, once, and nothing
//! else changes.
//!
//! The endpoints talk over loopback; what their sockets receive is recorded on its way. Random,
//! changed and replayed packets are handed to the function that takes what a socket has received,
//! as from any address: far more of them than a socket would bring. Last come packets of an
//! attacker who knows the keys of one connection: nothing panics, and other connections go on.
//!
//! `LANEWAY_FUZZ_SECONDS=3600` sets the duration, `LANEWAY_SEED=7` the seed, of which the hostile
//! packets are made. Keys and times are different in every run, so a failure prints the packets.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use laneway_path::wire::{
    Body, Counts, DIVERSIONS, Echo, HEADER_BYTES, Header, MOST_PATHS, Range, write,
};
use laneway_path::{Counters, Event, MigrationState, Nanos, PathId, QpState};
use laneway_stats::SplitMix64;

use super::handshakes::is_handshake;
use super::lines::Readable;
use super::{ConnectionId, Dropped, Endpoint, LocalPath, Options, What};
use crate::driver::seal::{Sealer, Security};
use crate::driver::secret::{Secret, TAG_BYTES};
use crate::driver::setup::Setup;
use crate::system::clock::now;
use crate::system::socket::{Arrival, MOST_BYTES};

/// For each step of the exchange.
const LIMIT: Duration = Duration::from_secs(20);
const PATHS: usize = 2;
/// Opened in each round; the first is given to an attacker who knows its keys in some rounds.
const CONNECTIONS: usize = 2;
/// Messages of a round, each way over each connection.
const MESSAGES: usize = 12;
const LONGEST: usize = 20_000;
/// Hostile packets between two steps of the exchange.
const BATCH: usize = 256;
/// Recorded packets that hostile ones are made of.
const RECORDED: usize = 4096;
/// Sockets of the attacker, which get answers to replayed packets.
const STRANGERS: usize = 48;
/// Numbers that the opener of a connection may keep of its peer.
const MOST_DRAWN: usize = 16;
/// How much the process may grow after a tenth of the time.
const MOST_GROWTH: usize = 96 << 20;

/// A packet as a socket received it.
#[derive(Clone)]
struct Recorded {
    to: usize,
    path: usize,
    from: SocketAddr,
    bytes: Vec<u8>,
}

/// Everything of an endpoint that a hostile packet must not change.
#[derive(Debug, PartialEq)]
struct Snapshot {
    connections: Vec<Seen>,
    opening: usize,
    accepted: usize,
    notices: bool,
}

#[derive(Debug, PartialEq)]
struct Seen {
    number: u32,
    states: (QpState, MigrationState),
    paths: (PathId, Option<PathId>, u32),
    waiting: usize,
    counters: Counters,
    timeouts: [Option<Nanos>; 2],
}

/// What of a connection an end still waits for.
#[derive(Default)]
struct Progress {
    id: Option<ConnectionId>,
    received: usize,
    sent: usize,
    migrations: usize,
    is_closed: bool,
}

struct World {
    security: Security,
    ends: [Endpoint; 2],
    /// By end and label.
    progress: [Vec<Progress>; 2],
    /// The connection that an attacker has the keys of, by its label.
    ruined: Option<usize>,
    recorded: Vec<Recorded>,
    /// The place of the packet that was recorded first, where there is no room for more.
    oldest: usize,
    held: [Vec<Recorded>; 2],
    strangers: Vec<UdpSocket>,
    random: SplitMix64,
    round: u64,
    /// Hostile packets, by what became of them: refused, answered.
    tried: u64,
    answered: u64,
    rightly_sealed: u64,
}

fn endpoint(security: Security) -> Endpoint {
    let local = LocalPath::at(SocketAddr::from(([127, 0, 0, 1], 0)));
    let secret = Secret::from_bytes(b"the secret of both endpoints").expect("long enough");
    let setup = Setup { security: Some(security), ..Setup::usual() };
    let options = Options { paths: vec![local; PATHS], secret, accepts: true, setup };
    Endpoint::open(options).expect("an endpoint")
}

fn message(round: u64, label: usize, end: usize, k: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(round ^ (label << 20 | end << 16 | k) as u64);
    let most = if k.is_multiple_of(4) { LONGEST } else { 300 };
    (0..random.index(most)).map(|_| random.next_u64() as u8).collect()
}

fn refused_by(dropped: Dropped) -> u64 {
    let Dropped { strange, misplaced, forged, refused } = dropped;
    strange + misplaced + forged + refused
}

/// What connections count as refused, and the counters without it.
fn split(mut counters: Counters) -> (u64, Counters) {
    let mut refused = 0;
    for count in [
        &mut counters.malformed,
        &mut counters.strange,
        &mut counters.replayed,
        &mut counters.unexpected,
    ] {
        refused += std::mem::take(count);
    }
    (refused, counters)
}

impl World {
    fn new(security: Security, seed: u64) -> World {
        let strangers = (0..STRANGERS).map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            socket.set_nonblocking(true).expect("a socket");
            socket
        });
        World {
            security,
            ends: [endpoint(security), endpoint(security)],
            progress: [Vec::new(), Vec::new()],
            ruined: None,
            recorded: Vec::new(),
            oldest: 0,
            held: [Vec::new(), Vec::new()],
            strangers: strangers.collect(),
            random: SplitMix64::new(seed),
            round: 0,
            tried: 0,
            answered: 0,
            rightly_sealed: 0,
        }
    }

    fn chance(&mut self, of: usize) -> bool {
        self.random.index(of) == 0
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.random.index(most + 1)).map(|_| self.random.next_u64() as u8).collect()
    }

    fn record(&mut self, packet: Recorded) {
        if self.recorded.len() < RECORDED {
            self.recorded.push(packet);
        } else {
            self.recorded[self.oldest] = packet;
            self.oldest = (self.oldest + 1) % RECORDED;
        }
    }

    fn snapshot(&self, end: usize) -> (u64, [u64; PATHS], Snapshot) {
        let end = &self.ends[end];
        let mut refused = refused_by(end.dropped);
        let connections = end.connections.iter().map(|one| {
            let connection = &one.connection;
            let (count, counters) = split(*connection.counters());
            refused += count;
            Seen {
                number: connection.number(),
                states: (connection.state(), connection.migration()),
                paths: (connection.primary(), connection.alternate(), connection.epoch()),
                waiting: connection.waiting(),
                counters,
                timeouts: [connection.next_timeout(), one.manager.next_timeout()],
            }
        });
        let connections = connections.collect();
        let [opening, drawn, accepted] = end.handshakes.kept();
        assert!(drawn <= MOST_DRAWN, "{drawn} numbers of a peer are kept");
        let notices = !end.notices.is_empty();
        let sent = [0, 1].map(|path| end.lines.wires()[path].sent.packets);
        (refused, sent, Snapshot { connections, opening, accepted, notices })
    }
}

/// The exchange.
impl World {
    /// Takes what has come to an end, and goes on. A network may deliver packets twice, late, in
    /// another order and never.
    fn step(&mut self, end: usize) {
        let mut arrived = std::mem::take(&mut self.held[end]);
        let mut buffer = vec![0; MOST_BYTES];
        let mut lines = Vec::new();
        let this = &mut self.ends[end];
        for number in 0..this.lines.poll() {
            match this.lines.readable(number) {
                Some(Readable::Line(line)) => lines.push(line),
                Some(Readable::Devices) => _ = this.health.on_event(),
                None => {}
            }
        }
        lines.extend(this.lines.apart());
        for line in lines {
            while let Some(arrival) = this.lines.receive(line, &mut buffer) {
                for bytes in buffer[..arrival.bytes].chunks(arrival.segment) {
                    let (from, path, bytes) = (arrival.from, line.path, bytes.to_vec());
                    arrived.push(Recorded { to: end, path, from, bytes });
                }
            }
        }
        for packet in arrived {
            match self.random.index(100) {
                0 => continue,
                1..=3 => {
                    self.held[end].push(packet);
                    continue;
                }
                _ => {}
            }
            // What was not taken, as its connection was not open yet, may be taken later.
            let refused = self.snapshot(end).0;
            self.deliver(&packet);
            if is_handshake(&packet.bytes) || self.snapshot(end).0 == refused {
                if self.chance(32) {
                    self.deliver(&packet);
                }
                self.record(packet);
            }
        }
        self.go_on(end);
    }

    fn deliver(&mut self, packet: &Recorded) {
        let Recorded { to, path, from, bytes } = packet;
        let mut bytes = bytes.clone();
        let arrival = Arrival {
            from: *from,
            bytes: bytes.len(),
            segment: bytes.len().max(1),
            at: None,
            marked: false,
        };
        self.ends[*to].on_arrival(now(), *path, &arrival, &mut bytes);
    }

    fn go_on(&mut self, end: usize) {
        self.ends[end].go_on(now());
        while let Some(notice) = self.ends[end].poll() {
            self.on_notice(end, notice.connection, notice.what);
        }
    }

    fn on_notice(&mut self, end: usize, id: ConnectionId, what: What) {
        let known = self.progress[end].iter().position(|progress| progress.id == Some(id));
        if let What::Accepted { label } = what {
            let round = self.round;
            assert_eq!((end, label >> 8, known), (1, round, None), "a connection of no one");
            let place = &mut self.progress[1][(label & 0xff) as usize];
            assert_eq!(place.id.replace(id), None, "accepted twice");
            return;
        }
        let label = known.unwrap_or_else(|| panic!("{id:?} of no one: {what:?}"));
        if self.ruined == Some(label) {
            return;
        }
        let (round, progress) = (self.round, &mut self.progress[end][label]);
        match what {
            What::Connected => assert_eq!(end, 0),
            What::Event(Event::Received { id, message: bytes }) => {
                let wanted = message(round, label, 1 - end, progress.received);
                assert_eq!(id, progress.received as u64);
                assert!(bytes == wanted, "message {id}: {} of {} bytes", bytes.len(), wanted.len());
                progress.received += 1;
            }
            What::Event(Event::Sent { id, .. }) => {
                assert_eq!(id, progress.sent as u64);
                progress.sent += 1;
            }
            What::Event(Event::Migrated { .. }) => progress.migrations += 1,
            What::Event(Event::Failed { why }) => panic!("connection {label} fails: {why:?}"),
            What::Closed => {
                assert_eq!(end, 1, "closed by the one that accepted");
                assert!(self.progress[0][label].is_closed, "the peer has not closed it");
                self.progress[1][label].is_closed = true;
            }
            What::NoAnswer => panic!("no answer"),
            _ => {}
        }
    }

    /// Steps of both ends, with hostile packets between them.
    fn until(&mut self, what: &str, done: impl Fn(&World) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < LIMIT, "{:?}: {what}", self.security);
            for end in 0..2 {
                self.step(end);
                self.attack();
            }
        }
    }

    fn open(&mut self) {
        let peers = self.ends[1].addresses();
        self.progress = [0, 1].map(|_| (0..CONNECTIONS).map(|_| Progress::default()).collect());
        for label in 0..CONNECTIONS {
            let name = self.round << 8 | label as u64;
            let id = self.ends[0].begin_open(&peers, name, LIMIT).expect("begun");
            self.progress[0][label].id = Some(id);
        }
        self.besiege();
        self.until("connections open", |world| {
            let opened = |at: &Progress| at.id.is_some_and(|id| world.ends[0].get(id).is_ok());
            world.progress[0].iter().all(opened)
                && world.progress[1].iter().all(|at| at.id.is_some())
        });
    }

    /// The opener waits for an answer. Were its hello answered at other addresses, too, the answers
    /// could be brought to it, and it would prove these addresses.
    fn besiege(&mut self) {
        if !self.chance(4) {
            return;
        }
        let begun = Instant::now();
        let is_hello = |packet: &&Recorded| packet.bytes.first() == Some(&0x41);
        let before = self.recorded.len() + self.oldest;
        while self.recorded.len() + self.oldest == before && begun.elapsed() < LIMIT / 20 {
            self.step(1);
        }
        let hello = self.recorded.iter().cycle().skip(self.oldest).take(self.recorded.len());
        let Some(hello) = hello.filter(is_hello).last().cloned() else { return };
        for number in 0..STRANGERS {
            let from = self.strangers[number].local_addr().expect("an address");
            self.deliver(&Recorded { from, ..hello.clone() });
        }
        self.check_strangers();
    }

    /// Messages both ways over all connections but a ruined one, with a migration in between.
    fn exchange(&mut self) {
        let ruined = self.ruined;
        let labels: Vec<usize> = (0..CONNECTIONS).filter(|label| ruined != Some(*label)).collect();
        for half in [0..MESSAGES / 2, MESSAGES / 2..MESSAGES] {
            let until = half.end;
            for label in &labels {
                for end in 0..2 {
                    let id = self.progress[end][*label].id.expect("open");
                    for k in half.clone() {
                        let room = Vec::with_capacity(LONGEST);
                        self.ends[end].post_receive(id, k as u64, room).expect("room");
                        let bytes = message(self.round, *label, end, k);
                        self.ends[end].send(id, k as u64, bytes).expect("sent");
                    }
                }
            }
            self.until("messages arrive", |world| {
                let arrived = |at: &Progress| at.received == until && at.sent == until;
                labels.iter().all(|label| (0..2).all(|e| arrived(&world.progress[e][*label])))
            });
            let id = self.progress[0][labels[0]].id.expect("open");
            // It may be about to be loaded again.
            _ = self.ends[0].migrate(&[id]);
        }
    }

    fn close(&mut self) {
        for label in 0..CONNECTIONS {
            let [here, there] = [0, 1].map(|end| self.progress[end][label].id.expect("open"));
            self.progress[0][label].is_closed = true;
            let closed = self.ends[0].close(here);
            assert!(closed.is_ok() || self.ruined == Some(label), "{closed:?}");
            self.attack();
            if self.chance(2) || self.ruined == Some(label) {
                // The peer may miss it, and closes its end as well.
                _ = self.ends[1].close(there);
                self.progress[1][label].is_closed = true;
            }
        }
        let begun = Instant::now();
        while self.ends.iter().any(|end| end.connections().next().is_some()) {
            assert!(begun.elapsed() < LIMIT, "connections are left");
            (0..2).for_each(|end| self.step(end));
            if begun.elapsed() > LIMIT / 200 {
                // The packet that says so got lost.
                for at in 0..CONNECTIONS {
                    _ = self.progress[1][at].id.map(|id| self.ends[1].close(id));
                }
            }
        }
        self.attack();
        for end in 0..2 {
            self.held[end].clear();
            self.step(end);
        }
    }
}

/// An attacker who sees all packets and knows no key.
impl World {
    fn attack(&mut self) {
        self.check_strangers();
        for end in 0..2 {
            let (refused, sent, before) = self.snapshot(end);
            let mut replayed_handshakes = 0;
            let mut all = Vec::new();
            let mut count = 0;
            while count < BATCH {
                let (path, from, packets) = self.hostile(end);
                let is_replay = |bytes: &&Vec<u8>| is_handshake(bytes) && self.is_recorded(bytes);
                replayed_handshakes += packets.iter().filter(is_replay).count() as u64;
                count += packets.len();
                self.inject(end, path, from, &packets);
                all.push((path, from, packets));
            }
            let (refused_now, sent_now, mut after) = self.snapshot(end);
            // Connections that ended long ago are forgotten on the way.
            after.accepted = after.accepted.max(before.accepted);
            let new = refused_now - refused;
            let answers: u64 = (0..PATHS).map(|path| sent_now[path] - sent[path]).sum();
            let is_right = after == before
                && (count as u64 - replayed_handshakes..=count as u64).contains(&new)
                // A challenge also has the opener send what is due for its other connections.
                && answers <= replayed_handshakes + before.opening as u64;
            if !is_right {
                for (path, from, packets) in &all {
                    println!("path {path} from {from}: {}", hex(packets));
                }
                panic!(
                    "{:?}, round {}, end {end}: {new} of {count} packets were refused, \
                     {replayed_handshakes} replayed handshakes, {answers} answers;\n\
                     {before:?}\n{after:?}",
                    self.security, self.round
                );
            }
            self.tried += count as u64;
            self.answered += count as u64 - new;
        }
    }

    /// A packet from another address than its sender's has no answer.
    fn check_strangers(&self) {
        let mut buffer = [0; 2000];
        for socket in &self.strangers {
            let answer = socket.recv_from(&mut buffer).map(|(bytes, _)| buffer[..bytes].to_vec());
            assert!(answer.is_err(), "an answer to a stranger: {answer:02x?}");
        }
    }

    fn is_recorded(&self, bytes: &[u8]) -> bool {
        self.recorded.iter().any(|packet| packet.bytes == bytes)
    }

    /// Packets that arrive in one call.
    fn hostile(&mut self, end: usize) -> (usize, SocketAddr, Vec<Vec<u8>>) {
        let (source, packet) = self.change(end);
        let mut path = source.as_ref().map_or_else(|| self.random.index(PATHS), |s| s.path);
        if self.chance(16) {
            path = self.random.index(PATHS);
        }
        let peer = self.ends[1 - end].addresses()[path];
        let from = match self.random.index(16) {
            0 => self.strangers[self.random.index(STRANGERS)].local_addr().expect("an address"),
            1 => SocketAddr::from(([127, 0, 0, 1], 1 + self.random.index(1000) as u16)),
            2 => self.ends[end].addresses()[path],
            3 => self.ends[1 - end].addresses()[PATHS - 1 - path],
            _ => peer,
        };
        let mut packets = vec![packet];
        // The system hands over several packets of one length together, the last perhaps shorter.
        let most = packets[0].len();
        while packets.len() < 8 && most > 0 && self.chance(8) {
            let (_, mut bytes) = self.change(end);
            bytes.resize(most, 0);
            packets.push(bytes);
        }
        packets.iter_mut().for_each(|bytes| self.break_token(end, bytes));
        (path, from, packets)
    }

    fn any(&mut self) -> Option<Recorded> {
        let count = self.recorded.len();
        // Most often one of the latest.
        let latest = if self.chance(2) { count.min(64) } else { count };
        let place = self.oldest + (count - latest) + self.random.index(latest);
        self.recorded.get(place % count.max(1)).cloned()
    }

    /// A packet for an end, and the one that it was made of.
    fn change(&mut self, end: usize) -> (Option<Recorded>, Vec<u8>) {
        let (Some(source), Some(other)) = (self.any(), self.any()) else {
            return (None, self.bytes(200));
        };
        let mut bytes = source.bytes.clone();
        match self.random.index(10) {
            0 => bytes = self.bytes(1500),
            1 => bytes.truncate(self.random.index(bytes.len() + 1)),
            2 => bytes.extend(self.bytes(200)),
            3 | 4 => {
                for _ in 0..=self.random.index(8) {
                    let bit = self.random.index(8 * bytes.len());
                    if let Some(byte) = bytes.get_mut(bit / 8) {
                        *byte ^= 1 << (bit % 8);
                    }
                }
            }
            5 => {
                let from = self.random.index(bytes.len() + 1);
                let until = (from + self.random.index(20)).min(bytes.len());
                let fill = [0, 0xff, 0x80, self.random.next_u64() as u8][self.random.index(4)];
                bytes[from..until].fill(fill);
            }
            6 => {
                // The head of one, and what lies behind in the other.
                let at = self.random.index(bytes.len() + 1);
                bytes.truncate(at);
                bytes.extend(other.bytes.iter().skip(at));
            }
            7 | 8 => self.aim(end, &mut bytes),
            _ => {}
        }
        (Some(source), bytes)
    }

    /// Sets fields of a header to what a connection of this end would take.
    fn aim(&mut self, end: usize, bytes: &mut [u8]) {
        let ids = self.ends[end].connections.ids();
        if let (Some(id), Some(to)) = (ids.get(self.random.index(ids.len())), bytes.get_mut(4..8)) {
            to.copy_from_slice(&id.0.to_be_bytes());
        }
        if self.chance(3)
            && let Some(kind) = bytes.first_mut()
        {
            let kinds = [1, 2, 3, 4, 5, 6, 7, 0x41, 0x42, 0x43, 0x44, 0x45];
            *kind = kinds[self.random.index(kinds.len())];
        }
        let serial = match self.random.index(3) {
            0 => self.random.next_u64(),
            1 => 1 << self.random.index(64),
            _ => self.random.index(2000) as u64,
        };
        if let Some(field) = bytes.get_mut(8..16) {
            field.copy_from_slice(&serial.to_be_bytes());
        }
    }

    /// Who trusts takes any packet with the right token: one that was changed has another.
    fn break_token(&mut self, end: usize, bytes: &mut [u8]) {
        if self.security != Security::Trust {
            return;
        }
        let connections = &mut self.ends[end].connections;
        let is_right = connections.ids().into_iter().any(|id| {
            let one = connections.get_mut(id.0).expect("it is there");
            bytes.ends_with(&token(&mut one.opens))
        });
        if is_right && !self.is_recorded(bytes) {
            let bit = self.random.index(8 * TAG_BYTES);
            let at = bytes.len() - 1 - bit / 8;
            bytes[at] ^= 1 << (bit % 8);
        }
    }

    /// As one call to the system brings them.
    fn inject(&mut self, end: usize, path: usize, from: SocketAddr, packets: &[Vec<u8>]) {
        let mut all = packets.concat();
        let arrival = Arrival {
            from,
            bytes: all.len(),
            segment: packets[0].len().max(1),
            at: None,
            marked: self.chance(4),
        };
        self.ends[end].on_arrival(now(), path, &arrival, &mut all);
    }
}

/// An attacker who has the keys of one connection, as its peer has.
impl World {
    fn ruin(&mut self) {
        self.ruined = Some(0);
        let ids = [0, 1].map(|end| self.progress[end][0].id.expect("open"));
        for count in 0..2000 {
            let end = self.random.index(2);
            let path = self.random.index(PATHS);
            let from = self.ends[1 - end].addresses()[path];
            let mut packet = self.sealed_by_the_peer(ids[end], path as u8);
            let Some(peer) = self.ends[1 - end].connections.get_mut(ids[1 - end].0) else { break };
            let tag = peer.seals.seal(&mut packet, &[]);
            packet.extend(tag);
            self.inject(end, path, from, &[packet]);
            self.rightly_sealed += 1;
            if count % 20 == 0 {
                self.go_on(end);
                self.step(1 - end);
            }
        }
    }

    /// A packet that has the form of one, most often.
    fn sealed_by_the_peer(&mut self, to: ConnectionId, path: u8) -> Vec<u8> {
        let bits = self.random.index(64);
        let mut number = |most: u64| match self.random.index(4) {
            0 => self.random.next_u64() >> bits,
            1 => u64::MAX - self.random.index(3) as u64,
            _ => self.random.index(most as usize) as u64,
        };
        let header = Header {
            framed: false,
            path: PathId(path),
            to: to.0,
            serial: number(20_000),
            epoch: number(3) as u32,
            primary: PathId((number(2) % MOST_PATHS as u64) as u8),
            diversions: number(2) as u8 % DIVERSIONS,
            expects: number(1 << 25),
        };
        let counts = Counts { marked: number(100) as u16, again: number(100) as u16 };
        let path = PathId((number(2) % MOST_PATHS as u64) as u8);
        let (serial, delay_us, arrived) = (number(9000), number(1000) as u32, number(9000));
        let echo = Echo { path, serial, delay_us, arrived, counts };
        let range = Range { after: number(100) as u32, count: number(100) as u32 };
        let (n, k) = (number(1 << 25), number(1400) as usize % 3000);
        let bytes = vec![7; k];
        let body = match self.random.index(9) {
            0..=2 => {
                let [first, last, ack_wanted] = [0, 1, 2].map(|_| self.random.index(2) == 0);
                Body::Data { number: n, first, last, ack_wanted, bytes: &bytes }
            }
            3 => Body::Ack { echoes: vec![echo; k % 8], early: vec![range; k % 32] },
            4 => Body::NotReady { timer: k as u8 % 32 },
            5 => Body::Probe { bytes: k },
            6 => Body::Answer { probe: echo, queued: n % 2 == 0 },
            7 => Body::Arm { bytes: k },
            _ => Body::Arming { bytes: k },
        };
        let mut packet = Vec::new();
        write(&header, &body, &mut packet);
        if self.chance(4) {
            let bit = self.random.index(8 * packet.len());
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        if self.chance(16) {
            packet.truncate(self.random.index(packet.len() + 1));
        }
        packet
    }

    fn round(&mut self) {
        self.round += 1;
        self.attack();
        self.open();
        if self.round.is_multiple_of(4) {
            self.ruin();
        }
        self.exchange();
        self.close();
        self.ruined = None;
    }
}

/// What a trusting end takes packets by.
fn token(opens: &mut Sealer) -> [u8; TAG_BYTES] {
    opens.seal(&mut [0; HEADER_BYTES], &[])
}

fn hex(packets: &[Vec<u8>]) -> String {
    let hex =
        |packet: &Vec<u8>| packet.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    packets.iter().map(hex).collect::<Vec<_>>().join(" ")
}

/// Bytes of memory that the process has.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("its size");
    let pages = text.split(' ').nth(1).and_then(|word| word.parse::<usize>().ok());
    pages.expect("a number") * 4096
}

fn number(variable: &str, usual: u64) -> u64 {
    let said = std::env::var(variable).ok();
    said.map_or(usual, |word| word.parse().unwrap_or_else(|_| panic!("{variable}: {word}")))
}

#[test]
fn hostile_packets_are_refused_and_change_nothing() {
    let seconds = number("LANEWAY_FUZZ_SECONDS", laneway_needs::amount(3, 60));
    let seed = number("LANEWAY_SEED", 1);
    println!("seed {seed}, {seconds} s");
    let begun = Instant::now();
    let mut worlds = Security::ALL.map(|security| World::new(security, seed));
    let mut size = None;
    while begun.elapsed() < Duration::from_secs(seconds) {
        worlds.iter_mut().for_each(World::round);
        if begun.elapsed() > Duration::from_secs(seconds) / 10 {
            let first = *size.get_or_insert_with(resident);
            let grown = resident().saturating_sub(first);
            assert!(grown < MOST_GROWTH, "{grown} bytes more than at first, {first}");
        }
    }
    for world in &worlds {
        let World { tried, answered, rightly_sealed, round, .. } = world;
        println!(
            "{}: {tried} hostile packets in {round} rounds, {answered} of them replayed \
             handshakes that were answered; {rightly_sealed} with right keys",
            world.security.name()
        );
        assert!(*tried > 1000 && *answered > 0);
    }
    let tried: u64 = worlds.iter().map(|world| world.tried).sum();
    println!("{tried} packets in {:.1} s", begun.elapsed().as_secs_f64());
}
