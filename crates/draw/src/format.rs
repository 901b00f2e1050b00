//! All that a document can be written as: the formats of rows, and the pictures that know one.

use laneway_core::{Document, Partial};
use laneway_report::{Format as Rows, Run};

use crate::{gnuplot, html};

/// The formats that every document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Aligned columns, for people.
    Table,
    /// One object with schema, environment, parameters, rows and summary.
    Json,
    /// A line for each row.
    Csv,
    /// As the OSU benchmarks print it.
    Osu,
    /// A script with its data in it.
    Gnuplot,
    /// A page with charts, which needs no network.
    Html,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 6] =
        [Format::Table, Format::Json, Format::Csv, Format::Osu, Format::Gnuplot, Format::Html];

    /// The format of rows that it is, if it is one.
    pub fn rows(self) -> Option<Rows> {
        match self {
            Format::Table => Some(Rows::Table),
            Format::Json => Some(Rows::Json),
            Format::Csv => Some(Rows::Csv),
            Format::Osu => Some(Rows::Osu),
            Format::Gnuplot | Format::Html => None,
        }
    }

    /// What a person calls it.
    pub fn name(self) -> &'static str {
        match (self.rows(), self) {
            (Some(rows), _) => rows.name(),
            (None, Format::Gnuplot) => "gnuplot",
            (None, _) => "html",
        }
    }

    /// The format of that name.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The ending of a file in this format; a table is for the screen alone.
    pub fn ending(self) -> Option<&'static str> {
        match (self.rows(), self) {
            (Some(rows), _) => rows.ending(),
            (None, Format::Gnuplot) => Some("gp"),
            (None, _) => Some("html"),
        }
    }

    /// The format of files with that ending.
    pub fn by_ending(ending: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.ending() == Some(ending))
    }

    /// Whether some row has what this format shows: OSU's text and gnuplot's have figures over
    /// sizes alone.
    pub fn shows(self, document: &Document) -> bool {
        match self {
            Format::Gnuplot => Rows::Osu.shows(document),
            format => format.rows().is_none_or(|rows| rows.shows(document)),
        }
    }

    /// The text of a file, which says whether the run is complete: `done` is how much of it there
    /// is, `None` if all of it.
    pub fn export(self, document: &Document, done: Option<&str>) -> String {
        let run = || match done {
            None => Run::from(document),
            Some(done) => Run::from(&Partial { document, done }),
        };
        match (self.rows(), self) {
            (Some(rows), _) => rows.export(document, done),
            (None, Format::Gnuplot) => gnuplot::draw(&run()),
            (None, _) => html::render(&format!("laneway {}", document.verb), &[run()]),
        }
    }

    /// The whole text of a document.
    pub fn render(self, document: &Document) -> String {
        match (self.rows(), self) {
            (Some(rows), _) => rows.render(document),
            (None, Format::Gnuplot) => gnuplot::render(document),
            (None, _) => {
                html::render(&format!("laneway {}", document.verb), &[Run::from(document)])
            }
        }
    }
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

    #[test]
    fn every_format_of_rows_is_one_of_ours() {
        let rows: Vec<Rows> = Format::ALL.into_iter().filter_map(Format::rows).collect();
        assert_eq!(rows, Rows::ALL);
    }
}
