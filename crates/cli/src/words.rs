//! Words that several verbs take on the command line, and that mean the same in all of them:
//! operations, algorithms, sizes, times and shares.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches};
use laneway_coll::{Algorithm, Params, find};
use laneway_core::Collective;
use laneway_core::error::nearest;
use laneway_core::units::{format_size, parse_size};
use laneway_measure::sizes as size_list;

use crate::failure::Failure;

/// More bytes than any machine holds, and far from overflow.
const LARGEST: u64 = 1 << 40;

/// The file of an argument: `file:` before its name is understood everywhere.
pub fn file(text: &str) -> &str {
    text.strip_prefix("file:").unwrap_or(text)
}

/// An operation by its own name or that of MPI: `bcast`, `Bcast`, `MPI_Bcast`.
pub fn known_collective(name: &str) -> Option<Collective> {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    Collective::by_name(lower.strip_prefix("mpi_").unwrap_or(&lower))
}

/// The operation of a non-blocking call of MPI: `MPI_Ibcast`.
fn nonblocking(name: &str) -> Option<Collective> {
    known_collective(name.to_ascii_lowercase().strip_prefix("mpi_i")?)
}

/// An operation by its name; `verb` is who asks, for the example.
pub fn collective(verb: &str, name: &str) -> Result<Collective, Failure> {
    if let Some(collective) = nonblocking(name) {
        let op = collective.name();
        let what = format!("`{name}` is {op} in its non-blocking form");
        let cause = "an operation has one name, and --form says how it is called";
        let try_this = format!("laneway measure coll {op} --form nonblocking");
        return Err(Failure::usage(what, cause, try_this));
    }
    known_collective(name).ok_or_else(|| {
        let try_this = match nearest(name, Collective::ALL.map(Collective::name)) {
            Some(near) => format!("laneway {verb} {near}"),
            None => "laneway info algorithms".into(),
        };
        unknown_collective(name, try_this)
    })
}

/// A name that no operation has.
pub fn unknown_collective(name: &str, try_this: impl Into<String>) -> Failure {
    let all = Collective::ALL.map(Collective::name).join(", ");
    let cause = format!("the operations are {all}");
    Failure::usage(format!("unknown operation `{name}`"), cause, try_this)
}

/// The word for every operation, and for every algorithm.
const ALL: &str = "all";

/// Comma-separated operations, each once; `all` is every one.
fn collectives<'a>(
    verb: &str,
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<Collective>, Failure> {
    let mut all = Vec::new();
    for name in names {
        match name.as_str() {
            ALL => all.extend(Collective::ALL),
            name => all.push(collective(verb, name)?),
        }
    }
    let mut once = Vec::new();
    for collective in all {
        if !once.contains(&collective) {
            once.push(collective);
        }
    }
    Ok(once)
}

/// The operations that a verb takes: `bcast,reduce`, or one by one.
pub fn ops_arg() -> Arg {
    Arg::new("op")
        .value_name("OP")
        .value_delimiter(',')
        .action(ArgAction::Append)
        .help("Operations, comma-separated: bcast,scatter, or all")
}

/// The option that took them once: `--op bcast,reduce`.
pub fn old_ops_arg(long: &'static str) -> Arg {
    Arg::new(OLD_OPS).long(long).value_delimiter(',').conflicts_with("op").hide(true)
}

const OLD_OPS: &str = "old-op";

/// What [`ops_arg`] was given, else `usual`, comma-separated too.
pub fn ops(verb: &str, matches: &ArgMatches, usual: &str) -> Result<Vec<Collective>, Failure> {
    let old = matches.try_get_many::<String>(OLD_OPS).ok().flatten();
    match matches.get_many::<String>("op").or(old) {
        Some(names) => collectives(verb, names),
        None => {
            let usual: Vec<String> = usual.split(',').map(str::to_string).collect();
            collectives(verb, usual.iter())
        }
    }
}

/// An algorithm of an operation, with its parameters.
#[derive(Clone, Copy)]
pub struct Chosen {
    pub collective: Collective,
    pub algorithm: &'static Algorithm,
    pub params: Params,
}

