//! Watches a fabric that is discovered again and again: what is left of it, and the tables for
//! that.

mod changes;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use laneway_core::Observer;

use crate::error::{Error, ErrorKind};
use crate::files::formats::identity::is_planned;
use crate::files::formats::{self, Discovered, Id, Identity, ReadError, lft};
use crate::machine::map::Map;
use crate::machine::recognise::{Recognised, recognise};
use crate::machine::unplugged;
use crate::operations::change::differing;
use crate::proof::prove::{Agents, Proof, prove_agents_observed, prove_observed};
use crate::routing::agents::to_switches_observed;
use crate::routing::engines::balanced;
use crate::routing::engines::several::several_observed;
use crate::routing::reroute::reroute_observed;
use crate::routing::table::Table;
use crate::wiring::fabric::Fabric;
use crate::wiring::{Host, Wiring};
use changes::{Cable, Changes, cables, missing};

/// Reads what a discovery has printed. One that was cut short, without switches or hosts, is
/// refused: it must not empty the tables.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let found = formats::read(text)?;
    match (found.fabric.switches(), found.fabric.hosts()) {
        (0, _) => Err(ReadError::new(0, "it has no switches")),
        (_, 0) => Err(ReadError::new(0, "it has no hosts")),
        _ => Ok(found),
    }
}

/// The fabric as it was, and its forwarding.
struct Whole {
    found: Discovered,
    table: Table,
    /// The same with a path for each address of a host.
    paths: Table,
    to_switches: Table,
    topology: Option<String>,
    /// Cables that the topology has and this fabric has not.
    missing: BTreeSet<Cable>,
    /// Entries to hosts that are not those of the topology, because of them.
    detours: u64,
    /// Parts that had another address, or none among others that had one.
    new_addresses: usize,
}

/// A table with a path for each address of a host, the first of which it has already.
fn with_paths(found: &Discovered, fabric: &Fabric, table: Table, observer: &dyn Observer) -> Table {
    match found.identity.paths() {
        1 => table,
        paths => several_observed(fabric, Some(&table), paths, observer),
    }
}

/// Entries of a table that are not those of the plan that a damaged fabric follows.
fn detours(plan: &Recognised, found: &Fabric, table: &Table, observer: &dyn Observer) -> u64 {
    let planned = match table.paths() {
        1 => Some(Table::of_observed(&*plan.plan, &*plan.plan, observer)),
        paths => plan.plan.paths(paths),
    };
    planned.map_or(0, |planned| differing(table, &plan.map.table(found, &planned)))
}

impl Whole {
    fn new(mut found: Discovered, observer: &dyn Observer) -> Result<Whole, Error> {
        let had = found.identity.hosts.iter().any(|id| id.lid != 0);
        let new = found.identity.pin(found.identity.lmc).map_err(|cause| {
            let what = "this fabric does not fit into a subnet";
            let hint = "one subnet for each part of it";
            Error::new(ErrorKind::Format, what, cause).with_hint(hint)
        })?;
        let recognised = recognise(&found.fabric);
        let table = match &recognised {
            Some(recognised) => recognised.native_observed(&found.fabric, observer),
            None => balanced::route(&found.fabric, observer),
        };
        let own = recognised.as_ref();
        let own = own.and_then(|own| own.paths(&found.fabric, found.identity.paths()));
        let further = || with_paths(&found, &found.fabric, table.clone(), observer);
        let paths = own.unwrap_or_else(further);
        let damaged = recognised.as_ref().filter(|plan| !plan.differences.is_empty());
        let missing = damaged.map(|plan| missing(plan, &found.fabric)).unwrap_or_default();
        let detours = damaged.map_or(0, |plan| detours(plan, &found.fabric, &paths, observer));
        let topology = recognised.map(|recognised| recognised.plan.spec());
        let to_switches = to_switches_observed(&found.fabric, &paths, observer);
        let new_addresses = if had { new } else { 0 };
        Ok(Whole { found, table, paths, to_switches, topology, missing, detours, new_addresses })
    }

    /// The table of what is left of it: a path for each address of a host.
    fn table_of(&self, left: &Fabric, observer: &dyn Observer) -> Table {
        if *left == self.found.fabric {
            return self.paths.clone();
        }
        let table = reroute_observed(&self.found.fabric, &self.table, left, observer);
        with_paths(&self.found, left, table, observer)
    }

    /// What is left of it, by GUIDs, and by names where those are planned; and its addresses, as
    /// they are now. `None` if something is new.
    fn left(&self, now: &Discovered) -> Option<(Fabric, Identity)> {
        let keys = |found: &Discovered| {
            let (fabric, identity) = (&found.fabric, &found.identity);
            let name = |host| fabric.host_name(host);
            let hosts = identity.hosts.iter().zip(0..).map(|(id, at)| key(id, || name(at)));
            let name = |switch| fabric.switch_name(switch);
            let switches = identity.switches.iter().zip(0..).map(|(id, at)| key(id, || name(at)));
            (switches.collect::<Vec<Key>>(), hosts.collect::<Vec<Key>>())
        };
        let map = Map::by_keys(&now.fabric, keys(now), &self.found.fabric, keys(&self.found));
        let known = !map.has_extra(&now.fabric, &self.found.fabric);
        known.then(|| (map.left(&now.fabric, &self.found.fabric), self.addressed(now, &map)))
    }

