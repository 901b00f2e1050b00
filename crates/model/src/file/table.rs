//! The tables of a model's file: each key taken once, none left over, each mistake at its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ModelError;
use crate::parameter::Parameter;

/// A larger text than this is not a model.
const MOST_BYTES: usize = 1 << 30;
/// Rounding of the units may part a value from the end of its interval by so little.
const ROUNDING: f64 = 1e-12;

/// The tables at the top of a file; whatever else is there is a mistake.
const TABLES: [&str; 14] = [
    "quality",
    "cost",
    "alike",
    "others",
    "escalation",
    "leap",
    "line",
    "loggp",
    "plogp",
    "size",
    "overhead",
    "host",
    "pair",
    "step",
];

pub(super) struct Document<'t> {
    name: &'t str,
    text: &'t str,
    root: DeTable<'t>,
}

/// One table, and the keys that were not taken yet.
pub(super) struct Table<'d> {
    document: &'d Document<'d>,
    what: String,
    start: usize,
    entries: Vec<(&'d str, usize, &'d DeValue<'d>)>,
}

impl<'t> Document<'t> {
    pub fn parse(name: &'t str, text: &'t str) -> Result<Document<'t>, ModelError> {
        let file = |line: u32, why: String| ModelError::File { name: name.into(), line, why };
        if text.len() > MOST_BYTES {
            return Err(file(0, format!("more than {} MiB", MOST_BYTES >> 20)));
        }
        let root = DeTable::parse(text).map_err(|error| {
            let line = line(text, error.span().map_or(0, |span| span.start));
            let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            file(line, format!("not TOML: {message}"))
        })?;
        Ok(Document { name, text, root: root.into_inner() })
    }

    pub fn refuse(&self, why: &str) -> ModelError {
        self.refuse_at(0, why.into())
    }

    fn refuse_at(&self, byte: usize, why: String) -> ModelError {
        ModelError::File { name: self.name.into(), line: line(self.text, byte), why }
    }

    /// The keys that stand in no table.
    pub fn top(&self) -> Result<Table<'_>, ModelError> {
        let mut table = self.entries("the top", 0, &self.root);
        table.entries.retain(|(key, ..)| !TABLES.contains(key));
        Ok(table)
    }

    fn entries<'d>(&'d self, what: &str, start: usize, table: &'d DeTable<'d>) -> Table<'d> {
        let entry = |(key, value): (&'d Spanned<_>, &'d Spanned<DeValue<'d>>)| {
            let key: &Spanned<toml::de::DeString<'d>> = key;
            (key.get_ref().as_ref(), key.span().start, value.get_ref())
        };
        let entries = table.iter().map(entry).collect();
        Table { document: self, what: what.into(), start, entries }
    }

    pub fn table(&self, name: &str) -> Result<Table<'_>, ModelError> {
        match self.root.get(name) {
            None => Err(self.refuse_at(0, format!("[{name}] is missing"))),
            Some(value) => match value.get_ref() {
                DeValue::Table(table) => {
                    Ok(self.entries(&format!("[{name}]"), value.span().start, table))
                }
                _ => Err(self.refuse_at(value.span().start, format!("[{name}] is not a table"))),
            },
        }
    }

    /// A table that need not be there.
    pub fn perhaps(&self, name: &str) -> Result<Option<Table<'_>>, ModelError> {
        self.root.get(name).map(|_| self.table(name)).transpose()
    }

    /// All tables of a name.
    pub fn some_tables(&self, name: &str) -> Result<Vec<Table<'_>>, ModelError> {
        let Some(value) = self.root.get(name) else {
            return Err(self.refuse_at(0, format!("[[{name}]] is missing")));
        };
        let start = value.span().start;
        let no_tables = || self.refuse_at(start, format!("[[{name}]] is not a list of tables"));
        let DeValue::Array(list) = value.get_ref() else { return Err(no_tables()) };
        let mut tables = Vec::new();
        for (number, value) in list.iter().enumerate() {
            let DeValue::Table(table) = value.get_ref() else { return Err(no_tables()) };
            let what = format!("[[{name}]] number {}", number + 1);
            tables.push(self.entries(&what, value.span().start, table));
        }
        Ok(tables)
    }

    /// The same, where there may be none.
    pub fn any_tables(&self, name: &str) -> Result<Vec<Table<'_>>, ModelError> {
        match self.root.get(name) {
            None => Ok(Vec::new()),
            Some(_) => self.some_tables(name),
        }
    }

    /// Exactly `count` of them.
    pub fn tables(&self, name: &str, count: usize) -> Result<Vec<Table<'_>>, ModelError> {
        let tables = self.some_tables(name)?;
        match tables.len() == count {
            true => Ok(tables),
            false => {
                let why = format!("{} [[{name}]] tables where {count} belong", tables.len());
                Err(self.refuse_at(0, why))
            }
        }
    }
}

impl<'d> Table<'d> {
    fn take(&mut self, key: &str) -> Option<(usize, &'d DeValue<'d>)> {
        let at = self.entries.iter().position(|(name, ..)| *name == key)?;
        let (_, start, value) = self.entries.remove(at);
        self.start = start;
        Some((start, value))
    }

    fn need(&mut self, key: &str) -> Result<(usize, &'d DeValue<'d>), ModelError> {
        let missing = format!("{} lacks `{key}`", self.what);
        let (start, document) = (self.start, self.document);
        self.take(key).ok_or_else(|| document.refuse_at(start, missing))
    }

    /// Of the key that was taken last.
    pub fn refuse(&self, key: &str, why: String) -> ModelError {
        self.document.refuse_at(self.start, format!("{}: {key}: {why}", self.what))
    }

