//! The bytes that pass every link over time, as the switches count them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LabError;
use crate::name::{LabName, card, port};
use crate::plan::Plan;
use crate::system::within;
use crate::up::rates_of;

/// How long a record sleeps at most before it looks whether to stop.
const STEP: Duration = Duration::from_millis(10);

/// A link of a lab, with what passed it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// A host's card or a site's way to the others, named as the simulator names it.
    pub name: String,
    /// How the two directions are called: from the host or the site, and to it.
    pub directions: [&'static str; 2],
    /// Bytes a second that each can carry, where that is known.
    pub capacity: [Option<f64>; 2],
    /// Interval after interval.
    pub passed: Vec<Passed>,
}

/// What passed in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Passed {
    /// Seconds since the record began, and how long the interval is.
    pub at: f64,
    /// Seconds of the interval.
    pub length: f64,
    /// Bytes in each direction.
    pub bytes: [u64; 2],
}

/// Bytes from a host or a site, and to it.
type Count = [u64; 2];

/// The devices of one site, and the counters that the kernel keeps of them.
struct Site {
    counters: File,
    /// The kernel's names, and the links that they are.
    devices: Vec<(String, Link)>,
}

/// Reads the counters of a lab.
pub struct Recorder {
    sites: Vec<Site>,
}

impl Recorder {
    /// Opens the counters of all links.
    pub fn new(lab: &LabName, plan: &Plan) -> Result<Recorder, LabError> {
        let site = |number: usize| {
            let open = || File::open("/proc/thread-self/net/dev");
            let counters = within(&lab.site(number), open)?
                .map_err(|error| LabError::system("opening the counters of links", error))?;
            Ok(Site { counters, devices: devices(plan, number) })
        };
        let sites = (0..plan.sites.len()).map(site).collect::<Result<_, LabError>>()?;
        Ok(Recorder { sites })
    }

    fn read(&mut self) -> Result<Vec<Count>, LabError> {
        let mut counts = Vec::new();
        for site in &mut self.sites {
            let mut text = String::new();
            let read = site.counters.seek(SeekFrom::Start(0));
            read.and_then(|_| site.counters.read_to_string(&mut text))
                .map_err(|error| LabError::system("reading the counters of links", error))?;
            for (device, _) in &site.devices {
                counts.push(find(&text, device).unwrap_or_default());
            }
        }
        Ok(counts)
    }

    /// Records until stopped; the last interval is as long as it happens to be.
    pub fn record(mut self, every: Duration, stop: &AtomicBool) -> Result<Vec<Link>, LabError> {
        let begun = Instant::now();
        let (mut before, mut at, mut next) = (self.read()?, 0.0, every);
        loop {
            let ended = stop.load(Ordering::Acquire);
            let left = next.saturating_sub(begun.elapsed());
            if !ended && !left.is_zero() {
                // Short steps, so that the end of a run is not waited for.
                thread::sleep(left.min(STEP));
                continue;
            }
            let (now, until) = (self.read()?, begun.elapsed().as_secs_f64());
            let links = self.sites.iter_mut().flat_map(|site| &mut site.devices);
            for ((_, link), (count, old)) in links.zip(now.iter().zip(&before)) {
                let bytes = [0, 1].map(|way| count[way].saturating_sub(old[way]));
                link.passed.push(Passed { at, length: until - at, bytes });
            }
            (before, at) = (now, until);
            next += every;
            if ended {
                let links = self.sites.into_iter().flat_map(|site| site.devices);
                return Ok(links.map(|(_, link)| link).collect());
            }
        }
    }
}

/// The devices of a site that are links of the plan.
fn devices(plan: &Plan, site: usize) -> Vec<(String, Link)> {
    let hosts = plan.hosts.iter().enumerate().filter(|(_, host)| host.site == site);
    let mut found: Vec<(String, Link)> = hosts
        .flat_map(|(number, host)| {
            let link = move |path| {
                let name = match (path, host.wan_card) {
                    (0, _) => host.name.clone(),
                    (_, Some(_)) => format!("{}:wan", host.name),
                    (_, None) => format!("{}:{}", host.name, card(path)),
                };
                let (out, into) = rates_of(host, path);
                let (directions, capacity) = (["out", "in"], [out, into]);
                (port(number, path), Link { name, directions, capacity, passed: Vec::new() })
            };
            (0..plan.paths()).map(link)
        })
        .collect();
    found.extend(wan(plan, site).map(|link| ("wan".to_string(), link)));
    found
}

/// A site's way to the others. Of two sites, the first counts for both.
fn wan(plan: &Plan, site: usize) -> Option<Link> {
    let [here, there] = &plan.sites[..] else {
        let (name, directions) = (format!("{}:uplink", plan.sites[site]), ["out", "in"]);
        let link = Link { name, directions, capacity: [None, None], passed: Vec::new() };
        return (plan.sites.len() > 1).then_some(link);
    };
    let capacity = [(0, 1), (1, 0)].map(|(from, to)| {
        let pipes = plan.way(from, to)?.pipes.iter().map(|pipe| plan.pipes[*pipe].rate);
        pipes.reduce(f64::min)
    });
    let (name, directions) = (format!("{here}:to:{there}"), ["there", "back"]);
    (site == 0).then_some(Link { name, directions, capacity, passed: Vec::new() })
}

/// The counters of a device in the kernel's table. What a switch's port receives, its host sends;
/// a site sends what its WAN device transmits.
fn find(table: &str, device: &str) -> Option<Count> {
    let mut lines = table.lines().filter_map(|line| line.split_once(':'));
    let (_, figures) = lines.find(|(name, _)| name.trim() == device)?;
    let figures: Vec<u64> =
        figures.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let (received, transmitted) = (*figures.first()?, *figures.get(8)?);
    Some(match device {
        "wan" => [transmitted, received],
        _ => [received, transmitted],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_the_whole_name() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes packets\n\
                     h1c0: 11 1 0 0 0 0 0 0 12 1 0 0 0 0 0 0\n  \
                     h11c0:21 1 0 0 0 0 0 0 22 1 0 0 0 0 0 0\n \
                     wan: 31 1 0 0 0 0 0 0 32 1 0 0 0 0 0 0";
        assert_eq!(find(table, "h1c0"), Some([11, 12]));
        assert_eq!(find(table, "h11c0"), Some([21, 22]));
        assert_eq!(find(table, "wan"), Some([32, 31]));
        assert_eq!(find(table, "h2c0"), None);
    }
}
