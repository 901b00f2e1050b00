//! `laneway measure pairs`: every pair of ranks, and which node or link is slow.

mod picture;
mod sites;

use std::cell::RefCell;
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::{format_size, parse_size};
use laneway_core::{Comm, Document, Exit, Failure, Rank, Row};
use laneway_measure::Rule;
use laneway_measure::p2p::{Estimate, Lab, Limits, Pair, Plan, Sizes, Verdict, survey, verdict};
use laneway_measure::repeat::{Aim, LEAST_SAMPLES};
use laneway_report::Format;

use super::p2p::warn_of_crowd;
use super::rule;
use crate::agree;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::{self, Choice, RankError};
use crate::watchdog::Watchdog;
use crate::words::{PARTS, share};
use sites::Sites;

/// Bytes of the message that tells the latency.
const SHORT: usize = 8;

/// Thousands of pairs are to be looked at, and slow ones are slow by more than a little.
const USUAL: Rule = Rule {
    aim: Aim::Median { precision: 0.03, level: 0.95 },
    min_reps: LEAST_SAMPLES,
    max_reps: 100,
    budget: 0.5,
};

pub fn command() -> Command {
    Command::new("pairs")
        .about("Measures every pair of ranks and names the slow node or link")
        .after_help(
            "Pairs without a common rank are measured at the same time, but pairs between sites \
             only where they share no site's way out. A node is named when most of its pairs are \
             slow and its partners are fast with each other; else what lies between two nodes \
             is. Pairs are compared with those of their kind: within a host, a site, between two \
             sites.\n\nExamples:\n  \
             mpirun -n 64 --map-by node laneway measure pairs\n  \
             mpirun -n 64 laneway measure pairs --min-bw 90% --svg pairs.svg    a gate\n  \
             mpirun -n 16 laneway measure pairs --sites 8,8\n  \
             laneway measure pairs --backend sim:two-sites:8x8",
        )
        .arg(Arg::new("min-bw").long("min-bw").value_name("P").help(
            "Exit with 1 where a pair has less than P, such as 90%, of the usual bandwidth \
             [default: no gate, and slow is below 80%]",
        ))
        .arg(
            Arg::new("size")
                .long("size")
                .value_name("S")
                .default_value("1M")
                .help("Bytes of the message that tells the bandwidth"),
        )
        .arg(Arg::new("sites").long("sites").value_name("N,M").help(
            "So many ranks at the first site, the second, ... [default: by the platform, or the \
             domains of the hosts' names]",
        ))
        .arg(
            Arg::new("sequential")
                .long("sequential")
                .action(ArgAction::SetTrue)
                .help("One pair at a time, while all others wait"),
        )
        .arg(
            Arg::new("svg")
                .long("svg")
                .value_name("FILE")
                .help("Draw all pairs as a map, the slow ones dark"),
        )
        .args(rule::args(&USUAL))
        .args(session::args())
        .args(output::args())
}

/// What the command line asked for.
struct Asked {
    limits: Limits,
    gate: bool,
    sizes: Sizes,
    sites: Sites,
    sequential: bool,
    svg: Option<String>,
    rule: Rule,
    strict: bool,
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let refused = |cause: String| Failure::usage("no such size", cause, "--size 1M");
    let size = match parse_size(text("size").unwrap_or_default()).map_err(refused)? {
        0 => return Err(refused("a message without bytes tells no bandwidth".to_string())),
        size => size as usize,
    };
    let least = text("min-bw").map(|text| share("min-bw", text, PARTS, "90%")).transpose()?;
    let mut limits = Limits::default();
    limits.least_bandwidth = least.unwrap_or(limits.least_bandwidth);
    let (rule, strict) = rule::rule(matches, &USUAL)?;
    let asked = Asked {
        limits,
        gate: least.is_some(),
        sizes: Sizes { latency: SHORT, bandwidth: size },
        sites: Sites::from(text("sites"), text("backend"))?,
        sequential: matches.get_flag("sequential"),
        svg: text("svg").map(str::to_string),
        rule,
        strict,
    };
    let output = Output::from(matches)?;
    session::run(&Choice::from(matches)?, &|comm| surveyed(comm, &asked, &output))
}

