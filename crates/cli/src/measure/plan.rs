//! What a command line asks to be measured, and how.

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use laneway_core::units::format_size;
use laneway_core::{Comm, Form, Row, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::sweep::{Assume, Choice, Placer, Refusal, Sweep};
use laneway_measure::timing::{Confirmation, Series};
use laneway_measure::{Isolation, Method, Procedure, Rule};

use super::{decided, p2p, refine, rule, skew};
use crate::advice::{self, Advised};
use crate::failure::Failure;
use crate::placed::{self, Placed};
use crate::session::{self, RankError};
use crate::words;

/// Everything that was asked for, checked.
pub struct Plan {
    pub sweep: Sweep,
    /// Whether the precision was asked for, and is an error where it is not reached.
    pub strict: bool,
    /// What was asked for and has no meaning here, in words.
    pub ignored: Vec<String>,
    /// The platform on which hosts are looked up.
    sites: Option<String>,
}

/// One of the names of `all` that `name` was given; clap has refused all others.
fn chosen<T: Copy + Default, const N: usize>(
    matches: &ArgMatches,
    name: &str,
    all: [T; N],
    named: impl Fn(T) -> &'static str,
) -> T {
    let text = matches.get_one::<String>(name).map(String::as_str);
    all.into_iter().find(|value| Some(named(*value)) == text).unwrap_or_default()
}

fn number<T>(name: &'static str, value: &'static str, help: &'static str) -> Arg
where
    T: Clone + Send + Sync + std::str::FromStr + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let arg = Arg::new(name).long(name).value_name(value).help(help);
    arg.allow_negative_numbers(true).value_parser(|text: &str| text.parse::<T>())
}

/// The arguments of `measure coll`, but for those that all verbs share.
pub fn args() -> Vec<Arg> {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let methods = Method::ALL.map(Method::name);
    let own = vec![
        words::ops_arg().required(true),
        text(
            "algorithm",
            "A,B",
            "Algorithms, native, all, or chosen for the sites [default: native, else the usual]",
        )
        .value_delimiter(','),
        text("form", "F", "blocking, or nonblocking: started, then waited for")
            .value_delimiter(',')
            .value_parser(Form::ALL.map(Form::name))
            .default_value(Form::default().name()),
        words::sizes_arg("Bytes", "8,1K,64K"),
        refine::arg(),
        placed::arg(),
        number::<u32>("root", "R", "The root rank [default: 0]"),
        text("timing", "T", "How a repetition is timed")
            .value_parser(PossibleValuesParser::new(methods))
            .default_value(Method::default().name()),
        text("isolation", "I", "none, barrier[:A], double-barrier[:A], reduce or p2p")
            .default_value("barrier"),
        text("start", "I", "What all ranks do after the isolation, right before a repetition")
            .default_value("none"),
        text("confirmation", "C", "How the root learns that all are done, for --timing root")
            .value_parser(Confirmation::ALL.map(Confirmation::name))
            .default_value(Confirmation::default().name()),
        text("sync", "P", "How clocks are synchronised")
            .value_parser(Procedure::ALL.map(Procedure::name))
            .default_value(Procedure::default().name()),
        text("assume", "A", "Latencies: symmetric, or none, which makes intervals the bounds")
            .value_parser(Assume::ALL.map(Assume::name))
            .default_value(Assume::default().name()),
        number::<u32>(
            "trips",
            "N",
            "Stop comparing two clocks after N round trips without a shorter one, for --sync \
             offset [default: 10]",
        ),
        number::<u32>(
            "resync",
            "N",
            "Compare clocks after N repetitions, for --timing global [default: 50]",
        ),
        number::<u32>("series", "N", "Calls of one series, for --timing loop [default: 100]"),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value("1")
            .help("Shuffles the order of the points"),
        flag("truth", "On a simulated cluster: also the true time (truth_us)"),
        p2p::cache_arg(),
        flag("keep", "Keep every sample and every rank's entry and exit, in JSON"),
        flag(
            "race",
            "Stop early with algorithms that are slower than another one beyond their intervals",
        ),
    ];
    own.into_iter()
        .chain([decided::arg()])
        .chain(skew::args())
        .chain(rule::args(&Rule::default()))
        .collect()
}

impl Plan {
    pub fn from(matches: &ArgMatches) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let count = |name: &str| matches.get_one::<u32>(name).copied();
        let list = |name: &str| matches.get_many::<String>(name).unwrap_or_default();
        let collectives = words::ops("measure coll", matches, "")?;
        let sizes = words::sizes(list("sizes"))?;
        let gate = |name: &str| {
            Isolation::parse(text(name).unwrap_or_default()).map_err(|cause| {
                let try_this = format!("--{name} barrier:dissemination");
                Failure::usage(
                    format!("unknown {name} `{}`", text(name).unwrap_or_default()),
                    cause,
                    try_this,
                )
            })
        };
        let (isolation, start) = (gate("isolation")?, gate("start")?);
        let asked = |form: &Form| list("form").any(|name| name == form.name());
        let (rule, strict) = rule::rule(matches, &Rule::default())?;
        for (name, cause, usual) in [
            ("series", "a series has at least one call", 100),
            ("resync", "clocks are compared after at least one repetition", 50),
            ("trips", "comparing two clocks takes at least one round trip", 10),
        ] {
            if count(name) == Some(0) {
                return Err(Failure::usage(
                    format!("--{name} 0"),
                    cause,
                    format!("--{name} {usual}"),
                ));
            }
        }
        let mut sweep = Sweep::new(collectives, sizes);
        sweep.choices = list("algorithm").map(|name| choice(name)).collect();
        sweep.forms = Form::ALL.into_iter().filter(asked).collect();
        sweep.ranks = session::counts(matches)?;
        sweep.refine = refine::from_args(matches, &sweep.sizes)?;
        sweep.root = count("root").unwrap_or(0);
        sweep.method = chosen(matches, "timing", Method::ALL, Method::name);
        (sweep.isolation, sweep.start) = (isolation, start);
        sweep.confirmation = chosen(matches, "confirmation", Confirmation::ALL, Confirmation::name);
        sweep.procedure = chosen(matches, "sync", Procedure::ALL, Procedure::name);
        sweep.assume = chosen(matches, "assume", Assume::ALL, Assume::name);
        sweep.trips = count("trips");
        sweep.skew = skew::from_args(matches)?;
        sweep.resync = count("resync").unwrap_or(sweep.resync);
        sweep.series = count("series").map_or(sweep.series, |length| Series { length });
        sweep.rule = rule;
        sweep.decided = decided::from_args(matches);
        sweep.seed = matches.get_one::<u64>("seed").copied().unwrap_or(sweep.seed);
        sweep.truth = matches.get_flag("truth");
        sweep.cache = p2p::cache(text("cache").unwrap_or("warm"))?;
        sweep.keep = matches.get_flag("keep");
        sweep.race = matches.get_flag("race");
        sweep.check().map_err(|refusal| failure(&refusal, &sweep))?;
        let (ignored, sites) = (ignored(matches, sweep.method), placed::from_args(matches));
        Ok(Plan { sweep, strict, ignored, sites })
    }

    /// Collective: finds where the ranks are, if the sites of hosts are given.
    pub fn place(&self, comm: &dyn Comm) -> Result<Option<Places>, RankError> {
        let placed =
            Placed::find(comm, self.sites.as_deref()).map_err(advice::sites::place_error)?;
        Ok(placed.map(Places))
    }

    /// What every document says of how it was measured.
    pub fn params(&self) -> Row {
        let sweep = &self.sweep;
        let sizes: Vec<String> = sweep.sizes.iter().map(|&size| format_size(size)).collect();
        Row::new()
            .with("sizes", sizes.join(","))
            .with("timing", sweep.method.name())
            .with("isolation", sweep.isolation_and_start())
            .with("sync", sweep.procedure.name())
            .with("assume", sweep.assume.name())
            .with("cache", p2p::cache_words(sweep.cache))
            .with("clock_offset_s", sweep.skew.map(|skew| skew.offset))
            .with("clock_drift_ppm", sweep.skew.map(|skew| skew.drift * 1e6))
            .with("seed", sweep.seed)
    }
}

