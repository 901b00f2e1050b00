//! Connections that can migrate beside Linux TCP and MPTCP, on the same links of a lab: half round
//! trips of 64 B, spinning and sleeping; armed against unarmed; the rate of messages of 1 MiB and
//! what a gigabyte costs. Needs root, and a quiet machine.
//!
//! MPTCP has a subflow on each path and sends over both, where TCP and our connection use one at a
//! time: two paths of 1 Gbit/s give it up to 2 Gbit/s. Where the kernel has none, it is left out.
//!
//! `LANEWAY_ROUNDS=3` makes fewer rounds than 9, `LANEWAY_CASE=trips` or `=10Gbit` one part only.
//! 100 Gbit/s is more than the system carries: the limit is the processor.

mod mptcp;

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use laneway_benches::{Spread, ratio};
use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, NetError, Options, PathKind, Secret, Setup, What,
};
use laneway_lab::{LabName, Plan, address, connect, read_plan, within};
use laneway_path::{Event, MigrationState};

const LAB: &str = "bench-net";
const ROUNDS: usize = 9;
/// Pairs of armed and unarmed runs.
const PAIRS: usize = 31;
const TRIPS: usize = 3000;
const SMALL: usize = 64;
const LARGE: usize = 1 << 20;
/// Messages of 1 MiB under way at a time.
const WINDOW: usize = 8;
/// How long the rate is measured.
const SECONDS: f64 = 1.0;
const LIMIT: Duration = Duration::from_secs(20);

/// Both ends of a connection of the kernel's.
type Streams = (TcpStream, TcpStream);

/// How one waits for the other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waiting {
    Spinning,
    Sleeping,
}

struct Lab {
    name: LabName,
    plan: Plan,
    program: PathBuf,
    mptcp: Mptcp,
}

/// Whether MPTCP can be measured; the reason why not is printed once.
struct Mptcp(Cell<bool>);

impl Mptcp {
    /// What was asked for, or none from now on.
    fn try_it<T>(&self, ask: impl FnOnce() -> Result<T, String>) -> Option<T> {
        let asked = self.0.get().then(ask)?;
        if let Err(why) = &asked {
            println!("MPTCP is left out: {why}");
            self.0.set(false);
        }
        asked.ok()
    }
}

impl Lab {
    fn up(rate: &str) -> Result<Lab, String> {
        let exe = std::env::current_exe().map_err(|error| error.to_string())?;
        let folder = exe.parent().and_then(|deps| deps.parent()).ok_or("no build folder")?;
        let program = folder.join("laneway");
        let platform = format!("cluster:2,latency=0us,rate={rate}");
        let words = ["lab", "up", "--lab", LAB, "--cards", "2", "--no-probe", "--platform"];
        let output = Command::new(&program).args(words).arg(platform).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let name = LabName::new(LAB).map_err(|error| error.to_string())?;
        let plan = read_plan(&name).map_err(|error| error.to_string())?;
        let mptcp = Mptcp(Cell::new(true));
        mptcp.try_it(|| mptcp::prepare(&name, &plan));
        Ok(Lab { name, plan, program, mptcp })
    }

    fn addresses(&self, host: usize) -> Vec<SocketAddr> {
        (0..2)
            .map(|path| SocketAddr::new(address(path, &self.plan.hosts[host]).into(), 0))
            .collect()
    }

    fn endpoint(&self, host: usize, arms: bool, kind: PathKind) -> Result<Endpoint, String> {
        let secret = Secret::from_bytes(b"a secret for a benchmark").map_err(|e| e.to_string())?;
        let paths = self.addresses(host).into_iter().enumerate().map(|(number, address)| {
            LocalPath { device: Some(format!("eth{number}")), ..LocalPath::at(address) }
        });
        let setup = Setup { arms, kind: Some(kind), ..Setup::usual() };
        let options = Options { paths: paths.collect(), secret, accepts: host == 1, setup };
        let namespace = self.name.host(&self.plan.hosts[host].name);
        let opened = within(&namespace, || Endpoint::open(options)).map_err(|e| e.to_string())?;
        opened.map_err(|error| error.to_string())
    }

