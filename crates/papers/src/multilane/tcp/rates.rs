//! Figures 7 and 8 over real TCP: what crosses the WAN over time, by the lab's recorder.

use std::time::Duration;

use laneway_core::Collective;
use laneway_core::units::format_size;
use laneway_report::links::{Interval, LinkUse};

use super::{Bed, LARGE, SCALE, SINGLE, Times, in_paper};
use crate::error::PaperError;
use crate::multilane::typed::Plan;
use crate::part::{Axes, Curve, Drawn, How, Part};
use crate::{Claim, Printed, Request};

/// paper: multilane 5.2, as in the simulated part.
const SCATTER_MBIT: Printed = Printed::new(250.0, 10.0);
const SINGLE_MBIT: Printed = Printed::new(125.0, 1.0);
const EVERY: &str = "50ms";
/// How long each of both runs may take without a budget.
const USUAL: Duration = Duration::from_secs(75);
/// A call is over where less than this part of the highest rate crosses for some intervals.
const QUIET: f64 = 0.02;
const PAUSE_US: f64 = 150e3;
/// Counters are read a little late on a busy machine: a rate is one over this number of intervals.
const TOGETHER: usize = 4;

const AXES: Axes = Axes {
    across: "at_ms",
    unit: Some("Mbit/s"),
    up: "rate of the WAN in Mbit/s",
    along: "time in ms",
    drawn: Drawn::Steps,
};

pub fn figure_7(request: &Request) -> Result<Part, PaperError> {
    let heading = "Figure 7 over real TCP: scatter, what crosses the WAN over time";
    let part = Part::new("tcp-figure-7", How::Lab, heading, AXES);
    over_time(request, Collective::Scatter, part)
}

pub fn figure_8(request: &Request) -> Result<Part, PaperError> {
    let heading = "Figure 8 over real TCP: gather, what crosses the WAN over time";
    let part = Part::new("tcp-figure-8", How::Lab, heading, AXES);
    over_time(request, Collective::Gather, part)
}

/// What crossed during one call, Mbit/s with headers.
struct Crossing {
    points: Vec<(u64, f64)>,
    mean: f64,
    highest: f64,
}

fn over_time(request: &Request, op: Collective, mut part: Part) -> Result<Part, PaperError> {
    let bed = Bed::new(request, 20);
    let lanes = bed.all_lanes();
    let (operations, size) = ([op], format_size(LARGE));
    let mut found = Vec::new();
    for (title, name) in [("a) single lane", SINGLE.to_owned()), ("b) all lanes", lanes)] {
        let algorithms = [name];
        let plan = bed.plan(&operations, &algorithms, &size, USUAL);
        let plan = Plan { recorded: Some(EVERY), reps: 1, ..plan };
        part.commands.push(plan.line());
        let ran = plan.run(request);
        let crossing = crossing(&ran.links, op);
        if let Some(crossing) = &crossing {
            part.curves.push(Curve::new(title, "what crosses", crossing.points.clone()));
        }
        let seconds = Times { op, ran: &ran }.ms(&algorithms[0], LARGE) * 1e-3;
        part.missing.extend(ran.missing.map(|why| format!("{title}: {why}")));
        found.push((crossing, seconds));
    }
    if let [one, all] = &found[..] {
        part.claims = claims(op, one, all);
        if request.quick {
            // Few hosts are not those of the paper.
            part.claims = part.claims.into_iter().map(Claim::unasked).collect();
        }
    }
    part.remarks = vec![format!(
        "{}, {}, every {EVERY}. Rates are those of the WAN's device, headers among them, times \
         four, as the paper's rates are four times ours.",
        bed.words(),
        in_paper(LARGE)
    )];
    Ok(part)
}

type Found = (Option<Crossing>, f64);

