//! A fabric by its name or from its file, whole or damaged, with its forwarding.

pub mod differ;
mod forwarding;
pub mod map;
pub mod recognise;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use laneway_core::{Observer, Phases};
use laneway_stats::SplitMix64;

use crate::error::{Error, ErrorKind};
use crate::files::formats::{self, Discovered, Identity, file_name};
use crate::machine::differ::Difference;
use crate::machine::recognise::{Recognised, recognise};
use crate::routing::Routing;
use crate::routing::engines::several::several_observed;
use crate::routing::table::Table;
use crate::topologies::mlfm::{self, FullMesh};
use crate::topologies::{KINDS, Topology, topology};
use crate::traffic::conflicts::Counter;
use crate::traffic::order::{Renamed, Shift};
use crate::traffic::repair::{Loss, lost};
use crate::wiring::fabric::{Fabric, Part};
use crate::wiring::failures;
use crate::wiring::{Host, Wiring};

/// Bytes that a forwarding table may take.
const MOST_TABLE: u64 = 1 << 30;

/// Hosts up to which detours are spread and schedules repaired interactively; above, the
/// detours are those that change least.
pub const MOST_SPREAD: u32 = 16_384;

/// A fabric as it was planned or found.
enum Plan {
    Formula(Box<dyn Topology>),
    /// With the plan that it follows, if it is one that we know.
    File {
        found: Discovered,
        plan: Option<Box<Recognised>>,
        /// Its own forwarding, made when something asks for it.
        table: OnceLock<Table>,
    },
}

/// A fabric with its forwarding.
///
/// ```
/// use laneway_topo::{Machine, check};
///
/// let machine = Machine::named("mlfm:d=4")?.fail(&["link:vertex-0-0/5"], 1)?.route(None)?;
/// assert!(check(&machine).holds());
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub struct Machine {
    /// The name or file by which it was requested.
    pub spec: String,
    plan: Plan,
    /// What is left of it, where something failed; and what failed.
    damaged: Option<Fabric>,
    failed: Vec<Part>,
    /// What was named and had failed before, in words.
    already_out: Vec<String>,
    /// Another forwarding than its own, or its own with detours.
    table: Option<Table>,
    /// The ways to switches that came with a table from a file.
    to_switches: Option<Table>,
    /// With the addresses of [`Machine::address`], where they are given.
    addressed: Option<Identity>,
    observer: Arc<dyn Observer>,
}

/// Reads a fabric from a file, in any format that is known.
pub fn discovered(file: &Path) -> Result<Discovered, Error> {
    let read = formats::load(file).and_then(|text| formats::read(&text));
    read.map_err(|error| Error::of_file("fabric", file, &error))
}

/// The file that a fabric is to be read from, unless a word names a topology: `file:FABRIC`, a file
/// that exists, or any word with a dot or a slash.
pub fn fabric_file(word: &str) -> Option<&Path> {
    let kind = word.split(':').next().unwrap_or(word);
    let is_topology = KINDS.iter().any(|known| known.name == kind);
    let path = Path::new(word);
    match word.strip_prefix("file:") {
        Some(_) => Some(file_name(path)),
        None => (!is_topology && (word.contains(['/', '.']) || path.is_file())).then_some(path),
    }
}

impl Machine {
    /// A fabric by formula (`mlfm:d=8`) or from a file (see [`fabric_file`]): whole, and with its
    /// own forwarding.
    pub fn named(spec: &str) -> Result<Machine, Error> {
        Machine::observed(spec, Arc::new(()))
    }

    /// The same; all work on it reports its progress to the observer. A fabric from a file is
    /// routed when its forwarding is first needed.
    pub fn observed(spec: &str, observer: Arc<dyn Observer>) -> Result<Machine, Error> {
        let plan = match fabric_file(spec) {
            Some(file) => {
                let found = discovered(file)?;
                ensure_sensible(spec, &found.fabric)?;
                let plan = recognise(&found.fabric).map(Box::new);
                Plan::File { found, plan, table: OnceLock::new() }
            }
            None => Plan::Formula(topology(spec)?),
        };
        Ok(Machine {
            spec: spec.to_string(),
            plan,
            damaged: None,
            failed: Vec::new(),
            already_out: Vec::new(),
            table: None,
            to_switches: None,
            addressed: None,
            observer,
        })
    }

    /// How many hosts there are, with a cable or without.
    pub fn hosts(&self) -> u32 {
        self.wiring().hosts()
    }