/// Measures all pairs; rank 0 judges and prints.
fn surveyed(comm: &dyn Comm, asked: &Asked, output: &Output) -> Result<Exit, RankError> {
    let ranks = comm.size();
    if ranks < 2 {
        let cause = "a pair is two ranks, and there is one";
        return Err(Failure::usage("there are no pairs", cause, "--ranks 4").into());
    }
    if asked.gate && ranks < 3 {
        let cause = "one pair has nothing that it could be compared with";
        return Err(Failure::usage("such a gate would always be open", cause, "--ranks 3").into());
    }
    if let Some(cause) = agree::objection(comm, too_large(asked, ranks))? {
        return Err(Failure::usage("this does not fit into memory", cause, "--size 1M").into());
    }
    let hosts = comm.hosts()?;
    warn_of_crowd(comm)?;
    let sites = asked.sites.of(&hosts)?;
    let plan = plan(&sites, asked.sequential)?;
    let own = comm.dup()?;
    let watchdog = Watchdog::new(comm);
    // Once for the latency, once for the bandwidth.
    let progress = Progress::new(2 * plan.rounds().len(), comm.rank() == 0);
    let progress = RefCell::new((progress, 0));
    let each_round = |_: usize, _: usize| {
        watchdog.alive();
        let (bar, done) = &mut *progress.borrow_mut();
        bar.at(*done, "rounds of pairs");
        *done += 1;
    };
    let lab = Lab { comm: &*own, rule: asked.rule, each_round: &each_round };
    let pairs = survey(&lab, &plan, asked.sizes)?;
    drop(progress.into_inner());
    let judged = pairs.map(|mut pairs| {
        pairs.sort_by_key(|pair| (pair.from, pair.to));
        let verdict = verdict(&pairs, &hosts, &sites, &asked.limits);
        (pairs, verdict)
    });
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let exit = judged.as_ref().map_or(Exit::Done, |(pairs, verdict)| exit(asked, pairs, verdict));
    let code = agree::announce(comm, &[exit as u8])?;
    if let Some((pairs, verdict)) = &judged {
        print(comm, asked, output, &Found { pairs, hosts: &hosts, verdict })?;
    }
    let known = [Exit::Gate, Exit::Precision].into_iter().find(|&exit| code == [exit as u8]);
    Ok(known.unwrap_or(Exit::Done))
}

/// How the command ends.
fn exit(asked: &Asked, pairs: &[Pair], verdict: &Verdict) -> Exit {
    let flagged = |flag: &str| pairs.iter().any(|pair| flags(pair).contains(&flag));
    if asked.gate && verdict.slow.contains(&true) {
        Exit::Gate
    } else if flagged(MISSED) || asked.strict && flagged(IMPRECISE) {
        Exit::Precision
    } else {
        Exit::Done
    }
}

const IMPRECISE: &str = "precision";
const MISSED: &str = "no time";

/// What a reader must know of a pair.
fn flags(pair: &Pair) -> Vec<&'static str> {
    let both = [&pair.latency, &pair.transfer];
    let imprecise = both.iter().any(|figure| !figure.reached);
    // What takes no time, or less, was not measured.
    let missed = both.iter().any(|figure| !(figure.value > 0.0 && figure.value.is_finite()));
    let all = [(imprecise, IMPRECISE), (missed, MISSED)];
    all.into_iter().filter(|(is, _)| *is).map(|(_, flag)| flag).collect()
}

/// Why the messages of all ranks do not fit, if they were on this machine.
fn too_large(asked: &Asked, ranks: u32) -> Option<String> {
    let available = session::memory_bytes()?;
    let size = asked.sizes.bandwidth as u64;
    let need = size.saturating_mul(3).saturating_mul(u64::from(ranks));
    let say = || format!("{ranks} ranks with messages of {}", format_size(size));
    (need > available).then(say)
}

/// All pairs in rounds; those between sites apart where they share the way out of one.
fn plan(sites: &[u32], sequential: bool) -> Result<Plan, RankError> {
    let ranks = sites.len() as u32;
    let site = |rank: Rank| sites[rank as usize];
    let ways_out = |pair: &[Rank]| match (site(pair[0]), site(pair[1])) {
        (a, b) if a == b => Vec::new(),
        (a, b) => vec![a, b],
    };
    let all: Vec<Vec<Rank>> = Plan::pairs(ranks).subsets().map(<[Rank]>::to_vec).collect();
    let plan = Plan::apart(all, ways_out)?;
    Ok(if sequential { plan.one_by_one() } else { plan })
}

