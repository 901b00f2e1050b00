//! How results look: a table for people, JSON and CSV for programs. One file a format.
//!
//! It must never know how a figure came to be: it is given a [`Document`] and writes text.
//!
//! Begin with [`Format`], then the file of the format.

#![forbid(unsafe_code)]

pub mod csv;
pub mod json;
pub mod svg;
pub mod table;

use laneway_core::Document;

/// The formats that every verb can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Table,
    Json,
    Csv,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Table, Format::Json, Format::Csv];

    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Csv => "csv",
        }
    }

    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The whole text of a document.
    pub fn render(self, document: &Document) -> String {
        match self {
            Format::Table => table::render(document),
            Format::Json => json::render(document),
            Format::Csv => csv::render(document),
        }
    }
}
