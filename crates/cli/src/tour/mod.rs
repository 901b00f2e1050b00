//! `laneway tour`: what laneway can do, shown on this machine alone.
//!
//! A stop is a function that prints; every later part of laneway adds one.

mod fabric;
mod lab;
mod measured;
mod models;
mod paths;
mod ranks;
mod sites;

use std::path::Path;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use laneway_coll::{algorithms, all, check, find, pace};
use laneway_core::units::format_size;
use laneway_core::{Collective, Shape};
use laneway_draw::schedule;
use laneway_local::Transport;
use laneway_processes::GrantedCores;
use laneway_report::table;
use laneway_sim::simulate;

use crate::failure::{Exit, Failure};
use crate::output;
use crate::platform;
use crate::session;

/// Ranks of the drawings and of the proofs.
const DRAWN: u32 = 8;
const PROVED: u32 = 24;
/// The run has a rank for each core, so that its ping-pong is one, but no more than this.
const MOST_STARTED: u32 = 4;
/// The platform of the fourth stop.
const SIMULATED: &str = "two-sites:32x32";

pub fn command() -> Command {
    Command::new("tour")
        .about("Shows on this machine alone what laneway can do")
        .after_help(
            "Examples:\n  \
             laneway tour                      a minute at most, no root, no MPI\n  \
             laneway tour --svg schedules.svg  and the drawings as a picture",
        )
        .arg(
            Arg::new("svg")
                .long("svg")
                .value_name("FILE.svg")
                .value_parser(crate::words::svg_file)
                .help("Also draw the first stop's schedules as SVG"),
        )
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    // The ranks of the third stop come this way too.
    if laneway_local::is_rank() {
        return session::run(&session::local(Transport::default(), started()), &ranks::stop);
    }
    schedules(matches.get_one::<String>("svg").map(Path::new))?;
    proofs()?;
    let exit = processes()?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    simulated()?;
    measured::stop()?;
    fabric::stop()?;
    lab::stop()?;
    sites::stop()?;
    paths::stop()?;
    models::stop()?;
    print_next_steps()?;
    Ok(Exit::Done)
}

fn say(text: &str) -> Result<(), Failure> {
    let width = output::table_style().width.unwrap_or(usize::MAX);
    let blocks: Vec<String> = text.split("\n\n").map(|block| folded(block, width)).collect();
    output::print(&format!("{}\n", blocks.join("\n\n")))
}

/// A paragraph that is too wide, set anew under its own indentation; drawings and columns stay.
fn folded(block: &str, width: usize) -> String {
    let is_wide = |line: &str| line.chars().count() > width;
    let has_columns = |line: &str| line.trim().contains("  ");
    if !block.lines().any(is_wide) || block.lines().any(has_columns) {
        return block.to_owned();
    }
    let first = block.lines().next().unwrap_or_default();
    let indent = " ".repeat(first.len() - first.trim_start().len());
    let words: Vec<&str> = block.lines().map(str::trim).collect();
    let room = width.saturating_sub(indent.len()).max(1);
    let end = if block.ends_with('\n') { "\n" } else { "" };
    let text = table::wrap(&words.join(" "), Some(room));
    let lines: Vec<String> = text.lines().map(|line| format!("{indent}{line}")).collect();
    lines.join("\n") + end
}

/// First stop: a collective is a schedule, pure data.
fn schedules(svg: Option<&Path>) -> Result<(), Failure> {
    say("1. A collective is a schedule\n")?;
    say(&format!(
        "   Here is a broadcast to {DRAWN} ranks as two algorithms do it, at one message a tick.\n"
    ))?;
    let mut drawings = Vec::new();
    for spelled in ["binomial", "binary:segment=16", "pipeline:segment=16", "scatter-ring"] {
        let (algorithm, params) = find(Collective::Bcast, spelled).map_err(unregistered)?;
        let shape = Shape::new(Collective::Bcast, DRAWN, 64);
        let schedule = algorithm.schedule(&shape, &params).map_err(unregistered)?;
        drawings.push((algorithm.name, pace::walk(&*schedule)));
    }
    for (name, flights) in drawings.iter().filter(|d| ["binomial", "pipeline"].contains(&d.0)) {
        let ticks = flights.iter().map(|f| f.tick + 1).max().unwrap_or(0);
        say(&format!("   {name}: {} messages in {ticks} ticks", flights.len()))?;
        say(&schedule::text(flights, DRAWN))?;
    }
    if let Some(file) = svg {
        std::fs::write(file, schedule::draw(&drawings, DRAWN)).map_err(|error| {
            let what = format!("cannot write `{}`", file.display());
            Failure::environment(what, error.to_string(), output::writable(file))
        })?;
        say(&format!("   Drawn as a picture in {}.\n", file.display()))?;
    }
    Ok(())
}

