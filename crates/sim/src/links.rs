//! What each link of a platform carried while a schedule ran, interval by interval.

use std::error::Error;
use std::fmt;

use laneway_core::Schedule;

use crate::error::SimError;
use crate::network::Network;
use crate::record::{Intervals, Recorder, directions};
use crate::schedule::Simulation;

/// Intervals of a run, unless their length is given.
const USUAL_INTERVALS: usize = 200;
/// More intervals than this are a mistake.
const MOST_INTERVALS: f64 = 100_000.0;

/// The load of a link in one direction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkLoad {
    /// The name of the link in the platform.
    pub link: String,
    /// `out` or `in` of a card or an uplink, `there` or `back` of another link; empty where both
    /// directions are one.
    pub direction: &'static str,
    /// Bytes a second that all messages share; `None` if each may have the whole rate.
    pub capacity: Option<f64>,
    /// The bytes in each interval.
    pub bytes: Vec<f64>,
}

/// The loads of all links in a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkRecord {
    /// The duration of the run in seconds.
    pub finish: f64,
    /// The intervals.
    pub intervals: Intervals,
    /// The links that carried traffic, each direction by itself.
    pub links: Vec<LinkLoad>,
}

/// Why no loads were recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RecordError {
    /// The schedule cannot be simulated.
    Sim(SimError),
    /// The run takes no time.
    NoTime,
    /// Intervals so short that there would be more than 100,000 of them.
    TooShort {
        /// Seconds that the run takes.
        finish: f64,
        /// How many intervals there would be.
        count: f64,
        /// Seconds of an interval that would be usual.
        usual: f64,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Sim(error) => error.fmt(f),
            RecordError::NoTime => f.write_str("the run takes no time"),
            RecordError::TooShort { finish, count, .. } => {
                write!(f, "the run of {finish:.6} s would have {count:.0} intervals")
            }
        }
    }
}

impl Error for RecordError {}

impl From<SimError> for RecordError {
    fn from(error: SimError) -> RecordError {
        RecordError::Sim(error)
    }
}

/// Runs a schedule once for the time that it takes, and once more to watch, in intervals of `every`
/// seconds, or in 200 equal ones.
///
/// ```
/// use laneway_coll::find;
/// use laneway_core::{Collective, Shape};
/// use laneway_sim::platform::Platform;
/// use laneway_sim::record_links;
///
/// let platform = Platform::read("two-sites:2x2")?;
/// let (linear, params) = find(Collective::Scatter, "linear").expect("an algorithm");
/// let shape = Shape::new(Collective::Scatter, 4, 1 << 20);
/// let schedule = linear.schedule(&shape, &params).expect("a schedule");
/// let record = record_links(&platform, &*schedule, None)?;
/// let wan = record.links.iter().find(|load| load.link == "site0:to:site1").expect("the WAN");
/// assert_eq!(wan.bytes.iter().sum::<f64>().round(), f64::from(2 << 20));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_links(
    network: &dyn Network,
    schedule: &dyn Schedule,
    every: Option<f64>,
) -> Result<LinkRecord, RecordError> {
    let finish = Simulation::new(network).run(schedule)?.finish;
    if finish <= 0.0 {
        return Err(RecordError::NoTime);
    }
    let intervals = match every {
        None => Intervals::divide(finish, USUAL_INTERVALS),
        Some(every) if finish / every > MOST_INTERVALS => {
            let usual = finish / USUAL_INTERVALS as f64;
            return Err(RecordError::TooShort { finish, count: finish / every, usual });
        }
        Some(every) => Intervals::new(finish, every),
    };
    let resources = network.resources();
    let mut recorder = Recorder::new(resources.len(), intervals);
    Simulation::new(network).observed(&mut recorder).run(schedule)?;
    let named = directions(resources).into_iter().zip(resources).zip(recorder.finish());
    let used = named.filter(|(_, bytes)| !bytes.is_empty());
    let links = used.map(|((named, resource), bytes)| LinkLoad {
        link: named.link,
        direction: named.direction,
        capacity: resource.shared.then_some(resource.rate),
        bytes,
    });
    Ok(LinkRecord { finish, intervals, links: links.collect() })
}

#[cfg(test)]
mod tests {
    use laneway_coll::find;
    use laneway_core::{Collective, Shape};

    use super::*;
    use crate::platform::Platform;

    fn record(size: u64, every: Option<f64>) -> Result<LinkRecord, RecordError> {
        let platform = Platform::read("cluster:2").expect("a platform");
        let (linear, params) = find(Collective::Bcast, "linear").expect("an algorithm");
        let shape = Shape::new(Collective::Bcast, 2, size);
        record_links(&platform, &*linear.schedule(&shape, &params).expect("a schedule"), every)
    }

    #[test]
    fn intervals_are_asked_for_or_usual() {
        let usual = record(1 << 20, None).expect("a record");
        assert_eq!(usual.intervals.count(), USUAL_INTERVALS);
        let halves = record(1 << 20, Some(usual.finish / 2.0)).expect("a record");
        assert_eq!((halves.intervals.count(), halves.finish), (2, usual.finish));
        for load in usual.links.iter().chain(&halves.links) {
            assert_eq!(load.bytes.iter().sum::<f64>().round(), f64::from(1 << 20), "{load:?}");
        }
        let short = record(1 << 20, Some(usual.finish / 1e6));
        assert!(matches!(short, Err(RecordError::TooShort { .. })), "{short:?}");
        assert_eq!(record(0, None), Err(RecordError::NoTime));
    }
}
