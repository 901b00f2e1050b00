//! `laneway model predict`: what every algorithm of operations takes, and where one overtakes; with
//! what is measured beside, and as a picture.

use std::path::Path;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::{Comm, Document, Placement, Rank, Row, Stage};
use laneway_draw::predicted::{Curve, Drawing, Mark};
use laneway_measure::Rule;
use laneway_model::{Call, Choice, Crossover, Fitted, Meter, Parameter, crossovers, predict_some};
use laneway_sim::HostId;

use super::{load, refused};
use crate::advice::Advised;
use crate::failure::{Exit, Failure};
use crate::measure::export;
use crate::measure::rule::budget_arg;
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::session::{self, RankError};
use crate::{placed, platform, words};

pub fn command() -> Command {
    Command::new("predict")
        .about("Predicts all algorithms of operations over sizes, and the crossovers")
        .after_help(
            "Prints one row per algorithm and size. The interval combines those of the parameters \
             with what the model was off for experiments that it was not fitted to; a model that \
             was far off for these prints none, and says so. Where gathers escalate: how often, \
             and by how much. A model with parameters of each host predicts for as many ranks as \
             it has hosts; Hockney, LogGP and PLogP with one set of parameters for any number. \
             More ranks take --like: the hosts that the further ones are copies of; intervals are \
             wider then. Algorithms whose schedules depend on where ranks are (single-lane, \
             site-lanes, relay, …) are left out unless --sites names the platform of the hosts. \
             With --measure every call is timed too, on the ranks that --backend or mpirun starts. \
             A picture (--svg) shows one operation.\n\n\
             Examples:\n  \
             laneway model predict scatter --model tonight.toml --sizes 1K,64K,1M\n  \
             laneway model predict bcast,allreduce --model tonight.toml --sizes 64K\n  \
             laneway model predict all --model tonight.toml --sizes 64K --format csv\n  \
             laneway model predict bcast --model tonight.toml --algorithm binomial,pipeline\n  \
             laneway model predict bcast --model loggp.toml --ranks 64 --format json\n  \
             laneway model predict gather --model tonight.toml --root 3 --svg gather.svg\n  \
             laneway model predict scatter --model tonight.toml --ranks 32 --like 3\n  \
             laneway model predict scatter --model tonight.toml --sites two-sites:2x2\n  \
             mpirun -n 4 laneway model predict bcast --model tonight.toml --measure",
        )
        .arg(words::ops_arg().required(true))
        .arg(
            Arg::new("model")
                .long("model")
                .value_name("FILE.toml")
                .required(true)
                .help("What `model fit -o` wrote"),
        )
        .arg(
            Arg::new("algorithm")
                .long("algorithm")
                .value_name("A,B")
                .value_delimiter(',')
                .default_value("all")
                .help("Algorithms, such as binomial or knomial:radix=4, or all"),
        )
        .arg(words::sizes_arg("Bytes of a rank's block, or of the vector", "1K,16K,256K,1M"))
        .arg(
            Arg::new("root")
                .long("root")
                .value_name("R")
                .value_parser(value_parser!(u32))
                .default_value("0")
                .help("The root, where the operation has one"),
        )
        .arg(
            Arg::new("measure")
                .long("measure")
                .action(ArgAction::SetTrue)
                .help("Also time every call, and print both"),
        )
        .arg(budget_arg(Rule::default().budget).requires("measure"))
        .arg(placed::arg())
        .arg(
            Arg::new("like")
                .long("like")
                .value_name("HOST,HOST")
                .value_delimiter(',')
                .requires("ranks")
                .help("Further ranks are on copies of these hosts (names or ranks), in turn"),
        )
        .arg(
            Arg::new("svg")
                .long("svg")
                .value_name("FILE.svg")
                .value_parser(words::svg_file)
                .help("Draw predicted curves, measured points, crossovers and escalations"),
        )
        .args(session::args())
        .args(output::args())
}

/// What was asked for and predicted.
struct Asked<'m> {
    matches: &'m ArgMatches,
    output: Output,
    fitted: Fitted,
    ranks: u32,
    /// One for each operation.
    predicted: Vec<Predicted>,
}

/// One operation: all its algorithms at all sizes.
struct Predicted {
    call: Call,
    rows: Vec<laneway_model::Row>,
    crossings: Vec<Crossover>,
}

