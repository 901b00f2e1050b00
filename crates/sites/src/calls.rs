//! Rows for many calls at once: what is chosen for each, or what the multi-lane paper's algorithm
//! takes with each number of lanes.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use laneway_coll::{Parameter, algorithms, find};
use laneway_core::{Blocks, Collective, Observer, Row, Shape, Stage};
use laneway_sim::platform::{Layout, Platform};

use crate::bound::Bound;
use crate::choose::{Candidate, Choice, ChoiceError, Sites};
use crate::found::doubts;
use crate::model::{Form, ModelError, TwoSites};
use crate::testbed::{NotTwoSites, Sharing};

/// Every operation with every size, on all hosts of a platform.
#[derive(Clone, Copy, Debug)]
pub struct Calls<'a> {
    /// Where they run, one rank on each host.
    pub platform: &'a Platform,
    /// The operations.
    pub operations: &'a [Collective],
    /// Bytes of a rank's block, or of the vector.
    pub sizes: &'a [u64],
    /// The root of operations that have one.
    pub root: u32,
    /// Bytes of each rank's block in its turn, from the first again if there are more ranks; blocks
    /// are equal if it is empty. Instead of `sizes`, for scatterv, gatherv and allgatherv.
    pub blocks: &'a [u64],
}

/// What was chosen for calls.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Choices {
    /// A row for each call, or for each algorithm of each call.
    pub rows: Vec<Row>,
    /// How many schedules were simulated.
    pub simulated: u32,
    /// What sets the bounds, each once in a row.
    pub limits: Vec<String>,
    /// Why no bound is known: the platform has routes of its own.
    pub no_bound: Option<String>,
    /// A part of the platform that the bound leaves out: it can only make calls slower.
    pub left_out: Option<String>,
    /// Calls with algorithms that were too much work to simulate.
    pub unsearched: Vec<Unsearched>,
}

/// Algorithms that were too much work to simulate: one of them may be faster than the choice.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unsearched {
    /// The operation.
    pub op: Collective,
    /// Bytes of a block, or of the vector.
    pub size: u64,
    /// Their names.
    pub algorithms: Vec<&'static str>,
}

/// How many lanes the cost model takes for one call, by its forms.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Lanes {
    /// The operation.
    pub op: Collective,
    /// Bytes of a block.
    pub size: u64,
    /// As printed, with a constant rate of each lane.
    pub printed: u32,
    /// As printed, where lanes share the link.
    pub shared: u32,
    /// As corrected, where lanes share the link.
    pub corrected: u32,
    /// The same with sends that overlap.
    pub overlapped: u32,
}

/// Times over numbers of lanes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LaneTimes {
    /// A row for each call and number of lanes.
    pub rows: Vec<Row>,
    /// What the model takes, for each call.
    pub best: Vec<Lanes>,
}

/// Why there are no times over lanes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LanesError {
    /// The platform is not two sites.
    NotTwoSites(NotTwoSites),
    /// A number of lanes that is 0 or above this: a lane takes a host of each site.
    Range {
        /// The hosts of the smaller site.
        most: u32,
    },
    /// The operation has no such algorithm.
    Operation(Collective),
    /// The cost model has no answer.
    Model(ModelError),
    /// A schedule cannot be simulated.
    Choice(ChoiceError),
}

impl fmt::Display for LanesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LanesError::NotTwoSites(why) => f.write_str(&why.0),
            LanesError::Range { most } => {
                write!(f, "1 to {most} lanes are possible, as many as the smaller site has hosts")
            }
            LanesError::Operation(op) => write!(f, "{} has no algorithm `multi-lane`", op.name()),
            LanesError::Model(error) => error.fmt(f),
            LanesError::Choice(error) => error.fmt(f),
        }
    }
}

impl Error for LanesError {}

impl From<ModelError> for LanesError {
    fn from(error: ModelError) -> LanesError {
        LanesError::Model(error)
    }
}

