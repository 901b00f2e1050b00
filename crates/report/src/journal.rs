//! The journal of a run: a line of JSON for what was asked for, then one for each row as soon as it
//! is measured. A run that is killed leaves it, and [`read`](crate::read()) reads it as incomplete.
//!
//! ```
//! use laneway_core::{Document, Row};
//! use laneway_report::{Extent, journal, read};
//!
//! let (env, params, rows) = (Row::new(), Row::new(), Vec::new());
//! let document = Document { verb: "measure", env, params, rows, summary: None };
//! let row = Row::new().with("op", "bcast").with("time_us", 2.5);
//! let text = journal::head(&document, "476 points") + &journal::line(&row);
//! let run = read("a journal", &text).expect("a run");
//! assert_eq!(run.rows[0].number("time_us"), Some(2.5));
//! assert_eq!(run.extent, Extent::Incomplete("1 row of a run of 476 points".into()));
//! ```

use laneway_core::{Document, Row};
use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

use crate::json::{self, Json};
use crate::launches;
use crate::run::{Record, Run};

/// The member of the first line that says how much the whole run is.
pub(crate) const PLANNED: &str = "planned";

/// The first line: everything that the document says beside its rows.
pub fn head(document: &Document, planned: &str) -> String {
    serialized(&Head { document, planned })
}

/// In the order of a document's members.
struct Head<'a> {
    document: &'a Document,
    planned: &'a str,
}

impl Serialize for Head<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", &self.document.schema())?;
        map.serialize_entry("tool", Document::tool())?;
        map.serialize_entry("complete", &false)?;
        map.serialize_entry(PLANNED, self.planned)?;
        map.serialize_entry("env", &self.document.env)?;
        map.serialize_entry("params", &self.document.params)?;
        map.end()
    }
}

/// The line of a row.
pub fn line(row: &Row) -> String {
    serialized(row)
}

fn serialized(value: &impl Serialize) -> String {
    // Names are texts, and no value is refused.
    serde_json::to_string(value).expect("rows are JSON") + "\n"
}

/// The rows of one of several launches, as lines have them: reading merges the launches.
pub fn rows_of_launch(run: &Run, number: u32) -> Vec<Row> {
    let row = |record: &Record| {
        let mut row = Row::new().with(LAUNCH, number);
        row.0.extend(record.fields.iter().cloned());
        match record.samples_us.is_empty() {
            true => row,
            false => row.with("samples_us", record.samples_us.clone()),
        }
    };
    run.rows.iter().map(row).collect()
}

const LAUNCH: &str = "launch";

/// The rows of a run of several launches, merged, and how many launches there are.
pub(crate) fn merged(rows: &[Record]) -> Option<(Vec<Record>, u64)> {
    let mut launches: Vec<Run> = Vec::new();
    for row in rows {
        let number = row.number(LAUNCH)? as usize;
        if number > launches.len() {
            launches.push(Run::default());
        }
        launches.last_mut()?.rows.push(row.clone());
    }
    let merged = launches::merge(&launches, LEVEL).ok()?;
    Some((merged.iter().map(Record::from).collect(), launches.len() as u64))
}

/// Of the intervals over launches in a journal.
const LEVEL: f64 = 0.95;

/// The first line and the lines of rows, if the text is a journal.
pub(crate) fn split(text: &str) -> Option<(Json, &str)> {
    let (first, lines) = text.split_once('\n')?;
    let head = json::parse(first).ok()?;
    let is_journal = head.get(PLANNED).is_some() && head.get("rows").is_none();
    is_journal.then_some((head, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::document;
    use crate::{Extent, read};

    #[test]
    fn launches_are_merged() {
        let launch = |time: f64| {
            let row = Row::new().with("op", "bcast").with("size_bytes", 8u32);
            Run { rows: vec![Record::from(&row.with("time_us", time))], ..Run::default() }
        };
        let mut text = head(&document(), "5 launches");
        for (number, time) in (1..).zip([2.0, 8.0, 4.0]) {
            text += &rows_of_launch(&launch(time), number).iter().map(line).collect::<String>();
        }
        let run = read("f", &text).expect("a journal");
        assert_eq!((run.rows.len(), run.rows[0].number("time_us")), (1, Some(4.0)));
        assert_eq!(run.extent, Extent::Incomplete("3 launches of a run of 5 launches".into()));
    }

    #[test]
    fn a_line_that_was_cut_off_does_not_count() {
        let document = document();
        let lines: String = document.rows.iter().map(line).collect();
        let text = head(&document, "9 points") + &lines;
        let whole = Run::from(&document);
        let run = read("f", &text).expect("a journal");
        assert_eq!((&run.rows, &run.env, &run.params), (&whole.rows, &whole.env, &whole.params));
        assert_eq!(run.extent, Extent::Incomplete("5 rows of a run of 9 points".into()));
        for cut in [1, 20, line(&document.rows[4]).len() - 1] {
            let run = read("f", &text[..text.len() - cut]).expect("a journal");
            assert_eq!(run.rows, whole.rows[..4], "{cut} bytes less");
            assert!(run.extent.is_incomplete());
        }
        let damaged = text.replacen("\"op\"", "op", 1);
        read("f", &damaged).expect_err("a line that is not a row");
    }
}
