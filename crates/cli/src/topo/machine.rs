//! The fabric that a verb is about: its cables, what has failed, and its forwarding.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches};
use laneway_core::{Failure, Phases};
use laneway_stats::SplitMix64;
use laneway_topo::differ::Difference;
use laneway_topo::engines::{engine, several};
use laneway_topo::formats::{self, Discovered, Identity, ReadError};
use laneway_topo::order::{Renamed, Shift};
use laneway_topo::repair;
use laneway_topo::topologies::mlfm::{self, FullMesh};
use laneway_topo::wiring::NO_PORT;
use laneway_topo::{
    Counter, Fabric, Recognised, Repaired, Routing, Table, Topology, Wiring, recognise, reroute,
    topology,
};

use super::{diff, fail};
use crate::output;

/// The engine for fabrics that have no forwarding of their own.
const BEST: &str = "balanced";

/// Paths to each port or host; the verb says what for.
pub fn paths_arg() -> Arg {
    let most = ["1", "2", "4", "8", "16", "32", "64", "128"];
    Arg::new("paths").long("paths").value_name("N").value_parser(most)
}

/// The arguments of every verb that takes one fabric.
pub fn args() -> [Arg; 5] {
    [
        Arg::new("topology")
            .long("topology")
            .short('t')
            .env("LANEWAY_TOPOLOGY")
            .value_name("T")
            .required(true)
            .help("mlfm:d=8, fat-tree-3:d=8, … (laneway info topologies), or file:FABRIC"),
        Arg::new("routing")
            .long("routing")
            .value_name("R")
            .help("A forwarding table, or an engine: native, … (laneway info engines)"),
        Arg::new("lids").long("lids").value_name("GUID2LID").help(
            "The addresses of OpenSM's guid2lid file: keep them, and read tables by them \
             [default: those of the fabric's own file, or in order]",
        ),
        Arg::new("fail").long("fail").value_name("PART").action(ArgAction::Append).help(
            "Take out link:SWITCH/PORT, switch:NAME or host:NAME; `link` or `switch` alone is \
             drawn from --fail-seed",
        ),
        Arg::new("fail-seed")
            .long("fail-seed")
            .value_name("S")
            .value_parser(clap::value_parser!(u64))
            .default_value("1")
            .help("Of what --fail draws"),
    ]
}

/// The seed of a verb that draws something.
pub fn seed_arg(of: &'static str) -> Arg {
    let seed = Arg::new("seed").long("seed").value_name("S").default_value("1").help(of);
    seed.value_parser(clap::value_parser!(u64))
}

/// Bytes that a forwarding table may take.
const MOST_TABLE: u64 = 1 << 30;

/// Hosts up to which detours are spread and schedules repaired while somebody waits; above, the
/// detours are those that change least.
const MOST_SPREAD: u32 = 16_384;

/// Differences from its plan that are told of a found fabric.
const MOST_NAMED: usize = 8;

/// A fabric as it was planned or found.
enum Plan {
    Formula(Box<dyn Topology>),
    /// With the plan that it follows, if it is one that we know.
    File {
        found: Discovered,
        plan: Option<Box<Recognised>>,
        table: Table,
    },
}

/// A fabric with its forwarding.
pub struct Machine {
    pub spec: String,
    plan: Plan,
    /// What is left of it, where something failed.
    damaged: Option<Fabric>,
    /// Another forwarding than its own, or its own with detours.
    table: Option<Table>,
    /// The ways to switches that came with a table from a file.
    to_switches: Option<Table>,
    /// With the addresses of --lids, where they are given.
    addressed: Option<Identity>,
}

impl Machine {
    pub fn from(matches: &ArgMatches) -> Result<Machine, Failure> {
        let mut machine = Machine::unrouted(matches)?;
        machine.tell_differences();
        if let Some(file) = matches.get_one::<String>("lids") {
            machine.addressed = Some(machine.pinned_by(file)?);
        }
        machine.route(matches.get_one::<String>("routing").map(String::as_str))?;
        Ok(machine)
    }

