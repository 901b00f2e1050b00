//! The escalation of gather as a measured incast: 16 hosts of a lab send to one over real TCP, with
//! shallow queues at the ports of their switch, and with deep ones.
//!
//! Nothing here makes escalations: packets that do not fit are dropped by the kernel's queue, and
//! what follows is what its TCP does (a retransmission timeout is 200 ms). Cards have a tenth of
//! the paper's rate, because 16 ranks of one machine do not fill faster ones together.

use std::time::Duration;

use laneway_core::Collective;
use laneway_core::units::format_size;

use crate::error::PaperError;
use crate::multilane::typed::{Plan, Ran, Ranks, Seen};
use crate::part::{Axes, Curve, How, Part, brief};
use crate::{Claim, Request};

const PLATFORM: &str = "cluster:16,rate=100Mbit";
const RANKS: u32 = 16;
const QUEUES: [&str; 2] = ["64K", "4M"];
const SIZES: [u64; 8] =
    [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 100 << 10];
/// Up to here all messages together fit the shallow queue.
const SMALL: u64 = 2 << 10;
/// What the paper's figure shows beyond.
const LARGE: u64 = 100 << 10;
/// For a quick look: a size that fits, and one that does not.
const FEW_SIZES: [u64; 2] = [SMALL, 64 << 10];
/// The most that a call without a timeout takes here, and the least with one.
const TIMEOUT_MS: f64 = 200.0;
/// How long each of both runs may take without a budget.
const USUAL: Duration = Duration::from_secs(80);
const AXES: Axes = Axes { unit: Some("ms"), up: "time in ms", ..Axes::TIMES };

/// What was measured with one kind of queue.
struct Queue {
    name: &'static str,
    seen: Vec<Seen>,
}

impl Queue {
    /// The longest of all repetitions of some sizes; no number where one was not measured.
    fn most(&self, sizes: &[u64], wanted: impl Fn(u64) -> bool) -> f64 {
        let of = |size: &u64| self.seen.iter().find(|seen| seen.size == *size);
        let times = sizes.iter().filter(|size| wanted(**size));
        let most = |most: f64, size| of(size).map_or(f64::NAN, |seen| most.max(seen.most));
        times
            .fold(0.0, |longest, size| if longest.is_nan() { longest } else { most(longest, size) })
    }

    fn curves(&self) -> [Curve; 2] {
        let curve = |what: &str, of: fn(&Seen) -> f64| {
            let points = self.seen.iter().map(|seen| (seen.size, of(seen))).collect();
            Curve::new("gather", format!("{what}, queues of {}", self.name), points)
        };
        [curve("median", |seen| seen.time), curve("longest", |seen| seen.most)]
    }
}

pub fn part(request: &Request) -> Result<Part, PaperError> {
    let heading = "Gather over real TCP on 16 hosts, with shallow and deep queues in the switch";
    let mut part = Part::new("incast", How::Lab, heading, AXES);
    let sizes = if request.quick { &FEW_SIZES[..] } else { &SIZES[..] };
    let words = sizes.iter().map(|size| format_size(*size)).collect::<Vec<_>>().join(",");
    let algorithms = ["linear".to_owned()];
    let mut queues = Vec::new();
    for name in QUEUES {
        let plan = Plan {
            lab: vec!["--platform", PLATFORM, "--management", "--switch-queue", name],
            ranks: RANKS,
            by: Ranks::Mpi,
            operations: &[Collective::Gather],
            algorithms: &algorithms,
            sizes: &words,
            reps: 10,
            recorded: None,
            usual: USUAL,
        };
        part.commands.push(plan.line());
        let Ran { seen, missing, .. } = plan.run(request);
        part.missing.extend(missing.map(|why| format!("queues of {name}: {why}")));
        queues.push(Queue { name, seen });
    }
    part.curves = queues.iter().flat_map(Queue::curves).collect();
    if let [shallow, deep] = &queues[..] {
        part.claims = claims(shallow, deep, sizes);
        part.remarks = remarks(shallow, deep, sizes);
    }
    Ok(part)
}

fn is_small(size: u64) -> bool {
    size <= SMALL
}

fn is_medium(size: u64) -> bool {
    size > SMALL && size < LARGE
}

fn claims(shallow: &Queue, deep: &Queue, sizes: &[u64]) -> Vec<Claim> {
    let ms = |what: &str, longest: f64| Claim::of(what, "ms", None, longest);
    let caused = "escalations for medium-sized messages";
    let medium = shallow.most(sizes, is_medium);
    let mut claims = vec![
        ms("small sizes, shallow queues: the longest", shallow.most(sizes, is_small))
            .below(TIMEOUT_MS, caused),
        ms("medium sizes, shallow queues: the longest", medium).above(TIMEOUT_MS, caused),
        ms("medium sizes, deep queues: the longest", deep.most(sizes, is_medium))
            .below(TIMEOUT_MS, "caused by TCP in switched networks"),
    ];
    if sizes.contains(&LARGE) {
        let is_large = |size| size == LARGE;
        let over = |queue: &Queue| queue.most(sizes, is_medium) / queue.most(sizes, is_large);
        claims.extend([
            ms("100K, shallow queues: the longest", shallow.most(sizes, is_large)),
            Claim::own_ratio("shallow queues: medium sizes over 100K", over(shallow)),
            Claim::own_ratio("deep queues: medium sizes over 100K", over(deep)),
        ]);
    }
    claims
}

fn remarks(shallow: &Queue, deep: &Queue, sizes: &[u64]) -> Vec<String> {
    let medium = [shallow, deep].map(|queue| queue.most(sizes, is_medium));
    if medium.iter().any(|longest| longest.is_nan()) {
        return Vec::new();
    }
    let large = shallow.most(sizes, |size| size == LARGE);
    let mut remarks = vec![format!(
        "With {} at each port of the switch, the longest gather of a medium size takes {} ms, with \
         {} it takes {} ms. What is dropped at the root's port is sent again after a timeout of \
         200 ms where no later packet shows the loss.",
        shallow.name,
        brief(medium[0]),
        deep.name,
        brief(medium[1])
    )];
    if large > TIMEOUT_MS {
        let more = "Gathers of 100K escalate here as well: Open MPI asks before it sends the rest \
                    of a message above 64K, but all senders ask at once.";
        remarks.push(more.to_owned());
    }
    remarks
}
