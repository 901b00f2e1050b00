//! The order of messages that a word names on a machine, and whom each node sends to in a phase.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use laneway_core::error::nearest;
use laneway_core::{Collective, Phases, Row, Shape, own_partners};

use crate::error::{Error, ErrorKind};
use crate::files::formats::{self, pairs};
use crate::machine::{MOST_SPREAD, Machine};
use crate::proof::check::unreached;
use crate::routing::walk;
use crate::traffic::order::{Pattern, Random, Shift, demand};
use crate::wiring::{End, Host};

/// Hosts up to which a schedule without a formula is written out.
const MOST_LISTED: u32 = 1024;
/// Messages up to which an order that is not ours is looked through.
const MOST_LOOKED: u64 = 1 << 30;
/// More rows than a person reads, and few enough to hold.
pub const MOST_ROWS: u64 = 1_000_000;

/// Where a path ends that does not arrive.
const LOST: &str = "lost";

/// An order with its name.
#[non_exhaustive]
pub struct Named {
    /// How it was asked for.
    pub name: String,
    /// The senders and receivers.
    pub phases: Box<dyn Phases + Send + Sync>,
    /// Pairs of nodes that cables connect and that it should send, and does not.
    pub left_out: u64,
    /// What the repair of an order came to, if it is a repaired one.
    pub repair: Option<Repair>,
}

/// What the repair of an order came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// The sum of the phases' largest conflicts; no order over the same tables takes less than the
    /// bound.
    pub time: u64,
    /// The messages on the fullest link.
    pub bound: u64,
    /// Pairs that no cables connect.
    pub unreached: u64,
    /// Pairs that cables connect and the tables do not.
    pub lost: u64,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repair { time, bound, unreached, lost } = self;
        write!(
            f,
            "repaired schedule: {time} phases, lower bound over these tables {bound}; {unreached} \
             pairs without a path of cables, {lost} pairs that the tables lose"
        )
    }
}

/// The orders that suit a machine: its own, and after a failure the repaired one, if the machine is
/// not too large for that.
pub fn usual_orders(machine: &Machine) -> &'static [&'static str] {
    match machine.needs_repair() && machine.whole().hosts() <= MOST_SPREAD {
        true => &["native", "repaired"],
        false => &["native"],
    }
}

impl Named {
    /// The order that a word means: `native`, `shift`, `random`, `repaired`, an algorithm of the
    /// registry as `OPERATION/ALGORITHM`, or a file of pairs, with or without `file:` before its
    /// name. The seed is that of `random`.
    pub fn new(machine: &Machine, name: &str, seed: u64) -> Result<Named, Error> {
        let hosts = machine.wiring().hosts();
        let is_file =
            !name.starts_with("file:") && (name.contains('.') || Path::new(name).is_file());
        let name = &if is_file { format!("file:{name}") } else { name.to_string() };
        let mut repair = None;
        let phases: Box<dyn Phases + Send + Sync> = match (name.as_str(), name.split_once('/')) {
            ("native", _) => machine.order(),
            ("repaired", _) => {
                let repaired = machine.repaired()?;
                let (unreached, lost) = (repaired.unreached.len(), repaired.lost.len());
                repair = Some(Repair {
                    time: repaired.time,
                    bound: repaired.bound,
                    unreached: unreached as u64,
                    lost: lost as u64,
                });
                Box::new(repaired.order)
            }
            ("shift", _) => Box::new(Shift::new(hosts)),
            ("random", _) => {
                let phases = u64::from(hosts);
                Box::new(Random { hosts, phases, seed, fixed_points: true })
            }
            (name, _) if name.starts_with("file:") => read(machine, &name["file:".len()..])?,
            (_, Some((op, algorithm))) => pattern(op, algorithm, hosts)?,
            _ => {
                let cause = "the schedules are native, shift, random, repaired, OP/ALGORITHM and \
                             file:PAIRS";
                let what = format!("unknown schedule `{name}`");
                return Err(Error::new(ErrorKind::Schedule, what, cause));
            }
        };
        let left_out = repair.map_or(0, |repair| repair.lost);
        Ok(Named { name: name.to_string(), phases, left_out, repair })
    }

    /// Whether it is one of an all-to-all by its name.
    fn is_alltoall(&self) -> bool {
        !self.name.contains(['/', ':'])
    }

    /// Pairs of nodes that the forwarding does not connect, as [`crate::check()`] counts them,
    /// where all pairs are asked for.
    pub fn unreached(&self, machine: &Machine) -> Option<u64> {
        self.is_alltoall().then(|| unreached(machine))
    }

    /// Whether a message that should be sent is in no phase, or cannot arrive.
    pub fn is_short(&self, machine: &Machine) -> bool {
        self.left_out + self.unreached(machine).unwrap_or(0) > 0
    }

