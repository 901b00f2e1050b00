//! `laneway measure pairs`: every pair of ranks, and which node or link is slow.

mod asked;
mod written;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::{Comm, talk};
use laneway_measure::pairs::{Findings, Survey, SurveyError};

use super::{export, rule};
use crate::advice::unsaved;
use crate::failure::{Exit, Failure};
use crate::output;
use crate::session::{self, RankError};
use crate::watchdog::Watchdog;
use crate::words;
use asked::Asked;
use written::{Saved, Written};

pub fn command() -> Command {
    Command::new("pairs")
        .about("Measures every pair of ranks and names the slow node or link")
        .after_help(
            "Pairs without a common host are measured at the same time; pairs between sites only \
             where they share no uplink of a site. Each direction is measured separately. A host \
             is reported, with the direction if only one is slow, when all its pairs that could \
             show it are slow; otherwise the link between two hosts is. A pair is compared with \
             pairs of its kind: within a host, within a site, from one site to another. A pair is \
             slow if even the fast end of its interval is.\n\nExamples:\n  \
             mpirun -n 64 --map-by node laneway measure pairs\n  \
             mpirun -n 64 laneway measure pairs --min-bw 90% --svg pairs.svg    a gate\n  \
             mpirun -n 64 laneway measure pairs --min-bw 12GB/s --suspects    only what is slow\n  \
             mpirun -n 64 laneway measure pairs --export pairs.json    for laneway report\n  \
             mpirun -n 16 laneway measure pairs --sites 8,8\n  \
             mpirun -n 1024 laneway measure pairs --sample --suspects\n  \
             mpirun -n 64 laneway measure pairs --prometheus /var/lib/node_exporter/pairs.prom\n  \
             laneway measure pairs --backend sim:two-sites:8x8",
        )
        .arg(Arg::new("min-bw").long("min-bw").value_name("P").help(
            "Exit with 1 if a pair is slow, even at the fast end of its interval: below P, such as \
             90% of the usual bandwidth or 12GB/s, or above --max-latency [default: no gate, and \
             slow is below 80%]",
        ))
        .arg(
            Arg::new("max-latency").long("max-latency").value_name("X").help(
                "A pair is also slow above X times the usual latency of its kind [default: 2]",
            ),
        )
        .arg(
            Arg::new("suspects")
                .long("suspects")
                .action(ArgAction::SetTrue)
                .help("Print only the slow hosts and links; --export has all pairs"),
        )
        .arg(
            Arg::new("size")
                .long("size")
                .value_name("S")
                .default_value("1M")
                .help("Bytes of the message for the bandwidth"),
        )
        .arg(Arg::new("sites").long("sites").value_name("N,M").help(
            "Number of ranks at the first site, the second, ... [default: by the platform, the \
             domains of the hosts' names, or the latencies]",
        ))
        .arg(
            Arg::new("sequential")
                .long("sequential")
                .action(ArgAction::SetTrue)
                .help("Measure one pair at a time, while all others wait"),
        )
        .args(sample_args())
        .arg(
            Arg::new("svg")
                .long("svg")
                .value_name("FILE.svg")
                .value_parser(words::svg_file)
                .help("Draw all pairs as a map, the slow ones dark"),
        )
        .arg(Arg::new("prometheus").long("prometheus").value_name("FILE").help(
            "Write the figures of pairs and hosts and the verdict to FILE in the text format of \
             Prometheus",
        ))
        .args(rule::args(&Survey::RULE))
        .args(session::args())
        .args(output::args())
}

/// What makes it fit for many hosts.
fn sample_args() -> [Arg; 3] {
    let sample = Arg::new("sample")
        .long("sample")
        .value_name("K")
        .num_args(0..=1)
        .default_missing_value("")
        .allow_negative_numbers(true)
        .help(
            "Measure each host with K random partners, look once at every pair, and measure what \
             stands out: for hundreds of hosts [default K: 8]",
        );
    let seed = Arg::new("seed")
        .long("seed")
        .value_name("N")
        .value_parser(value_parser!(u64))
        .requires("sample")
        .help("Chooses the partners of --sample [default: 1]");
    let all = Arg::new("all").long("all").action(ArgAction::SetTrue).conflicts_with("suspects");
    let all = all.help(
        "Print a line for each rank; of more than 64 only those with a slow pair have one, and \
         there is no map",
    );
    [sample, seed, all]
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let asked = Asked::from(matches)?;
    let written = Written::from(matches)?;
    session::run(&session::measuring(matches)?, &|comm| {
        export::refuse(comm, text("export"))?;
        export::refuse(comm, text("svg"))?;
        export::refuse(comm, text("prometheus"))?;
        survey(comm, &asked, &written)
    })
}

/// Measures all pairs; rank 0 prints.
fn survey(comm: &dyn Comm, asked: &Asked, written: &Written) -> Result<Exit, RankError> {
    let env = session::environment(comm);
    let saved = Saved::new(written, &env, Watchdog::new(comm), comm.rank() == 0);
    let findings = asked.survey.run(comm, &saved).map_err(rank_error)?;
    drop(saved);
    // Rank 0 alone knows, and all leave with the same code, even if it cannot write.
    let own = findings.as_ref().map_or(Exit::Done, |findings| exit(asked, findings));
    let code = talk::broadcast(comm, &[own as u8])?;
    if let Some(findings) = findings {
        written.finish(&findings, env)?;
    }
    let known = [Exit::Gate, Exit::Precision].into_iter().find(|&exit| code == [exit as u8]);
    Ok(known.unwrap_or(Exit::Done))
}

fn rank_error(error: SurveyError) -> RankError {
    match error {
        SurveyError::Refused(refusal) => Failure::from(refusal).into(),
        SurveyError::Observer(error) => RankError::Alone(unsaved(error)),
        SurveyError::Comm(error) => error.into(),
        other => {
            let (what, try_this) = ("the survey stopped", "run the command again");
            Failure::environment(what, other.to_string(), try_this).into()
        }
    }
}

/// How the command ends.
fn exit(asked: &Asked, findings: &Findings) -> Exit {
    if findings.fails_gate() {
        Exit::Gate
    } else if findings.is_missed() || asked.strict && findings.is_imprecise() {
        Exit::Precision
    } else {
        Exit::Done
    }
}
