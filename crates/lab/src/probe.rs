//! Whether links are what the plan says, seen with real connections before anything is run.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::name::LabName;
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
const LIMIT: Duration = Duration::from_secs(20);
const PIECE: usize = 16 << 10;
/// Headers of Ethernet, IP and TCP take so much of a full packet; the rest is what a user sees.
const HEADERS: f64 = 1.0 - 1448.0 / 1514.0;

/// What was seen of the way from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub from: String,
    pub to: String,
    /// Seconds of half a round trip, and what the plan says.
    pub latency: f64,
    pub planned_latency: f64,
    /// Bytes a second of one connection, and what the plan says; none where nothing limits it.
    pub rate: Option<(f64, f64)>,
}

/// Probes every host from the first of its site, and between any two sites one pair of hosts in each
/// direction; an error names the first way that is not as planned.
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
        seen.push(look_again(lab, plan, neighbour, host, full)?);
    }
    for way in &plan.ways {
        if let (Some(from), Some(to)) = (first(way.from), first(way.to)) {
            seen.push(look_again(lab, plan, from, to, true)?);
        }
    }
    Ok(seen)
}

/// A busy machine can spoil a look: what is wrong is looked at again.
fn look_again(
    lab: &LabName,
    plan: &Plan,
    from: &Host,
    to: &Host,
    full: bool,
) -> Result<Seen, LabError> {
    let mut last = check(look(lab, plan, from, to, full)?);
    for _ in 1..LOOKS {
        if last.is_ok() {
            break;
        }
        last = check(look(lab, plan, from, to, full)?);
    }
    last
}

/// An error for a way that is not as planned.
fn check(seen: Seen) -> Result<Seen, LabError> {
    let Seen { from, to, latency, planned_latency, rate } = &seen;
    let (low, high) = (1.0 - TOLERANCE, 1.0 + TOLERANCE);
    let refuse = |what: String| Err(LabError::Probe(format!("the way from {from} to {to} {what}")));
    if *latency < low * planned_latency || *latency > high * planned_latency + SLACK {
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

fn look(lab: &LabName, plan: &Plan, from: &Host, to: &Host, full: bool) -> Result<Seen, LabError> {
    let delay = |a: usize, b: usize| plan.way(a, b).map_or(0.0, |way| way.delay);
    let planned_latency = (delay(from.site, to.site) + delay(to.site, from.site)) / 2.0;
    let failed = |error: io::Error| {
        LabError::Probe(format!("nothing passes from {} to {}: {error}", from.name, to.name))
    };
    let (mut one, mut other) = connect(lab, from, to)?.map_err(failed)?;
    let latency = trip(&mut one, &mut other).map_err(failed)?;
    let planned = plan.rate_of_one(from, to);
    let rate = match full && planned <= MOST_RATE {
        true => Some((rate(one, other, planned).map_err(failed)?, planned)),
        false => None,
    };
    let (from, to) = (from.name.clone(), to.name.clone());
    Ok(Seen { from, to, latency, planned_latency, rate })
}

/// A connection between two hosts: both ends.
pub fn connect(
    lab: &LabName,
    from: &Host,
    to: &Host,
) -> Result<io::Result<(TcpStream, TcpStream)>, LabError> {
    let own = address(0, to);
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
            let mut left = bytes;
            while left > 0 {
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
        let end = loop {
            let length = other.read(&mut piece)?;
            if length == 0 {
                break Instant::now();
            }
            got += length;
            if half.is_none() && got >= bytes / 2 {
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
