//! The parameters of a model for people: of all pairs the median, and those that are far from it.

use laneway_core::{Row, Value};

use crate::model::Fitted;

/// The number of hosts up to which pairs are listed one by one.
const FEW_HOSTS: usize = 3;
/// How far from the median a value of a pair is listed, beyond its interval.
const FAR: f64 = 0.2;
/// The largest number of far values that are listed, the farthest.
const MOST_LISTED: usize = 20;

/// What a screen shows of a model's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// Parameters of hosts; of pairs the median with the least and the most, then the values that
    /// are far from it.
    pub rows: Vec<Row>,
    /// What is left out, as a sentence; `None` if all is shown.
    pub left_out: Option<String>,
}

/// A value of a pair.
struct OfPair<'r> {
    row: &'r Row,
    value: f64,
    low: f64,
    high: f64,
}

impl Fitted {
    /// The rows for a screen: [`Fitted::rows`] grow with the square of the hosts.
    pub fn brief_rows(&self) -> Brief {
        brief(self.rows(), self.hosts.len())
    }
}

fn brief(rows: Vec<Row>, hosts: usize) -> Brief {
    let has_pairs = rows.iter().any(|row| pair_kind(row).is_some());
    if hosts <= FEW_HOSTS || !has_pairs {
        return Brief { rows, left_out: None };
    }
    let mut kinds: Vec<(Value, String)> = Vec::new();
    let (mut shown, mut far) = (Vec::new(), 0);
    let count = rows.iter().filter(|row| pair_kind(row).is_some()).count();
    for row in &rows {
        match pair_kind(row) {
            None => shown.push(with_range(row, None)),
            Some(kind) if kinds.contains(&kind) => {}
            Some(kind) => {
                let own = |row: &&Row| pair_kind(row).as_ref() == Some(&kind);
                let own: Vec<OfPair> = rows.iter().filter(own).filter_map(of_pair).collect();
                far += summarise(&kind.1, &own, &mut shown);
                kinds.push(kind);
            }
        }
    }
    let percent = 100.0 * FAR;
    let listed = match far {
        0 => format!("none differs from it by more than {percent} %"),
        1 => format!("1 differs from it by more than {percent} % and is listed"),
        far if far > MOST_LISTED => {
            format!("{far} differ from it by more than {percent} %, the farthest are listed")
        }
        far => format!("{far} differ from it by more than {percent} % and are listed"),
    };
    let left_out = format!("Of {count} values of pairs the median is shown; {listed}.");
    Brief { rows: shown, left_out: Some(left_out) }
}

/// The parameter and the rest of `0-1 eager`, where a row is of a pair.
fn pair_kind(row: &Row) -> Option<(Value, String)> {
    let Some(Value::Text(of)) = row.get("of") else { return None };
    let (pair, rest) = of.split_once(' ').unwrap_or((of, ""));
    let (from, to) = pair.split_once('-')?;
    let is_rank = |word: &str| word.parse::<u32>().is_ok();
    let parameter = row.get("parameter")?.clone();
    (is_rank(from) && is_rank(to)).then(|| (parameter, rest.to_string()))
}

fn of_pair(row: &Row) -> Option<OfPair<'_>> {
    let number = |name: &str| match row.get(name)? {
        Value::Real(number) => Some(*number),
        Value::Whole(number) => Some(*number as f64),
        _ => None,
    };
    let (value, low, high) = (number("value")?, number("ci_low")?, number("ci_high")?);
    Some(OfPair { row, value, low, high })
}

/// Adds the line of all pairs and those of the pairs that are far; how many these are.
fn summarise(rest: &str, own: &[OfPair], shown: &mut Vec<Row>) -> usize {
    let mut values: Vec<f64> = own.iter().map(|one| one.value).collect();
    values.sort_by(f64::total_cmp);
    let (Some(first), Some((least, most))) = (own.first(), values.first().zip(values.last()))
    else {
        return 0;
    };
    let median = values[values.len() / 2];
    let all = format!("all {} {rest}", own.len());
    let mut line = Row::new();
    for (name, value) in &first.row.0 {
        let value = match name.as_ref() {
            "of" => all.trim_end().into(),
            "value" => median.into(),
            "ci_low" | "ci_high" => Value::Nothing,
            _ => value.clone(),
        };
        line = line.with(name.clone(), value);
    }
    shown.push(with_range(&line, Some([*least, *most])));
    let ends = [median - FAR * median.abs(), median + FAR * median.abs()];
    let mut far: Vec<&OfPair> =
        own.iter().filter(|one| one.high < ends[0] || one.low > ends[1]).collect();
    far.sort_by(|a, b| (b.value - median).abs().total_cmp(&(a.value - median).abs()));
    shown.extend(far.iter().take(MOST_LISTED).map(|one| with_range(one.row, None)));
    far.len()
}

/// A row with the least and the most of all pairs before its unit.
fn with_range(row: &Row, range: Option<[f64; 2]>) -> Row {
    let mut wide = row.only(|name| name != "unit");
    let [least, most] =
        range.map_or([Value::Nothing, Value::Nothing], |ends| ends.map(Value::from));
    wide = wide.with("least", least).with("most", most);
    wide.with("unit", row.get("unit").cloned().unwrap_or(Value::Nothing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, of: &str, value: f64) -> Row {
        let row = Row::new().with("parameter", name).with("of", of).with("value", value);
        row.with("ci_low", value - 0.1).with("ci_high", value + 0.1).with("unit", "us")
    }

    #[test]
    fn of_pairs_the_median_and_what_is_far_is_shown() {
        let mut rows = vec![row("C_send", "0", 1.0)];
        let pairs = (0..6u32).flat_map(|i| (i + 1..6).map(move |j| (i, j)));
        for (i, j) in pairs {
            let value = if (i, j) == (2, 4) { 90.0 } else { 50.0 };
            rows.push(row("L", &format!("{i}-{j}"), value));
        }
        let brief = brief(rows.clone(), 6);
        let of: Vec<Option<&Value>> = brief.rows.iter().map(|row| row.get("of")).collect();
        assert_eq!(of, [Some(&"0".into()), Some(&"all 15".into()), Some(&"2-4".into())]);
        assert_eq!(brief.rows[1].get("value"), Some(&50.0.into()));
        assert_eq!(brief.rows[1].get("most"), Some(&90.0.into()));
        let wanted = "Of 15 values of pairs the median is shown; 1 differs from it by more than \
                      20 % and is listed.";
        assert_eq!(brief.left_out.as_deref(), Some(wanted));
        // Few hosts have few pairs.
        assert_eq!(super::brief(rows.clone(), 3).rows, rows);
    }
}
