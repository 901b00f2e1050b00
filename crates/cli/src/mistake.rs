//! A mistake on the command line in the form of every error: what is wrong, why, and something
//! that can be typed instead.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use laneway_core::Failure;
use laneway_core::error::nearest;
use laneway_measure::p2p::sweep::Experiment;

use crate::words::known_collective;

/// What the parser of numbers says, and what a person understands.
const PLAIN_CAUSES: [(&str, &str); 3] = [
    ("invalid digit found in string", "it is not a whole number"),
    ("cannot parse integer from empty string", "it is empty"),
    ("number too large to fit in target type", "the number is too large"),
];

/// Clap's error in our form; `args` is the command line, the program's name first.
pub fn failure(command: &Command, args: &[OsString], error: &Error) -> Failure {
    let text = error.render().to_string();
    let parts: Vec<&str> = text.split("\n\n").map(str::trim).collect();
    let what = parts.first().copied().unwrap_or_default();
    let what = what.strip_prefix("error: ").unwrap_or(what);
    let verb = Verb::of(command, args);
    let (what, cause) = match what.split_once('\n').or_else(|| what.split_once("': ")) {
        Some((what, cause)) => (what, cause.to_string()),
        None => (what, verb.objection(error)),
    };
    let quote = if what.matches('\'').count() % 2 == 1 { "'" } else { "" };
    let cause = cause.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let plain = PLAIN_CAUSES.iter().find(|(raw, _)| cause == *raw);
    let values = cause.strip_prefix("[possible values: ").and_then(|list| list.strip_suffix(']'));
    let cause = match (plain, values) {
        (Some((_, plain)), _) => plain.to_string(),
        (None, Some(values)) => format!("the possible values are {values}"),
        (None, None) => cause,
    };
    let tip = parts.iter().find_map(|part| part.strip_prefix("tip: "));
    // What clap would pass behind `--` is not a value of ours.
    let tip = tip.filter(|tip| !tip.starts_with("to pass") && is_near(what, tip));
    let try_this = with_flag(args, error).or_else(|| verb.with_option(args, error));
    let try_this = try_this.or_else(|| verb.longer(args, error)).or_else(|| verb.meant(error));
    let try_this = try_this.or_else(|| tip.map(str::to_string));
    let try_this = try_this.or_else(|| verb.instead(error)).unwrap_or_else(|| verb.help());
    Failure::usage(format!("{}{quote}", what.trim_end_matches(':')), cause, try_this)
}

/// Whether what a tip calls similar could be a typing error.
fn is_near(what: &str, tip: &str) -> bool {
    let quoted =
        |text: &str| text.split('\'').nth(1).map(|name| name.trim_matches('-').to_string());
    match (tip.contains("similar"), quoted(what), quoted(tip)) {
        (true, Some(typed), Some(meant)) => {
            let begins_alike = typed.chars().next() == meant.chars().next();
            begins_alike && nearest(&typed, [meant.as_str()]).is_some()
        }
        _ => true,
    }
}

/// What was typed, with the options without values that others of it need.
fn with_flag(args: &[OsString], error: &Error) -> Option<String> {
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing,
        _ => return None,
    };
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    let is_flag = |word: &String| word.starts_with("--") && !word.contains('<');
    let typed: Option<Vec<&str>> = args.iter().skip(1).map(|word| word.to_str()).collect();
    let typed =
        typed.filter(|words| words.iter().all(|word| !word.contains(char::is_whitespace)))?;
    let all = || format!("laneway {} {}", typed.join(" "), missing.join(" "));
    (is_missing && missing.iter().all(is_flag)).then(all)
}

/// The verb that was typed, as far as there is such a verb.
struct Verb<'a> {
    /// With those above it: `laneway topo check`.
    name: String,
    command: &'a Command,
}

