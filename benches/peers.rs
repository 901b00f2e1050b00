//! One process with thousands of connections: 1,024 peers with four connections each, over two
//! paths, every alternate path armed. What an idle peer costs in memory, descriptors and processor
//! time, and what the others cost one pair that talks.
//!
//! The peers are another process: this benchmark, started again. Each has a loopback address of its
//! own on either path, as hosts have. `LANEWAY_PEERS=64` takes fewer; `LANEWAY_CASE=stream` has the
//! data go by streams.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_benches::{Spread, ratio};
use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, NetError, Options, PathKind, Secret, Setup, What,
    wait_for_any,
};
use laneway_path::{Event, MigrationState};

const PEERS: usize = 1024;
const EACH: usize = 4;
/// Buffers that a connection may have at a time, and their bytes.
const LENT: usize = 16;
const BYTES: usize = 256 << 10;
/// How long nothing is sent, while processor time is counted.
const IDLE: Duration = Duration::from_secs(10);
const TRIPS: usize = 2000;
const ROUNDS: usize = 5;
const LIMIT: Duration = Duration::from_secs(120);
/// Set for the process of the peers.
const ROLE: &str = "LANEWAY_BENCH_PEERS";
/// What an idle peer may take of our memory, and a pair that talks of the time that it takes alone.
const MOST_BYTES: f64 = 8192.0;
const MOST_SLOWER: f64 = 1.1;

fn kind() -> PathKind {
    match std::env::var("LANEWAY_CASE").as_deref() {
        Ok("stream") => PathKind::Stream,
        _ => PathKind::Datagram,
    }
}

fn endpoint(addresses: [Ipv4Addr; 2]) -> Result<Endpoint, NetError> {
    let paths = addresses.map(|address| LocalPath::at(SocketAddr::new(address.into(), 0)));
    let secret = Secret::from_bytes(b"a secret for a benchmark")?;
    let setup = Setup { kind: Some(kind()), ..Setup::usual() };
    Endpoint::open(Options { paths: paths.to_vec(), secret, accepts: true, setup })
}

/// Where a peer is, on each path.
fn at(peer: usize) -> [Ipv4Addr; 2] {
    let [high, low] = (peer as u16 + 1).to_be_bytes();
    [Ipv4Addr::new(127, 1, high, low), Ipv4Addr::new(127, 2, high, low)]
}

