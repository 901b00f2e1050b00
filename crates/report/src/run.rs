//! A run as a report sees it: rows of one document, whether just measured or read back from a file
//! of ours, of OSU or of IMB.

use std::borrow::Cow;
use std::fmt;

use laneway_core::{Document, Partial, Row, Value};
use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

use crate::json::JsonError;

/// Named values in their order, as a [`Row`] has them.
pub type Fields = Vec<(Cow<'static, str>, Value)>;

/// One row, and the samples behind its figures where they were kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// All columns but the samples.
    pub fields: Fields,
    /// The samples, where they were kept.
    pub samples_us: Vec<f64>,
}

impl Record {
    /// Adds a value, or takes the samples; CSV carries them as words of one field.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Value) {
        let name = name.into();
        let samples = match (name.as_ref(), &value) {
            (SAMPLES, Value::List(numbers)) => Some(numbers.clone()),
            (SAMPLES, Value::Real(number)) => Some(vec![*number]),
            (SAMPLES, Value::Whole(number)) => Some(vec![*number as f64]),
            (SAMPLES, Value::Text(text)) => text.split_whitespace().map(finite).collect(),
            _ => None,
        };
        match samples {
            Some(samples) => self.samples_us = samples,
            None => self.fields.push((name, value)),
        }
    }

    /// The value, unless it is missing or null.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.fields.iter().find(|(n, _)| n == name).map(|(_, value)| value);
        found.filter(|value| **value != Value::Nothing)
    }

    /// The value where it is a finite number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Whole(number) => Some(*number as f64),
            Value::Real(number) => Some(*number).filter(|number| number.is_finite()),
            _ => None,
        }
    }

    /// What was measured: an operation, or a pattern of messages between two ranks.
    pub fn op(&self) -> Option<&Value> {
        self.get("op").or_else(|| self.get("pattern"))
    }
}

impl From<&Row> for Record {
    fn from(row: &Row) -> Record {
        let mut record = Record::default();
        row.0.iter().for_each(|(name, value)| record.push(name.clone(), value.clone()));
        record
    }
}

/// A map of the columns, the samples last.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        if !self.samples_us.is_empty() {
            map.serialize_entry(SAMPLES, &self.samples_us)?;
        }
        map.end()
    }
}

const SAMPLES: &str = "samples_us";

/// A number as people and programs write it; Rust would also take "inf" and "nan".
pub(crate) fn finite(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

/// How much of a run a text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The text does not say it: OSU and IMB write no mark, nor did laneway before 0.2.
    #[default]
    Unknown,
    /// All of it.
    Complete,
    /// What was done before the run was stopped, in words: `96 of 476 points`.
    Incomplete(String),
}

impl Extent {
    /// Whether the text says that something is missing.
    pub fn is_incomplete(&self) -> bool {
        matches!(self, Extent::Incomplete(_))
    }
}

/// Everything that one run said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What a reader knows it by: the verb, or the file that it came from.
    pub name: String,
    /// The schema, or whose text it was.
    pub source: String,
    /// The program that wrote it.
    pub tool: String,
    /// How much of the run it is.
    pub extent: Extent,
    /// Where it was measured.
    pub env: Fields,
    /// What was asked for.
    pub params: Fields,
    /// What was found.
    pub rows: Vec<Record>,
    /// What the rows add up to.
    pub summary: Fields,
}

/// A map of `name`, `source`, `tool`, `complete` (null if unknown), `env`, `params`, `rows` and
/// `summary`.
impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("tool", &self.tool)?;
        let is_complete = (self.extent != Extent::Unknown).then(|| !self.extent.is_incomplete());
        map.serialize_entry("complete", &is_complete)?;
        map.serialize_entry("env", &Row(self.env.clone()))?;
        map.serialize_entry("params", &Row(self.params.clone()))?;
        map.serialize_entry("rows", &self.rows)?;
        map.serialize_entry("summary", &Row(self.summary.clone()))?;
        map.end()
    }
}

impl From<&Document> for Run {
    fn from(document: &Document) -> Run {
        let fields = |row: &Row| row.0.clone();
        Run {
            name: format!("laneway {}", document.verb),
            source: document.schema(),
            tool: Document::tool().to_owned(),
            extent: Extent::Complete,
            env: fields(&document.env),
            params: fields(&document.params),
            rows: document.rows.iter().map(Record::from).collect(),
            summary: document.summary.as_ref().map(fields).unwrap_or_default(),
        }
    }
}

impl From<&Partial<'_>> for Run {
    fn from(partial: &Partial<'_>) -> Run {
        Run { extent: Extent::Incomplete(partial.done.to_owned()), ..partial.document.into() }
    }
}

/// Why a text is not a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no text.
    Empty,
    /// It begins as JSON does and is none.
    Json(JsonError),
    /// JSON, but not a document of ours.
    Schema(String),
    /// A line of CSV, OSU or IMB text that does not fit the lines before it.
    Line(usize, String),
    /// Neither of the formats.
    Unknown,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Empty => write!(f, "it holds no text"),
            ReadError::Json(error) => write!(f, "{error}"),
            ReadError::Schema(what) => write!(f, "{what}"),
            ReadError::Line(line, what) => write!(f, "line {line}: {what}"),
            ReadError::Unknown => {
                write!(f, "it is neither JSON or CSV of laneway nor text of OSU or IMB")
            }
        }
    }
}

impl std::error::Error for ReadError {}