/// Where the ranks are, for a sweep.
pub struct Places(Placed);

impl Placer for Places {
    fn place(&self, shape: Shape) -> Shape {
        self.0.place(shape)
    }

    fn choose(&self, comm: &dyn Comm, shape: &Shape) -> Option<Answerer> {
        let chosen = self.0.choose_together(comm, shape).ok()?;
        let best = &chosen.candidate;
        Some(Answerer::Ours(best.algorithm, best.params))
    }
}

/// The message for a person about a refusal, and what to try.
pub fn failure(refusal: &Refusal, sweep: &Sweep) -> Failure {
    match refusal {
        Refusal::NoRoot { fewest, .. } if sweep.ranks.len() > 1 => {
            let last = fewest - 1;
            let cause = format!("with the fewest ranks, {fewest}, the ranks are 0 to {last}");
            Failure::new(refusal.exit(), refusal.to_string(), cause, refusal.advice())
        }
        refusal => refusal.failure(),
    }
}

/// Options of one method that were given with another.
fn ignored(matches: &ArgMatches, method: Method) -> Vec<String> {
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let others =
        [("confirmation", Method::Root), ("resync", Method::Global), ("series", Method::Loop)];
    let useless = others.into_iter().filter(|(name, user)| given(name) && *user != method);
    let line = |(name, user): (&str, Method)| {
        let (user, method) = (user.name(), method.name());
        format!("--{name} has no effect: it is for --timing {user}, and this is {method}")
    };
    let mut lines: Vec<String> = useless.map(line).collect();
    if given("trips")
        && matches.get_one::<String>("sync").is_some_and(|sync| sync != Procedure::Offset.name())
    {
        lines.push("--trips has no effect: it is for --sync offset".to_string());
    }
    if given("start") && method == Method::StartTime {
        let start = "--start has an effect only where ranks miss their starts";
        lines.push(format!("{start}: with --timing start-time all begin at agreed instants"));
    }
    lines
}

fn choice(name: &str) -> Choice {
    match name {
        "all" => Choice::All,
        "native" => Choice::Native,
        "chosen" => Choice::Chosen,
        name => Choice::Named(name.to_string()),
    }
}