impl Asked<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.matches.get_one::<String>(name).map(String::as_str)
    }

    /// Every call, operation after operation.
    fn calls(&self) -> impl Iterator<Item = (&Call, &laneway_model::Row)> {
        self.predicted.iter().flat_map(|one| one.rows.iter().map(|row| (&one.call, row)))
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let ops = words::ops("model predict", matches, "")?;
    if let (Some(file), [first, _, ..]) = (matches.get_one::<String>("svg"), &ops[..]) {
        let what = format!("{} operations do not fit into one picture", ops.len());
        let try_this = format!("laneway model predict {} --svg {file} …", first.name());
        return Err(Failure::usage(what, "a picture shows the algorithms of one", try_this));
    }
    let sizes = matches.get_many::<String>("sizes").unwrap_or_default();
    let sizes = words::sizes(sizes)?;
    let named = || matches.get_many::<String>("algorithm").unwrap_or_default();
    let chosen = words::algorithms(&ops, named())?;
    words::unserved(&ops, named()).iter().for_each(|line| output::note(line));
    let mut fitted = load(text("model"))?;
    let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(fitted.hosts.len() as u32);
    if let Some(hosts) = matches.get_many::<String>("like") {
        fitted = copied(&fitted, ranks, hosts)?;
    }
    let placement = places(matches, &fitted, ranks)?;
    let root = matches.get_one::<u32>("root").copied().unwrap_or(0);
    let bar = Bar::working();
    let stage = Stage::new(&*bar, "operations predicted", ops.len() as u64);
    let mut predicted = Vec::new();
    for collective in stage.over(ops) {
        let root = if collective.has_root() { root } else { 0 };
        let call = Call { root, placement: placement.clone(), ..Call::new(collective, ranks) };
        let own = chosen.iter().filter(|one| one.collective == collective);
        let own: Vec<Choice> = own.map(|one| (one.algorithm, one.params)).collect();
        note_left_out(&call, &own);
        let rows = predict_some(&fitted, &call, &own, &sizes)?;
        let crossings = crossovers(&fitted, &call, &rows)?;
        predicted.push(Predicted { call, rows, crossings });
    }
    if predicted.iter().all(|one| one.rows.is_empty()) {
        let cause = "no chosen algorithm serves these calls, as far as it is known where ranks are";
        let try_this = "--sites PLATFORM, or laneway info algorithms";
        return Err(Failure::usage("nothing was predicted", cause, try_this));
    }
    let asked = Asked { matches, output, fitted, ranks, predicted };
    if !matches.get_flag("measure") {
        finish(&asked, Row::new(), &[])?;
        return Ok(Exit::Done);
    }
    let choice = session::measuring(matches)?.with_ranks(ranks);
    session::run(&choice, &|comm| {
        for file in ["svg", "export"] {
            export::refuse(comm, asked.text(file))?;
        }
        let measured = measure(comm, &asked)?;
        let environment = session::environment(comm);
        if comm.rank() == 0 {
            finish(&asked, environment, &measured)?;
        }
        Ok(Exit::Done)
    })
}

/// The model with copies of the hosts that were named.
fn copied<'h>(
    fitted: &Fitted,
    ranks: u32,
    named: impl Iterator<Item = &'h String>,
) -> Result<Fitted, Failure> {
    let mut like: Vec<Rank> = Vec::new();
    for name in named {
        let by_name = fitted.hosts.iter().position(|host| host == name).map(|at| at as Rank);
        let by_rank = name.parse().ok().filter(|&rank| (rank as usize) < fitted.hosts.len());
        let Some(rank) = by_name.or(by_rank) else {
            let cause = format!("the model has {}", fitted.hosts.join(", "));
            let what = format!("unknown host `{name}` to copy");
            return Err(Failure::usage(what, cause, "one of these names, or a rank"));
        };
        like.push(rank);
    }
    let double = || format!("--ranks {} --like 0", 2 * fitted.hosts.len());
    fitted.copied(ranks, &like).map_err(|error| error.trying(double()))
}