impl Calls<'_> {
    /// Chooses for each call, and tells how far it is; with `all`, a row for each algorithm that
    /// was tried.
    ///
    /// ```
    /// use laneway_core::{Collective, Value};
    /// use laneway_sim::platform::Platform;
    /// use laneway_sites::Calls;
    ///
    /// let platform = Platform::read("two-sites:4x4,connection=250Mbit")?;
    /// let (operations, sizes) = ([Collective::Scatter], [1 << 20]);
    /// let calls =
    ///     Calls { platform: &platform, operations: &operations, sizes: &sizes, root: 0,
    ///             blocks: &[] };
    /// let choices = calls.choose(false, &())?;
    /// assert_eq!(choices.rows[0].get("op"), Some(&Value::from("scatter")));
    /// assert!(choices.simulated > 0 && choices.no_bound.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn choose(&self, all: bool, observer: &dyn Observer) -> Result<Choices, ChoiceError> {
        let looks = self.operations.iter().map(|&op| 2 * algorithms(op).count() as u64);
        let longest = self.blocks.iter().copied().max();
        let longest = longest.as_slice();
        let sizes = if longest.is_empty() { self.sizes } else { longest };
        let looks = looks.sum::<u64>() * sizes.len() as u64;
        let stage = Stage::new(observer, "algorithms simulated", looks);
        let sites = Sites::one_each(self.platform);
        let mut found = Choices::default();
        for &op in self.operations {
            for &size in sizes {
                let shape = self.shape(op, sites.placement().ranks(), size)?;
                let choice = sites.choose_observed(&shape, all, &stage)?;
                found.simulated += choice.simulated;
                found.limits.extend(choice.bound.as_ref().map(limit));
                if !choice.unsearched.is_empty() {
                    let algorithms = choice.unsearched.clone();
                    found.unsearched.push(Unsearched { op, size, algorithms });
                }
                let flags = flags(&choice, &doubts(&sites, &shape, &choice));
                let row = |one| choice_row(op, size, one, &choice, flags.as_deref());
                match all {
                    true => found.rows.extend(choice.all.iter().map(row)),
                    false => found.rows.push(row(&choice.best)),
                }
            }
        }
        if found.limits.is_empty() {
            found.no_bound = self.platform.widest_layout().err();
        } else {
            found.left_out = self.platform.layout().err();
        }
        found.limits.dedup();
        Ok(found)
    }

    fn shape(&self, op: Collective, ranks: u32, size: u64) -> Result<Shape, ChoiceError> {
        let root = if op.has_root() { self.root } else { 0 };
        let mut shape = Shape::new(op, ranks, size).with_root(root);
        if !self.blocks.is_empty() {
            if !matches!(shape.layout, laneway_core::Layout::Blocks(_)) || !op.is_irregular() {
                let what = format!("{} takes no blocks of different lengths", op.name());
                return Err(ChoiceError::Call(what));
            }
            let lengths: Vec<u64> =
                self.blocks.iter().copied().cycle().take(ranks as usize).collect();
            let Some(blocks) = Blocks::of_lengths(&lengths) else {
                return Err(ChoiceError::Call("the blocks overflow the address space".into()));
            };
            shape = shape.with_blocks(blocks);
        }
        shape.validate().map_err(|bad| ChoiceError::Call(bad.0))?;
        Ok(shape)
    }

    /// Simulates the multi-lane paper's algorithm with each number of lanes, and sets what its cost
    /// model says beside; tells how far it is.
    pub fn over_lanes(
        &self,
        range: RangeInclusive<u32>,
        observer: &dyn Observer,
    ) -> Result<LaneTimes, LanesError> {
        let calls = (self.operations.len() * self.sizes.len()) as u64;
        let lanes = range.clone().count() as u64;
        let stage = Stage::new(observer, "numbers of lanes simulated", calls * lanes);
        let layout = self.platform.layout();
        let layout = layout.map_err(|why| LanesError::NotTwoSites(NotTwoSites(why)))?;
        let mut times = LaneTimes::default();
        for &op in self.operations {
            for &size in self.sizes {
                let models = Models::new(&layout, self.root, size)?;
                let most = models.constant.most_lanes();
                if *range.start() == 0 || range.is_empty() || *range.end() > most {
                    return Err(LanesError::Range { most });
                }
                times.best.push(models.best(op, size)?);
                for lanes in range.clone() {
                    times.rows.push(self.lane_row(op, size, lanes, &models)?);
                    stage.step();
                }
            }
        }
        Ok(times)
    }

    fn lane_row(
        &self,
        op: Collective,
        size: u64,
        lanes: u32,
        models: &Models,
    ) -> Result<Row, LanesError> {
        let sites = Sites::one_each(self.platform);
        let shape = Shape::new(op, sites.placement().ranks(), size).with_root(self.root);
        let (algorithm, params) = find(op, "multi-lane").map_err(|_| LanesError::Operation(op))?;
        let params = params.with(Parameter::Lanes, u64::from(lanes));
        let outcome = sites.simulate(&shape, algorithm, &params).map_err(LanesError::Choice)?;
        Ok(Row::new()
            .with("op", op.name())
            .with("size_bytes", size)
            .with("p", lanes)
            .with("simulated_us", outcome.finish * 1e6)
            .with("printed_us", models.constant.time(Form::Printed, lanes)? * 1e6)
            .with("printed_shared_us", models.shared.time(Form::Printed, lanes)? * 1e6)
            .with("corrected_us", models.shared.time(Form::Corrected, lanes)? * 1e6)
            .with("overlapped_us", models.shared.time(Form::Overlapped, lanes)? * 1e6))
    }
}

/// What sets a bound, and what sets it without relays at third sites.
fn limit(bound: &Bound) -> String {
    match bound.third_sites_help() {
        true => format!("{}, without relays at third sites by {}", bound.limit, bound.direct_limit),
        false => bound.limit.clone(),
    }
}