    /// Its addresses: those that are discovered, and for a part that has none there its own, if
    /// no other part has it now.
    fn addressed(&self, now: &Discovered, map: &Map) -> Identity {
        let mut own = self.found.identity.clone();
        if now.identity.hosts.iter().all(|id| id.lid == 0) {
            return own;
        }
        own.lmc = now.identity.lmc;
        let mut taken = now.identity.destinations();
        taken.extend(now.identity.switches.iter().map(|id| (id.lid, 0)));
        let is_taken = |lid: u16, many: u16| taken.range(lid..lid.saturating_add(many)).count() > 0;
        let paths = own.paths() as u16;
        own.hosts.iter_mut().filter(|id| is_taken(id.lid, paths)).for_each(|id| id.lid = 0);
        own.switches.iter_mut().filter(|id| is_taken(id.lid, 1)).for_each(|id| id.lid = 0);
        let hosts = map.hosts.iter().zip(&now.identity.hosts);
        for (&to, id) in hosts.filter(|(_, id)| id.lid != 0) {
            to.into_iter().for_each(|to| own.hosts[to as usize].lid = id.lid);
        }
        let switches = map.switches.iter().zip(&now.identity.switches);
        for (&to, id) in switches.filter(|(_, id)| id.lid != 0) {
            to.into_iter().for_each(|to| own.switches[to as usize].lid = id.lid);
        }
        own
    }
}

/// A part's GUID, or its name where the GUID is planned and so a mere place in the order of a file.
type Key = Result<u64, String>;

fn key(id: &Id, name: impl Fn() -> String) -> Key {
    if is_planned(id.guid) { Err(name()) } else { Ok(id.guid) }
}

/// A fabric that is watched.
///
/// ```
/// use laneway_topo::files::formats::Discovered;
/// use laneway_topo::{Fabric, Part, Watch, topology};
///
/// let mut fabric = Fabric::of(&*topology("mlfm:d=4")?);
/// let discovered = |fabric: &Fabric| Discovered::planned(fabric.clone());
/// let mut watch = Watch::new(Some(discovered(&fabric)))?;
/// fabric.fail(Part::Link(0, 4));
/// let rerouted = watch.update(&discovered(&fabric))?.expect("a cable is gone");
/// assert!(rerouted.holds() && rerouted.cables_lost == 1);
/// watch.installed(rerouted);
/// assert!(watch.update(&discovered(&fabric))?.is_none(), "nothing has changed since");
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub struct Watch {
    whole: Option<Whole>,
    /// What the tables that are installed lead over.
    last: Option<Fabric>,
    /// What was installed last, for the comparison with what comes next.
    before: Option<Before>,
    observer: Arc<dyn Observer>,
}

/// What was installed.
struct Before {
    cables: BTreeSet<Cable>,
    gone: BTreeSet<Cable>,
    table: Table,
    to_switches: Table,
}

/// New tables for what is left of a fabric.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rerouted {
    /// What is left.
    pub left: Fabric,
    /// The tables as OpenSM reads them.
    pub text: String,
    /// The ways to hosts.
    pub table: Table,
    /// What is true of them.
    pub proof: Proof,
    /// What is true of the ways of the switches' own messages.
    pub agents: Agents,
    /// Hosts that have lost their cable.
    pub unplugged: Vec<Host>,
    /// Pairs, times paths, that are not reached; those of these hosts are among them.
    pub unreached: u64,
    /// Cables that the whole fabric had, or the topology that it was recognised as has, and this
    /// has not.
    pub cables_lost: u64,
    /// What was lost since the tables before, cable by cable: `vertex-2-1/6 – edge-1-3/3`; a switch
    /// without any cable stands as one. The first time it is all that is missing.
    pub lost: Vec<String>,
    /// What was lost and is there again.
    pub restored: Vec<String>,
    /// What was not there before.
    pub new: Vec<String>,
    /// Entries that are not those of the tables before; the first time those that are not the whole
    /// fabric's, or its topology's.
    pub changed_entries: u64,
    /// The topology that the whole fabric is, if it is one.
    pub topology: Option<String>,
    /// Parts that have new addresses, where this is a fabric that was not known before.
    pub new_addresses: usize,
    /// Whether other addresses than before were discovered.
    pub is_readdressed: bool,
    to_switches: Table,
    gone: BTreeSet<Cable>,
    is_first: bool,
}

impl Watch {
    /// Watches for changes from the whole fabric; without one it is what is discovered first.
    pub fn new(whole: Option<Discovered>) -> Result<Watch, Error> {
        Watch::observed(whole, Arc::new(()))
    }

