//! Section 3.2 and figure 1: where the paper expects lanes to lose, and the world for which it made
//! them, in which every host has a card of its own for the WAN.

use laneway_core::Collective;

use super::testbed::{HOSTS, LARGE, Reading, Testbed, WINDOW};
use super::{multi_lane, simulated};
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, Part, brief};
use crate::{Claim, Printed};

const BLOCK: u64 = 1 << 20;
const OPERATIONS: [Collective; 2] = [Collective::Scatter, Collective::Gather];

/// One of the two situations in which the paper expects no gain.
struct Regime {
    name: &'static str,
    /// Bytes of a connection under way, and the platform's words.
    window: u64,
    words: &'static str,
    /// For the scatter, then for the gather: the range of what two lanes and the best number of
    /// them take over a single one, where that is less.
    known: [[Option<(f64, f64)>; 2]; 2],
}

/// The same within the latency of a message.
const HARDLY: Option<(f64, f64)> = Some((0.99, 1.0));

/// A window that gives a connection all of a card of 1 Gbit/s.
const WHOLE_CARD: u64 = 4 * WINDOW;

/// paper: multilane 3.2: B_WAN < b_WAN, and b_LAN = b_WAN.
const REGIMES: [Regime; 4] = [
    Regime {
        name: "B_WAN 200, b_WAN 250 Mbit/s",
        window: WINDOW,
        words: "wan=200Mbit",
        known: [[None, Some((0.84, 0.86))], [Some((0.94, 0.96)), Some((0.87, 0.89))]],
    },
    Regime {
        name: "B_WAN 500, b_WAN 1000 Mbit/s",
        window: WHOLE_CARD,
        words: "wan=500Mbit",
        known: [[None, Some((0.69, 0.71))], [Some((0.9, 0.93)), Some((0.82, 0.84))]],
    },
    Regime {
        name: "b_LAN = b_WAN = B_WAN = 1000 Mbit/s",
        window: WHOLE_CARD,
        words: "wan=1Gbit",
        known: [[None, None], [HARDLY, HARDLY]],
    },
    Regime {
        name: "b_LAN = b_WAN = 1000 Mbit/s, B_WAN 10 Gbit/s",
        window: WHOLE_CARD,
        words: "wan=10Gbit",
        known: [[None, None], [HARDLY, HARDLY]],
    },
];

const OVER_ONE: Axes = Axes {
    across: "lanes",
    unit: None,
    up: "time over that of a single lane",
    along: "number of lanes",
    drawn: Drawn::Even,
};

/// The time with each number of lanes over that with one.
fn over_one(testbed: &Testbed, op: Collective) -> Result<Vec<(u64, f64)>, PaperError> {
    let single = testbed.time(op, "single-lane", BLOCK)?;
    let point = |lanes: u32| {
        let time = testbed.time(op, &multi_lane(op, lanes, 1), BLOCK)?;
        Ok((u64::from(lanes), time / single))
    };
    (2..=HOSTS).map(point).collect()
}

/// Curves of an operation stand together.
fn in_panels(curves: &mut [Curve]) {
    curves.sort_by_key(|curve| OPERATIONS.iter().position(|op| op.name() == curve.op));
}

