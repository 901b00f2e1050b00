//! The order of messages that `--schedule` names.

use std::path::Path;

use clap::{Arg, ArgMatches};
use laneway_core::{Failure, Phases, Shape};
use laneway_topo::formats::{self, pairs};
use laneway_topo::order::{Pattern, Random, Shift, demand};
use laneway_topo::repair::apart;

use super::machine::Machine;
use crate::output;
use crate::words;

/// Hosts up to which a schedule without a formula is written out.
const MOST_LISTED: u32 = 1024;
/// Messages up to which an order that is none of ours is looked through.
const MOST_LOOKED: u64 = 1 << 30;

/// The argument of every verb that takes an order; `usual` is what holds without it.
pub fn arg(usual: &'static str) -> Arg {
    let help = "native, shift, random, repaired, any OP/ALGORITHM of the registry, or file:PAIRS";
    Arg::new("schedule").long("schedule").value_name("S").help(format!("{help} [default: {usual}]"))
}

/// An order with its name.
pub struct Named {
    pub name: String,
    pub phases: Box<dyn Phases + Send + Sync>,
    /// Pairs of nodes that cables connect and that it should send, and does not.
    pub left_out: u64,
}

impl Named {
    /// The order that a word means.
    pub fn new(machine: &Machine, name: &str, seed: u64) -> Result<Named, Failure> {
        let hosts = machine.wiring().hosts();
        let mut left_out = 0;
        let phases: Box<dyn Phases + Send + Sync> = match (name, name.split_once('/')) {
            ("native", _) => machine.order(),
            ("repaired", _) => {
                let repaired = machine.repaired()?;
                left_out = repaired.lost.len() as u64;
                Box::new(repaired.order)
            }
            ("shift", _) => Box::new(Shift::new(hosts)),
            ("random", _) => {
                let phases = u64::from(hosts);
                Box::new(Random { hosts, phases, seed, fixed_points: true })
            }
            (name, _) if name.starts_with("file:") => pairs_of(machine, &name["file:".len()..])?,
            (_, Some((op, algorithm))) => pattern(op, algorithm, hosts)?,
            _ => {
                let cause = "the schedules are native, shift, random, repaired, OP/ALGORITHM, \
                             file:PAIRS";
                let try_this = "--schedule shift, or --schedule alltoall/bruck";
                return Err(Failure::usage(format!("no schedule `{name}`"), cause, try_this));
            }
        };
        Ok(Named { name: name.to_string(), phases, left_out })
    }

    /// The order that a verb is asked about: after a failure the repaired one, if no other is
    /// named.
    pub fn from(machine: &Machine, matches: &ArgMatches) -> Result<Named, Failure> {
        let seed = matches.try_get_one::<u64>("seed").ok().flatten().copied().unwrap_or(1);
        let named = matches.get_one::<String>("schedule").map(String::as_str);
        let name = named.or(machine.usual_orders().last().copied()).unwrap_or("native");
        if named.is_none() && name != "native" {
            output::note("the order is the repaired one; --schedule native shows the unchanged");
        }
        Named::new(machine, name, seed)
    }

    /// Whether it is one of an all-to-all by its name.
    fn is_ours(&self) -> bool {
        !self.name.contains(['/', ':'])
    }

    /// Pairs of nodes that nothing can connect any more, where all pairs are asked for.
    pub fn unreached(&self, machine: &Machine) -> Option<u64> {
        let is_whole = machine.topology().is_some() && !machine.is_damaged();
        self.is_ours().then(|| if is_whole { 0 } else { apart(machine.wiring()) })
    }

    /// Whether somebody's message is in no phase.
    pub fn is_short(&self, machine: &Machine) -> bool {
        self.left_out + self.unreached(machine).unwrap_or(0) > 0
    }

    /// Phases that are enough if nothing meets: for an all-to-all one for each node with a cable,
    /// else one for each message of the node that sends or receives most. None where the messages
    /// are too many to look at.
    pub fn ideal(&self, machine: &Machine) -> Option<u64> {
        let wiring = machine.wiring();
        let hosts = 0..wiring.hosts();
        let is_there: Vec<bool> = hosts.map(|host| wiring.attached(host).is_some()).collect();
        let there = is_there.iter().filter(|&&there| there).count() as u64;
        if self.is_ours() {
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

fn pairs_of(machine: &Machine, file: &str) -> Result<Box<dyn Phases + Send + Sync>, Failure> {
    let read = formats::load(Path::new(file));
    let listed = read.and_then(|text| pairs::read(&text, machine.wiring())).map_err(|error| {
        let what = format!("cannot read the pairs `{file}`");
        Failure::usage(what, error.to_string(), "a line `0 12` for each message")
    })?;
    Ok(Box::new(listed))
}

/// A schedule of the registry with a rank on every host.
fn pattern(
    op: &str,
    algorithm: &str,
    hosts: u32,
) -> Result<Box<dyn Phases + Send + Sync>, Failure> {
    let collective = words::collective("topo alltoall --schedule", op)?;
    let refused = |cause: String| {
        let what = format!("no schedule `{op}/{algorithm}` for {hosts} nodes");
        Failure::usage(what, cause, "laneway info algorithms")
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