    /// The same, with progress reports to the observer.
    pub fn observed(
        whole: Option<Discovered>,
        observer: Arc<dyn Observer>,
    ) -> Result<Watch, Error> {
        let whole = whole.map(|found| Whole::new(found, &*observer)).transpose()?;
        Ok(Watch { whole, last: None, before: None, observer })
    }

    /// The tables for what is discovered now; nothing where those that are installed are for it.
    pub fn update(&mut self, now: &Discovered) -> Result<Option<Rerouted>, Error> {
        let known = self.whole.as_ref().and_then(|whole| whole.left(now));
        let mut is_readdressed = false;
        let left = match known {
            Some((left, identity)) => {
                is_readdressed = self.address(identity)?;
                left
            }
            None => {
                self.whole = Some(Whole::new(now.clone(), &*self.observer)?);
                now.fabric.clone()
            }
        };
        let Some(whole) = self.whole.as_mut().filter(|_| self.last.as_ref() != Some(&left)) else {
            return Ok(None);
        };
        let new_addresses = std::mem::take(&mut whole.new_addresses);
        Ok(Some(Rerouted {
            new_addresses,
            is_readdressed,
            ..rerouted(whole, left, self.before.as_ref(), &*self.observer)
        }))
    }

    /// Remembers that tables are installed.
    pub fn installed(&mut self, rerouted: Rerouted) {
        self.before = Some(Before {
            cables: cables(&rerouted.left),
            gone: rerouted.gone,
            table: rerouted.table,
            to_switches: rerouted.to_switches,
        });
        self.last = Some(rerouted.left);
    }

    /// Takes other addresses than before; whether they are.
    fn address(&mut self, identity: Identity) -> Result<bool, Error> {
        let Some(whole) = self.whole.as_ref() else { return Ok(false) };
        let mut pinned = identity.clone();
        if pinned.pin(identity.lmc).is_ok() && pinned == whole.found.identity {
            return Ok(false);
        }
        let fabric = whole.found.fabric.clone();
        self.whole = Some(Whole::new(Discovered { fabric, identity }, &*self.observer)?);
        self.last = None;
        Ok(true)
    }
}

/// Routes what is left of a fabric.
fn rerouted(
    whole: &Whole,
    left: Fabric,
    before: Option<&Before>,
    observer: &dyn Observer,
) -> Rerouted {
    let table = whole.table_of(&left, observer);
    let to_switches = to_switches_observed(&left, &table, observer);
    let proof = prove_observed(&left, &table, observer);
    let agents = prove_agents_observed(&left, &table, &to_switches, observer);
    let is_lost = |&host: &Host| whole.found.fabric.attached(host).is_some();
    let pairs = |fabric: &Fabric| {
        let plugged = u64::from(fabric.hosts()) - unplugged(fabric).len() as u64;
        plugged * plugged.saturating_sub(1) * u64::from(table.paths())
    };
    let changed = changed_entries(whole, &table, &to_switches, before);
    let there = cables(&left);
    let mut gone: BTreeSet<Cable> =
        cables(&whole.found.fabric).difference(&there).cloned().collect();
    gone.extend(whole.missing.iter().cloned());
    let empty = BTreeSet::new();
    let Changes { lost, restored, new } = Changes::between(
        before.map_or(&empty, |before| &before.gone),
        before.map(|before| &before.cables),
        &gone,
        &there,
    );
    Rerouted {
        lost,
        restored,
        new,
        is_first: before.is_none(),
        text: lft::write_both(&left, &table, &to_switches, &whole.found.identity),
        unplugged: unplugged(&left).into_iter().filter(is_lost).collect(),
        unreached: proof.missed() + pairs(&whole.found.fabric) - pairs(&left),
        cables_lost: gone.len() as u64,
        gone,
        changed_entries: changed,
        topology: whole.topology.clone(),
        new_addresses: 0,
        is_readdressed: false,
        left,
        table,
        to_switches,
        proof,
        agents,
    }
}

/// Entries that are not those of the tables before, if those are for the same parts; else those
/// that are not the whole fabric's.
fn changed_entries(
    whole: &Whole,
    table: &Table,
    to_switches: &Table,
    before: Option<&Before>,
) -> u64 {
    let is_alike = |one: &Table, other: &Table| {
        let columns = |table: &Table| (table.switches() > 0).then(|| table.row_of(0).len());
        one.switches() == other.switches() && columns(one) == columns(other)
    };
    let before = before.map(|before| (&before.table, &before.to_switches));
    let before = before
        .filter(|(hosts, switches)| is_alike(hosts, table) && is_alike(switches, to_switches));
    let detours = if before.is_some() { 0 } else { whole.detours };
    let (hosts, switches) = before.unwrap_or((&whole.paths, &whole.to_switches));
    differing(table, hosts) + differing(to_switches, switches) + detours
}
