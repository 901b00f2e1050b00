//! The map of all pairs of ranks: a row for each that sends and a column for each that receives,
//! the darker the slower.
//!
//! Begin with [`Map::of`]; `map/text.rs` has the map for a terminal and the one for gnuplot.

mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use laneway_report::figure::plain;
use laneway_report::table::significant;
use laneway_report::{Record, Run};

use crate::svg::{self, escaped};

pub use text::explain_shades;

/// The way from one rank to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// 10^6 bytes a second; not a number where it was not measured.
    pub rate_mb_s: f64,
    /// The bandwidth in percent of the usual one; not a number where there is none.
    pub percent: f64,
    /// How many times the usual latency, where that is too many.
    pub late: Option<f64>,
    /// Whether the pair is slow in latency alone.
    pub is_late_alone: bool,
}

/// A rank of the map.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Node {
    /// The host that it runs on.
    pub host: String,
    /// Whether it is to blame.
    pub is_slow: bool,
}

/// All pairs of a run of `laneway measure pairs`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Map {
    /// By rank.
    pub nodes: Vec<Node>,
    /// Two for each pair.
    pub cells: Vec<Cell>,
    /// Whether pairs were compared with what is usual.
    pub is_judged: bool,
}

/// More ranks than this are not drawn; no file of ours has more.
const MOST_RANKS: usize = 1 << 16;

/// Units of a cell at most, and of all cells of a row where they are many.
const CELL: f64 = 14.0;
const SIDE: f64 = 1400.0;
/// Cells smaller than this say nothing to who points at them, and whole percents have a colour
/// each: the file would grow.
const TINY: f64 = 5.0;
/// Names longer than this are cut.
const MOST_NAME: f64 = 150.0;
/// Letters of names, and how far apart two lines of them are at least.
const LETTERS: f64 = 10.0;
const APART: f64 = 11.0;

/// The line through cells that are no pair.
const ITSELF: &str = "fill=\"none\" stroke=\"#888\"";

