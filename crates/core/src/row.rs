//! Result rows: what a verb found out, flat and typed, before any format is chosen.

/// One figure or word of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Whole(i64),
    Real(f64),
    Truth(bool),
    /// Many figures of one kind, as samples are.
    List(Vec<f64>),
    Nothing,
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

/// Named values in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(pub Vec<(&'static str, Value)>);

impl Row {
    pub fn new() -> Row {
        Row::default()
    }

    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Row {
        self.0.push((name, value.into()));
        self
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

/// Everything one run of a verb says.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The verb: the schema is `laneway.<verb>/1`.
    pub verb: &'static str,
    pub env: Row,
    pub params: Row,
    pub rows: Vec<Row>,
    /// What the rows add up to, where they do.
    pub summary: Option<Row>,
}

impl Document {
    pub fn schema(&self) -> String {
        format!("laneway.{}/1", self.verb)
    }
}
