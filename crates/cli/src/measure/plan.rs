//! What a command line asks to be measured, and how.

use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use laneway_coll::{algorithms, find, usual};
use laneway_core::{Collective, Comm, Failure, Form, Shape};
use laneway_measure::clock::Bound;
use laneway_measure::operation::Answerer;
use laneway_measure::p2p::Cache;
use laneway_measure::repeat::Aim;
use laneway_measure::timing::{Confirmation, Global, Maximum, Root, Series, Tasks};
use laneway_measure::{GlobalClock, Isolation, Method, Point, Procedure, Rule, Timing, sizes};
use laneway_stats::Interval;

use super::decided::{self, Decided};
use super::skew::{self, Skew};
use super::{p2p, refine, rule};
use crate::placed::{self, Placed};
use crate::session::{self, RankError};
use crate::words;

/// Which algorithms.
#[derive(Clone, Debug, PartialEq)]
enum Choice {
    /// The library's own where there is one, else what is usual.
    Default,
    All,
    Native,
    /// What is fastest on the platform of the sites.
    Chosen,
    Named(String),
}

/// What is taken for granted of the ways between hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assume {
    /// They take as long out as back.
    #[default]
    Symmetric,
    /// Nothing but that no message arrives before it leaves.
    None,
}

impl Assume {
    const ALL: [Assume; 2] = [Assume::Symmetric, Assume::None];

    pub fn name(self) -> &'static str {
        match self {
            Assume::Symmetric => "symmetric",
            Assume::None => "none",
        }
    }
}

/// Everything that was asked for, checked.
pub struct Plan {
    pub collectives: Vec<Collective>,
    choices: Vec<Choice>,
    pub forms: Vec<Form>,
    /// The numbers of ranks, rising; none for all there are.
    ranks: Vec<u32>,
    pub sizes: Vec<u64>,
    pub root: u32,
    pub method: Method,
    pub isolation: Isolation,
    pub start: Isolation,
    confirmation: Confirmation,
    pub procedure: Procedure,
    pub assume: Assume,
    /// Round trips without a shorter one that end a comparison; none for the usual number.
    trips: Option<u32>,
    /// Clocks that are wrong on purpose.
    pub skew: Option<Skew>,
    resync: u32,
    series: Series,
    pub rule: Rule,
    decided: Decided,
    /// Whether the precision was asked for, and is an error where it is not reached.
    pub strict: bool,
    pub seed: u64,
    pub truth: bool,
    /// Whether buffers lie in the cache before a call.
    pub cache: Cache,
    pub keep: bool,
    /// Whether algorithms that are surely slower than another one stop early.
    pub race: bool,
    /// Sizes to add to each curve where it bends.
    pub refine: u32,
    /// What was asked for and has no meaning here, in words.
    pub ignored: Vec<String>,
    /// The platform on which hosts are looked up, and where they were found.
    sites: Option<String>,
    placed: OnceLock<Placed>,
}

/// One operation to measure.
#[derive(Clone, Copy)]
pub struct Case {
    pub collective: Collective,
    pub answerer: Answerer,
    pub form: Form,
    pub size: u64,
}

