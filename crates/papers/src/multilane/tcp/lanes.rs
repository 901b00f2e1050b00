//! Figures 9 and 10 over real TCP: times over the number of links.

use std::time::Duration;

use laneway_core::Collective;
use laneway_core::units::format_size;

use super::{Bed, LARGE, Times, in_paper, lane_name};
use crate::error::PaperError;
use crate::multilane::modelled;
use crate::part::{Axes, Curve, Drawn, How, Part};
use crate::{Bound, Claim, Printed, Request};

/// Numbers of links: few, around the paper's best, and all.
const LANES: [u32; 10] = [1, 2, 4, 8, 12, 16, 20, 25, 28, 32];
const FEW_LANES: [u32; 3] = [1, 2, 4];
/// How long it may take without a budget.
const USUAL: Duration = Duration::from_secs(180);
/// Times that are so near to the best are as good in a drawing.
const NEAR: f64 = 1.03;

const AXES: Axes = Axes {
    across: "lanes",
    unit: Some("s"),
    up: "time in s",
    along: "number of links",
    drawn: Drawn::Even,
};

type Points = Vec<(u64, f64)>;

pub fn figure_9(request: &Request) -> Result<Part, PaperError> {
    let part = Part::new("tcp-figure-9", How::Lab, "Figure 9 over real TCP: scatter", AXES);
    over_lanes(request, Collective::Scatter, part)
}

pub fn figure_10(request: &Request) -> Result<Part, PaperError> {
    let part = Part::new("tcp-figure-10", How::Lab, "Figure 10 over real TCP: gather", AXES);
    over_lanes(request, Collective::Gather, part)
}

fn over_lanes(request: &Request, op: Collective, part: Part) -> Result<Part, PaperError> {
    let bed = Bed::new(request, 5);
    let counts = if request.quick { &FEW_LANES[..] } else { &LANES[..] };
    let algorithms: Vec<String> = counts.iter().map(|lanes| lane_name(*lanes)).collect();
    let (operations, size) = ([op], format_size(LARGE));
    let plan = bed.plan(&operations, &algorithms, &size, USUAL);
    let commands = vec![plan.line()];
    let ran = plan.run(request);
    let times = Times { op, ran: &ran };
    let seen = counts
        .iter()
        .filter_map(|lanes| Some((u64::from(*lanes), times.of(&lane_name(*lanes), LARGE)?)));
    let seen: Vec<_> = seen.collect();
    let points: Points = seen.iter().map(|(lanes, seen)| (*lanes, seen.time * 1e-3)).collect();
    let intervals = seen.iter().map(|(_, seen)| seen.range());
    let intervals = intervals.map(|(low, high)| (low * 1e-3, high * 1e-3)).collect();
    let model = bed.model(LARGE)?;
    let printed = (1..=bed.hosts).map(|lanes| Ok((lanes.into(), modelled(model.printed(lanes))?)));
    let printed = printed.collect::<Result<Points, PaperError>>()?;
    // Nothing is said of curves that are not whole.
    let whole: &[(u64, f64)] = if points.len() == counts.len() { &points } else { &[] };
    let claims = match op {
        Collective::Gather => gather_claims(whole, &printed, request.quick),
        _ => scatter_claims(whole, &printed, request.quick),
    };
    let remarks = vec![format!(
        "{}, {}; windows are those of sockets, rates a quarter of the paper's.",
        bed.words(),
        in_paper(LARGE)
    )];
    let curves = vec![
        Curve { intervals, ..Curve::new(op.name(), "measured", points) },
        Curve::new(op.name(), "predicted as printed", printed),
    ];
    let missing = ran.missing.into_iter().collect();
    Ok(Part { commands, claims, remarks, missing, curves, ..part })
}

fn least(points: &[(u64, f64)]) -> (u64, f64) {
    let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    least.copied().unwrap_or((0, f64::NAN))
}

/// The time at a number of links.
fn at(points: &[(u64, f64)], lanes: u64) -> f64 {
    points.iter().find(|point| point.0 == lanes).map_or(f64::NAN, |point| point.1)
}

/// How far the model is off, in percent, where both are known from `from` links on.
fn model_off(points: &[(u64, f64)], printed: &[(u64, f64)], from: u64) -> f64 {
    let off = points.iter().filter(|point| point.0 >= from);
    let off = off.map(|(lanes, time)| 100.0 * (at(printed, *lanes) / time - 1.0).abs());
    off.reduce(f64::max).unwrap_or(f64::NAN)
}

fn gain(points: &[(u64, f64)]) -> Claim {
    let (lanes, best) = least(points);
    let what = format!("one link over the best ({lanes})");
    Claim::own_ratio(if lanes == 0 { "one link over the best".into() } else { what }, {
        at(points, 1) / best
    })
}

fn scatter_claims(points: &[(u64, f64)], printed: &[(u64, f64)], quick: bool) -> Vec<Claim> {
    let (best, time) = least(points);
    let known = |number: u64| if number == 0 { f64::NAN } else { number as f64 };
    let near = |point: &&(u64, f64)| point.1 <= time * NEAR;
    let first = points.iter().find(near).map_or(0, |point| point.0);
    let last = points.iter().rev().find(near).map_or(0, |point| point.0);
    let mut claims = vec![gain(points)];
    if !quick {
        claims.extend([
            Claim::ratio_of("printed model: best number of links", Some(32.0), {
                known(least(printed).0)
            })
            .equal(),
            Claim::own_ratio("measured: best number of links", known(best))
                .asked(Bound::Within(16.0, 25.0), "best with about 16 to 25 links")
                .known(8, 28.0, 32.0),
            Claim::own_ratio("measured: within 3 % of the best from", known(first)),
            Claim::own_ratio("measured: within 3 % of the best up to", known(last)),
            Claim::own_ratio("measured: 32 links over the best", at(points, 32) / time)
                .above(1.0, "with more links than that it takes longer")
                .known(8, 1.0, 1.0),
        ]);
    }
    let off = model_off(points, printed, 1);
    claims.push(Claim::of("printed model to measurement, largest", "%", None, off));
    claims
}

fn gather_claims(points: &[(u64, f64)], printed: &[(u64, f64)], quick: bool) -> Vec<Claim> {
    let mut claims = vec![gain(points)];
    if !quick {
        let beyond = || points.iter().filter(|point| point.0 >= 12).map(|point| point.1);
        let most = beyond().reduce(f64::max).unwrap_or(f64::NAN);
        let spread = most / beyond().fold(f64::INFINITY, f64::min);
        let what = "slowest over fastest of 12 to 32 links";
        claims.extend([
            Claim::ratio_of(what, Some(1.0), spread)
                .printed(Printed::new(1.0, 0.2), "no change beyond about 10 links"),
            Claim::own_ratio("8 links over 32", at(points, 8) / at(points, 32)),
            Claim::of("printed model to measurement, 12 to 32 links, largest", "%", None, {
                model_off(points, printed, 12)
            }),
        ]);
    }
    let off = model_off(points, printed, 1);
    claims.push(Claim::of("printed model to measurement, largest", "%", None, off));
    claims
}
