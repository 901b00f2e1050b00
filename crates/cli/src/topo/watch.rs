//! `laneway topo watch`: sees a cut that OpenSM's file engine does not react to, routes around it
//! and has the tables loaded.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::change::differing;
use laneway_topo::engines::{balanced, several};
use laneway_topo::formats::identity::is_planned;
use laneway_topo::formats::{self, Discovered, Id, Identity, MOST_BYTES, lft};
use laneway_topo::map::Map;
use laneway_topo::{Fabric, Table, Wiring, prove, prove_agents, recognise, reroute};

use super::machine::discovered;
use super::{agents, check, export};
use crate::output::{self, Output};

/// A command that takes longer is stopped.
const LONGEST: Duration = Duration::from_secs(120);

/// What a command has printed is waited for so long after its end: something that it has left
/// running may hold its output open.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Pairs without a way that are named.
const MOST_NAMED: usize = 20;

pub fn command() -> Command {
    Command::new("watch")
        .about("Re-routes when the fabric changes, and has OpenSM load the new tables")
        .after_help(
            "The fabric is discovered again and again. Where cables are gone, the tables keep \
             every entry that still works and lead around the rest; where parts are new, the \
             fabric is routed anew, with its topology's own forwarding if it is one. A change is \
             believed when two discoveries show it. OpenSM runs with -R file -U FILE and reads \
             FILE again when it is told to; tables with a circle of waiting links are written \
             and never loaded. Addresses are those that are discovered. Hosts that have lost \
             their cable are named, and their pairs are `unreached`. With --once, exit code 1 \
             where a pair has no way or a circle is left.\n\nExamples:\n  \
             laneway topo watch -o tables.lft --reload 'kill -HUP $(pidof opensm)'\n  \
             laneway topo watch --whole found.txt -o tables.lft --once",
        )
        .arg(
            Arg::new("whole")
                .long("whole")
                .value_name("FOUND")
                .help("The fabric when nothing was cut [default: what is discovered first]"),
        )
        .arg(
            Arg::new("discover")
                .long("discover")
                .value_name("COMMAND")
                .default_value("ibnetdiscover")
                .help("What prints the fabric"),
        )
        .arg(export::file_arg().required(true).help("Where to write the tables"))
        .arg(
            Arg::new("reload")
                .long("reload")
                .value_name("COMMAND")
                .help("What makes OpenSM read them again"),
        )
        .arg(
            Arg::new("every")
                .long("every")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64).range(1..=86_400))
                .default_value("10")
                .help("How long to wait between discoveries"),
        )
        .arg(Arg::new("once").long("once").action(ArgAction::SetTrue).help("Discover once and end"))
        .args(output::args())
}

