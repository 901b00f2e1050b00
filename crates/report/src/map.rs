//! The map of all pairs of ranks: a row for each that sends and a column for each that receives,
//! the darker the slower.

use std::fmt::Write;

use crate::figure::plain;
use crate::run::{Record, Run};
use crate::svg;

/// The way from one rank to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub from: usize,
    pub to: usize,
    /// The bandwidth in percent of the usual one.
    pub percent: f64,
    /// How many times the usual latency, where that is too many.
    pub late: Option<f64>,
}

/// A run of `laneway measure pairs` as a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Of each rank, and whether it is to blame.
    pub ranks: Vec<(String, bool)>,
    pub cells: Vec<Cell>,
}

/// More ranks than this are not drawn; no file of ours has so many.
const MOST_RANKS: usize = 1 << 16;

/// Units of a cell, and room for the names.
const CELL: f64 = 14.0;
const NAMES: f64 = 110.0;
const TOP: f64 = 40.0;

impl Map {
    /// The map of a run whose rows are pairs that were compared with what is usual.
    pub fn of(run: &Run) -> Option<Map> {
        let summary = run.summary.iter().find(|(name, _)| name == "slow_nodes");
        let blamed = summary.map(|(_, names)| plain(names)).unwrap_or_default();
        let mut map = Map::default();
        for row in &run.rows {
            map.add(row, &blamed)?;
        }
        (!map.cells.is_empty()).then_some(map)
    }

    fn add(&mut self, row: &Record, blamed: &str) -> Option<()> {
        let rank = |name: &str| row.number(name).map(|rank| rank as usize);
        let rank = |name: &str| rank(name).filter(|rank| *rank < MOST_RANKS);
        let (from, to) = (rank("from")?, rank("to")?);
        let text = |name: &str| row.get(name).map(plain).unwrap_or_default();
        let (there, back) = (row.number("there_percent"), row.number("back_percent"));
        if there.is_none() && back.is_none() && row.get("latency_times").is_none() {
            return None;
        }
        for (rank, host) in [(from, text("from_host")), (to, text("to_host"))] {
            if self.ranks.len() <= rank {
                self.ranks.resize(rank + 1, Default::default());
            }
            let is_blamed = blamed.split(',').any(|name| name == host && !name.is_empty());
            self.ranks[rank] = (host, is_blamed);
        }
        let is_late = text("slow_in").split(',').any(|word| word == "latency");
        let late = row.number("latency_times").filter(|_| is_late);
        for (from, to, percent) in [(from, to, there), (to, from, back)] {
            let percent = percent.unwrap_or(f64::NAN);
            self.cells.push(Cell { from, to, percent, late });
        }
        Some(())
    }

    /// The whole map as a drawing; who is to blame is written in red, and what is late has a blue
    /// edge.
    pub fn draw(&self) -> String {
        let side = self.ranks.len() as f64 * CELL;
        let mut body = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "<text x=\"10\" y=\"16\" font-size=\"13\" fill=\"#222\">bandwidth of {} pairs from row \
             to column, as a part of the usual one</text>\n\
             <text x=\"10\" y=\"32\" fill=\"#222\">of its kind; with a blue edge: slow in \
             latency</text>",
            self.cells.len() / 2
        );
        for (rank, (host, is_blamed)) in self.ranks.iter().enumerate() {
            let fill = if *is_blamed { "#b00020" } else { "#222" };
            let y = TOP + (rank as f64 + 0.75) * CELL;
            let _ = writeln!(
                body,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" fill=\"{fill}\">{} {rank}</text>",
                NAMES - 6.0,
                svg::escaped(host),
            );
        }
        self.cells.iter().for_each(|cell| body += &cell.draw());
        // The title needs its room however few the pairs are.
        svg::document((NAMES + side + 20.0).max(460.0), TOP + side + 20.0, &body)
    }
}

impl Cell {
    fn draw(&self) -> String {
        let (x, y) = (NAMES + self.to as f64 * CELL, TOP + self.from as f64 * CELL);
        let edge = match self.late {
            None => "stroke=\"#ddd\"",
            Some(_) => "stroke=\"#1b6ca8\" stroke-width=\"2\"",
        };
        let late = self.late.map(|times| format!(", {times:.1} times the usual latency"));
        format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\" {edge}>\
             <title>{} to {}: {:.1} %{}</title></rect>\n",
            colour(self.percent / 100.0),
            self.from,
            self.to,
            self.percent,
            late.unwrap_or_default(),
        )
    }
}

/// White at the usual bandwidth, through yellow to dark red at a tenth; grey where there is none.
fn colour(part: f64) -> String {
    if part.is_nan() {
        return "#bbbbbb".to_string();
    }
    let heat = ((1.0 - part) / 0.9).clamp(0.0, 1.0);
    let mix = |from: f64, to: f64, share: f64| from + (to - from) * share;
    let [red, green, blue] = if heat < 0.5 {
        [mix(247.0, 253.0, heat * 2.0), mix(250.0, 174.0, heat * 2.0), mix(250.0, 97.0, heat * 2.0)]
    } else {
        let share = heat * 2.0 - 1.0;
        [mix(253.0, 139.0, share), mix(174.0, 0.0, share), mix(97.0, 20.0, share)]
    };
    format!("#{:02x}{:02x}{:02x}", red as u8, green as u8, blue as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::{Document, Row};

    fn run(rows: Vec<Row>) -> Run {
        let summary = Row::new().with("slow_nodes", "b&c");
        Run::from(&Document {
            verb: "measure-pairs",
            env: Row::new(),
            params: Row::new(),
            rows,
            summary: Some(summary),
        })
    }

    fn pair(from: u32, to: u32) -> Row {
        Row::new()
            .with("from", from)
            .with("to", to)
            .with("from_host", "a")
            .with("to_host", "b&c")
            .with("latency_times", 3.0)
            .with("there_percent", 100.0)
            .with("back_percent", 30.0)
    }

    #[test]
    fn each_direction_has_its_cell() {
        let map = Map::of(&run(vec![pair(0, 1).with("slow_in", "back,latency")])).expect("a map");
        let cell = |from, to, percent| Cell { from, to, percent, late: Some(3.0) };
        assert_eq!(map.cells, [cell(0, 1, 100.0), cell(1, 0, 30.0)]);
        let drawing = map.draw();
        assert!(drawing.contains("1 to 0: 30.0 %, 3.0 times the usual latency"), "{drawing}");
        assert!(drawing.contains("fill=\"#b00020\">b&amp;c 1"), "{drawing}");
        assert_eq!(drawing.matches("</title></rect>").count(), 2);
    }

    #[test]
    fn rows_that_are_no_pairs_have_no_map() {
        assert_eq!(Map::of(&run(vec![])), None);
        assert_eq!(Map::of(&run(vec![Row::new().with("from", 0u32).with("to", 1u32)])), None);
        assert_eq!(Map::of(&run(vec![pair(0, 4_000_000_000)])), None);
        let no_time = Row::new().with("from", 0u32).with("to", 1u32).with("latency_times", 1.0);
        let map = Map::of(&run(vec![no_time])).expect("a map");
        assert!(map.draw().contains("#bbbbbb"), "no figure is no white");
    }
}
