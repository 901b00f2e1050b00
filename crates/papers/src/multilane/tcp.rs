//! Figures 4, 5 and 7 to 10 over real TCP: Open MPI's ranks and ours on 2 x 32 hosts of a lab whose
//! connections are limited by their receive buffers over the round trip, with a management network
//! of its own.
//!
//! Cards, WAN and connections have a quarter of the paper's rates, because one machine has to carry
//! all of it; latencies are the paper's. A block of this size takes as long as four times as many
//! bytes in the paper.

mod lanes;
mod own;
mod rates;
mod sizes;

use std::time::Duration;

use laneway_core::Collective;
use laneway_core::units::format_size;
use laneway_sim::platform::Platform;
use laneway_sites::Sharing;
use laneway_sites::model::TwoSites;

pub use lanes::{figure_9, figure_10};
pub use own::own;
pub use rates::{figure_7, figure_8};
pub use sizes::{figure_4, figure_5};

use super::testbed::HOSTS;
use super::typed::{Plan, Ran, Ranks, Seen};
use crate::Request;
use crate::error::PaperError;

/// Paper's rates over ours.
const SCALE: f64 = 4.0;
/// What a receiver announces at most, and the buffer of which the kernel announces that much:
/// 62.5 Mbit/s over a round trip of 5 ms.
const WINDOW: &str = "39062";
const RECEIVE_BUFFER: &str = "68K";
/// 2 MiB of the paper.
const LARGE: u64 = 512 << 10;
/// Hosts of each site in a quick look.
const FEW_HOSTS: u32 = 4;
const SINGLE: &str = "single-lane";
const NATIVE: &str = "native";

/// Two sites and a WAN between them.
struct Bed {
    /// Of each site.
    hosts: u32,
    /// Milliseconds of a round trip.
    trip: u32,
    platform: String,
    reps: u32,
}

impl Bed {
    /// The paper's hosts, or few of them for a quick look.
    fn new(request: &Request, trip: u32) -> Bed {
        Bed::of(if request.quick { FEW_HOSTS } else { HOSTS }, trip, request)
    }

    fn of(hosts: u32, trip: u32, request: &Request) -> Bed {
        let reps = if request.quick { 1 } else { 3 };
        let us = 500 * trip;
        let limits = format!("rate=250Mbit,wan=250Mbit,window={WINDOW}");
        let platform = format!("two-sites:{hosts}x{hosts},latency={us}us,{limits}");
        Bed { hosts, trip, platform, reps }
    }

    /// What it is, for a heading.
    fn words(&self) -> String {
        format!("Open MPI over TCP on 2 x {} hosts, L = {} ms", self.hosts, self.trip)
    }

    /// A lane for each host, as the paper's model has it.
    fn all_lanes(&self) -> String {
        lane_name(self.hosts)
    }

    fn plan<'a>(
        &'a self,
        operations: &'a [Collective],
        algorithms: &'a [String],
        sizes: &'a str,
        usual: Duration,
    ) -> Plan<'a> {
        let mut lab = vec!["--platform", &self.platform, "--management"];
        lab.extend(["--receive-buffer", RECEIVE_BUFFER]);
        let (ranks, by, reps) = (2 * self.hosts, Ranks::Mpi, self.reps);
        Plan { lab, ranks, by, operations, algorithms, sizes, reps, recorded: None, usual }
    }

    /// The paper's model of these rates, as printed and with a constant rate of a lane.
    fn model(&self, block: u64) -> Result<TwoSites, PaperError> {
        let platform = Platform::read(&self.platform).map_err(PaperError::testbed)?;
        let layout = platform.layout().map_err(PaperError::testbed)?;
        let hosts: Vec<u32> = (0..2 * self.hosts).collect();
        let model = TwoSites::of(&layout, &hosts, 0, block, Sharing::Constant);
        model.map_err(|why| PaperError::Testbed(why.0))
    }
}

/// The paper's algorithm with `lanes` lanes; its root sends one message at a time.
fn lane_name(lanes: u32) -> String {
    format!("multi-lane:lanes={lanes}")
}

/// The size of the same time in the paper.
fn in_paper(size: u64) -> String {
    format!("{} ({} in the paper)", format_size(size), format_size(size * SCALE as u64))
}

/// What was measured of one operation.
struct Times<'a> {
    op: Collective,
    ran: &'a Ran,
}

impl Times<'_> {
    fn of(&self, algorithm: &str, size: u64) -> Option<&Seen> {
        let is = |seen: &&Seen| (seen.op, seen.size) == (self.op, size);
        self.ran.seen.iter().filter(is).find(|seen| seen.algorithm == algorithm)
    }

    /// Milliseconds; no number where it was not measured.
    fn ms(&self, algorithm: &str, size: u64) -> f64 {
        self.of(algorithm, size).map_or(f64::NAN, |seen| seen.time)
    }

    /// One over another, of the same size.
    fn ratio(&self, over: &str, under: &str, size: u64) -> f64 {
        self.ms(over, size) / self.ms(under, size)
    }
}