impl Map {
    /// The map of a run whose rows are pairs with both directions.
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
        let figures = ["there_percent", "back_percent", "there_mb_s", "back_mb_s"];
        let [there, back, there_rate, back_rate] = figures.map(|name| row.number(name));
        let is_judged = there.or(back).is_some() || row.get("latency_times").is_some();
        if !is_judged && there_rate.or(back_rate).is_none() {
            return None;
        }
        self.is_judged |= is_judged;
        for (rank, host) in [(from, text("from_host")), (to, text("to_host"))] {
            if self.nodes.len() <= rank {
                self.nodes.resize(rank + 1, Node::default());
            }
            let is_slow = blamed.split(',').any(|name| name == host && !name.is_empty());
            self.nodes[rank] = Node { host, is_slow };
        }
        let slow_in = text("slow_in");
        let is_late = slow_in.split(',').any(|word| word == "latency");
        let late = row.number("latency_times").filter(|_| is_late);
        let is_late_alone = slow_in == "latency";
        for (from, to, percent, rate) in
            [(from, to, there, there_rate), (to, from, back, back_rate)]
        {
            let [percent, rate_mb_s] = [percent, rate].map(|figure| figure.unwrap_or(f64::NAN));
            self.cells.push(Cell { from, to, rate_mb_s, percent, late, is_late_alone });
        }
        Some(())
    }

    /// The whole map as a drawing; a suspect is written in red, and what is late has a blue
    /// edge.
    pub fn draw(&self) -> String {
        let cell = (SIDE / self.nodes.len().max(1) as f64).min(CELL);
        let side = self.nodes.len() as f64 * cell;
        let names: Vec<String> = (0..self.nodes.len()).map(|rank| self.short_name(rank)).collect();
        let longest = names.iter().map(|name| svg::width_of(name, LETTERS)).fold(0.0, f64::max);
        let room = longest.min(MOST_NAME) + 10.0;
        let (left, width) = (room + 22.0, (room + 22.0 + side + 20.0).max(460.0));
        let says = format!(
            "bandwidth of {}, from the rank of the row to that of the column, as a part of what \
             is usual for its kind",
            match self.cells.len() / 2 {
                1 => "1 pair".to_owned(),
                pairs => format!("{pairs} pairs"),
            }
        );
        let lines = svg::wrap(&says, width - 20.0, 13.0);
        let top = 14.0 + 18.0 * lines.len() as f64 + room + 10.0;
        let mut body = String::new();
        for (number, line) in lines.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                body,
                "<text x=\"10\" y=\"{}\" font-size=\"13\" fill=\"#222\">{}</text>",
                18.0 + 18.0 * number as f64,
                escaped(line)
            );
        }
        for rank in self.named(cell) {
            body += &self.draw_name(rank, &names[rank], cell, (left, top));
        }
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#777\">to</text>\
             <text transform=\"translate(12 {:.1}) rotate(-90)\" fill=\"#777\" \
             text-anchor=\"middle\">from</text>",
            left - 18.0,
            top - 8.0,
            top + side / 2.0
        );
        body += &match cell < TINY {
            true => self.draw_tiny(cell, (left, top)),
            false => self.cells.iter().map(|of| of.draw(cell, (left, top))).collect(),
        };
        // No rank has a pair with itself: a line through those cells, which are white as 100 % is.
        let _ = writeln!(body, "<path d=\"M{left:.1} {top:.1}l{side:.1} {side:.1}\" {ITSELF}/>");
        let below = top + side + 24.0;
        let usual = self.explain_usual();
        let _ = writeln!(
            body,
            "<text x=\"10\" y=\"{below:.1}\" font-size=\"10\" fill=\"#333\">{usual}</text>"
        );
        body += &explain_colours(below + 8.0);
        let width = width.max(20.0 + svg::width_of(&usual, 10.0));
        svg::document(width.ceil(), (below + 74.0).ceil(), &body)
    }

    /// The ranks whose names have room: those to blame before all others.
    fn named(&self, cell: f64) -> Vec<usize> {
        let every = (APART / cell).ceil().max(1.0) as usize;
        let ranks = 0..self.nodes.len();
        let (slow, others): (Vec<usize>, Vec<usize>) =
            ranks.partition(|&rank| self.nodes[rank].is_slow);
        let mut named: BTreeSet<usize> = BTreeSet::new();
        for rank in slow.into_iter().chain(others.into_iter().filter(|at| at % every == 0)) {
            let near = (rank + 1).saturating_sub(every)..rank + every;
            if named.range(near).next().is_none() {
                named.insert(rank);
            }
        }
        named.into_iter().collect()
    }

    /// The host and the rank, which is never cut: of a long host first the domain goes.
    fn short_name(&self, rank: usize) -> String {
        let host = &self.nodes[rank].host;
        let rank = rank.to_string();
        let room = MOST_NAME - svg::width_of(&rank, LETTERS) - LETTERS * 0.58;
        let host = match svg::width_of(host, LETTERS) > room {
            true => host.split('.').next().unwrap_or(host),
            false => host,
        };
        format!("{} {rank}", svg::shorten(host, room, LETTERS)).trim().to_owned()
    }

    /// What the percents are of, with its unit.
    fn explain_usual(&self) -> String {
        let usual = self.cells.iter().map(|cell| cell.rate_mb_s * 100.0 / cell.percent);
        let (low, high) = usual
            .filter(|usual| usual.is_finite())
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), usual| {
                (low.min(usual), high.max(usual))
            });
        let what = "bandwidth in percent of the usual one of the pair's kind";
        match (low, high) {
            (low, high) if low > high => what.to_owned(),
            (low, high) if high < low * 1.02 => {
                format!("{what}; 100 % is {} MB/s", significant(high))
            }
            _ => format!(
                "{what}; 100 % is {} to {} MB/s, by kind",
                significant(low),
                significant(high)
            ),
        }
    }

    /// All cells where they are many, those of the same percent as one shape.
    fn draw_tiny(&self, side: f64, (left, top): (f64, f64)) -> String {
        let mut shapes: BTreeMap<(bool, String), String> = BTreeMap::new();
        for cell in &self.cells {
            let percent = cell.percent.round();
            let (x, y) = (left + cell.to as f64 * side, top + cell.from as f64 * side);
            let shape = shapes.entry((cell.late.is_some(), colour(percent / 100.0))).or_default();
            // Writing to a string cannot fail.
            let _ = write!(shape, "M{x:.1} {y:.1}h{side:.1}v{side:.1}h-{side:.1}z");
        }
        let mut text = String::new();
        for ((is_late, fill), shape) in shapes {
            let edge = if is_late { " stroke=\"#1b6ca8\" stroke-width=\"0.6\"" } else { "" };
            let _ = writeln!(text, "<path d=\"{shape}\" fill=\"{fill}\"{edge}/>");
        }
        text
    }

    /// A rank's name left of its row and above its column.
    fn draw_name(&self, rank: usize, name: &str, cell: f64, (left, top): (f64, f64)) -> String {
        let fill = if self.nodes[rank].is_slow { "#b00020" } else { "#222" };
        let middle = (rank as f64 + 0.5) * cell + 3.5;
        let whole = format!("{} {rank}", self.nodes[rank].host);
        let (short, whole) = (escaped(name), escaped(whole.trim()));
        format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"{LETTERS}\" \
             fill=\"{fill}\">{short}<title>{whole}</title></text>\
             <text transform=\"translate({:.1} {:.1}) rotate(-90)\" font-size=\"{LETTERS}\" \
             fill=\"{fill}\">{short}<title>{whole}</title></text>\n",
            left - 6.0,
            top + middle,
            left + middle,
            top - 6.0
        )
    }
}

