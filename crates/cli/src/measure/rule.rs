//! When there are enough repetitions: the arguments that all measuring verbs share.

use std::str::FromStr;

use clap::{Arg, ArgMatches};
use laneway_measure::Rule;
use laneway_measure::repeat::Aim;

use crate::failure::Failure;
use crate::words::{LEVELS, PARTS, seconds, share};

/// The arguments; `usual` is what holds without them.
pub fn args(usual: &Rule) -> [Arg; 7] {
    let text = |name: &'static str, value: &'static str, help: String| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        arg.allow_negative_numbers(true)
    };
    let precision = match usual.aim {
        Aim::Median { precision, .. } => precision,
        Aim::Mean { alpha } => alpha,
    };
    let percent = |part: f64| (part * 1e4).round() / 1e2;
    let Rule { min_reps, max_reps, budget, .. } = usual;
    let (precision, level) = (percent(precision), percent(usual.level()));
    [
        text("reps", "N", "Exactly N repetitions".into()),
        text("min-reps", "N", format!("At least N repetitions [default: {min_reps}]")),
        text(
            "max-reps",
            "N",
            format!("At most N repetitions [default: {max_reps}; with --budget no limit but time]"),
        ),
        text(
            "precision",
            "P",
            format!("Stop when half the median's interval is below P [default: {precision}%]"),
        ),
        text("alpha", "A", "Stop by the rule of the MPIBlib paper: the mean, with error A".into())
            .conflicts_with("precision"),
        text("level", "L", format!("Confidence level of the interval [default: {level}%]"))
            .conflicts_with("alpha"),
        budget_arg(*budget),
    ]
}

/// `--budget`, which is the time of each point in every verb that has it.
pub fn budget_arg(usual: f64) -> Arg {
    Arg::new("budget")
        .long("budget")
        .value_name("TIME")
        .allow_negative_numbers(true)
        .help(format!("Time for each point, on the ranks' clock: 5, 5s, 500ms [default: {usual}s]"))
}

/// A number, if it was given.
pub fn number<T: FromStr>(
    matches: &ArgMatches,
    name: &str,
    kind: &str,
    example: &str,
) -> Result<Option<T>, Failure> {
    let parse = |text: &String| {
        text.parse().map_err(|_| {
            let what = format!("`{text}` is not a value for --{name}");
            Failure::usage(what, format!("it is {kind}"), format!("--{name} {example}"))
        })
    };
    matches.get_one::<String>(name).map(parse).transpose()
}

/// When to stop, and whether not reaching it is an error.
pub fn rule(matches: &ArgMatches, usual: &Rule) -> Result<(Rule, bool), Failure> {
    let text = |name: &str| matches.get_one::<String>(name);
    let count = |name: &str| number::<u32>(matches, name, "a whole number below 2^32", "40");
    let mut rule = *usual;
    let level = text("level").map(|text| share("level", text, LEVELS, "95%")).transpose()?;
    if let (Some(asked), Aim::Median { level, .. }) = (level, &mut rule.aim) {
        *level = asked;
    }
    let level = rule.level();
    if let Some(alpha) = text("alpha") {
        rule.aim = Aim::Mean { alpha: share("alpha", alpha, PARTS, "5%")? };
    }
    if let Some(precision) = text("precision") {
        let precision = share("precision", precision, PARTS, "1%")?;
        rule.aim = Aim::Median { precision, level };
    }
    let bounded = ["min-reps", "max-reps", "precision"].iter().any(|name| text(name).is_some());
    match (count("reps")?, count("min-reps")?, count("max-reps")?) {
        (Some(_), ..) if bounded => {
            let what = "--reps is an exact number";
            let cause = "--min-reps, --max-reps and --precision bound it";
            return Err(Failure::usage(what, cause, "--reps 40, or --min-reps 6 --max-reps 100"));
        }
        (Some(reps), ..) => {
            (rule.min_reps, rule.max_reps, rule.budget) = (reps, reps, f64::INFINITY);
        }
        (None, least, most) => {
            rule.min_reps = least.unwrap_or(usual.min_reps.min(most.unwrap_or(u32::MAX)));
            rule.max_reps = most.unwrap_or(usual.max_reps.max(rule.min_reps));
        }
    }
    if text("precision").is_some() && rule.is_fixed() {
        let what = "--precision says when to stop, but the number of repetitions is fixed";
        let cause = format!("the least and the most are both {}", rule.max_reps);
        let try_this = format!("--min-reps {} --max-reps 1000 --precision 1%", rule.min_reps);
        return Err(Failure::usage(what, cause, try_this));
    }
    if let Some(budget) = text("budget") {
        let budget = seconds("budget", budget)?;
        let limited = text("max-reps").is_some() || rule.is_fixed();
        rule = if limited { Rule { budget, ..rule } } else { rule.with_budget(budget) };
    }
    match rule.objection() {
        Some(cause) => {
            let what = "invalid stopping rule";
            let try_this = match text("reps") {
                Some(_) => "--reps 40",
                None => "--min-reps 6 --max-reps 1000 --precision 1% --budget 5",
            };
            Err(Failure::usage(what, cause, try_this))
        }
        None => Ok((rule, text("alpha").is_some() || text("precision").is_some())),
    }
}