    fn tcp(&self) -> Result<Streams, String> {
        let hosts = &self.plan.hosts;
        connect(&self.name, &hosts[0], &hosts[1], 0).map_err(|error| error.to_string())
    }

    fn mptcp(&self) -> Result<Streams, String> {
        mptcp::connect(&self.name, &self.plan)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        _ = Command::new(&self.program).args(["lab", "down", "--lab", LAB]).output();
    }
}

/// An endpoint with one connection.
struct End {
    endpoint: Endpoint,
    id: ConnectionId,
    waiting: Waiting,
}

impl End {
    fn next(&mut self) -> Event {
        loop {
            if let Some(notice) = self.endpoint.poll() {
                match notice.what {
                    What::Event(event) => return event,
                    What::Closed => return Event::Drained,
                    _ => continue,
                }
            }
            match self.waiting {
                Waiting::Spinning => self.endpoint.progress(),
                Waiting::Sleeping => self.endpoint.wait(LIMIT),
            };
        }
    }

    fn send(&mut self, message: Vec<u8>) -> Result<(), NetError> {
        self.endpoint.send(self.id, 0, message)
    }

    fn post(&mut self, buffer: Vec<u8>) -> Result<(), NetError> {
        self.endpoint.post_receive(self.id, 0, buffer)
    }
}

/// Two ends in two threads: the first one's answer. `armed` says whether the alternate path is.
fn ours<T: Send>(
    lab: &Lab,
    kind: PathKind,
    waiting: Waiting,
    armed: bool,
    first: impl FnOnce(&mut End) -> T + Send,
    second: impl FnOnce(&mut End) + Send,
) -> Result<T, String> {
    let (mut a, mut b) = (lab.endpoint(0, armed, kind)?, lab.endpoint(1, armed, kind)?);
    let to = b.addresses();
    thread::scope(|scope| {
        scope.spawn(move || {
            let id = loop {
                b.wait(LIMIT);
                if let Some(notice) = b.poll() {
                    break notice.connection;
                }
            };
            second(&mut End { endpoint: b, id, waiting });
        });
        let id = a.connect(&to, 1, LIMIT).map_err(|error| error.to_string())?;
        let mut end = End { endpoint: a, id, waiting };
        let begun = Instant::now();
        let is_armed =
            |end: &End| end.endpoint.get(id).is_ok_and(|c| c.migration() == MigrationState::Armed);
        while armed && !is_armed(&end) && begun.elapsed() < LIMIT {
            end.endpoint.wait(Duration::from_millis(1));
        }
        let answer = first(&mut end);
        // A moment for the last acknowledgement.
        for _ in 0..100 {
            end.endpoint.progress();
        }
        end.endpoint.close(id).map_err(|error| error.to_string())?;
        Ok(answer)
    })
}

/// Microseconds of half a round trip.
fn our_trip(lab: &Lab, kind: PathKind, waiting: Waiting, armed: bool) -> Result<f64, String> {
    let ping = |end: &mut End| {
        let mut buffer = Vec::with_capacity(SMALL);
        let mut times = Vec::with_capacity(TRIPS);
        let mut message = vec![7; SMALL];
        for _ in 0..TRIPS {
            let begun = Instant::now();
            _ = end.post(std::mem::take(&mut buffer));
            _ = end.send(std::mem::take(&mut message));
            while buffer.capacity() == 0 || message.is_empty() {
                match end.next() {
                    Event::Received { message: got, .. } => buffer = got,
                    Event::Sent { message: got, .. } => message = got,
                    _ => {}
                }
            }
            times.push(begun.elapsed().as_secs_f64() * 0.5e6);
        }
        Spread::of(&times[TRIPS / 10..]).median
    };
    let pong = |end: &mut End| {
        _ = end.post(Vec::with_capacity(SMALL));
        loop {
            match end.next() {
                Event::Received { message, .. } => {
                    _ = end.post(Vec::with_capacity(SMALL));
                    _ = end.send(message);
                }
                Event::Drained | Event::Failed { .. } => return,
                _ => {}
            }
        }
    };
    ours(lab, kind, waiting, armed, ping, pong)
}

