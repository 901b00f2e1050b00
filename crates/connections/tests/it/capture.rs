//! What was delivered, compared with what an independent program saw on the wire: every message
//! was there, whole, and was delivered once and in order; no packet number of a path comes twice.
//!
//! tcpdump records both paths while they fail and an attacker on them sends changed copies of
//! packets. The records are decoded here as docs/path-inside.md describes packets, and tags are
//! computed again; nothing of our own parsers takes part.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use aegis::aegis128l::Aegis128LMac;
use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, Options, Secret, Security, Setup, What,
};
use laneway_lab::within;
use laneway_needs::{Need, amount, program};
use laneway_path::{Event, MigrationState};
use laneway_stats::SplitMix64;

use crate::hosts::{Hosts, needs};
use crate::talk::lose;

const LIMIT: Duration = Duration::from_secs(30);
const SECRET: &[u8] = b"the secret of a job that is watched";
const CONNECTIONS: usize = 3;
const LONGEST: usize = 60_000;
/// Messages that are under way at a time, over each connection and each way.
const UNDER_WAY: usize = 4;
/// Loses every packet; loses 5 % at random.
const ALL: &str = "1,6 0 0 2";
const SOME: &str = "4,32 0 0 4294963256,53 1 0 214748364,6 0 0 2,6 0 0 4294967295";

/// tcpdump at one device.
struct Capture {
    child: Child,
    stderr: BufReader<ChildStderr>,
    file: PathBuf,
}

impl Capture {
    fn start(namespace: &str, device: &str) -> Capture {
        let name = format!("laneway-{namespace}-{device}.pcap");
        let file = std::env::temp_dir().join(name);
        let mut command = Command::new("tcpdump");
        command
            .args(["-i", device, "-Z", "root", "-B", "65536", "--immediate-mode", "-s", "0", "-w"])
            .arg(&file);
        command.arg("udp").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let spawned = within(namespace, || command.spawn()).expect("the namespace");
        let mut child = spawned.expect("tcpdump starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("its words"));
        let mut line = String::new();
        while !line.contains("listening on") {
            line.clear();
            assert!(stderr.read_line(&mut line).expect("a line") > 0, "tcpdump ends at once");
        }
        Capture { child, stderr, file }
    }

    /// The frames that it has seen.
    fn end(mut self) -> Vec<Vec<u8>> {
        // What has just passed reaches it a moment later.
        thread::sleep(Duration::from_millis(300));
        // SAFETY: the process is a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) }, 0);
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("its words");
        self.child.wait().expect("it ends");
        assert!(said.contains("\n0 packets dropped by kernel"), "{said}");
        frames(&fs::read(&self.file).expect("a record"))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        _ = fs::remove_file(&self.file);
    }
}

/// The frames of a pcap file.
fn frames(file: &[u8]) -> Vec<Vec<u8>> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((word(0), word(20)), (0xa1b2_c3d4, 1), "microseconds, Ethernet");
    let (mut at, mut all) = (24, Vec::new());
    while at < file.len() {
        let (kept, length) = (word(at + 8) as usize, word(at + 12) as usize);
        assert_eq!(kept, length, "a frame that was cut off");
        all.push(file[at + 16..at + 16 + kept].to_vec());
        at += 16 + kept;
    }
    all
}

