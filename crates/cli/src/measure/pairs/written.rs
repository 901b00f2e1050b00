//! Where the pairs go: each format has the map that it can show, and the export file is written
//! anew after each round.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use laneway_core::{Document, Failure, Row};
use laneway_draw::Format;
use laneway_draw::map::{Map, explain_shades};
use laneway_report::Run;

use super::Asked;
use super::doubt::Judged;
use super::found::Found;
use super::suspects;
use crate::output::{self, Output};

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

    /// A survey that is not at its end.
    pub fn unfinished(&self) -> Unfinished<'_> {
        Unfinished { written: self, begun: Instant::now(), spent: Duration::ZERO }
    }

    /// Prints and saves all of it.
    pub fn finish(&self, asked: &Asked, found: &Found, judged: &Judged) -> Result<(), Failure> {
        let sentences = judged.sentences(&found.pairs, &found.hosts);
        let summary = found.summary(judged, &sentences);
        let document = found.document(asked, Some(judged), summary);
        if let Some((file, format)) = &self.export {
            output::replace(Path::new(file), &rendered(*format, &document))?;
        }
        self.print(asked, found, judged, &document, &sentences)?;
        match &self.svg {
            Some(file) => {
                let map = Map::of(&Run::from(&document)).unwrap_or_default();
                output::replace(Path::new(file), &map.draw())
            }
            None => Ok(()),
        }
    }

    fn print(
        &self,
        asked: &Asked,
        found: &Found,
        judged: &Judged,
        document: &Document,
        sentences: &[String],
    ) -> Result<(), Failure> {
        let blamed = || suspects::rows(&judged.verdict, &found.hosts);
        let sentences = sentences.join("\n");
        match (self.format, self.suspects) {
            (Format::Table, true) => {
                let brief = Document { rows: blamed(), summary: None, ..document.clone() };
                let table = match brief.rows.is_empty() {
                    true => String::new(),
                    false => self.format.render(&brief) + "\n",
                };
                output::print(&format!("{table}{sentences}\n"))
            }
            (Format::Table, false) => {
                let map = Map::of(&Run::from(document)).unwrap_or_default();
                let rows = found.nodes(asked, judged, &map.shades());
                let brief = Document { rows, summary: None, ..document.clone() };
                let table = self.format.render(&brief);
                output::print(&format!("{table}\n{}\n\n{sentences}\n", explain_shades()))
            }
            (format, true) => {
                let brief = Document { rows: blamed(), ..document.clone() };
                output::print(&format.render(&brief))
            }
            (format, false) => output::print(&rendered(format, document)),
        }
    }
}

/// A whole file; gnuplot has maps in the place of curves.
fn rendered(format: Format, document: &Document) -> String {
    match format {
        Format::Gnuplot => Map::of(&Run::from(document)).unwrap_or_default().script(),
        format => format.render(document),
    }
}

/// Writes what there is after each round, so that a crash keeps it.
pub struct Unfinished<'a> {
    written: &'a Written,
    begun: Instant,
    spent: Duration,
}

/// Writing may always take so long in all; beyond it only a tenth of the time, as the file of a
/// thousand ranks has half a million rows, and all of them wait for it.
const FREE: Duration = Duration::from_secs(1);

impl Unfinished<'_> {
    /// After so many of all rounds.
    pub fn save(
        &mut self,
        asked: &Asked,
        found: &mut Found,
        [done, all]: [usize; 2],
    ) -> Result<(), Failure> {
        let Some((file, format)) = &self.written.export else { return Ok(()) };
        let now = Instant::now();
        let affordable = FREE.max(now.duration_since(self.begun) / 10);
        // The last round is written with the verdict.
        if done == all || self.spent > affordable {
            return Ok(());
        }
        found.settle();
        let summary = Row::new()
            .with("complete", false)
            .with("pairs", found.pairs.len() as u64)
            .with("verdict", format!("unfinished: {done} of {all} rounds of pairs"));
        let document = found.document(asked, None, summary);
        let text = rendered(*format, &document);
        let saved = output::replace(Path::new(file), &text);
        self.spent += now.elapsed();
        saved
    }
}
