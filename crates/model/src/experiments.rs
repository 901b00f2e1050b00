//! What was measured: one list of experiments, from which every model is fitted.

use std::collections::BTreeMap;

use laneway_core::Rank;

use crate::alike::Alike;
use crate::error::ModelError;
use crate::parameter::Parameter;
use crate::probe::Direction;

/// What is done once, with the sizes that it takes.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// A number of bytes out and a number back, between two ranks.
    RoundTrip { out_bytes: u64, back_bytes: u64 },
    /// A number of bytes out and an empty message back, between two ranks, at one of many sizes:
    /// what changes with the size.
    Curve { bytes: u64 },
    /// How long a send keeps the first of two ranks.
    SendOverhead { bytes: u64 },
    /// How long a receive of what is there keeps the first of two ranks.
    ReceiveOverhead { bytes: u64 },
    /// What one more message of a train takes.
    Gap { bytes: u64 },
    /// One rank and several others: [`Fan`](crate::Fan).
    Fan { bytes: u64, direction: Direction },
    /// All ranks at once: [`Shift`](crate::Shift).
    Shift { bytes: u64, distance: u32 },
    /// A short message behind a long one of the same pair: [`Overtake`](crate::Overtake).
    Overtake { bytes: u64 },
    /// Two messages of one pair at once: [`Double`](crate::Double).
    Double { bytes: u64 },
    /// One rank and several others, which answer as much: [`Echo`](crate::Echo).
    Echo { bytes: u64 },
}

impl Kind {
    /// What it has in common with those of other sizes.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::RoundTrip { .. } | Kind::Curve { .. } => "round trip",
            Kind::SendOverhead { .. } => "send overhead",
            Kind::ReceiveOverhead { .. } => "receive overhead",
            Kind::Gap { .. } => "gap",
            Kind::Fan { direction: Direction::Out, .. } => "point-to-two",
            Kind::Fan { direction: Direction::In, .. } => "two-to-point",
            Kind::Shift { .. } => "shift",
            Kind::Overtake { .. } => "overtake",
            Kind::Double { .. } => "double",
            Kind::Echo { .. } => "echo",
        }
    }

    /// For people, with the ranks.
    pub fn describe(&self, ranks: &[Rank]) -> String {
        let list = ranks.iter().map(Rank::to_string).collect::<Vec<_>>().join(", ");
        match *self {
            Kind::RoundTrip { out_bytes, back_bytes } => {
                format!("round trip of {out_bytes} B out and {back_bytes} B back, ranks {list}")
            }
            Kind::Curve { bytes } => {
                format!("round trip of {bytes} B out and 0 B back, ranks {list}")
            }
            Kind::SendOverhead { bytes } => format!("send overhead of {bytes} B, ranks {list}"),
            Kind::ReceiveOverhead { bytes } => {
                format!("receive overhead of {bytes} B, ranks {list}")
            }
            Kind::Gap { bytes } => format!("gap of {bytes} B, ranks {list}"),
            Kind::Fan { bytes, direction: Direction::Out } => {
                format!("point-to-two (or more) of {bytes} B out, ranks {list}")
            }
            Kind::Fan { bytes, direction: Direction::In } => {
                format!("two (or more)-to-point of {bytes} B, ranks {list}")
            }
            Kind::Shift { bytes, distance } => {
                format!("shift of {bytes} B by {distance} among all ranks")
            }
            Kind::Overtake { bytes } => {
                format!("a short message behind one of {bytes} B, ranks {list}")
            }
            Kind::Double { bytes } => format!("two messages of {bytes} B at once, ranks {list}"),
            Kind::Echo { bytes } => format!("echoes of {bytes} B, ranks {list}"),
        }
    }
}

/// One experiment on some ranks, and its seconds; the first rank measured it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Timed {
    /// What was done.
    pub kind: Kind,
    /// Who did it.
    pub ranks: Vec<Rank>,
    /// What it took in the mean.
    pub time: Parameter,
    /// The standard deviation of its repetitions.
    pub spread: f64,
    /// The fastest repetition: what disturbs makes slower, and never faster.
    pub fastest: f64,
    /// For a check of the fit, and not for the fit itself.
    pub held_back: bool,
}

impl Timed {
    /// Whether other traffic has slowed down some of the repetitions.
    pub fn is_disturbed(&self) -> bool {
        is_slowed(self.time.value, self.fastest)
    }
}

