//! Generators: `cluster:16`, `two-sites:32x32,latency=20ms`; every value can be given.

use laneway_core::error::nearest;

use super::description::{self, Description, HostGroup, HostNames, Limit, Site, Wan};
use super::error::{Fault, Place, PlatformError};
use super::fields::{Entry, Fields};
use super::random::random;
use super::settings::Settings;
use super::{MOST_HOSTS, MOST_SITES};
use crate::network::HostCost;

/// A platform that needs no file.
pub struct Generator {
    /// The word before its values: `cluster` of `cluster:16`.
    pub name: &'static str,
    /// What it makes, for lists on screen.
    pub sentence: &'static str,
    /// How it is written.
    pub example: &'static str,
    describe: fn(&[u32], &mut Fields) -> Result<Description, PlatformError>,
    /// What the words without a key are.
    words: Words,
}

/// What stands in a generator's words without a key.
enum Words {
    /// Numbers of hosts: what is between them, and how many there are at least and at most.
    Hosts(char, usize, usize),
    /// One number that all is drawn from.
    Seed,
}

/// All of them.
pub static GENERATORS: &[Generator] = &[
    Generator {
        name: "cluster",
        sentence: "Hosts behind one switch, a 1 Gbit/s card each, 50 us apart.",
        example: "cluster:16,rate=10Gbit,latency=5us",
        describe: cluster,
        words: Words::Hosts('x', 1, 1),
    },
    Generator {
        name: "two-sites",
        sentence: "The testbed of the multi-lane paper: one 1 Gbit/s card for LAN and WAN, \
                   1 Gbit/s between the sites, 5 ms, 250 Mbit/s a connection.",
        example: "two-sites:32x32,latency=20ms,connection=125Mbit",
        describe: two_sites,
        words: Words::Hosts('x', 2, 2),
    },
    Generator {
        name: "sites",
        sentence: "Any number of sites, each with an uplink of 1 Gbit/s; else as two-sites.",
        example: "sites:32,16,8,uplink=10Gbit",
        describe: sites,
        words: Words::Hosts(',', 1, MOST_SITES as usize),
    },
    Generator {
        name: "mpiblib16",
        sentence: "The heterogeneous cluster of the MPIBlib paper: 16 hosts of four kinds, one \
                   Gigabit switch.",
        example: "mpiblib16",
        describe: mpiblib16,
        words: Words::Hosts(',', 0, 0),
    },
    Generator {
        name: "random",
        sentence: "A cluster drawn from a seed: 4 to 32 hosts that differ, at one to three sites, \
                   uneven ways, perhaps traffic of others and wrong clocks.",
        example: "random:7,ways=symmetric,background=none",
        describe: random,
        words: Words::Seed,
    },
];

const GIGABIT: f64 = 125e6;
const LAN_LATENCY: f64 = 50e-6;

/// The generator that a name begins with, and the words after it.
pub(super) fn find(spec: &str) -> Option<(&'static Generator, &str)> {
    if spec.ends_with(".toml") {
        return None;
    }
    let end = spec.find([':', ',']).unwrap_or(spec.len());
    let (name, words) = spec.split_at(end);
    let generator = GENERATORS.iter().find(|generator| generator.name == name)?;
    Some((generator, words.strip_prefix([':', ',']).unwrap_or(words)))
}

