//! All launches of a point are timed by one method: the first launch finds out whether ranks can
//! begin at agreed instants, and the others use its result.

use clap::{Arg, ArgMatches};
use laneway_core::Value;
use laneway_measure::sweep::{Decided, point_key};
use laneway_report::{Record, Run};

/// An option between a run and its launches.
pub const OPTION: &str = "fallen-back";

pub fn arg() -> Arg {
    Arg::new(OPTION).long(OPTION).value_name("POINTS").hide(true)
}

/// What the first launch has decided, if this is a later one.
pub fn from_args(matches: &ArgMatches) -> Decided {
    let text = matches.get_one::<String>(OPTION);
    Decided(text.map(|text| text.split(',').map(str::to_string).collect()))
}

/// What the first launch has decided, as a value of the option; `None` if it was not asked to.
pub fn of_first(first: &Run) -> Option<String> {
    let text = |record: &Record, name: &str| match record.get(name) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let number = |record: &Record, name: &str| record.number(name).unwrap_or(0.0) as u64;
    let by_start_time = |record: &&Record| text(record, "timing").starts_with("start-time");
    let fallen = |record: &&Record| text(record, "timing").contains('>');
    let key = |record: &Record| {
        let [op, algorithm, form] = ["op", "algorithm", "form"].map(|name| text(record, name));
        let ranks = number(record, "ranks") as u32;
        point_key(&op, &algorithm, &form, ranks, number(record, "size_bytes"))
    };
    first.rows.iter().find(by_start_time)?;
    let all: Vec<String> = first.rows.iter().filter(fallen).map(key).collect();
    Some(all.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Row;
    use laneway_measure::Timing;

    fn run(timings: &[(&str, u64)]) -> Run {
        let record = |&(timing, size): &(&str, u64)| {
            let row = Row::new().with("op", "bcast").with("algorithm", "linear");
            let row = row.with("form", "blocking").with("ranks", 4u32).with("size_bytes", size);
            let mut record = Record::default();
            let fields = row.with("timing", timing).0;
            fields.into_iter().for_each(|(name, value)| record.push(name, value));
            record
        };
        Run { rows: timings.iter().map(record).collect(), ..Run::default() }
    }

    #[test]
    fn later_launches_follow_the_first() {
        let first = run(&[("start-time>maximum", 8), ("start-time", 1024)]);
        let words = of_first(&first).expect("decided");
        assert_eq!(words, "bcast/linear/blocking/4/8");
        let decided = Decided(Some(vec![words]));
        let name = |size| decided.timing(&point_key("bcast", "linear", "blocking", 4, size)).name();
        assert_eq!([name(8), name(1024)], ["start-time>maximum", "start-time"]);
        assert_eq!(of_first(&run(&[("start-time", 8)])), Some(String::new()));
        assert_eq!(of_first(&run(&[("root", 8)])), None);
    }
}