    /// How many switches there are.
    pub fn switches(&self) -> u32 {
        self.wiring().switches()
    }

    /// The observer of long work on it.
    pub fn observer(&self) -> &dyn Observer {
        &*self.observer
    }

    /// Takes out parts, named or drawn (see [`failures::part`]); a cable that is out already is
    /// only noted. The forwarding leads into what has failed until [`Machine::route`].
    pub fn fail<W: AsRef<str>>(mut self, words: &[W], seed: u64) -> Result<Machine, Error> {
        if words.is_empty() {
            return Ok(self);
        }
        let mut fabric = Fabric::of(self.wiring());
        let mut draws = SplitMix64::new(seed);
        for word in words {
            let part = failures::part(self.whole(), &fabric, word.as_ref(), &mut draws)?;
            match failures::already_out(self.whole(), &fabric, &self.failed, part) {
                Some(why) => self.already_out.push(why),
                None => {
                    fabric.fail(part);
                    self.failed.push(part);
                }
            }
        }
        self.damaged = Some(fabric);
        Ok(self)
    }

    /// Takes the addresses of OpenSM's guid2lid file.
    pub fn address(mut self, file: &Path) -> Result<Machine, Error> {
        let mut identity = self.identity().into_owned();
        let read =
            formats::load(file).and_then(|text| formats::guid2lid::read(&text, &mut identity));
        read.map_err(|error| Error::of_file("addresses", file, &error))?;
        if !identity.is_pinned() {
            let what =
                format!("`{}` does not give every part an address of its own", file.display());
            let cause = "a GUID of the fabric is missing, or an address is used twice";
            return Err(Error::new(ErrorKind::Addresses, what, cause));
        }
        self.addressed = Some(identity);
        Ok(self)
    }

    /// The formula that it was planned by, if it was.
    pub fn topology(&self) -> Option<&dyn Topology> {
        match &self.plan {
            Plan::Formula(topology) => Some(&**topology),
            Plan::File { .. } => None,
        }
    }

    /// The whole fabric, as planned or found.
    pub fn whole(&self) -> &dyn Wiring {
        match &self.plan {
            Plan::Formula(topology) => &**topology,
            Plan::File { found, .. } => &found.fabric,
        }
    }

    /// The fabric without the failed parts.
    pub fn wiring(&self) -> &dyn Wiring {
        self.damaged.as_ref().map_or(self.whole(), |fabric| fabric)
    }

    /// Whether it has failed parts.
    pub fn is_damaged(&self) -> bool {
        self.damaged.is_some()
    }

    /// The failed parts, in their order.
    pub fn failed(&self) -> &[Part] {
        &self.failed
    }

    /// What was named to be taken out and was out already, in words.
    pub fn already_out(&self) -> &[String] {
        &self.already_out
    }

    /// The loss by the failed parts, if any.
    pub fn loss(&self) -> Option<Loss> {
        self.damaged.as_ref().map(|left| lost(self.whole(), left))
    }

    /// Hosts without a cable.
    pub fn unplugged(&self) -> Vec<Host> {
        unplugged(self.wiring())
    }

    /// Hosts that have lost their cable; those that never had one are not among them.
    pub fn cut_off(&self) -> Vec<Host> {
        let had = |host: &Host| self.whole().attached(*host).is_some();
        self.unplugged().into_iter().filter(had).collect()
    }

    /// How many hosts never had a cable.
    pub(crate) fn never_plugged(&self) -> u64 {
        unplugged(self.whole()).len() as u64
    }

    /// Ordered pairs of hosts of which one or both have lost their cable; of hosts that never had
    /// one nothing is asked.
    pub fn pairs_cut_off(&self) -> u64 {
        let pairs = |wiring: &dyn Wiring| {
            let plugged = u64::from(wiring.hosts()) - unplugged(wiring).len() as u64;
            plugged * plugged.saturating_sub(1)
        };
        match &self.damaged {
            Some(left) => pairs(self.whole()) - pairs(left),
            None => 0,
        }
    }

    /// How a found fabric differs from the plan that it follows; nothing where it follows none.
    pub fn differences(&self) -> &[Difference] {
        match &self.plan {
            Plan::File { plan: Some(plan), .. } => &plan.differences,
            Plan::File { .. } | Plan::Formula(_) => &[],
        }
    }

    /// The plan that a found fabric follows.
    pub fn recognised(&self) -> Option<&Recognised> {
        match &self.plan {
            Plan::File { plan, .. } => plan.as_deref(),
            Plan::Formula(_) => None,
        }
    }

