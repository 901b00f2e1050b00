//! A parameter and the interval that it lies in.

use laneway_measure::p2p::Estimate;
use laneway_stats::{mean_interval, median};
use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

/// The level of every interval.
pub const LEVEL: f64 = 0.95;

/// Which end of every interval a model is read at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The lower end.
    Low,
    /// The estimate itself.
    Value,
    /// The upper end.
    High,
}

/// An estimate that does not travel without its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parameter {
    /// The estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Parameter {
    /// A value that is known for certain.
    pub fn exact(value: f64) -> Parameter {
        Parameter { value, low: value, high: value }
    }

    /// With the same distance to both ends.
    pub fn around(value: f64, half: f64) -> Parameter {
        Parameter { value, low: value - half, high: value + half }
    }

    /// What was measured. Without an interval nothing but the value is known.
    pub fn of(estimate: &Estimate) -> Parameter {
        let (low, high) = estimate.interval.map_or((f64::NAN, f64::NAN), |i| (i.low, i.high));
        let known = |end: f64| if end.is_nan() { estimate.value } else { end };
        Parameter { value: estimate.value, low: known(low), high: known(high) }
    }

    /// Half of the interval.
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The value, or an end of the interval.
    pub fn at(&self, end: End) -> f64 {
        match end {
            End::Low => self.low,
            End::Value => self.value,
            End::High => self.high,
        }
    }

    /// The weighted sum of parameters; their errors are taken as independent.
    pub fn sum(terms: &[(f64, Parameter)]) -> Parameter {
        let value = terms.iter().map(|(factor, term)| factor * term.value).sum();
        let square = |(factor, term): &(f64, Parameter)| (factor * term.half()).powi(2);
        Parameter::around(value, terms.iter().map(square).sum::<f64>().sqrt())
    }

    /// So much more, for certain.
    pub fn shifted(self, more: f64) -> Parameter {
        let Parameter { value, low, high } = self;
        Parameter { value: value + more, low: low + more, high: high + more }
    }

    /// Multiplied by a factor.
    pub fn scaled(self, factor: f64) -> Parameter {
        Parameter::sum(&[(factor, self)])
    }

    /// The middle of several estimates of one parameter; none of none. Its interval is as wide as
    /// their own intervals, or as their differences say.
    pub fn middle(all: &[Parameter]) -> Option<Parameter> {
        let values: Vec<f64> = all.iter().map(|one| one.value).collect();
        let value = median(&values)?;
        let count = all.len() as f64;
        let own = all.iter().map(|one| one.half().powi(2)).sum::<f64>().sqrt() / count;
        let spread = mean_interval(&values, LEVEL).map_or(0.0, |i| i.half_width());
        Some(Parameter::around(value, own.max(spread)))
    }

    /// No cost, latency or time of a byte is below 0: noise alone says so.
    pub fn not_negative(self) -> Parameter {
        let Parameter { value, low, high } = self;
        Parameter { value: value.max(0.0), low: low.max(0.0), high: high.max(0.0) }
    }

    /// No more than another one may be.
    pub fn at_most(self, other: Parameter) -> Parameter {
        let [value, low, high] = [self.value, self.low, self.high].map(|end| end.min(other.high));
        Parameter { value, low, high }
    }

    /// With an interval that holds a value as well.
    pub fn reaching(self, value: f64) -> Parameter {
        Parameter { low: self.low.min(value), high: self.high.max(value), ..self }
    }

    /// Whether a value lies in the interval.
    pub fn holds(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }

    /// Finite, not negative, and in its interval.
    pub fn is_sound(&self) -> bool {
        let finite = self.value.is_finite() && self.low.is_finite() && self.high.is_finite();
        finite && self.low >= 0.0 && self.low <= self.value && self.value <= self.high
    }
}

/// A map of `value`, `low` and `high`.
///
/// ```
/// use laneway_model::Parameter;
///
/// let written = serde_json::to_string(&Parameter::around(2.0, 0.5))?;
/// assert_eq!(written, r#"{"value":2.0,"low":1.5,"high":2.5}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl Serialize for Parameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &self.value)?;
        map.serialize_entry("low", &self.low)?;
        map.serialize_entry("high", &self.high)?;
        map.end()
    }
}
