//! The path-migration paper (Vishnu, Mamidala, Narravula, Panda): its figures 5 to 8, measured over
//! the UDP driver between two hosts of a lab, or over loopback where no lab can be built.

mod completion;
mod hosts;
mod latency;
mod pairs;
mod transitions;

use laneway_core::Observer;
use laneway_stats::{median, median_interval, sorted};

use crate::error::PaperError;
use crate::paper::kept;
use crate::part::{Axes, Curve, Drawn, Part};
use crate::{Claim, Paper, Request};
use hosts::Hosts;

/// What is reproduced of it.
pub static PAPER: Paper = Paper {
    name: "path-migration",
    about: "Figures 5 to 8 of automatic path migration: transitions and latency over queue pairs",
    effort: "Two hosts of a lab with two cards each, real UDP between them, which needs root; \
             where no lab can be built, two addresses of the loopback interface. It takes less \
             than a minute. LANEWAY_SECURITY says how messages are protected: encrypt, \
             authenticate (default) or trust; LANEWAY_PATH_KIND what carries them: datagram \
             (default) or stream.",
    parts: &PARTS,
    slow: &[],
    drawn: "figure-6",
    notes: NOTES,
    page: "docs/papers/path-migration.md",
    platform: None,
    measures: true,
    reproduce,
};

const PARTS: [&str; 5] = ["figure-5", "figure-6", "figure-7", "figure-8", "completion"];

const NOTES: &[&str] = &[
    "note: both ends are threads of one process. In a lab they are in namespaces of their own, and \
     every packet passes two virtual cards and a switch of the kernel, at 10 Gbit/s; over loopback \
     paths are two addresses, and the endpoint is informed of a fault as by its device. The paper \
     measured InfiniBand cards of 2004, so that times compare in their shape alone.",
    "note: a queue pair is a connection of laneway-connections. The driver of an endpoint takes \
     its events, too: what the paper gives to its asynchronous thread is done between messages.",
    "note: the figures are drawings without numbers: what the text says of them is what is \
     compared.",
];

/// What a part has found.
#[derive(Default)]
struct Found {
    claims: Vec<Claim>,
    remarks: Vec<String>,
    missing: Vec<String>,
    curves: Vec<Curve>,
}

/// What a part measures with: the two ends, and how much is asked for.
struct Bench<'a> {
    hosts: Hosts,
    request: &'a Request,
    observer: &'a dyn Observer,
}

impl Bench<'_> {
    /// The largest number of pairs.
    fn most(&self) -> usize {
        const QUICK: usize = 64;
        let pairs = self.request.pairs;
        if self.request.quick { pairs.min(QUICK) } else { pairs }
    }

    /// How often each figure is measured.
    fn repetitions(&self) -> usize {
        if self.request.quick { 5 } else { 11 }
    }

    /// The places of a curve, each with a step of the bar, until the time is over; what is left
    /// out is missing.
    fn over<T: Copy + std::fmt::Display>(
        &self,
        what: &'static str,
        places: &[T],
        found: &mut Found,
        mut measure: impl FnMut(T) -> Result<(), PaperError>,
    ) -> Result<(), PaperError> {
        let stage = laneway_core::Stage::new(self.observer, what, places.len() as u64);
        for (done, place) in places.iter().enumerate() {
            if self.request.is_over() {
                let left: Vec<String> = places[done..].iter().map(T::to_string).collect();
                found.missing.push(format!("{what}: {} (the budget is spent)", left.join(", ")));
                break;
            }
            measure(*place)?;
            stage.step();
        }
        Ok(())
    }
}

/// One part: what it is called, and what is done for it.
struct Experiment {
    name: &'static str,
    heading: &'static str,
    axes: Axes,
    run: fn(&Bench) -> Result<Found, PaperError>,
}

const OVER_PAIRS: Axes = Axes {
    across: "pairs",
    unit: Some("us"),
    up: "time in us",
    along: "number of queue pairs",
    drawn: Drawn::Even,
};

const EXPERIMENTS: [Experiment; 5] = [
    Experiment {
        name: PARTS[0],
        heading: "Figure 5: time of both transitions, few queue pairs",
        axes: OVER_PAIRS,
        run: transitions::figure_5,
    },
    Experiment {
        name: PARTS[1],
        heading: "Figure 6: time of both transitions, many queue pairs",
        axes: OVER_PAIRS,
        run: transitions::figure_6,
    },
    Experiment {
        name: PARTS[2],
        heading: "Figure 7: latency of 128 B while transitions are under way, over queue pairs",
        axes: Axes {
            up: "mean latency in us",
            along: "number of queue pairs",
            drawn: Drawn::Tenfold,
            ..OVER_PAIRS
        },
        run: latency::figure_7,
    },
    Experiment {
        name: PARTS[3],
        heading: "Figure 8: latency over message sizes, all queue pairs",
        axes: Axes {
            across: "size_bytes",
            up: "mean latency in us",
            along: "size of a message",
            drawn: Drawn::Tenfold,
            ..OVER_PAIRS
        },
        run: latency::figure_8,
    },
    Experiment {
        name: PARTS[4],
        heading: "Completion of a loading request, by event or by query (3.1.2)",
        axes: Axes { drawn: Drawn::Not, ..OVER_PAIRS },
        run: completion::part,
    },
];

/// The wanted parts in the order of the paper, all where none is named; tells how far it is.
pub fn reproduce(request: &Request, observer: &dyn Observer) -> Result<Vec<Part>, PaperError> {
    let chosen = PAPER.chosen(request)?;
    let bench = Bench { hosts: Hosts::build(request)?, request, observer };
    let is_chosen = |part: &&Experiment| chosen.contains(&part.name);
    let parts = EXPERIMENTS.iter().filter(is_chosen).map(|experiment| {
        let Experiment { name, heading, axes, run } = *experiment;
        let how = bench.hosts.how();
        let found = run(&bench).map(|found| {
            let Found { claims, mut remarks, missing, curves } = found;
            if let Hosts::Loopback { why, .. } = &bench.hosts {
                remarks.push(format!("Over loopback, as there is no lab: {why}."));
            }
            Part { claims, remarks, missing, curves, ..Part::new(name, how, heading, axes) }
        });
        kept(name, how, found)
    });
    let parts = parts.collect();
    bench.hosts.remove()?;
    Ok(parts)
}

/// 1, 2, 4 and so on, up to this.
fn powers(most: usize) -> Vec<usize> {
    (0..usize::BITS).map(|power| 1 << power).take_while(|count| *count <= most).collect()
}

/// Medians of repetitions over places, with the interval of each.
#[derive(Default)]
struct Medians {
    points: Vec<(u64, f64)>,
    intervals: Vec<(f64, f64)>,
}

impl Medians {
    fn add(&mut self, at: usize, samples: &[f64]) {
        let middle = median(samples).unwrap_or(f64::NAN);
        let interval = median_interval(&sorted(samples), 0.95);
        self.points.push((at as u64, middle));
        self.intervals.push(interval.map_or((middle, middle), |both| (both.low, both.high)));
    }

    /// At the largest place.
    fn last(&self) -> f64 {
        self.points.last().map_or(f64::NAN, |point| point.1)
    }

    /// The largest over the smallest.
    fn range(&self) -> f64 {
        let figures = || self.points.iter().map(|point| point.1);
        figures().fold(0.0, f64::max) / figures().fold(f64::INFINITY, f64::min)
    }

    fn curve(&self, op: &'static str, label: &str) -> Curve {
        Curve { intervals: self.intervals.clone(), ..Curve::new(op, label, self.points.clone()) }
    }
}
