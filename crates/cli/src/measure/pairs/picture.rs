//! The map of all pairs: a square of shades in a table, and a matrix for gnuplot.

use std::fmt::Write;

use laneway_core::Rank;
use laneway_measure::p2p::{Pair, Verdict};

/// From the usual bandwidth to a tenth of it and less.
const SHADES: [(f64, char); 6] =
    [(0.95, '.'), (0.8, ':'), (0.6, '+'), (0.4, 'x'), (0.2, '#'), (0.0, '@')];

/// The parts of the usual bandwidth that a pair has there and back.
fn parts(verdict: &Verdict, index: usize) -> [f64; 2] {
    let marks = &verdict.marks[index];
    [1.0 / marks.there.ratio, 1.0 / marks.back.ratio]
}

/// A pair that is late, and has its bandwidth.
const LATE: char = 'L';

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
    format!(
        "map: a column for each rank that receives; of the usual bandwidth at least {}  {LATE} \
         slow in latency alone",
        words.join("  ")
    )
}

/// One rank's row of the map: what it sends.
pub fn shades(pairs: &[Pair], verdict: &Verdict, rank: Rank) -> String {
    let mut line = vec!['\\'; verdict.nodes.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let [there, back] = parts(verdict, index);
        let (other, part) = match (pair.from == rank, pair.to == rank) {
            (true, _) => (pair.to, there),
            (_, true) => (pair.from, back),
            _ => continue,
        };
        let marks = &verdict.marks[index];
        let late = marks.latency.slow && !marks.there.slow && !marks.back.slow;
        if let Some(place) = line.get_mut(other as usize) {
            *place = if late { LATE } else { shade(part) };
        }
    }
    line.into_iter().collect()
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
    let matrix = |figure: &dyn Fn(usize) -> [f64; 2]| {
        let mut cells = vec![vec![f64::NAN; ranks]; ranks];
        for (index, pair) in pairs.iter().enumerate() {
            let (from, to) = (pair.from as usize, pair.to as usize);
            [cells[from][to], cells[to][from]] = figure(index);
        }
        let line = |row: &Vec<f64>| {
            let words: Vec<String> = row.iter().map(|cell| format!("{cell:?}")).collect();
            words.join(" ") + "\n"
        };
        cells.iter().map(line).collect::<String>()
    };
    let rate = |index: usize| {
        let Pair { there, back, .. } = &pairs[index];
        [there, back].map(|seconds| size_bytes as f64 / seconds.value / 1e6)
    };
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
        let percent = |index: usize| parts(verdict, index).map(|part| 100.0 * part);
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
         # Data: a row for each rank that sends, a column for each that receives;\n\
         # NaN where a pair was not measured.\n\n\
         {data}\nset encoding utf8\nset size ratio -1\nset xrange [-0.5:{last:?}]\n\
         set yrange [{last:?}:-0.5]\nset ytics ({}) noenhanced\nset multiplot layout 1,{}\n\
         {plots}\nunset multiplot\n",
        names.join(", "),
        1 + usize::from(verdict.is_some()),
    )
}
