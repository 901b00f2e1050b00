//! The path-migration paper (Vishnu, Mamidala, Narravula, Panda): its figures 5 to 8, measured over
//! the UDP driver between two hosts of a lab.

mod completion;
mod latency;
mod pairs;
mod transitions;

use std::path::PathBuf;

use laneway_core::Observer;
use laneway_stats::{median, median_interval, sorted};

use crate::Paper;
use crate::error::PaperError;
use crate::part::{Axes, Claim, Curve, Drawn, Part};
use laneway_drill::{Stage, StageOptions};

/// What is reproduced of it.
pub static PAPER: Paper = Paper {
    name: "path-migration",
    about: "Figures 5 to 8 of automatic path migration: transitions and latency over queue pairs",
    effort: "Two hosts of a lab with two cards each, real UDP between them. It needs root and \
             takes less than a minute; where it cannot run, parts are left out, with the reason.",
    parts: &PARTS,
    drawn: "figure-6",
    notes: NOTES,
    page: "docs/path.md",
    platform: None,
};

const PARTS: [&str; 5] = ["figure-5", "figure-6", "figure-7", "figure-8", "completion"];

const NOTES: &[&str] = &[
    "note: both ends are threads of one process in namespaces of their own; every packet passes \
     two virtual cards and a switch of the kernel, at 10 Gbit/s. The paper measured InfiniBand \
     cards of 2004, so that times compare in their shape alone.",
    "note: a queue pair is a connection of laneway-net. Whoever moves packets of an endpoint takes \
     its events, too: what the paper gives to its asynchronous thread is done between messages.",
    "note: the figures are drawings without numbers: what the text says of them is what is \
     compared, and the bounds of verdicts are ours (docs/path.md).",
];

/// What a part has found.
#[derive(Default)]
struct Found {
    claims: Vec<Claim>,
    remarks: Vec<String>,
    curves: Vec<Curve>,
}

/// One part: what it is called, and what is done for it with so many pairs at most.
struct Experiment {
    name: &'static str,
    heading: &'static str,
    axes: Axes,
    run: fn(&Stage, usize, &dyn Observer) -> Result<Found, PaperError>,
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

/// What its experiments need.
#[derive(Clone, Debug)]
pub struct Options {
    /// The largest number of queue pairs.
    pub pairs: usize,
    /// The command `laneway`, which guards the lab.
    pub program: PathBuf,
}

impl Default for Options {
    /// 512 pairs; `laneway` is found by the search path.
    fn default() -> Options {
        Options { pairs: 512, program: "laneway".into() }
    }
}

/// The wanted parts in the order of the paper, all where none is named; tells how far it is. Where
/// no lab can be built a part has a remark on why it was left out.
pub fn reproduce(
    wanted: &[&str],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Vec<Part>, PaperError> {
    let chosen = PAPER.chosen(wanted)?;
    let program = options.program.clone();
    let stage = Stage::build(&StageOptions { rate: "10Gbit".into(), one_switch: false, program });
    let stage = stage.map_err(|error| error.to_string());
    let is_chosen = |part: &&Experiment| chosen.contains(&part.name);
    let parts = EXPERIMENTS.iter().filter(is_chosen).map(|experiment| {
        let Experiment { name, heading, axes, run } = *experiment;
        let found = match &stage {
            Ok(stage) => run(stage, options.pairs, observer)?,
            Err(why) => Found { remarks: vec![format!("Left out: {why}.")], ..Found::default() },
        };
        let Found { claims, remarks, curves } = found;
        Ok(Part { name, heading, commands: Vec::new(), claims, remarks, curves, axes })
    });
    let parts = parts.collect();
    if let Ok(stage) = stage {
        stage.remove()?;
    }
    parts
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
