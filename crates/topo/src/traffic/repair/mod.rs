//! An all-to-all after a failure: the native phases, less what meets on the detours, and as few
//! phases more as will take that.
//!
//! `tables` finds detours that spread the load, `thin` takes out of each phase the messages
//! that meet, `merge` gives up phases that leave the scarce links idle, and `pack` finds phases
//! without conflict for all that was taken out. Where the unchanged order is shorter, or a search
//! like that for a job finds less, it is that. [`loss`] says what the failure has cost.

pub mod loss;
mod merge;
mod pack;
mod roads;
mod tables;
mod thin;

use laneway_core::{Observer, Phases, Stage};

use crate::jobs::job::{Ground, Job};
use crate::routing::table::Table;
use crate::threads::shared;
use crate::topologies::Topology;
use crate::traffic::conflicts::Counter;
use crate::traffic::order::Listed;
use crate::wiring::fabric::Fabric;
use crate::wiring::graph::Graph;
use crate::wiring::{Host, Wiring};

pub use loss::{Loss, disconnected_pairs, lost};
use roads::{Message, Roads};
pub use tables::{spread, spread_observed};
use thin::Thinned;

/// A repaired all-to-all.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// Every ordered pair that is reached, exactly once.
    pub order: Listed,
    /// Pairs that no cables connect, and that are in no phase.
    pub unreached: Vec<(Host, Host)>,
    /// Pairs that cables connect and the table does not; they are in no phase either.
    pub lost: Vec<(Host, Host)>,
    /// The sum of the phases' largest conflicts.
    pub time: u64,
    /// A lower bound of the time over this table: messages on the fullest link.
    pub bound: u64,
    /// Hosts that have a cable.
    pub hosts: u32,
    /// The number of messages in all phases.
    pub sent: u64,
}

impl Repaired {
    /// Hosts over time, where all reach each other: 1 if every host sends all the time. As in the
    /// paper a host's message to itself counts, though it occupies no link.
    pub fn throughput(&self) -> f64 {
        let each = self.sent as f64 / f64::from(self.hosts.max(1)) + 1.0;
        (each / self.time.max(1) as f64).min(1.0)
    }
}

/// Re-routes a damaged topology so that the load is spread, and repairs its all-to-all.
pub fn repair(whole: &dyn Topology, damaged: &Fabric) -> Result<(Table, Repaired), String> {
    if (whole.hosts(), whole.switches()) != (damaged.hosts(), damaged.switches()) {
        return Err(format!("the damaged fabric is not a {} with parts taken out", whole.spec()));
    }
    let order = whole.order();
    ensure_fit(&*order, damaged)?;
    let table = spread(whole, whole, damaged);
    let allowed = allowed_conflicts(&Counter::new(whole, whole)?, &*order, whole.hosts(), &());
    let repaired = repair_over(&*order, &allowed, damaged, &table)?;
    Ok((table, repaired))
}

/// The largest conflict of each phase on the whole machine.
pub fn allowed_conflicts(
    counter: &Counter,
    order: &(dyn Phases + Sync),
    hosts: u32,
    observer: &dyn Observer,
) -> Vec<u32> {
    if counter.count_observed(order, observer).worst() <= 1 {
        return vec![1; order.count() as usize];
    }
    let mut partners = vec![0; hosts as usize];
    let links = counter.links().count();
    let worst = |phase| {
        order.partners(phase, &mut partners);
        let load = counter.load(&partners);
        (0..links).map(|link| load.on(link)).max().unwrap_or(0).max(1)
    };
    let stage = Stage::new(observer, "conflicts by phase", order.count());
    stage.over(0..order.count()).map(worst).collect()
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
    Err(format!("{phases} phases of {hosts} hosts need more than {most} GiB as a list"))
}

/// Repairs any order over any table. A phase may keep the conflict that it is allowed; what is
/// above that goes to phases without conflict, and so does what the order leaves out. It is never
/// longer than the order as it is.
pub fn repair_over(
    order: &(dyn Phases + Sync),
    allowed: &[u32],
    wiring: &dyn Wiring,
    table: &Table,
) -> Result<Repaired, String> {
    repair_over_observed(order, allowed, wiring, table, &())
}

/// The same, with progress reports.
pub fn repair_over_observed(
    order: &(dyn Phases + Sync),
    allowed: &[u32],
    wiring: &dyn Wiring,
    table: &Table,
    observer: &dyn Observer,
) -> Result<Repaired, String> {
    if allowed.len() as u64 != order.count() {
        return Err(format!("{} conflicts for {} phases", allowed.len(), order.count()));
    }
    ensure_fit(order, wiring)?;
    let roads = Roads::new(wiring, table, observer)?;
    let mut thinned = thin::thin(&roads, order, allowed, observer);
    thinned.complete(&roads);
    let (bound, sent) = thinned.bound(&roads);
    let (lost, unreached) = find_lost(wiring, std::mem::take(&mut thinned.unreached));
    let mut best = Phased::mended(&roads, thinned, allowed, observer);
    if best.time > bound && unchanged_time(&roads, order, observer) < best.time {
        best = best.or(Phased::unchanged(&roads, order, observer));
    }
    if best.time > bound + NEAR.max(bound / 100) {
        best = Phased::searched(wiring, table, best, observer);
    }
    let hosts = (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some()).count();
    Ok(Repaired {
        order: Listed::of_rows(best.rows),
        unreached,
        lost,
        time: best.time,
        bound,
        hosts: hosts as u32,
        sent,
    })
}