/// Where ranks are, if a platform says so: on the hosts of the model by their names, or in order.
fn places(
    matches: &ArgMatches,
    fitted: &Fitted,
    ranks: u32,
) -> Result<Option<Arc<Placement>>, Failure> {
    let Some(spec) = placed::from_args(matches) else { return Ok(None) };
    let known = platform::read("--sites ", &spec)?;
    let names = known.host_names();
    let by_name = |host: &String| names.iter().position(|name| name == host);
    let found: Option<Vec<usize>> = fitted.hosts.iter().map(by_name).collect();
    let in_order = || (known.hosts() >= ranks).then(|| (0..ranks as usize).collect());
    let Some(found) = found.filter(|found| found.len() == ranks as usize).or_else(in_order) else {
        let what = format!("{spec} does not say where {ranks} ranks are");
        let cause = format!("it has {} hosts, and not all of the model's by name", known.hosts());
        return Err(Failure::usage(what, cause, "the platform of the hosts that were measured"));
    };
    let hosts: Vec<HostId> = found.into_iter().map(|host| host as HostId).collect();
    Ok(Some(Arc::new(known.placement(&hosts))))
}

/// Names the algorithms that are not predicted, as it is unknown where ranks are.
fn note_left_out(call: &Call, chosen: &[Choice]) {
    let left_out = chosen.iter().filter(|(algorithm, params)| !call.can_tell(algorithm, params));
    let names: Vec<&str> = left_out.map(|(algorithm, _)| algorithm.name).collect();
    if !names.is_empty() {
        output::note(&format!(
            "{}: {} left out: they depend on where ranks are, which --sites PLATFORM says",
            call.collective.name(),
            names.join(", ")
        ));
    }
}

/// Collective: what every call takes; rank 0 knows.
fn measure(comm: &dyn Comm, asked: &Asked) -> Result<Vec<Parameter>, RankError> {
    if comm.size() != asked.ranks {
        return Err(Failure::usage(
            format!(
                "the prediction is for {} ranks, and {} ranks measure",
                asked.ranks,
                comm.size()
            ),
            "measured and predicted calls must have the same number of ranks",
            format!("--ranks {}", asked.ranks),
        )
        .into());
    }
    let hosts = comm.hosts()?;
    if asked.fitted.hosts != hosts && asked.fitted.hosts.len() == hosts.len() {
        return Err(Failure::usage(
            "the model was fitted on other hosts",
            format!(
                "the model has {}; the ranks are on {}",
                asked.fitted.hosts.join(","),
                hosts.join(",")
            ),
            "laneway model fit -o here.toml",
        )
        .into());
    }
    let mut rule = Rule::default();
    if let Some(budget) = asked.text("budget") {
        rule = rule.with_budget(words::seconds("budget", budget)?);
    }
    let meter = Meter::new(comm).map_err(refused)?;
    let mut all = Vec::new();
    let bar = Bar::measuring(comm.rank() == 0);
    let stage = Stage::new(&bar, "calls timed", asked.calls().count() as u64);
    for (call, row) in stage.over(asked.calls()) {
        let time = meter.time(&call.shape(row.bytes), row.algorithm, row.params, &rule);
        all.extend(time.map_err(refused)?);
    }
    Ok(all)
}

fn finish(asked: &Asked, env: Row, measured: &[Parameter]) -> Result<(), Failure> {
    let calls = asked.calls().enumerate();
    let row = |(number, call)| row(asked, call, measured.get(number));
    let rows: Vec<Row> = calls.map(row).collect();
    let (crossovers, fastest) = (sentences(asked), fastest(&rows));
    let beyond: Vec<String> = asked.fitted.quality.beyond().into_iter().collect();
    let root = asked.predicted.iter().map(|one| one.call.root).max();
    let params = Row::new()
        .with("model", asked.text("model").unwrap_or_default())
        .with("kind", asked.fitted.model.kind().name())
        .with("ranks", asked.ranks)
        .with("root", root);
    let summary = Row::new().with("crossovers", crossovers.join(" "));
    let summary = summary.with("fastest", fastest.join(" "));
    let summary = Some(summary.with("beyond_the_model", beyond.first().map(String::as_str)));
    let document = Document { verb: "model-predict", env, params, rows, summary };
    asked.output.write_said(&document, None, &[crossovers, fastest, beyond].concat())?;
    match (asked.text("svg"), &asked.predicted[..]) {
        (Some(file), [one]) => {
            output::replace(Path::new(file), &drawing(asked, one, measured).draw())
        }
        _ => Ok(()),
    }
}

