//! What a command line asks for: patterns, sizes, pairs, and when to stop.

use std::collections::BTreeSet;

use clap::ArgMatches;
use laneway_core::units::{format_size, parse_size};
use laneway_core::{CommError, Failure, Rank, Row};
use laneway_measure::p2p::{COLD_BYTES, Cache, Pattern, Plan, window};
use laneway_measure::{Rule, sizes};

use crate::measure::rule::rule;
use crate::measure::{memory, refine};

/// The word for all parameters of LogGP and PLogP at once.
const LOGP: &str = "logp";

/// The words of `--pattern`.
pub fn names() -> Vec<&'static str> {
    Pattern::ALL.map(Pattern::name).into_iter().chain([LOGP]).collect()
}

/// What the words mean, a line each.
pub fn patterns() -> String {
    let line = |(name, sentence): (&str, &str)| format!("  {name:<14}{sentence}\n");
    let logp = (LOGP, "o_s, o_r, gap and L, as LogGP and PLogP need them");
    let all = Pattern::ALL.map(|pattern| (pattern.name(), pattern.sentence()));
    all.into_iter().chain([logp]).map(line).collect()
}

/// More messages at once would need more room for their list than for their bytes.
const MOST_WINDOW: usize = 65_536;

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
            What::LogP => LOGP,
        }
    }
}

/// Which ranks.
#[derive(Clone, Debug, PartialEq)]
enum Pairs {
    Default,
    All,
    /// Two ranks each, or three.
    Given(Vec<Vec<Rank>>),
}

/// Everything, checked as far as it can be before there are ranks.
pub struct Asked {
    pub whats: Vec<What>,
    pub sizes: Vec<u64>,
    /// Sizes to add to each pattern where it bends.
    pub refine: u32,
    pairs: Pairs,
    parallel: bool,
    back: Option<usize>,
    pub window: usize,
    pub cache: Cache,
    pub rule: Rule,
    /// Whether the precision was asked for, and is an error where it is not reached.
    pub strict: bool,
    /// Of the order of the points.
    pub seed: u64,
    /// Whether every sample is to be kept.
    pub keep: bool,
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
        let window = text("window").parse().ok().filter(|n| (1..=MOST_WINDOW).contains(n));
        let Some(window) = window else {
            let what = format!("no window `{}`", text("window"));
            let cause = format!("it is a number of messages, 1 to {MOST_WINDOW}");
            return Err(Failure::usage(what, cause, "--window 64"));
        };
        let pairs = matches.get_one::<String>("pairs").map(|text| pairs(text)).transpose()?;
        let back = matches.get_one::<String>("back").map(|text| parse_size(text)).transpose();
        let back = back.map_err(|cause| Failure::usage("no such size", cause, "--back 8"))?;
        let back = back.map(|back| back as usize);
        if back.is_some() && whats.iter().any(|what| *what != What::Pattern(Pattern::RoundTrip)) {
            let cause = "only a round-trip comes home with another size";
            return Err(Failure::usage("no --back here", cause, "--pattern round-trip --back 8"));
        }
        let (rule, strict) = rule(matches, &Rule::default())?;
        Ok(Asked {
            whats,
            refine: refine::asked(matches, &sizes)?,
            sizes,
            pairs: pairs.unwrap_or(Pairs::Default),
            parallel: matches.get_flag("parallel"),
            back,
            window,
            cache: cache(text("cache"))?,
            rule,
            strict,
            seed: matches.get_one::<u64>("seed").copied().unwrap_or(1),
            keep: matches.get_flag("keep"),
        })
    }

    pub fn params(&self) -> Row {
        let sizes: Vec<String> = self.sizes.iter().map(|&size| format_size(size)).collect();
        let whats: Vec<&str> = self.whats.iter().map(|what| what.name()).collect();
        Row::new()
            .with("pattern", whats.join(","))
            .with("sizes", sizes.join(","))
            .with("parallel", self.parallel)
            .with("window", self.window as u64)
            .with("cache", cache_words(self.cache))
            .with("min_reps", self.rule.min_reps)
            .with("max_reps", self.rule.max_reps)
            .with("seed", self.seed)
    }

    /// What so many ranks cannot do.
    pub fn check(&self, ranks: u32) -> Result<(), Failure> {
        if ranks < 2 {
            let cause = "messages go from one rank to another, and there is one rank";
            return Err(Failure::usage("nothing to measure", cause, "--ranks 2"));
        }
        let (multi, two) = (self.has(Pattern::MultiPair), self.has(Pattern::PointToTwo));
        if two && ranks < 3 {
            let cause = "it takes three ranks, and there are two";
            return Err(Failure::usage("no point-to-two", cause, "--ranks 3"));
        }
        let Pairs::Given(subsets) = &self.pairs else { return Ok(()) };
        if let Some(bad) = subsets.iter().find(|subset| subset.iter().any(|&rank| rank >= ranks)) {
            let bad: Vec<String> = bad.iter().map(Rank::to_string).collect();
            let cause = format!("the ranks are 0 to {}", ranks - 1);
            return Err(Failure::usage(format!("no pair {}", bad.join(":")), cause, "--pairs 0:1"));
        }
        let misfit = subsets.iter().any(|subset| (subset.len() == 3) != two);
        if misfit || two && self.whats.len() > 1 {
            let cause = "point-to-two is of three ranks, and all else is of two";
            let try_this = "--pattern point-to-two --pairs 0:1:2";
            return Err(Failure::usage("no such pairs for these patterns", cause, try_this));
        }
        let mut all: Vec<Rank> = subsets.iter().flatten().copied().collect();
        all.sort_unstable();
        match all.windows(2).find(|two| multi && two[0] == two[1]) {
            Some(two) => {
                let cause = format!("rank {} would be in two pairs at once", two[0]);
                Err(Failure::usage("no such multi-pair", cause, "--pairs 0:1,2:3"))
            }
            None => Ok(()),
        }
    }

    fn has(&self, pattern: Pattern) -> bool {
        self.whats.contains(&What::Pattern(pattern))
    }

    /// Bytes that come home where they are told apart from those that go.
    pub fn back(&self, pattern: Pattern, size: usize) -> Option<usize> {
        (pattern == Pattern::RoundTrip).then_some(self.back.unwrap_or(size))
    }

    /// What a simulated cluster cannot do.
    pub fn check_clock(&self, is_virtual: bool) -> Result<(), Failure> {
        check_cache(self.cache, is_virtual)
    }

    /// Why the buffers of so many ranks do not fit into this machine.
    pub fn too_large(&self, ranks: u32) -> Option<String> {
        let sizes = self.sizes.iter().copied().chain(self.back.map(|back| back as u64));
        let size = sizes.max().unwrap_or(0);
        // Out and in, of an exchange from both sides, and as many under way.
        let need = match self.cache {
            Cache::Warm => size.saturating_mul(4),
            // A march has room for two windows at least.
            Cache::Cold { bytes } => {
                let window = window(self.window, size as usize, self.cache) as u64;
                size.saturating_mul(8 * window).saturating_add((bytes as u64).saturating_mul(2))
            }
        };
        memory::objection(need.saturating_mul(u64::from(ranks)), size)
    }

    /// The subsets of ranks that something is measured on.
    pub fn plan(&self, what: What, ranks: u32) -> Result<Plan, CommError> {
        let ring = matches!(what, What::Pattern(Pattern::Sendrecv | Pattern::Exchange));
        let multi = what == What::Pattern(Pattern::MultiPair);
        let two = what == What::Pattern(Pattern::PointToTwo);
        let half = ranks / 2;
        let listed = |plan: Plan| plan.subsets().map(<[Rank]>::to_vec).collect();
        let subsets = match &self.pairs {
            Pairs::Default | Pairs::All if multi => {
                vec![(0..half).flat_map(|i| [i, i + half]).collect()]
            }
            Pairs::Default if ring => vec![(0..ranks).collect()],
            Pairs::Default => vec![(0..if two { 3 } else { 2 }).collect()],
            Pairs::All if two => listed(Plan::triples(ranks)),
            Pairs::All => listed(Plan::pairs(ranks)),
            Pairs::Given(subsets) if multi => vec![subsets.concat()],
            Pairs::Given(subsets) => subsets.clone(),
        };
        // The circle method's rounds are found again: it lists them one after the other.
        let plan = Plan::of(subsets)?;
        Ok(if self.parallel { plan } else { plan.one_by_one() })
    }
}