/// A result this number of phases above the bound, or one in a hundred, is good enough.
const NEAR: u64 = 2;
/// Hosts up to which the scheduler of jobs is tried interactively.
const MOST_TRIED: usize = 2048;

/// Phases, the partner of each host in each, and how long they take.
struct Phased {
    rows: Vec<Vec<Host>>,
    time: u64,
}

impl Phased {
    /// The phases as they are, less what is above the conflict that they are allowed, and phases
    /// for that.
    fn mended(
        roads: &Roads,
        mut thinned: Thinned,
        allowed: &[u32],
        observer: &dyn Observer,
    ) -> Phased {
        let mut allowed = allowed.to_vec();
        merge::merge(roads, &mut thinned, &mut allowed);
        Phased::packed(roads, thinned, &allowed, observer)
    }

    /// The order as it is, and phases for what it leaves out.
    fn unchanged(roads: &Roads, order: &(dyn Phases + Sync), observer: &dyn Observer) -> Phased {
        let any = vec![u32::MAX; order.count() as usize];
        let mut thinned = thin::thin(roads, order, &any, observer);
        thinned.complete(roads);
        Phased::packed(roads, thinned, &any, observer)
    }

    fn packed(roads: &Roads, thinned: Thinned, allowed: &[u32], observer: &dyn Observer) -> Phased {
        let Thinned { mut rows, out, .. } = thinned;
        let worst = |(row, &allowed): (&Vec<Host>, &u32)| match allowed {
            1 => 1,
            _ => u64::from(roads.worst(row)),
        };
        let kept: u64 = rows.iter().zip(allowed).map(worst).sum();
        let more = pack::pack(roads, &out, observer);
        let time = kept + more.len() as u64;
        rows.extend(more);
        Phased { rows, time }
    }

    /// The scheduler of jobs with all hosts in one, beginning with these phases; these where it
    /// finds nothing shorter, or the hosts are too many for it.
    fn searched(
        wiring: &dyn Wiring,
        table: &Table,
        found: Phased,
        observer: &dyn Observer,
    ) -> Phased {
        let plugged = (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_some());
        let hosts: Vec<Host> = plugged.collect();
        if hosts.len() > MOST_TRIED {
            return found;
        }
        let order = Listed::of_rows(found.rows);
        let ground = Ground { wiring, routing: table, order: &order, mesh: None, is_whole: false };
        // It has no order if not all hosts reach each other.
        let job = Job::observed(&ground, hosts, 1, observer).ok();
        let found = Phased { rows: order.into_rows(), ..found };
        let Some(job) = job.filter(|job| job.phases() < found.time) else { return found };
        let mut rows = vec![vec![0; wiring.hosts() as usize]; job.phases() as usize];
        let job = job.on_machine(wiring.hosts());
        rows.iter_mut().enumerate().for_each(|(phase, row)| job.partners(phase as u64, row));
        Phased { time: rows.len() as u64, rows }
    }

    fn or(self, other: Phased) -> Phased {
        if other.time < self.time { other } else { self }
    }
}

/// The time of an order as it is, less what does not arrive.
fn unchanged_time(roads: &Roads, order: &(dyn Phases + Sync), observer: &dyn Observer) -> u64 {
    let stage = Stage::new(observer, "phases timed", order.count());
    let parts = shared(order.count() as usize, |phases| {
        let mut row = vec![0; roads.hosts as usize];
        let mut time = 0;
        for phase in phases {
            order.partners(phase as u64, &mut row);
            for (from, to) in row.iter_mut().enumerate() {
                if !roads.arrives((from as Host, *to)) {
                    *to = from as Host;
                }
            }
            time += u64::from(roads.worst(&row));
            stage.step();
        }
        time
    });
    parts.into_iter().sum()
}

/// Of pairs that the table does not serve: those that cables connect, and the others.
fn find_lost(wiring: &dyn Wiring, pairs: Vec<Message>) -> (Vec<Message>, Vec<Message>) {
    let pieces = Graph::of(wiring).pieces();
    let piece = |host: Host| wiring.attached(host).map(|place| pieces[place.0 as usize]);
    pairs.into_iter().partition(|&(from, to)| piece(from).is_some() && piece(from) == piece(to))
}
