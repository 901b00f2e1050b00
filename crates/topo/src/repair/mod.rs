//! An all-to-all after a failure: the native phases, less what meets on the detours, and as few
//! phases more as will take that.
//!
//! `tables` finds detours that spread the load, `thin` takes out of each phase the messages
//! that meet, `merge` gives up phases that leave the scarce links idle, and `pack` finds phases
//! without conflict for all that was taken out. [`loss`] says what the failure has cost.

pub mod loss;
mod merge;
mod pack;
mod roads;
mod tables;
mod thin;

use laneway_core::Phases;

use crate::conflicts::Counter;
use crate::fabric::Fabric;
use crate::order::Listed;
use crate::table::Table;
use crate::topologies::Topology;
use crate::wiring::{Host, Wiring};

pub use loss::{Loss, lost};
pub use tables::spread;

/// An all-to-all on what is left.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// Every ordered pair that is reached, exactly once.
    pub order: Listed,
    /// Pairs that cannot be reached, and are in no phase.
    pub unreached: Vec<(Host, Host)>,
    /// The sum of the phases' largest conflicts.
    pub time: u64,
    /// No order over this table takes less: messages on the fullest link.
    pub bound: u64,
    /// Hosts that have a cable.
    pub hosts: u32,
    /// Messages in all phases.
    pub sent: u64,
}

impl Repaired {
    /// Hosts over time, where all reach each other: 1 if every host sends all the time. As in the
    /// paper a host's message to itself counts, though nobody waits for it.
    pub fn throughput(&self) -> f64 {
        let each = self.sent as f64 / f64::from(self.hosts.max(1)) + 1.0;
        (each / self.time.max(1) as f64).min(1.0)
    }
}

/// Re-routes a damaged topology so that the load is spread, and repairs its all-to-all.
pub fn repair(whole: &dyn Topology, damaged: &Fabric) -> Result<(Table, Repaired), String> {
    if (whole.hosts(), whole.switches()) != (damaged.hosts(), damaged.switches()) {
        return Err(format!("the damaged fabric is no {} with parts taken out", whole.spec()));
    }
    let order = whole.order();
    ensure_fit(&*order, damaged)?;
    let table = spread(whole, whole, damaged);
    let allowed = allowed_conflicts(&Counter::new(whole, whole)?, &*order, whole.hosts());
    let repaired = repair_over(&*order, &allowed, damaged, &table)?;
    Ok((table, repaired))
}

/// The largest conflict of each phase on the whole machine.
pub fn allowed_conflicts(counter: &Counter, order: &(dyn Phases + Sync), hosts: u32) -> Vec<u32> {
    if counter.count(order).worst() <= 1 {
        return vec![1; order.count() as usize];
    }
    let mut partners = vec![0; hosts as usize];
    let links = counter.links().count();
    let worst = |phase| {
        order.partners(phase, &mut partners);
        let load = counter.load(&partners);
        (0..links).map(|link| load.on(link)).max().unwrap_or(0).max(1)
    };
    (0..order.count()).map(worst).collect()
}

/// Bytes that all phases may take.
const MOST_BYTES: u64 = 1 << 30;

fn ensure_fit(order: &dyn Phases, wiring: &dyn Wiring) -> Result<(), String> {
    let hosts = wiring.hosts();
    // What an order leaves out takes more phases, up to one for each host.
    let phases = order.count().max(u64::from(hosts));
    if phases.saturating_mul(u64::from(hosts) * size_of::<Host>() as u64) <= MOST_BYTES {
        return Ok(());
    }
    let most = MOST_BYTES >> 30;
    Err(format!("{phases} phases of {hosts} hosts take more than {most} GiB when written down"))
}

/// Repairs any order over any table. A phase may keep the conflict that it is allowed; what is
/// above that goes to phases without conflict, and so does what the order leaves out.
pub fn repair_over(
    order: &(dyn Phases + Sync),
    allowed: &[u32],
    wiring: &dyn Wiring,
    table: &Table,
) -> Result<Repaired, String> {
    if allowed.len() as u64 != order.count() {
        return Err(format!("{} conflicts for {} phases", allowed.len(), order.count()));
    }
    ensure_fit(order, wiring)?;
    let roads = roads::Roads::new(wiring, table)?;
    let mut thinned = thin::thin(&roads, order, allowed);
    thinned.complete(&roads);
    let (bound, sent) = roads.bound(&thinned);
    let mut allowed = allowed.to_vec();
    merge::merge(&roads, &mut thinned, &mut allowed);
    let worst = |(row, &allowed): (&Vec<Host>, &u32)| match allowed {
        1 => 1,
        _ => u64::from(roads.worst(row)),
    };
    let kept: u64 = thinned.rows.iter().zip(&allowed).map(worst).sum();
    let more = pack::pack(&roads, &thinned.out);
    let time = kept + more.len() as u64;
    let mut rows = thinned.rows;
    rows.extend(more);
    let hosts = (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some()).count();
    Ok(Repaired {
        order: Listed::of_rows(rows),
        unreached: thinned.unreached,
        time,
        bound,
        hosts: hosts as u32,
        sent,
    })
}
