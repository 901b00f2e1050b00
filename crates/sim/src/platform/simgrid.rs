//! The same platform for SimGrid: an independent judge of our virtual time.
//!
//! Each direction of a card and each link becomes a link without latency; what one connection may
//! have, and the latency of its way, become a fat pipe on the way. Under the model CM02 with all
//! factors 1, SimGrid then gives a message the same time as we do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::error::{Fault, Place, PlatformError};
use super::{Platform, Way};
use crate::network::{Fairness, HostClock, HostCost, HostId, Network, Route};

/// Every pair of hosts is written out, so more hosts than this would fill the disk.
pub const MOST_SIMGRID_HOSTS: u32 = 1024;

/// What SimGrid's MPI accounts for each message beyond its own bytes, always.
const SMPI_HEADER_BYTES: u64 = 16;

/// The settings with which SimGrid computes what we compute.
const SETTINGS: &[(&str, &str)] = &[
    ("network/model", "CM02"),
    // The usual Lazy forgets links of the second of two messages that start moving at one instant
    // and have their first link in common: seen in 3.32 as cards that sent faster than their rate.
    ("network/optim", "Full"),
    ("network/TCP-gamma", "0"),
    ("network/latency-factor", "1"),
    ("network/bandwidth-factor", "1"),
    ("network/weight-S", "0"),
    ("network/crosstraffic", "0"),
    ("smpi/simulate-computation", "no"),
    ("smpi/wtime", "0"),
];

/// A platform in SimGrid's words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimgridExport {
    /// For `smpirun -platform`.
    pub platform_xml: String,
    /// For `smpirun -hostfile`: rank r is on host r.
    pub hostfile: String,
    /// For `smpirun`, each one an argument.
    pub arguments: Vec<String>,
    /// What SimGrid cannot say, in words.
    pub lost: Vec<String>,
}

impl SimgridExport {
    /// The files of a folder, by name.
    pub fn files(&self) -> [(&'static str, String); 3] {
        let arguments: String = self.arguments.iter().map(|word| format!("{word}\n")).collect();
        [
            ("platform.xml", self.platform_xml.clone()),
            ("hostfile", self.hostfile.clone()),
            ("arguments", arguments),
        ]
    }
}

impl Platform {
    /// Writes the platform for SimGrid 3.32.
    pub fn export_simgrid(&self) -> Result<SimgridExport, PlatformError> {
        let hosts = self.hosts();
        if hosts > MOST_SIMGRID_HOSTS {
            let reason =
                format!("{hosts} hosts; a file for SimGrid has at most {MOST_SIMGRID_HOSTS}");
            return Err(Place::new(&self.name, 0).refuse(Fault::Size, reason));
        }
        Ok(SimgridExport {
            platform_xml: self.xml(),
            hostfile: self.host_names.iter().map(|name| format!("{name}\n")).collect(),
            arguments: self.arguments(),
            lost: self.lost(),
        })
    }

    /// Arguments and no `<config>` in the file: smpirun sets a model of its own, and what is set on
    /// the command line stands over the file.
    fn arguments(&self) -> Vec<String> {
        // SimGrid counts from the first byte that is no longer eager.
        let eager = self.eager_bytes().saturating_add(1).to_string();
        let thresholds = ["smpi/async-small-thresh", "smpi/send-is-detached-thresh"];
        let thresholds = thresholds.iter().map(|key| (*key, eager.as_str()));
        let settings = SETTINGS.iter().copied().chain(thresholds);
        settings.map(|(key, value)| format!("--cfg={key}:{value}")).collect()
    }

