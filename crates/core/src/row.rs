//! Result rows: what was found out, flat and typed, before any format is chosen. All of them
//! implement serde's `Serialize`, so that a program writes them in any format that serde knows.

use std::borrow::Cow;

use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word or a sentence.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A floating-point number.
    Real(f64),
    /// A truth value.
    Truth(bool),
    /// Many figures of one kind, as samples are.
    List(Vec<f64>),
    /// A missing value.
    Nothing,
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Whole(number) => serializer.serialize_i64(*number),
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Truth(truth) => serializer.serialize_bool(*truth),
            Value::List(numbers) => numbers.serialize(serializer),
            Value::Nothing => serializer.serialize_unit(),
        }
    }
}

impl From<Vec<f64>> for Value {
    fn from(numbers: Vec<f64>) -> Value {
        Value::List(numbers)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Whole(i64::from(number))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        i64::try_from(number).map_or(Value::Real(number as f64), Value::Whole)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Real(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Truth(truth)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Nothing, Into::into)
    }
}

/// Named values in order. A name may be made at run time.
///
/// ```
/// use laneway_core::{Row, Value};
///
/// let row = Row::new().with("op", "bcast").with(format!("rank_{}_us", 3), 1.5);
/// assert_eq!(row.get("rank_3_us"), Some(&Value::Real(1.5)));
/// assert_eq!(row.only(|name| name == "op"), Row::new().with("op", "bcast"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(pub Vec<(Cow<'static, str>, Value)>);

impl Row {
    /// An empty row.
    pub fn new() -> Row {
        Row::default()
    }

    /// Adds a value.
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Row {
        self.0.push((name.into(), value.into()));
        self
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The names in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_ref())
    }

    /// The values whose names are wanted, in the same order.
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Row {
        Row(self.0.iter().filter(|(name, _)| wanted(name)).cloned().collect())
    }
}

/// A map, in the order of the row.
impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name.as_ref(), value)))
    }
}

/// The complete output of one run of a verb.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The verb: the schema is `laneway.<verb>/1`.
    pub verb: &'static str,
    /// The environment: hosts, versions, backend.
    pub env: Row,
    /// The parameters.
    pub params: Row,
    /// The results.
    pub rows: Vec<Row>,
    /// The summary of the results, if any.
    pub summary: Option<Row>,
}

impl Document {
    /// The name of the schema that programs may rely on.
    pub fn schema(&self) -> String {
        format!("laneway.{}/1", self.verb)
    }

    /// The name and version of the program that wrote the document.
    pub fn tool() -> &'static str {
        concat!("laneway ", env!("CARGO_PKG_VERSION"))
    }
}

/// A document of an unfinished run.
#[derive(Clone, Copy, Debug)]
pub struct Partial<'a> {
    /// The document so far.
    pub document: &'a Document,
    /// The progress: `96 of 476 points`.
    pub done: &'a str,
}

impl Partial<'_> {
    fn members<M: SerializeMap>(self, mut map: M, is_complete: bool) -> Result<M::Ok, M::Error> {
        let document = self.document;
        map.serialize_entry("schema", &document.schema())?;
        map.serialize_entry("tool", Document::tool())?;
        map.serialize_entry("complete", &is_complete)?;
        if !is_complete {
            map.serialize_entry("done", self.done)?;
        }
        map.serialize_entry("env", &document.env)?;
        map.serialize_entry("params", &document.params)?;
        map.serialize_entry("rows", &document.rows)?;
        if let Some(summary) = &document.summary {
            map.serialize_entry("summary", summary)?;
        }
        map.end()
    }
}

/// A map of `schema`, `tool`, `complete`, `env`, `params`, `rows` and, where rows add up,
/// `summary`.
impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Partial { document: self, done: "" }.members(serializer.serialize_map(None)?, true)
    }
}

/// The same map with `done` behind `complete`, which is false.
impl Serialize for Partial<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members(serializer.serialize_map(None)?, false)
    }
}