fn stream_trip(ends: Streams, waiting: Waiting) -> Result<f64, String> {
    let (mut one, mut other) = ends;
    let spins = waiting == Waiting::Spinning;
    for end in [&one, &other] {
        end.set_nonblocking(spins).map_err(|error| error.to_string())?;
    }
    fn read(from: &mut TcpStream, into: &mut [u8]) -> bool {
        let mut got = 0;
        while got < into.len() {
            match from.read(&mut into[got..]) {
                Ok(0) => return false,
                Ok(count) => got += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
        true
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut message = [0; SMALL];
            while read(&mut other, &mut message) && other.write_all(&message).is_ok() {}
        });
        let (mut times, mut message) = (Vec::new(), [7; SMALL]);
        for _ in 0..TRIPS {
            let begun = Instant::now();
            one.write_all(&message).map_err(|error| error.to_string())?;
            if !read(&mut one, &mut message) {
                return Err("the connection ended".to_string());
            }
            times.push(begun.elapsed().as_secs_f64() * 0.5e6);
        }
        drop(one);
        Ok(Spread::of(&times[TRIPS / 10..]).median)
    })
}

/// Seconds of a processor that this process has used.
fn used() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours, and this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Bytes a second of messages of 1 MiB one way, and seconds of a processor for a gigabyte.
fn our_rate(lab: &Lab, kind: PathKind) -> Result<(f64, f64), String> {
    let (sender, counters) = mpsc::channel();
    let send = |end: &mut End| {
        for _ in 0..WINDOW {
            _ = end.send(vec![7; LARGE]);
        }
        let (begun, before) = (Instant::now(), used());
        let (mut bytes, mut under_way) = (0, WINDOW);
        // All that was sent counts when it has arrived, as for the streams of the kernel.
        while under_way > 0 {
            match end.next() {
                Event::Sent { message, .. } => {
                    bytes += message.len();
                    if begun.elapsed().as_secs_f64() < SECONDS {
                        _ = end.send(message);
                    } else {
                        under_way -= 1;
                    }
                }
                Event::Failed { .. } => break,
                _ => {}
            }
        }
        let (seconds, cost) = (begun.elapsed().as_secs_f64(), used() - before);
        let counters = *end.endpoint.get(end.id).expect("open").counters();
        _ = sender.send(counters);
        (bytes as f64 / seconds, cost / (bytes as f64 / 1e9))
    };
    let receive = |end: &mut End| {
        for _ in 0..WINDOW {
            _ = end.post(Vec::with_capacity(LARGE));
        }
        loop {
            match end.next() {
                Event::Received { message, .. } => _ = end.post(message),
                Event::Drained | Event::Failed { .. } => return,
                _ => {}
            }
        }
    };
    let figures = ours(lab, kind, Waiting::Sleeping, true, send, receive)?;
    if std::env::var_os("LANEWAY_COUNTERS").is_some() {
        eprintln!("{:?}", counters.recv());
    }
    Ok(figures)
}

fn stream_rate(ends: Streams) -> Result<(f64, f64), String> {
    let (mut one, mut other) = ends;
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (mut buffer, mut bytes) = (vec![0; LARGE], 0);
            while let Ok(count @ 1..) = other.read(&mut buffer) {
                bytes += count;
            }
            bytes
        });
        let message = vec![7; LARGE];
        let (begun, before) = (Instant::now(), used());
        while begun.elapsed().as_secs_f64() < SECONDS {
            one.write_all(&message).map_err(|error| error.to_string())?;
        }
        drop(one);
        let bytes = reader.join().map_err(|_| "the connection ended")?;
        let (seconds, cost) = (begun.elapsed().as_secs_f64(), used() - before);
        Ok((bytes as f64 / seconds, cost / (bytes as f64 / 1e9)))
    })
}

/// What is asked of a kind of paths: the most that a half round trip may take of TCP's, spinning
/// and sleeping, and the least of its rate without a limit but the processor.
fn asked(kind: PathKind) -> ([f64; 2], f64) {
    match kind {
        PathKind::Datagram => ([0.95, 1.0], 0.4),
        PathKind::Stream => ([1.1, 1.1], if is_bbr() { 0.7 } else { 0.55 }),
    }
}

/// Whether TCP is under BBR here.
fn is_bbr() -> bool {
    let used = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    used.is_ok_and(|used| used.trim() == "bbr")
}

