//! The paper's experiment scaled down, with real MPI in a lab: 2 x 8 hosts at a tenth of the rates
//! and an eighth of the block, beside what the cost model and the simulator say of the same.

use std::time::Duration;

use laneway_coll::find;
use laneway_core::units::format_size;
use laneway_core::{Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::model::{Form, TwoSites};
use laneway_sites::{Sharing, Sites};

use super::typed::{CHOSEN, Plan, Ran, Ranks, Seen};
use super::{largest_difference, modelled};
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, How, Part, brief};
use crate::{Claim, Printed, Request};

/// A round trip of 5 ms, and everything a tenth as fast as in the paper.
const PLATFORM: &str = "two-sites:8x8,latency=2500us,rate=100Mbit,connection=25Mbit,wan=100Mbit";
const RANKS: u32 = 16;
const HEADING: &str =
    "The same in a lab: real MPI on 2 x 8 hosts, a tenth of the rates, 512K, L = 5 ms";
/// Numbers of lanes beside the single lane: as many as fill the WAN, and all hosts of a site.
const LANES: [u32; 2] = [4, 8];
const SMALL: u64 = 64 << 10;
/// The block of the figure.
const LARGE: u64 = 512 << 10;
const SIZES: [u64; 2] = [SMALL, LARGE];
const OPERATIONS: [Collective; 2] = [Collective::Scatter, Collective::Gather];
const NATIVE: &str = "native";
const SINGLE: &str = "single-lane";
/// How long it may take without a budget.
const USUAL: Duration = Duration::from_secs(85);

const AXES: Axes = Axes {
    across: "lanes",
    unit: Some("ms"),
    up: "time in ms",
    along: "number of lanes",
    drawn: Drawn::Even,
};

type Points = Vec<(u64, f64)>;

pub fn part(request: &Request) -> Result<Part, PaperError> {
    let algorithms = algorithms();
    let sizes = SIZES.map(format_size).join(",");
    let plan = Plan {
        lab: vec!["--platform", PLATFORM],
        ranks: RANKS,
        by: Ranks::Mpi,
        operations: &OPERATIONS,
        algorithms: &algorithms,
        sizes: &sizes,
        reps: 3,
        recorded: None,
        usual: USUAL,
    };
    let part = Part { commands: vec![plan.line()], ..Part::new("lab", How::Lab, HEADING, AXES) };
    let Ran { seen, missing, .. } = plan.run(request);
    let part = Part { missing: missing.into_iter().collect(), ..part };
    match seen.is_empty() {
        true => Ok(part),
        false => Lab::new(seen)?.tell(part),
    }
}

/// The library's own, the paper's single lane, its lanes, and what laneway chooses.
fn algorithms() -> Vec<String> {
    let lanes = LANES.map(lane_name);
    [NATIVE, SINGLE].map(str::to_owned).into_iter().chain(lanes).chain([CHOSEN.into()]).collect()
}

fn lane_name(lanes: u32) -> String {
    match lanes {
        1 => SINGLE.to_owned(),
        lanes => format!("multi-lane:lanes={lanes}"),
    }
}

/// What was measured, and the same platform for model and simulator.
struct Lab {
    seen: Vec<Seen>,
    platform: Platform,
}

impl Lab {
    fn new(seen: Vec<Seen>) -> Result<Lab, PaperError> {
        let platform = Platform::read(PLATFORM).map_err(PaperError::testbed)?;
        Ok(Lab { seen, platform })
    }

    /// Fills in what was measured, predicted and simulated.
    fn tell(&self, mut part: Part) -> Result<Part, PaperError> {
        for op in OPERATIONS {
            let [printed, corrected] = self.predicted(op)?;
            let simulated = self.simulated(op)?;
            part.claims.extend(self.claims(op, &printed, &corrected, &simulated));
            part.remarks.push(self.agreement(op, &simulated));
            part.curves.extend(self.measured(op));
            for (label, points) in [
                ("lanes, simulated", simulated),
                ("lanes, predicted as printed", printed),
                (corrected_label(op), corrected),
            ] {
                part.curves.push(Curve::new(op.name(), label, points));
            }
        }
        Ok(part)
    }

    fn of(&self, op: Collective, algorithm: &str, size: u64) -> Option<&Seen> {
        let is = |seen: &&Seen| (seen.op, seen.size) == (op, size) && seen.algorithm == algorithm;
        self.seen.iter().find(is)
    }

    /// Milliseconds.
    fn time(&self, op: Collective, algorithm: &str, size: u64) -> f64 {
        self.of(op, algorithm, size).map_or(f64::NAN, |seen| seen.time)
    }

    /// The paper's algorithm over its number of lanes; one is the single lane.
    fn lanes(&self, op: Collective) -> Points {
        counts().map(|lanes| (lanes.into(), self.time(op, &lane_name(lanes), LARGE))).collect()
    }

    /// Curves with intervals; what has no lanes is the same everywhere.
    fn measured(&self, op: Collective) -> [Curve; 3] {
        let curve = |label: &str, name: &dyn Fn(u32) -> String| {
            let seen = |lanes| Some((lanes, self.of(op, &name(lanes), LARGE)?));
            let all: Vec<(u32, &Seen)> = counts().filter_map(seen).collect();
            let points = all.iter().map(|(lanes, seen)| ((*lanes).into(), seen.time)).collect();
            let intervals = all.iter().map(|(_, seen)| seen.range()).collect();
            Curve { intervals, ..Curve::new(op.name(), label, points) }
        };
        [
            curve("lanes, measured", &lane_name),
            curve("the library's own, measured", &|_| NATIVE.into()),
            curve("our choice, measured", &|_| CHOSEN.into()),
        ]
    }

