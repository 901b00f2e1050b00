//! Figures 9 and 10: what scatter and gather take over the number of links, simulated and
//! predicted.

use laneway_core::Collective;
use laneway_sites::model::{Form, WanRate};

use super::testbed::{HOSTS, LARGE, Testbed};
use super::{largest_difference, modelled, multi_lane};
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, Part, brief};
use crate::{Bound, Claim};

/// Sends of the root at a time: the paper's, and what was tried to explain its figure 9.
const WINDOWS: [u32; 4] = [1, 2, 8, 2 * HOSTS];
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

fn over_lanes(time: impl Fn(u32) -> Result<f64, PaperError>) -> Result<Points, PaperError> {
    (1..=HOSTS).map(|lanes| Ok((u64::from(lanes), time(lanes)?))).collect()
}

fn simulated(
    testbed: &Testbed,
    op: Collective,
    algorithm: impl Fn(u32) -> String,
) -> Result<Points, PaperError> {
    over_lanes(|lanes| testbed.time(op, &algorithm(lanes), LARGE))
}

fn predicted(testbed: &Testbed, form: Form, wan: WanRate) -> Result<Points, PaperError> {
    let model = testbed.model(LARGE, wan)?;
    over_lanes(|lanes| modelled(model.time(form, lanes)))
}

/// The model's curves, the same for both operations: as printed, as printed with lanes that share
/// the WAN, and as corrected.
struct Predictions {
    printed: Points,
    shared: Points,
    corrected: Points,
    overlapped: Points,
}

impl Predictions {
    fn new(testbed: &Testbed) -> Result<Predictions, PaperError> {
        Ok(Predictions {
            printed: predicted(testbed, Form::Printed, testbed.constant()?)?,
            shared: predicted(testbed, Form::Printed, testbed.shared()?)?,
            corrected: predicted(testbed, Form::Corrected, testbed.shared()?)?,
            overlapped: predicted(testbed, Form::Overlapped, testbed.shared()?)?,
        })
    }

    fn curves(self, op: Collective) -> Vec<Curve> {
        let all = [
            ("predicted as printed", self.printed),
            ("predicted as printed, lanes share the WAN", self.shared),
            ("predicted as corrected", self.corrected),
            ("predicted, root sends while its lane drains", self.overlapped),
        ];
        all.map(|(label, points)| curve(op, label, points)).into()
    }
}

fn curve(op: Collective, label: impl Into<String>, points: Points) -> Curve {
    Curve::new(op.name(), label, points)
}

/// Where a curve is lowest, and how far it is near that.
struct Best {
    lanes: f64,
    first: f64,
    last: f64,
    /// The time with all lanes over the best.
    beyond: f64,
}

impl Best {
    fn of(points: &[(u64, f64)]) -> Best {
        let least = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let near = |most: f64| {
            let mut near = points.iter().filter(move |point| point.1 <= least * most);
            let first = near.next().map_or(f64::NAN, |point| point.0 as f64);
            (first, near.next_back().map_or(first, |point| point.0 as f64))
        };
        let (first, last) = near(NEAR);
        let beyond = points.last().map_or(f64::NAN, |point| point.1) / least;
        // The smallest of equals.
        Best { lanes: near(1.0 + 1e-9).0, first, last, beyond }
    }
}

fn lanes_claim(what: impl Into<String>, paper: Option<f64>, ours: f64) -> Claim {
    Claim::ratio_of(what, paper, ours)
}

pub fn figure_9() -> Result<Part, PaperError> {
    let op = Collective::Scatter;
    let testbed = Testbed::new(5)?;
    let predictions = Predictions::new(&testbed)?;
    let mut runs = Vec::new();
    for window in WINDOWS {
        runs.push(simulated(&testbed, op, |lanes| multi_lane(op, lanes, window))?);
    }
    let bests: Vec<Best> = runs.iter().map(|points| Best::of(points)).collect();
    let mut claims = vec![
        lanes_claim(
            "printed model: best number of links",
            Some(32.0),
            Best::of(&predictions.printed).lanes,
        )
        .equal(),
        lanes_claim(
            "printed, lanes share the WAN: best",
            None,
            Best::of(&predictions.shared).lanes,
        ),
        lanes_claim("corrected model: best", None, Best::of(&predictions.corrected).lanes),
        lanes_claim("simulated: best number of links", None, bests[0].lanes)
            .asked(Bound::Within(16.0, 25.0), "best with about 16 to 25 links")
            .known(8, 32.0, 32.0),
        Claim::ratio_of("simulated: 32 links over the best", None, bests[0].beyond)
            .above(1.0, "with more links than that it takes longer")
            .known(8, 1.0, 1.0),
    ];
    for (window, best) in WINDOWS.into_iter().zip(&bests) {
        let name = sends(window);
        claims.push(lanes_claim(format!("{name}: best"), None, best.lanes));
        claims.push(lanes_claim(format!("{name}: within 3 % of it from"), None, best.first));
        claims.push(lanes_claim(format!("{name}: within 3 % of it up to"), None, best.last));
        claims.push(Claim::ratio_of(format!("{name}: 32 links over it"), None, best.beyond));
    }
    let off = |points: &[(u64, f64)]| largest_difference(points, &runs[0]) * 100.0;
    claims.push(Claim::of(
        "printed model to simulation, largest",
        "%",
        None,
        off(&predictions.printed),
    ));
    claims.push(Claim::of(
        "corrected model to simulation, largest",
        "%",
        None,
        off(&predictions.corrected),
    ));
    let remarks = scatter_remarks(&bests);
    let mut curves = Vec::new();
    for (window, points) in WINDOWS.into_iter().zip(runs) {
        curves.push(curve(op, format!("simulated, {}", sends(window)), points));
    }
    curves.extend(predictions.curves(op));
    let heading = "Figure 9: scatter over the number of links, 4M, L = 5 ms";
    let commands = vec![testbed.command(op, "--algorithm multi-lane:lanes=16:window=1 --sizes 4M")];
    Ok(Part { commands, claims, remarks, curves, ..super::simulated("figure-9", heading, AXES) })
}

