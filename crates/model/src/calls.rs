//! All algorithms of an operation over sizes, and where one overtakes another.

use std::sync::Arc;

use laneway_coll::{Algorithm, Params, algorithms};
use laneway_core::{Collective, Placement, Rank, Shape};

use crate::error::ModelError;
use crate::model::Fitted;
use crate::placed::needs_placement;
use crate::read::Prediction;
use crate::sweep::Escalation;

/// Which call, but for its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operation.
    pub collective: Collective,
    /// How many ranks call it.
    pub ranks: u32,
    /// Its root, where it has one.
    pub root: Rank,
    /// Where its ranks are; without it, algorithms that depend on it are left out.
    pub placement: Option<Arc<Placement>>,
}

impl Call {
    /// A call from rank 0, whose ranks may be anywhere.
    pub fn new(collective: Collective, ranks: u32) -> Call {
        Call { collective, ranks, root: 0, placement: None }
    }

    /// The same call for a size.
    pub fn shape(&self, bytes: u64) -> Shape {
        let shape = Shape::new(self.collective, self.ranks, bytes).with_root(self.root);
        match &self.placement {
            Some(placement) => shape.with_placement(placement.clone()),
            None => shape,
        }
    }

    /// Whether an algorithm is the same wherever the ranks are, or it is known where they are.
    pub fn can_tell(&self, algorithm: &Algorithm, params: &Params) -> bool {
        self.placement.is_some() || !needs_placement(algorithm, params)
    }

    /// What an algorithm takes for a size; none where it does not serve it.
    fn predict(
        &self,
        fitted: &Fitted,
        algorithm: &'static Algorithm,
        params: &Params,
        bytes: u64,
    ) -> Result<Option<Prediction>, ModelError> {
        match algorithm.schedule(&self.shape(bytes), params) {
            Ok(schedule) => fitted.predict(&*schedule).map(Some),
            Err(_) => Ok(None),
        }
    }
}

/// An algorithm with its parameters.
pub type Choice = (&'static Algorithm, Params);

/// What one algorithm takes for one size.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub params: Params,
    /// The size.
    pub bytes: u64,
    /// Without the escalation.
    pub prediction: Prediction,
    /// Where calls of this size escalate now and then: a probability, and how much longer they
    /// take.
    pub escalation: Option<Escalation>,
}

impl Row {
    fn choice(&self) -> Choice {
        (self.algorithm, self.params)
    }
}

/// The length from which another algorithm is the fastest.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Crossover {
    /// The fastest below that size.
    pub from: String,
    /// The fastest from there on.
    pub to: String,
    /// The size.
    pub bytes: u64,
    /// Whether the intervals of the two are known and apart at the sizes on both sides that were
    /// asked for.
    pub sure: bool,
}

/// Every algorithm of the registry that serves the call, with its usual parameters, size after
/// size.
pub fn predict_all(fitted: &Fitted, call: &Call, sizes: &[u64]) -> Result<Vec<Row>, ModelError> {
    let all: Vec<Choice> = algorithms(call.collective).map(|one| (one, one.defaults())).collect();
    predict_some(fitted, call, &all, sizes)
}

/// The same of these algorithms of the operation, each with its parameters; without those that
/// [`Call::can_tell`] excludes.
pub fn predict_some(
    fitted: &Fitted,
    call: &Call,
    chosen: &[Choice],
    sizes: &[u64],
) -> Result<Vec<Row>, ModelError> {
    fitted.quality.demand()?;
    if call.ranks == 0 || call.root >= call.ranks {
        let why = format!("root {} of {} ranks", call.root, call.ranks);
        return Err(ModelError::Refused { why });
    }
    let told = |(algorithm, params): &&Choice| call.can_tell(algorithm, params);
    let chosen: Vec<Choice> = chosen.iter().filter(told).copied().collect();
    let mut rows = Vec::new();
    for &bytes in sizes {
        for &(algorithm, params) in &chosen {
            let found = call.predict(fitted, algorithm, &params, bytes)?;
            let escalates = call.collective == Collective::Gather && algorithm.name == "linear";
            let escalation = fitted.escalation.filter(|region| escalates && region.holds(bytes));
            rows.extend(found.map(|prediction| Row {
                algorithm,
                params,
                bytes,
                prediction,
                escalation,
            }));
        }
    }
    Ok(rows)
}

/// Where the fastest algorithm changes, between the sizes of the rows.
pub fn crossovers(
    fitted: &Fitted,
    call: &Call,
    rows: &[Row],
) -> Result<Vec<Crossover>, ModelError> {
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let best = |bytes: u64| {
        let at = rows.iter().filter(|row| row.bytes == bytes);
        at.min_by(|a, b| a.prediction.seconds.total_cmp(&b.prediction.seconds))
    };
    let mut found = Vec::new();
    for two in sizes.windows(2) {
        let (Some(before), Some(after)) = (best(two[0]), best(two[1])) else { continue };
        if before.choice() == after.choice() {
            continue;
        }
        let (mut least, mut most) = (two[0], two[1]);
        while least + 1 < most {
            let middle = least + (most - least) / 2;
            let at = |row: &Row| call.predict(fitted, row.algorithm, &row.params, middle);
            match (at(before)?, at(after)?) {
                (Some(old), Some(new)) if old.seconds <= new.seconds => least = middle,
                _ => most = middle,
            }
        }
        let same = |row: &Row, bytes: u64| {
            let mut all = rows.iter();
            all.find(|other| other.choice() == row.choice() && other.bytes == bytes)
                .map(|row| row.prediction)
        };
        let apart = |fast: Option<Prediction>, slow: Option<Prediction>| {
            let ends = fast.zip(slow).and_then(|(fast, slow)| fast.interval.zip(slow.interval));
            ends.is_some_and(|(fast, slow)| fast.high < slow.low)
        };
        let sure = apart(Some(before.prediction), same(after, two[0]))
            && apart(Some(after.prediction), same(before, two[1]));
        let name = |row: &Row| row.algorithm.label(&row.params);
        found.push(Crossover { from: name(before), to: name(after), bytes: most, sure });
    }
    Ok(found)
}
