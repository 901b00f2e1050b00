//! From installed tables to others: the entries that differ, in an order that breaks nothing.
//!
//! For one destination, the entries nearest to it on the new ways change first. A switch that has
//! changed then sends to one that has changed as well or need not, and so on to the destination; a
//! switch that has not follows its old way until it arrives or meets one that has. So at no moment
//! does a message go round, and no switch loses a destination that both tables reach. Equally near
//! entries do not depend on each other: a step is all of them, in any order.
//!
//! Old and new ways together can let links form a credit loop where neither table does. So hosts
//! may change in groups, one after another, chosen so that none comes to be; where there is no such
//! choice, or it takes too long to find, a step can have a credit loop. [`crate::prove()`] finds
//! it.

mod groups;

use crate::routing::table::Table;
use crate::wiring::{End, NO_PORT, Port, Switch, Wiring};

/// A table entry that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Change {
    /// The switch of the entry.
    pub switch: Switch,
    /// The host and path, or the switch, that it leads to.
    pub destination: u32,
    /// The port before; [`NO_PORT`] if there is no way.
    pub from: Port,
    /// The port after the change.
    pub to: Port,
}

/// The kind of destinations of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Hosts, with a path or several to each.
    Hosts,
    /// The switches themselves, which have addresses too.
    Switches,
}

/// The steps from one table to another over the cables that there are now: each entry that differs
/// is in one of them, and no other is. The steps to hosts and those to switches can be taken at the
/// same time.
pub fn steps(wiring: &dyn Wiring, ends: Ends, from: &Table, to: &Table) -> Vec<Vec<Change>> {
    let groups = match ends {
        Ends::Hosts => groups::groups(wiring, from, to),
        Ends::Switches => vec![(0..to.destinations()).collect()],
    };
    let of = |group: &Vec<u32>| steps_of(wiring, ends, (from, to), group);
    groups.iter().flat_map(of).collect()
}

/// The steps of some destinations. They do not depend on each other.
fn steps_of(
    wiring: &dyn Wiring,
    ends: Ends,
    (from, to): (&Table, &Table),
    destinations: &[u32],
) -> Vec<Vec<Change>> {
    let mut steps: Vec<Vec<Change>> = Vec::new();
    let switches = to.switches();
    // What arrives goes first; what ends somewhere else, after all that may have passed there.
    let lost = switches as usize + 1;
    let mut far = vec![UNKNOWN; switches as usize];
    for &destination in destinations {
        far.fill(UNKNOWN);
        for switch in 0..switches {
            let before = from.row_of(switch)[destination as usize];
            let after = to.row_of(switch)[destination as usize];
            if before == after {
                continue;
            }
            let (arrives, hops) = follow((wiring, ends, to), switch, destination, &mut far);
            let step = if arrives { hops } else { lost + hops };
            if steps.len() <= step {
                steps.resize(step + 1, Vec::new());
            }
            steps[step].push(Change { switch, destination, from: before, to: after });
        }
    }
    steps.retain(|step| !step.is_empty());
    for step in &mut steps {
        step.sort_unstable();
    }
    steps
}

/// The number of entries that differ between two tables of the same size.
pub fn differing(one: &Table, other: &Table) -> u64 {
    let rows = (0..one.switches()).map(|at| one.row_of(at).iter().zip(other.row_of(at)));
    rows.flatten().filter(|(one, other)| one != other).count() as u64
}

/// Applies a step to a table.
pub fn apply(table: &mut Table, step: &[Change]) {
    for change in step {
        table.set(change.switch, change.destination, change.to);
    }
}

/// Hops to the end of a way: known ones, those of the way that is being followed, and the mark of
/// those that end elsewhere.
const UNKNOWN: u32 = u32::MAX;
const PASSED: u32 = u32::MAX - 1;
const ELSEWHERE: u32 = 1 << 31;

/// Whether the way from a switch arrives, and its hops to wherever it ends.
fn follow(
    (wiring, ends, table): (&dyn Wiring, Ends, &Table),
    from: Switch,
    destination: u32,
    far: &mut [u32],
) -> (bool, usize) {
    let host = destination / table.paths();
    let mut passed: Vec<Switch> = Vec::new();
    let mut switch = from;
    let mut known = loop {
        if ends == Ends::Switches && switch == destination {
            break 0;
        }
        match far[switch as usize] {
            UNKNOWN => {}
            // It goes round: as if it ended here. Nothing can mend a table that is wrong itself.
            PASSED => break ELSEWHERE,
            far => break far,
        }
        far[switch as usize] = PASSED;
        passed.push(switch);
        let port = table.row_of(switch)[destination as usize];
        let end = if port == NO_PORT { End::Nothing } else { wiring.end(switch, port) };
        match end {
            End::Host(other) if ends == Ends::Hosts && other == host => break 0,
            End::Host(_) | End::Nothing => break ELSEWHERE,
            End::Switch(next, _) => switch = next,
        }
    };
    while let Some(switch) = passed.pop() {
        known += 1;
        far[switch as usize] = known;
    }
    (known & ELSEWHERE == 0, (known & !ELSEWHERE) as usize)
}
