//! The arguments that say what a lab is made of.

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use laneway_lab::{LabError, Options, Plan};
use laneway_sim::platform::{parse_rate, parse_time};

use super::failure;
use crate::failure::Failure;
use crate::{platform, words};

pub fn args() -> Vec<Arg> {
    vec![
        Arg::new("platform")
            .long("platform")
            .value_name("P")
            .conflicts_with("sites")
            .help("A platform, as for the simulator: a TOML file, or two-sites:4x4,latency=5ms"),
        Arg::new("sites")
            .long("sites")
            .value_name("NxM")
            .help("N sites of M hosts each, with cards of 1 Gbit/s"),
        Arg::new("wan")
            .long("wan")
            .value_name("LATENCY[,CONNECTION[,TOGETHER]]")
            .requires("sites")
            .help("One-way latency, rate of a connection, and of two sites: 5ms,25Mbit,100Mbit"),
        Arg::new("cards")
            .long("cards")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..=8))
            .default_value("1")
            .help("Network cards of each host, each with a switch of its own"),
        Arg::new("one-switch")
            .long("one-switch")
            .action(ArgAction::SetTrue)
            .help("All cards of a site on one switch"),
        Arg::new("management")
            .long("management")
            .action(ArgAction::SetTrue)
            .help("Add a management network for launchers, which no fault affects"),
        Arg::new("queue")
            .long("queue")
            .value_name("SIZE")
            .help("Bytes in a queue of the WAN [default: 20 ms at its rate, at least 512K]"),
        Arg::new("switch-queue").long("switch-queue").value_name("SIZE").help(
            "Bytes in the queue of a switch's port [default: 20 ms at its rate, at least 512K]",
        ),
        Arg::new("receive-buffer").long("receive-buffer").value_name("SIZE").help(
            "Receive buffer of every socket, which holds a connection to about 0.6 SIZE in \
                 each round trip; a window of the platform is then not paced [default: 16M]",
        ),
        Arg::new("lab-seed")
            .long("seed")
            .value_name("N")
            .value_parser(value_parser!(u64))
            .default_value("1")
            .help("Seed of all random effects of the WAN"),
        Arg::new("no-probe")
            .long("no-probe")
            .action(ArgAction::SetTrue)
            .help("Do not verify the links before use"),
    ]
}

/// The plan that was asked for; `None` if neither a platform nor sites are given.
pub fn plan(matches: &ArgMatches) -> Result<Option<Plan>, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let spec = match (text("platform"), text("sites")) {
        // What runs in the lab may read it from another folder.
        (Some(platform), _) => match std::fs::canonicalize(platform) {
            Ok(file) => file.display().to_string(),
            Err(_) => platform.to_string(),
        },
        (None, Some(sites)) => sites_spec(sites, text("wan"))?,
        (None, None) => return Ok(None),
    };
    let platform = platform::read("--platform ", &spec)?;
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or(1);
    let options = Options {
        cards: number("cards") as usize,
        one_switch: matches.get_flag("one-switch"),
        management: matches.get_flag("management"),
        queue_bytes: text("queue").map(words::size).transpose()?,
        seed: number("lab-seed"),
        switch_queue: text("switch-queue").map(words::size).transpose()?,
        receive_buffer: text("receive-buffer").map(words::size).transpose()?,
    };
    let plan = Plan::new(&platform, options);
    plan.map(Some).map_err(|what| failure(LabError::Unbuildable(what)))
}

/// The platform of `--sites 2x8 --wan 5ms,25Mbit,100Mbit`.
fn sites_spec(sites: &str, wan: Option<&str>) -> Result<String, Failure> {
    let refuse = |what: String, cause: &str, try_this: &str| {
        Err(Failure::usage(what, cause.to_string(), try_this.to_string()))
    };
    let numbers = sites.split_once('x').and_then(|(sites, hosts)| {
        let (sites, hosts) = (sites.parse::<u32>().ok()?, hosts.parse::<u32>().ok()?);
        (sites > 0 && hosts > 0).then_some((sites, hosts))
    });
    let Some((count, hosts)) = numbers else {
        let cause = "sites are given as SITESxHOSTS";
        return refuse(
            format!("`{sites}` is not a number of sites and hosts"),
            cause,
            "--sites 2x8",
        );
    };
    if count == 1 {
        return match wan {
            Some(_) => refuse("a WAN needs two sites".to_string(), "", "--sites 2x8 --wan 5ms"),
            None => Ok(format!("cluster:{hosts}")),
        };
    }
    if count > 200 {
        let cause = "a lab has at most 200 sites";
        return refuse(format!("{count} sites"), cause, "--sites 2x8");
    }
    let each = vec![hosts.to_string(); count as usize].join(",");
    let parts: Vec<&str> = wan.unwrap_or("5ms").split(',').collect();
    let known = match parts[..] {
        [latency] => parse_time(latency).is_ok(),
        [latency, connection] => parse_time(latency).is_ok() && parse_rate(connection).is_ok(),
        [latency, connection, together] => {
            parse_time(latency).is_ok()
                && [connection, together].map(parse_rate).iter().all(Result::is_ok)
        }
        _ => false,
    };
    if !known {
        let what = format!("`{}` does not describe a WAN", parts.join(","));
        let cause = "a WAN is LATENCY[,RATE OF A CONNECTION[,RATE OF ALL]]";
        return refuse(what, cause, "--wan 5ms,25Mbit,100Mbit");
    }
    let mut spec = format!("sites:{each},latency={},uplink=100Gbit", parts[0]);
    // The generator's own limits are those of a paper; only what is said counts here.
    spec.push_str(&format!(",connection={}", parts.get(1).unwrap_or(&"100Gbit")));
    spec.push_str(&format!(",wan={}", parts.get(2).unwrap_or(&"100Gbit")));
    Ok(spec)
}
