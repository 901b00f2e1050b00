//! The map of pairs as a square of shades for a table, and as a script of gnuplot.

use std::fmt::Write;

use super::{Cell, Map};

/// From the usual bandwidth to a tenth of it and less.
const SHADES: [(f64, char); 6] =
    [(0.95, '.'), (0.8, ':'), (0.6, '+'), (0.4, 'x'), (0.2, '#'), (0.0, '@')];

/// A pair that is late, and has its bandwidth.
const LATE: char = 'L';

fn shade(part: f64) -> char {
    SHADES.iter().find(|(least, _)| part >= *least).map_or('@', |(_, shade)| *shade)
}

/// What the shades of [`Map::shades`] mean, as a line.
pub fn explain_shades() -> String {
    let words = SHADES.iter().map(|(least, shade)| match least {
        0.0 => format!("{shade} less"),
        least => format!("{shade} from {:.0} %", least * 100.0),
    });
    let words: Vec<String> = words.collect();
    format!(
        "map: lines send, columns receive; share of the usual bandwidth: {}; {LATE} slow only in \
         latency",
        words.join(", ")
    )
}

impl Map {
    /// A line for each rank: the shades of what it sends, a letter for each rank that receives.
    pub fn shades(&self) -> Vec<String> {
        let mut lines = vec![vec!['\\'; self.nodes.len()]; self.nodes.len()];
        for cell in &self.cells {
            let shade = if cell.is_late_alone { LATE } else { shade(cell.percent / 100.0) };
            lines[cell.from][cell.to] = shade;
        }
        lines.into_iter().map(|line| line.into_iter().collect()).collect()
    }

    /// The maps as a script of gnuplot with its data in it: the bandwidth, and where pairs were
    /// compared what part it is of the usual one.
    pub fn script(&self) -> String {
        let ranks = self.nodes.len();
        let rate = |cell: &Cell| cell.rate_mb_s;
        let mut data = format!("$bandwidth << EOD\n{}EOD\n", self.matrix(rate));
        let mut plots = String::new();
        let palette = "set palette defined (0 '#8b0014', 1 '#fdae61', 2 '#f7fafa')";
        let mut plot = |title: &str, range: &str, name: &str| {
            // Writing to a string cannot fail.
            let _ = write!(
                plots,
                "\nset title '{title}'\nset cbrange {range}\n{palette}\nplot ${name} matrix with \
                 image notitle\n"
            );
        };
        if self.is_judged {
            let percent = self.matrix(|cell| cell.percent);
            let _ = write!(data, "\n$usual << EOD\n{percent}EOD\n");
            plot("bandwidth, in percent of the usual one of its kind", "[10:100]", "usual");
        }
        plot("bandwidth (MB/s)", "[0:*]", "bandwidth");
        let name = |rank: usize| {
            let host = &self.nodes[rank].host;
            let host = host.replace(char::is_control, " ").replace('\'', "''");
            format!("'{host} {rank}' {rank}")
        };
        let names: Vec<String> = (0..ranks).map(name).collect();
        let names = names.join(", ");
        let last = ranks as f64 - 0.5;
        format!(
            "# gnuplot -p FILE.gp shows this;\n\
             # gnuplot -e \"set terminal svg; set output 'FILE.svg'\" FILE.gp draws it into a \
             file.\n\
             # Data: a row for each rank that sends, a column for each that receives;\n\
             # NaN where a pair was not measured.\n\n\
             {data}\nset encoding utf8\nset size ratio -1\nset xrange [-0.5:{last:?}]\n\
             set yrange [{last:?}:-0.5]\nset ytics ({names}) noenhanced\n\
             set xtics rotate ({names}) noenhanced\nset multiplot layout 1,{}\n\
             {plots}\nunset multiplot\n",
            1 + usize::from(self.is_judged),
        )
    }

    fn matrix(&self, figure: impl Fn(&Cell) -> f64) -> String {
        let mut figures = vec![vec![f64::NAN; self.nodes.len()]; self.nodes.len()];
        self.cells.iter().for_each(|cell| figures[cell.from][cell.to] = figure(cell));
        let line = |row: &Vec<f64>| {
            let words: Vec<String> = row.iter().map(|figure| format!("{figure:?}")).collect();
            words.join(" ") + "\n"
        };
        figures.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pair, run};
    use super::*;

    #[test]
    fn a_letter_for_each_direction() {
        let rows = vec![pair(0, 1), pair(0, 2).with("slow_in", "latency")];
        let map = Map::of(&run(rows)).expect("a map");
        assert_eq!(map.shades(), ["\\.L", "#\\\\", "L\\\\"]);
        assert!(explain_shades().contains("# from 20 %"));
    }

    #[test]
    fn a_script_has_both_maps() {
        let script = Map::of(&run(vec![pair(0, 1)])).expect("a map").script();
        for part in
            ["NaN 900.0\n300.0 NaN\n", "NaN 100.0\n30.0 NaN\n", "'b&c 1' 1", "multiplot layout 1,2"]
        {
            assert!(script.contains(part), "{part} is missing in\n{script}");
        }
    }
}