/// Comma-separated algorithms of operations, each of those that have it; `all`, and nothing, are
/// every one.
pub fn algorithms<'a>(
    collectives: &[Collective],
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<Chosen>, Failure> {
    let names: Vec<&String> = names.collect();
    let mut all = Vec::new();
    let mut unknown: Vec<Option<String>> = vec![None; names.len()];
    for &collective in collectives {
        let chosen =
            |algorithm: &'static Algorithm, params| Chosen { collective, algorithm, params };
        if names.is_empty() || names.iter().any(|name| *name == ALL) {
            let every = laneway_coll::algorithms(collective);
            all.extend(every.map(|algorithm| chosen(algorithm, algorithm.defaults())));
            continue;
        }
        for (name, unknown) in names.iter().zip(&mut unknown) {
            match find(collective, name) {
                Ok((algorithm, params)) => all.push(chosen(algorithm, params)),
                Err(refusal) => *unknown = Some(refusal.0),
            }
        }
    }
    let served = |name: &str| collectives.iter().any(|&collective| find(collective, name).is_ok());
    match names.iter().zip(unknown).find(|(name, why)| why.is_some() && !served(name)) {
        Some((name, why)) => {
            Err(unknown_algorithm(name, why.unwrap_or_default(), collectives.len()))
        }
        None => Ok(all),
    }
}

/// A name that none of several operations has; `why` is what one of them says.
pub fn unknown_algorithm(name: &str, why: String, operations: usize) -> Failure {
    let is_all = why.ends_with(&format!("has no algorithm `{name}`")) && operations > 1;
    let cause = if is_all { "none of these operations has it".to_string() } else { why };
    Failure::usage(laneway_coll::refused_name(name), cause, "laneway info algorithms")
}

/// What is to be said of operations that have none of the algorithms.
pub fn unserved<'a>(
    collectives: &[Collective],
    names: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    let names: Vec<&String> = names.collect();
    // The library's own is there for every operation.
    if names.iter().any(|name| [ALL, "native"].contains(&name.as_str())) {
        return Vec::new();
    }
    let lines = laneway_coll::unserved(collectives, &names);
    lines.into_iter().map(|line| format!("left out {line}")).collect()
}

/// The name of a drawing, which no other ending belies.
pub fn svg_file(text: &str) -> Result<String, String> {
    let ending = Path::new(text).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.filter(|ending| ending != "svg") {
        None => Ok(text.to_string()),
        Some(ending) => Err(format!("drawings are SVG, not .{ending}")),
    }
}

/// `--sizes`: what they are the sizes of, and those that hold without it.
pub fn sizes_arg(of: &str, usual: &'static str) -> Arg {
    Arg::new("sizes")
        .long("sizes")
        .value_name("S,T")
        .value_delimiter(',')
        .allow_hyphen_values(true)
        .default_value(usual)
        .help(format!("{of}: 8,1K or ranges 8:4M, 0:100K:+1K, 8:4M:*4"))
}

/// Sizes and ranges of sizes, rising and each once: `8,1K`, `8:4M`, `0:100K:+1K`.
pub fn sizes<'a>(texts: impl Iterator<Item = &'a String>) -> Result<Vec<u64>, Failure> {
    let texts: Vec<&str> = texts.map(String::as_str).collect();
    let all = size_list::parse(&texts.join(",")).map_err(|cause| {
        let what = format!("invalid sizes `{}`", texts.join(","));
        let is_range = texts.iter().any(|text| text.contains(':'));
        Failure::usage(what, cause, if is_range { "--sizes 8:4M" } else { "--sizes 8,1K" })
    })?;
    all.iter().try_for_each(|&bytes| refuse_large(bytes))?;
    Ok(all)
}

/// A size in bytes.
pub fn size(text: &str) -> Result<u64, Failure> {
    let size = parse_size(text).map_err(|cause| {
        Failure::usage(format!("`{text}` is not a size"), cause, "64K, 1M, or 64K+1")
    })?;
    refuse_large(size)?;
    Ok(size)
}

fn refuse_large(bytes: u64) -> Result<(), Failure> {
    if bytes <= LARGEST {
        return Ok(());
    }
    let what = format!("a size of {} is too large", format_size(bytes));
    let cause = format!("the largest size is {}", format_size(LARGEST));
    Err(Failure::usage(what, cause, "--sizes 1G"))
}

