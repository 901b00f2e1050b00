//! `laneway topo draw`: a fabric as a drawing, with its load and with what has failed.

use clap::{Arg, ArgMatches, Command};
use laneway_draw::fabric::{self, Heat, MOST_PANELS, Subject};
use laneway_topo::traffic::order::Random;

use super::machine::{self, Machine};
use super::orders::{self, Named};
use super::schedule::range;
use super::{check, export};
use crate::failure::{Exit, Failure};
use crate::words;

pub fn command() -> Command {
    Command::new("draw")
        .about("Draws a fabric (SVG), the load of its cables, phases of its all-to-all")
        .after_help(
            "Colours are the largest number of messages on a cable in either direction; a line \
             that is several cables has that of its fullest. Parts taken out by --fail are \
             crossed out.\n\nExamples:\n  \
             laneway topo draw --topology mlfm:d=4 -o fabric.svg\n  \
             laneway topo draw --topology mlfm:d=8 --heat random -o random.svg\n  \
             laneway topo draw --topology fat-tree-3-half:d=4 --heat alltoall -o half.svg\n  \
             laneway topo draw --topology mlfm:d=3 --phase 12 -o phase.svg\n  \
             laneway topo draw --topology mlfm:d=4 --phases 0-19 -o phases.svg\n  \
             laneway topo draw --topology mlfm:d=8 --fail link --heat phase:3 -o failed.svg",
        )
        .args(machine::args())
        .arg(export::file_arg().value_parser(words::svg_file))
        .arg(
            Arg::new("heat")
                .long("heat")
                .value_name("H")
                .help("Colour cables by load: alltoall (mean over its phases), phase:I, random"),
        )
        .arg(
            Arg::new("phase")
                .long("phase")
                .value_name("I")
                .conflicts_with("heat")
                .help("One phase of the all-to-all: its load, and the messages of one switch"),
        )
        .arg(
            Arg::new("phases")
                .long("phases")
                .value_name("A-B")
                .conflicts_with_all(["heat", "phase"])
                .help("The same for several phases, as small drawings"),
        )
        .arg(orders::arg("native; repaired after a failure"))
        .arg(machine::seed_arg("Of the permutation that --heat random draws"))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let machine = machine::from(matches)?;
    let drawing = drawing(&machine, matches)?;
    export::save(matches.get_one::<String>("output").map(String::as_str), &drawing)?;
    // Load that does not arrive is not drawn: a note must say so.
    let is_loaded = ["heat", "phase", "phases"].iter().any(|name| matches.contains_id(name));
    match is_loaded && machine.has_table() {
        true => Ok(check::judged(&machine)),
        false => Ok(Exit::Done),
    }
}

fn drawing(machine: &Machine, matches: &ArgMatches) -> Result<String, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    if let Some(word) = text("phase").or(text("phases")) {
        let order = orders::from(machine, matches)?;
        let phases = range("phase", word, order.phases.count())?;
        return draw_phases(machine, &order, phases);
    }
    let heat = text("heat").map(|word| heated(machine, word, matches)).transpose()?;
    Ok(page(machine, heat.as_ref()))
}

/// What is drawn: by its formula, or as what a file was recognised to be.
fn subject(machine: &Machine) -> Subject<'_> {
    let (wiring, routing) = (machine.wiring(), machine.routing());
    match (machine.topology(), machine.recognised()) {
        (Some(topology), _) if machine.is_damaged() => {
            Subject::planned(topology).with_left(wiring, routing)
        }
        (Some(topology), _) => Subject::planned(topology).with_routing(routing),
        (None, Some(found)) => Subject::recognised(machine.spec.clone(), wiring, routing, found),
        (None, None) => Subject::plain(machine.spec.clone(), machine.whole(), routing)
            .with_left(wiring, routing),
    }
}

/// The fabric on one page, with its load if there is one to show.
pub fn page(machine: &Machine, heat: Option<&Heat>) -> String {
    fabric::draw(&subject(machine), heat)
}

/// The load that a word asks for.
fn heated(machine: &Machine, word: &str, matches: &ArgMatches) -> Result<Heat, Failure> {
    let hosts = machine.wiring().hosts();
    let counted = || machine::counter(machine);
    if let Some(phase) = word.strip_prefix("phase:") {
        let order = orders::from(machine, matches)?.phases;
        let phases = range("phase", phase, order.count())?;
        if phases.end - phases.start > 1 {
            let what = format!("`{word}` is a range of phases");
            let try_this = format!("--heat phase:{}, or --phases {phase}", phases.start);
            return Err(Failure::usage(what, "--heat shows a single phase", try_this));
        }
        return Ok(Heat::of_phase(&counted()?, hosts, &*order, phases.start));
    }
    match word {
        "alltoall" => {
            let order = orders::from(machine, matches)?.phases;
            let words = format!(
                "messages on a cable, mean over the {} phases of the all-to-all",
                order.count()
            );
            let (counter, all) = (counted()?, 0..order.count());
            Ok(Heat::over(&counter, hosts, &*order, all, words, machine.observer()))
        }
        "random" => {
            let seed = machine::seed(matches);
            let drawn = Random { hosts, phases: 1, seed, fixed_points: false };
            let words = format!("messages on a cable, one random permutation, seed {seed}");
            Ok(Heat::of_phase(&counted()?, hosts, &drawn, 0).described(words))
        }
        _ => {
            let cause = "a heat is alltoall, phase:I or random";
            Err(Failure::usage(format!("unknown heat `{word}`"), cause, "--heat alltoall"))
        }
    }
}

/// Phases with their load and the messages of one switch: one large, several small.
fn draw_phases(
    machine: &Machine,
    order: &Named,
    phases: std::ops::Range<u64>,
) -> Result<String, Failure> {
    let (first, count) = (phases.start, phases.end - phases.start);
    if count > MOST_PANELS {
        let cause = format!("{count} phases; a page has room for {MOST_PANELS}");
        let try_this = format!("--phases {first}-{}", first + MOST_PANELS - 1);
        return Err(Failure::usage("too many phases to draw", cause, try_this));
    }
    let counter = machine::counter(machine)?;
    let is_own = order.name == "native";
    Ok(fabric::draw_phases(&subject(machine), &counter, &*order.phases, phases, is_own))
}