/// A field of a file of this process, in its unit.
fn field(file: &str, name: &str) -> usize {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Seconds of processor time of this process.
fn used() -> f64 {
    // SAFETY: all bytes zero is a valid value, which the call overwrites.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Takes what comes, and sends it back.
fn echo(endpoint: &mut Endpoint) -> Result<(), NetError> {
    while let Some(notice) = endpoint.poll() {
        match notice.what {
            What::Accepted { .. } => endpoint.share_receives(notice.connection, LENT, BYTES)?,
            What::Event(Event::Received { message, .. }) => {
                endpoint.send(notice.connection, 0, message.clone())?;
                endpoint.give_back(notice.connection, message)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The process of the peers: prints where they are, and serves them until its input ends. The first
/// one has a thread of its own, as it has a processor of its own elsewhere.
fn serve(peers: usize) -> Result<(), NetError> {
    let mut all = (0..peers).map(|peer| endpoint(at(peer))).collect::<Result<Vec<_>, _>>()?;
    let mut out = std::io::stdout().lock();
    for one in &all {
        let words: Vec<String> = one.addresses().iter().map(ToString::to_string).collect();
        _ = writeln!(out, "{}", words.join(" "));
    }
    _ = out.flush();
    let mut first = all.remove(0);
    thread::spawn(move || {
        loop {
            first.wait(Duration::from_millis(100));
            echo(&mut first).expect("the first peer's endpoint");
        }
    });
    thread::spawn(move || {
        loop {
            let mut ends: Vec<&mut Endpoint> = all.iter_mut().collect();
            wait_for_any(&mut ends, Duration::from_millis(20));
            for one in &mut all {
                echo(one).expect("a peer's endpoint");
            }
        }
    });
    _ = std::io::stdin().lock().lines().count();
    Ok(())
}

fn armed(endpoint: &Endpoint) -> usize {
    let armed = |one: &&laneway_path::Connection| one.migration() == MigrationState::Armed;
    endpoint.connections().filter(armed).count()
}

/// Opens connections to these peers, and waits until every alternate path is armed.
fn open(endpoint: &mut Endpoint, to: &[Vec<SocketAddr>]) -> Result<Vec<ConnectionId>, String> {
    let (begun, mut opened) = (Instant::now(), Vec::new());
    let before = endpoint.connections().count();
    for (label, peer) in to.iter().flat_map(|peer| vec![peer; EACH]).enumerate() {
        let id = endpoint.begin_open(peer, label as u64, LIMIT).map_err(|e| e.to_string())?;
        opened.push(id);
        // Not all at once: peers answer one after the other.
        if label % 64 == 63 {
            settle(endpoint, |_| true)?;
        }
    }
    let wanted = before + opened.len();
    settle(endpoint, |endpoint| armed(endpoint) == wanted || begun.elapsed() > LIMIT)?;
    match armed(endpoint) {
        all if all == wanted => Ok(opened),
        some => Err(format!("{some} of {wanted} connections are armed after {LIMIT:?}")),
    }
}

/// Serves the endpoint until this holds.
fn settle(endpoint: &mut Endpoint, done: impl Fn(&Endpoint) -> bool) -> Result<(), String> {
    loop {
        endpoint.wait(Duration::from_millis(1));
        while let Some(notice) = endpoint.poll() {
            match notice.what {
                What::Connected => endpoint
                    .share_receives(notice.connection, LENT, BYTES)
                    .map_err(|error| error.to_string())?,
                What::NoAnswer | What::Closed => return Err(format!("{:?}", notice.what)),
                _ => {}
            }
        }
        if done(endpoint) {
            return Ok(());
        }
    }
}

/// Microseconds of half a round trip of 64 B, asleep in between.
fn trip(endpoint: &mut Endpoint, id: ConnectionId) -> Result<f64, NetError> {
    let begun = Instant::now();
    for _ in 0..TRIPS {
        endpoint.send(id, 0, vec![7; 64])?;
        let mut came = false;
        while !came {
            endpoint.wait(LIMIT);
            while let Some(notice) = endpoint.poll() {
                if let What::Event(Event::Received { message, .. }) = notice.what {
                    endpoint.give_back(notice.connection, message)?;
                    came = true;
                }
            }
        }
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / (2 * TRIPS) as f64)
}

fn trips(endpoint: &mut Endpoint, id: ConnectionId) -> Result<Spread, String> {
    // The first one finds everything cold.
    trip(endpoint, id).map_err(|error| error.to_string())?;
    let trips: Result<Vec<f64>, NetError> = (0..ROUNDS).map(|_| trip(endpoint, id)).collect();
    trips.map(|trips| Spread::of(&trips)).map_err(|error| error.to_string())
}

fn run(peers: usize) -> Result<(), String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(exe)
        .env(ROLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let lines = BufReader::new(child.stdout.take().ok_or("no output of the peers")?).lines();
    let parse = |line: String| line.split(' ').map(|word| word.parse().ok()).collect();
    let to: Option<Vec<Vec<SocketAddr>>> =
        lines.take(peers).map(|line| line.ok().and_then(parse)).collect();
    let to = to.filter(|to| to.len() == peers).ok_or("the peers did not say where they are")?;

    let here = [Ipv4Addr::new(127, 1, 0, 0), Ipv4Addr::new(127, 2, 0, 0)];
    let mut here = endpoint(here.map(|at| Ipv4Addr::from_bits(at.to_bits() | 0x00fe_0001)))
        .map_err(|error| error.to_string())?;
    let talks = open(&mut here, &to[..1])?[0];
    let alone = trips(&mut here, talks)?;

    let rss = || field("/proc/self/status", "VmRSS:") << 10;
    let (bytes, fds, begun) = (rss(), descriptors(), Instant::now());
    open(&mut here, &to[1..])?;
    let count = here.connections().count();
    println!(
        "{count} connections to {peers} peers, {}: armed in {:.1?}",
        kind().name(),
        begun.elapsed()
    );
    let of_peer = |all: usize| all as f64 / (peers - 1) as f64;
    let bytes = of_peer(rss().saturating_sub(bytes));
    println!(
        "an idle peer: {bytes:.0} B of memory, {:.1} descriptors",
        of_peer(descriptors() - fds)
    );

    let (before, sent) = (used(), packets(&here));
    let begun = Instant::now();
    settle(&mut here, |_| begun.elapsed() > IDLE)?;
    let part = (used() - before) / begun.elapsed().as_secs_f64();
    let rate = (packets(&here) - sent) as f64 / begun.elapsed().as_secs_f64();
    println!("idle: {:.1} % of a processor, {rate:.0} packets a second", 100.0 * part);

    let before = used();
    let begun = Instant::now();
    let among = trips(&mut here, talks)?;
    let part = (used() - before) / begun.elapsed().as_secs_f64();
    println!(
        "a pair that talks: {alone} us alone, {among} us among them, {:.0} % of a processor",
        100.0 * part
    );
    drop(child.stdin.take());
    _ = child.wait();
    ratio("memory of an idle peer with four connections, over 8 KiB", bytes / MOST_BYTES, 1.0);
    ratio("a pair among thousands, over alone", among.median / alone.median, MOST_SLOWER);
    Ok(())
}

fn packets(endpoint: &Endpoint) -> u64 {
    endpoint.status().paths.iter().map(|path| path.sent.packets).sum()
}

/// As many descriptors as this process may have.
fn raise_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours; where the limit stays, opening says so.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
}

fn main() -> ExitCode {
    raise_limit();
    let peers = std::env::var("LANEWAY_PEERS").ok().and_then(|text| text.parse().ok());
    let peers = peers.unwrap_or(PEERS).clamp(2, 60_000);
    if std::env::var_os(ROLE).is_some() {
        return match serve(peers) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    match run(peers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