impl<'a> Verb<'a> {
    fn of(command: &'a Command, args: &[OsString]) -> Verb<'a> {
        let mut verb = Verb { name: command.get_name().to_string(), command };
        for word in args.iter().skip(1) {
            let Some(next) = verb.command.find_subcommand(word) else { break };
            verb = Verb { name: format!("{} {}", verb.name, next.get_name()), command: next };
        }
        verb
    }

    fn help(&self) -> String {
        format!("{} --help", self.name)
    }

    /// Why clap refuses what it gives no reason for.
    fn objection(&self, error: &Error) -> String {
        let word = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(word)) => word.as_str(),
            _ => "",
        };
        match error.kind() {
            ErrorKind::UnknownArgument if word.starts_with('-') => {
                format!("`{}` has no such option", self.name)
            }
            ErrorKind::UnknownArgument => format!("`{}` takes no such word", self.name),
            ErrorKind::InvalidSubcommand => format!("`{}` has no such verb", self.name),
            _ => "the command line is invalid".to_string(),
        }
    }

    /// What was typed with the words that belong before an operation, a pattern or a verb of
    /// another verb: `measure bcast`, `info allreduce`, `pairs`.
    fn longer(&self, args: &[OsString], error: &Error) -> Option<String> {
        let kind = match error.kind() {
            ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
            ErrorKind::InvalidValue if option(error).is_none() => ContextKind::InvalidValue,
            _ => return None,
        };
        let Some(ContextValue::String(typed)) = error.get(kind) else { return None };
        let operations: Option<Vec<&str>> =
            typed.split(',').map(|word| Some(known_collective(word)?.name())).collect();
        let operations = operations.map(|names| names.join(","));
        let is_pattern = Experiment::all().any(|pattern| pattern.name() == typed);
        let longer = match (self.name.as_str(), operations) {
            ("laneway" | "laneway measure", Some(names)) => format!("laneway measure coll {names}"),
            ("laneway info", Some(names)) => format!("laneway info algorithms {names}"),
            ("laneway" | "laneway measure", None) if is_pattern => {
                format!("laneway measure p2p --pattern {typed}")
            }
            ("laneway", None) => {
                let has_it = |verb: &&Command| verb.find_subcommand(typed).is_some();
                let verb = self.command.get_subcommands().find(has_it)?;
                format!("laneway {} {typed}", verb.get_name())
            }
            _ => return None,
        };
        let rest = args.iter().skip_while(|word| word.to_str() != Some(typed.as_str())).skip(1);
        let rest: Option<Vec<&str>> = rest.map(|word| word.to_str()).collect();
        let rest =
            rest.filter(|words| words.iter().all(|word| !word.contains(char::is_whitespace)));
        Some([vec![longer.as_str()], rest.unwrap_or_default()].concat().join(" "))
    }

    /// A verb, or a word of a list, in the place of what is none.
    fn meant(&self, error: &Error) -> Option<String> {
        match error.kind() {
            ErrorKind::InvalidSubcommand => {
                let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
                else {
                    return None;
                };
                let near = nearest(typed, self.command.get_subcommands().map(Command::get_name));
                let command = near.and_then(|near| self.command.find_subcommand(near))?;
                let verb = Verb { name: format!("{} {}", self.name, command.get_name()), command };
                Some(verb.examples().into_iter().next().unwrap_or_else(|| verb.help()))
            }
            ErrorKind::InvalidValue if option(error).is_none() => {
                let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue) else {
                    return None;
                };
                valid.first().map(|value| format!("{} {value}", self.name))
            }
            _ => None,
        }
    }

    /// The word that no option stands before as the value of the one option that is required and
    /// missing.
    fn with_option(&self, args: &[OsString], error: &Error) -> Option<String> {
        let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
            return None;
        };
        let is_value = !word.starts_with('-') && !word.contains(char::is_whitespace);
        let is_given = |arg: &&Arg| {
            let long = arg.get_long().map(|long| format!("--{long}"));
            let short = arg.get_short().map(|short| format!("-{short}"));
            let names: Vec<String> = long.into_iter().chain(short).collect();
            let named = |typed: &str| names.iter().any(|name| typed.starts_with(name.as_str()));
            args.iter().filter_map(|typed| typed.to_str()).any(named)
        };
        let needed = |arg: &&Arg| arg.is_required_set() && !is_given(arg);
        let missing: Vec<&Arg> = self.command.get_arguments().filter(needed).collect();
        match (&missing[..], error.kind()) {
            ([arg], ErrorKind::UnknownArgument) if is_value => {
                arg.get_long().map(|long| format!("{} --{long} {word}", self.name))
            }
            _ => None,
        }
    }

    /// Something with the same option, or all that is required, that would be taken.
    fn instead(&self, error: &Error) -> Option<String> {
        let Some(option) = option(error) else {
            let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
            return self.examples().into_iter().next().filter(|_| is_missing);
        };
        let valid = match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(values)) => values.first().cloned(),
            _ => None,
        };
        let usual = |arg: &Arg| {
            arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned())
        };
        let long = option.strip_prefix("--");
        let named = |arg: &&Arg| long.is_some() && arg.get_long() == long;
        let short = self.command.get_arguments().find(named).and_then(Arg::get_short);
        let short = short.map(|letter| format!("-{letter}"));
        let is_option = |word: &str| word == option || Some(word) == short.as_deref();
        let has_option = |line: &String| line.split_whitespace().any(is_option);
        valid
            .or_else(|| self.command.get_arguments().find(named).and_then(usual))
            .map(|value| format!("{option} {value}"))
            .or_else(|| self.examples().into_iter().find(has_option))
    }

    /// The commands below the verb's help that need no launcher, without what is said about them.
    fn examples(&self) -> Vec<String> {
        let help = self.command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.split_once("Examples:").map_or("", |(_, examples)| examples);
        let commands = lines.lines().map(|line| line.trim().split("  ").next().unwrap_or(""));
        let own = format!("{} ", self.name);
        commands.filter(|line| line.starts_with(&own)).map(str::to_string).collect()
    }
}

