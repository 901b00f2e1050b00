//! `laneway measure pairs`: every pair of ranks, and which node or link is slow.

mod doubt;
mod found;
mod gate;
mod sites;
mod suspects;
mod written;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::units::parse_size;
use laneway_core::{Comm, Exit, Failure, Rank};
use laneway_measure::Rule;
use laneway_measure::p2p::{Lab, Limits, Pair, Plan, Sizes, Survey, sites_by_latency};
use laneway_measure::repeat::{Aim, LEAST_SAMPLES};

use super::{export, memory, rule};
use crate::output;
use crate::progress::Progress;
use crate::session::{self, RankError};
use doubt::Judged;
use found::Found;
use gate::Gate;
use laneway_backend::Watchdog;
use laneway_core::talk;
use sites::Sites;
use written::Written;

/// Bytes of the message that tells the latency.
const SHORT: usize = 8;

/// Shorter messages tell a latency and no bandwidth.
const LEAST_LONG: u64 = 1024;

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
            "Pairs without a common host are measured at the same time, but pairs between sites \
             only where they share no site's way out. Each direction is measured apart. A host is \
             named, with the direction if it is one, when all its pairs that could show it are \
             slow; else what lies between two hosts is. Pairs are compared with those of their \
             kind: within a host, a site, from one site to another. Slow is what is so even at the \
             fast end of its interval.\n\nExamples:\n  \
             mpirun -n 64 --map-by node laneway measure pairs\n  \
             mpirun -n 64 laneway measure pairs --min-bw 90% --svg pairs.svg    a gate\n  \
             mpirun -n 64 laneway measure pairs --min-bw 12GB/s --suspects    only what is slow\n  \
             mpirun -n 64 laneway measure pairs --export pairs.json    for laneway report\n  \
             mpirun -n 16 laneway measure pairs --sites 8,8\n  \
             laneway measure pairs --backend sim:two-sites:8x8",
        )
        .arg(Arg::new("min-bw").long("min-bw").value_name("P").help(
            "Exit with 1 where a pair is surely slow: below P, such as 90% of the usual bandwidth \
             or 12GB/s, or too late [default: no gate, and slow is below 80%]",
        ))
        .arg(Arg::new("max-latency").long("max-latency").value_name("X").help(
            "Slow is also what has more than X times the usual latency of its kind [default: 2]",
        ))
        .arg(
            Arg::new("suspects")
                .long("suspects")
                .action(ArgAction::SetTrue)
                .help("Print only the hosts and links that are to blame; --export has all pairs"),
        )
        .arg(
            Arg::new("size")
                .long("size")
                .value_name("S")
                .default_value("1M")
                .help("Bytes of the message that tells the bandwidth"),
        )
        .arg(Arg::new("sites").long("sites").value_name("N,M").help(
            "So many ranks at the first site, the second, ... [default: by the platform, the \
             domains of the hosts' names, or the latencies]",
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
    gate: Option<Gate>,
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
        size if size < LEAST_LONG => {
            let cause = format!("a message of less than {LEAST_LONG} bytes tells no bandwidth");
            return Err(refused(cause));
        }
        size => size as usize,
    };
    let gate = text("min-bw").map(Gate::read).transpose()?;
    let (rule, strict) = rule::rule(matches, &USUAL)?;
    let asked = Asked {
        limits: Limits { most_latency: most_latency(matches)?, ..Gate::limits(gate, size) },
        gate,
        sizes: Sizes { latency: SHORT, bandwidth: size },
        sites: Sites::from(text("sites"), text("backend"))?,
        sequential: matches.get_flag("sequential"),
        rule,
        strict,
    };
    let written = Written::from(matches)?;
    session::run(&session::measuring(matches)?, &|comm| {
        export::refuse(comm, text("export"))?;
        export::refuse(comm, text("svg"))?;
        surveyed(comm, &asked, &written)
    })
}

/// How many times the usual latency a pair may have.
fn most_latency(matches: &ArgMatches) -> Result<f64, Failure> {
    let usual = Limits::default().most_latency;
    let most = rule::number(matches, "max-latency", "a number of times", "1.5")?.unwrap_or(usual);
    if (1.01..=1e6).contains(&most) {
        return Ok(most);
    }
    let cause = "it is how many times the usual latency a pair may have, 1.01 or more";
    Err(Failure::usage(format!("no max-latency `{most}`"), cause, "--max-latency 1.5"))
}

/// Measures all pairs; rank 0 judges and prints.
fn surveyed(comm: &dyn Comm, asked: &Asked, written: &Written) -> Result<Exit, RankError> {
    let ranks = comm.size();
    if ranks < 2 {
        let cause = "a pair is two ranks, and there is one";
        return Err(Failure::usage("there are no pairs", cause, "--ranks 4").into());
    }
    if matches!(asked.gate, Some(Gate::Share(_))) && ranks < 3 {
        let cause = "one pair has nothing that it could be compared with";
        return Err(Failure::usage("such a gate would always be open", cause, "--ranks 3").into());
    }
    let sharers = memory::sharers(comm)?.len() as u64;
    let size = asked.sizes.bandwidth as u64;
    // Out and in, and as much under way.
    let need = size.saturating_mul(3).saturating_mul(sharers);
    memory::refuse(comm, memory::objection(need, size), "--size 1M")?;
    let hosts = comm.hosts()?;
    let known = asked.sites.of(&hosts)?;
    let mut found = Found::new(session::environment(comm), hosts, asked.sizes);
    let sites = measured(comm, asked, written, known, &mut found)?;
    let judged = Judged::new(&found.pairs, &found.hosts, &sites, &asked.limits);
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let code = talk::announce(comm, &[exit(asked, &found.pairs, &judged) as u8])?;
    if comm.rank() == 0 {
        written.finish(asked, &found, &judged)?;
    }
    let known = [Exit::Gate, Exit::Precision].into_iter().find(|&exit| code == [exit as u8]);
    Ok(known.unwrap_or(Exit::Done))
}