/// For a name that is neither a file nor a generator.
pub(super) fn unknown(spec: &str) -> PlatformError {
    let word = spec.split([':', ',']).next().unwrap_or(spec);
    let names = || GENERATORS.iter().map(|generator| generator.name);
    let hint = match nearest(word, names()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the generators are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let what =
        if spec.is_empty() { "no platform is named" } else { "neither a file nor a generator" };
    let reason = format!("{what}; {hint}");
    Place::new(spec, 0).refuse(Fault::Unknown, reason)
}

/// What a generator says; `place` is where its words stand.
pub(super) fn describe(
    generator: &'static Generator,
    words: &str,
    place: &Place,
) -> Result<Description, PlatformError> {
    let syntax = |reason: String| place.refuse(Fault::Syntax, reason);
    let mut fields = Fields::new(generator.name, place.clone());
    let mut numbers = Vec::new();
    for word in words.split(',').filter(|_| !words.is_empty()) {
        match word.split_once('=') {
            Some((key, value)) => {
                let entry = match value {
                    "true" | "false" => Entry::Flag(value == "true"),
                    _ => Entry::Text(value.to_string()),
                };
                if !fields.insert(key, entry, place.clone()) {
                    return Err(syntax(format!("`{key}` is given twice")));
                }
            }
            None => numbers.push(word),
        }
    }
    let sizes = match generator.words {
        Words::Hosts(between, least, most) => {
            let numbers: Vec<&str> = numbers.iter().flat_map(|word| word.split(between)).collect();
            if numbers.len() < least || numbers.len() > most {
                return Err(syntax(format!("write it like {}", generator.example)));
            }
            let sizes = numbers.iter().map(|number| size(number, generator, place));
            sizes.collect::<Result<Vec<u32>, PlatformError>>()?
        }
        Words::Seed => {
            let [seed] = numbers[..] else {
                return Err(syntax(format!("write it like {}", generator.example)));
            };
            if !fields.insert("seed", Entry::Text(seed.to_string()), place.clone()) {
                return Err(syntax("`seed` is given twice".to_string()));
            }
            Vec::new()
        }
    };
    let mut said = (generator.describe)(&sizes, &mut fields)?;
    said.settings = Settings::read(&mut fields)?.over(said.settings);
    fields.finish()?;
    Ok(said)
}

fn size(text: &str, generator: &Generator, place: &Place) -> Result<u32, PlatformError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        let reason = format!("`{text}` is not a number of hosts; write {}", generator.example);
        return Err(place.refuse(Fault::Syntax, reason));
    }
    match text.parse::<u32>() {
        Ok(0) => Err(place.refuse(Fault::Size, "0 hosts: there must be at least one")),
        Ok(hosts) if hosts <= MOST_HOSTS => Ok(hosts),
        _ => {
            let reason = format!("{text} hosts; at most {MOST_HOSTS} are simulated");
            Err(place.refuse(Fault::Size, reason))
        }
    }
}

fn numbered(prefix: &str, hosts: u32, fields: &Fields) -> HostNames {
    (format!("{prefix}[0-{}]", hosts.saturating_sub(1)), fields.place.clone())
}

/// Hosts of one site.
fn group(
    prefix: &str,
    hosts: u32,
    site: &str,
    fields: &mut Fields,
) -> Result<HostGroup, PlatformError> {
    let (card, wan_card) = description::cards(fields, Some(GIGABIT))?;
    Ok(HostGroup {
        place: fields.place.clone(),
        names: numbered(prefix, hosts, fields),
        site: Some((site.to_string(), fields.place.clone())),
        card,
        wan_card,
        cost: description::cost(fields, HostCost::default())?,
        clock: description::clock(fields)?,
    })
}

fn cluster(sizes: &[u32], fields: &mut Fields) -> Result<Description, PlatformError> {
    let site = Site {
        place: fields.place.clone(),
        name: "cluster".to_string(),
        latency: fields.time("latency")?.unwrap_or(LAN_LATENCY),
        rate: fields.rate("lan")?,
        limit: description::limit(fields)?,
        uplink_out: None,
        uplink_in: None,
        congestion: None,
    };
    let hosts = vec![group("node", sizes[0], "cluster", fields)?];
    Ok(Description { hosts, sites: vec![site], ..Description::default() })
}

/// What the multi-lane paper's testbed has, between any two sites.
fn testbed_wan(fields: &mut Fields, rate: Option<f64>) -> Result<Wan, PlatformError> {
    let limit = description::limit(fields)?;
    let given = limit.rate.is_some() || limit.window.is_some();
    let paper = Limit { rate: Some(GIGABIT / 4.0), window: None };
    Ok(Wan {
        place: fields.place.clone(),
        latency: Some(fields.time("latency")?.unwrap_or(5e-3)),
        rate: fields.rate("wan")?.or(rate),
        aggregate: fields.rate("aggregate")?,
        congestion: description::congestion(fields)?,
        // A window that is asked for must not be hidden by the paper's rate.
        limit: if given { limit } else { paper },
    })
}

