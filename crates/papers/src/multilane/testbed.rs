//! The testbed of the multi-lane paper as it is simulated here: what schedules take on it, what
//! crosses the WAN, what the model predicts and what no algorithm beats.

use laneway_coll::find;
use laneway_core::{Collective, Placement, Schedule, Shape};
use laneway_sim::network::Network;
use laneway_sim::platform::{Layout, Platform};
use laneway_sim::{HostId, Intervals, Observer, Recorder, ResourceId, Simulation};
use laneway_sites::bound;
use laneway_sites::model::{HostRates, TwoSites, WanRate};

use crate::error::PaperError;

/// paper: multilane 5.1: hosts of each site.
pub const HOSTS: u32 = 32;
/// "4 MB" of the paper.
pub const LARGE: u64 = 4 << 20;
/// Bytes of a connection under way: what 250 Mbit/s over a round trip of 5 ms needs. Every rate of
/// a connection follows from it.
pub const WINDOW: u64 = 156_250;
/// What hosts reach in the attempt to explain the paper's gains.
pub const SLOW_HOSTS: &str = "rate=700Mbit";

/// What the paper's L is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// There and back, which fits the paper's figures.
    RoundTrip,
    /// From one site to the other.
    OneWay,
}

impl Reading {
    /// Both.
    pub const ALL: [Reading; 2] = [Reading::RoundTrip, Reading::OneWay];

    /// In words, for a curve.
    pub fn words(self) -> &'static str {
        match self {
            Reading::RoundTrip => "L is the round trip",
            Reading::OneWay => "L is one way",
        }
    }
}

/// Two sites of 32 hosts with a WAN between them, simulated.
pub struct Testbed {
    platform: Platform,
    layout: Layout,
    placement: Placement,
    hosts: Vec<HostId>,
}

/// What crossed the WAN in one direction, in Mbit/s.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Crossing {
    /// Milliseconds at which each interval begins, and its rate.
    pub points: Vec<(u64, f64)>,
    /// From the first byte to the last.
    pub mean: f64,
    /// The highest of any instant.
    pub peak: f64,
}

impl Testbed {
    /// The testbed with its WAN at L milliseconds, in the reading that fits.
    pub fn new(ms: u32) -> Result<Testbed, PaperError> {
        Testbed::read(ms, Reading::RoundTrip, WINDOW, "")
    }

    /// In any reading, with another window, and with more words for the generator.
    pub fn read(ms: u32, reading: Reading, window: u64, more: &str) -> Result<Testbed, PaperError> {
        let latency_us = match reading {
            Reading::RoundTrip => 500 * ms,
            Reading::OneWay => 1000 * ms,
        };
        let comma = if more.is_empty() { "" } else { "," };
        let name = format!(
            "two-sites:{HOSTS}x{HOSTS},latency={latency_us}us,window={window}{comma}{more}"
        );
        let platform = Platform::read(&name).map_err(PaperError::testbed)?;
        let layout = platform.layout().map_err(PaperError::testbed)?;
        let hosts: Vec<HostId> = (0..platform.hosts()).collect();
        let placement = platform.placement(&hosts);
        Ok(Testbed { platform, layout, placement, hosts })
    }

    /// The command that simulates the same.
    pub fn command(&self, op: Collective, more: &str) -> String {
        format!("laneway sim {} --platform {} {more}", op.name(), self.platform.name())
    }

    /// Seconds of an algorithm, spelled as on the command line.
    pub fn time(&self, op: Collective, algorithm: &str, block: u64) -> Result<f64, PaperError> {
        let schedule = self.schedule(op, algorithm, block)?;
        self.run(&*schedule, None)
    }

    /// The rate of one connection between the sites, in Mbit/s, from the time of two messages.
    pub fn connection_mbit(&self) -> Result<f64, PaperError> {
        let hosts = [0, HOSTS];
        let time = |bytes: u64| -> Result<f64, PaperError> {
            let (linear, params) = find(Collective::Scatter, "linear")
                .map_err(|refusal| PaperError::Testbed(refusal.0))?;
            let shape = Shape::new(Collective::Scatter, 2, bytes);
            let schedule = linear
                .schedule(&shape, &params)
                .map_err(|refusal| PaperError::Testbed(refusal.0))?;
            let ended = Simulation::new(&self.platform).placed(&hosts).run(&*schedule);
            Ok(ended.map_err(PaperError::testbed)?.finish)
        };
        let (short, long) = (LARGE, 2 * LARGE);
        Ok((long - short) as f64 * 8e-6 / (time(long)? - time(short)?))
    }

