//! The text of the Intel MPI Benchmarks, read.

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
    time: usize,
}

impl Columns {
    fn of(line: &str) -> Option<Columns> {
        let names: Vec<&str> = line.split_whitespace().collect();
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        place("#repetitions")?;
        // The average where ranks differ; for a ping-pong there is one time, half of a round trip.
        let time = place("t_avg[usec]").or_else(|| place("t[usec]"))?;
        Some(Columns { count: names.len(), size: place("#bytes"), time })
    }
}

/// The figures of every block. Lines that do not begin with a number are what IMB tells of itself.
pub fn read(text: &str) -> Result<Vec<Record>, ReadError> {
    let mut rows = Vec::new();
    let (mut op, mut ranks, mut columns) = (String::new(), None, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix(TITLE) {
            (op, ranks, columns) = (operation(name), None, None);
        } else if let Some(count) = line.strip_prefix("# #processes = ") {
            ranks = count.split_whitespace().next().and_then(|count| count.parse::<u32>().ok());
        } else if let Some(found) = Columns::of(line) {
            columns = Some(found);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let figures = words.first().is_some_and(|word| finite(word).is_some());
        let Some(columns) = columns.as_ref().filter(|_| figures) else { continue };
        let word =
            |place: usize| words.get(place).copied().filter(|_| words.len() == columns.count);
        let size = columns.size.map_or(Some(0), |place| word(place)?.parse::<u64>().ok());
        let Some((size, time)) = size.zip(word(columns.time).and_then(finite)) else {
            let what = format!("{line:?} does not fit its {} columns", columns.count);
            return Err(ReadError::Line(number + 1, what));
        };
        let mut row = Record::default();
        row.push("op", op.clone().into());
        row.push("ranks", ranks.into());
        row.push("size_bytes", size.into());
        row.push("time_us", time.into());
        rows.push(row);
    }
    Ok(rows)
}

/// Our word for a benchmark; a ping-pong is what OSU calls latency.
fn operation(name: &str) -> String {
    let name = name.split_whitespace().next().unwrap_or_default().to_lowercase();
    if name == "pingpong" { "latency".into() } else { name }
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
                (op, ["ranks", "size_bytes", "time_us"].map(|name| row.number(name)))
            })
            .collect();
        let row = |op: &str, ranks, size, time| (op.into(), [Some(ranks), Some(size), Some(time)]);
        let wanted = [
            row("latency", 2.0, 0.0, 0.62),
            row("latency", 2.0, 8.0, 0.65),
            row("bcast", 4.0, 8.0, 1.10),
            row("barrier", 4.0, 0.0, 0.75),
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn a_line_cut_off_is_an_error() {
        let cut = TEXT.find("1.30         1.10").expect("there");
        let said = read(&TEXT[..cut]).expect_err("half a line").to_string();
        assert_eq!(said, "line 22: \"8         1000         0.90\" does not fit its 5 columns");
    }
}
