//! What a command line asks for: patterns, sizes, pairs, and when to stop.

use clap::{Arg, ArgMatches};
use laneway_core::units::parse_size;
use laneway_measure::Rule;
use laneway_measure::p2p::Cache;
use laneway_measure::p2p::sweep::{Experiment, PatternSweep, Ranks, Refusal};

use crate::failure::Failure;
use crate::measure::{refine, rule};
use crate::words;

/// What the words of `--pattern` mean, a line each.
pub fn describe_patterns() -> String {
    let line = |one: Experiment| format!("  {:<14}{}\n", one.name(), one.sentence());
    Experiment::all().map(line).collect()
}

/// What was asked for.
pub struct Asked {
    pub sweep: PatternSweep,
    /// Whether the precision was asked for, and is an error where it is not reached.
    pub strict: bool,
}

impl Asked {
    /// Everything, checked as far as it can be before there are ranks.
    pub fn from(matches: &ArgMatches) -> Result<Asked, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let names = matches.get_many::<String>("pattern").unwrap_or_default();
        let sizes = words::sizes(matches.get_many("sizes").unwrap_or_default())?;
        let (rule, strict) = rule::rule(matches, &Rule::default())?;
        let experiments = names.filter_map(|name| Experiment::by_name(name)).collect();
        let mut sweep = PatternSweep::new(experiments, sizes);
        sweep.refine = refine::from_args(matches, &sweep.sizes)?;
        sweep.ranks = text("pairs").map_or(Ok(Ranks::Usual), parse_ranks)?;
        sweep.parallel = matches.get_flag("parallel");
        sweep.back = text("back").map(parse_back).transpose()?;
        let kind = "a whole number of messages";
        sweep.window = rule::number(matches, "window", kind, "64")?.unwrap_or(sweep.window);
        sweep.cache = text("cache").map_or(Ok(Cache::Warm), cache)?;
        sweep.rule = rule;
        sweep.seed = matches.get_one::<u64>("seed").copied().unwrap_or(sweep.seed);
        sweep.keep = matches.get_flag("keep");
        sweep.check()?;
        Ok(Asked { sweep, strict })
    }
}

fn parse_ranks(text: &str) -> Result<Ranks, Failure> {
    text.parse().map_err(|cause: String| {
        let what = format!("invalid pairs `{text}`");
        Failure::usage(what, cause, "--pairs 0:1,2:3, or --pairs all")
    })
}

fn parse_back(text: &str) -> Result<usize, Failure> {
    let size = parse_size(text)
        .map_err(|cause| Failure::usage(format!("unknown size `{text}`"), cause, "--back 8"))?;
    Ok(size as usize)
}

/// `--cache`, of all verbs whose buffers can be cold.
pub fn cache_arg() -> Arg {
    let help = "warm: one buffer; cold[:SIZE]: cycle through SIZE, more than the cache [256M]";
    Arg::new("cache").long("cache").value_name("C").help(help).default_value("warm")
}

/// `warm`, `cold` or `cold:SIZE`.
pub fn cache(text: &str) -> Result<Cache, Failure> {
    text.parse().map_err(|cause: String| {
        let what = format!("unknown cache `{text}`");
        Failure::usage(what, cause, "--cache warm, or --cache cold:256M")
    })
}

/// As it is asked for.
pub fn cache_words(cache: Cache) -> String {
    cache.to_string()
}

/// A simulated cluster has no cold caches.
pub fn check_cache(cache: Cache, is_virtual: bool) -> Result<(), Failure> {
    if is_virtual && cache != Cache::Warm {
        return Err(Refusal::NoCaches.into());
    }
    Ok(())
}
