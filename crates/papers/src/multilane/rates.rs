//! Figures 7 and 8: what crosses the WAN over time, 4 MB at 20 ms.

use laneway_core::Collective;

use super::testbed::{Crossing, HOSTS, LARGE, Reading, SLOW_HOSTS, Testbed, WINDOW};
use super::{multi_lane, simulated};
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, Part, brief};
use crate::{Claim, Printed};

/// paper: multilane 5.2: what crosses in figures 7 and 8, "about".
const SCATTER_MBIT: Printed = Printed::new(250.0, 10.0);
const SINGLE_MBIT: Printed = Printed::new(125.0, 1.0);
const GATHER_MBIT: Printed = Printed::new(1000.0, 100.0);
/// More sends than the root has at all.
const ALL_AT_ONCE: u32 = 2 * HOSTS;
/// Points of a drawing, about.
const POINTS: f64 = 150.0;

const AXES: Axes = Axes {
    across: "at_ms",
    unit: Some("Mbit/s"),
    up: "rate of the WAN in Mbit/s",
    along: "time in ms",
    drawn: Drawn::Steps,
};

/// What crosses in runs that stand in one panel, from the beginning to the end of the longest.
fn panel(
    testbed: &Testbed,
    op: Collective,
    title: &'static str,
    runs: &[(&str, String)],
) -> Result<(Vec<Curve>, Vec<Crossing>), PaperError> {
    let mut end: f64 = 0.0;
    for (_, algorithm) in runs {
        end = end.max(testbed.time(op, algorithm, LARGE)?);
    }
    // A round number of milliseconds.
    let every =
        [5u32, 10, 20, 50, 100, 200].into_iter().find(|ms| end * 1e3 / f64::from(*ms) <= POINTS);
    let every = u64::from(every.unwrap_or(500));
    let mut crossings = Vec::new();
    for (_, algorithm) in runs {
        crossings.push(testbed.crossing(op, algorithm, every, end)?);
    }
    let curve = |((label, _), crossing): (&(&str, String), &Crossing)| {
        Curve::new(title, *label, crossing.points.clone())
    };
    Ok((runs.iter().zip(&crossings).map(curve).collect(), crossings))
}

fn mbit(what: &str, paper: Option<f64>, ours: f64) -> Claim {
    Claim::of(what, "Mbit/s", paper, ours)
}

/// The mean of the paper's algorithm with 32 lanes on another testbed.
fn mean_on(testbed: &Testbed, op: Collective) -> Result<f64, PaperError> {
    let lanes = multi_lane(op, HOSTS, 1);
    let end = testbed.time(op, &lanes, LARGE)?;
    Ok(testbed.crossing(op, &lanes, 20, end)?.mean)
}

/// Sends that fill the link twice: a connection has a sixteenth of it at 20 ms.
fn far_first() -> (&'static str, String) {
    ("far-first with 32 sends under way (ours)", "far-first:window=32".to_owned())
}

