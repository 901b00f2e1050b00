//! Whether links are what the plan says, seen with real connections before anything is run.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::arrivals::Arrivals;
use crate::error::LabError;
use crate::name::{LabName, card};
use crate::plan::{Host, Plan, address};
use crate::system::within;

/// Messages there and back, of which the fastest counts.
const TRIPS: usize = 10;
const LOOKS: usize = 4;
/// The seconds over which a rate is measured, after as many in which a connection grows.
const SECONDS: f64 = 0.4;
/// Rates above this many bytes a second are the machine's, not the lab's.
const MOST_RATE: f64 = 1.25e8;
/// The tolerance of a figure, as a part of it; of a latency by these seconds besides.
const TOLERANCE: f64 = 0.1;
const SLACK: f64 = 1e-3;
/// What is sent at once after a pause, and how far its rate may be off; not where it would take
/// longer than a rate is seen.
const BURSTS: [(usize, f64); 2] = [(64 << 10, TOLERANCE), (16 << 10, 0.3)];
const BURST_LOOKS: usize = 5;
const PAUSE: Duration = Duration::from_millis(10);
const LIMIT: Duration = Duration::from_secs(5);
const PIECE: usize = 16 << 10;
/// A message of a round trip, with its headers.
const PACKET_BYTES: f64 = 130.0;
/// Headers of Ethernet, IP and TCP take so much of a full packet; the rest is what a user sees.
const HEADERS: f64 = 1.0 - 1448.0 / 1514.0;

/// What was seen of the way from one host to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Seen {
    /// The host that sent.
    pub from: String,
    /// The host that answered.
    pub to: String,
    /// The cards of both.
    pub card: String,
    /// Seconds of half a round trip, and what the plan says.
    pub latency: f64,
    /// What the plan says of it.
    pub planned_latency: f64,
    /// Bytes a second of one connection, and what the plan says; `None` if nothing limits it.
    pub rate: Option<(f64, f64)>,
    /// Bytes a second of 64 KiB that are sent at once after a pause; none between sites, and where
    /// nothing limits it.
    pub burst: Option<f64>,
}

/// Probes every host from the first of its site, and between any two sites one pair of hosts in
/// each direction: first whether all answer in time, then the rates, and inside a site the rates of
/// short bursts after a pause. An error names the first way that is not as planned.
pub fn probe(lab: &LabName, plan: &Plan) -> Result<Vec<Seen>, LabError> {
    let mut seen = Vec::new();
    for way in ways(plan) {
        seen.push((way, retry_probe(|| latency(lab, plan, way))?));
    }
    for (way, seen) in &mut seen {
        let planned = plan.rate_of_one(way.from, way.to);
        if way.full && planned <= MOST_RATE {
            seen.rate = Some((retry_probe(|| rate(lab, *way, planned))?, planned));
            if way.from.site == way.to.site {
                seen.burst = retry_probe(|| bursts(lab, *way, planned))?;
            }
        }
    }
    Ok(seen.into_iter().map(|(_, seen)| seen).collect())
}

/// What is looked at: from a card to another of the same path, with its rate or without.
#[derive(Clone, Copy)]
struct Way<'a> {
    from: &'a Host,
    to: &'a Host,
    path: usize,
    full: bool,
}

impl Way<'_> {
    fn refused(&self, what: &str) -> LabError {
        LabError::Probe(format!("the way from {} to {} {what}", self.from.name, self.to.name))
    }
}

/// The ways that are looked at; one pair of a site is measured in full.
fn ways(plan: &Plan) -> Vec<Way<'_>> {
    let of_site = |site: usize| plan.hosts.iter().filter(move |host| host.site == site);
    let mut ways = Vec::new();
    for to in &plan.hosts {
        let Some(from) = of_site(to.site).next().filter(|first| first.name != to.name) else {
            continue;
        };
        let full = of_site(to.site).nth(1).is_some_and(|second| second.name == to.name);
        ways.extend((0..plan.options.cards).map(|path| Way { from, to, path, full }));
    }
    for way in &plan.ways {
        if let (Some(from), Some(to)) = (of_site(way.from).next(), of_site(way.to).next()) {
            let cards = 0..plan.options.cards;
            ways.extend(cards.map(|path| Way { from, to, path, full: path == 0 }));
        }
    }
    ways
}

/// A busy machine can spoil a look: what is wrong is looked at again, if that took no long wait.
fn retry_probe<T>(look: impl Fn() -> Result<T, LabError>) -> Result<T, LabError> {
    let begun = Instant::now();
    let mut last = look();
    for _ in 1..LOOKS {
        match last {
            Err(LabError::Probe(_)) if begun.elapsed() < LIMIT => last = look(),
            done => return done,
        }
    }
    last
}

/// A look at how long a way takes.
fn latency(lab: &LabName, plan: &Plan, way: Way) -> Result<Seen, LabError> {
    let Way { from, to, path, .. } = way;
    let (mut one, mut other) = connect(lab, way.from, way.to, way.path)?;
    let latency =
        trip(&mut one, &mut other).map_err(|error| nothing_passes(from, to, path, &error))?;
    let planned_latency = plan.round_trip(from.site, to.site) / 2.0;
    // A slow link may take its time for a packet.
    let packet = PACKET_BYTES / plan.rate_of_one(from, to);
    let most = (1.0 + TOLERANCE) * planned_latency + packet + SLACK;
    if !((1.0 - TOLERANCE) * planned_latency..=most).contains(&latency) {
        let (seen, planned) = (1e3 * latency, 1e3 * planned_latency);
        return Err(way.refused(&format!("takes {seen:.3} ms where {planned:.3} ms are planned")));
    }
    let (from, to, card) = (from.name.clone(), to.name.clone(), card(path));
    Ok(Seen { from, to, card, latency, planned_latency, rate: None, burst: None })
}