pub fn section_3_2() -> Result<Part, PaperError> {
    let (mut claims, mut curves, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for regime in &REGIMES {
        let testbed = Testbed::read(5, Reading::RoundTrip, regime.window, regime.words)?;
        for (op, known) in OPERATIONS.into_iter().zip(regime.known) {
            let points = over_one(&testbed, op)?;
            let name = |what: &str| format!("{}, {}: {what}", regime.name, op.name());
            let best = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let said = "lanes will not work well there";
            for ((what, ratio), known) in
                [("2 lanes", points[0].1), ("best number of lanes", best)].into_iter().zip(known)
            {
                let claim = Claim::own_ratio(name(&format!("{what} over one, time")), ratio)
                    .at_least(1.0, said);
                claims.push(match known {
                    Some((low, high)) => claim.known(10, low, high),
                    None => claim,
                });
            }
            curves.push(Curve::new(op.name(), regime.name, points));
        }
        let op = Collective::Scatter;
        let mean = |algorithm: &str| -> Result<f64, PaperError> {
            let end = testbed.time(op, algorithm, LARGE)?;
            Ok(testbed.crossing(op, algorithm, 20, end)?.mean)
        };
        let ratio = mean(&multi_lane(op, HOSTS, 1))? / mean("single-lane")?;
        let what = format!("{}: rate of the WAN, 32 lanes over one, 4M", regime.name);
        let claim = Claim::own_ratio(what, ratio);
        claims.push(match regime.known[0][1] {
            Some(_) => claim.printed(Printed::new(1.0, 0.01), "the WAN is used no better"),
            None => claim,
        });
        let lanes = multi_lane(op, HOSTS, 1);
        let more = format!("--algorithm single-lane,{lanes} --sizes 1M");
        commands.push(testbed.command(op, &more));
    }
    in_panels(&mut curves);
    let remarks = vec![
        "Where b_LAN = b_WAN the paper is right: more lanes only send more, and a gather gains no \
         more than a latency. Where B_WAN < b_WAN it is right that the WAN is used no better, and \
         that a scatter over two lanes loses; it overlooks what lanes save behind the WAN. The \
         single lane's representative distributes 31 blocks after the \
         last one has crossed; with as many lanes as hosts nothing is stored and forwarded at the \
         far end, and what the root sends to helpers before is sent while the WAN is full. So 32 \
         lanes take 15 % less time at 200 of 250 Mbit/s, and 30 % less at 500 of 1,000. A single \
         lane whose representative forwards each block as it comes would not lose that time."
            .to_owned(),
    ];
    let heading = "Section 3.2: lanes over a single lane where the paper expects none to be \
                   better, 1M, L = 5 ms";
    Ok(Part { commands, claims, remarks, curves, ..simulated("section-3.2", heading, OVER_ONE) })
}

/// paper: multilane 3.1: a fast network inside, 1 Gbit/s of each host to the outside, and a WAN
/// that carries many such.
const FIGURE_1: &str = "rate=10Gbit,wan-rate=1Gbit,wan=10Gbit";
const LANES: [u32; 7] = [1, 2, 4, 8, 10, 16, HOSTS];

pub fn figure_1() -> Result<Part, PaperError> {
    let op = Collective::Scatter;
    let untuned = Testbed::read(5, Reading::RoundTrip, WINDOW, FIGURE_1)?;
    let tuned = Testbed::read(5, Reading::RoundTrip, WHOLE_CARD, FIGURE_1)?;
    let (mut claims, mut curves) = (Vec::new(), Vec::new());
    for (name, testbed) in [("TCP for the WAN, 1 Gbit/s", &tuned), ("250 Mbit/s", &untuned)] {
        for op in OPERATIONS {
            let point = |lanes: u32| {
                let algorithm = match lanes {
                    1 => "single-lane".to_owned(),
                    lanes => multi_lane(op, lanes, 1),
                };
                Ok((u64::from(lanes), testbed.time(op, &algorithm, LARGE)?))
            };
            let points = LANES.into_iter().map(point).collect::<Result<Vec<_>, PaperError>>()?;
            let (one, all) = (points[0].1, points[LANES.len() - 1].1);
            let name = |what: &str| format!("{name}, {}: {what}", op.name());
            claims.extend([
                Claim::own_seconds(name("a single lane, 4M"), one),
                Claim::own_seconds(name("32 lanes, 4M"), all),
                Claim::own_ratio(name("a single lane over 32 lanes"), one / all)
                    .above(1.0, "the collective's time can be expected to improve"),
                Claim::own_ratio(name("32 lanes over the lower bound"), {
                    all / testbed.bound(op, LARGE)?
                }),
            ]);
            curves.push(Curve::new(op.name(), name("time"), points));
        }
    }
    let mean = |lanes: u32| -> Result<f64, PaperError> {
        let algorithm = multi_lane(Collective::Gather, lanes, 1);
        let end = tuned.time(Collective::Gather, &algorithm, LARGE)?;
        Ok(tuned.crossing(Collective::Gather, &algorithm, 10, end)?.mean)
    };
    let rates = [2, 4, 8].map(mean);
    let [two, four, eight] = rates;
    let (two, four, eight) = (two?, four?, eight?);
    let least = (four / two).min(eight / four);
    let what = "gather: rate of the WAN, from 2 to 4 and 8 lanes, least growth";
    let said = "the total rate grows while B_WAN >= p b_WAN";
    claims.push(Claim::own_ratio(what, least).above(1.0, said));
    let without = Testbed::read(5, Reading::RoundTrip, WHOLE_CARD, FREE_LAN)?;
    let lanes = multi_lane(op, HOSTS, 1);
    let (with, without) = (tuned.time(op, &lanes, LARGE)?, without.time(op, &lanes, LARGE)?);
    let share = 1.0 - without / with;
    let what = "scatter, 32 lanes: part of the time that sends inside the sites take";
    let said = "what feeding the helpers costs is slight in the whole";
    claims.push(Claim::own_ratio(what, share).below(0.5, said).known(11, 0.53, 0.57));
    let remarks = vec![format!(
        "With a card of its own for the WAN on every host, lanes do what the paper made them for. \
         But of the scatter's time {} % is the root's 10 Gbit/s card, which sends {} blocks inside \
         its site: with 32 lanes that, and no longer the WAN, is what the call waits for.",
        brief(100.0 * share),
        2 * HOSTS - 2,
    )];
    let heading = "Figure 1's network: 10 Gbit/s inside, a card of 1 Gbit/s for other sites on \
                   each host, 10 Gbit/s between the sites, 4M, L = 5 ms";
    in_panels(&mut curves);
    let axes = Axes {
        across: "lanes",
        unit: Some("s"),
        up: "time in s",
        along: "number of lanes",
        drawn: Drawn::Lines,
    };
    Ok(Part { claims, remarks, curves, ..simulated("figure-1", heading, axes) })
}

/// The same where nothing inside a site takes time.
const FREE_LAN: &str = "rate=10000Gbit,wan-rate=1Gbit,wan=10Gbit";
