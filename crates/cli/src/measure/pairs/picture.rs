//! The map of all pairs: a square of shades in a table, of colours in a drawing, and a matrix for
//! gnuplot.

use std::fmt::Write;

use laneway_core::Rank;
use laneway_measure::p2p::{Pair, Verdict};
use laneway_report::svg;

/// From the usual bandwidth to a tenth of it and less.
const SHADES: [(f64, char); 6] =
    [(0.95, '.'), (0.8, ':'), (0.6, '+'), (0.4, 'x'), (0.2, '#'), (0.0, '@')];

fn part(verdict: &Verdict, index: usize) -> f64 {
    1.0 / verdict.ratios[index]
}

fn shade(part: f64) -> char {
    SHADES.iter().find(|(least, _)| part >= *least).map_or('@', |(_, shade)| *shade)
}

/// What the shades mean.
pub fn legend() -> String {
    let words = SHADES.iter().map(|(least, shade)| match least {
        0.0 => format!("{shade} less"),
        least => format!("{shade} {:.0} %", least * 100.0),
    });
    let words: Vec<String> = words.collect();
    format!("map: a column for each rank; of the usual bandwidth at least {}", words.join("  "))
}

/// One rank's row of the map.
pub fn shades(pairs: &[Pair], verdict: &Verdict, rank: Rank) -> String {
    let mut line = vec!['\\'; verdict.nodes.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let other = match (pair.from == rank, pair.to == rank) {
            (true, _) => pair.to,
            (_, true) => pair.from,
            _ => continue,
        };
        if let Some(place) = line.get_mut(other as usize) {
            *place = shade(part(verdict, index));
        }
    }
    line.into_iter().collect()
}

/// Units of a cell, and room for the names.
const CELL: f64 = 14.0;
const NAMES: f64 = 110.0;
const TOP: f64 = 40.0;

/// White at the usual bandwidth, through yellow to dark red at a tenth.
fn colour(part: f64) -> String {
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

/// The whole map as a drawing; slow nodes are written in red.
pub fn drawing(pairs: &[Pair], hosts: &[String], verdict: &Verdict) -> String {
    let side = verdict.nodes.len() as f64 * CELL;
    let mut body = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        body,
        "<text x=\"10\" y=\"20\" font-size=\"13\">bandwidth of {} pairs, as a part of the usual \
         one of their kind</text>",
        pairs.len()
    );
    for node in &verdict.nodes {
        let blamed = verdict.slow_nodes.iter().any(|slow| slow.rank == node.rank);
        let fill = if blamed { "#b00020" } else { "#222" };
        let name = hosts.get(node.rank as usize).map_or("", String::as_str);
        let y = TOP + (f64::from(node.rank) + 0.75) * CELL;
        let _ = writeln!(
            body,
            "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" fill=\"{fill}\">{} {}</text>",
            NAMES - 6.0,
            svg::escaped(name),
            node.rank
        );
    }
    for (index, pair) in pairs.iter().enumerate() {
        let part = part(verdict, index);
        let fill = colour(part);
        for (row, column) in [(pair.from, pair.to), (pair.to, pair.from)] {
            let (x, y) = (NAMES + f64::from(column) * CELL, TOP + f64::from(row) * CELL);
            let _ = writeln!(
                body,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" \
                 stroke=\"#ddd\"><title>{row} and {column}: {:.1} %</title></rect>",
                part * 100.0
            );
        }
    }
    // The title needs its room however few the pairs are.
    svg::document((NAMES + side + 20.0).max(420.0), TOP + side + 20.0, &body)
}

/// The maps as a script of gnuplot with its data in it: the bandwidth, and where there is a verdict
/// what part it is of the usual one.
pub fn script(
    pairs: &[Pair],
    hosts: &[String],
    size_bytes: usize,
    verdict: Option<&Verdict>,
) -> String {
    let ranks = pairs.iter().map(|pair| pair.to.max(pair.from) as usize + 1).max().unwrap_or(0);
    let matrix = |figure: &dyn Fn(usize) -> f64| {
        let mut cells = vec![vec![f64::NAN; ranks]; ranks];
        for (index, pair) in pairs.iter().enumerate() {
            let (from, to) = (pair.from as usize, pair.to as usize);
            cells[from][to] = figure(index);
            cells[to][from] = figure(index);
        }
        let line = |row: &Vec<f64>| {
            let words: Vec<String> = row.iter().map(|cell| format!("{cell:?}")).collect();
            words.join(" ") + "\n"
        };
        cells.iter().map(line).collect::<String>()
    };
    let rate = |index: usize| size_bytes as f64 / pairs[index].transfer.value / 1e6;
    let mut data = format!("$bandwidth << EOD\n{}EOD\n", matrix(&rate));
    let mut plots = String::new();
    let mut plot = |title: &str, colours: &str, name: &str| {
        // Writing to a string cannot fail.
        let _ = write!(
            plots,
            "\nset title '{title}'\n{colours}\nplot ${name} matrix with image notitle\n"
        );
    };
    if let Some(verdict) = verdict {
        let percent = |index: usize| 100.0 * part(verdict, index);
        let _ = write!(data, "\n$usual << EOD\n{}EOD\n", matrix(&percent));
        let colours = "set cbrange [10:100]\nset palette defined (0 '#8b0014', 1 '#fdae61', \
                       2 '#f7fafa')";
        plot("bandwidth, in percent of the usual one of its kind", colours, "usual");
    }
    let colours = "set cbrange [0:*]\nset palette defined (0 '#8b0014', 1 '#fdae61', 2 '#f7fafa')";
    plot("bandwidth (MB/s)", colours, "bandwidth");
    let name = |rank: usize| {
        let host = hosts.get(rank).map_or("", String::as_str);
        let host = host.replace(char::is_control, " ").replace('\'', "''");
        format!("'{host} {rank}' {rank}")
    };
    let names: Vec<String> = (0..ranks).map(name).collect();
    let last = ranks as f64 - 0.5;
    format!(
        "# gnuplot -p FILE.gp shows this;\n\
         # gnuplot -e \"set terminal svg; set output 'FILE.svg'\" FILE.gp draws it into a file.\n\
         # Data: a row and a column for each rank; NaN where a pair was not measured.\n\n\
         {data}\nset encoding utf8\nset size ratio -1\nset xrange [-0.5:{last:?}]\n\
         set yrange [{last:?}:-0.5]\nset ytics ({}) noenhanced\nset multiplot layout 1,{}\n\
         {plots}\nunset multiplot\n",
        names.join(", "),
        1 + usize::from(verdict.is_some()),
    )
}