    /// What crosses the WAN while an algorithm runs, from its beginning to `end` seconds.
    pub fn crossing(
        &self,
        op: Collective,
        algorithm: &str,
        every_ms: u64,
        end: f64,
    ) -> Result<Crossing, PaperError> {
        let schedule = self.schedule(op, algorithm, LARGE)?;
        let every = every_ms as f64 * 1e-3;
        let intervals = Intervals::new((end / every).ceil() * every, every);
        let mut recorder = Recorder::new(self.platform.resources().len(), intervals);
        self.run(&*schedule, Some(&mut recorder))?;
        let wan = self.wan(op)?;
        let bytes = recorder.finish().swap_remove(wan as usize);
        let point =
            |(number, bytes): (usize, &f64)| (number as u64 * every_ms, bytes * 8e-6 / every);
        let points = bytes.iter().enumerate().map(point).collect();
        let mut span = Span { wan, ..Span::default() };
        self.run(&*schedule, Some(&mut span))?;
        let mean = bytes.iter().sum::<f64>() * 8e-6 / (span.last - span.first);
        Ok(Crossing { points, mean, peak: span.peak * 8e-6 })
    }

    /// What the paper's model knows of this testbed: `wan` says what lanes get of the WAN.
    pub fn model(&self, block: u64, wan: WanRate) -> Result<TwoSites, PaperError> {
        let way = self
            .layout
            .ways
            .first()
            .ok_or_else(|| PaperError::testbed("no link between the sites"))?;
        let lan = self.layout.hosts.first().and_then(|host| host.card.out);
        Ok(TwoSites {
            near: HOSTS,
            far: HOSTS,
            block: block as f64,
            latency: way.latency,
            lan_latency: self.layout.sites.first().map_or(0.0, |site| site.latency),
            overhead: 0.0,
            lan: lan.ok_or_else(|| PaperError::testbed("hosts without a card"))?,
            wan,
            rates: HostRates::default(),
        })
    }

    /// As the paper's figures have it: each lane has what one connection gets, however many.
    pub fn constant(&self) -> Result<WanRate, PaperError> {
        Ok(WanRate::Constant(self.connection()?))
    }

    /// Lanes share the WAN.
    pub fn shared(&self) -> Result<WanRate, PaperError> {
        let together = self.layout.pipes.first().map(|pipe| pipe.rate);
        let together = together.ok_or_else(|| PaperError::testbed("a WAN without a rate"))?;
        Ok(WanRate::Shared { connection: self.connection()?, together })
    }

    /// Bytes a second of a connection: its window for each round trip.
    fn connection(&self) -> Result<f64, PaperError> {
        let way = self
            .layout
            .ways
            .first()
            .ok_or_else(|| PaperError::testbed("no link between the sites"))?;
        let window =
            way.window.ok_or_else(|| PaperError::testbed("connections without a window"))?;
        Ok(window as f64 / (2.0 * way.latency))
    }

    /// Seconds that no algorithm beats.
    pub fn bound(&self, op: Collective, block: u64) -> Result<f64, PaperError> {
        let blocks = vec![block; self.hosts.len()];
        let least = match op {
            Collective::Gather => bound::gather(&self.layout, &self.hosts, 0, &blocks),
            _ => bound::scatter(&self.layout, &self.hosts, 0, &blocks),
        };
        Ok(least.map_err(PaperError::testbed)?.time)
    }

    fn schedule(
        &self,
        op: Collective,
        algorithm: &str,
        block: u64,
    ) -> Result<Box<dyn Schedule>, PaperError> {
        let (algorithm, params) =
            find(op, algorithm).map_err(|refusal| PaperError::Testbed(refusal.0))?;
        let shape = Shape::new(op, self.placement.ranks(), block);
        algorithm
            .placed(&shape, &params, &self.placement)
            .map_err(|refusal| PaperError::Testbed(refusal.0))
    }

    fn run(
        &self,
        schedule: &dyn Schedule,
        observer: Option<&mut (dyn Observer + Send)>,
    ) -> Result<f64, PaperError> {
        let mut simulation = Simulation::new(&self.platform);
        if let Some(observer) = observer {
            simulation = simulation.observed(observer);
        }
        Ok(simulation.run(schedule).map_err(PaperError::testbed)?.finish)
    }

    /// The WAN in the direction in which the blocks cross.
    fn wan(&self, op: Collective) -> Result<ResourceId, PaperError> {
        let name = match op {
            Collective::Gather => "site1:to:site0",
            _ => "site0:to:site1",
        };
        let found = self.platform.resources().iter().position(|resource| resource.name == name);
        found
            .map(|at| at as ResourceId)
            .ok_or_else(|| PaperError::testbed(format!("no resource {name}")))
    }
}

/// When the WAN carried something, in seconds, and the most bytes a second that it did.
#[derive(Default)]
struct Span {
    wan: ResourceId,
    rate: f64,
    first: f64,
    last: f64,
    peak: f64,
}

impl Observer for Span {
    fn delivered(&mut self, _delivery: &laneway_sim::Delivery) {}

    fn loaded(&mut self, at: f64, resource: ResourceId, rate: f64) {
        if resource != self.wan {
            return;
        }
        if self.peak == 0.0 {
            self.first = at;
        }
        if self.rate > 0.0 {
            self.last = at;
        }
        self.rate = rate;
        self.peak = self.peak.max(rate);
    }

    fn loads(&self) -> bool {
        true
    }
}
