//! A gnuplot script with its data in it: a plot for each operation, logarithmic, with the intervals
//! as error bars.

use std::fmt::Write;
use std::slice;

use laneway_core::Document;
use laneway_report::figure::charts;
use laneway_report::{Extent, Run};

use crate::map::Map;

/// The whole script.
pub fn render(document: &Document) -> String {
    draw(&Run::from(document))
}

/// The script of a run; of pairs of ranks it draws the map.
pub fn draw(run: &Run) -> String {
    let charts = charts(slice::from_ref(run));
    if let Some(map) = Map::of(run).filter(|_| charts.is_empty()) {
        return map.script() + &mark(run);
    }
    let mut text = String::from(
        "# gnuplot -p FILE.gp shows this;\n\
         # gnuplot -e \"set terminal svg; set output 'FILE.svg'\" FILE.gp draws it into a file.\n\
         # Data: size in bytes, figure, lower and upper end of its interval.\n",
    );
    if charts.is_empty() {
        return text + "# no row has a size and a time or bandwidth\n";
    }
    let mut number = 0;
    let mut plots = String::new();
    for chart in &charts {
        let title = format!("{}: {}", chart.op, chart.metric.title());
        let _ = writeln!(plots, "\nset title {} noenhanced", quoted(&title));
        let _ = writeln!(plots, "set ylabel {}", quoted(chart.metric.title()));
        let mut curves = Vec::new();
        for (own, curve) in chart.curves.iter().enumerate() {
            let _ = writeln!(text, "\n$data{number} << EOD");
            for (number, part) in curve.parts().into_iter().enumerate() {
                // An empty line breaks the curve.
                text += if number > 0 { "\n" } else { "" };
                for point in part {
                    let (low, high) = point.interval.unwrap_or((point.figure, point.figure));
                    let (size, figure) = (point.size_bytes, point.figure);
                    // A logarithmic axis has no place for 0: it stands where a half would.
                    let _ = writeln!(text, "{:?} {figure:?} {low:?} {high:?}", size.max(0.5));
                }
            }
            text += "EOD\n";
            let label = quoted(&curve.label);
            // Its points differ already; with dashes lines are distinguishable without colour too.
            let dashes = own % 4 + 1;
            curves.push(format!(
                "$data{number} using 1:2:3:4 with yerrorlines dashtype {dashes} title {label}"
            ));
            number += 1;
        }
        let _ = writeln!(plots, "plot {}", curves.join(", \\\n     "));
    }
    let _ = write!(
        text,
        "\nset logscale x 2\nset logscale y 10\nset xlabel 'size (bytes)'\n\
         set format x '%.0b%B'\nset grid\nset key top left noenhanced\nset encoding utf8\n\
         set multiplot layout {},1\n{plots}\nunset multiplot\n",
        charts.len()
    );
    text + &mark(run)
}

/// A last line that says whether the run is complete, where that is known.
fn mark(run: &Run) -> String {
    match &run.extent {
        Extent::Complete => "# complete\n".into(),
        Extent::Incomplete(done) => format!("# incomplete: {done}\n"),
        Extent::Unknown => String::new(),
    }
}

/// Text in single quotes, in which gnuplot interprets nothing.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace(char::is_control, " ").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::document;

    #[test]
    fn data_and_plots_stand_in_one_file() {
        let text = render(&document());
        let wanted = "\
$data0 << EOD
8.0 2.5 2.25 2.75
1024.0 20.0 19.0 21.5
EOD

$data1 << EOD
8.0 0.004 0.004 0.004
EOD

$data2 << EOD
1024.0 512.0 512.0 512.0
EOD

set logscale x 2
set logscale y 10
set xlabel 'size (bytes)'
set format x '%.0b%B'
set grid
set key top left noenhanced
set encoding utf8
set multiplot layout 2,1

set title 'bcast: time (µs)' noenhanced
set ylabel 'time (µs)'
plot $data0 using 1:2:3:4 with yerrorlines dashtype 1 title 'binomial', \\
     $data1 using 1:2:3:4 with yerrorlines dashtype 2 title 'linear''s'

set title 'stream: bandwidth (MB/s)' noenhanced
set ylabel 'bandwidth (MB/s)'
plot $data2 using 1:2:3:4 with yerrorlines dashtype 1 title 'stream'

unset multiplot
# complete
";
        let body = text.find("$data0").map(|at| &text[at..]);
        assert_eq!(body, Some(wanted));
    }

    #[test]
    fn nothing_timed_plots_nothing() {
        let text = render(&Document { rows: vec![], ..document() });
        assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
    }
}