impl Case {
    /// Our algorithms send nothing where there is nothing to send or nobody to send it to, so that
    /// there is nothing to measure; what a library does then is its own affair.
    pub fn is_empty(&self, ranks: u32) -> bool {
        let ours = matches!(self.answerer, Answerer::Ours(..));
        let nothing = self.size == 0 && self.collective != Collective::Barrier;
        ours && (nothing || ranks == 1)
    }
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
        Arg::new("op")
            .value_name("OP")
            .required(true)
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help("Operations: bcast,scatter, ..."),
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
        text("sizes", "S", "8,1K or ranges 8:4M, 0:100K:+1K, 8:4M:*4").default_value("8,1K,64K"),
        refine::arg(),
        placed::arg(),
        number::<u32>("root", "R", "The root [default: 0]"),
        text("timing", "T", "How a repetition is timed")
            .value_parser(methods)
            .default_value(Method::default().name()),
        text("isolation", "I", "none, barrier[:A], double-barrier[:A], reduce or p2p")
            .default_value("barrier"),
        text("start", "I", "What all pass after the isolation, right before a repetition")
            .default_value("none"),
        text("confirmation", "C", "How the root learns that all are done, for --timing root")
            .value_parser(Confirmation::ALL.map(Confirmation::name))
            .default_value(Confirmation::default().name()),
        text("sync", "P", "How clocks are brought together")
            .value_parser(Procedure::ALL.map(Procedure::name))
            .default_value(Procedure::default().name()),
        text("assume", "A", "Of ways: symmetric, or none, so that intervals are the bounds")
            .value_parser(Assume::ALL.map(Assume::name))
            .default_value(Assume::default().name()),
        number::<u32>(
            "trips",
            "N",
            "Round trips without a shorter one that end a comparison of two clocks, for --sync \
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
        flag("race", "Stop early with algorithms that are surely slower than another one"),
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
        let ops: Vec<&String> = matches.get_many("op").unwrap_or_default().collect();
        let mut collectives = Vec::new();
        for name in &ops {
            let collective = words::collective("measure coll", name)?;
            // Twice the same is measured once, as sizes are.
            if !collectives.contains(&collective) {
                collectives.push(collective);
            }
        }
        let sizes = sizes::parse(text("sizes").unwrap_or_default()).map_err(|cause| {
            Failure::usage("no such sizes", cause, "--sizes 8:4M, or --sizes 0:100K:+1K")
        })?;
        let gate = |name: &str| {
            Isolation::parse(text(name).unwrap_or_default()).map_err(|cause| {
                let try_this = format!("--{name} barrier:dissemination");
                Failure::usage(format!("no such {name}"), cause, try_this)
            })
        };
        let (isolation, start) = (gate("isolation")?, gate("start")?);
        let named =
            |all: &[&'static str], name: &str| all.iter().position(|n| Some(*n) == text(name));
        let method = named(&Method::ALL.map(Method::name), "timing").unwrap_or(3);
        let confirmation = named(&Confirmation::ALL.map(Confirmation::name), "confirmation");
        let procedure = named(&Procedure::ALL.map(Procedure::name), "sync").unwrap_or(1);
        let names: Vec<&String> = matches.get_many("algorithm").unwrap_or_default().collect();
        let forms: Vec<&String> = matches.get_many("form").unwrap_or_default().collect();
        let asked = |form: &Form| forms.iter().any(|name| *name == form.name());
        let (rule, strict) = rule::rule(matches, &Rule::default())?;
        let method = Method::ALL[method];
        for (name, cause, usual) in [
            ("series", "a series of no calls takes no time", 100),
            ("resync", "clocks are compared after one repetition at the soonest", 50),
            ("trips", "two clocks are compared by one round trip at least", 10),
        ] {
            if count(name) == Some(0) {
                return Err(Failure::usage(
                    format!("--{name} 0"),
                    cause,
                    format!("--{name} {usual}"),
                ));
            }
        }
        let plan = Plan {
            collectives,
            choices: names.iter().map(|name| choice(name)).collect(),
            forms: Form::ALL.into_iter().filter(asked).collect(),
            ranks: session::counts(matches)?,
            refine: refine::asked(matches, &sizes)?,
            sizes,
            root: count("root").unwrap_or(0),
            method,
            isolation,
            start,
            confirmation: confirmation
                .map_or_else(Confirmation::default, |at| Confirmation::ALL[at]),
            procedure: Procedure::ALL[procedure],
            assume: if text("assume") == Some("none") { Assume::None } else { Assume::Symmetric },
            trips: count("trips"),
            skew: skew::asked(matches)?,
            resync: count("resync").unwrap_or(50),
            series: count("series").map_or(Series::default(), |length| Series { length }),
            rule,
            decided: Decided::asked(matches),
            strict,
            seed: matches.get_one::<u64>("seed").copied().unwrap_or(1),
            truth: matches.get_flag("truth"),
            cache: p2p::cache(text("cache").unwrap_or("warm"))?,
            keep: matches.get_flag("keep"),
            race: matches.get_flag("race"),
            ignored: ignored(matches, method),
            sites: placed::asked(matches),
            placed: OnceLock::new(),
        };
        plan.known_algorithms()?;
        plan.known_rivals()?;
        Ok(plan)
    }

    /// The interval that a row leads with.
    pub fn headline(&self, point: &Point) -> Option<Interval> {
        let bound = || {
            let Bound { low, high } = point.bound?;
            Some(Interval { low, high, level: point.interval?.level })
        };
        if self.assume == Assume::None { bound() } else { point.interval }
    }

    /// Whether a point is as near as was asked for, by the interval that its row leads with.
    pub fn is_near(&self, point: &Point) -> bool {
        let Some(interval) = self.headline(point).filter(|_| self.assume == Assume::None) else {
            return point.reached;
        };
        let asked = match self.rule.aim {
            Aim::Mean { alpha } => alpha,
            Aim::Median { precision, .. } => precision,
        };
        point.reached && interval.half_width() <= asked * point.estimate.abs()
    }

    /// The numbers of ranks to measure on, where there are so many at most.
    pub fn counts(&self, most: u32) -> Vec<u32> {
        if self.ranks.is_empty() { vec![most] } else { self.ranks.clone() }
    }

    /// A clock as it was asked for.
    pub fn clock<'c>(&self, clock: GlobalClock<'c>) -> GlobalClock<'c> {
        self.trips.into_iter().fold(clock, GlobalClock::with_trips)
    }

    /// A race takes rivals, and some that may stop early.
    fn known_rivals(&self) -> Result<(), Failure> {
        let refused = |what: &str, cause: &str, try_this: &str| {
            if self.race { Err(Failure::usage(what, cause, try_this)) } else { Ok(()) }
        };
        if self.choices.len() < 2 && self.choices != [Choice::All] {
            let cause = "algorithms race against each other, and there is one";
            refused("nobody to race against", cause, "--algorithm all --race")?;
        }
        if self.rule.min_reps == self.rule.max_reps {
            let cause = "--reps is an exact number, and nobody may stop early";
            refused("no race with so many repetitions", cause, "--max-reps 100 --race")?;
        }
        Ok(())
    }

    /// Every name must be an algorithm of at least one of the operations.
    fn known_algorithms(&self) -> Result<(), Failure> {
        for choice in &self.choices {
            let Choice::Named(name) = choice else { continue };
            let refusals = self.collectives.iter().map(|&collective| find(collective, name).err());
            let refusals: Option<Vec<_>> = refusals.collect();
            if let Some(refusal) = refusals.and_then(|all| all.into_iter().next()) {
                let what = format!("no algorithm `{name}`");
                return Err(Failure::usage(what, refusal.0, "laneway info algorithms"));
            }
        }
        Ok(())
    }

    /// The points to measure, in the order of the command line.
    pub fn cases(&self, comm: &dyn Comm, sizes: &[u64]) -> Vec<Case> {
        let mut cases = Vec::new();
        for &collective in &self.collectives {
            let sizes = if collective == Collective::Barrier { &[0][..] } else { sizes };
            for &size in sizes {
                for &form in &self.forms {
                    let answerers = self.answerers(comm, collective, form, size);
                    let case = |answerer| Case { collective, answerer, form, size };
                    cases.extend(answerers.into_iter().map(case));
                }
            }
        }
        cases
    }

    /// Whether two points lie on one curve: of one operation and form, by one algorithm or, where
    /// none was chosen, by whatever is usual for each size.
    pub fn share_curve(&self, one: &Case, other: &Case) -> bool {
        let alike = self.choices.is_empty() || one.answerer == other.answerer;
        one.collective == other.collective && one.form == other.form && alike
    }

    fn answerers(
        &self,
        comm: &dyn Comm,
        collective: Collective,
        form: Form,
        size: u64,
    ) -> Vec<Answerer> {
        let shape = self.shape(comm, collective, size);
        let native = comm.native_objection(&shape, form).is_none().then_some(Answerer::Native);
        let usual = || usual(&shape).map(|(algorithm, params)| Answerer::Ours(algorithm, params));
        let defaults = [Choice::Default];
        let choices = if self.choices.is_empty() { &defaults[..] } else { &self.choices };
        let mut answerers = Vec::new();
        for choice in choices {
            match choice {
                Choice::Default => answerers.extend(native.or_else(usual)),
                Choice::Native => answerers.push(Answerer::Native),
                Choice::Chosen => {
                    let found = self.placed.get().and_then(|placed| placed.choose(&shape).ok());
                    answerers.extend(found.map(|chosen| {
                        let best = &chosen.candidate;
                        Answerer::Ours(best.algorithm, best.params)
                    }));
                }
                Choice::All => {
                    let ours = algorithms(collective).map(|a| Answerer::Ours(a, a.defaults()));
                    answerers.extend(native.into_iter().chain(ours));
                }
                Choice::Named(name) => {
                    let found = find(collective, name).ok();
                    answerers.extend(found.map(|(a, params)| Answerer::Ours(a, params)));
                }
            }
        }
        answerers
    }

    pub fn shape(&self, comm: &dyn Comm, collective: Collective, size: u64) -> Shape {
        let root = if collective.has_root() { self.root } else { 0 };
        let shape = Shape::new(collective, comm.size(), size).with_root(root);
        match self.placed.get() {
            Some(placed) => placed.place(shape),
            None => shape,
        }
    }

    /// Collective: finds where the ranks are, if somebody said where hosts are.
    pub fn place(&self, comm: &dyn Comm) -> Result<(), RankError> {
        if let Some(placed) = Placed::find(comm, self.sites.as_deref()).map_err(placed::refused)? {
            // Simulated ranks share one plan, and all find the same.
            _ = self.placed.set(placed);
        } else if self.choices.contains(&Choice::Chosen) {
            let what = "nobody said where the ranks are";
            let cause = "`chosen` is what is fastest on a platform of sites";
            return Err(Failure::usage(what, cause, "--sites two-sites:8x8, or FILE.toml").into());
        }
        Ok(())
    }

    /// As rows tell it: `barrier:tree`, or `reduce+barrier:tree`.
    pub fn isolation_and_start(&self) -> String {
        match self.start {
            Isolation::None => self.isolation.to_string(),
            start => format!("{}+{start}", self.isolation),
        }
    }

    pub fn timing(&self, case: &Case, ranks: u32) -> Box<dyn Timing> {
        match self.method {
            Method::Root => Box::new(Root::new(self.root, self.confirmation)),
            Method::Maximum => Box::new(Maximum),
            Method::Global => Box::new(Global { resync: self.resync }),
            Method::StartTime => {
                let names = [case.collective.name(), case.answerer.name(), case.form.name()];
                let [op, algorithm, form] = names;
                let key = decided::key(op, algorithm, form, ranks, case.size);
                Box::new(self.decided.timing(&key))
            }
            Method::Loop => Box::new(self.series),
            Method::Tasks => Box::new(Tasks::new(self.root)),
        }
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
        let start = "--start has an effect only where ranks cannot keep their appointments";
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