    /// Phases that are enough if nothing meets: for an all-to-all one for each node with a cable,
    /// else one for each message of the node that sends or receives most. `None` if the messages
    /// are too many to look at.
    pub fn ideal(&self, machine: &Machine) -> Option<u64> {
        let wiring = machine.wiring();
        let hosts = 0..wiring.hosts();
        let is_there: Vec<bool> = hosts.map(|host| wiring.attached(host).is_some()).collect();
        let there = is_there.iter().filter(|&&there| there).count() as u64;
        if self.is_alltoall() {
            return Some(there);
        }
        let count = self.phases.count();
        if count.saturating_mul(u64::from(wiring.hosts())) > MOST_LOOKED {
            let is_alltoall = self.name.starts_with("alltoall/") && count + 1 >= there;
            return is_alltoall.then_some(there);
        }
        let demand = demand(&*self.phases, &is_there);
        Some(if demand.is_alltoall { there } else { demand.most })
    }
}

fn read(machine: &Machine, file: &str) -> Result<Box<dyn Phases + Send + Sync>, Error> {
    let file = Path::new(file);
    let read = formats::load(file).and_then(|text| pairs::read(&text, machine.wiring()));
    let listed = read.map_err(|error| {
        Error::of_file("pairs", file, &error).with_hint("a line `0 12` for each message")
    })?;
    Ok(Box::new(listed))
}

/// A schedule of the registry with a rank on every host.
fn pattern(op: &str, algorithm: &str, hosts: u32) -> Result<Box<dyn Phases + Send + Sync>, Error> {
    let refused = |what: String, cause: String| Error::new(ErrorKind::Schedule, what, cause);
    let Some(collective) = Collective::by_name(op) else {
        let all = Collective::ALL.map(Collective::name);
        let cause = format!("the operations are {}", all.join(", "));
        let unknown = refused(format!("unknown operation `{op}`"), cause);
        return Err(match nearest(op, all) {
            Some(near) => unknown.with_hint(format!("{near}/{algorithm}")),
            None => unknown,
        });
    };
    let refused = |cause| {
        refused(format!("there is no schedule `{op}/{algorithm}` for {hosts} nodes"), cause)
    };
    let (algorithm, params) =
        laneway_coll::find(collective, algorithm).map_err(|refusal| refused(refusal.0))?;
    let shape = Shape::new(collective, hosts, 8).with_element(8, true);
    let schedule = algorithm.schedule(&shape, &params).map_err(|refusal| refused(refusal.0))?;
    if schedule.phases().is_none() && hosts > MOST_LISTED {
        let cause = format!("it has no closed formula, and is written out up to {MOST_LISTED}");
        return Err(refused(cause));
    }
    Ok(Box::new(Pattern::new(schedule)))
}

/// The numbers that a word means, of those below `count`: `7`, `0-11` or `all`. `what` is the name
/// of what is counted, for the error.
pub fn range(what: &str, word: &str, count: u64) -> Result<Range<u64>, Error> {
    if word == "all" {
        return Ok(0..count);
    }
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last && last < count => Ok(first..last + 1),
        _ => {
            let last = count.saturating_sub(1);
            let cause = format!("they are numbered from 0 to {last}");
            let what = format!("there is no {what} `{word}`");
            Err(Error::new(ErrorKind::Range, what, cause).with_hint(last.to_string()))
        }
    }
}

/// Refuses more rows than can be held.
pub(crate) fn ensure_rows(rows: u64) -> Result<(), Error> {
    match rows > MOST_ROWS {
        true => {
            let cause = format!("{rows} rows are more than {MOST_ROWS}");
            Err(Error::new(ErrorKind::Rows, "too much to print", cause))
        }
        false => Ok(()),
    }
}

/// A row for each of some sources in each of some phases: whom it sends to and by which way. And
/// whether every message of these arrives.
pub fn rows(
    machine: &Machine,
    order: &dyn Phases,
    sources: Range<u64>,
    phases: Range<u64>,
) -> Result<(Vec<Row>, bool), Error> {
    ensure_rows((sources.end - sources.start) * (phases.end - phases.start))?;
    let hosts = machine.wiring().hosts();
    let (mut rows, mut arrive) = (Vec::new(), true);
    for phase in phases {
        let mut keeps = None;
        for source in sources.clone() {
            let source = source as Host;
            let destination = order.partner(source, phase);
            let path = path(machine, source, destination);
            arrive &= !path.ends_with(LOST);
            let is_sent = source != destination
                || *keeps.get_or_insert_with(|| keeps_messages(order, phase, hosts));
            rows.push(
                Row::new()
                    .with("phase", phase)
                    .with("source", source)
                    .with("destination", is_sent.then_some(destination))
                    .with("path", path),
            );
        }
    }
    Ok((rows, arrive))
}

/// Whether hosts that are their own partner keep a message to themselves; else they rest.
fn keeps_messages(order: &dyn Phases, phase: u64, hosts: u32) -> bool {
    let mut partners = vec![0; hosts as usize];
    order.partners(phase, &mut partners);
    order.resting(phase, &partners) < own_partners(&partners)
}

/// The switches on the way; a node that keeps its message to itself passes none.
fn path(machine: &Machine, from: Host, to: Host) -> String {
    if from == to {
        return String::new();
    }
    let wiring = machine.wiring();
    let mut names = Vec::new();
    let arrived = walk(wiring, machine.routing(), from, to, |hop| {
        names.push(wiring.switch_name(hop.switch));
        if let End::Nothing = wiring.end(hop.switch, hop.port) {
            names.push("nowhere".to_string());
        }
    });
    if arrived.is_err() {
        names.push(LOST.to_string());
    }
    names.join(" ")
}