/// A table with a path for each address of a host, the first of which it has already.
fn fanned(found: &Discovered, fabric: &Fabric, table: Table) -> Table {
    match found.identity.paths() {
        1 => table,
        paths => several(fabric, Some(&table), paths),
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
}

impl Whole {
    fn new(mut found: Discovered) -> Result<Whole, Failure> {
        let had = found.identity.hosts.iter().any(|id| id.lid != 0);
        let new = found.identity.pin(found.identity.lmc).map_err(|cause| {
            let try_this = "one subnet for each part of it";
            Failure::usage("this fabric does not fit into a subnet", cause, try_this)
        })?;
        if had && new > 0 {
            output::note(&format!("{new} hosts and switches have new addresses"));
        }
        let recognised = recognise(&found.fabric);
        let table = match &recognised {
            Some(recognised) => recognised.native(&found.fabric),
            None => balanced::route(&found.fabric),
        };
        let own = recognised.as_ref();
        let own = own.and_then(|own| own.paths(&found.fabric, found.identity.paths()));
        let paths = own.unwrap_or_else(|| fanned(&found, &found.fabric, table.clone()));
        let topology = recognised.map(|recognised| recognised.plan.spec());
        let to_switches = lft::to_switches(&found.fabric, &paths);
        Ok(Whole { found, table, paths, to_switches, topology })
    }

    /// The table of what is left of it: a path for each address of a host.
    fn table_of(&self, left: &Fabric) -> Table {
        match *left == self.found.fabric {
            true => self.paths.clone(),
            false => fanned(&self.found, left, reroute(&self.found.fabric, &self.table, left)),
        }
    }

    /// What is left of it, by GUIDs, and by names where those are planned; and its addresses, as
    /// they are now. None where something is new.
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

    /// Its addresses: those that are discovered, and for what is told none its own, if nobody else
    /// has it now.
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

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let once = matches.get_flag("once");
    let every = Duration::from_secs(matches.get_one::<u64>("every").copied().unwrap_or(10));
    let mut watch = Watch {
        file: text("output").unwrap_or_default(),
        reload: text("reload"),
        output: Output::from(matches)?,
        whole: text("whole").map(discovered).transpose()?.map(Whole::new).transpose()?,
        last: None,
    };
    let mut before = None;
    loop {
        let exit = discover(text("discover").unwrap_or_default()).and_then(|now| {
            // Half of a fabric may be seen while it changes or OpenSM sweeps.
            let is_certain = once || before.as_ref() == Some(&now);
            let exit = if is_certain { watch.see(&now) } else { Ok(Exit::Done) };
            before = Some(now);
            exit
        });
        match exit {
            exit if once => return exit,
            Ok(_) => {}
            // Whatever it is, a full disk or a command that fails, it may be over at the next look.
            Err(failure) => output::note(&failure.to_string()),
        }
        std::thread::sleep(every);
    }
}

/// What is watched, and what was done last.
struct Watch<'a> {
    file: &'a str,
    reload: Option<&'a str>,
    output: Output,
    whole: Option<Whole>,
    /// What the tables that are loaded lead over.
    last: Option<Fabric>,
}

impl Watch<'_> {
    /// Acts on a discovery, unless it shows what the last one did.
    fn see(&mut self, now: &Discovered) -> Result<Exit, Failure> {
        let known = self.whole.as_ref().and_then(|whole| whole.left(now));
        let left = match known {
            Some((left, identity)) => {
                self.address(identity)?;
                left
            }
            None => {
                self.whole = Some(Whole::new(now.clone())?);
                now.fabric.clone()
            }
        };
        let Some(whole) = self.whole.as_ref().filter(|_| self.last.as_ref() != Some(&left)) else {
            return Ok(Exit::Done);
        };
        let exit = act(whole, &left, self.file, self.reload, &self.output)?;
        self.last = Some(left);
        Ok(exit)
    }

    /// Takes other addresses than before.
    fn address(&mut self, identity: Identity) -> Result<(), Failure> {
        let Some(whole) = &self.whole else { return Ok(()) };
        let mut pinned = identity.clone();
        if pinned.pin(identity.lmc).is_ok() && pinned == whole.found.identity {
            return Ok(());
        }
        output::note("other addresses than before are discovered");
        let fabric = whole.found.fabric.clone();
        self.whole = Some(Whole::new(Discovered { fabric, identity })?);
        self.last = None;
        Ok(())
    }
}

fn discover(command: &str) -> Result<Discovered, Failure> {
    let text = ask(command)?;
    let refused = |cause: String| {
        let what = format!("`{command}` printed no fabric");
        Failure::environment(what, cause, "--discover ibnetdiscover")
    };
    let found = formats::read(&text).map_err(|error| refused(error.to_string()))?;
    // A discovery that was cut short must not empty the tables.
    match (found.fabric.switches(), found.fabric.hosts()) {
        (0, _) => Err(refused("it has no switches".to_string())),
        (_, 0) => Err(refused("it has no hosts".to_string())),
        _ => Ok(found),
    }
}

