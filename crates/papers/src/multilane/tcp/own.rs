//! The same with laneway's own ranks and connections, which no socket's window limits.

use std::time::Duration;

use laneway_core::Collective;
use laneway_core::units::format_size;

use super::{Bed, FEW_HOSTS, LARGE, SINGLE, Times, in_paper};
use crate::error::PaperError;
use crate::multilane::typed::{CHOSEN, Plan, Ranks};
use crate::part::{Axes, Curve, Drawn, How, Part};
use crate::{Claim, Request};

/// How long it may take without a budget.
const USUAL: Duration = Duration::from_secs(90);
/// Of each site.
const HOSTS: u32 = 16;
const OPERATIONS: [Collective; 2] = [Collective::Scatter, Collective::Gather];

const AXES: Axes = Axes {
    across: "lanes",
    unit: Some("ms"),
    up: "time in ms",
    along: "number of links",
    drawn: Drawn::Even,
};

pub fn own(request: &Request) -> Result<Part, PaperError> {
    let bed = Bed::of(if request.quick { FEW_HOSTS } else { HOSTS }, 5, request);
    let lanes = bed.all_lanes();
    let algorithms = [SINGLE, &lanes, CHOSEN].map(str::to_owned);
    let size = format_size(LARGE);
    let plan = bed.plan(&OPERATIONS, &algorithms, &size, USUAL);
    let plan = Plan { by: Ranks::Own, ..plan };
    let commands = vec![plan.line()];
    let ran = plan.run(request);
    let (mut claims, mut curves) = (Vec::new(), Vec::new());
    for op in OPERATIONS {
        let (times, name) = (Times { op, ran: &ran }, op.name());
        let gain = |what: &str, ratio| Claim::own_ratio(format!("{name}: {what}"), ratio);
        claims.extend([
            gain("gain of lanes over a single lane", times.ratio(SINGLE, &lanes, LARGE)),
            gain("gain of our choice over a single lane", times.ratio(SINGLE, CHOSEN, LARGE)),
        ]);
        for (label, algorithm) in [("lanes", &lanes[..]), ("chosen", CHOSEN)] {
            let places = [(1, SINGLE), (u64::from(bed.hosts), algorithm)];
            let seen = places.iter().filter_map(|(at, of)| Some((*at, times.of(of, LARGE)?)));
            let (points, intervals) = seen.map(|(at, of)| ((at, of.time), of.range())).unzip();
            curves.push(Curve { intervals, ..Curve::new(name, label, points) });
        }
    }
    let remarks = vec![format!(
        "2 x {} hosts, {}, L = 5 ms, our own connections over UDP: no socket's window limits them, \
         but their own, which grows until packets wait, and the two sides share the processors. \
         More ranks than that do not all connect within a minute on two cores.",
        bed.hosts,
        in_paper(LARGE)
    )];
    let heading = "Our own ranks between the same sites: no socket limits a connection";
    let missing = ran.missing.into_iter().collect();
    let part = Part::new("tcp-own", How::Lab, heading, AXES);
    Ok(Part { commands, claims, remarks, missing, curves, ..part })
}
