//! What calls really take, to be held against what a model says of them.

use laneway_coll::{Algorithm, Params};
use laneway_core::{Comm, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::timing::StartTime;
use laneway_measure::{Collective, GlobalClock, Point, Procedure, Rule, Stage, measure};

use crate::error::ModelError;
use crate::parameter::Parameter;

/// Times calls, all of whose ranks begin at one instant.
pub struct Meter<'c> {
    comm: &'c dyn Comm,
    /// So that no message meets one of the calls.
    own: Box<dyn Comm + 'c>,
}

impl<'c> Meter<'c> {
    /// Collective.
    pub fn new(comm: &'c dyn Comm) -> Result<Meter<'c>, ModelError> {
        Ok(Meter { comm, own: comm.dup()? })
    }

    /// Collective: repeats a call until the rule is content; rank 0 knows what it found.
    pub fn samples(
        &self,
        shape: &Shape,
        algorithm: &'static Algorithm,
        params: Params,
        rule: &Rule,
    ) -> Result<Option<Point>, ModelError> {
        let answerer = Answerer::Ours(algorithm, params);
        let call = Collective::new(self.comm, shape, answerer);
        let mut call = call.map_err(|refusal| ModelError::Refused { why: refusal.0 })?;
        let clock = GlobalClock::new(&*self.own, Procedure::default());
        let mut stage = Stage::new(&*self.own, clock);
        Ok(measure(&mut stage, &mut StartTime::default(), &mut call.ready()?, rule)?)
    }

    /// Collective: the time of a call in seconds, with its interval, at rank 0.
    pub fn time(
        &self,
        shape: &Shape,
        algorithm: &'static Algorithm,
        params: Params,
        rule: &Rule,
    ) -> Result<Option<Parameter>, ModelError> {
        let point = self.samples(shape, algorithm, params, rule)?;
        Ok(point.map(|point| {
            let value = point.estimate;
            match point.interval {
                Some(interval) => Parameter { value, low: interval.low, high: interval.high },
                None => Parameter::exact(value),
            }
        }))
    }
}