fn unregistered(refusal: laneway_coll::Refusal) -> Failure {
    Failure::environment("the tour cannot draw a schedule", refusal.0, "report this")
}

/// Second stop: every algorithm is proved, not tried.
fn proofs() -> Result<(), Failure> {
    say("2. Every algorithm is proved\n")?;
    let begun = std::time::Instant::now();
    let (mut proved, mut steps, mut refused) = (0u32, 0u64, Vec::new());
    for algorithm in all() {
        let shape = Shape::new(algorithm.family, PROVED, 64).with_element(8, true);
        match algorithm.schedule(&shape, &algorithm.defaults()) {
            Err(refusal) => refused.push(format!("{}: {refusal}", algorithm.name)),
            Ok(schedule) => {
                let proof = check(&shape, &*schedule).map_err(|fault| {
                    let what = format!("{} does not hold", algorithm.name);
                    Failure::new(Exit::Gate, what, fault.to_string(), "report this")
                })?;
                proved += 1;
                steps += 2 * proof.steps;
            }
        }
    }
    let took_ms = begun.elapsed().as_millis();
    say(&format!(
        "   {proved} algorithms, which serve {} operations, {PROVED} ranks each, eager and \
         rendezvous sends:\n   {steps} steps walked in {took_ms} ms. Every send meets its \
         receive, no byte is read before it\n   is written or touched while in flight, nothing \
         deadlocks, and the result is what the\n   operation means.\n",
        Collective::ALL.iter().filter(|&&served| algorithms(served).next().is_some()).count()
    ))?;
    for refusal in refused {
        say(&format!("   not asked: {refusal}\n"))?;
    }
    Ok(())
}

fn started() -> u32 {
    GrantedCores::here().usable().clamp(2, MOST_STARTED)
}

/// Third stop: the same schedules move real bytes between real processes.
fn processes() -> Result<Exit, Failure> {
    let started = started();
    say(&format!("3. And it runs: {started} processes of this machine\n"))?;
    for transport in Transport::ALL {
        let exit = session::run(&session::local(transport, started), &ranks::stop)?;
        if exit != Exit::Done {
            return Ok(exit);
        }
    }
    say("")?;
    Ok(Exit::Done)
}

/// Fourth stop: the same schedules on a simulated cluster.
fn simulated() -> Result<(), Failure> {
    say(&format!("4. And on a cluster that you do not have: {SIMULATED}, in virtual time\n"))?;
    let platform = platform::read("", SIMULATED)?;
    let hosts: Vec<u32> = (0..platform.hosts()).collect();
    let placement = Arc::new(platform.placement(&hosts));
    for (collective, size) in [(Collective::Bcast, 1 << 20), (Collective::Scatter, 64 << 10)] {
        let begun = std::time::Instant::now();
        let (mut times, mut messages) = (Vec::new(), 0);
        for algorithm in algorithms(collective) {
            let shape = Shape::new(collective, platform.hosts(), size);
            let shape = shape.with_placement(placement.clone());
            let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else { continue };
            let outcome = simulate(&platform, &*schedule, None).map_err(|error| {
                Failure::environment("the tour cannot simulate", error.to_string(), "report this")
            })?;
            messages += outcome.messages;
            times.push((outcome.finish, algorithm.name));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(best), Some(worst)) = (times.first(), times.last()) else { continue };
        say(&format!(
            "   {} of {} to {} hosts: {} {:.1} ms, {} {:.1} ms ({messages} messages in {} ms)",
            collective.name(),
            format_size(size),
            platform.hosts(),
            best.1,
            best.0 * 1e3,
            worst.1,
            worst.0 * 1e3,
            begun.elapsed().as_millis()
        ))?;
    }
    say("")
}

fn print_next_steps() -> Result<(), Failure> {
    let mpi = match laneway_mpi::open(None) {
        Ok(found) => {
            let version = found.version.split(',').next().unwrap_or_default();
            format!("mpirun -n 4 laneway check       the same over {version}, found here")
        }
        Err(_) => "mpirun -n 4 laneway check       the same over any MPI, once one is here".into(),
    };
    say(&format!(
        "What next\n   \
         laneway check --ranks 5         every algorithm, size and root, byte by byte\n   \
         laneway info algorithms         what there is, with its parameters\n   \
         laneway measure coll bcast --ranks 2    how long it takes here\n   \
         laneway sim bcast --platform cluster:64    the time on a cluster you describe\n   \
         laneway topo cost --nodes 6000  fabrics side by side\n   {mpi}"
    ))
}