fn several(
    sizes: &[u32],
    fields: &mut Fields,
    uplink: Option<f64>,
    wan: Wan,
) -> Result<Description, PlatformError> {
    let uplink = fields.rate("uplink")?.or(uplink);
    let latency = fields.time("lan-latency")?.unwrap_or(LAN_LATENCY);
    let rate = fields.rate("lan")?;
    let like = group("", 0, "", fields)?;
    let mut said = Description { wan: Some(wan), ..Description::default() };
    for (number, hosts) in sizes.iter().enumerate() {
        let site = format!("site{number}");
        said.sites.push(Site {
            place: fields.place.clone(),
            name: site.clone(),
            latency,
            rate,
            limit: Limit::default(),
            uplink_out: uplink,
            uplink_in: uplink,
            congestion: None,
        });
        said.hosts.push(HostGroup {
            names: numbered(&format!("s{number}n"), *hosts, fields),
            site: Some((site, fields.place.clone())),
            ..like.clone()
        });
    }
    Ok(said)
}

fn two_sites(sizes: &[u32], fields: &mut Fields) -> Result<Description, PlatformError> {
    let wan = testbed_wan(fields, Some(GIGABIT))?;
    several(sizes, fields, None, wan)
}

fn sites(sizes: &[u32], fields: &mut Fields) -> Result<Description, PlatformError> {
    let wan = testbed_wan(fields, None)?;
    several(sizes, fields, Some(GIGABIT), wan)
}

/// paper: mpiblib 5: 11 x Xeon 2.8/3.4/3.6, 2 x P4 3.2/3.4, 1 x Celeron 2.9, 2 x Opteron 1.8.
/// How many of the Xeons have which clock it does not say; the division is ours.
const MPIBLIB_HOSTS: &[(&str, u32, f64)] = &[
    ("xeon28-", 4, 2.8),
    ("xeon34-", 5, 3.4),
    ("xeon36-", 2, 3.6),
    ("p4-32-", 1, 3.2),
    ("p4-34-", 1, 3.4),
    ("celeron29-", 1, 2.9),
    ("opteron18-", 2, 1.8),
];

/// paper: mpiblib 5: single gathers of medium messages escalate by about 0.15 s each. How much its
/// switch or hosts hold it does not say; ours is one message of LAM's eager limit.
const MPIBLIB_BUFFER: u64 = 64 << 10;

/// The paper gives no costs of its hosts. Ours are assumed for a 3.4 GHz Xeon over TCP and grow as
/// the clock falls; other ones can be given, for that Xeon.
fn mpiblib16(_sizes: &[u32], fields: &mut Fields) -> Result<Description, PlatformError> {
    let [per_send, per_byte_sent] = [20e-6, 2e-9];
    let (per_recv, per_byte_received) = (per_send, per_byte_sent);
    let usual = HostCost { per_send, per_recv, per_byte_sent, per_byte_received };
    let cost = description::cost(fields, usual)?;
    let mut said = cluster(&[0], fields)?;
    said.settings = Settings::tcp(MPIBLIB_BUFFER, &fields.place);
    let like = said.hosts.pop();
    for (kind, hosts, clock) in MPIBLIB_HOSTS {
        let slower = 3.4 / clock;
        said.hosts.extend(like.clone().map(|like| HostGroup {
            names: numbered(kind, *hosts, fields),
            cost: HostCost {
                per_send: cost.per_send * slower,
                per_recv: cost.per_recv * slower,
                per_byte_sent: cost.per_byte_sent * slower,
                per_byte_received: cost.per_byte_received * slower,
            },
            ..like
        }));
    }
    Ok(said)
}