/// The payload of a UDP datagram over IPv4, and its source.
fn payload(frame: &[u8]) -> Option<(SocketAddr, &[u8])> {
    let ip = frame.get(14..)?;
    if frame[12..14] != [8, 0] || ip[0] >> 4 != 4 || ip[9] != 17 {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    assert!(total <= 1500, "one packet a frame, not {total} bytes");
    let udp = &ip[4 * usize::from(ip[0] & 15)..total];
    let source: [u8; 4] = ip[12..16].try_into().expect("four bytes");
    let port = u16::from_be_bytes([udp[0], udp[1]]);
    Some((SocketAddr::from((source, port)), &udp[8..]))
}

fn u32_at(packet: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(packet[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(packet: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(packet[at..at + 8].try_into().expect("eight bytes"))
}

fn derive(purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(purpose);
    parts.iter().for_each(|part| _ = hasher.update(part));
    hasher.finalize().into()
}

/// One direction of a connection, as the wire shows it.
#[derive(Default)]
struct Way {
    root: [u8; 32],
    /// The number of its first data packet.
    start: u64,
    label: u64,
    /// Packets by path and serial.
    serials: BTreeMap<(u8, u64), u64>,
    /// Parts of messages by packet number: first, last, bytes. And how often they were sent.
    parts: BTreeMap<u64, (bool, bool, Vec<u8>)>,
    sent: u64,
}

impl Way {
    fn has_right_tag(&self, packet: &[u8]) -> bool {
        let Some((body, tag)) = packet.split_last_chunk::<16>() else { return false };
        let purpose = "laneway 2026 later key of one direction of a connection";
        let mut nonce = [0; 16];
        let known = body.len().min(16);
        nonce[..known].copy_from_slice(&body[..known]);
        let key = derive(purpose, &[&self.root, &nonce[8..12]]);
        let key: [u8; 16] = key[..16].try_into().expect("sixteen bytes");
        let mut mac = Aegis128LMac::<16>::new_with_nonce(&key, &nonce);
        mac.update(body);
        mac.finalize() == *tag
    }

    fn on_packet(&mut self, packet: &[u8]) {
        *self.serials.entry((packet[2], u64_at(packet, 8))).or_default() += 1;
        if packet[0] != 1 {
            return;
        }
        let bytes = packet[36..packet.len() - 16].to_vec();
        let part = (packet[1] & 1 != 0, packet[1] & 2 != 0, bytes);
        self.sent += 1;
        let before = self.parts.entry(u64_at(packet, 28)).or_insert_with(|| part.clone());
        assert!(*before == part, "what is sent again is the same");
    }

    /// The messages that the wire shows, in order.
    fn messages(&self) -> Vec<Vec<u8>> {
        let mut messages: Vec<Vec<u8>> = Vec::new();
        let mut is_whole = true;
        for (wanted, (number, (first, last, bytes))) in (self.start..).zip(&self.parts) {
            assert_eq!((wanted, is_whole), (*number, *first), "a part that was never on the wire");
            if *first {
                messages.push(Vec::new());
            }
            messages.last_mut().expect("begun").extend_from_slice(bytes);
            is_whole = *last;
        }
        assert!(is_whole, "the last message is not whole");
        messages
    }
}

/// What both captures show.
#[derive(Default)]
struct Wire {
    /// By the receiver's queue pair, and whether the opener receives.
    ways: BTreeMap<(u32, bool), Way>,
    frames: u64,
    handshakes: u64,
    closings: u64,
    /// Packets with a wrong tag.
    wrong: Vec<Vec<u8>>,
}

impl Wire {
    fn read(frames: &[Vec<u8>], opener: [u8; 2]) -> Wire {
        let job = derive("laneway 2026 key of a job", &[SECRET]);
        let packets: Vec<(bool, &[u8])> = frames
            .iter()
            .filter_map(|frame| payload(frame))
            .map(|(from, packet)| (is_host(from, opener[0]), packet))
            .collect();
        let mut wire = Wire { frames: packets.len() as u64, ..Wire::default() };
        let is_handshake = |packet: &[u8]| matches!(packet.first(), Some(0x41..=0x44));
        let handshakes = packets.iter().filter(|(_, packet)| is_handshake(packet));
        let (mut opens, mut accepts) = (BTreeMap::new(), BTreeMap::new());
        for (_, packet) in handshakes {
            let (body, proof) = packet.split_last_chunk::<16>().expect("a proof");
            let right = blake3::keyed_hash(&job, body);
            assert_eq!(right.as_bytes()[..16], proof[..], "a handshake of no one");
            wire.handshakes += 1;
            // By what the opener drew.
            let drawn = packet[8..24].to_vec();
            match packet[0] {
                0x43 => _ = opens.insert(drawn, *packet),
                0x44 => _ = accepts.insert(drawn, *packet),
                _ => {}
            }
        }
        for (drawn, accepted) in &accepts {
            let open = opens[drawn];
            let root =
                |purpose| derive(purpose, &[&job, &accepted[5..6], drawn, &accepted[24..40]]);
            let from = root("laneway 2026 packets from the opener of a connection");
            let to = root("laneway 2026 packets to the opener of a connection");
            for (receiver, sender, root) in [(*accepted, open, from), (open, *accepted, to)] {
                let (start, label) = (u64::from(u32_at(sender, 52)), u64_at(sender, 44));
                let way = Way { root, start, label, ..Way::default() };
                wire.ways.insert((u32_at(receiver, 40), receiver[0] == 0x43), way);
            }
        }
        for (from_opener, packet) in packets.into_iter().filter(|(_, p)| !is_handshake(p)) {
            let to = (u32_at(packet, 4), !from_opener);
            let way = wire.ways.get_mut(&to).filter(|way| way.has_right_tag(packet));
            match way {
                None => wire.wrong.push(packet.to_vec()),
                Some(_) if packet[0] == 0x45 => wire.closings += 1,
                Some(way) => way.on_packet(packet),
            }
        }
        wire
    }
}

/// Whether an address is that of the host whose addresses end so.
fn is_host(address: SocketAddr, last: u8) -> bool {
    matches!(address, SocketAddr::V4(v4) if v4.ip().octets()[3] == last)
}

/// Sends copies of every tenth packet of data that leaves a device, with one byte changed.
struct Attacker {
    socket: OwnedFd,
}

impl Attacker {
    fn at(namespace: &str, device: &str) -> Attacker {
        let open = || {
            let all = (libc::ETH_P_ALL as u16).to_be();
            // SAFETY: plain numbers; the result is checked.
            let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW, i32::from(all)) };
            assert!(fd >= 0, "a packet socket");
            // SAFETY: the descriptor was just made and has no other owner.
            let socket = unsafe { OwnedFd::from_raw_fd(fd) };
            let name = std::ffi::CString::new(device).expect("a name");
            // SAFETY: the address is as long as is said, the name ends in a zero byte, and the time
            // is as long as is said.
            unsafe {
                let mut address: libc::sockaddr_ll = std::mem::zeroed();
                address.sll_family = libc::AF_PACKET as u16;
                address.sll_protocol = all;
                address.sll_ifindex = libc::if_nametoindex(name.as_ptr()) as i32;
                let bytes = size_of_val(&address) as u32;
                assert_eq!(libc::bind(fd, (&raw const address).cast(), bytes), 0, "bound");
                let time = libc::timeval { tv_sec: 0, tv_usec: 50_000 };
                let (level, option) = (libc::SOL_SOCKET, libc::SO_RCVTIMEO);
                let bytes = size_of_val(&time) as u32;
                assert_eq!(libc::setsockopt(fd, level, option, (&raw const time).cast(), bytes), 0);
            }
            socket
        };
        Attacker { socket: within(namespace, open).expect("the namespace") }
    }

    /// The packets that it has sent, some of which the device did not take.
    fn run(&self, stop: &AtomicBool) -> BTreeSet<Vec<u8>> {
        let (mut seen, mut own) = (0u64, BTreeSet::new());
        let mut frame = vec![0; 70_000];
        let fd = self.socket.as_raw_fd();
        while !stop.load(Ordering::Relaxed) {
            // SAFETY: the buffer is as long as is said.
            let got = unsafe { libc::recv(fd, frame.as_mut_ptr().cast(), frame.len(), 0) };
            let Ok(got) = usize::try_from(got) else { continue };
            let Some((_, packet)) = payload(&frame[..got]) else { continue };
            if packet.len() < 60 || packet[0] != 1 || own.contains(packet) {
                continue;
            }
            seen += 1;
            if seen % 10 > 0 {
                continue;
            }
            // Without a checksum of UDP, so that only the tag says that it is changed.
            let at = [14 + 20 + 8 + 28 + 7, 14 + 20 + 8 + 36 + 5, got - 1][seen as usize / 10 % 3];
            frame[at] ^= 1 << (seen % 8);
            frame[40..42].fill(0);
            own.extend(payload(&frame[..got]).map(|(_, packet)| packet.to_vec()));
            // SAFETY: the buffer is as long as is said.
            unsafe { libc::send(fd, frame.as_ptr().cast(), got, 0) };
        }
        own
    }
}

/// The messages of one way over one connection, as the programs at its ends know them.
#[derive(Default)]
struct Talk {
    sent: usize,
    acknowledged: usize,
    delivered: Vec<Vec<u8>>,
}

struct World {
    hosts: Hosts,
    ends: [Endpoint; 2],
    /// By end and connection, and what this end sends over it.
    ids: [Vec<ConnectionId>; 2],
    talks: [Vec<Talk>; 2],
    migrations: u64,
}

fn message(end: usize, connection: usize, k: usize) -> Vec<u8> {
    let mut random = SplitMix64::new((end << 40 | connection << 32 | k) as u64);
    let most = if end == 0 { LONGEST } else { 2000 };
    (0..random.index(most)).map(|_| random.next_u64() as u8).collect()
}

impl World {
    fn new(hosts: Hosts) -> World {
        let open = |namespace: &str, last: u8| {
            let path = |number: u8| LocalPath {
                device: Some(format!("p{number}")),
                ..LocalPath::at(SocketAddr::from(([10, 7, number, last], 0)))
            };
            let security = Some(Security::Authenticate);
            let setup = Setup { security, spread: true, ..Setup::usual() };
            let secret = Secret::from_bytes(SECRET).expect("long enough");
            let options = Options { paths: vec![path(0), path(1)], secret, accepts: true, setup };
            within(namespace, || Endpoint::open(options)).expect("the namespace").expect("open")
        };
        let ends = [open(&hosts.a, 1), open(&hosts.b, 2)];
        let talks = [0, 1].map(|_| (0..CONNECTIONS).map(|_| Talk::default()).collect());
        let ids = [Vec::new(), vec![ConnectionId(0); CONNECTIONS]];
        let mut world = World { hosts, ends, ids, talks, migrations: 0 };
        let to = world.ends[1].addresses();
        for label in 0..CONNECTIONS {
            let id = world.ends[0].begin_open(&to, label as u64, LIMIT).expect("begun");
            world.ids[0].push(id);
        }
        world.until("all are open", |world| {
            (0..2).all(|end| world.ids[end].iter().all(|id| world.ends[end].get(*id).is_ok()))
        });
        for end in 0..2 {
            for id in world.ids[end].clone() {
                for _ in 0..2 * UNDER_WAY {
                    let room = Vec::with_capacity(LONGEST);
                    world.ends[end].post_receive(id, 0, room).expect("room");
                }
            }
        }
        world
    }

    fn step(&mut self) {
        for end in 0..2 {
            self.ends[end].progress();
            while let Some(notice) = self.ends[end].poll() {
                let id = notice.connection;
                let of = |ids: &[ConnectionId]| ids.iter().position(|known| *known == id);
                match notice.what {
                    What::Accepted { label } => self.ids[end][label as usize] = id,
                    What::Event(Event::Received { message, .. }) => {
                        let of = of(&self.ids[end]).expect("known");
                        self.talks[1 - end][of].delivered.push(message);
                        let room = Vec::with_capacity(LONGEST);
                        self.ends[end].post_receive(id, 0, room).expect("room");
                    }
                    What::Event(Event::Sent { .. }) => {
                        let of = of(&self.ids[end]).expect("known");
                        self.talks[end][of].acknowledged += 1;
                    }
                    What::Event(Event::Migrated { .. }) => self.migrations += 1,
                    What::Event(Event::Failed { why }) => panic!("{why:?}"),
                    What::NoAnswer | What::Closed => panic!("{:?}", notice.what),
                    _ => {}
                }
            }
        }
    }

    fn until(&mut self, what: &str, done: impl Fn(&World) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(begun.elapsed() < LIMIT, "{what}");
            self.step();
        }
    }

    /// Sends this number of messages more, each way over each connection.
    fn send(&mut self, count: usize) {
        let (until, begun) = (self.talks[0][0].sent + count, Instant::now());
        let is_done = |talk: &Talk| talk.acknowledged == until && talk.delivered.len() == until;
        while !self.talks.iter().flatten().all(is_done) {
            assert!(begun.elapsed() < LIMIT, "messages do not arrive");
            for end in 0..2 {
                for of in 0..CONNECTIONS {
                    let talk = &mut self.talks[end][of];
                    if talk.sent < until && talk.sent < talk.acknowledged + UNDER_WAY {
                        let bytes = message(end, of, talk.sent);
                        talk.sent += 1;
                        self.ends[end].send(self.ids[end][of], 0, bytes).expect("sent");
                    }
                }
            }
            self.step();
        }
    }

    fn until_armed(&mut self) {
        self.until("all have an alternate path", |world| {
            let mut all = world.ends.iter().flat_map(Endpoint::connections);
            all.all(|connection| connection.migration() == MigrationState::Armed)
        });
    }

    /// Traffic while paths fail.
    fn run(&mut self) {
        let count = amount(12, 120);
        let hosts = [self.hosts.a.clone(), self.hosts.b.clone()];
        self.until_armed();
        self.send(count);
        for device in ["p0", "p1"] {
            hosts.iter().for_each(|host| lose(host, device, Some(SOME)));
            self.send(count);
            hosts.iter().for_each(|host| lose(host, device, None));
            self.until_armed();
            hosts.iter().for_each(|host| lose(host, device, Some(ALL)));
            self.send(count);
            hosts.iter().for_each(|host| lose(host, device, None));
            self.until_armed();
            self.send(count / 2);
            self.hosts.ip(&[&format!("-n B link set {device} down")]);
            self.send(count);
            self.hosts.ip(&[&format!("-n B link set {device} up")]);
            self.until_armed();
            // By request, too.
            let ids = self.ids[0].clone();
            self.ends[0].migrate(&ids).expect("armed");
            self.send(count);
            self.until_armed();
        }
        for id in self.ids[0].clone() {
            self.ends[0].close(id).expect("open");
        }
    }
}

/// Two hosts with two paths, whose devices hand over one packet at a time.
fn two_paths() -> Hosts {
    let mut lines = Vec::new();
    for path in 0..2 {
        lines.push(format!("-n A link add p{path} type veth peer name p{path} netns B"));
        for (host, last) in [("A", 1), ("B", 2)] {
            lines.push(format!("-n {host} link set p{path} gso_max_segs 1"));
            lines.push(format!("-n {host} address add 10.7.{path}.{last}/24 dev p{path}"));
            lines.push(format!("-n {host} link set p{path} up"));
        }
    }
    Hosts::new(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn what_is_delivered_was_on_the_wire_once_and_in_order() {
    if !needs() || !Need::Tcpdump.is_met(program("tcpdump")) {
        return;
    }
    let hosts = two_paths();
    let captures = ["p0", "p1"].map(|device| Capture::start(&hosts.a, device));
    let attackers = ["p0", "p1"].map(|device| Attacker::at(&hosts.a, device));
    let stop = AtomicBool::new(false);
    let (world, forged) = thread::scope(|scope| {
        let attacks = attackers.each_ref().map(|one| scope.spawn(|| one.run(&stop)));
        let mut world = World::new(hosts);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.run()));
        stop.store(true, Ordering::Relaxed);
        let forged = attacks.into_iter().flat_map(|attack| attack.join().expect("it ends"));
        let forged: BTreeSet<Vec<u8>> = forged.collect();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (world, forged)
    });
    let frames: Vec<Vec<u8>> = captures.into_iter().flat_map(Capture::end).collect();
    let wire = Wire::read(&frames, [1, 2]);
    let (mut delivered, mut bytes, mut parts, mut sent, mut serials) = (0, 0, 0, 0, 0);
    for ((_, to_opener), way) in &wire.ways {
        let talk = &world.talks[usize::from(*to_opener)][way.label as usize];
        let seen = way.messages();
        assert_eq!(talk.delivered.len(), seen.len(), "as many as the wire shows");
        for (k, (got, seen)) in talk.delivered.iter().zip(&seen).enumerate() {
            assert!(got == seen, "message {k} is not the one of the wire");
            assert!(*got == message(usize::from(*to_opener), way.label as usize, k));
            (delivered, bytes) = (delivered + 1, bytes + got.len());
        }
        for ((path, serial), times) in &way.serials {
            assert_eq!(*times, 1, "serial {serial} of path {path}");
        }
        (parts, sent) = (parts + way.parts.len(), sent + way.sent);
        serials += way.serials.len();
    }
    println!(
        "{} packets on both paths: {} of handshakes, {serials} of {} ways with a right tag and a \
         number of their own, {} that close, {} with a wrong tag (of {} forged)",
        wire.frames,
        wire.handshakes,
        wire.ways.len(),
        wire.closings,
        wire.wrong.len(),
        forged.len()
    );
    println!(
        "{delivered} messages of {bytes} bytes were delivered, in {parts} parts that were sent \
         {sent} times; {} migrations",
        world.migrations
    );
    assert_eq!(wire.ways.len(), 2 * CONNECTIONS);
    assert!(sent > parts as u64, "nothing was sent again");
    assert!(!wire.wrong.is_empty() && world.migrations > 0);
    let dropped = world.ends.each_ref().map(Endpoint::dropped);
    assert!(dropped[0].forged + dropped[1].forged > 0, "{dropped:?}");
    let other = wire.wrong.iter().find(|packet| !forged.contains(*packet));
    assert_eq!(other, None, "a packet with a wrong tag that the attacker did not make");
}