    fn lost(&self) -> Vec<String> {
        let count = |odd: &dyn Fn(HostId) -> bool| (0..self.hosts()).filter(|&h| odd(h)).count();
        let costs = count(&|host| self.cost(host) != HostCost::default());
        let clocks = count(&|host| self.clock(host) != HostClock::default());
        let (header, changes) = (self.header_bytes(), self.changes.len());
        let sources = self.background.len();
        let congested = self.resources.iter().filter(|link| !link.congestion.is_none()).count();
        let losses = [
            (
                costs > 0,
                format!("the costs of {costs} hosts (send, receive, per-byte): it has none"),
            ),
            (clocks > 0, format!("the clocks of {clocks} hosts: all of its clocks are exact")),
            (
                header != SMPI_HEADER_BYTES,
                format!("a header of {header} bytes: its MPI adds {SMPI_HEADER_BYTES}, always"),
            ),
            (
                self.connections() > 1,
                format!(
                    "{} connections of two hosts: it has one for each message",
                    self.connections()
                ),
            ),
            (
                self.in_order(),
                "in-order: its messages of a pair flow beside each other, as ours with \
                 in-order=false"
                    .to_string(),
            ),
            (
                self.fairness() == Fairness::Equal && self.latencies() > 1,
                "equal shares of a full link: its flows share by latency, as ours with \
                 sharing=by-latency"
                    .to_string(),
            ),
            (
                congested > 0,
                format!("the congestion of {congested} links: its links have one rate each"),
            ),
            (self.overflow().is_some(), "receive-buffer: it loses no message".to_string()),
            (changes > 0, format!("the {changes} changes of rates by events")),
            (sources > 0, format!("the background traffic of {sources} pairs of hosts")),
        ];
        losses.into_iter().filter(|(lost, _)| *lost).map(|(_, what)| what).collect()
    }

    // Writing into a string cannot fail, so the results of `writeln!` are not looked at.
    fn xml(&self) -> String {
        let mut xml = String::from(
            "<?xml version='1.0'?>\n\
             <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
             <platform version=\"4.1\">\n\
             <zone id=\"all\" routing=\"Full\">\n",
        );
        for name in &self.host_names {
            _ = writeln!(xml, "  <host id=\"{name}\" speed=\"1Gf\"/>");
        }
        for resource in &self.resources {
            let policy = if resource.shared { "SHARED" } else { "FATPIPE" };
            let (name, rate) = (&resource.name, resource.rate);
            _ = writeln!(
                xml,
                "  <link id=\"{name}\" bandwidth=\"{rate}Bps\" latency=\"0s\" \
                 sharing_policy=\"{policy}\"/>"
            );
        }
        let fastest = self.resources.iter().map(|resource| resource.rate).fold(1.0, f64::max);
        let pipes = self.pipes(fastest);
        for ((latency, most), name) in &pipes {
            let (latency, most) = (f64::from_bits(*latency), f64::from_bits(*most));
            _ = writeln!(
                xml,
                "  <link id=\"{name}\" bandwidth=\"{most}Bps\" latency=\"{latency}s\" \
                 sharing_policy=\"FATPIPE\"/>"
            );
        }
        self.routes(&mut xml, fastest, &pipes);
        xml.push_str("</zone>\n</platform>\n");
        xml
    }

    fn routes(&self, xml: &mut String, fastest: f64, pipes: &Pipes) {
        let mut route = Route::default();
        for (from, to) in self.pairs() {
            self.route(from, to, &mut route);
            let names = (&self.host_names[from as usize], &self.host_names[to as usize]);
            _ = write!(xml, "  <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">", names.0, names.1);
            let pipe = self.way(from, to).and_then(|(way, _)| pipes.get(&pipe(way, fastest)));
            let passed = route.resources.iter().map(|id| &self.resources[*id as usize].name);
            for name in pipe.into_iter().chain(passed) {
                _ = write!(xml, "<link_ctn id=\"{name}\"/>");
            }
            xml.push_str("</route>\n");
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (HostId, HostId)> {
        let hosts = self.hosts();
        (0..hosts).flat_map(move |a| (0..hosts).map(move |b| (a, b))).filter(|(a, b)| a != b)
    }

    /// How many different ones there are between hosts.
    fn latencies(&self) -> usize {
        let ways = self.inside.iter().chain(self.between.iter().flatten()).chain(&self.ways);
        ways.map(|way| way.latency.to_bits()).collect::<BTreeSet<_>>().len()
    }

    /// The fat pipes: one for each latency and limit, ordered by them.
    fn pipes(&self, fastest: f64) -> Pipes {
        let ways = self.inside.iter().chain(self.between.iter().flatten()).chain(&self.ways);
        let mut pipes = Pipes::new();
        for way in ways {
            let number = pipes.len();
            pipes.entry(pipe(way, fastest)).or_insert_with(|| format!("pipe:{number}"));
        }
        pipes
    }
}

/// The names of fat pipes, by latency and rate.
type Pipes = BTreeMap<(u64, u64), String>;

/// Latency and rate of a way's fat pipe; the bits of positive numbers order as they do.
fn pipe(way: &Way, fastest: f64) -> (u64, u64) {
    // SimGrid knows no infinite rate; as fast as the fastest link limits nothing.
    let most = if way.most.is_finite() { way.most } else { fastest };
    (way.latency.to_bits(), most.to_bits())
}
