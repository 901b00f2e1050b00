//! The text of the OSU benchmarks: `#` lines, then a size and a figure a line; written so that
//! scripts made for OSU read it, and read back.

use std::fmt::Write;

use laneway_core::{Document, Value};

use crate::figure::{Chart, Metric, charts};
use crate::run::{Extent, ReadError, Record, Run, finite};

/// A block for each operation and algorithm.
pub fn render(document: &Document) -> String {
    let mut blocks = Vec::new();
    let charts = charts(&[Run::from(document)]);
    for chart in charts.iter().filter(|chart| is_shown(chart, &charts)) {
        for curve in &chart.curves {
            let mut block = format!("# {OURS}{}", chart.op);
            for (name, value) in &curve.identity {
                let _ = write!(block, ", {name} {value}");
            }
            // What does not begin as a title does is passed over by the reader.
            for (i, (from, name)) in curve.algorithms.iter().enumerate() {
                let _ = match i {
                    0 => write!(block, "\n# algorithm {name}"),
                    _ => write!(block, ", from size {from} {name}"),
                };
            }
            let heading = match chart.metric {
                Metric::Time => "Avg Latency(us)",
                Metric::Bandwidth => "Bandwidth (MB/s)",
            };
            let _ = writeln!(block, "\n# Size      {heading:>20}");
            for point in &curve.points {
                let (size, figure) = (point.size_bytes, point.figure);
                let decimals = (3.0 - figure.log10().floor()).clamp(2.0, 12.0) as usize;
                let _ = writeln!(block, "{size:<10}  {figure:>20.decimals$}");
            }
            blocks.push(block);
        }
    }
    if blocks.is_empty() {
        return "# no row has a size and a time or bandwidth\n".into();
    }
    blocks.join("\n")
}

/// The same with a last line that says whether the run is complete.
pub fn render_marked(document: &Document, done: Option<&str>) -> String {
    let mark = match done {
        None => COMPLETE.to_owned(),
        Some(done) => format!("{INCOMPLETE}{done}"),
    };
    format!("{}{mark}\n", render(document))
}

const COMPLETE: &str = "# complete";
const INCOMPLETE: &str = "# incomplete: ";

/// What the text says of the run. Several runs in one file are complete if all of them are.
pub fn extent(text: &str) -> Extent {
    let lines = || text.lines().map(str::trim);
    match lines().find_map(|line| line.strip_prefix(INCOMPLETE)) {
        Some(done) => Extent::Incomplete(done.to_owned()),
        None if lines().any(|line| line == COMPLETE) => Extent::Complete,
        None => Extent::Unknown,
    }
}

const OURS: &str = "laneway ";

/// A block has one figure a size: the time, but for the patterns with a bandwidth.
fn is_shown(chart: &Chart, all: &[Chart]) -> bool {
    let rate = ["bandwidth", "bibw", "multi-pair"].contains(&chart.op.as_str());
    let wanted = if rate { Metric::Bandwidth } else { Metric::Time };
    chart.metric == wanted || all.iter().filter(|other| other.op == chart.op).count() == 1
}

/// Whether a text has a heading as the OSU benchmarks write them.
pub fn is_osu(text: &str) -> bool {
    text.lines().any(|line| heading(line.trim()).is_some())
}

/// Whether this line is the heading of a block: if it has sizes, what its figures are, and how many
/// of our units one of theirs is.
fn heading(line: &str) -> Option<(bool, Metric, f64)> {
    let words = line.strip_prefix('#')?.trim();
    let (sized, figures) = match words.strip_prefix("Size") {
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        _ => (false, words),
    };
    // The first column of figures is the one that counts; OSU parts columns by many spaces.
    let first = figures.split("  ").next()?;
    // A barrier has no sizes, and its heading is known by the column that it begins with.
    let known = sized || ["Avg Latency(us)", "Overall(us)"].contains(&first);
    let metric = if first.contains("B/s") { Metric::Bandwidth } else { Metric::Time };
    let units = [("(ms)", 1e3), ("(s)", 1e6), ("(ns)", 1e-3), ("GB/s", 1e3), ("KB/s", 1e-3)];
    let unit = units.iter().find(|(unit, _)| first.contains(unit)).map_or(1.0, |unit| unit.1);
    known.then_some((sized, metric, unit))
}

/// The figures of every block. Lines that do not begin with a number are what a launcher said.
pub fn read(text: &str) -> Result<Vec<Record>, ReadError> {
    let mut rows = Vec::new();
    let mut title: Vec<(&'static str, Value)> = vec![("op", "unknown".into())];
    let mut block = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') {
            if let Some(found) = heading(line) {
                block = Some(found);
            } else if let Some(found) = self::title(line) {
                (title, block) = (found, None);
            }
            continue;
        }
        let Some((sized, metric, unit)) = block else { continue };
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if finite(first).is_none() {
            continue;
        }
        let figure = if sized { words.next() } else { Some(first) };
        let size = if sized { first.parse::<u64>().ok() } else { Some(0) };
        let figure = figure.and_then(finite);
        let Some((size, figure)) = size.zip(figure) else {
            let what = format!("{line:?} is not a size and a figure");
            return Err(ReadError::Line(number + 1, what));
        };
        let mut row = Record::default();
        title.iter().for_each(|(name, value)| row.push(*name, value.clone()));
        row.push("size_bytes", size.into());
        row.push(metric.column(), (figure * unit).into());
        rows.push(row);
    }
    Ok(rows)
}