    /// For verbs that ask about cables alone: its forwarding leads into what has failed.
    pub fn unrouted(matches: &ArgMatches) -> Result<Machine, Failure> {
        let spec = matches.get_one::<String>("topology").map_or("", String::as_str);
        let mut machine = Machine::named(spec)?;
        let seed = matches.get_one::<u64>("fail-seed").copied().unwrap_or(1);
        let parts: Vec<&String> = matches.get_many("fail").unwrap_or_default().collect();
        machine.fail(&parts, seed)?;
        Ok(machine)
    }

    /// Whole, and with its own forwarding.
    pub fn named(spec: &str) -> Result<Machine, Failure> {
        let plan = match spec.strip_prefix("file:") {
            Some(file) => {
                let found = discovered(file)?;
                ensure_sensible(spec, &found.fabric)?;
                let plan = recognise(&found.fabric).map(Box::new);
                let table = match &plan {
                    Some(plan) => plan.native(&found.fabric),
                    None => (engine(BEST)?.route)(&found.fabric),
                };
                Plan::File { found, plan, table }
            }
            None => Plan::Formula(topology(spec)?),
        };
        let spec = spec.to_string();
        Ok(Machine { spec, plan, damaged: None, table: None, to_switches: None, addressed: None })
    }

    /// The formula that it was planned by, if it was.
    pub fn topology(&self) -> Option<&dyn Topology> {
        match &self.plan {
            Plan::Formula(topology) => Some(&**topology),
            Plan::File { .. } => None,
        }
    }

    /// What it was recognised to be, where it was found in a file.
    pub fn recognised(&self) -> Option<&Recognised> {
        match &self.plan {
            Plan::File { plan, .. } => plan.as_deref(),
            Plan::Formula(_) => None,
        }
    }

    /// As it was planned.
    pub fn whole(&self) -> &dyn Wiring {
        match &self.plan {
            Plan::Formula(topology) => &**topology,
            Plan::File { found, .. } => &found.fabric,
        }
    }

    /// What is left of it.
    pub fn wiring(&self) -> &dyn Wiring {
        self.damaged.as_ref().map_or(self.whole(), |fabric| fabric)
    }

    pub fn is_damaged(&self) -> bool {
        self.damaged.is_some()
    }

    pub fn routing(&self) -> &dyn Routing {
        self.table.as_ref().map_or(self.native(), |table| table)
    }

    /// The forwarding of the whole.
    fn native(&self) -> &dyn Routing {
        match &self.plan {
            Plan::Formula(topology) => &**topology,
            Plan::File { table, .. } => table,
        }
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

    /// The orders that a report shows where none is named.
    pub fn usual_orders(&self) -> Vec<&'static str> {
        match self.is_damaged() || self.differs() {
            false => vec!["native"],
            true if self.whole().hosts() <= MOST_SPREAD => vec!["native", "repaired"],
            true => {
                output::note(&format!("no repaired schedule above {MOST_SPREAD} nodes"));
                vec!["native"]
            }
        }
    }

    /// The order after a failure: as few phases as will take every message without conflict.
    pub fn repaired(&self) -> Result<Repaired, Failure> {
        let refused = |cause: String| {
            let what = "no schedule to repair";
            Failure::usage(what, cause, "--fail link, or --schedule native")
        };
        if !self.is_damaged() && !self.differs() {
            return Err(refused("nothing has failed".into()));
        }
        let (left, order) = (self.wiring(), self.order());
        if left.hosts() > MOST_SPREAD {
            return Err(refused(format!("more than {MOST_SPREAD} nodes take too long")));
        }
        let allowed = self.allowed_conflicts(&*order);
        let repaired = allowed
            .and_then(|allowed| repair::repair_over(&*order, &allowed, left, &self.table()))
            .map_err(refused)?;
        output::note(&format!(
            "repaired: the time of {} phases, and no order over these tables takes less than {}; \
             {} pairs cannot be reached, {} could be but not over these tables",
            repaired.time,
            repaired.bound,
            repaired.unreached.len(),
            repaired.lost.len()
        ));
        Ok(repaired)
    }

