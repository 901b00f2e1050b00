//! On the root alone: from its entry until all the others have confirmed that they are done, less
//! what a confirmation takes.
//!
//! paper: mpiblib 2.1. A confirmation may overlap with the operation, so that what is left can be
//! too little, and with small messages below zero: such a figure is told and flagged, and so is one
//! that is less than what was taken away.

use laneway_core::{Comm, CommError, Rank};
use laneway_stats::median;

use super::{Batch, Spans, Stage, Timing, deliver, isolated, warm_up};
use crate::flags;
use crate::isolation::Isolation;
use crate::operation::Operation;
use crate::talk::CONFIRM;

/// Confirmations that are averaged for the correction.
const CONFIRMATIONS: u32 = 10;

/// How the root learns that everybody is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    Barrier,
    Reduce,
    /// An empty message of everybody.
    #[default]
    Messages,
}

impl Confirmation {
    pub const ALL: [Confirmation; 3] =
        [Confirmation::Barrier, Confirmation::Reduce, Confirmation::Messages];

    pub fn name(self) -> &'static str {
        match self {
            Confirmation::Barrier => "barrier",
            Confirmation::Reduce => "reduce",
            Confirmation::Messages => "messages",
        }
    }

    fn isolation(self) -> Isolation {
        match self {
            Confirmation::Barrier => Isolation::barrier(),
            Confirmation::Reduce => Isolation::Reduce,
            Confirmation::Messages => Isolation::None,
        }
    }
}

/// Empty messages to the root.
fn messages(comm: &dyn Comm, root: Rank) -> Result<(), CommError> {
    if comm.rank() != root {
        return comm.send(root, CONFIRM, &[]);
    }
    for other in (0..comm.size()).filter(|&other| other != root) {
        comm.recv(Some(other), Some(CONFIRM), &mut [])?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
pub struct Root {
    root: Rank,
    confirmation: Confirmation,
    /// What a confirmation takes on average, by the root's clock.
    correction: f64,
    /// How far apart ranks come out of the isolation, on rank 0.
    skew: f64,
}

impl Root {
    /// For operations with this root, or any rank where there is none.
    pub fn new(root: Rank, confirmation: Confirmation) -> Root {
        Root { root, confirmation, correction: 0.0, skew: 0.0 }
    }

    /// Collective: repetitions of something and its confirmation, on the root's clock.
    fn confirmed(
        &self,
        stage: &Stage,
        count: u32,
        what: &mut dyn FnMut() -> Result<(), CommError>,
    ) -> Result<Vec<f64>, CommError> {
        let (gate, confirm) = (stage.gate()?, self.confirmation.isolation().gate(stage.comm)?);
        let (mut room, mut other_room) = Default::default();
        let (mut gate, mut confirm) = (gate.open(&mut room)?, confirm.open(&mut other_room)?);
        let mut times = Vec::with_capacity(count as usize);
        for _ in 0..count {
            gate.pass()?;
            let entry = stage.clock.local();
            what()?;
            confirm.pass()?;
            if self.confirmation == Confirmation::Messages {
                messages(stage.comm, self.root)?;
            }
            times.push(stage.clock.local() - entry);
        }
        Ok(times)
    }
}

impl Timing for Root {
    fn name(&self) -> &'static str {
        "root"
    }

    fn prepare(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
    ) -> Result<(), CommError> {
        stage.clock.synchronise()?;
        warm_up(stage, operation)?;
        let nothing = isolated(stage, &mut || Ok(()), CONFIRMATIONS)?;
        if let Some(spans) = Spans::gather(stage, &nothing)? {
            self.skew = median(&spans.longest_of_each().skews).unwrap_or(0.0);
        }
        let alone = self.confirmed(stage, CONFIRMATIONS, &mut || Ok(()))?;
        self.correction = alone.iter().sum::<f64>() / alone.len() as f64;
        Ok(())
    }

    fn batch(
        &mut self,
        stage: &mut Stage,
        operation: &mut dyn Operation,
        count: u32,
    ) -> Result<Batch, CommError> {
        let times = self.confirmed(stage, count, &mut || operation.call())?;
        let mut found: Vec<f64> = times.iter().map(|time| time - self.correction).collect();
        found.push(self.correction);
        let mut samples = deliver(stage, self.root, found)?;
        let correction = samples.pop().unwrap_or(0.0);
        let mut notes = Vec::new();
        if samples.iter().any(|sample| *sample <= 0.0) {
            notes.push(flags::NEGATIVE);
        }
        if samples.iter().any(|sample| *sample < correction) {
            notes.push(flags::CONFIRMATION);
        }
        let skews = vec![self.skew; samples.len()];
        Ok(Batch { samples, skews, notes, ..Batch::default() })
    }
}
