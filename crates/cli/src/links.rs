//! Where records of links go: a file of rows or a picture, by its ending.

use std::path::{Path, PathBuf};

use laneway_core::Row;
use laneway_draw::links::{draw, page};
use laneway_report::Format;
use laneway_report::links::{self, LinkRecord, LinkUse};

use crate::failure::Failure;
use crate::output;

/// A file that a record is written to.
pub struct RecordFile {
    path: PathBuf,
    kind: Kind,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Csv,
    Svg,
    Html,
}

impl RecordFile {
    /// The file that `--record` names: `.json`, `.csv`, `.svg` or `.html`.
    pub fn from(name: &str) -> Result<RecordFile, Failure> {
        let kind = match ending(name) {
            Some("json") => Kind::Json,
            Some("csv") => Kind::Csv,
            Some("svg") => Kind::Svg,
            Some("html") => Kind::Html,
            _ => {
                let what = format!("unknown format of `{name}`");
                let cause = "the extension must be .json, .csv, .svg or .html";
                return Err(Failure::usage(what, cause, "--record links.json"));
            }
        };
        Ok(RecordFile { path: name.into(), kind })
    }

    /// Writes what links carried; `env` and `params` tell where and how.
    pub fn write(
        &self,
        title: &str,
        uses: Vec<LinkUse>,
        env: Row,
        params: Row,
    ) -> Result<(), Failure> {
        let rows = |format: Format| format.render(&links::document(&uses, env, params));
        let text = match self.kind {
            Kind::Json => rows(Format::Json),
            Kind::Csv => rows(Format::Csv),
            Kind::Svg => draw(title, &[LinkRecord { name: String::new(), uses }]),
            Kind::Html => page(title, &[LinkRecord { name: String::new(), uses }]),
        };
        output::replace(&self.path, &text)
    }
}

/// The ending of a file's name.
pub fn ending(name: &str) -> Option<&str> {
    Path::new(name).extension().and_then(|ending| ending.to_str())
}
