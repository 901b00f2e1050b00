//! The rate of links over time: rows of `laneway.links/1`, written and read back, whether a
//! simulator or a real network carried the bytes.
//!
//! Begin with [`LinkUse`].

use std::collections::BTreeMap;

use laneway_core::{Document, Row};

use crate::figure::plain;
use crate::run::{Record, Run};

/// The verb of the documents, whose schema is `laneway.links/1`.
pub const VERB: &str = "links";

/// No rate in Mbit/s and no time in microseconds is larger.
const MOST: f64 = 1e18;

/// What a link carried in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkUse {
    /// The link as the platform calls it.
    pub link: String,
    /// `out` or `in` of a card or an uplink, `there` or `back` of another link; empty where both
    /// directions are one.
    pub direction: String,
    /// 10^6 bit/s that it can carry, where that is known.
    pub capacity_mbit: Option<f64>,
    /// By rising time.
    pub intervals: Vec<Interval>,
}

/// What was recorded in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRecord {
    /// What a reader knows it by, where there are several.
    pub name: String,
    /// By link and direction.
    pub uses: Vec<LinkUse>,
}

/// What was carried in a part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Since the run began.
    pub at_us: f64,
    /// How long the part is.
    pub length_us: f64,
    /// How much was carried in it.
    pub bytes: f64,
}

impl Interval {
    /// 10^6 bit/s on average.
    pub fn rate_mbit(&self) -> f64 {
        if self.length_us > 0.0 { self.bytes * 8.0 / self.length_us } else { 0.0 }
    }

    /// When it ends.
    pub fn end_us(&self) -> f64 {
        self.at_us + self.length_us
    }
}

impl LinkUse {
    /// All that it carried.
    pub fn bytes(&self) -> f64 {
        self.intervals.iter().map(|interval| interval.bytes).sum()
    }
}

/// A row for each link, direction and interval.
pub fn document(uses: &[LinkUse], env: Row, params: Row) -> Document {
    let rows = uses.iter().flat_map(|of| {
        of.intervals.iter().map(|interval| {
            Row::new()
                .with("link", of.link.as_str())
                .with("direction", of.direction.as_str())
                .with("at_us", interval.at_us)
                .with("length_us", interval.length_us)
                .with("bytes", interval.bytes)
                .with("rate_mbit", interval.rate_mbit())
                .with("capacity_mbit", of.capacity_mbit)
        })
    });
    Document { verb: VERB, env, params, rows: rows.collect(), summary: None }
}

/// The links of a run that was read from JSON or CSV, in the order in which they appear.
pub fn read(run: &Run) -> Result<Vec<LinkUse>, String> {
    let mut uses: Vec<LinkUse> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (number, row) in run.rows.iter().enumerate() {
        let found = interval(row).map_err(|what| format!("row {}: {what}", number + 1))?;
        let text = |name: &str| row.get(name).map(plain).unwrap_or_default();
        let (link, direction) = (text("link"), text("direction"));
        let place = *places.entry((link.clone(), direction.clone())).or_insert(uses.len());
        if place == uses.len() {
            let possible = |capacity: &f64| (0.0..MOST).contains(capacity);
            let capacity_mbit = row.number("capacity_mbit").filter(possible);
            uses.push(LinkUse { link, direction, capacity_mbit, intervals: Vec::new() });
        }
        uses[place].intervals.push(found);
    }
    for of in &mut uses {
        of.intervals.sort_by(|a, b| a.at_us.total_cmp(&b.at_us));
    }
    Ok(uses)
}

fn interval(row: &Record) -> Result<Interval, String> {
    if row.get("link").is_none() {
        return Err("it names no `link`".into());
    }
    let number = |name: &str| {
        let number = row.number(name).ok_or_else(|| format!("it has no number `{name}`"))?;
        if number < 0.0 { Err(format!("`{name}` is below 0")) } else { Ok(number) }
    };
    let (at_us, length_us) = (number("at_us")?, number("length_us")?);
    if length_us == 0.0 {
        return Err("`length_us` is 0".into());
    }
    let interval = Interval { at_us, length_us, bytes: number("bytes")? };
    match interval.rate_mbit() < MOST && interval.end_us() < MOST {
        true => Ok(interval),
        false => Err("its rate or its time is out of range".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::fixture::uses;

    #[test]
    fn what_was_written_is_read_back() {
        let document = document(&uses(), Row::new(), Row::new().with("op", "scatter"));
        assert_eq!(document.schema(), "laneway.links/1");
        assert_eq!(document.rows.len(), 9);
        for format in [Format::Json, Format::Csv] {
            let run = crate::read("f", &format.render(&document)).expect("a run");
            assert_eq!(read(&run), Ok(uses()), "{}", format.name());
        }
    }

    #[test]
    fn rates_are_millions_of_bits() {
        let interval = Interval { at_us: 0.0, length_us: 1e6, bytes: 125e6 };
        assert_eq!(interval.rate_mbit(), 1000.0);
        assert_eq!(Interval::default().rate_mbit(), 0.0);
    }

    #[test]
    fn other_rows_are_refused() {
        let why = |text: &str| {
            let run = crate::read("f", text).expect("rows");
            read(&run).expect_err(text)
        };
        assert_eq!(why("op,size_bytes\nbcast,8\n"), "row 1: it names no `link`");
        let header = "link,at_us,length_us,bytes\n";
        assert_eq!(
            why(&format!("{header}a,0,1,2\na,1,,2\n")),
            "row 2: it has no number `length_us`"
        );
        assert_eq!(why(&format!("{header}a,0,1,-2\n")), "row 1: `bytes` is below 0");
        assert_eq!(why(&format!("{header}a,0,0,2\n")), "row 1: `length_us` is 0");
        assert!(why(&format!("{header}a,0,1e-300,1e300\n")).contains("out of range"));
    }
}