/// Which algorithms are fastest as predicted, and as measured where calls were timed.
fn fastest(rows: &[Row]) -> Vec<String> {
    const MEASURED: [(&str, &str); 3] = [
        ("time_us", "measured_us"),
        ("ci_low_us", "measured_low_us"),
        ("ci_high_us", "measured_high_us"),
    ];
    let measured = |row: &Row| {
        let key = row.only(|name| ["op", "algorithm", "size_bytes"].contains(&name));
        let value = |name: &str| row.get(name).cloned();
        MEASURED.iter().fold(key, |key, (name, from)| key.with(*name, value(from)))
    };
    let predicted = laneway_report::fastest(rows);
    if !rows.iter().any(|row| row.get("measured_us").is_some()) {
        return predicted;
    }
    let measured: Vec<Row> = rows.iter().map(measured).collect();
    let measured = laneway_report::fastest(&measured);
    let by = |word: &str, all: Vec<String>| -> Vec<String> {
        all.iter().map(|one| one.replacen("Fastest", &format!("Fastest as {word}"), 1)).collect()
    };
    [by("predicted", predicted), by("measured", measured)].concat()
}

/// Where one algorithm overtakes another; of which operation, where there are several.
fn sentences(asked: &Asked) -> Vec<String> {
    let of = |one: &Predicted| match asked.predicted.len() {
        1 => String::new(),
        _ => format!("{}: ", one.call.collective.name()),
    };
    let sentence = |op: &str, crossing: &Crossover| {
        let sure = if crossing.sure { "" } else { "; their intervals overlap" };
        let (bytes, to, from) = (crossing.bytes, &crossing.to, &crossing.from);
        let begin = if op.is_empty() { "From" } else { "from" };
        format!("{op}{begin} {bytes} B on, {to} is faster than {from}{sure}.")
    };
    let mut all = Vec::new();
    for one in &asked.predicted {
        let op = of(one);
        all.extend(one.crossings.iter().map(|crossing| sentence(&op, crossing)));
    }
    all
}

fn row(
    asked: &Asked,
    (call, one): (&Call, &laneway_model::Row),
    measured: Option<&Parameter>,
) -> Row {
    let mut row = Row::new()
        .with("op", call.collective.name())
        .with("algorithm", one.algorithm.spelled(&one.params))
        .with("size_bytes", one.bytes)
        .with("time_us", 1e6 * one.prediction.seconds)
        .with("ci_low_us", one.prediction.interval.map(|ends| 1e6 * ends.low))
        .with("ci_high_us", one.prediction.interval.map(|ends| 1e6 * ends.high));
    if let Some(time) = measured {
        row = row
            .with("measured_us", 1e6 * time.value)
            .with("measured_low_us", 1e6 * time.low)
            .with("measured_high_us", 1e6 * time.high)
            .with("off", (time.value > 0.0).then(|| one.prediction.seconds / time.value - 1.0));
    }
    if asked.fitted.escalation.is_none() {
        return row;
    }
    let region = one.escalation;
    row.with("escalates", region.map(|region| region.probability.value))
        .with("escalation_us", region.map(|region| 1e6 * region.seconds.value))
}

fn drawing(asked: &Asked, predicted: &Predicted, measured: &[Parameter]) -> Drawing {
    let mut curves: Vec<Curve> = Vec::new();
    for (number, one) in predicted.rows.iter().enumerate() {
        let label = one.algorithm.label(&one.params);
        let at = curves.iter().position(|curve| curve.label == label).unwrap_or_else(|| {
            curves.push(Curve { label, ..Curve::default() });
            curves.len() - 1
        });
        let mark = |us: f64, low: f64, high: f64| Mark {
            bytes: one.bytes,
            us: 1e6 * us,
            low: 1e6 * low,
            high: 1e6 * high,
        };
        let said = one.prediction;
        let ends = said.interval.map_or([said.seconds; 2], |ends| [ends.low, ends.high]);
        curves[at].predicted.push(mark(said.seconds, ends[0], ends[1]));
        let seen = measured.get(number).map(|time| mark(time.value, time.low, time.high));
        curves[at].measured.extend(seen);
    }
    for curve in &mut curves {
        curve.predicted.sort_by_key(|mark| mark.bytes);
        curve.measured.sort_by_key(|mark| mark.bytes);
    }
    let (op, kind) = (predicted.call.collective.name(), asked.fitted.model.kind().name());
    Drawing {
        title: format!("{op} on {} ranks, as {kind} predicts", asked.ranks),
        curves,
        crossovers: predicted.crossings.iter().map(|one| (one.bytes, one.to.clone())).collect(),
        escalates: asked
            .fitted
            .escalation
            .filter(|_| op == "gather")
            .map(|region| (region.from_bytes, region.to_bytes)),
    }
}