pub fn figure_7() -> Result<Part, PaperError> {
    let op = Collective::Scatter;
    let testbed = Testbed::new(20)?;
    let single = [("one lane", "single-lane".to_owned())];
    let (mut curves, one) = panel(&testbed, op, "a) single lane", &single)?;
    let runs = [
        ("32 lanes", multi_lane(op, HOSTS, 1)),
        ("32 lanes, two sends at a time", multi_lane(op, HOSTS, 2)),
        ("32 lanes, all sends at once", multi_lane(op, HOSTS, ALL_AT_ONCE)),
        far_first(),
    ];
    let (more, lanes) = panel(&testbed, op, "b) 32 lanes", &runs)?;
    curves.extend(more);
    let slow = mean_on(&Testbed::read(20, Reading::RoundTrip, WINDOW, SLOW_HOSTS)?, op)?;
    let half = mean_on(&Testbed::read(20, Reading::RoundTrip, WINDOW, "rate=500Mbit")?, op)?;
    let double = mean_on(&Testbed::read(20, Reading::RoundTrip, 2 * WINDOW, "")?, op)?;
    let claims = vec![
        mbit("single lane: mean while it crosses", Some(125.0), one[0].mean),
        mbit("32 lanes: mean while it crosses", Some(250.0), lanes[0].mean)
            .printed(SCATTER_MBIT, "about 250 Mbps")
            .known(7, 415.0, 425.0),
        Claim::ratio_of("32 lanes over a single lane", Some(2.0), lanes[0].mean / one[0].mean)
            .printed(SCATTER_MBIT.over(SINGLE_MBIT), "about 250 for about 125 Mbps")
            .known(7, 6.6, 6.8),
        mbit("32 lanes: highest", None, lanes[0].peak),
        mbit("32 lanes, two sends at a time: mean", None, lanes[1].mean),
        mbit("32 lanes, all sends at once: mean", None, lanes[2].mean),
        mbit("32 lanes, twice the window (125 Mbit/s each): mean", Some(250.0), double),
        mbit("32 lanes, hosts reach 700 Mbit/s: mean", Some(250.0), slow),
        mbit("32 lanes, hosts reach 500 Mbit/s: mean", Some(250.0), half),
        mbit("far-first, 32 sends under way: mean", None, lanes[3].mean),
    ];
    let [mean, two, slow, half, double] =
        [lanes[0].mean, lanes[1].mean, slow, half, double].map(brief);
    let remarks = vec![
        format!(
            "The WAN carries {mean} Mbit/s here, the paper reports about 250. For each block that \
             crosses the root sends two over its card, that one and the helper's own, so that half \
             of its card's rate is what crosses, whatever a connection gets: {double} with 125 \
             Mbit/s a connection, {two} with two sends at a time. With all sends at once nearly \
             nothing crosses until all helpers are fed, and then the WAN is full, which is not \
             what the paper describes."
        ),
        format!(
            "Hosts that reach 700 Mbit/s, which fit the gains of figures 4 and 5, give {slow}; for \
             250 they must reach about half of their card ({half} with 500 Mbit/s)."
        ),
    ];
    let heading = "Figure 7: scatter, what crosses the WAN over time, 4M, L = 20 ms";
    let commands = commands(&testbed, op, &[&single[0].1, &runs[0].1]);
    Ok(Part { commands, claims, remarks, curves, ..simulated("figure-7", heading, AXES) })
}

pub fn figure_8() -> Result<Part, PaperError> {
    let op = Collective::Gather;
    let testbed = Testbed::new(20)?;
    let single = [("one lane", "single-lane".to_owned())];
    let (mut curves, one) = panel(&testbed, op, "a) single lane", &single)?;
    let runs = [("32 lanes", multi_lane(op, HOSTS, 1)), far_first()];
    let (more, lanes) = panel(&testbed, op, "b) 32 lanes", &runs)?;
    curves.extend(more);
    let claims = vec![
        mbit("single lane: mean while it crosses (65 to 70)", None, one[0].mean),
        mbit("32 lanes: highest", Some(1000.0), lanes[0].peak),
        mbit("32 lanes: mean while it crosses", Some(1000.0), lanes[0].mean),
        Claim::ratio_of("32 lanes: gather's mean over scatter's", Some(4.0), {
            lanes[0].mean / mean_on(&testbed, Collective::Scatter)?
        })
        .printed(GATHER_MBIT.over(SCATTER_MBIT), "about 1 Gbps for about 250 Mbps")
        .known(7, 2.35, 2.4),
        Claim::own_ratio("single lane over 32 lanes: time", {
            let lanes = testbed.time(op, &multi_lane(op, HOSTS, 1), LARGE)?;
            testbed.time(op, "single-lane", LARGE)? / lanes
        })
        .above(1.0, "done with the WAN in less time than the conventional way"),
        mbit("far-first, 32 under way: mean", None, lanes[1].mean),
    ];
    let remarks = vec![format!(
        "All lanes start at once and fill the link, {} Mbit/s in the mean, as in the paper. Ours \
         does so without helpers ({}).",
        brief(lanes[0].mean),
        brief(lanes[1].mean)
    )];
    let heading = "Figure 8: gather, what crosses the WAN over time, 4M, L = 20 ms";
    let commands = commands(&testbed, op, &[&single[0].1, &runs[0].1]);
    Ok(Part { commands, claims, remarks, curves, ..simulated("figure-8", heading, AXES) })
}

fn commands(testbed: &Testbed, op: Collective, algorithms: &[&String]) -> Vec<String> {
    let line = |algorithm: &&String| {
        testbed.command(op, &format!("--algorithm {algorithm} --sizes 4M --record wan.svg"))
    };
    algorithms.iter().map(line).collect()
}
