//! What a schedule takes by a model: every message costs what the model says, on the one executor.

use laneway_core::Schedule;
use laneway_sim::{HostId, SimError, Simulation};

use crate::error::ModelError;
use crate::model::{Fitted, Model};
use crate::parameter::End;

/// What a call takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub seconds: f64,
    /// With every parameter at that end of its interval, and what the fit was seen to be off.
    pub low: f64,
    pub high: f64,
}

impl Fitted {
    /// What the schedule takes from the common start to the last rank's end; refuses where the
    /// model does not hold, and where it is of other hosts.
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
        let (low, seconds, high) = (read(End::Low)?, read(End::Value)?, read(End::High)?);
        let off = self.quality.typical;
        // More of everything takes longer in all but rare orders of events.
        let (low, high) = (low.min(seconds) * (1.0 - off), high.max(seconds) * (1.0 + off));
        Ok(Prediction { seconds, low, high })
    }
}

impl Model {
    /// The seconds of a schedule whose rank r is on host `hosts[r]`, or on host r.
    pub(crate) fn read(
        &self,
        schedule: &dyn Schedule,
        hosts: Option<&[HostId]>,
        eager_bytes: u64,
        end: End,
    ) -> Result<f64, ModelError> {
        let run = |network: &dyn laneway_sim::Network| -> Result<f64, SimError> {
            let simulation = Simulation::new(network);
            let simulation = match hosts {
                Some(hosts) => simulation.placed(hosts),
                None => simulation,
            };
            Ok(simulation.run(schedule)?.finish)
        };
        Ok(match self {
            Model::Lmo(lmo) => run(&lmo.network(eager_bytes, end))?,
        })
    }
}