/// What a survey found.
struct Found<'a> {
    pairs: &'a [Pair],
    hosts: &'a [String],
    verdict: &'a Verdict,
}

fn print(comm: &dyn Comm, asked: &Asked, output: &Output, found: &Found) -> Result<(), Failure> {
    let Found { pairs, hosts, verdict } = found;
    let sentences = verdict.sentences(hosts, &asked.limits);
    let name = |rank: &Rank| hosts.get(*rank as usize).map_or("", String::as_str);
    let slow: Vec<Rank> = verdict.slow_nodes.iter().map(|node| node.rank).collect();
    let summary = Row::new()
        .with("pairs", pairs.len() as u64)
        .with("slow_pairs", verdict.slow.iter().filter(|slow| **slow).count() as u64)
        .with("slow_nodes", slow.iter().map(name).collect::<Vec<_>>().join(","))
        .with("healthy", verdict.is_healthy())
        .with("verdict", sentences.join("; "));
    let params = Row::new()
        .with("size_bytes", asked.sizes.bandwidth as u64)
        .with("min_bandwidth", asked.limits.least_bandwidth)
        .with("sequential", asked.sequential);
    let document = Document {
        verb: "measure-pairs",
        env: session::environment(comm),
        params,
        rows: (0..pairs.len()).map(|index| row(asked, found, index)).collect(),
        summary: Some(summary),
    };
    let brief = Document { rows: nodes(asked, found), summary: None, ..document.clone() };
    output.write(&document, Some(&brief))?;
    if output.format == Format::Table {
        output::print(&format!("\n{}\n\n{}\n", picture::legend(), sentences.join("\n")))?;
    }
    match &asked.svg {
        Some(file) => output::replace(Path::new(file), &picture::drawing(pairs, hosts, verdict)),
        None => Ok(()),
    }
}

fn bandwidth(asked: &Asked, transfer: &Estimate) -> Estimate {
    transfer.map(|seconds| asked.sizes.bandwidth as f64 / seconds / 1e6)
}

/// One pair with everything that is known of it.
fn row(asked: &Asked, found: &Found, index: usize) -> Row {
    let (pair, verdict) = (&found.pairs[index], found.verdict);
    let host = |rank: Rank| found.hosts.get(rank as usize).cloned();
    let (latency, rate) = (pair.latency.map(|s| s * 1e6), bandwidth(asked, &pair.transfer));
    Row::new()
        .with("from", pair.from)
        .with("to", pair.to)
        .with("from_host", host(pair.from))
        .with("to_host", host(pair.to))
        .with("latency_us", latency.value)
        .with("latency_ci_low_us", latency.interval.map(|i| i.low))
        .with("latency_ci_high_us", latency.interval.map(|i| i.high))
        .with("latency_reps", latency.reps)
        .with("bandwidth_mb_s", rate.value)
        .with("bandwidth_ci_low_mb_s", rate.interval.map(|i| i.low))
        .with("bandwidth_ci_high_mb_s", rate.interval.map(|i| i.high))
        .with("bandwidth_reps", rate.reps)
        .with("ci_level", rate.interval.map(|i| i.level))
        .with("usual_percent", 100.0 / verdict.ratios[index])
        .with("slow", verdict.slow[index])
        .with("flags", flags(pair).join(","))
}

/// A line for each node: what is usual for it, and its row of the map.
fn nodes(asked: &Asked, found: &Found) -> Vec<Row> {
    let Found { pairs, hosts, verdict } = found;
    let line = |node: &laneway_measure::p2p::Node| {
        Row::new()
            .with("rank", node.rank)
            .with("host", hosts.get(node.rank as usize).cloned())
            .with("latency_us", node.latency * 1e6)
            .with("bandwidth_mb_s", asked.sizes.bandwidth as f64 / node.transfer / 1e6)
            .with("slow_pairs", format!("{} of {}", node.slow, node.pairs))
            .with("map", picture::shades(pairs, verdict, node.rank))
    };
    verdict.nodes.iter().map(line).collect()
}
