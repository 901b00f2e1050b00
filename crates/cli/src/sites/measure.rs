//! `laneway sites measure`: finds sites by their latencies, and measures what lies between them.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::parse_size;
use laneway_core::{Comm, Document};
use laneway_draw::Format;
use laneway_measure::Rule;
use laneway_measure::repeat::{Aim, LEAST_SAMPLES};
use laneway_measure::sites::{Asked, Found, measure_sites};
use laneway_sim::platform::Platform;
use laneway_sites::found::{Findings, brief_rows, limits, platform_text};

use crate::advice;
use crate::failure::{Exit, Failure};
use crate::measure::{export, memory, rule};
use crate::output::{self, Output};
use crate::placed::Placed;
use crate::progress::Bar;
use crate::session::{self, RankError};
use crate::watchdog::Watchdog;
use crate::words;

/// A few repetitions of each experiment: there are many, and a WAN is slow.
const USUAL: Rule = Rule {
    aim: Aim::Median { precision: 0.03, level: 0.95 },
    min_reps: LEAST_SAMPLES,
    max_reps: 30,
    budget: 1.0,
};

pub fn command() -> Command {
    Command::new("measure")
        .about("Finds sites by latency, measures rates inside and between them, writes a platform")
        .after_help(
            "One rank of each host measures. Hosts with low latency to each other form a site. \
             Inside a site each host sends to the next one, then to several and from several. \
             Between sites, P pairs of hosts send at once, for increasing P (`rate_each`, \
             `rate_together`, in bytes per second), where the limit is still unknown over more \
             connections; then each host sends to several and receives from several. A rate is \
             computed from the difference between a long and a short message, which excludes \
             latency and handshake. Below the rows: what limits the rates, how many lanes the \
             multi-lane paper's model chooses, on which \
             hosts, and in which order sites are served.\n\nExamples:\n  \
             mpirun -n 16 laneway sites measure -o found.toml\n  \
             laneway sites scatter,gather --platform found.toml --sizes 1M\n  \
             laneway lab run --sites 2x4 --wan 5ms,25Mbit -- mpirun laneway sites measure\n  \
             laneway sites measure --backend sim:two-sites:8x8,connection=250Mbit\n  \
             mpirun -n 16 laneway sites measure --sites sites.toml --message 4M --every",
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE.toml")
                .help("Write the result to this file, as a platform"),
        )
        .arg(
            Arg::new("sites").long("sites").value_name("P").help(
                "A platform that says which host is at which site [default: found by latency]",
            ),
        )
        .arg(Arg::new("message").long("message").value_name("M").help(
            "Bytes of the longest message [default: 40 ms of traffic between sites, 20 ms inside]",
        ))
        .arg(words::sizes_arg("Bytes of blocks for which a number of lanes is given", "64K,1M"))
        .arg(
            Arg::new("every").long("every").action(ArgAction::SetTrue).help(
                "Measure every number of pairs, not only 1, 2, 3, 4, 6, 8, 12, … and the last",
            ),
        )
        .arg(Arg::new("anyway").long("anyway").action(ArgAction::SetTrue).help(
            "Measure even where latencies do not show which hosts are a site, with likely sites",
        ))
        .args(rule::args(&USUAL))
        .args(session::args())
        .args(output::args())
}

/// What the command line asked for.
struct Wanted<'m> {
    matches: &'m ArgMatches,
    output: Output,
    message: Option<usize>,
    blocks: Vec<u64>,
    rule: Rule,
    strict: bool,
}

impl Wanted<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.matches.get_one::<String>(name).map(String::as_str)
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    if output.format == Format::Osu {
        let cause = "it has one figure for each size, and rates have a single size";
        let what = "sites cannot be printed in the format of OSU";
        return Err(Failure::usage(what, cause, "--format table or json"));
    }
    let message = matches.get_one::<String>("message").map(|text| match parse_size(text) {
        Ok(size) if size > 1 => Ok(size as usize),
        Ok(_) => Err("one byte is too short to measure a rate".to_string()),
        Err(cause) => Err(cause),
    });
    let message = message
        .transpose()
        .map_err(|cause| Failure::usage("invalid message size", cause, "--message 1M"))?;
    let blocks = words::sizes(matches.get_many("sizes").unwrap_or_default())?;
    let (rule, strict) = rule::rule(matches, &USUAL)?;
    let wanted = Wanted { matches, output, message, blocks, rule, strict };
    session::run(&session::measuring(matches)?, &|comm| {
        export::refuse(comm, wanted.text("output"))?;
        export::refuse(comm, wanted.text("export"))?;
        run_rank(comm, &wanted)
    })
}

/// What each rank does; rank 0 prints and saves.
fn run_rank(comm: &dyn Comm, wanted: &Wanted) -> Result<Exit, RankError> {
    if let Some(message) = wanted.message {
        let sharers = memory::sharers(comm)?.len() as u64;
        // Of each rank one, and as much under way.
        let need = (message as u64).saturating_mul(2).saturating_mul(sharers);
        memory::refuse(comm, memory::objection(need, message as u64), "--message 1M")?;
    }
    let placed = Placed::find(comm, wanted.text("sites")).map_err(advice::sites::place_error)?;
    let sites = placed.map(|placed| placed.sites());
    let (watchdog, bar) = (Watchdog::new(comm), Bar::measuring(comm.rank() == 0));
    let asked = Asked {
        sites: sites.as_deref(),
        message: wanted.message,
        every: wanted.matches.get_flag("every"),
        anyway: wanted.matches.get_flag("anyway"),
        rule: wanted.rule,
        alive: &|| watchdog.alive(),
        observer: &bar,
    };
    let found = measure_sites(comm, &asked).map_err(advice::sites::unmeasured)?;
    let environment = session::environment(comm);
    let reached = |found: &Found| {
        found.rows.iter().all(|row| row.rated.each.reached && row.rated.together.reached)
    };
    let exit = match found.is_measured() {
        true if !wanted.strict || reached(&found) => Exit::Done,
        _ => Exit::Precision,
    };
    if comm.rank() == 0 {
        finish(wanted, &found, environment)?;
    }
    Ok(exit)
}

/// Prints rows and sentences, and saves the platform.
fn finish(wanted: &Wanted, found: &Found, env: laneway_core::Row) -> Result<(), Failure> {
    let limits = limits(found);
    let findings = Findings { found, limits: &limits, blocks: &wanted.blocks, rule: &wanted.rule };
    let sentences = findings.sentences();
    let document = Document {
        verb: "sites-measure",
        env,
        params: findings.params(),
        rows: findings.rows(),
        summary: Some(findings.summary(&sentences)),
    };
    let brief = Document { rows: brief_rows(&document.rows), ..document.clone() };
    wanted.output.write_said(&document, Some(&brief), &sentences)?;
    let Some(file) = wanted.text("output") else { return Ok(()) };
    if !found.is_measured() {
        output::note(&format!("{file} is not written: not every figure was measured"));
        return Ok(());
    }
    let text = platform_text(found, &limits);
    // What is saved can be read.
    Platform::parse(file, &text).map_err(|error| advice::platform("", &error))?;
    output::replace(Path::new(file), &text)
}