/// A look at how many bytes a second one connection carries.
fn rate(lab: &LabName, way: Way, planned: f64) -> Result<f64, LabError> {
    let rate = carried(vec![connect(lab, way.from, way.to, way.path)?], SECONDS, 2.0 * SECONDS);
    let least = (1.0 - TOLERANCE - HEADERS) * planned;
    if !(least..=(1.0 + TOLERANCE) * planned).contains(&rate) {
        let (seen, planned) = (8e-6 * rate, 8e-6 * planned);
        let what = format!("carries {seen:.1} Mbit/s where {planned:.1} Mbit/s are planned");
        return Err(way.refused(&what));
    }
    Ok(rate)
}

/// A look at what passes at once after a pause: a busy machine may delay some of it, so that the
/// fastest must not be too slow, and none too fast. The first size counts.
fn bursts(lab: &LabName, way: Way, planned: f64) -> Result<Option<f64>, LabError> {
    let Way { from, to, path, .. } = way;
    let arrivals = Arrivals::new(lab, to, path)?;
    let mut ends = connect(lab, from, to, path)?;
    let mut seen = None;
    for (bytes, tolerance) in BURSTS {
        if bytes as f64 > SECONDS * planned {
            continue;
        }
        let mut fastest = 0.0_f64;
        for _ in 0..BURST_LOOKS {
            thread::sleep(PAUSE);
            let rate = arrivals.rate_of_burst(&mut ends, bytes);
            fastest = fastest.max(rate.map_err(|error| nothing_passes(from, to, path, &error))?);
        }
        if !((1.0 - tolerance) * planned..=(1.0 + tolerance) * planned).contains(&fastest) {
            let (seen, planned, size) = (8e-6 * fastest, 8e-6 * planned, bytes >> 10);
            let what = format!(
                "carries {size} KiB after a pause at {seen:.1} Mbit/s where {planned:.1} Mbit/s \
                 are planned"
            );
            return Err(way.refused(&what));
        }
        seen = seen.or(Some(fastest));
    }
    Ok(seen)
}

fn nothing_passes(from: &Host, to: &Host, path: usize, error: &io::Error) -> LabError {
    let (from, to, card) = (&from.name, &to.name, card(path));
    LabError::Probe(format!("nothing passes from {from} to {to} on {card}: {error}"))
}

/// A connection between two hosts over their cards of a path: both ends. Where nothing passes, that
/// is a [`LabError::Probe`].
pub fn connect(
    lab: &LabName,
    from: &Host,
    to: &Host,
    path: usize,
) -> Result<(TcpStream, TcpStream), LabError> {
    let own = address(path, to);
    let silent = |error: io::Error| nothing_passes(from, to, path, &error);
    let listener = within(&lab.host(&to.name), || TcpListener::bind((own, 0)))?.map_err(silent)?;
    let ends = within(&lab.host(&from.name), || {
        let port = listener.local_addr()?.port();
        let target = SocketAddrV4::new(Ipv4Addr::from(own.octets()), port);
        let one = TcpStream::connect_timeout(&target.into(), LIMIT)?;
        let (other, _) = listener.accept()?;
        for end in [&one, &other] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(LIMIT))?;
            end.set_write_timeout(Some(LIMIT))?;
        }
        Ok((one, other))
    })?;
    ends.map_err(silent)
}

/// Half of the shortest of some round trips.
fn trip(one: &mut TcpStream, other: &mut TcpStream) -> io::Result<f64> {
    let mut least = f64::INFINITY;
    let mut message = [0; 64];
    for _ in 0..TRIPS {
        let begun = Instant::now();
        one.write_all(&message)?;
        other.read_exact(&mut message)?;
        other.write_all(&message)?;
        one.read_exact(&mut message)?;
        least = least.min(begun.elapsed().as_secs_f64() / 2.0);
    }
    Ok(least)
}

/// Bytes a second that connections carry together between two instants, in seconds from now: the
/// first end of each sends as much as it can, and what reaches the other is counted.
pub fn carried(ends: Vec<(TcpStream, TcpStream)>, from: f64, until: f64) -> f64 {
    let begun = Instant::now();
    let now = || begun.elapsed().as_secs_f64();
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for (mut one, mut other) in ends {
            scope.spawn(move || {
                let piece = vec![7; PIECE];
                while now() < until && one.write_all(&piece).is_ok() {}
            });
            readers.push(scope.spawn(move || {
                let (mut piece, mut got) = (vec![0; 4 * PIECE], 0);
                while let Ok(length @ 1..) = other.read(&mut piece) {
                    let at = now();
                    got += if (from..until).contains(&at) { length } else { 0 };
                    if at >= until {
                        break;
                    }
                }
                got
            }));
        }
        let counts = readers
            .into_iter()
            .map(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        counts.sum::<usize>() as f64 / (until - from)
    })
}
