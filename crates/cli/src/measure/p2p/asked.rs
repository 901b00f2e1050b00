//! What a command line asks for: patterns, sizes, pairs, and when to stop.

use clap::{Arg, ArgMatches};
use laneway_core::units::{format_size, parse_size};
use laneway_core::{CommError, Failure, Rank, Row};
use laneway_measure::p2p::{COLD_BYTES, Cache, Pattern, Plan, window};
use laneway_measure::repeat::Aim;
use laneway_measure::{Rule, sizes};

use crate::session;

/// The words of `--pattern`.
pub const NAMES: [&str; 9] = [
    "latency",
    "bandwidth",
    "bibw",
    "rate",
    "multi-pair",
    "sendrecv",
    "exchange",
    "overlap",
    "logp",
];

/// What is measured between the ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    Pattern(Pattern),
    LogP,
}

impl What {
    fn by_name(name: &str) -> What {
        let pattern = Pattern::ALL.into_iter().find(|pattern| pattern.name() == name);
        pattern.map_or(What::LogP, What::Pattern)
    }

    pub fn name(self) -> &'static str {
        match self {
            What::Pattern(pattern) => pattern.name(),
            What::LogP => "logp",
        }
    }
}

/// Which ranks.
#[derive(Clone, Debug, PartialEq)]
enum Pairs {
    Default,
    All,
    Given(Vec<(Rank, Rank)>),
}

/// Everything, checked as far as it can be before there are ranks.
pub struct Asked {
    pub whats: Vec<What>,
    pub sizes: Vec<u64>,
    pairs: Pairs,
    parallel: bool,
    pub window: usize,
    pub cache: Cache,
    pub rule: Rule,
    /// Whether the precision was asked for, and is an error where it is not reached.
    pub strict: bool,
}

impl Asked {
    pub fn from(matches: &ArgMatches) -> Result<Asked, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
        let names: Vec<&String> = matches.get_many("pattern").unwrap_or_default().collect();
        let sizes = sizes::parse(text("sizes"));
        let sizes =
            sizes.map_err(|cause| Failure::usage("no such sizes", cause, "--sizes 8:4M"))?;
        let whats: Vec<What> = names.iter().map(|name| What::by_name(name)).collect();
        if whats.contains(&What::Pattern(Pattern::Overlap)) && sizes.contains(&0) {
            let cause = "a message without bytes leaves nothing to be hidden";
            return Err(Failure::usage("no overlap of size 0", cause, "--sizes 8:4M"));
        }
        let window = text("window").parse().ok().filter(|&window| window > 0);
        let Some(window) = window else {
            let what = format!("no window `{}`", text("window"));
            return Err(Failure::usage(what, "it is a number of messages", "--window 64"));
        };
        let pairs = matches.get_one::<String>("pairs").map(|text| pairs(text)).transpose()?;
        let (rule, strict) = rule(matches, Rule::default())?;
        Ok(Asked {
            whats,
            sizes,
            pairs: pairs.unwrap_or(Pairs::Default),
            parallel: matches.get_flag("parallel"),
            window,
            cache: cache(text("cache"))?,
            rule,
            strict,
        })
    }

    pub fn params(&self) -> Row {
        let sizes: Vec<String> = self.sizes.iter().map(|&size| format_size(size)).collect();
        let cache = match self.cache {
            Cache::Warm => "warm".to_string(),
            Cache::Cold { bytes } => format!("cold:{}", format_size(bytes as u64)),
        };
        Row::new()
            .with("sizes", sizes.join(","))
            .with("parallel", self.parallel)
            .with("cache", cache)
            .with("min_reps", self.rule.min_reps)
            .with("max_reps", self.rule.max_reps)
    }

    /// What so many ranks cannot do.
    pub fn check(&self, ranks: u32) -> Result<(), Failure> {
        if ranks < 2 {
            let cause = "messages go from one rank to another, and there is one rank";
            return Err(Failure::usage("nothing to measure", cause, "--ranks 2"));
        }
        let Pairs::Given(pairs) = &self.pairs else { return Ok(()) };
        match pairs.iter().find(|(a, b)| *a.max(b) >= ranks) {
            Some((a, b)) => {
                let cause = format!("the ranks are 0 to {}", ranks - 1);
                Err(Failure::usage(format!("no pair {a}:{b}"), cause, "--pairs 0:1"))
            }
            None => Ok(()),
        }
    }

    /// Why the buffers of all ranks do not fit, if they were on this machine.
    pub fn too_large(&self, ranks: u32) -> Option<String> {
        let available = session::memory_bytes()?;
        let size = self.sizes.iter().copied().max().unwrap_or(0);
        let messages = 2 + window(self.window, size as usize) as u64;
        let cold = match self.cache {
            Cache::Warm => 0,
            Cache::Cold { bytes } => 2 * bytes as u64,
        };
        let need = size.saturating_mul(messages).saturating_add(cold);
        let need = need.saturating_mul(u64::from(ranks));
        (need > available).then(|| {
            let (need, available) = (need >> 20, available >> 20);
            format!("size {} needs about {need} MiB of {available} MiB", format_size(size))
        })
    }

    /// The subsets of ranks that something is measured on.
    pub fn plan(&self, what: What, ranks: u32) -> Result<Plan, CommError> {
        let half = ranks / 2;
        let ring = matches!(what, What::Pattern(Pattern::Sendrecv | Pattern::Exchange));
        let multi = what == What::Pattern(Pattern::MultiPair);
        let subsets = match &self.pairs {
            Pairs::All if multi => vec![(0..half).flat_map(|i| [i, i + half]).collect()],
            Pairs::All => Plan::pairs(ranks).subsets().map(<[Rank]>::to_vec).collect(),
            Pairs::Given(pairs) if multi => vec![pairs.iter().flat_map(|p| [p.0, p.1]).collect()],
            Pairs::Given(pairs) => pairs.iter().map(|&(a, b)| vec![a, b]).collect(),
            Pairs::Default if ring => vec![(0..ranks).collect()],
            Pairs::Default if multi => vec![(0..half).flat_map(|i| [i, i + half]).collect()],
            Pairs::Default => vec![vec![0, 1]],
        };
        // The circle method's rounds are found again: it lists them one after the other.
        let plan = Plan::of(subsets)?;
        Ok(if self.parallel { plan } else { plan.one_by_one() })
    }
}