fn choice_row(
    op: Collective,
    size: u64,
    candidate: &Candidate,
    choice: &Choice,
    flags: Option<&str>,
) -> Row {
    let bound = choice.bound.as_ref().map(|bound| bound.time);
    let limited = choice.bound.as_ref();
    let direct = limited.filter(|bound| bound.third_sites_help());
    Row::new()
        .with("op", op.name())
        .with("size_bytes", size)
        .with("choice", candidate.algorithm.name)
        .with("lanes", candidate.get(Parameter::Lanes))
        .with("window", candidate.get(Parameter::Window))
        .with("near", candidate.get(Parameter::Near))
        .with("segment_bytes", candidate.get(Parameter::Segment))
        .with("own_thousandths", candidate.get(Parameter::Own))
        .with("stripes", candidate.get(Parameter::Stripes))
        .with("connections", candidate.get(Parameter::Connections))
        .with("predicted_us", candidate.time * 1e6)
        .with("bound_us", bound.map(|time| time * 1e6))
        .with("over_bound", bound.map(|time| candidate.time / time))
        .with("bound_by", limited.map(|bound| bound.limit.clone()))
        .with("direct_bound_us", direct.map(|bound| bound.direct * 1e6).filter(|us| us.is_finite()))
        .with("direct_bound_by", direct.map(|bound| bound.direct_limit.clone()))
        .with("spelled", candidate.spelled())
        .with("flags", flags.map(str::to_owned))
}

/// What a reader of a choice should know: algorithms that were not simulated, and properties of the
/// platform that were not measured.
fn flags(choice: &Choice, doubts: &[String]) -> Option<String> {
    let unsearched = (!choice.unsearched.is_empty()).then(|| "not searched".to_owned());
    let doubts = (!doubts.is_empty()).then(|| format!("not looked for: {}", doubts.join(" ")));
    let all: Vec<String> = unsearched.into_iter().chain(doubts).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The cost model in both readings of what a pair of hosts gets of the link.
struct Models {
    constant: TwoSites,
    shared: TwoSites,
}

impl Models {
    fn new(layout: &Layout, root: u32, size: u64) -> Result<Models, LanesError> {
        let hosts: Vec<u32> = (0..layout.hosts.len() as u32).collect();
        let model = |sharing| {
            TwoSites::of(layout, &hosts, root, size, sharing).map_err(LanesError::NotTwoSites)
        };
        Ok(Models { constant: model(Sharing::Constant)?, shared: model(Sharing::Shared)? })
    }

    fn best(&self, op: Collective, size: u64) -> Result<Lanes, ModelError> {
        Ok(Lanes {
            op,
            size,
            printed: self.constant.best(Form::Printed)?.lanes,
            shared: self.shared.best(Form::Printed)?.lanes,
            corrected: self.shared.best(Form::Corrected)?.lanes,
            overlapped: self.shared.best(Form::Overlapped)?.lanes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_lanes(platform: &str, op: Collective, lanes: RangeInclusive<u32>) -> LanesResult {
        let platform = Platform::read(platform).expect("a platform");
        let (operations, sizes) = (&[op], &[64 << 10]);
        let calls = Calls { platform: &platform, operations, sizes, root: 0, blocks: &[] };
        calls.over_lanes(lanes, &())
    }

    type LanesResult = Result<LaneTimes, LanesError>;

    /// The last progress report: steps done, and steps in all.
    #[derive(Default)]
    struct Last(std::sync::Mutex<(u64, u64)>);

    impl Observer for Last {
        fn progress(&self, done: u64, all: u64, _what: &str) {
            *self.0.lock().expect("the lock is not poisoned") = (done, all);
        }
    }

    #[test]
    fn choosing_tells_how_far_it_is_to_its_end() {
        let platform = Platform::read("two-sites:2x2").expect("a platform");
        let operations = [Collective::Scatter, Collective::Bcast];
        let (operations, sizes) = (&operations, &[8, 1 << 20]);
        let calls = Calls { platform: &platform, operations, sizes, root: 0, blocks: &[] };
        let last = Last::default();
        calls.choose(false, &last).expect("choices");
        let (done, all) = *last.0.lock().expect("the lock is not poisoned");
        assert!(done == all && all > 8, "{done} of {all}");
    }

    #[test]
    fn lanes_have_times_and_limits() {
        let times = over_lanes("two-sites:2x3", Collective::Gather, 1..=2).expect("times");
        assert_eq!((times.rows.len(), times.best.len()), (2, 1));
        for lanes in [0..=1, 2..=3] {
            let error = over_lanes("two-sites:2x3", Collective::Gather, lanes);
            assert_eq!(error.expect_err("out of range"), LanesError::Range { most: 2 });
        }
        let error = over_lanes("two-sites:2x2", Collective::Bcast, 1..=1);
        assert_eq!(error.expect_err("no lanes"), LanesError::Operation(Collective::Bcast));
        let error = over_lanes("sites:2,2,2", Collective::Scatter, 1..=1);
        assert!(matches!(error, Err(LanesError::NotTwoSites(_))));
    }
}
