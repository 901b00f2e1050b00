//! The text of the Intel MPI Benchmarks, read.

use crate::figure::Metric;
use crate::run::{ReadError, Record, finite};

pub fn is_imb(text: &str) -> bool {
    text.lines().any(|line| line.trim().starts_with(TITLE))
}

const TITLE: &str = "# Benchmarking ";

/// The columns of a block, as their places in a line.
struct Columns {
    count: usize,
    /// A barrier has no sizes.
    size: Option<usize>,
    /// Of several groups that run at the same time each has its line.
    group: Option<usize>,
    figure: usize,
    metric: Metric,
}

impl Columns {
    fn of(line: &str) -> Option<Columns> {
        let names: Vec<&str> = line.split_whitespace().collect();
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        place("#repetitions")?;
        // The average where ranks differ; for a ping-pong there is one time, half of a round trip;
        // what does not block has the time that it takes with computation beside it.
        let times = ["t_avg[usec]", "t[usec]", "t_ovrl[usec]"];
        let time = times.into_iter().find_map(place).map(|place| (place, Metric::Time));
        let rate = || place("Mbytes/sec").map(|place| (place, Metric::Bandwidth));
        let (figure, metric) = time.or_else(rate)?;
        let (size, group) = (place("#bytes"), place("Group"));
        Some(Columns { count: names.len(), size, group, figure, metric })
    }
}

/// What IMB says after a size that it could not measure.
const FAILED: [&str; 3] = ["out-of-mem.;", "int-overflow.;", "time-out.;"];

/// The figures of every block. Lines that do not begin with a number are IMB's remarks.
pub fn read(text: &str) -> Result<Vec<Record>, ReadError> {
    let mut rows = Vec::new();
    let (mut op, mut ranks, mut columns) = (String::new(), None, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix(TITLE) {
            (op, ranks, columns) = (operation(name), None, None);
        } else if let Some(found) = processes(line) {
            ranks = Some(found);
        } else if let Some(found) = Columns::of(line) {
            columns = Some(found);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let figures = words.first().is_some_and(|word| finite(word).is_some());
        let failed = words.iter().any(|word| FAILED.contains(word));
        let Some(columns) = columns.as_ref().filter(|_| figures && !failed) else { continue };
        let word =
            |place: usize| words.get(place).copied().filter(|_| words.len() == columns.count);
        let size = columns.size.map_or(Some(0), |place| word(place)?.parse::<u64>().ok());
        let Some((size, figure)) = size.zip(word(columns.figure).and_then(finite)) else {
            let what = format!("{line:?} does not fit its {} columns", columns.count);
            return Err(ReadError::Line(number + 1, what));
        };
        let mut row = Record::default();
        let group = columns.group.and_then(word).map(|group| format!("{op} group {group}"));
        row.push("op", group.unwrap_or_else(|| op.clone()).into());
        row.push("ranks", ranks.into());
        row.push("size_bytes", size.into());
        row.push(columns.metric.column(), figure.into());
        rows.push(row);
    }
    Ok(rows)
}

/// How many processes a block says that it has, or each of its groups.
fn processes(line: &str) -> Option<u32> {
    let digits = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    match line.strip_prefix("# #processes = ") {
        Some(count) => digits(count),
        None => {
            let (groups, count) = line.strip_prefix("# ( ")?.split_once(" groups of ")?;
            groups.parse::<u32>().ok().and_then(|_| digits(count))
        }
    }
}

/// Our word for a benchmark: a ping-pong is what OSU calls latency, streams are its bandwidths.
fn operation(name: &str) -> String {
    let name = name.split_whitespace().next().unwrap_or_default().to_lowercase();
    match name.as_str() {
        "pingpong" => "latency".into(),
        "uniband" => "bandwidth".into(),
        "biband" => "bibw".into(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
#----------------------------------------------------------------
# List of Benchmarks to run:
# PingPong
# Bcast

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.62         0.00
            8         1000         0.65        12.31

#----------------------------------------------------------------
# Benchmarking Bcast
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.90         1.30         1.10

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.70         0.80         0.75

#---------------------------------------------------
# Benchmarking Uniband
# #processes = 4; rank order (rowwise):
#     0    1
#
#     2    3
#
#---------------------------------------------------
       #bytes #repetitions   Mbytes/sec      Msg/sec
         1024         1000       812.50       793457

#----------------------------------------------------------------
# Benchmarking Multi-Alltoall
# ( 2 groups of 2 processes each running simultaneous )
# Group  0:     0    1
# Group  1:     2    3
#----------------------------------------------------------------
        Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0            8         1000         1.00         1.20         1.10
            1            8         1000         2.00         2.20         2.10
            0      4194304 out-of-mem.; needed X=   2.063 GB; use flag \"-mem X\" (IMB_mem_info.h)

#-----------------------------------------------------------------------
# Benchmarking Ibcast
# #processes = 4
#-----------------------------------------------------------------------
       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
            8         1000        12.00         7.00         6.00        14.00
      4194304 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use \"-time X\"

# All processes entering MPI_Finalize
";

    #[test]
    fn every_block_is_read() {
        assert!(is_imb(TEXT));
        let rows = read(TEXT).expect("IMB");
        let seen: Vec<(String, [Option<f64>; 3])> = rows
            .iter()
            .map(|row| {
                let op = row.op().map(crate::figure::plain).unwrap_or_default();
                let figure = row.number("time_us").or(row.number("bandwidth_mb_s"));
                (op, [row.number("ranks"), row.number("size_bytes"), figure])
            })
            .collect();
        let row = |op: &str, ranks, size, time| (op.into(), [Some(ranks), Some(size), Some(time)]);
        let wanted = [
            row("latency", 2.0, 0.0, 0.62),
            row("latency", 2.0, 8.0, 0.65),
            row("bcast", 4.0, 8.0, 1.10),
            row("barrier", 4.0, 0.0, 0.75),
            row("bandwidth", 4.0, 1024.0, 812.5),
            row("multi-alltoall group 0", 2.0, 8.0, 1.1),
            row("multi-alltoall group 1", 2.0, 8.0, 2.1),
            row("ibcast", 4.0, 8.0, 12.0),
        ];
        assert_eq!(seen, wanted);
        assert_eq!(rows[4].number("bandwidth_mb_s"), Some(812.5));
    }

    #[test]
    fn a_line_cut_off_is_an_error() {
        let cut = TEXT.find("1.30         1.10").expect("there");
        let said = read(&TEXT[..cut]).expect_err("half a line").to_string();
        assert_eq!(said, "line 22: \"8         1000         0.90\" does not fit its 5 columns");
    }
}