    /// The largest conflict of each phase while everything was there.
    fn allowed_conflicts(&self, order: &(dyn Phases + Sync)) -> Result<Vec<u32>, String> {
        let conflicts =
            |wiring: &dyn Wiring, routing: &dyn Routing, order: &(dyn Phases + Sync)| {
                let counter = Counter::new(wiring, routing)?;
                Ok(repair::allowed_conflicts(&counter, order, wiring.hosts()))
            };
        match self.followed() {
            // Its phases are those of the plan, by other numbers.
            Some(plan) => conflicts(&*plan.plan, &*plan.plan, &*plan.plan.order()),
            None => conflicts(self.whole(), self.native(), order),
        }
    }

    /// The plan of a found fabric all of whose hosts are in it.
    fn followed(&self) -> Option<&Recognised> {
        match &self.plan {
            // A host that the plan lacks would never send.
            Plan::File { plan: Some(plan), .. } if plan.map.hosts.iter().all(Option::is_some) => {
                Some(plan)
            }
            Plan::File { .. } | Plan::Formula(_) => None,
        }
    }

    /// Whether it was found with other cables than its plan has.
    fn differs(&self) -> bool {
        self.followed().is_some_and(|plan| !plan.differences.is_empty())
    }

    /// Tells how a found fabric differs from its plan.
    fn tell_differences(&self) {
        let Plan::File { plan: Some(plan), .. } = &self.plan else { return };
        let many = plan.differences.len();
        for difference in plan.differences.iter().take(MOST_NAMED) {
            output::note(&format!("{}: {}", plan.plan.spec(), diff::told(difference)));
        }
        if many > MOST_NAMED {
            let more = many - MOST_NAMED;
            output::note(&format!("and {more} more: laneway topo diff names all"));
        }
    }