/// Rates as in the paper.
fn claims(op: Collective, one: &Found, all: &Found) -> Vec<Claim> {
    let rate = |found: &Found, of: fn(&Crossing) -> f64| {
        found.0.as_ref().map_or(f64::NAN, |crossing| of(crossing) * SCALE)
    };
    let mean = |found: &Found| rate(found, |crossing| crossing.mean);
    let (single, lanes, highest) = (mean(one), mean(all), rate(all, |crossing| crossing.highest));
    let mbit = |what: &str, paper: f64, ours: f64| Claim::of(what, "Mbit/s", Some(paper), ours);
    let mut claims = match op {
        Collective::Gather => vec![
            mbit("single lane: mean while it crosses", 67.5, single)
                .printed(Printed::range(65.0, 70.0, 1.0), "about 65 to 70 Mbps"),
            mbit("all lanes: mean while it crosses", 1000.0, lanes),
            mbit("all lanes: highest", 1000.0, highest)
                .printed(Printed::new(1000.0, 100.0), "up to about 1 Gbps, the limit"),
        ],
        _ => vec![
            mbit("single lane: mean while it crosses", 125.0, single)
                .printed(SINGLE_MBIT, "about 125 Mbps")
                .known(7, 60.0, 72.0),
            mbit("all lanes: mean while it crosses", 250.0, lanes)
                .printed(SCATTER_MBIT, "about 250 Mbps")
                .known(7, 330.0, 450.0),
            mbit("all lanes: highest", 250.0, highest),
        ],
    };
    claims.push(Claim::own_ratio("all lanes over a single lane: mean rate", lanes / single));
    claims.push(
        Claim::own_ratio("single lane over all lanes: time", one.1 / all.1)
            .above(1.0, "done with the WAN in less time than the conventional way"),
    );
    claims
}

/// The last call of a record: the one that was measured.
fn crossing(links: &[LinkUse], op: Collective) -> Option<Crossing> {
    let direction = if op == Collective::Gather { "back" } else { "there" };
    let wan = links.iter().find(|of| of.direction == direction && of.link.contains(":to:"))?;
    let highest = wan.intervals.iter().map(Interval::rate_mbit).reduce(f64::max)?;
    let busy = |interval: &&Interval| interval.rate_mbit() > QUIET * highest;
    let mut calls: Vec<Vec<Interval>> = Vec::new();
    for interval in wan.intervals.iter().filter(busy) {
        let goes_on = |last: &Interval| interval.at_us - last.end_us() < PAUSE_US;
        match calls.last_mut() {
            Some(call) if call.last().is_some_and(goes_on) => call.push(*interval),
            _ => calls.push(vec![*interval]),
        }
    }
    // What ranks agree on between calls is little.
    let bytes = |call: &[Interval]| call.iter().map(|interval| interval.bytes).sum::<f64>();
    let most = calls.iter().map(|call| bytes(call)).fold(0.0, f64::max);
    let call = calls.iter().rev().find(|call| bytes(call) > 0.5 * most)?;
    let (begun, ended) = (call.first()?.at_us, call.last()?.end_us());
    let of = wan.intervals.iter().filter(|one| one.at_us >= begun && one.at_us < ended);
    let of: Vec<&Interval> = of.collect();
    let points = of.iter().map(|one| (((one.at_us - begun) * 1e-3) as u64, one.rate_mbit()));
    let all: f64 = of.iter().map(|one| one.bytes).sum();
    let rate = |some: &[&Interval]| {
        let bytes: f64 = some.iter().map(|one| one.bytes).sum();
        bytes * 8.0 / some.iter().map(|one| one.length_us).sum::<f64>()
    };
    let highest = of.windows(TOGETHER.min(of.len())).map(rate).fold(0.0, f64::max);
    Some(Crossing { points: points.collect(), mean: all * 8.0 / (ended - begun), highest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_of_a_record_counts() {
        // Two calls with a pause between them, and a little at the end.
        let rates = [0.0, 80.0, 100.0, 0.0, 0.0, 0.0, 0.0, 60.0, 100.0, 0.0, 0.0, 0.0, 0.0, 3.0];
        let interval = |(number, rate): (usize, &f64)| Interval {
            at_us: number as f64 * 50e3,
            length_us: 50e3,
            bytes: rate * 50e3 / 8.0,
        };
        let intervals = rates.iter().enumerate().map(interval).collect();
        let of = |direction: &str, intervals| LinkUse {
            link: "site0:to:site1".into(),
            direction: direction.into(),
            capacity_mbit: None,
            intervals,
        };
        let links = [of("back", Vec::new()), of("there", intervals)];
        let found = crossing(&links, Collective::Scatter).expect("a call");
        assert_eq!((found.mean, found.highest), (80.0, 80.0));
        assert_eq!(found.points, [(0, 60.0), (50, 100.0)]);
        assert!(crossing(&links, Collective::Gather).is_none());
    }
}
