//! `laneway model predict`: what every algorithm of an operation takes, and where one overtakes.

use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_core::{Document, Exit, Failure, Row};
use laneway_model::{Call, crossovers, predict_all};
use laneway_report::Format;

use super::load;
use crate::output::{self, Output};
use crate::words;

pub fn command() -> Command {
    Command::new("predict")
        .about("Predicts all algorithms of an operation over sizes, and the crossovers")
        .after_help(
            "A row for each algorithm and size, the interval from those of the parameters and \
             from what the model was seen to be off. Where gathers escalate now and then: how \
             often, and by how much. A model of single hosts answers for as many ranks as it \
             has hosts; Hockney, LogGP and PLogP of one set of parameters for any number.\n\n\
             Examples:\n  \
             laneway model predict scatter --model tonight.toml --sizes 1K,64K,1M\n  \
             laneway model predict bcast --model loggp.toml --ranks 64 --format json\n  \
             laneway model predict gather --model tonight.toml --root 3",
        )
        .arg(Arg::new("op").value_name("OP").required(true).help("The operation"))
        .arg(
            Arg::new("model")
                .long("model")
                .value_name("FILE.toml")
                .required(true)
                .help("What `model fit -o` wrote"),
        )
        .arg(
            Arg::new("sizes")
                .long("sizes")
                .value_name("S,T")
                .value_delimiter(',')
                .default_value("1K,16K,256K,1M")
                .help("Bytes of a rank's block, or of the vector"),
        )
        .arg(
            Arg::new("ranks")
                .long("ranks")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..=65_536))
                .help("How many ranks [default: as many as the model was estimated on]"),
        )
        .arg(
            Arg::new("root")
                .long("root")
                .value_name("R")
                .value_parser(value_parser!(u32))
                .default_value("0")
                .help("The root, where the operation has one"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let collective = words::collective("model predict", text("op"))?;
    let sizes = matches.get_many::<String>("sizes").unwrap_or_default();
    let sizes = sizes.map(|text| words::size(text)).collect::<Result<Vec<u64>, Failure>>()?;
    let fitted = load(text("model"))?;
    let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(fitted.hosts.len() as u32);
    let root = matches.get_one::<u32>("root").copied().unwrap_or(0);
    let root = if collective.has_root() { root } else { 0 };
    let call = Call { collective, ranks, root };
    let all = predict_all(&fitted, &call, &sizes).map_err(|error| error.failure())?;
    let crossings = crossovers(&fitted, &call, &all).map_err(|error| error.failure())?;
    let row = |one: &laneway_model::Row| {
        let row = Row::new()
            .with("op", collective.name())
            .with("algorithm", one.algorithm.spelled(&one.params))
            .with("size_bytes", one.bytes)
            .with("time_us", 1e6 * one.prediction.seconds)
            .with("ci_low_us", 1e6 * one.prediction.low)
            .with("ci_high_us", 1e6 * one.prediction.high);
        if fitted.escalation.is_none() {
            return row;
        }
        let region = one.escalation;
        row.with("escalates", region.map(|region| region.probability.value))
            .with("escalation_us", region.map(|region| 1e6 * region.seconds.value))
    };
    let sentences: Vec<String> = crossings
        .iter()
        .map(|crossing| {
            let sure = if crossing.sure { "" } else { "; their intervals overlap" };
            let (bytes, to, from) = (crossing.bytes, &crossing.to, &crossing.from);
            format!("From {bytes} B on, {to} is faster than {from}{sure}.")
        })
        .collect();
    let params = Row::new()
        .with("model", text("model"))
        .with("kind", fitted.model.kind().name())
        .with("ranks", ranks)
        .with("root", root);
    let summary = Row::new().with("crossovers", sentences.join(" "));
    let rows = all.iter().map(row).collect();
    let summary = Some(summary);
    let document = Document { verb: "model-predict", env: Row::new(), params, rows, summary };
    let brief = Document { summary: None, ..document.clone() };
    output.write(&document, Some(&brief))?;
    if output.format == Format::Table && !sentences.is_empty() {
        output::print(&format!("\n{}\n", sentences.join("\n")))?;
    }
    Ok(Exit::Done)
}
