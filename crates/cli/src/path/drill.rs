//! `laneway path drill`: breaks paths under traffic, and tells what the traffic saw of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_connections::reach::PeerPath;
use laneway_core::{Document, Row};
use laneway_drill::{Kind, Load, Observed, Round, Stage, StageOptions, judge, observe};
use laneway_sim::platform::parse_time;
use laneway_stats::SplitMix64;

use super::reach;
use crate::advice;
use crate::failure::{Exit, Failure};
use crate::lab::stop::on_signal;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::words;

/// Connections that can be asked for, and those of --spread where none are.
const MOST_CONNECTIONS: u64 = 64;
const SPREAD: u64 = 4;
/// Seconds of the longest outage that can be asked for.
const MOST_OUTAGE: f64 = 60.0;

pub fn command() -> Command {
    let kinds = Kind::ALL.map(Kind::name).join(", ");
    Command::new("drill")
        .about("Breaks paths under traffic in a lab and measures how long the traffic stalls")
        .after_help(format!(
            "Two hosts exchange messages over a connection with two paths. The path in use is \
             broken again and again. A row has the time for which messages stalled, less what a \
             connection on an untouched path stalled at the same time; the messages that were \
             lost, duplicated or reordered; the rate in MB/s before the fault and while the path \
             was down; and the time until both paths worked again. A stall that has not ended when \
             the traffic does is counted with its length so far, and its row is marked \
             `unfinished`. It needs root, and exits with 1 if anything was lost.\n\n\
             With --spread there are several connections, half of them on each path, with a \
             message under way each. One path, chosen at random, is broken; connections that \
             leave it return when it works again.\n\n\
             Faults: {kinds}. The last two break nothing: for two seconds the machine is busy, or \
             other traffic fills the queue of the path in use. A connection that leaves its path \
             then makes the exit code 1, too.\n\n\
             Examples:\n  \
             laneway path drill\n  \
             laneway path drill --kinds drop,carrier-sender --sizes 64,1M --faults 100\n  \
             laneway path drill --rate 10Gbit --one-switch --compute 5ms --format json\n  \
             laneway path drill --kinds drop --outage 10s --faults 20\n  \
             laneway path drill --kinds busy,queue --compute 60ms\n  \
             laneway path drill --spread --sizes 1M --kinds drop\n  \
             laneway path drill --to 10.0.0.2,10.1.0.2 --secret job.secret --seconds 60"
        ))
        .args(fault_args())
        .args(remote_args())
        .args(reach::args())
        .args(output::args())
}

/// What is broken, and under what traffic.
fn fault_args() -> [Arg; 10] {
    [
        Arg::new("kinds")
            .long("kinds")
            .value_name("LIST")
            .value_delimiter(',')
            .default_value("carrier-sender,carrier-receiver,drop,one-way-out,one-way-back")
            .help("The faults, comma-separated, or `all`"),
        words::sizes_arg("Bytes of a message", "64"),
        Arg::new("faults")
            .long("faults")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..=1_000_000))
            .default_value("10")
            .help("The number of faults for each kind and size"),
        Arg::new("outage")
            .long("outage")
            .value_name("TIME")
            .default_value("400ms")
            .help("The longest outage; the shortest lasts 100 ms"),
        Arg::new("rate")
            .long("rate")
            .value_name("RATE")
            .default_value("1Gbit")
            .help("The rate of each path"),
        Arg::new("compute")
            .long("compute")
            .value_name("TIME")
            .help("Both ends compute for this long after each message, and poll nothing meanwhile"),
        Arg::new("connections")
            .long("connections")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..=MOST_CONNECTIONS))
            .help("Connections, each with one message under way [default: 1, with --spread 4]"),
        Arg::new("spread")
            .long("spread")
            .action(ArgAction::SetTrue)
            .help("Start connections on different paths, so that every path carries load"),
        Arg::new("one-switch")
            .long("one-switch")
            .action(ArgAction::SetTrue)
            .help("Both paths on one switch, instead of a switch for each"),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value("1")
            .help("The seed for the start and the length of faults"),
    ]
}

