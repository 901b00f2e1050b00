//! What a connection gets between the sites: a window for each round trip, and what the paper's L
//! must then be.

use laneway_core::Collective;

use super::simulated;
use super::testbed::{Reading, Testbed, WINDOW};
use crate::Claim;
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, Part, brief};

/// paper: multilane 5.2: the latencies of its figures, in milliseconds.
const LATENCIES: [u32; 2] = [5, 20];

pub fn part() -> Result<Part, PaperError> {
    let rate = |ms, reading, window| Testbed::read(ms, reading, window, "")?.connection_mbit();
    let (near, far) = (Testbed::new(5)?, Testbed::new(20)?);
    let (at_5, at_20) = (near.connection_mbit()?, far.connection_mbit()?);
    let mbit = |what: &str, paper, ours| Claim::of(what, "Mbit/s", paper, ours);
    let one_way = rate(5, Reading::OneWay, WINDOW)?;
    let claims = vec![
        mbit("a connection at 5 ms, L is the round trip", Some(250.0), at_5),
        mbit("a connection at 20 ms (figure 8: 65 to 70), L is the round trip", None, at_20),
        mbit("a connection at 20 ms (figure 7), L is the round trip", Some(125.0), at_20),
        mbit("a connection at 5 ms, L is one way", Some(250.0), one_way),
        mbit("a connection at 20 ms, L is one way", None, rate(20, Reading::OneWay, WINDOW)?),
        mbit("5 ms one way, twice the window", Some(250.0), rate(5, Reading::OneWay, 2 * WINDOW)?),
        mbit("20 ms one way, twice the window", None, rate(20, Reading::OneWay, 2 * WINDOW)?),
    ];
    let mut curves = Vec::new();
    for reading in Reading::ALL {
        let point = |ms: u32| Ok((u64::from(ms), rate(ms, reading, WINDOW)?));
        let points = LATENCIES.into_iter().map(point).collect::<Result<_, PaperError>>()?;
        let (op, label) = ("what a connection gets at L milliseconds", reading.words());
        curves.push(Curve::new(op, label, points));
    }
    let axes =
        Axes { across: "latency_ms", unit: Some("Mbit/s"), up: "", along: "", drawn: Drawn::Not };
    let heading = "Section 5.1: what one connection gets from 156 KB for each round trip. The \
                   window is an input, chosen to give 250 Mbit/s at 5 ms: nothing is judged";
    let commands = vec![near.command(Collective::Scatter, "--algorithm single-lane --sizes 4M")];
    let remarks = remarks(at_5, at_20, one_way);
    Ok(Part { commands, claims, remarks, curves, ..simulated("window", heading, axes) })
}

fn remarks(at_5: f64, at_20: f64, one_way: f64) -> Vec<String> {
    let (at_5, at_20, one_way) = (brief(at_5), brief(at_20), brief(one_way));
    vec![
        format!(
            "The reading that fits is the round trip: the same {WINDOW} bytes give {at_5} Mbit/s \
             at 5 ms and {at_20} at 20 ms, the paper's 250 and nearly its 65 to 70; with L one way \
             they give {one_way} at 5 ms. Twice the window would give the same rates with L one \
             way; the paper's section 5.1 says that it set the RTT, so the smaller one is used."
        ),
        format!(
            "The 125 Mbit/s that section 5.2 gives for the scatter at 20 ms fits no window: rates \
             fall with the round trip, so that 125 at 20 ms is 500 at 5 ms, where the paper has \
             250, and the paper's own gather has 65 to 70 at the same 20 ms, over the same kind of \
             connection. Another latency or another buffer for figure 7 alone would explain it; \
             the text names none."
        ),
    ]
}