    pub fn text(&mut self, key: &str) -> Result<String, ModelError> {
        match self.need(key)?.1 {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.refuse(key, "not a string".into())),
        }
    }

    pub fn texts(&mut self, key: &str) -> Result<Vec<String>, ModelError> {
        let text = |value: &Spanned<DeValue>| match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        };
        let found = match self.need(key)?.1 {
            DeValue::Array(list) => list.iter().map(text).collect(),
            _ => None,
        };
        found.ok_or_else(|| self.refuse(key, "not a list of strings".into()))
    }

    pub fn number(&mut self, key: &str) -> Result<f64, ModelError> {
        let found = number(self.need(key)?.1).filter(|number| *number >= 0.0);
        found.ok_or_else(|| self.refuse(key, "not a number from 0 on".into()))
    }

    pub fn perhaps_number(&mut self, key: &str) -> Result<Option<f64>, ModelError> {
        if !self.has(key) { Ok(None) } else { self.number(key).map(Some) }
    }

    pub fn perhaps_text(&mut self, key: &str) -> Result<Option<String>, ModelError> {
        if !self.has(key) { Ok(None) } else { self.text(key).map(Some) }
    }

    /// Whether a key is left.
    fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, ..)| *name == key)
    }

    pub fn whole(&mut self, key: &str) -> Result<u64, ModelError> {
        let found = whole(self.need(key)?.1);
        found.ok_or_else(|| self.refuse(key, "not a whole number".into()))
    }

    pub fn wholes(&mut self, key: &str) -> Result<Vec<u64>, ModelError> {
        let found = match self.need(key)?.1 {
            DeValue::Array(list) => list.iter().map(|value| whole(value.get_ref())).collect(),
            _ => None,
        };
        found.ok_or_else(|| self.refuse(key, "not a list of whole numbers".into()))
    }

    /// A parameter in microseconds.
    pub fn time(&mut self, key: &str) -> Result<Parameter, ModelError> {
        let value = self.need(key)?.1;
        self.parameter(key, value, 1e6)
    }

    /// A parameter without a unit.
    pub fn plain(&mut self, key: &str) -> Result<Parameter, ModelError> {
        let value = self.need(key)?.1;
        self.parameter(key, value, 1.0)
    }

    /// A parameter in nanoseconds.
    pub fn per_byte(&mut self, key: &str) -> Result<Parameter, ModelError> {
        let value = self.need(key)?.1;
        self.parameter(key, value, 1e9)
    }

    pub fn perhaps(&mut self, key: &str) -> Result<Option<Parameter>, ModelError> {
        self.take(key).map(|(_, value)| self.parameter(key, value, 1e9)).transpose()
    }

    /// A parameter without a unit.
    pub fn perhaps_plain(&mut self, key: &str) -> Result<Option<Parameter>, ModelError> {
        self.take(key).map(|(_, value)| self.parameter(key, value, 1.0)).transpose()
    }

    /// Numbers from 0 on.
    pub fn perhaps_numbers(&mut self, key: &str) -> Result<Option<Vec<f64>>, ModelError> {
        let Some((_, value)) = self.take(key) else { return Ok(None) };
        let number = |value: &DeValue| number(value).filter(|number| *number >= 0.0);
        let found = match value {
            DeValue::Array(list) => list.iter().map(|value| number(value.get_ref())).collect(),
            _ => None,
        };
        found.map(Some).ok_or_else(|| self.refuse(key, "not a list of numbers from 0 on".into()))
    }

    pub fn perhaps_flag(&mut self, key: &str) -> Result<Option<bool>, ModelError> {
        match self.take(key) {
            None => Ok(None),
            Some((_, DeValue::Boolean(flag))) => Ok(Some(*flag)),
            Some(_) => Err(self.refuse(key, "neither true nor false".into())),
        }
    }

    pub fn perhaps_time(&mut self, key: &str) -> Result<Option<Parameter>, ModelError> {
        self.take(key).map(|(_, value)| self.parameter(key, value, 1e6)).transpose()
    }

    fn parameter(&self, key: &str, value: &DeValue, unit: f64) -> Result<Parameter, ModelError> {
        let numbers: Option<Vec<f64>> = match value {
            DeValue::Array(list) => list.iter().map(|value| number(value.get_ref())).collect(),
            _ => None,
        };
        let found = match numbers.as_deref() {
            Some(&[value, low, high]) => {
                let [value, low, high] = [value, low, high].map(|number| number / unit);
                let low = if low <= value * (1.0 + ROUNDING) { low.min(value) } else { low };
                let high = if high >= value * (1.0 - ROUNDING) { high.max(value) } else { high };
                Some(Parameter { value, low, high })
            }
            _ => None,
        };
        let why = "not [value, low, high], all from 0 on and the value between the others";
        found.filter(Parameter::is_sound).ok_or_else(|| self.refuse(key, why.into()))
    }

    /// Nothing may be left.
    pub fn finish(self) -> Result<(), ModelError> {
        match self.entries.first() {
            None => Ok(()),
            Some((key, start, _)) => {
                let why = format!("{} has no key `{key}`", self.what);
                Err(self.document.refuse_at(*start, why))
            }
        }
    }
}

fn number(value: &DeValue) -> Option<f64> {
    let text = match value {
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        _ => return None,
    };
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn whole(value: &DeValue) -> Option<u64> {
    match value {
        DeValue::Integer(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

fn line(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().iter().take(byte);
    1 + before.filter(|byte| **byte == b'\n').count() as u32
}