/// A time above 0 in seconds: `5`, `5s`, `500ms`, `2min`.
pub fn seconds(name: &str, text: &str) -> Result<f64, Failure> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    // Divided, not multiplied: 5 / 1000 is the number nearest to 0.005.
    let in_seconds = |number: f64| match &text[digits.len()..] {
        "" | "s" => Some(number),
        "ns" => Some(number / 1e9),
        "us" | "µs" => Some(number / 1e6),
        "ms" => Some(number / 1e3),
        "min" => Some(number * 60.0),
        "h" => Some(number * 3600.0),
        _ => None,
    };
    let number = digits.parse::<f64>().ok().and_then(in_seconds);
    number.filter(|seconds| *seconds > 0.0 && seconds.is_finite()).ok_or_else(|| {
        let what = format!("`{text}` is not a time for --{name}");
        Failure::usage(what, "a time is above 0, in seconds or with a unit", format!("--{name} 5s"))
    })
}

/// Shares that are something and not all.
pub const PARTS: [f64; 2] = [1e-5, 0.9999];
/// Levels of an interval that say something.
pub const LEVELS: [f64; 2] = [0.5, 0.9999];

/// A share as `5%` or `0.05`; a bare 5 is refused, as it could be meant to be either.
pub fn share(name: &str, text: &str, range: [f64; 2], example: &str) -> Result<f64, Failure> {
    let number = match text.strip_suffix('%') {
        Some(number) => number.parse::<f64>().ok().map(|number| number / 100.0),
        None => text.parse().ok().filter(|number| *number < 1.0),
    };
    number.filter(|number| (range[0]..=range[1]).contains(number)).ok_or_else(|| {
        let [low, high] = range.map(|end| end * 100.0);
        let cause = format!("the share must be from {low}% to {high}%, such as {example}");
        let what = format!("`{text}` is not a share for --{name}");
        Failure::usage(what, cause, format!("--{name} {example}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_are_seconds() {
        let read = |text: &str| seconds("budget", text).ok();
        assert_eq!((read("5"), read("5s"), read("0.5")), (Some(5.0), Some(5.0), Some(0.5)));
        assert_eq!(
            (read("500ms"), read("2min"), read("1h")),
            (Some(0.5), Some(120.0), Some(3600.0))
        );
        assert_eq!((read("20µs"), read("20us"), read("1ns")), (Some(2e-5), Some(2e-5), Some(1e-9)));
        for text in ["", "s", "0", "-1", "-1s", "5 s", "5d", "nan", "inf", "1e400"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn operations_have_the_names_of_mpi_too() {
        for name in ["bcast", "Bcast", "MPI_Bcast", "mpi_bcast"] {
            assert_eq!(collective("sim", name).ok(), Some(Collective::Bcast), "{name}");
        }
        let block = collective("sim", "MPI_Reduce_scatter_block").ok();
        assert_eq!(block, Some(Collective::ReduceScatterBlock));
        let failure = collective("sim", "MPI_Iallreduce").expect_err("it does not block");
        let try_line = "try:   laneway measure coll allreduce --form nonblocking";
        assert!(failure.to_string().ends_with(try_line), "{failure}");
    }

    #[test]
    fn sizes_are_lists_and_ranges() {
        let read = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
            sizes(texts.iter()).ok()
        };
        assert_eq!(read(&["1K", "8:64"]), Some(vec![8, 16, 32, 64, 1024]));
        assert_eq!(read(&["0:4:+2"]), Some(vec![0, 2, 4]));
        for bad in ["", "x", "-8", "8:4", "2T:4T"] {
            assert_eq!(read(&[bad]), None, "{bad}");
        }
    }

    #[test]
    fn shares_have_a_percent_sign_or_are_fractions() {
        let threshold = |text: &str| share("threshold", text, [0.0, 10.0], "5%").ok();
        let level = |text: &str| share("level", text, LEVELS, "95%").ok();
        assert_eq!((threshold("5%"), threshold("0.05")), (Some(0.05), Some(0.05)));
        assert_eq!((level("99%"), level("0.99")), (Some(0.99), Some(0.99)));
        for text in ["", "%", "x", "-1%", "nan", "inf%", "5"] {
            assert_eq!(threshold(text), None, "{text}");
        }
        assert_eq!((level("100%"), level("95")), (None, None));
        for text in ["0", "0%", "100%", "1", "2"] {
            assert!(share("alpha", text, PARTS, "5%").is_err(), "{text}");
        }
    }
}
