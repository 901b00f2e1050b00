//! Every drawing of laneway, as text: charts of measurements, maps of pairs, predicted curves,
//! links over time, timelines of simulated runs, schedules, fabrics, and the pages that hold them.
//! Internal to laneway: it may change in any version, and programs use the crate `laneway`.
//!
//! It must never know a clock, a file or a socket, nor how a figure came to be: it is given rows,
//! records or wiring and returns SVG, HTML or a script of gnuplot. The same input gives the same
//! text.
//!
//! Begin with [`Format`] for whole documents, then with the file of the picture; [`svg`] and
//! [`axis`] are what all of them share.
//!
//! ```
//! use laneway_core::{Document, Row};
//! use laneway_draw::{Format, html};
//! use laneway_report::Run;
//!
//! let row = |size: u32, time: f64| {
//!     Row::new().with("op", "bcast").with("size_bytes", size).with("time_us", time)
//! };
//! let (env, params) = (Row::new().with("host", "node1"), Row::new());
//! let rows = vec![row(8, 2.5), row(1024, 20.0)];
//! let document = Document { verb: "measure", env, params, rows, summary: None };
//!
//! let page = html::render("Tonight", &[Run::from(&document)]);
//! assert!(page.contains("<h3>bcast: time (µs)</h3>"));
//! // The same, with the document's own title, where only the ending of a file is known.
//! let format = Format::by_ending("html").expect("a page");
//! assert!(format.render(&document).contains("<title>laneway measure</title>"));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod axis;
pub mod chart;
pub mod fabric;
pub mod gnuplot;
pub mod html;
pub mod links;
pub mod map;
pub mod predicted;
pub mod schedule;
pub mod svg;
pub mod timeline;

mod format;

#[cfg(test)]
#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

pub use format::Format;