/// The option whose value is wrong: `--timing` of `--timing <T>`.
fn option(error: &Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(arg) if error.get(ContextKind::InvalidValue).is_some() => {
            arg.split_whitespace().next().filter(|word| word.starts_with('-')).map(str::to_string)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `try:` line of a command line, which must itself be taken where it is a whole one.
    fn try_line(line: &str) -> String {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let command = crate::command();
        let error = command.clone().try_get_matches_from(&args).expect_err("a mistake");
        let try_this = failure(&command, &args, &error).try_this;
        if try_this.starts_with("laneway ") && !try_this.ends_with("--help") {
            let args = try_this.split_whitespace();
            command.try_get_matches_from(args).expect("what is advised is taken");
        }
        try_this
    }

    #[test]
    fn advises_what_can_be_typed() {
        for (typed, advised) in [
            ("laneway topo check", "laneway topo check --topology mlfm:d=18"),
            ("laneway sim bcast --root x", "--root 0"),
            ("laneway measure coll bcast --timing fast", "--timing root"),
            ("laneway topo random -t mlfm:d=4 --trials 1", "--trials 100"),
            ("laneway topo cost --nodes x", "laneway topo cost --nodes 6k --ports 64"),
            ("laneway topo export -t mlfm:d=4 --as png", "--as ibsim"),
            ("laneway measure coll bcast --quiet", "laneway measure coll --help"),
            (
                "laneway model predict bcast --model m.toml --budget 1s",
                "laneway model predict bcast --model m.toml --budget 1s --measure",
            ),
            ("laneway nothing", "laneway --help"),
            ("laneway mesure", "laneway measure --help"),
            ("laneway topo chek", "laneway topo check --topology mlfm:d=18"),
            ("laneway measure bcast --ranks 4", "laneway measure coll bcast --ranks 4"),
            ("laneway MPI_Allreduce", "laneway measure coll allreduce"),
            ("laneway measure latency", "laneway measure p2p --pattern latency"),
            ("laneway info allreduce", "laneway info algorithms allreduce"),
            ("laneway pairs --ranks 4", "laneway measure pairs --ranks 4"),
            ("laneway completions foo", "laneway completions bash"),
            ("laneway topo check mlfm:d=4", "laneway topo check --topology mlfm:d=4"),
            ("laneway topo check -t mlfm:d=4 mlfm:d=5", "laneway topo check --help"),
        ] {
            assert_eq!(try_line(typed), advised, "{typed}");
        }
        assert!(try_line("laneway measure coll bcast --szies 8").contains("--sizes"));
    }

    #[test]
    fn causes_are_plain() {
        for (option, what, cause) in [
            ("--root", "invalid value 'x' for '--root <R>'", "it is not a whole number"),
            ("--format", "invalid value 'x' for '--format", "the possible values are "),
        ] {
            let args = ["laneway", "sim", "bcast", option, "x"].map(OsString::from);
            let command = crate::command();
            let error = command.clone().try_get_matches_from(&args).expect_err("a mistake");
            let failure = failure(&command, &args, &error);
            assert!(failure.what.starts_with(what), "{failure}");
            assert!(failure.cause.starts_with(cause), "{failure}");
        }
    }
}
