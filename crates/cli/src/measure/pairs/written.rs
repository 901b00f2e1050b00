//! Where the pairs go: each format has the map that it can show, and each round is kept.

use std::cell::RefCell;
use std::path::Path;

use clap::ArgMatches;
use laneway_core::{Document, Row, Value};
use laneway_draw::Format;
use laneway_draw::map::{Map, explain_shades};
use laneway_measure::SaveError;
use laneway_measure::pairs::{Findings, Observer, Rounds, Unfinished};
use laneway_report::{Run, prometheus};

use crate::failure::Failure;
use crate::journal::Step;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::watchdog::Watchdog;

/// How and where.
pub struct Written {
    output: Output,
    svg: Option<String>,
    prometheus: Option<String>,
    /// Print what is to blame and nothing else.
    suspects: bool,
    /// Print a line for each rank, however many there are.
    all: bool,
}

/// A table has a line for each rank up to this number, and beyond it for those with a slow pair.
const MOST_LINES: usize = 64;

impl Written {
    /// What cannot show pairs is refused before there are any.
    pub fn from(matches: &ArgMatches) -> Result<Written, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let output = Output::from(matches)?;
        let format = output.format;
        if [Some(format), output.export_format()].contains(&Some(Format::Osu)) {
            let cause = "OSU's text has a figure for each size, and pairs have one size";
            let try_this = "--format table, json, csv, html or gnuplot";
            return Err(Failure::usage("no text of OSU for pairs", cause, try_this));
        }
        let suspects = matches.get_flag("suspects");
        if suspects && format == Format::Gnuplot {
            let cause = "gnuplot draws the map of all pairs";
            let try_this = "--suspects with --format table, json, csv or html";
            return Err(Failure::usage("no map of suspects alone", cause, try_this));
        }
        let (svg, prometheus, all) = (text("svg"), text("prometheus"), matches.get_flag("all"));
        Ok(Written { output, svg, prometheus, suspects, all })
    }

    /// Prints and saves all of it.
    pub fn finish(&self, findings: &Findings, env: Row) -> Result<(), Failure> {
        let document = findings.document(env);
        self.output.save(&document)?;
        if let Some(file) = &self.prometheus {
            output::replace(Path::new(file), &prometheus::pairs(&document))?;
        }
        self.print(findings, &document)?;
        match &self.svg {
            Some(file) => {
                let map = Map::of(&Run::from(&document)).unwrap_or_default();
                output::replace(Path::new(file), &map.draw())
            }
            None => Ok(()),
        }
    }

    fn print(&self, findings: &Findings, document: &Document) -> Result<(), Failure> {
        // The verdict stands last.
        let sentences = [findings.remarks(), findings.answer()].concat();
        let sentences = output::paragraphs(&sentences);
        let format = self.output.format;
        match (format, self.suspects) {
            (Format::Table, true) => {
                let rows = findings.suspect_rows();
                let brief = Document { rows, summary: None, ..document.clone() };
                let table = match brief.rows.is_empty() {
                    true => String::new(),
                    false => format.render(&brief) + "\n",
                };
                output::print(&format!("{table}{sentences}"))
            }
            (Format::Table, false) if is_long(findings, self.all) => {
                output::print(&format!("{}{sentences}", self.long_table(findings, document)))
            }
            (Format::Table, false) => {
                let shades = Map::of(&Run::from(document)).unwrap_or_default().shades();
                let rows = with_map(findings.node_rows(), &shades);
                let brief = Document { rows, summary: None, ..document.clone() };
                let table = format.render(&brief);
                let shades = output::paragraphs(&[explain_shades()]);
                output::print(&format!("{table}\n{shades}\n{sentences}"))
            }
            (format, true) => {
                let brief = Document { rows: findings.suspect_rows(), ..document.clone() };
                output::print(&format.render(&brief))
            }
            (format, false) => output::print(&format.render(document)),
        }
    }
}

impl Written {
    /// The ranks with a slow pair, or all, without a map; then how many are left out.
    fn long_table(&self, findings: &Findings, document: &Document) -> String {
        let nodes = findings.verdict.iter().flat_map(|verdict| &verdict.nodes);
        let ranks = findings.node_rows();
        let count = ranks.len();
        let lists_all = self.all || count <= MOST_LINES;
        let listed = ranks.into_iter().zip(nodes).filter(|(_, node)| lists_all || node.slow > 0);
        let rows: Vec<Row> = listed.map(|(row, _)| row).collect();
        let left_out = count - rows.len();
        let mut text = String::new();
        if !rows.is_empty() {
            let brief = Document { rows, summary: None, ..document.clone() };
            text = self.output.format.render(&brief) + "\n";
        }
        if left_out > 0 {
            let line = format!("{left_out} ranks have no slow pair; --all lists them");
            text += &(output::paragraphs(&[line]) + "\n");
        }
        text
    }
}

/// Whether a map would be too large, or mostly empty.
fn is_long(findings: &Findings, all: bool) -> bool {
    !all && findings.hosts.len() > MOST_LINES || findings.coverage.is_some()
}

/// The lines of nodes, each with its row of the map; a shade has the place of its rank.
fn with_map(nodes: Vec<Row>, shades: &[String]) -> Vec<Row> {
    let shade = |row: &Row| match row.get("rank") {
        Some(Value::Whole(rank)) => shades.get(*rank as usize).cloned(),
        _ => None,
    };
    let line = |row: Row| {
        let shade = shade(&row);
        row.with("map", shade)
    };
    nodes.into_iter().map(line).collect()
}

/// Writes what there is after each round, so that a crash keeps it, and shows how far it is.
pub struct Saved<'a> {
    written: &'a Written,
    env: &'a Row,
    watchdog: Watchdog,
    progress: RefCell<Progress>,
}

impl<'a> Saved<'a> {
    pub fn new(written: &'a Written, env: &'a Row, watchdog: Watchdog, shows: bool) -> Saved<'a> {
        Saved { written, env, watchdog, progress: RefCell::new(Progress::new(1, shows)) }
    }
}

impl Observer for Saved<'_> {
    fn alive(&self) {
        self.watchdog.alive();
    }

    fn progress(&self, rounds: Rounds) {
        self.progress.borrow_mut().of(rounds.done, rounds.all, "rounds of pairs");
    }

    fn save(&self, unfinished: &Unfinished) -> Result<(), SaveError> {
        let output = &self.written.output;
        if !output.keeps() {
            return Ok(());
        }
        let head = unfinished.added().document(self.env.clone());
        let Rounds { done, all, .. } = unfinished.rounds;
        let step = Step::new(&head, &head.rows, (done, all), "round");
        Ok(output.keep(&step, || unfinished.findings().document(self.env.clone()))?)
    }
}
