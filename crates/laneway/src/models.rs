//! Fits a performance model to measured messages, and asks it what calls take.

use laneway_core::{Collective, Comm, talk};
use laneway_model::{Call, Fitted, ModelKind, Range, Request, estimate, predict_all, share};

use crate::error::{Error, Result};

/// How a model is fitted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FitOptions {
    /// Which experiments are done, how exactly, and in which time.
    pub request: Request,
}

impl FitOptions {
    /// With experiments of these sizes of messages.
    pub fn with_sizes(mut self, sizes: Vec<u64>) -> FitOptions {
        self.request.sizes = sizes;
        self
    }

    /// With at most this number of seconds for all experiments.
    pub fn with_budget(mut self, seconds: f64) -> FitOptions {
        self.request.budget = seconds;
        self
    }
}

/// Collective: measures what a model needs and fits it; every rank gets the model. One that does
/// not hold here says so in its `quality`, and refuses to predict.
///
/// ```
/// use laneway::{Collective, ModelKind, Platform, fit, predict, simulate};
///
/// let platform = Platform::read("cluster:4,eager=0")?;
/// let models = simulate(&platform, 4, |comm| fit(comm, ModelKind::Lmo))?;
/// let model = models.into_iter().next().expect("rank 0")?;
/// let predicted = predict(&model, Collective::Bcast, 4, 1000)?;
/// println!("{} takes {:.1} us", predicted[0].algorithm, 1e6 * predicted[0].seconds);
/// assert!(predicted[0].seconds <= predicted[1].seconds);
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn fit(comm: &dyn Comm, kind: ModelKind) -> Result<Fitted> {
    fit_with(comm, kind, &FitOptions::default())
}

/// Collective: the same with other options.
pub fn fit_with(comm: &dyn Comm, kind: ModelKind, options: &FitOptions) -> Result<Fitted> {
    let request = Request { gaps: kind.needs_gaps(), ..options.request.clone() };
    let experiments = estimate(comm, &request)?;
    // Whether there is a model is known to rank 0 alone.
    let found = experiments.map(|all| laneway_model::fit(&all, kind)).transpose();
    let why = found.as_ref().err().map(ToString::to_string);
    let others = talk::objection(comm, why)?;
    match (found?, others) {
        (_, Some(why)) => Err(Error::Rule(why)),
        (fitted, None) => Ok(share(comm, fitted.as_ref())?),
    }
}

/// What an algorithm takes by a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Predicted {
    /// The algorithm with its parameters.
    pub algorithm: String,
    /// Seconds.
    pub seconds: f64,
    /// Nine of ten calls take between these; `None` where the model promises no interval.
    pub interval: Option<Range>,
}

/// What every algorithm of a collective takes by a model, the fastest first.
pub fn predict(
    model: &Fitted,
    collective: Collective,
    ranks: u32,
    bytes: u64,
) -> Result<Vec<Predicted>> {
    let rows = predict_all(model, &Call::new(collective, ranks), &[bytes])?;
    let predicted = rows.into_iter().map(|row| Predicted {
        algorithm: row.algorithm.label(&row.params),
        seconds: row.prediction.seconds,
        interval: row.prediction.interval,
    });
    let mut all: Vec<Predicted> = predicted.collect();
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    Ok(all)
}
