//! How a machine forwards: its own way, an engine's, a file's, or around what has failed; and the
//! all-to-all that is left to it.

use std::borrow::Cow;
use std::path::Path;

use laneway_core::Phases;

use super::{MOST_SPREAD, Machine, Plan, ensure_table};
use crate::error::{Error, ErrorKind};
use crate::files::addresses::Installed;
use crate::machine::differ::Difference;
use crate::routing::Routing;
use crate::routing::agents::to_switches_observed;
use crate::routing::engines::{balanced, engine};
use crate::routing::reroute::reroute_observed;
use crate::routing::table::Table;
use crate::traffic::conflicts::Counter;
use crate::traffic::repair::{self, Repaired};
use crate::wiring::{NO_PORT, Wiring};

/// Whether a word that is not an engine's name means a file.
fn is_file(word: &str) -> bool {
    word.starts_with("file:") || word.contains(['/', '.']) || Path::new(word).exists()
}

impl Machine {
    /// Forwards as a word says: `native`, an engine's name or a file of forwarding tables. Without
    /// a word it is the topology's own forwarding, with detours around what has failed.
    pub fn route(mut self, word: Option<&str>) -> Result<Machine, Error> {
        if self.damaged.is_some() || word.is_some_and(|word| word != "native") {
            ensure_table(&self.spec, self.whole())?;
        }
        let whole = self.whole();
        let mut to_switches = None;
        self.table = match (word, &self.damaged) {
            (None, None) => self.spread_over_plan(),
            (Some("native"), None) => None,
            (None, Some(left)) => Some(match whole.hosts() <= MOST_SPREAD {
                true => repair::spread_observed(whole, self.native(), left, self.observer()),
                false => reroute_observed(whole, self.native(), left, self.observer()),
            }),
            // Kept by request: what it sends into the failed part is lost.
            (Some("native"), Some(_)) => {
                Some(Table::of_observed(whole, self.native(), self.observer()))
            }
            (Some(word), _) => Some(match engine(word) {
                Ok(engine) => (engine.route)(self.wiring(), self.observer()),
                Err(unknown) if !is_file(word) => return Err(unknown),
                Err(_) => {
                    let (table, ways) = self.installed(Path::new(word))?;
                    let tells = |at: u32| ways.row_of(at).iter().any(|&port| port != NO_PORT);
                    to_switches = (0..ways.switches()).any(tells).then_some(ways);
                    table
                }
            }),
        };
        self.to_switches = to_switches;
        Ok(self)
    }

    /// The forwarding tables of a file, to hosts and to switches.
    pub fn installed(&self, file: &Path) -> Result<(Table, Table), Error> {
        Installed::read(self, file)?.tables(self)
    }

    /// The forwarding of the whole.
    pub(super) fn native(&self) -> &dyn Routing {
        match &self.plan {
            Plan::Formula(topology) => &**topology,
            Plan::File { found, plan, table } => table.get_or_init(|| match plan {
                Some(plan) => plan.native_observed(&found.fabric, self.observer()),
                None => balanced::route(&found.fabric, self.observer()),
            }),
        }
    }

    /// A table for all switches, of whatever the forwarding is.
    pub fn table(&self) -> Cow<'_, Table> {
        match &self.table {
            Some(table) => Cow::Borrowed(table),
            None => Cow::Owned(Table::of_observed(self.wiring(), self.routing(), self.observer())),
        }
    }

    /// Paths to each host in its forwarding: one, unless a table from a file has more.
    pub fn routed_paths(&self) -> u32 {
        self.table.as_ref().map_or(1, Table::paths)
    }

    /// Whether it forwards by its formula and nothing has failed, so that every pair is reached.
    pub fn is_native(&self) -> bool {
        self.topology().is_some() && !self.is_damaged() && self.table.is_none()
    }

    /// The ways to its switches beside a table: those of the file that the table came from, if it
    /// has some.
    pub fn to_switches(&self, table: &Table) -> Cow<'_, Table> {
        match &self.to_switches {
            Some(own) => Cow::Borrowed(own),
            None => Cow::Owned(to_switches_observed(self.wiring(), table, self.observer())),
        }
    }

    /// The plan's forwarding with detours around the cables that were not found, as after a
    /// failure.
    fn spread_over_plan(&self) -> Option<Table> {
        let Plan::File { found, .. } = &self.plan else { return None };
        let is_missing = |difference: &Difference| matches!(difference, Difference::Missing(_));
        let plan = self.followed().filter(|plan| {
            let is_small = plan.plan.hosts() <= MOST_SPREAD;
            is_small && self.differs() && plan.differences.iter().all(is_missing)
        })?;
        let left = plan.map.left(&found.fabric, &*plan.plan);
        let table = repair::spread_observed(&*plan.plan, &*plan.plan, &left, self.observer());
        Some(plan.map.table(&found.fabric, &table))
    }

    /// Whether there is an all-to-all to repair: something failed, or was not found.
    pub fn needs_repair(&self) -> bool {
        self.is_damaged() || self.differs()
    }

    /// The order after a failure: as few phases as will take every message without conflict.
    pub fn repaired(&self) -> Result<Repaired, Error> {
        let refused =
            |cause: String| Error::new(ErrorKind::Repair, "there is no schedule to repair", cause);
        if !self.needs_repair() {
            return Err(refused("nothing has failed".into()));
        }
        let (left, order) = (self.wiring(), self.order());
        if left.hosts() > MOST_SPREAD {
            return Err(refused(format!("more than {MOST_SPREAD} nodes take too long")));
        }
        let allowed = self.allowed_conflicts(&*order).map_err(refused)?;
        let repaired =
            repair::repair_over_observed(&*order, &allowed, left, &self.table(), self.observer());
        repaired.map_err(refused)
    }

    /// The largest conflict of each phase while everything was there.
    fn allowed_conflicts(&self, order: &(dyn Phases + Sync)) -> Result<Vec<u32>, String> {
        let conflicts =
            |wiring: &dyn Wiring, routing: &dyn Routing, order: &(dyn Phases + Sync)| {
                let counter = Counter::observed(wiring, routing, self.observer())?;
                Ok(repair::allowed_conflicts(&counter, order, wiring.hosts(), self.observer()))
            };
        match self.followed() {
            // Its phases are those of the plan, by other numbers.
            Some(plan) => conflicts(&*plan.plan, &*plan.plan, &*plan.plan.order()),
            None => conflicts(self.whole(), self.native(), order),
        }
    }
}
