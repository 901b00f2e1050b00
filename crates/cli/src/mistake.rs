//! A mistake on the command line in the form of every error: what is wrong, why, and something
//! that can be typed instead.

mod what;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use laneway_core::error::nearest;
use laneway_measure::p2p::sweep::Experiment;

use what::{word, words};

use crate::failure::Failure;
use crate::words::known_collective;

/// Clap's error in our form; `args` is the command line, the program's name first.
pub fn failure(command: &Command, args: &[OsString], error: &Error) -> Failure {
    let verb = Verb::of(command, args);
    let try_this = with_flag(args, error).or_else(|| verb.with_option(args, error));
    let try_this = try_this.or_else(|| verb.longer(args, error)).or_else(|| verb.meant(error));
    let try_this = try_this.or_else(|| similar(error)).or_else(|| verb.instead(error));
    let try_this = try_this.unwrap_or_else(|| verb.help());
    Failure::usage(what::what(error), what::cause(error, &verb.name), try_this)
}

/// The option or value that may have been meant, as clap suggests it.
fn similar(error: &Error) -> Option<String> {
    let near = |typed: &str, meant: &str| {
        let (typed, meant) = (typed.trim_matches('-'), meant.trim_matches('-'));
        let begins_alike = typed.chars().next() == meant.chars().next();
        begins_alike && nearest(typed, [meant]).is_some()
    };
    let first = |kind| words(error, kind).first();
    match (first(ContextKind::SuggestedArg), first(ContextKind::SuggestedValue)) {
        (Some(meant), _) => {
            let typed = word(error, ContextKind::InvalidArg)?;
            near(typed, meant).then(|| meant.clone())
        }
        (None, Some(meant)) => {
            let typed = word(error, ContextKind::InvalidValue)?;
            let given = |option: String| format!("{option} {meant}");
            near(typed, meant).then(|| option(error).map_or_else(|| meant.clone(), given))
        }
        (None, None) => None,
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
        let failure = failure(&command, &args, &error).to_string();
        let (_, try_this) = failure.split_once("\ntry:   ").expect("something to try");
        let try_this = try_this.to_string();
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
        assert_eq!(try_line("laneway measure coll bcast --szies 8"), "--sizes");
        assert_eq!(try_line("laneway measure coll bcast --format jsno"), "--format json");
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
            let failure = failure(&command, &args, &error).to_string();
            assert!(failure.starts_with(&format!("error: {what}")), "{failure}");
            assert!(failure.contains(&format!("\ncause: {cause}")), "{failure}");
        }
    }
}