impl Cell {
    fn draw(&self, side: f64, (left, top): (f64, f64)) -> String {
        let (x, y) = (left + self.to as f64 * side, top + self.from as f64 * side);
        let edge = match self.late {
            None => format!("stroke=\"#ddd\" stroke-width=\"{:.2}\"", side / CELL),
            Some(_) => format!("stroke=\"#1b6ca8\" stroke-width=\"{:.2}\"", 2.0 * side / CELL),
        };
        let late = self.late.map(|times| format!(", {times:.1} times the usual latency"));
        let figure = match self.percent.is_nan() {
            true => "not measured".to_owned(),
            false => format!("{:.1} %", self.percent),
        };
        format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{side:.1}\" height=\"{side:.1}\" \
             fill=\"{}\" {edge}><title>{} to {}: {figure}{}</title></rect>\n",
            colour(self.percent / 100.0),
            self.from,
            self.to,
            late.unwrap_or_default(),
        )
    }
}

/// A band of the colours with their percents, and what else a cell can be.
fn explain_colours(top: f64) -> String {
    const STEPS: u32 = 45;
    const STEP: f64 = 5.0;
    let mut text = String::from("<g font-size=\"10\" fill=\"#333\">\n");
    for step in 0..STEPS {
        // From 10 % to 100 %.
        let part = 0.1 + 0.9 * (f64::from(step) + 0.5) / f64::from(STEPS);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "<path d=\"M{:.1} {top:.1}h{STEP}v12h-{STEP}z\" fill=\"{}\"/>",
            10.0 + STEP * f64::from(step),
            colour(part)
        );
    }
    let wide = STEP * f64::from(STEPS);
    let _ = writeln!(
        text,
        "<path d=\"M10 {top:.1}h{wide}v12h-{wide}z\" fill=\"none\" stroke=\"#aaa\"/>"
    );
    for (percent, label) in
        [(10.0, "10 % and less"), (50.0, "50 %"), (75.0, "75 %"), (100.0, "100 % and more")]
    {
        let x = 10.0 + wide * (percent - 10.0) / 90.0;
        let anchor = if (50.0..100.0).contains(&percent) { "middle" } else { "start" };
        let _ = writeln!(
            text,
            "<path d=\"M{x:.1} {:.1}v4\" stroke=\"#888\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"{anchor}\">{label}</text>",
            top + 12.0,
            x,
            top + 26.0
        );
    }
    let boxes = [
        ("#bbbbbb", "stroke=\"#ddd\"", "not measured"),
        ("#f7fafa", "stroke=\"#1b6ca8\" stroke-width=\"2\"", "slow in latency"),
        ("#fff", "stroke=\"#ddd\"", "itself"),
    ];
    for (number, (fill, edge, label)) in boxes.into_iter().enumerate() {
        let x = 10.0 + 110.0 * number as f64;
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{fill}\" {edge}/>\
             <text x=\"{}\" y=\"{:.1}\">{label}</text>",
            top + 40.0,
            x + 18.0,
            top + 50.0
        );
    }
    let _ = writeln!(
        text,
        "<path d=\"M230 {:.1}l12 12\" {ITSELF}/>\
         <text x=\"300\" y=\"{:.1}\" fill=\"#b00020\">name in red: a slow node</text></g>",
        top + 40.0,
        top + 50.0
    );
    text
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

    pub fn run(rows: Vec<Row>) -> Run {
        let summary = Row::new().with("slow_nodes", "b&c");
        Run::from(&Document {
            verb: "measure-pairs",
            env: Row::new(),
            params: Row::new(),
            rows,
            summary: Some(summary),
        })
    }

    pub fn pair(from: u32, to: u32) -> Row {
        Row::new()
            .with("from", from)
            .with("to", to)
            .with("from_host", "a")
            .with("to_host", "b&c")
            .with("latency_times", 3.0)
            .with("there_mb_s", 900.0)
            .with("there_percent", 100.0)
            .with("back_mb_s", 300.0)
            .with("back_percent", 30.0)
    }

    #[test]
    fn each_direction_has_its_cell() {
        let map = Map::of(&run(vec![pair(0, 1).with("slow_in", "back,latency")])).expect("a map");
        let seen: Vec<_> = map.cells.iter().map(|c| (c.from, c.to, c.percent, c.late)).collect();
        assert_eq!(seen, [(0, 1, 100.0, Some(3.0)), (1, 0, 30.0, Some(3.0))]);
        let drawing = map.draw();
        assert!(drawing.contains("1 to 0: 30.0 %, 3.0 times the usual latency"), "{drawing}");
        assert_eq!(drawing.matches("</title></rect>").count(), 2);
        // Left of its row and above its column.
        assert_eq!(drawing.matches("fill=\"#b00020\">b&amp;c 1<").count(), 2, "{drawing}");
        assert!(drawing.contains(">10 % and less<") && drawing.contains(">to<"), "{drawing}");
    }

    #[test]
    fn names_of_many_ranks_do_not_touch() {
        let map = Map::of(&run((1..600).map(|to| pair(0, to)).collect())).expect("a map");
        let named = map.draw().matches("rotate(-90)\" font-size").count();
        assert!((80..200).contains(&named), "{named}");
    }

    #[test]
    fn a_map_of_many_ranks_stays_small_and_a_cell_is_not_its_edge() {
        let all = (0..400u32).flat_map(|from| (from + 1..400).map(move |to| pair(from, to)));
        let drawing = Map::of(&run(all.collect())).expect("a map").draw();
        assert!(drawing.len() < 6_000_000, "{} bytes", drawing.len());
        // Two percents are two shapes.
        let shapes = drawing.lines().filter(|line| line.starts_with("<path d=\"M"));
        assert_eq!(shapes.filter(|line| line.len() > 10_000).count(), 2);
        let edges = |ranks: u32| {
            let map = Map::of(&run((1..ranks).map(|to| pair(0, to)).collect())).expect("a map");
            map.draw().contains("stroke=\"#ddd\" stroke-width=\"1.00\"")
        };
        assert!(edges(100) && !edges(200));
    }

    #[test]
    fn all_suspects_are_named() {
        let mut nodes = vec![Node { host: "n".into(), is_slow: false }; 400];
        nodes[77].is_slow = true;
        let map = Map { nodes, ..Map::default() };
        let named = map.named(3.5);
        assert!(named.contains(&77) && named.len() > 90, "{named:?}");
        assert!(named.windows(2).all(|two| two[1] - two[0] >= 4), "{named:?}");
        assert_eq!(map.named(14.0).len(), 400);
    }

    #[test]
    fn long_names_keep_their_rank() {
        let node = |host: &str| Node { host: host.into(), is_slow: false };
        let long = "compute-rack-17-node3.cluster.a-department.example.org";
        let endless = "a".repeat(99);
        let nodes = vec![node("a.b"), node(long), node(&endless)];
        let map = Map { nodes, ..Map::default() };
        assert_eq!(map.short_name(0), "a.b 0");
        assert_eq!(map.short_name(1), "compute-rack-17-node3 1");
        assert!(map.short_name(2).ends_with("aa… 2"), "{}", map.short_name(2));
        assert!(svg::width_of(&map.short_name(2), LETTERS) <= MOST_NAME);
    }

    #[test]
    fn percents_say_what_they_are_of() {
        let says = |rows| Map::of(&run(rows)).expect("a map").draw();
        // 900 MB/s are 100 %, and 300 are 30 %.
        assert!(says(vec![pair(0, 1)]).contains("100 % is 900.0 to 1000 MB/s, by kind"));
        let even = Row::new()
            .with("from", 0u32)
            .with("to", 1u32)
            .with("there_mb_s", 900.0)
            .with("there_percent", 100.0)
            .with("back_mb_s", 450.0)
            .with("back_percent", 50.0);
        assert!(says(vec![even]).contains("; 100 % is 900.0 MB/s<"));
    }

    #[test]
    fn rows_other_than_pairs_have_no_map() {
        assert_eq!(Map::of(&run(vec![])), None);
        assert_eq!(Map::of(&run(vec![Row::new().with("from", 0u32).with("to", 1u32)])), None);
        assert_eq!(Map::of(&run(vec![pair(0, 4_000_000_000)])), None);
        let no_time = Row::new().with("from", 0u32).with("to", 1u32).with("latency_times", 1.0);
        let map = Map::of(&run(vec![no_time])).expect("a map");
        assert!(map.draw().contains("#bbbbbb"), "a missing figure is not white");
        let early = Row::new().with("from", 0u32).with("to", 1u32).with("there_mb_s", 1.0);
        assert!(Map::of(&run(vec![early])).is_some_and(|map| !map.is_judged));
    }
}