/// `all`, or `0:1,2:3`, or `0:1:2` for three ranks.
fn pairs(text: &str) -> Result<Pairs, Failure> {
    if text == "all" {
        return Ok(Pairs::All);
    }
    let subset = |word: &str| {
        let ranks: Result<Vec<Rank>, _> = word.split(':').map(str::parse).collect();
        let ranks = ranks.ok().filter(|ranks| ranks.len() == 2 || ranks.len() == 3)?;
        let twice = |(at, rank): (usize, &Rank)| ranks[..at].contains(rank);
        (!ranks.iter().enumerate().any(twice)).then_some(ranks)
    };
    let found: Option<Vec<_>> = text.split(',').map(subset).collect();
    // Twice the same is measured once, as sizes are.
    let once = |mut all: Vec<Vec<Rank>>| {
        let mut seen = BTreeSet::new();
        all.retain(|ranks| seen.insert(ranks.clone()));
        Pairs::Given(all)
    };
    found.map(once).ok_or_else(|| {
        let cause = "a pair is two different ranks, as in 0:1";
        Failure::usage(format!("no pairs `{text}`"), cause, "--pairs 0:1,2:3, or --pairs all")
    })
}

/// A simulated cluster has no cold caches.
pub fn check_cache(cache: Cache, is_virtual: bool) -> Result<(), Failure> {
    if is_virtual && cache != Cache::Warm {
        let cause = "a simulated cluster has no caches: its figures would be the warm ones";
        return Err(Failure::usage("no cold caches here", cause, "--cache warm"));
    }
    Ok(())
}

/// As it is asked for.
pub fn cache_words(cache: Cache) -> String {
    match cache {
        Cache::Warm => "warm".to_string(),
        Cache::Cold { bytes } => format!("cold:{}", format_size(bytes as u64)),
    }
}

/// `warm`, `cold` or `cold:SIZE`.
pub fn cache(text: &str) -> Result<Cache, Failure> {
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
