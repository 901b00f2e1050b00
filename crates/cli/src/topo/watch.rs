//! `laneway topo watch`: sees a cut that OpenSM's file engine does not react to, routes around it
//! and has the tables loaded.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_topo::engines::balanced;
use laneway_topo::formats::{self, Discovered, MOST_BYTES, lft};
use laneway_topo::map::Map;
use laneway_topo::{Fabric, Table, Wiring, prove, recognise, reroute};

use super::machine::discovered;
use crate::output::{self, Output};

/// A command that takes longer is stopped.
const LONGEST: Duration = Duration::from_secs(120);

pub fn command() -> Command {
    Command::new("watch")
        .about("Re-routes when the fabric changes, and has OpenSM load the new tables")
        .after_help(
            "The fabric is discovered again and again. Where cables are gone, the tables keep \
             every entry that still works and lead around the rest; where parts are new, the \
             fabric is routed anew, with its topology's own forwarding if it is one. OpenSM runs \
             with -R file -U FILE and reads FILE again when it is told to.\n\nExamples:\n  \
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
        .arg(
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("FILE")
                .required(true)
                .help("Where to write the tables"),
        )
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

/// The fabric as it was, and its forwarding.
struct Whole {
    found: Discovered,
    table: Table,
    topology: Option<String>,
}

impl Whole {
    fn new(mut found: Discovered) -> Result<Whole, Failure> {
        found.identity.pin(found.identity.lmc).map_err(|cause| {
            let try_this = "one subnet for each part of it";
            Failure::usage("this fabric does not fit into a subnet", cause, try_this)
        })?;
        let recognised = recognise(&found.fabric);
        let table = match &recognised {
            Some(recognised) => recognised.native(&found.fabric),
            None => balanced::route(&found.fabric),
        };
        let topology = recognised.map(|recognised| recognised.plan.spec());
        Ok(Whole { found, table, topology })
    }

    /// What is left of it, by GUIDs; none where something is new.
    fn left(&self, now: &Discovered) -> Option<Fabric> {
        let guids = |found: &Discovered| {
            let all = |ids: &[formats::Id]| ids.iter().map(|id| id.guid).collect::<Vec<u64>>();
            (all(&found.identity.switches), all(&found.identity.hosts))
        };
        let map = Map::by_keys(&now.fabric, guids(now), &self.found.fabric, guids(&self.found));
        let known = !map.has_extra(&now.fabric, &self.found.fabric);
        known.then(|| map.left(&now.fabric, &self.found.fabric))
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let output = Output::from(matches)?;
    let once = matches.get_flag("once");
    let every = Duration::from_secs(matches.get_one::<u64>("every").copied().unwrap_or(10));
    let file = text("output").unwrap_or_default();
    let mut whole = text("whole").map(discovered).transpose()?.map(Whole::new).transpose()?;
    let mut last: Option<Fabric> = None;
    loop {
        match discover(text("discover").unwrap_or_default()) {
            Err(failure) if once => return Err(failure),
            Err(failure) => output::note(&failure.to_string()),
            Ok(now) => {
                let left = whole.as_ref().and_then(|whole| whole.left(&now));
                let (known, left) = match (whole.take(), left) {
                    (Some(known), Some(left)) => (known, left),
                    _ => {
                        let new = Whole::new(now)?;
                        let fabric = new.found.fabric.clone();
                        (new, fabric)
                    }
                };
                if last.as_ref() != Some(&left) {
                    act(&known, &left, file, text("reload"), &output)?;
                    last = Some(left);
                }
                whole = Some(known);
            }
        }
        if once {
            return Ok(Exit::Done);
        }
        std::thread::sleep(every);
    }
}

fn discover(command: &str) -> Result<Discovered, Failure> {
    let text = ask(command)?;
    formats::read(&text).map_err(|error| {
        let what = format!("`{command}` printed no fabric");
        Failure::environment(what, error.to_string(), "--discover ibnetdiscover")
    })
}

/// Routes what is left, writes the tables, and has them loaded.
fn act(
    whole: &Whole,
    left: &Fabric,
    file: &str,
    reload: Option<&str>,
    output: &Output,
) -> Result<(), Failure> {
    let table = match *left == whole.found.fabric {
        true => whole.table.clone(),
        false => reroute(&whole.found.fabric, &whole.table, left),
    };
    let proof = prove(left, &table);
    let written = lft::write(left, &table, &whole.found.identity);
    output::replace(std::path::Path::new(file), &written)?;
    if let Some(command) = reload {
        ask(command)?;
    }
    let changed = (0..table.switches()).map(|switch| {
        let pairs = table.row_of(switch).iter().zip(whole.table.row_of(switch));
        pairs.filter(|(now, before)| now != before).count() as u64
    });
    let lost = cables(&whole.found.fabric) - cables(left);
    let row = Row::new()
        .with("file", file)
        .with("topology", whole.topology.clone())
        .with("cables_lost", lost)
        .with("changed_entries", changed.sum::<u64>())
        .with("unreached", proof.unreached.len() as u64)
        .with("credit_circle", !proof.circle.is_empty())
        .with("reloaded", reload.is_some());
    let params = Row::new().with("file", file);
    let document =
        Document { verb: "topo", env: Row::new(), params, rows: vec![row], summary: None };
    output.write(&document, None)
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
    let failed = |cause: String| {
        let what = format!("`{command}` failed");
        Failure::environment(what, cause, "run it in a shell and see")
    };
    let mut shell = Process::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut child = shell.spawn().map_err(|error| failed(error.to_string()))?;
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.map(|pipe| pipe.take(MOST_BYTES).read_to_end(&mut bytes));
        bytes
    });
    let deadline = Instant::now() + LONGEST;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => {
                stop(&mut child);
                return Err(failed(format!("it takes more than {} s", LONGEST.as_secs())));
            }
        }
    };
    // The thread only reads, and ends with the pipe.
    let bytes = reader.join().unwrap_or_default();
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ends a command and whatever it has started.
fn stop(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // SAFETY: kill only sends a signal, to the group that this process made for its child.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.wait();
}