/// What the first line of a block says was measured.
fn title(line: &str) -> Option<Vec<(&'static str, Value)>> {
    let words = line.strip_prefix('#')?.trim();
    if let Some(ours) = words.strip_prefix(OURS) {
        let mut parts = ours.split(", ");
        let mut values = vec![("op", Value::from(parts.next()?))];
        for (name, value) in parts.filter_map(|part| part.split_once(' ')) {
            let known = crate::figure::IDENTITY.into_iter().find(|known| *known == name);
            let whole = value.parse().map(Value::Whole);
            values.extend(known.map(|name| (name, whole.unwrap_or_else(|_| value.into()))));
        }
        return Some(values);
    }
    // "OSU MPI Broadcast Latency Test v7.3", also "OSU MPI-CUDA ..." and "OSU NCCL ..."; what is
    // one-sided names its function there: "OSU MPI_Put Latency Test".
    let (whose, test) = words.strip_prefix("OSU ")?.split_once(' ')?;
    let test = test.split(" Test").next()?.trim().to_lowercase();
    let name = operation(test.strip_prefix("managed ").unwrap_or(&test));
    let function = whose.strip_prefix("MPI_").and_then(|whose| whose.split('-').next());
    let op = match function {
        Some(function) => format!("{}_{name}", function.to_lowercase()),
        None => name,
    };
    Some(vec![("op", op.into())])
}