/// Routes what is left, writes the tables, and has them loaded.
fn act(
    whole: &Whole,
    left: &Fabric,
    file: &str,
    reload: Option<&str>,
    output: &Output,
) -> Result<Exit, Failure> {
    let table = whole.table_of(left);
    let proof = prove(left, &table);
    let to_switches = lft::to_switches(left, &table);
    let agents = prove_agents(left, &table, &to_switches);
    agents::tell(left, &agents);
    let written = lft::write_both(left, &table, &to_switches, &whole.found.identity);
    output::replace(std::path::Path::new(file), &written)?;
    for &(from, to, path) in proof.unreached.iter().take(MOST_NAMED) {
        let (from, to) = (left.host_name(from), left.host_name(to));
        let path = if table.paths() > 1 { format!(", path {path}") } else { String::new() };
        output::note(&format!("no way from {from} to {to}{path}"));
    }
    let is_lost = |&host: &u32| whole.found.fabric.attached(host).is_some();
    let gone: Vec<u32> = check::unplugged(left).into_iter().filter(is_lost).collect();
    check::tell_unplugged(left, &gone);
    let pairs = |fabric: &Fabric| {
        let plugged = u64::from(fabric.hosts()) - check::unplugged(fabric).len() as u64;
        plugged * plugged.saturating_sub(1) * u64::from(table.paths())
    };
    let unreached = proof.missed() + pairs(&whole.found.fabric) - pairs(left);
    // A circle of waiting links can stop the whole fabric; dead entries stop a few pairs.
    let reload = reload.filter(|_| proof.circle.is_empty());
    if let Some(command) = reload {
        perform(command, Stdio::null(), |_| {})?;
    }
    let changed = differing(&table, &whole.paths) + differing(&to_switches, &whole.to_switches);
    let lost = cables(&whole.found.fabric) - cables(left);
    let row = Row::new()
        .with("file", file)
        .with("topology", whole.topology.clone())
        .with("cables_lost", lost)
        .with("changed_entries", changed)
        .with("hosts_unplugged", gone.len() as u64)
        .with("unreached", unreached)
        .with("credit_circle", !proof.circle.is_empty())
        .with("reloaded", reload.is_some());
    let row = agents::with_agents(row, Some(&agents));
    let params = Row::new().with("file", file);
    let document =
        Document { verb: "topo", env: Row::new(), params, rows: vec![row], summary: None };
    output.write(&document, None)?;
    Ok(if proof.holds() && agents.reach_all() && gone.is_empty() { Exit::Done } else { Exit::Gate })
}

fn cables(fabric: &Fabric) -> u64 {
    let used = |switch: u32| {
        let ends = (0..fabric.ports(switch) as u8).map(move |port| fabric.end(switch, port));
        ends.map(|end| match end {
            laneway_topo::End::Nothing => 0,
            laneway_topo::End::Host(_) => 2,
            laneway_topo::End::Switch(..) => 1,
        })
    };
    (0..fabric.switches()).flat_map(used).sum::<u64>() / 2
}

/// What a command of the user prints. Neither its length nor its time is trusted.
fn ask(command: &str) -> Result<String, Failure> {
    let (told, said) = mpsc::channel();
    perform(command, Stdio::piped(), |pipe| {
        // It only reads. Where something holds the pipe open it is left behind, and ends with it.
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.take(MOST_BYTES).read_to_end(&mut bytes);
            let _ = told.send(bytes);
        });
    })?;
    let bytes = said.recv_timeout(LAST_WORDS).map_err(|_| {
        let cause = "it has ended, and something that it started still holds its output";
        failed(command, cause.to_string())
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn failed(command: &str, cause: String) -> Failure {
    Failure::environment(format!("`{command}` failed"), cause, "run it in a shell and see")
}

/// Runs a command to its end, or to the end of our patience.
fn perform(command: &str, stdout: Stdio, listen: impl FnOnce(ChildStdout)) -> Result<(), Failure> {
    let mut shell = Process::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(stdout).process_group(0);
    let mut child = shell.spawn().map_err(|error| failed(command, error.to_string()))?;
    if let Some(pipe) = child.stdout.take() {
        listen(pipe);
    }
    let deadline = Instant::now() + LONGEST;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(command, status.to_string())),
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => {
                stop(&mut child);
                let cause = format!("it takes more than {} s", LONGEST.as_secs());
                return Err(failed(command, cause));
            }
        }
    }
}

/// Ends a command and whatever it has started.
fn stop(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // SAFETY: kill only sends a signal, to the group that this process made for its child.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.wait();
}