/// A drill with another machine.
fn remote_args() -> [Arg; 2] {
    [
        Arg::new("to")
            .long("to")
            .value_name("ADDRESS,ADDRESS")
            .value_delimiter(',')
            .value_parser(PeerPath::parse)
            .conflicts_with_all(["kinds", "faults", "outage", "rate", "one-switch", "seed"])
            .help(
                "The addresses of `laneway path serve` on another machine, one for each path, \
                 comma-separated; 10.0.0.2/2 is a second path to one. Nothing is broken by drill",
            ),
        Arg::new("seconds")
            .long("seconds")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .default_value("10")
            .requires("to")
            .help("Seconds of traffic with --to"),
    ]
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or(1);
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let (faults, rate) = (number("faults") as usize, text("rate"));
    let time = |name: &str, example: &str| match text(name) {
        "" => Ok(0.0),
        time => parse_time(time).map_err(|what| {
            Failure::usage(what, "times have a unit", format!("--{name} {example}"))
        }),
    };
    let (computes, outage) = (time("compute", "5ms")?, time("outage", "2s")?);
    if !(1e-3..=MOST_OUTAGE).contains(&outage) {
        let what = format!("invalid outage `{}`", text("outage"));
        return Err(Failure::usage(what, "an outage lasts 1 ms to 60 s", "--outage 2s"));
    }
    let (spread, connections) = (matches.get_flag("spread"), connections(matches)?);
    let computes_for = Duration::from_secs_f64(computes);
    let load = Load { bytes: 0, connections, computes: computes_for };
    let rounds = rounds(matches, &Round { kind: Kind::Drop, load, spread, faults, outage })?;
    let peers: Vec<PeerPath> = matches.get_many("to").into_iter().flatten().copied().collect();
    if !peers.is_empty() {
        return with_server(matches, &output, &peers, &rounds);
    }
    let mut random = SplitMix64::new(number("seed"));
    let one_switch = matches.get_flag("one-switch");
    let options = StageOptions { rate: rate.into(), one_switch, program: crate::lab::program()? };
    let stage = Stage::build(&options).map_err(advice::path::drill)?;
    let mut progress = Progress::new(rounds.len() * faults, true);
    let (mut rows, mut is_sound, mut unfinished) = (Vec::new(), true, false);
    for (at, round) in rounds.iter().enumerate() {
        let what = format!("{} {} B", round.kind.name(), round.load.bytes);
        let tell = |done| progress.at(at * faults + done, &what);
        let seen = stage.run(round, &mut random, tell).map_err(advice::path::drill)?;
        let verdict = judge(round, &seen);
        is_sound &= verdict.is_sound;
        unfinished |= verdict.unfinished;
        rows.push(verdict.row());
    }
    drop(progress);
    stage.remove().map_err(advice::path::drill)?;
    let params = Row::new()
        .with("rate", rate)
        .with("one_switch", one_switch)
        .with("outage_ms", 1e3 * outage)
        .with("compute_ms", 1e3 * computes)
        .with("connections", connections as u64)
        .with("spread", spread)
        .with("seed", number("seed"));
    let env = Row::new();
    output.write(&Document { verb: "path", env, params, rows, summary: None }, None)?;
    note_unfinished(unfinished);
    if !is_sound {
        output::note(
            "messages were lost, duplicated or reordered, a path did not come back, or a \
             connection left a path that worked",
        );
    }
    Ok(if is_sound { Exit::Done } else { Exit::Gate })
}

