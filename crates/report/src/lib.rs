//! How results look: a table for people, JSON, CSV and OSU's text for programs. One file a format,
//! and what was written can be read back. Internal to laneway: it may change in any version, and
//! programs use the crate `laneway`.
//!
//! It must never know how a figure came to be: it is given a [`Document`] and writes text, or is
//! given a text and finds the [`Run`] in it.
//!
//! Begin with [`Format`], then the file of the format; for reading with [`read()`], for two runs
//! with [`compare`], for several launches with [`launches`], for the answer below a table with
//! [`fastest()`].
//!
//! ```
//! use laneway_core::{Document, Row};
//! use laneway_report::{Format, read};
//!
//! let row = Row::new().with("op", "bcast").with("size_bytes", 8u32).with("time_us", 2.5);
//! let (env, params, rows) = (Row::new(), Row::new(), vec![row]);
//! let document = Document { verb: "measure", env, params, rows, summary: None };
//! for format in [Format::Json, Format::Csv, Format::Osu] {
//!     let run = read("a run", &format.render(&document)).expect("our own text");
//!     assert_eq!(run.rows[0].number("time_us"), Some(2.5));
//! }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod compare;
pub mod csv;
pub mod fastest;
pub mod figure;
pub mod journal;
pub mod json;
pub mod launches;
pub mod links;
pub mod osu;
pub mod prometheus;
mod read;
pub mod run;
pub mod table;

mod imb;

#[cfg(test)]
#[path = "../tests/fixture/mod.rs"]
mod fixture;
/// The fixture is the drawings' as well, and names this crate as they do.
#[cfg(test)]
extern crate self as laneway_report;

pub use fastest::fastest;
pub use figure::plain;
pub use read::read;
pub use run::{Extent, ReadError, Record, Run};

use laneway_core::{Document, Partial, Row};

/// The formats of rows; `laneway-draw` adds those that are pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// Everything, for programs.
    Json,
    /// The rows, for programs and spreadsheets.
    Csv,
    /// The text of the OSU benchmarks.
    Osu,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Table, Format::Json, Format::Csv, Format::Osu];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Osu => "osu",
        }
    }

    /// The format of that name.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The ending of a file in this format; a table is for the screen alone.
    pub fn ending(self) -> Option<&'static str> {
        match self {
            Format::Table => None,
            Format::Json => Some("json"),
            Format::Csv => Some("csv"),
            Format::Osu => Some("txt"),
        }
    }

    /// The format of files with that ending.
    pub fn by_ending(ending: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.ending() == Some(ending))
    }

    /// Whether some row has what this format shows: OSU's text has figures over sizes alone.
    pub fn shows(self, document: &Document) -> bool {
        match self {
            Format::Osu => !figure::charts(&[Run::from(document)]).is_empty(),
            _ => true,
        }
    }

    /// The text of a file, which says whether the run is complete: `done` is how much of it there
    /// is, `None` if all of it. A table has no such mark.
    pub fn export(self, document: &Document, done: Option<&str>) -> String {
        match (self, done) {
            (Format::Json, Some(done)) => json::render_partial(&Partial { document, done }),
            (Format::Csv, done) => csv::render_marked(document, done.is_none()),
            (Format::Osu, done) => osu::render_marked(document, done),
            (Format::Table | Format::Json, _) => self.render(document),
        }
    }

    /// The whole text of a document.
    pub fn render(self, document: &Document) -> String {
        match self {
            Format::Table => table::render(document),
            Format::Json => json::render(document),
            Format::Csv => csv::render(document),
            Format::Osu => osu::render(document),
        }
    }
}

/// The names that rows have, in the order in which they first appear.
pub(crate) fn columns(document: &Document) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in document.rows.iter().flat_map(Row::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_name_and_by_ending() {
        for format in Format::ALL {
            assert_eq!(Format::by_name(format.name()), Some(format));
            let ending = format.ending();
            assert_eq!(ending.and_then(Format::by_ending), ending.map(|_| format));
        }
        assert_eq!(Format::by_ending("svg"), None);
    }
}