/// `all`, or `0:1,2:3`.
fn pairs(text: &str) -> Result<Pairs, Failure> {
    if text == "all" {
        return Ok(Pairs::All);
    }
    let pair = |word: &str| {
        let (a, b) = word.split_once(':')?;
        let (a, b): (Rank, Rank) = (a.parse().ok()?, b.parse().ok()?);
        (a != b).then_some((a, b))
    };
    let found: Option<Vec<_>> = text.split(',').map(pair).collect();
    found.map(Pairs::Given).ok_or_else(|| {
        let cause = "a pair is two different ranks, as in 0:1";
        Failure::usage(format!("no pairs `{text}`"), cause, "--pairs 0:1,2:3, or --pairs all")
    })
}

/// `warm`, `cold` or `cold:SIZE`.
fn cache(text: &str) -> Result<Cache, Failure> {
    let refused = |cause: String| {
        let what = format!("no cache `{text}`");
        Failure::usage(what, cause, "--cache warm, or --cache cold:256M")
    };
    match text.split_once(':').unwrap_or((text, "")) {
        ("warm", "") => Ok(Cache::Warm),
        ("cold", "") => Ok(Cache::Cold { bytes: COLD_BYTES }),
        ("cold", size) => match parse_size(size).map_err(&refused)? {
            0 => Err(refused("a march needs room".to_string())),
            bytes => Ok(Cache::Cold { bytes: bytes as usize }),
        },
        _ => Err(refused("a buffer is warm or cold".to_string())),
    }
}

/// The arguments that say when there are enough repetitions.
pub fn repetition_args() -> [Arg; 4] {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    [
        text("reps", "N", "Exactly N repetitions").conflicts_with_all(["precision", "max-reps"]),
        text("max-reps", "N", "At most N repetitions"),
        text("precision", "P", "Stop when half the median's interval is below P, such as 1%"),
        text("budget", "SECONDS", "Time for the repetitions of one pair, on the ranks' clock"),
    ]
}

/// When to stop, and whether not reaching it is an error.
pub fn rule(matches: &ArgMatches, usual: Rule) -> Result<(Rule, bool), Failure> {
    let text = |name: &str| matches.get_one::<String>(name);
    let count = |name: &'static str| {
        let number = |text: &String| {
            text.parse::<u32>().map_err(|_| {
                let what = format!("no {name} `{text}`");
                Failure::usage(what, "it is a whole number", format!("--{name} 40"))
            })
        };
        text(name).map(number).transpose()
    };
    let mut rule = match count("reps")? {
        Some(reps) => Rule::fixed(reps),
        None => usual,
    };
    if let Some(most) = count("max-reps")? {
        (rule.min_reps, rule.max_reps) = (rule.min_reps.min(most), most);
    }
    if let Some(precision) = text("precision") {
        rule.aim = Aim::Median { precision: part("precision", precision)?, level: 0.95 };
    }
    if let Some(seconds) = text("budget") {
        rule.budget = seconds.parse().unwrap_or(f64::NAN);
    }
    match rule.objection() {
        Some(cause) => {
            let what = "such a measurement cannot be done";
            Err(Failure::usage(what, cause, "--max-reps 1000 --precision 1% --budget 5"))
        }
        None => Ok((rule, text("precision").is_some())),
    }
}

/// A part of one: `90%` or `0.9`.
pub fn part(name: &str, text: &str) -> Result<f64, Failure> {
    let (digits, unit) = match text.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (text, 1.0),
    };
    let value = digits.parse::<f64>().map_or(f64::NAN, |value| value / unit);
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    let cause = "it is a part of one, above 0 and below 1";
    Err(Failure::usage(format!("no {name} `{text}`"), cause, format!("--{name} 1%")))
}
