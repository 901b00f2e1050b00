//! Where the pairs go: each format has the map that it can show, and the export file is written
//! anew after each round.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use laneway_backend::Watchdog;
use laneway_core::{Document, Failure, Row, Value};
use laneway_draw::Format;
use laneway_draw::map::{Map, explain_shades};
use laneway_measure::pairs::{Findings, Observer, Rounds, Unfinished};
use laneway_report::Run;

use crate::output::{self, Output};
use crate::progress::Progress;

/// How and where.
pub struct Written {
    format: Format,
    export: Option<(String, Format)>,
    svg: Option<String>,
    /// Print what is to blame and nothing else.
    suspects: bool,
}

impl Written {
    /// What cannot show pairs is refused before there are any.
    pub fn from(matches: &ArgMatches) -> Result<Written, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let format = Output::from(matches)?.format;
        let export = text("export").and_then(|file| {
            let ending = Path::new(&file).extension()?.to_str()?;
            let format = Format::by_ending(ending)?;
            Some((file, format))
        });
        let wanted = [Some(format), export.as_ref().map(|(_, format)| *format)];
        if wanted.contains(&Some(Format::Osu)) {
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
        Ok(Written { format, export, svg: text("svg"), suspects })
    }

    /// Prints and saves all of it.
    pub fn finish(&self, findings: &Findings, env: Row) -> Result<(), Failure> {
        let document = findings.document(env);
        if let Some((file, format)) = &self.export {
            output::replace(Path::new(file), &render(*format, &document))?;
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
        match (self.format, self.suspects) {
            (Format::Table, true) => {
                let rows = findings.suspect_rows();
                let brief = Document { rows, summary: None, ..document.clone() };
                let table = match brief.rows.is_empty() {
                    true => String::new(),
                    false => self.format.render(&brief) + "\n",
                };
                output::print(&format!("{table}{sentences}"))
            }
            (Format::Table, false) => {
                let shades = Map::of(&Run::from(document)).unwrap_or_default().shades();
                let rows = with_map(findings.node_rows(), &shades);
                let brief = Document { rows, summary: None, ..document.clone() };
                let table = self.format.render(&brief);
                let shades = output::paragraphs(&[explain_shades()]);
                output::print(&format!("{table}\n{shades}\n{sentences}"))
            }
            (format, true) => {
                let brief = Document { rows: findings.suspect_rows(), ..document.clone() };
                output::print(&format.render(&brief))
            }
            (format, false) => output::print(&render(format, document)),
        }
    }
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

/// A whole file; gnuplot has maps in the place of curves.
fn render(format: Format, document: &Document) -> String {
    match format {
        Format::Gnuplot => Map::of(&Run::from(document)).unwrap_or_default().script(),
        format => format.render(document),
    }
}

/// Writes what there is after each round, so that a crash keeps it, and shows how far it is.
pub struct Saved<'a> {
    written: &'a Written,
    env: &'a Row,
    watchdog: Watchdog,
    progress: RefCell<Progress>,
    begun: Instant,
    spent: Cell<Duration>,
}

/// Writing may always take so long in all; beyond it only a tenth of the time, as the file of a
/// thousand ranks has half a million rows, and all of them wait for it.
const FREE: Duration = Duration::from_secs(1);

impl<'a> Saved<'a> {
    pub fn new(written: &'a Written, env: &'a Row, watchdog: Watchdog, shows: bool) -> Saved<'a> {
        let (begun, spent) = (Instant::now(), Cell::new(Duration::ZERO));
        let progress = RefCell::new(Progress::new(1, shows));
        Saved { written, env, watchdog, progress, begun, spent }
    }
}

impl Observer for Saved<'_> {
    fn alive(&self) {
        self.watchdog.alive();
    }

    fn progress(&self, rounds: Rounds) {
        self.progress.borrow_mut().of(rounds.done, rounds.all, "rounds of pairs");
    }

    fn save(&self, unfinished: &Unfinished) -> Result<(), Failure> {
        let Some((file, format)) = &self.written.export else { return Ok(()) };
        let now = Instant::now();
        let affordable = FREE.max(now.duration_since(self.begun) / 10);
        if self.spent.get() > affordable {
            return Ok(());
        }
        let text = render(*format, &unfinished.findings().document(self.env.clone()));
        let saved = output::replace(Path::new(file), &text);
        self.spent.set(self.spent.get() + now.elapsed());
        saved
    }
}
