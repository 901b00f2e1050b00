//! Whether links are what the plan says, seen with real connections before anything is run.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::name::{LabName, card};
use crate::plan::{Host, Plan, address};
use crate::system::within;

/// Messages there and back, of which the fastest counts.
const TRIPS: usize = 10;
const LOOKS: usize = 4;
/// A rate is seen over so many seconds, after as many in which a connection grows.
const SECONDS: f64 = 0.4;
/// Rates above this many bytes a second are the machine's, not the lab's.
const MOST_RATE: f64 = 1.25e8;
/// How far a figure may be off, as a part of it; a latency by so many seconds besides.
const TOLERANCE: f64 = 0.1;
const SLACK: f64 = 1e-3;
const LIMIT: Duration = Duration::from_secs(5);
/// A way that is far too slow is seen after so many times the planned time.
const PATIENCE: f64 = 3.0;
const PIECE: usize = 16 << 10;
/// A message of a round trip, with its headers.
const PACKET_BYTES: f64 = 130.0;
/// Headers of Ethernet, IP and TCP take so much of a full packet; the rest is what a user sees.
const HEADERS: f64 = 1.0 - 1448.0 / 1514.0;

/// What was seen of the way from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub from: String,
    pub to: String,
    pub card: String,
    /// Seconds of half a round trip, and what the plan says.
    pub latency: f64,
    pub planned_latency: f64,
    /// Bytes a second of one connection, and what the plan says; none where nothing limits it.
    pub rate: Option<(f64, f64)>,
}

/// Probes every host from the first of its site, and between any two sites one pair of hosts in
/// each direction; an error names the first way that is not as planned.
pub fn probe(lab: &LabName, plan: &Plan) -> Result<Vec<Seen>, LabError> {
    let mut seen = Vec::new();
    let first = |site: usize| plan.hosts.iter().find(|host| host.site == site);
    for host in &plan.hosts {
        let Some(neighbour) = first(host.site).filter(|first| first.name != host.name) else {
            continue;
        };
        let second = plan.hosts.iter().filter(|other| other.site == host.site).nth(1);
        // One pair of a site is measured in full.
        let full = second.is_some_and(|second| second.name == host.name);
        for path in 0..plan.options.cards {
            seen.push(look_again(lab, plan, Way { from: neighbour, to: host, path, full })?);
        }
    }
    for way in &plan.ways {
        if let (Some(from), Some(to)) = (first(way.from), first(way.to)) {
            for path in 0..plan.options.cards {
                seen.push(look_again(lab, plan, Way { from, to, path, full: path == 0 })?);
            }
        }
    }
    Ok(seen)
}

/// What is looked at: from a card to another of the same path, with its rate or without.
#[derive(Clone, Copy)]
struct Way<'a> {
    from: &'a Host,
    to: &'a Host,
    path: usize,
    full: bool,
}

/// A busy machine can spoil a look: what is wrong is looked at again.
fn look_again(lab: &LabName, plan: &Plan, way: Way) -> Result<Seen, LabError> {
    let mut last = check(look(lab, plan, way)?);
    for _ in 1..LOOKS {
        if last.is_ok() {
            break;
        }
        last = check(look(lab, plan, way)?);
    }
    last
}

/// An error for a way that is not as planned.
fn check(seen: Seen) -> Result<Seen, LabError> {
    let Seen { from, to, latency, planned_latency, rate, .. } = &seen;
    let (low, high) = (1.0 - TOLERANCE, 1.0 + TOLERANCE);
    let refuse = |what: String| Err(LabError::Probe(format!("the way from {from} to {to} {what}")));
    // A slow link may take its time for a packet.
    let packet = rate.map_or(0.0, |(_, planned)| PACKET_BYTES / planned);
    if *latency < low * planned_latency || *latency > high * planned_latency + packet + SLACK {
        let (seen, planned) = (1e3 * latency, 1e3 * planned_latency);
        return refuse(format!("takes {seen:.3} ms where {planned:.3} ms are planned"));
    }
    if let Some((rate, planned)) = rate
        && (*rate < (low - HEADERS) * planned || *rate > high * planned)
    {
        let (seen, planned) = (8e-6 * rate, 8e-6 * planned);
        return refuse(format!("carries {seen:.1} Mbit/s where {planned:.1} Mbit/s are planned"));
    }
    Ok(seen)
}

fn look(lab: &LabName, plan: &Plan, way: Way) -> Result<Seen, LabError> {
    let Way { from, to, path, full } = way;
    let delay = |a: usize, b: usize| plan.way(a, b).map_or(0.0, |way| way.delay);
    let planned = plan.rate_of_one(from, to);
    let planned_latency = (delay(from.site, to.site) + delay(to.site, from.site)) / 2.0;
    let failed = |error: io::Error| {
        let (from, to, card) = (&from.name, &to.name, card(path));
        LabError::Probe(format!("nothing passes from {from} to {to} on {card}: {error}"))
    };
    let (mut one, mut other) = connect(lab, from, to, path)?.map_err(failed)?;
    let latency = trip(&mut one, &mut other).map_err(failed)?;
    let rate = match full && planned <= MOST_RATE {
        true => Some((rate(one, other, planned).map_err(failed)?, planned)),
        false => None,
    };
    let (from, to, card) = (from.name.clone(), to.name.clone(), card(path));
    Ok(Seen { from, to, card, latency, planned_latency, rate })
}

/// A connection between two hosts over their cards of a path: both ends.
pub fn connect(
    lab: &LabName,
    from: &Host,
    to: &Host,
    path: usize,
) -> Result<io::Result<(TcpStream, TcpStream)>, LabError> {
    let own = address(path, to);
    let listener = within(&lab.host(&to.name), || TcpListener::bind((own, 0)))?;
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) => return Ok(Err(error)),
    };
    within(&lab.host(&from.name), || {
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
    })
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

/// Bytes a second that arrive once a connection has grown.
fn rate(mut one: TcpStream, mut other: TcpStream, planned: f64) -> io::Result<f64> {
    let bytes = (2.0 * SECONDS * planned).max(4.0 * PIECE as f64) as usize;
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let piece = vec![7; PIECE];
            let (mut left, begun) = (bytes, Instant::now());
            while left > 0 && begun.elapsed().as_secs_f64() < PATIENCE * 2.0 * SECONDS {
                let length = left.min(PIECE);
                one.write_all(&piece[..length])?;
                left -= length;
            }
            one.shutdown(std::net::Shutdown::Write)?;
            // The connection stays until all has arrived.
            let mut rest = Vec::new();
            one.read_to_end(&mut rest).map(|_| ())
        });
        let (mut piece, mut got, mut half) = (vec![0; PIECE], 0, None);
        let opened = Instant::now();
        let end = loop {
            let length = other.read(&mut piece)?;
            if length == 0 {
                break Instant::now();
            }
            got += length;
            let late = opened.elapsed().as_secs_f64() > PATIENCE * SECONDS;
            if half.is_none() && (late || got >= bytes / 2) {
                half = Some((Instant::now(), got));
            }
        };
        drop(other);
        match sender.join() {
            Ok(sent) => sent?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        let (begun, before) = half.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((got - before) as f64 / (end - begun).as_secs_f64().max(1e-9))
    })
}
