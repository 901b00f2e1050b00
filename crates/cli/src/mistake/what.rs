//! What is wrong with a command line, and why, from the kind of clap's error and its values.

use std::error::Error as _;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// The cause where the kind says all.
const INVALID: &str = "the command line is invalid";

/// A single word of an error's context.
pub fn word(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// Words of an error's context.
pub fn words(error: &Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::Strings(words)) => words,
        Some(ContextValue::String(word)) => std::slice::from_ref(word),
        _ => &[],
    }
}

fn number(error: &Error, kind: ContextKind) -> isize {
    match error.get(kind) {
        Some(ContextValue::Number(number)) => *number,
        _ => 0,
    }
}

/// What is wrong.
pub fn what(error: &Error) -> String {
    let arg = word(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = word(error, ContextKind::InvalidValue).unwrap_or_default();
    let provided = |count: isize| match count {
        2.. => format!("{count} were provided"),
        _ => format!("{count} was provided"),
    };
    let actual = || provided(number(error, ContextKind::ActualNumValues));
    match error.kind() {
        ErrorKind::ArgumentConflict => conflict(error),
        ErrorKind::NoEquals => format!("equal sign is needed when assigning values to '{arg}'"),
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("a value is required for '{arg}' but none was supplied")
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            format!("invalid value '{value}' for '{arg}'")
        }
        ErrorKind::InvalidSubcommand => {
            let verb = word(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("unrecognized subcommand '{verb}'")
        }
        ErrorKind::MissingRequiredArgument => {
            "the following required arguments were not provided".into()
        }
        ErrorKind::MissingSubcommand => {
            let verb = word(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("'{verb}' requires a subcommand but one was not provided")
        }
        ErrorKind::TooManyValues => {
            format!("unexpected value '{value}' for '{arg}' found; no more were expected")
        }
        ErrorKind::TooFewValues => {
            let least = number(error, ContextKind::MinValues);
            format!("{least} values required by '{arg}'; only {}", actual())
        }
        ErrorKind::WrongNumberOfValues => {
            let expected = number(error, ContextKind::ExpectedNumValues);
            format!("{expected} values required for '{arg}' but {}", actual())
        }
        ErrorKind::UnknownArgument => format!("unexpected argument '{arg}' found"),
        kind => kind.as_str().unwrap_or(INVALID).into(),
    }
}

fn conflict(error: &Error) -> String {
    let arg = word(error, ContextKind::InvalidArg).unwrap_or_default();
    let verb = word(error, ContextKind::InvalidSubcommand);
    match (word(error, ContextKind::PriorArg), verb) {
        (Some(prior), _) if prior == arg => {
            format!("the argument '{arg}' cannot be used multiple times")
        }
        (Some(prior), None) => format!("the argument '{arg}' cannot be used with '{prior}'"),
        (Some(prior), Some(verb)) => {
            format!("the subcommand '{verb}' cannot be used with '{prior}'")
        }
        (None, Some(verb)) => format!("the subcommand '{verb}' cannot be used with"),
        (None, None) => format!("the argument '{arg}' cannot be used with"),
    }
}

/// Why it is wrong; `name` is the verb.
pub fn cause(error: &Error, name: &str) -> String {
    let arg = word(error, ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if arg.starts_with('-') => {
            format!("`{name}` has no such option")
        }
        ErrorKind::UnknownArgument => format!("`{name}` takes no such word"),
        ErrorKind::InvalidSubcommand => format!("`{name}` has no such verb"),
        ErrorKind::MissingRequiredArgument => words(error, ContextKind::InvalidArg).join(" "),
        ErrorKind::MissingSubcommand => {
            format!("the verbs are {}", listed(words(error, ContextKind::ValidSubcommand)))
        }
        ErrorKind::ArgumentConflict => match error.get(ContextKind::PriorArg) {
            Some(ContextValue::Strings(others)) => others.join(" "),
            _ => INVALID.into(),
        },
        ErrorKind::InvalidValue => match words(error, ContextKind::ValidValue) {
            [] => INVALID.into(),
            values => format!("the possible values are {}", listed(values)),
        },
        ErrorKind::ValueValidation => objection(error),
        _ => INVALID.into(),
    }
}

/// What the parser of a value says of it.
fn objection(error: &Error) -> String {
    let Some(source) = error.source() else { return INVALID.into() };
    let kind = source.downcast_ref::<ParseIntError>().map(ParseIntError::kind);
    match kind {
        Some(IntErrorKind::InvalidDigit) => "it is not a whole number".into(),
        Some(IntErrorKind::Empty) => "it is empty".into(),
        Some(IntErrorKind::PosOverflow) => "the number is too large".into(),
        _ => {
            let text = source.to_string();
            text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
        }
    }
}

/// Words, each of which a person can copy.
fn listed(words: &[String]) -> String {
    let quoted = |word: &String| match word.contains(char::is_whitespace) {
        true => format!("{word:?}"),
        false => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(", ")
}
