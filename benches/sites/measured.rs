//! What `laneway sites measure` writes of a configuration's platform, measured in virtual time
//! while others use it too.

use std::fmt::Write;

use laneway_core::Comm;
use laneway_measure::Rule;
use laneway_measure::sites::{Asked, Found, measure_sites};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_sites::found::{limits, platform_text};
use laneway_stats::SplitMix64;

use crate::config::{BESIDE_EACH_OTHER, Config, SIMGRIDS_WAY};

/// Of each figure; the smallest and the largest of five enclose the median in 15 of 16 cases.
const REPS: u32 = 5;
/// Others take so large a part of every link, in messages that take so long at a way's rate. More
/// of a link that many ways share is not noise: the choice is judged without them.
const LOAD: f64 = 0.03;
const BURST_SECONDS: f64 = 2e-3;

/// The platform that measuring wrote, and its text.
pub fn measured(config: &Config, random: &mut SplitMix64) -> Result<(Platform, String), String> {
    let text = busy(config, random);
    let platform = Platform::parse("busy", &text).map_err(|error| format!("{error}\n{text}"))?;
    let found = find(&platform)?;
    if !found.is_measured() {
        return Err("a figure was not measured".into());
    }
    // What no measuring tells of SimGrid.
    let found = platform_text(&found, &limits(&found));
    let of_messages = |line: &&str| {
        ["in-order", "connections", "sharing"].into_iter().any(|key| line.starts_with(key))
    };
    let lines: Vec<&str> = found.lines().filter(|line| !of_messages(line)).collect();
    let text = format!("{SIMGRIDS_WAY}{BESIDE_EACH_OTHER}{}\n", lines.join("\n"));
    let platform =
        Platform::parse("measured", &text).map_err(|error| format!("{error}\n{text}"))?;
    Ok((platform, text))
}

/// The true platform, and traffic of others between any two sites and inside each.
fn busy(config: &Config, random: &mut SplitMix64) -> String {
    let mut text =
        format!("include = [\"{}\"]\nseed = {}\n", config.platform(), random.index(1 << 30));
    let sites = config.hosts.len();
    for (from, to) in (0..sites).flat_map(|from| (0..sites).map(move |to| (from, to))) {
        let mut host = |site: usize| random.index(config.hosts[site] as usize);
        let (sender, receiver) = (host(from), host(to));
        if (from, sender) == (to, receiver) {
            continue;
        }
        let (rate, share) = if from == to {
            (config.rate, config.rate)
        } else {
            (config.far_rate(), config.far_share())
        };
        let bytes = (rate / 8.0 * BURST_SECONDS).max(1.0);
        let every = bytes / (share / 8.0) / LOAD;
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "\n[[background]]\nfrom = \"s{from}n{sender}\"\nto = \"s{to}n{receiver}\"\n\
             size = \"{bytes:.0}\"\nevery = \"{:.3}us\"\nrandom = true\n",
            every * 1e6
        );
    }
    text
}

/// Sites are given, as with `--sites`: one that has a single host cannot be found.
fn find(platform: &Platform) -> Result<Found, String> {
    let site = |host: u32| {
        let site = platform.site_of(host).unwrap_or(0) as usize;
        platform.site_names()[site].clone()
    };
    let sites: Vec<String> = (0..platform.hosts()).map(site).collect();
    let program = |comm: &dyn Comm| {
        let (sites, rule) = (Some(&sites[..]), Rule::fixed(REPS));
        let (alive, observer) = (&|| {}, &());
        measure_sites(
            comm,
            &Asked { sites, message: None, every: false, anyway: true, rule, alive, observer },
        )
    };
    let ended = Program::new(platform, platform.hosts()).run(program);
    let ended = ended.map_err(|error| error.to_string())?;
    let first = ended.results.into_iter().next().ok_or("no rank")?;
    first.map_err(|error| error.to_string())
}
