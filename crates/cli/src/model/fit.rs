//! `laneway model fit`: estimates a model over a backend, and saves it.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use laneway_core::{Collective, Comm};
use laneway_model::{
    Fitted, ModelKind, Request, estimate_observed, fit, platform_text, share, sweep,
};

use super::{all_argument, experiment_arguments, print_model, refused, request};
use crate::failure::{Exit, Failure};
use crate::measure::export;
use crate::output::{self, Output};
use crate::progress::Bar;
use crate::session::{self, RankError};

/// Sizes and calls of the sweeps that find escalations and leaps.
const SWEPT: std::ops::RangeInclusive<u32> = 10..=20;
const CALLS: u32 = 20;

pub fn command() -> Command {
    let kinds: Vec<String> = ModelKind::ALL
        .iter()
        .map(|kind| format!("  {:18}{}", kind.name(), kind.sentence()))
        .collect();
    Command::new("fit")
        .about("Estimates a model's parameters by experiments, and saves the model")
        .after_help(format!(
            "Models:\n{}\n\n\
             Runs round-trip, overhead and point-to-two experiments on disjoint pairs and triples \
             of ranks, in parallel unless --sequential is given. Further experiments are not \
             fitted, and validate the model. Exit code 1: the model does not hold here; it is \
             saved for inspection, and predicts nothing. 4: the budget was not sufficient.\n\n\
             Examples:\n  \
             mpirun -n 4 laneway model fit --model lmo -o tonight.toml\n  \
             laneway model fit --model loggp --sizes 1K,8K,64K --total-budget 10\n  \
             laneway model fit --backend sim:mpiblib16,receive-buffer=none --platform out.toml\n  \
             laneway model fit --backend sim:cluster:8 --sweep -o swept.toml",
            kinds.join("\n")
        ))
        .arg(
            Arg::new("model")
                .long("model")
                .value_name("MODEL")
                .default_value("lmo")
                .help("Which model"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE.toml")
                .help("Save the model"),
        )
        .arg(
            Arg::new("platform")
                .long("platform")
                .value_name("FILE.toml")
                .help("Save it as a platform too, for `sim` and `--backend sim:FILE`"),
        )
        .args(experiment_arguments("sizes"))
        .arg(
            Arg::new("sweep")
                .long("sweep")
                .action(ArgAction::SetTrue)
                .help("Search for escalations of gathers and leaps of scatters, 1K to 1M"),
        )
        .arg(all_argument())
        .args(session::args())
        .args(output::args())
}

/// What the command line asked for.
struct Wanted<'m> {
    matches: &'m ArgMatches,
    output: Output,
    kind: ModelKind,
    request: Request,
}

impl Wanted<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.matches.get_one::<String>(name).map(String::as_str)
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let kind = ModelKind::by_name(text("model")).ok_or_else(|| {
        let all = ModelKind::ALL.map(ModelKind::name).join(", ");
        let what = format!("unknown model `{}`", text("model"));
        Failure::usage(what, format!("the models are {all}"), "--model lmo")
    })?;
    let platform = matches.get_one::<String>("platform");
    if let (Some(why), Some(file)) = (kind.platform_objection(), platform) {
        let what = format!("{file} cannot be written from the model `{}`", kind.name());
        return Err(Failure::usage(what, why, "--model lmo, or no --platform"));
    }
    let request = Request { gaps: kind.needs_gaps(), ..request(matches, "sizes")? };
    let wanted = Wanted { matches, output, kind, request };
    session::run(&session::measuring(matches)?, &|comm| {
        for file in ["output", "platform", "export"] {
            export::refuse(comm, wanted.text(file))?;
        }
        run_rank(comm, &wanted)
    })
}

/// What each rank does; rank 0 prints and saves.
fn run_rank(comm: &dyn Comm, wanted: &Wanted) -> Result<Exit, RankError> {
    let bar = Bar::measuring(comm.rank() == 0);
    let experiments = estimate_observed(comm, &wanted.request, &bar).map_err(refused)?;
    let found = experiments.map(|all| fit(&all, wanted.kind));
    // Whether there is a model is known to rank 0 alone.
    let problem = found.as_ref().and_then(|found| found.as_ref().err()).map(ToString::to_string);
    if laneway_core::talk::objection(comm, problem)?.is_some() {
        return match found {
            Some(Err(error)) => Err(refused(error)),
            _ => Ok(Exit::Usage),
        };
    }
    let own = found.and_then(Result::ok);
    let mut fitted = share(comm, own.as_ref()).map_err(refused)?;
    if wanted.matches.get_flag("sweep") {
        let sizes: Vec<u64> = SWEPT.map(|power| 1 << power).collect();
        let swept = |collective| sweep(comm, collective, &sizes, CALLS, &bar).map_err(refused);
        let (gathers, scatters) = (swept(Collective::Gather)?, swept(Collective::Scatter)?);
        if let Some((gathers, scatters)) = gathers.zip(scatters) {
            fitted = fitted.with_sweeps(&gathers, &scatters).map_err(refused)?;
        }
    }
    let environment = session::environment(comm);
    if comm.rank() == 0 {
        finish(wanted, &fitted, environment)?;
    }
    Ok(if fitted.quality.holds() { Exit::Done } else { Exit::Gate })
}

fn finish(wanted: &Wanted, fitted: &Fitted, env: laneway_core::Row) -> Result<(), Failure> {
    print_model(&wanted.output, fitted, env, wanted.matches.get_flag("all"))?;
    if let Some(file) = wanted.text("output") {
        output::replace(Path::new(file), &fitted.save())?;
    }
    let quality = &fitted.quality;
    if !quality.holds() {
        output::note(&format!(
            "the model does not hold here: it is {:.1} % off for {}, and {:.0} % is the limit",
            100.0 * quality.worst,
            quality.worst_of,
            100.0 * quality.limit
        ));
    } else if let Some(file) = wanted.text("platform") {
        let text = platform_text(fitted)?;
        output::replace(Path::new(file), &text)?;
    }
    Ok(())
}