/// Collective: the latencies of all pairs, and then their bandwidths in rounds, each in its turn,
/// so that what is done is saved before the next; the pairs, on rank 0. The sites, on all.
fn measured(
    comm: &dyn Comm,
    asked: &Asked,
    written: &Written,
    known: Option<Vec<u32>>,
    found: &mut Found,
) -> Result<Vec<u32>, RankError> {
    let own = comm.dup()?;
    let watchdog = Watchdog::new(comm);
    let alive = |_: usize, _: usize| watchdog.alive();
    let lab = Lab { each_round: &alive, ..Lab::new(&*own, asked.rule) };
    let mut survey = Survey::new(asked.sizes);
    let all = Plan::pairs(comm.size());
    let all = if asked.sequential { all.one_by_one() } else { all };
    let latencies = survey.latencies(&lab, &all)?.unwrap_or_default();
    let sites = match known {
        Some(sites) => sites,
        None => agreed(comm, &sites_by_latency(&latencies, comm.size()))?,
    };
    let all: Vec<Vec<Rank>> = all.subsets().map(<[Rank]>::to_vec).collect();
    let plan = plan_pairs(all, &found.hosts, &sites, asked.sequential)?;
    let rounds = plan.rounds();
    let mut progress = Progress::new(rounds.len(), comm.rank() == 0);
    let mut unfinished = written.unfinished();
    for (number, round) in rounds.iter().enumerate() {
        progress.at(number, "rounds of pairs");
        // Its pairs have no rank in common, and so are one round again.
        if let Some(looks) = survey.transfers(&lab, &Plan::of(round.to_vec())?, &latencies)? {
            found.add(looks);
            let done = [number + 1, rounds.len()];
            unfinished.save(asked, found, done).map_err(RankError::Alone)?;
        }
    }
    found.settle();
    let doubtful = doubtful(comm, asked, &sites, found)?;
    if !doubtful.is_empty() {
        let plan = plan_pairs(doubtful, &found.hosts, &sites, asked.sequential)?;
        let latencies = survey.latencies(&lab, &plan)?.unwrap_or_default();
        found.add(survey.transfers(&lab, &plan, &latencies)?.unwrap_or_default());
        found.settle();
    }
    Ok(sites)
}

/// Collective: the pairs that are slow at the first look, which rank 0 knows. A machine that was
/// busy for a while slows whatever is measured meanwhile, and these get a second look.
fn doubtful(
    comm: &dyn Comm,
    asked: &Asked,
    sites: &[u32],
    found: &Found,
) -> Result<Vec<Vec<Rank>>, RankError> {
    let judged = Judged::new(&found.pairs, &found.hosts, sites, &asked.limits);
    let pair = |index: usize| [found.pairs[index].from, found.pairs[index].to];
    let own: Vec<u32> = judged.verdict.doubtful().into_iter().flat_map(pair).collect();
    let ranks = agreed(comm, &own)?;
    Ok(ranks.chunks(2).map(<[Rank]>::to_vec).collect())
}

/// Collective: the numbers that rank 0 has, on every rank.
fn agreed(comm: &dyn Comm, own: &[u32]) -> Result<Vec<u32>, RankError> {
    let bytes: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
    let bytes = talk::announce(comm, &bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// How the command ends.
fn exit(asked: &Asked, pairs: &[Pair], judged: &Judged) -> Exit {
    let flagged =
        |flag: &str| pairs.iter().any(|pair| found::flags(pair, &asked.rule).contains(&flag));
    if asked.gate.is_some() && judged.verdict.count_slow() > 0 {
        Exit::Gate
    } else if flagged(found::MISSED) || asked.strict && flagged(found::IMPRECISE) {
        Exit::Precision
    } else {
        Exit::Done
    }
}

/// Pairs in rounds. Pairs between hosts are apart where they share one, and pairs between sites
/// where they share the way out of one.
fn plan_pairs(
    pairs: Vec<Vec<Rank>>,
    hosts: &[String],
    sites: &[u32],
    sequential: bool,
) -> Result<Plan, RankError> {
    let mut names: Vec<&String> = hosts.iter().collect();
    names.sort_unstable();
    names.dedup();
    let first_site = names.len() as u32;
    let host = |rank: Rank| names.binary_search(&&hosts[rank as usize]).unwrap_or(0) as u32;
    let site = |rank: Rank| first_site + sites[rank as usize];
    let shared = |pair: &[Rank]| {
        let [a, b] = [pair[0], pair[1]];
        match (host(a) == host(b), site(a) == site(b)) {
            (true, _) => Vec::new(),
            (false, true) => vec![host(a), host(b)],
            (false, false) => vec![host(a), host(b), site(a), site(b)],
        }
    };
    let plan = Plan::apart(pairs, shared)?;
    Ok(if sequential { plan.one_by_one() } else { plan })
}
