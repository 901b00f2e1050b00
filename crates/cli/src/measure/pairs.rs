//! `laneway measure pairs`: every pair of ranks, and which node or link is slow.

mod doubt;
mod found;
mod picture;
mod sites;
mod written;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::parse_size;
use laneway_core::{Comm, Exit, Failure, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{Lab, Limits, Pair, Plan, Sizes, Survey};
use laneway_measure::repeat::{Aim, LEAST_SAMPLES};

use super::{export, memory, rule};
use crate::agree;
use crate::output;
use crate::progress::Progress;
use crate::session::{self, Choice, RankError};
use crate::watchdog::Watchdog;
use crate::words::{PARTS, share};
use doubt::Judged;
use found::Found;
use sites::Sites;
use written::Written;

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
             sites. Slow is what is so even at the fast end of its interval.\n\nExamples:\n  \
             mpirun -n 64 --map-by node laneway measure pairs\n  \
             mpirun -n 64 laneway measure pairs --min-bw 90% --svg pairs.svg    a gate\n  \
             mpirun -n 64 laneway measure pairs --export pairs.html    with the map\n  \
             mpirun -n 16 laneway measure pairs --sites 8,8\n  \
             laneway measure pairs --backend sim:two-sites:8x8",
        )
        .arg(Arg::new("min-bw").long("min-bw").value_name("P").help(
            "Exit with 1 where a pair surely has less than P, such as 90%, of the usual bandwidth \
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
        rule,
        strict,
    };
    let written = Written::from(matches)?;
    session::run(&Choice::measuring(matches)?, &|comm| {
        export::refuse(comm, text("export"))?;
        export::refuse(comm, text("svg"))?;
        surveyed(comm, &asked, &written)
    })
}

/// Measures all pairs; rank 0 judges and prints.
fn surveyed(comm: &dyn Comm, asked: &Asked, written: &Written) -> Result<Exit, RankError> {
    let ranks = comm.size();
    if ranks < 2 {
        let cause = "a pair is two ranks, and there is one";
        return Err(Failure::usage("there are no pairs", cause, "--ranks 4").into());
    }
    if asked.gate && ranks < 3 {
        let cause = "one pair has nothing that it could be compared with";
        return Err(Failure::usage("such a gate would always be open", cause, "--ranks 3").into());
    }
    let sharers = memory::sharers(comm)?.len() as u64;
    let size = asked.sizes.bandwidth as u64;
    // Out and in, and as much under way.
    let need = size.saturating_mul(3).saturating_mul(sharers);
    memory::refuse(comm, memory::objection(need, size), "--size 1M")?;
    let hosts = comm.hosts()?;
    let sites = asked.sites.of(&hosts)?;
    let plan = plan(&sites, asked.sequential)?;
    let mut found = Found { env: session::environment(comm), hosts, pairs: Vec::new() };
    measured(comm, asked, written, &plan, &mut found)?;
    let judged = Judged::new(&found.pairs, &found.hosts, &sites, &asked.limits);
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let code = agree::announce(comm, &[exit(asked, &found.pairs, &judged) as u8])?;
    if comm.rank() == 0 {
        written.finish(asked, &found, &judged)?;
    }
    let known = [Exit::Gate, Exit::Precision].into_iter().find(|&exit| code == [exit as u8]);
    Ok(known.unwrap_or(Exit::Done))
}

/// Collective: all rounds of the plan, each in its turn, so that what is done is saved before the
/// next; the pairs, on rank 0.
fn measured(
    comm: &dyn Comm,
    asked: &Asked,
    written: &Written,
    plan: &Plan,
    found: &mut Found,
) -> Result<(), RankError> {
    let own = comm.dup()?;
    let watchdog = Watchdog::new(comm);
    let rounds = plan.rounds();
    let mut progress = Progress::new(rounds.len(), comm.rank() == 0);
    let alive = |_: usize, _: usize| watchdog.alive();
    let lab = Lab { each_round: &alive, ..Lab::new(&*own, asked.rule) };
    let mut survey = Survey::new(asked.sizes);
    let mut unfinished = written.unfinished();
    for (number, round) in rounds.iter().enumerate() {
        progress.at(number, "rounds of pairs");
        // Its pairs have no rank in common, and so are one round again.
        if let Some(pairs) = survey.run(&lab, &Plan::of(round.to_vec())?)? {
            found.add(pairs);
            let done = [number + 1, rounds.len()];
            unfinished.save(asked, found, done).map_err(RankError::Alone)?;
        }
    }
    Ok(())
}

/// How the command ends.
fn exit(asked: &Asked, pairs: &[Pair], judged: &Judged) -> Exit {
    let flagged =
        |flag: &str| pairs.iter().any(|pair| found::flags(pair, &asked.rule).contains(&flag));
    if asked.gate && judged.verdict.slow.contains(&true) {
        Exit::Gate
    } else if flagged(found::MISSED) || asked.strict && flagged(found::IMPRECISE) {
        Exit::Precision
    } else {
        Exit::Done
    }
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