fn trips(lab: &Lab, rounds: usize) -> Result<(), String> {
    for (number, waiting) in [Waiting::Spinning, Waiting::Sleeping].into_iter().enumerate() {
        let (mut own, mut tcp, mut both) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
        for _ in 0..rounds {
            for (kind, own) in PathKind::ALL.into_iter().zip(&mut own) {
                own.push(our_trip(lab, kind, waiting, true)?);
            }
            tcp.push(stream_trip(lab.tcp()?, waiting)?);
            both.extend(lab.mptcp.try_it(|| stream_trip(lab.mptcp()?, waiting)));
        }
        let tcp = Spread::of(&tcp);
        println!("64 B, {waiting:?}: TCP {tcp} us");
        for (kind, own) in PathKind::ALL.into_iter().zip(&own) {
            let own = Spread::of(own);
            let what = format!("64 B half round trip, {waiting:?}, {}", kind.name());
            println!("{what}: {own} us");
            ratio(&format!("{what} / TCP"), own.median / tcp.median, asked(kind).0[number]);
        }
        if !both.is_empty() {
            println!("64 B, {waiting:?}: MPTCP {} us (nothing asked)", Spread::of(&both));
        }
    }
    for kind in PathKind::ALL {
        let mut quotients = Vec::new();
        for _ in 0..PAIRS.min(rounds * 4) {
            let armed = our_trip(lab, kind, Waiting::Spinning, true)?;
            quotients.push(armed / our_trip(lab, kind, Waiting::Spinning, false)?);
        }
        let (name, count) = (kind.name(), quotients.len());
        println!("{name}, armed / unarmed: {} of {count} pairs", Spread::of(&quotients));
        let interval = laneway_stats::median_interval(&laneway_stats::sorted(&quotients), 0.9);
        // Of an interval at 90 %, 95 % lie below the upper end.
        let upper = interval.ok_or("too few pairs for an interval")?.high;
        ratio(&format!("64 B {name}, armed / unarmed, upper 95 % limit"), upper, 1.05);
    }
    Ok(())
}

fn rates(rate: &str, least: Option<f64>, rounds: usize) -> Result<(), String> {
    let lab = Lab::up(rate)?;
    let (mut own, mut tcp, mut both) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (kind, own) in PathKind::ALL.into_iter().zip(&mut own) {
            own.push(our_rate(&lab, kind)?);
        }
        tcp.push(stream_rate(lab.tcp()?)?);
        both.extend(lab.mptcp.try_it(|| stream_rate(lab.mptcp()?)));
    }
    let of = |all: &[(f64, f64)], which: fn(&(f64, f64)) -> f64| {
        Spread::of(&all.iter().map(which).collect::<Vec<f64>>())
    };
    let say = |who: &str, all: &[(f64, f64)]| {
        let (rates, costs) = (of(all, |f| f.0 / 1e6), of(all, |f| f.1));
        println!("1 MiB, {rate}: {who} {rates} MB/s, {costs} s a GB of processors");
        rates.median
    };
    let theirs = say("TCP", &tcp);
    for (kind, own) in PathKind::ALL.into_iter().zip(&own) {
        let ours = say(kind.name(), own);
        let least = least.unwrap_or(asked(kind).1);
        ratio(&format!("1 MiB, {rate}, TCP / {}", kind.name()), theirs / ours, 1.0 / least);
    }
    if !both.is_empty() {
        say("MPTCP over both paths (nothing asked)", &both);
    }
    Ok(())
}

fn main() -> ExitCode {
    let rounds = std::env::var("LANEWAY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let only = std::env::var("LANEWAY_CASE").unwrap_or_default();
    let run = || {
        if "trips".contains(&only) {
            trips(&Lab::up("100Gbit")?, rounds)?;
        }
        for (rate, least) in [("1Gbit", Some(0.95)), ("10Gbit", Some(0.95)), ("100Gbit", None)] {
            if rate.contains(&only) {
                rates(rate, least, rounds)?;
            }
        }
        Ok(())
    };
    let done: Result<(), String> = run();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}\ntry:   as root, after cargo build --release");
            ExitCode::from(3)
        }
    }
}