    fn simulated(&self, op: Collective) -> Result<Points, PaperError> {
        let sites = Sites::one_each(&self.platform);
        let shape = Shape::new(op, RANKS, LARGE);
        let time = |lanes: u32| {
            let (algorithm, params) =
                find(op, &lane_name(lanes)).map_err(|refusal| PaperError::Testbed(refusal.0))?;
            let outcome = sites.simulate(&shape, algorithm, &params);
            let outcome = outcome.map_err(PaperError::testbed)?;
            Ok((lanes.into(), outcome.finish * 1e3))
        };
        counts().map(time).collect()
    }

    /// T(P) as printed, with a constant rate of a lane, and as corrected, where lanes share.
    fn predicted(&self, op: Collective) -> Result<[Points; 2], PaperError> {
        let layout = self.platform.layout().map_err(PaperError::testbed)?;
        let hosts: Vec<u32> = (0..RANKS).collect();
        let over = |form, sharing| -> Result<Points, PaperError> {
            let model = TwoSites::of(&layout, &hosts, 0, LARGE, sharing);
            let model = model.map_err(|why| PaperError::Testbed(why.0))?;
            let time = |lanes| Ok((u64::from(lanes), modelled(model.time(form, lanes))? * 1e3));
            counts().map(time).collect()
        };
        // A gather's root receives from all lanes at once.
        let corrected = if op == Collective::Gather { Form::Overlapped } else { Form::Corrected };
        Ok([over(Form::Printed, Sharing::Constant)?, over(corrected, Sharing::Shared)?])
    }

    /// What 8 lanes gain over a single one.
    fn gain(&self, op: Collective, size: u64) -> f64 {
        self.time(op, SINGLE, size) / self.time(op, &lane_name(LANES[1]), size)
    }

    fn claims(
        &self,
        op: Collective,
        printed: &[(u64, f64)],
        corrected: &[(u64, f64)],
        simulated: &[(u64, f64)],
    ) -> Vec<Claim> {
        let name = op.name();
        let mut claims = Vec::new();
        for size in SIZES {
            let at = format_size(size);
            let (single, lanes) = (self.time(op, SINGLE, size), lane_name(LANES[1]));
            let (lanes, own) = (self.time(op, &lanes, size), self.time(op, NATIVE, size));
            for (what, ms) in [("single lane", single), ("8 lanes", lanes), ("library", own)] {
                claims.push(Claim::of(format!("{name} {at}: {what}"), "ms", None, ms));
            }
            let gain = Claim::ratio_of(
                format!("{name} {at}: 8 lanes, gain over a single lane"),
                None,
                single / lanes,
            );
            claims.push(match (op, size) {
                (Collective::Gather, _) => gain
                    .printed(Printed::new(2.0, 1.0), "always about 2, for small and large blocks")
                    .known(6, 2.5, 3.0),
                (_, LARGE) => gain
                    .printed(Printed::range(1.5, 2.0, 0.1), "about 1.5 to 2.0")
                    .known(3, 2.05, 2.5),
                _ => gain,
            });
            let chosen = self.time(op, CHOSEN, size);
            let ratio = |what: &str, over: f64| {
                Claim::ratio_of(format!("{name} {at}: {what} over our choice"), None, over / chosen)
            };
            claims.extend([ratio("the library's own", own), ratio("8 lanes", lanes)]);
        }
        let lanes = self.lanes(op);
        for (what, points) in [
            ("model as printed", printed),
            ("model as corrected", corrected),
            ("simulation", simulated),
        ] {
            let off = 100.0 * largest_difference(points, &lanes);
            let what = format!("{name} {}: {what} to measurement, largest", format_size(LARGE));
            claims.push(Claim::of(what, "%", None, off));
        }
        claims
    }

    /// A sentence on where this agrees with the paper.
    fn agreement(&self, op: Collective, simulated: &[(u64, f64)]) -> String {
        let (small, large) = (self.gain(op, SMALL), self.gain(op, LARGE));
        let lanes = self.lanes(op);
        let least = lanes.iter().min_by(|one, other| one.1.total_cmp(&other.1));
        let best = least.map_or(0, |point| point.0);
        let off = brief(100.0 * largest_difference(simulated, &lanes));
        let (small, at_large) = (brief(small), brief(large));
        let (theirs, low, high) = match op {
            Collective::Gather => ("about 2 at all sizes", 1.5, 2.5),
            _ => ("1.5 to 2.0 for large blocks", 1.5, 2.0),
        };
        let held = match large {
            gain if gain < low => "less than",
            gain if gain > high => "more than",
            _ => "as in",
        };
        format!(
            "{}: 8 lanes gain {at_large} over a single lane at 512K and {small} at 64K, {held} the \
             paper ({theirs}); of 1, 4 and 8 lanes {best} are the fastest. The simulator is at \
             most {off} % off what real MPI took.",
            op.name()
        )
    }
}

/// What the model is corrected to.
fn corrected_label(op: Collective) -> &'static str {
    match op {
        Collective::Gather => "lanes, predicted for a root that overlaps",
        _ => "lanes, predicted as corrected",
    }
}

/// The numbers of lanes of the figure.
fn counts() -> impl Iterator<Item = u32> {
    [1].into_iter().chain(LANES)
}