    /// Whether a forwarding table of it fits into memory.
    pub fn has_table(&self) -> bool {
        ensure_table(&self.spec, self.whole()).is_ok()
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

    /// A table of several paths to each host, the first of which is the forwarding that it has.
    pub fn paths(&self, count: u32) -> Table {
        let own = match &self.plan {
            _ if self.table.is_some() || self.is_damaged() => None,
            Plan::Formula(topology) => topology.paths(count),
            Plan::File { found, plan, .. } => {
                plan.as_ref().and_then(|plan| plan.paths(&found.fabric, count))
            }
        };
        own.unwrap_or_else(|| several(self.wiring(), Some(self.routing()), count))
    }

    /// A table for all switches, of whatever the forwarding is.
    pub fn table(&self) -> Table {
        match &self.table {
            Some(table) => table.clone(),
            None => Table::of(self.wiring(), self.routing()),
        }
    }

    /// The ways to its switches beside a table: those of the file that the table came from, if it
    /// tells some.
    pub fn to_switches(&self, table: &Table) -> Table {
        let own = self.to_switches.clone();
        own.unwrap_or_else(|| formats::lft::to_switches(self.wiring(), table))
    }

    /// What its parts are called in tables: as --lids or the file says that it came from, else as
    /// planned.
    pub fn identity(&self) -> Identity {
        match (&self.addressed, &self.plan) {
            (Some(identity), _) => identity.clone(),
            (None, Plan::File { found, .. }) => found.identity.clone(),
            (None, Plan::Formula(topology)) => Identity::planned(&**topology),
        }
    }

    /// Its parts with the addresses of OpenSM's guid2lid file.
    fn pinned_by(&self, file: &str) -> Result<Identity, Failure> {
        let mut identity = self.identity();
        let read = formats::load(Path::new(file))
            .and_then(|text| formats::guid2lid::read(&text, &mut identity));
        read.map_err(|error| unreadable("addresses", file, &error))?;
        if !identity.is_pinned() {
            let what = format!("`{file}` does not give every part an address of its own");
            let cause = "a GUID of the fabric is not in it, or an address is there twice";
            return Err(Failure::usage(what, cause, "leave --lids out"));
        }
        Ok(identity)
    }

    /// The forwarding tables of a file, to hosts and to switches.
    pub fn installed(&self, file: &str) -> Result<(Table, Table), Failure> {
        let read = formats::load(Path::new(file))
            .and_then(|text| formats::lft::read_both(&text, self.whole(), &self.identity()));
        read.map_err(|error| unreadable("forwarding table", file, &error))
    }

    fn fail(&mut self, words: &[&String], seed: u64) -> Result<(), Failure> {
        if words.is_empty() {
            return Ok(());
        }
        let mut fabric = Fabric::of(self.whole());
        let mut draws = SplitMix64::new(seed);
        for word in words {
            let part = fail::part(&fabric, word, &mut draws)?;
            output::note(&format!("failed: {}", fail::told(&fabric, part)));
            fabric.fail(part);
        }
        let loss = laneway_topo::lost(self.whole(), &fabric);
        let narrowest = loss.narrowest.map_or(String::new(), |(switch, share)| {
            let name = fabric.switch_name(switch);
            format!("; {name} keeps {:.1} % of its cables up", 100.0 * share)
        });
        output::note(&format!(
            "lost: {} of {} cables between switches, {} hosts, {} pairs of hosts{narrowest}",
            loss.cables_gone,
            loss.cables,
            loss.hosts_cut_off.len(),
            loss.pairs_apart
        ));
        self.damaged = Some(fabric);
        Ok(())
    }

    /// The forwarding: a word's, or the topology's own with detours around what has failed.
    fn route(&mut self, word: Option<&str>) -> Result<(), Failure> {
        if self.damaged.is_some() || word.is_some_and(|word| word != "native") {
            ensure_table(&self.spec, self.whole())?;
        }
        let (whole, native) = (self.whole(), self.native());
        let mut to_switches = None;
        self.table = match (word, &self.damaged) {
            (None, None) => self.spread_over_plan(),
            (Some("native"), None) => None,
            (None, Some(left)) => Some(match whole.hosts() <= MOST_SPREAD {
                true => repair::spread(whole, native, left),
                false => reroute(whole, native, left),
            }),
            // Told to keep it: what it sends into the failed part is lost.
            (Some("native"), Some(_)) => Some(Table::of(whole, native)),
            (Some(word), _) => Some(match engine(word) {
                Ok(engine) => (engine.route)(self.wiring()),
                Err(unknown) if !Path::new(word).exists() => return Err(unknown),
                Err(_) => {
                    let (table, ways) = self.installed(word)?;
                    let tells = |at: u32| ways.row_of(at).iter().any(|&port| port != NO_PORT);
                    to_switches = (0..ways.switches()).any(tells).then_some(ways);
                    table
                }
            }),
        };
        self.to_switches = to_switches;
        Ok(())
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
        let table = repair::spread(&*plan.plan, &*plan.plan, &left);
        Some(plan.map.table(&found.fabric, &table))
    }
}

/// Refuses a fabric that nothing can be asked of, and one that is too large to route.
fn ensure_sensible(spec: &str, wiring: &dyn Wiring) -> Result<(), Failure> {
    if wiring.hosts() == 0 || wiring.switches() == 0 {
        let cause = format!("{} hosts and {} switches", wiring.hosts(), wiring.switches());
        let what = format!("`{spec}` is no fabric");
        return Err(Failure::usage(what, cause, "a file with hosts, switches and cables"));
    }
    ensure_table(spec, wiring)
}

fn ensure_table(spec: &str, wiring: &dyn Wiring) -> Result<(), Failure> {
    if u64::from(wiring.switches()) * u64::from(wiring.hosts()) <= MOST_TABLE {
        return Ok(());
    }
    let what = format!("`{spec}` is too large for a forwarding table");
    let cause = format!("it would take more than {} GiB", MOST_TABLE >> 30);
    Err(Failure::usage(what, cause, "a topology by formula, with nothing failed"))
}

/// A fabric from a file, in any format that is known.
pub fn discovered(file: &str) -> Result<Discovered, Failure> {
    let read = formats::load(Path::new(file)).and_then(|text| formats::read(&text));
    read.map_err(|error| unreadable("fabric", file, &error))
}

pub fn unreadable(what: &str, file: &str, error: &ReadError) -> Failure {
    let try_this = "a file that `laneway topo export` writes, or ibnetdiscover";
    Failure::usage(format!("cannot read the {what} `{file}`"), error.to_string(), try_this)
}

/// Counts conflicts on the machine.
pub fn counter(machine: &Machine) -> Result<Counter, Failure> {
    Counter::new(machine.wiring(), machine.routing()).map_err(|cause| {
        let what = format!("{} is too large to count every message", machine.spec);
        Failure::usage(what, cause, "a smaller fabric; laneway topo alltoall samples large ones")
    })
}