/// Whether other traffic has a part in a mean, which is above the fastest repetition then.
pub(crate) fn is_slowed(mean: f64, fastest: f64) -> bool {
    const UNDISTURBED: f64 = 0.005;
    mean > fastest * (1.0 + UNDISTURBED)
}

/// The eager size where no message was seen to wait for its receive: longer than any.
pub const ALL_EAGER: u64 = 1 << 40;

/// What the estimation took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// By the clock of rank 0, from the first experiment to the last.
    pub seconds: f64,
    /// How many experiments there were.
    pub experiments: u32,
    /// Experiments of one round were done at the same time.
    pub rounds: u32,
    /// Repetitions that count.
    pub repetitions: u64,
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiments {
    /// The host of each rank.
    pub hosts: Vec<String>,
    /// Messages up to this size leave before their receive is there; [`ALL_EAGER`] where every one
    /// does.
    pub eager_bytes: u64,
    /// Each with its time.
    pub timed: Vec<Timed>,
    /// What they took altogether.
    pub cost: Cost,
    /// Which hosts were taken as alike; none where every pair was measured.
    pub alike: Option<Alike>,
}

impl Experiments {
    /// How many ranks there were.
    pub fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// What the fit may use.
    pub fn fitted(&self) -> impl Iterator<Item = &Timed> {
        self.timed.iter().filter(|timed| !timed.held_back)
    }

    /// The same as if undisturbed: every time is that of the fastest repetition.
    pub(crate) fn undisturbed(&self) -> Experiments {
        let mut quiet = self.clone();
        quiet.timed.iter_mut().for_each(|timed| timed.time = Parameter::exact(timed.fastest));
        quiet
    }

    /// What the fit may use, to be asked for one by one.
    pub(crate) fn index(&self) -> Index<'_> {
        Index(self.fitted().map(|timed| ((timed.kind, &timed.ranks[..]), timed.time)).collect())
    }

    /// Sizes of round trips with an empty answer, rising, without 0; two at least, where a slope is
    /// asked for, with the empty one.
    pub fn sizes(&self) -> Result<Vec<u64>, ModelError> {
        let size = |timed: &Timed| match timed.kind {
            Kind::RoundTrip { out_bytes, back_bytes: 0 } => Some(out_bytes),
            _ => None,
        };
        let mut sizes: Vec<u64> = self.fitted().filter_map(size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if !sizes.contains(&0) {
            let experiment = "round trip of empty messages".to_string();
            return Err(ModelError::Missing { experiment });
        }
        sizes.retain(|&size| size > 0);
        match sizes.is_empty() {
            true => {
                let why = "all round trips have the same size, 0 B".to_string();
                Err(ModelError::Sizes { why })
            }
            false => Ok(sizes),
        }
    }

    /// Refuses times that are none.
    pub fn validate(&self) -> Result<(), ModelError> {
        for timed in &self.timed {
            let Parameter { value, low, high } = timed.time;
            let ends = [value, low, high, timed.fastest];
            let wrong = ends.iter().find(|end| !end.is_finite());
            // A gap is a difference of two times, and may be below 0 by rounding or noise.
            let below = value < 0.0 && !matches!(timed.kind, Kind::Gap { .. });
            if let Some(&value) = wrong.or(below.then_some(&value)) {
                let experiment = timed.kind.describe(&timed.ranks);
                return Err(ModelError::Sample { experiment, value });
            }
            if timed.ranks.iter().any(|&rank| rank >= self.ranks()) {
                let why = format!(
                    "{} names a rank of {}",
                    timed.kind.describe(&timed.ranks),
                    self.ranks()
                );
                return Err(ModelError::Request { why });
            }
        }
        Ok(())
    }
}

/// Experiments by what they are and whose.
pub(crate) struct Index<'e>(BTreeMap<(Kind, &'e [Rank]), Parameter>);

impl Index<'_> {
    /// The time of one experiment that a fit cannot do without.
    pub fn needed(&self, kind: Kind, ranks: &[Rank]) -> Result<Parameter, ModelError> {
        let missing = || ModelError::Missing { experiment: kind.describe(ranks) };
        self.0.get(&(kind, ranks)).copied().ok_or_else(missing)
    }
}
