//! How results look: a table for people, JSON and CSV for programs, pages and plots for both. One
//! file a format, and what was written can be read back.
//!
//! It must never know how a figure came to be: it is given a [`Document`] and writes text, or is
//! given a text and finds the [`Run`] in it.
//!
//! Begin with [`Format`], then the file of the format; for reading with [`read`].

#![forbid(unsafe_code)]

pub mod compare;
pub mod csv;
pub mod figure;
pub mod gnuplot;
pub mod html;
pub mod json;
pub mod launches;
pub mod links;
pub mod map;
pub mod osu;
pub mod predicted;
mod read;
pub mod run;
pub mod svg;
pub mod table;

mod chart;
mod imb;

pub use figure::plain;
pub use read::read;
pub use run::{ReadError, Record, Run};

use laneway_core::{Document, Row};

/// The formats that every verb can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Table,
    Json,
    Csv,
    Osu,
    Gnuplot,
    Html,
}

impl Format {
    pub const ALL: [Format; 6] =
        [Format::Table, Format::Json, Format::Csv, Format::Osu, Format::Gnuplot, Format::Html];

    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Osu => "osu",
            Format::Gnuplot => "gnuplot",
            Format::Html => "html",
        }
    }

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
            Format::Gnuplot => Some("gp"),
            Format::Html => Some("html"),
        }
    }

    pub fn by_ending(ending: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.ending() == Some(ending))
    }

    /// Whether some row has what this format shows: OSU's text and gnuplot's have figures over
    /// sizes alone.
    pub fn shows(self, document: &Document) -> bool {
        match self {
            Format::Osu | Format::Gnuplot => !figure::charts(&[Run::from(document)]).is_empty(),
            _ => true,
        }
    }

    /// The whole text of a document.
    pub fn render(self, document: &Document) -> String {
        match self {
            Format::Table => table::render(document),
            Format::Json => json::render(document),
            Format::Csv => csv::render(document),
            Format::Osu => osu::render(document),
            Format::Gnuplot => gnuplot::render(document),
            Format::Html => {
                html::render(&format!("laneway {}", document.verb), &[Run::from(document)])
            }
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
