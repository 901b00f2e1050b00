//! What a schedule takes by a model: every message costs what the model says, on the one executor.

use laneway_core::Schedule;
use laneway_sim::{HostCost, HostId, Network, Simulation};
use laneway_stats::median;

use crate::error::ModelError;
use crate::model::{Fitted, Model};
use crate::network::{Card, ModelNetwork, Way};
use crate::parameter::End;
use crate::ports::{Passages, Ports};

/// What a call takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The prediction.
    pub seconds: f64,
    /// The interval that holds nine of ten calls; none where the model was seen to be too far off
    /// to promise one ([`Quality::beyond`](crate::Quality::beyond)).
    pub interval: Option<Range>,
}

/// The two ends of the interval of a prediction, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Fitted {
    /// What the schedule takes from the common start to the last rank's end, in the middle of many
    /// calls; refuses where the model does not hold, and where it is of other hosts.
    pub fn predict(&self, schedule: &dyn Schedule) -> Result<Prediction, ModelError> {
        self.quality.demand()?;
        let ranks = schedule.ranks();
        if let Some(model) = self.model.hosts().filter(|&hosts| hosts != ranks) {
            return Err(ModelError::Ranks { model, asked: ranks });
        }
        self.read(schedule)
    }

    /// The same whether the model holds or not: for tables that compare models.
    pub fn read(&self, schedule: &dyn Schedule) -> Result<Prediction, ModelError> {
        let read = |end: End| self.model.read(schedule, None, self.eager_bytes, end);
        let mean = read(End::Value)?;
        let times = self.model.times(schedule, None, self.eager_bytes, mean)?;
        let seconds = median(&times).unwrap_or(mean);
        if self.quality.beyond().is_some() {
            return Ok(Prediction { seconds, interval: None });
        }
        // More of everything takes longer in all but rare orders of events.
        let ends = [seconds, read(End::Low)?, read(End::High)?];
        let all = || ends.iter().chain(&times).copied();
        let off = self.quality.unknown();
        let low = all().fold(f64::INFINITY, f64::min) * (1.0 - off).max(0.0);
        let high = all().fold(0.0, f64::max) * (1.0 + off);
        Ok(Prediction { seconds, interval: Some(Range { low, high }) })
    }
}

impl Model {
    /// The same time after time beside others, where some were seen; about `seconds` each.
    pub(crate) fn times(
        &self,
        schedule: &dyn Schedule,
        hosts: Option<&[HostId]>,
        eager_bytes: u64,
        seconds: f64,
    ) -> Result<Vec<f64>, ModelError> {
        match self {
            Model::Lmo(lmo) => match hosts {
                Some(ranks) => lmo.among(ranks).times(schedule, eager_bytes, seconds),
                None => lmo.times(schedule, eager_bytes, seconds),
            },
            _ => Ok(Vec::new()),
        }
    }

    /// The seconds of a schedule whose rank r is on host `hosts[r]`, or on host r.
    pub(crate) fn read(
        &self,
        schedule: &dyn Schedule,
        hosts: Option<&[HostId]>,
        eager_bytes: u64,
        end: End,
    ) -> Result<f64, ModelError> {
        let ranks = schedule.ranks();
        let known = hosts.and_then(|hosts| hosts.iter().max()).map_or(0, |host| host + 1);
        let ends = |cost: HostCost| uniform(ranks.max(known), cost);
        let through = |network: &ModelNetwork, passages: &Passages| -> Result<f64, ModelError> {
            let mut ports = Ports::new(network.hosts(), passages);
            Ok(place(Simulation::new(network), hosts).run_on(schedule, &mut ports)?.finish)
        };
        match self {
            Model::Lmo(lmo) => match hosts {
                // A network has as many ways as the square of its hosts.
                Some(ranks) => lmo.among(ranks).network(eager_bytes, end).run(schedule),
                None => lmo.network(eager_bytes, end).run(schedule),
            },
            Model::Hockney(hockney) => through(&ends(HostCost::default()), &|from, to, bytes| {
                hockney.passage([from, to], bytes, eager_bytes, end)
            }),
            Model::LogGp(loggp) => {
                let (per_send, per_recv) = (loggp.send.at(end), loggp.receive.at(end));
                let cost = HostCost { per_send, per_recv, ..HostCost::default() };
                through(&ends(cost), &|_, _, bytes| loggp.passage(bytes, end))
            }
            Model::PLogP(plogp) => {
                through(&ends(HostCost::default()), &|_, _, bytes| plogp.passage(bytes, end))
            }
        }
    }
}

fn place<'a>(simulation: Simulation<'a>, hosts: Option<&'a [HostId]>) -> Simulation<'a> {
    match hosts {
        Some(hosts) => simulation.placed(hosts),
        None => simulation,
    }
}

/// Hosts that are all alike, whose messages pass ports. These models know of no message that waits
/// for its receive: what a longer one takes is in its time.
fn uniform(hosts: u32, cost: HostCost) -> ModelNetwork {
    let count = hosts as usize;
    let card = Card { out: f64::INFINITY, into: f64::INFINITY };
    let way = Way { latency: 0.0, most: f64::INFINITY };
    let (costs, cards, ways) = (vec![cost; count], vec![card; count], vec![way; count * count]);
    ModelNetwork::new(costs, &cards, ways, u64::MAX).beside_each_other()
}