/// What the root has under way.
fn sends(window: u32) -> String {
    match window {
        1 => "one send at a time".to_owned(),
        all if all > HOSTS => "all sends at once".to_owned(),
        window => format!("{window} sends at a time"),
    }
}

fn scatter_remarks(bests: &[Best]) -> Vec<String> {
    let [one, two, eight, all] = bests else { return Vec::new() };
    let whole = |number: f64| format!("{number}");
    vec![
        format!(
            "With one send at a time, as the paper's model has it, times fall up to {} links, as \
             the model says; the paper measured the best with 16 to 25 and worse times beyond.",
            whole(one.lanes)
        ),
        format!(
            "What would explain the upper edge is a root that continues while its own, slow lane \
             drains, as sockets with buffers let it: with 2 sends at a time, {} to {} links are \
             within 3 % of the best. The lower edge follows where more sends share the root's \
             card, so that lanes are fed later: with 8 at a time they are {} to {}, with all at \
             once {} to {}, and 32 links take {} times the best. The paper's model has none of \
             this, and its text does not say how many sends its root has under way.",
            whole(two.first),
            whole(two.last),
            whole(eight.first),
            whole(eight.last),
            whole(all.first),
            whole(all.last),
            brief(all.beyond)
        ),
    ]
}

/// From here on no more links change the time by more than 3 %.
fn flat_from(points: &[(u64, f64)]) -> f64 {
    let last = points.last().map_or(f64::NAN, |point| point.1);
    let differs = |point: &&(u64, f64)| (point.1 / last - 1.0).abs() > NEAR - 1.0;
    points.iter().rev().find(differs).map_or(1.0, |point| (point.0 + 1) as f64)
}

/// The largest time over the smallest from 10 links on.
fn spread(points: &[(u64, f64)]) -> f64 {
    let times = || points.iter().filter(|point| point.0 >= 10).map(|point| point.1);
    times().fold(0.0, f64::max) / times().fold(f64::INFINITY, f64::min)
}

pub fn figure_10() -> Result<Part, PaperError> {
    let op = Collective::Gather;
    let (testbed, far) = (Testbed::new(5)?, Testbed::new(20)?);
    let predictions = Predictions::new(&testbed)?;
    let at_once = simulated(&testbed, op, |lanes| multi_lane(op, lanes, 1))?;
    let together = simulated(&testbed, op, |lanes| format!("multi-lane-together:lanes={lanes}"))?;
    let at_20 = simulated(&far, op, |lanes| multi_lane(op, lanes, 1))?;
    let off = |points: &[(u64, f64)]| largest_difference(points, &at_once) * 100.0;
    let from_10 = |points: &[(u64, f64)]| largest_difference(&points[9..], &at_once[9..]) * 100.0;
    let claims = vec![
        Claim::ratio_of(
            "own block at once: slowest over fastest of 10 to 32 links",
            None,
            spread(&at_once),
        ),
        Claim::ratio_of(
            "own block waits: slowest over fastest of 10 to 32 links",
            None,
            spread(&together),
        ),
        // From past 10 on, and what rounds to 10.
        lanes_claim("own block at once: flat from", Some(10.0), flat_from(&at_once))
            .asked(Bound::Within(10.0, 15.0), "no change from just past 10 links on")
            .known(9, 5.0, 5.0),
        lanes_claim("own block at once, 20 ms: flat from", Some(10.0), flat_from(&at_20)),
        lanes_claim("own block waits: flat from", Some(10.0), flat_from(&together)),
        Claim::ratio_of(
            "own block waits over at once, 32 links",
            None,
            together[31].1 / at_once[31].1,
        ),
        Claim::of(
            "printed model to simulation, 10 to 32 links, largest",
            "%",
            None,
            from_10(&predictions.printed),
        ),
        Claim::of(
            "printed model to simulation, all, largest",
            "%",
            None,
            off(&predictions.printed),
        ),
        Claim::of(
            "the model of a root that overlaps to simulation, all, largest",
            "%",
            None,
            off(&predictions.overlapped),
        ),
    ];
    let (flat, flat_20) = (flat_from(&at_once), flat_from(&at_20));
    let remarks = vec![
        format!(
            "Figure 10 is that of a helper which sends its own block at once and its lane's when \
             that is in (`multi-lane`). One that waits and sends both together, which is the \
             scatter reversed word by word (`multi-lane-together`), takes {} times as long with 32 \
             links.",
            brief(together[31].1 / at_once[31].1)
        ),
        format!(
            "Times are flat from {flat} links at 5 ms and from {flat_20} at 20 ms, the paper has \
             about 10. About as many connections as fill the root's card are enough, 4 of 250 \
             Mbit/s or 16 of 62.5; the paper does not say at which latency figure 10 was measured."
        ),
    ];
    let mut curves = vec![
        curve(op, "simulated, own block at once", at_once),
        curve(op, "simulated, own block waits", together),
    ];
    curves.extend(predictions.curves(op));
    let heading = "Figure 10: gather over the number of links, 4M, L = 5 ms";
    let more = "--algorithm multi-lane:lanes=16,multi-lane-together:lanes=16 --sizes 4M";
    let commands = vec![testbed.command(op, more)];
    Ok(Part { commands, claims, remarks, curves, ..super::simulated("figure-10", heading, AXES) })
}