/// Our word for what OSU's title says in small letters.
fn operation(test: &str) -> String {
    if let Some(test) = test.strip_prefix("non-blocking ") {
        return format!("i{}", operation(test));
    }
    // Several pairs at a time are not the latency of one; of a collective it is all there is.
    let whole = test.starts_with("multi");
    let name = test.strip_suffix(" latency").filter(|_| !whole).unwrap_or(test);
    let name = name.strip_suffix(" personalized exchange").unwrap_or(name);
    match name {
        "broadcast" => "bcast".into(),
        "bi-directional bandwidth" => "bibw".into(),
        "multiple bandwidth / message rate" => "multi-pair".into(),
        name => name.replace("all-to-all", "alltoall").replace([' ', '-'], "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::document;
    use laneway_core::Row;

    fn points(text: &str) -> Vec<(String, f64, Option<f64>, Option<f64>)> {
        let rows = read(text).expect(text);
        rows.iter()
            .map(|row| {
                let op = row.op().map(crate::figure::plain).unwrap_or_default();
                let size = row.number("size_bytes").unwrap_or(-1.0);
                (op, size, row.number("time_us"), row.number("bandwidth_mb_s"))
            })
            .collect()
    }

    #[test]
    fn a_block_for_each_algorithm() {
        let text = render(&document());
        let wanted = "\
# laneway bcast, algorithm binomial, ranks 16
# Size           Avg Latency(us)
8                         2.500
1024                      20.00

# laneway bcast, algorithm linear's, ranks 16
# Size           Avg Latency(us)
8                         0.004000

# laneway stream, from 0, to 1
# Size          Bandwidth (MB/s)
1024                     512.00
";
        let squeezed = |text: &str| -> Vec<String> {
            text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!(squeezed(&text), squeezed(wanted));
        // What scripts look for: `^<size>\s+<value>`.
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            assert!(line.starts_with(|c: char| c.is_ascii_digit()), "{line}");
            assert_eq!(line.split_whitespace().filter_map(finite).count(), 2, "{line}");
        }
        let back = read(&text).expect("our own text");
        assert_eq!(back[0].get("algorithm"), Some(&"binomial".into()));
        assert_eq!((back[0].number("ranks"), back[1].number("time_us")), (Some(16.0), Some(20.0)));
        assert_eq!(back[3].number("bandwidth_mb_s"), Some(512.0));
    }

    #[test]
    fn a_choice_by_size_is_one_block() {
        let row = |algorithm: &str, size: u32, time: f64| {
            let row = Row::new().with("op", "bcast").with("algorithm", algorithm);
            row.with("ranks", 4u32).with("size_bytes", size).with("time_us", time)
        };
        let rows = vec![row("linear", 8, 1.0), row("ring", 1024, 9.0)];
        let text = render(&Document { rows, ..document() });
        let head = "# laneway bcast, ranks 4\n# algorithm linear, from size 1024 ring\n# Size ";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(text.matches("# Size").count(), 1);
        let back = read(&text).expect("our own text");
        assert_eq!((back.len(), back[1].number("ranks")), (2, Some(4.0)));
    }

    #[test]
    fn a_run_without_times_is_reported() {
        let nothing = Document { rows: vec![], ..document() };
        assert!(render(&nothing).starts_with("# no row"));
    }

    #[test]
    fn texts_of_osu() {
        let bcast = "\n# OSU MPI Broadcast Latency Test v7.3\n# Datatype: MPI_CHAR.\n\
            # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n\
            1                       1.25              0.90              1.60        1000\n\
            1048576               903.11            800.00            999.00         100\n";
        assert!(is_osu(bcast));
        let wanted = [("bcast".into(), 1.0, Some(1.25), None)];
        assert_eq!(points(bcast)[..1], wanted);
        assert_eq!(points(bcast).len(), 2);
        let bw = "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n\
            4                       9.43\n";
        assert_eq!(points(bw), [("bandwidth".into(), 4.0, None, Some(9.43))]);
        let latency = "mpirun says hello\n# OSU MPI Latency Test v5.9\n# Size      Latency (us)\n\
            0                       0.21\n[node:1] a warning\n8                       0.25\n";
        let sizes: Vec<f64> = points(latency).iter().map(|point| point.1).collect();
        assert_eq!((points(latency)[0].0.as_str(), sizes), ("latency", vec![0.0, 8.0]));
        let barrier = "# OSU MPI Barrier Latency Test v5.9\n# Avg Latency(us)\n             2.50\n";
        assert_eq!(points(barrier), [("barrier".into(), 0.0, Some(2.5), None)]);
        let rates = "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n\
            # [ pairs: 1 ] [ window size: 64 ]\n# Datatype: MPI_CHAR.\n\
            # Size                  MB/s        Messages/s\n\
            1                       2.36        2356892.44\n";
        assert_eq!(points(rates), [("multi-pair".into(), 1.0, None, Some(2.36))]);
    }

    #[test]
    fn texts_of_osu_that_do_not_block() {
        let ialltoall = "\n# OSU MPI Non-blocking All-to-All Personalized Exchange Latency Test \
            v7.3\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n\
            # Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n\
            4                       9.50              3.00              6.00             12.00\n";
        assert_eq!(points(ialltoall), [("ialltoall".into(), 4.0, Some(9.5), None)]);
        let ibarrier = "# OSU MPI Non-blocking Barrier Latency Test v7.3\n\
            # Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n\
            # Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n\
            \x20        3.90              1.80              1.70              0.00\r\n";
        assert!(is_osu(ibarrier));
        assert_eq!(points(ibarrier), [("ibarrier".into(), 0.0, Some(3.9), None)]);
    }

    #[test]
    fn titles_of_osu() {
        for (title, op) in [
            ("MPI-CUDA Latency Test v7.5", "latency"),
            ("MPI-CUDA MANAGED Latency Test v7.5", "latency"),
            ("NCCL Allreduce Latency Test v7.5", "allreduce"),
            ("MPI Multi Latency Test v5.6.3", "multi_latency"),
            ("MPI Multi-threaded Latency Test v7.3", "multi_threaded_latency"),
            ("MPI Non-Blocking Broadcast Latency Test v5.3", "ibcast"),
            ("MPI All-to-Allw Personalized Exchange Latency Test v7.3", "alltoallw"),
            ("MPI Non-blocking All-to-All Latency Test v5.3", "ialltoall"),
            ("MPI Reduce_scatter Latency Test v7.3", "reduce_scatter"),
            ("MPI Bi-Directional Bandwidth Test v7.3", "bibw"),
            ("MPI_Put Latency Test v5.8", "put_latency"),
            ("MPI_Get-CUDA Bandwidth Test v7.3", "get_bandwidth"),
            ("MPI_Put Bi-directional Bandwidth Test v5.6.3", "put_bibw"),
            ("MPI_Accumulate latency Test v7.3", "accumulate_latency"),
        ] {
            let found = title_of(title);
            assert_eq!(found.as_deref(), Some(op), "{title}");
        }
    }

    fn title_of(title: &str) -> Option<String> {
        let values = super::title(&format!("# OSU {title}"))?;
        Some(crate::figure::plain(&values[0].1))
    }

    #[test]
    fn a_line_cut_off_is_an_error() {
        let text = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8   0.25\n16\n";
        let said = read(text).expect_err("half a line").to_string();
        assert_eq!(said, "line 4: \"16\" is not a size and a figure");
        assert!(!is_osu("# Sizes of things\n8 1.0\n"));
    }

    #[test]
    fn units_are_read() {
        let text = "# OSU MPI Broadcast Latency Test v7.3\n# Size       Avg Latency(ms)\n8   0.25\n\
            # OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (GB/s)\n8   0.5\n";
        let (bcast, bandwidth) = ("bcast".to_string(), "bandwidth".to_string());
        let wanted = [(bcast, 8.0, Some(250.0), None), (bandwidth, 8.0, None, Some(500.0))];
        assert_eq!(points(text), wanted);
    }
}