    /// The plan of a found fabric all of whose hosts are in it.
    fn followed(&self) -> Option<&Recognised> {
        // A host that the plan lacks would never send.
        self.recognised().filter(|plan| plan.map.hosts.iter().all(Option::is_some))
    }

    /// Whether it was found with other cables than its plan has.
    pub fn differs(&self) -> bool {
        self.followed().is_some_and(|plan| !plan.differences.is_empty())
    }

    /// The order of an all-to-all that suits the plan.
    pub fn order(&self) -> Box<dyn Phases + Send + Sync> {
        match &self.plan {
            Plan::Formula(topology) => topology.order(),
            Plan::File { found, .. } => match self.followed() {
                Some(plan) => Box::new(Renamed::new(plan.plan.order(), &plan.map.hosts)),
                None => Box::new(Shift::new(found.fabric.hosts())),
            },
        }
    }

    /// The full mesh that it was planned as.
    pub fn planned_mesh(&self) -> Option<FullMesh> {
        let mesh = self.topology().filter(|topology| topology.kind().name == mlfm::KIND.name);
        mesh.map(|topology| FullMesh::new(topology.d()))
    }

    /// The full mesh that it is, whole and with its own forwarding.
    pub fn mesh(&self) -> Option<FullMesh> {
        self.planned_mesh().filter(|_| self.table.is_none() && self.damaged.is_none())
    }

    /// What its parts are called in tables: as [`Machine::address`] or the file says that it came
    /// from, else as planned.
    pub fn identity(&self) -> Cow<'_, Identity> {
        match (&self.addressed, &self.plan) {
            (Some(identity), _) => Cow::Borrowed(identity),
            (None, Plan::File { found, .. }) => Cow::Borrowed(&found.identity),
            (None, Plan::Formula(topology)) => Cow::Owned(Identity::planned(&**topology)),
        }
    }

    /// Whether its addresses are those of [`Machine::address`].
    pub fn is_addressed(&self) -> bool {
        self.addressed.is_some()
    }

    /// Whether a forwarding table of it fits into memory.
    pub fn has_table(&self) -> bool {
        ensure_table(&self.spec, self.whole()).is_ok()
    }

    /// Counts conflicts on it.
    pub fn counter(&self) -> Result<Counter, Error> {
        let counter = Counter::observed(self.wiring(), self.routing(), self.observer());
        counter.map_err(|cause| {
            let what = format!("{} is too large to count every message", self.spec);
            Error::new(ErrorKind::TooLarge, what, cause).with_hint("a smaller fabric")
        })
    }

    /// A table of several paths to each host, the first of which is the forwarding that it has.
    pub fn paths(&self, count: u32) -> Table {
        let own = match &self.plan {
            _ if self.table.is_some() || self.is_damaged() => None,
            Plan::Formula(topology) => topology.paths(count),
            Plan::File { found, plan, .. } => {
                plan.as_ref().and_then(|plan| plan.paths(&found.fabric, count))
            }
        };
        let native = Some(self.routing());
        own.unwrap_or_else(|| several_observed(self.wiring(), native, count, self.observer()))
    }

    /// The forwarding that it has.
    pub fn routing(&self) -> &dyn Routing {
        self.table.as_ref().map_or(self.native(), |table| table)
    }
}

/// Hosts without a cable.
pub fn unplugged(wiring: &dyn Wiring) -> Vec<Host> {
    (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_none()).collect()
}

/// Refuses a fabric that nothing can be asked of, and one that is too large to route.
fn ensure_sensible(spec: &str, wiring: &dyn Wiring) -> Result<(), Error> {
    if wiring.hosts() == 0 || wiring.switches() == 0 {
        let cause = format!("{} hosts and {} switches", wiring.hosts(), wiring.switches());
        return Err(Error::new(ErrorKind::Empty, format!("`{spec}` is not a fabric"), cause));
    }
    ensure_table(spec, wiring)
}

fn ensure_table(spec: &str, wiring: &dyn Wiring) -> Result<(), Error> {
    if u64::from(wiring.switches()) * u64::from(wiring.hosts()) <= MOST_TABLE {
        return Ok(());
    }
    let what = format!("`{spec}` is too large for a forwarding table");
    let cause = format!("it would take more than {} GiB", MOST_TABLE >> 30);
    Err(Error::new(ErrorKind::TooLarge, what, cause))
}