/// Traffic of each size with another machine.
fn with_server(
    matches: &ArgMatches,
    output: &Output,
    peers: &[PeerPath],
    rounds: &[Round],
) -> Result<Exit, Failure> {
    let seconds = matches.get_one::<u64>("seconds").copied().unwrap_or(10);
    let (mut rows, mut is_sound, mut unfinished) = (Vec::new(), true, false);
    // Without kinds of faults there is one round for each size.
    for round in rounds.iter().filter(|round| round.kind == rounds[0].kind) {
        let seen = with_peers(matches, peers, round, seconds)?;
        is_sound &= seen.is_sound();
        unfinished |= seen.outcome.unfinished().is_some();
        rows.push(seen.row());
    }
    let to: Vec<String> = peers.iter().map(ToString::to_string).collect();
    let params = Row::new()
        .with("to", to.join(" "))
        .with("seconds", seconds)
        .with("connections", rounds.first().map(|round| round.load.connections as u64))
        .with("spread", rounds.first().is_some_and(|round| round.spread));
    let env = Row::new();
    output.write(&Document { verb: "path", env, params, rows, summary: None }, None)?;
    note_unfinished(unfinished);
    Ok(if is_sound { Exit::Done } else { Exit::Gate })
}

/// Says what the rows mark.
fn note_unfinished(unfinished: bool) {
    if unfinished {
        output::note(
            "messages were still under way when the traffic ended (unfinished): their stall is \
             counted with its length so far",
        );
    }
}

/// Traffic of one size for a number of seconds, or until a signal.
fn with_peers(
    matches: &ArgMatches,
    peers: &[PeerPath],
    round: &Round,
    seconds: u64,
) -> Result<Observed, Failure> {
    let secret = reach::secret(matches)?;
    let paths = reach::paths_to(matches, peers)?;
    let endpoint = reach::endpoint(paths, secret, false, round.spread)?;
    let to = reach::addresses(matches, peers)?;
    let stop = on_signal(&[libc::SIGINT, libc::SIGTERM]);
    let mut progress = Progress::new(seconds as usize, true);
    let seen = observe(endpoint, &to, round.load, |elapsed, state| {
        let armed = if state.is_armed() { "armed" } else { "no alternate" };
        progress.at(elapsed.as_secs() as usize, &format!("{}, {armed}", state.primary()));
        elapsed < Duration::from_secs(seconds) && !stop.load(Ordering::Acquire)
    });
    seen.map_err(reach::failure)
}

/// How many connections there are.
fn connections(matches: &ArgMatches) -> Result<usize, Failure> {
    let spread = matches.get_flag("spread");
    let asked = matches.get_one::<u64>("connections").copied();
    let count = asked.unwrap_or(if spread { SPREAD } else { 1 });
    let paths = matches.get_many::<PeerPath>("to").map(|peers| peers.len());
    if spread && (count < 2 || paths.is_some_and(|paths| paths < 2)) {
        let cause = "--spread needs two connections and two paths";
        let try_this = match paths {
            Some(..2) => "--to A,B --spread",
            _ => "--spread --connections 4",
        };
        return Err(Failure::usage("there is nothing to spread", cause, try_this));
    }
    Ok(count as usize)
}

/// A round like this one for each kind and size.
fn rounds(matches: &ArgMatches, like: &Round) -> Result<Vec<Round>, Failure> {
    let list = |name: &str| -> Vec<String> {
        matches.get_many(name).into_iter().flatten().cloned().collect()
    };
    let sizes = words::sizes(matches.get_many("sizes").unwrap_or_default())?;
    let mut rounds = Vec::new();
    for word in list("kinds") {
        let kinds = match word.as_str() {
            "all" => Kind::ALL.to_vec(),
            name => vec![Kind::by_name(name).ok_or_else(|| {
                let all = Kind::ALL.map(Kind::name).join(", ");
                Failure::usage(
                    format!("unknown fault `{name}`"),
                    format!("the faults are {all}, and `all`"),
                    "--kinds drop",
                )
            })?],
        };
        for kind in kinds {
            for &bytes in &sizes {
                let bytes = bytes as usize;
                if !(8..=64 << 20).contains(&bytes) {
                    let what = format!("messages of {bytes} bytes");
                    return Err(Failure::usage(
                        what,
                        "a message has 8 bytes to 64M",
                        "--sizes 64,1M",
                    ));
                }
                let load = Load { bytes, ..like.load };
                rounds.push(Round { kind, load, ..*like });
            }
        }
    }
    Ok(rounds)
}
