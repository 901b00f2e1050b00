//! A table for people: columns as wide as they need to be, figures to the right, words to the left.
//!
//! A command has the same columns from run to run. Columns without a value in any row are left
//! out; texts that happen to be empty, such as flags, keep their column. What was asked for
//! ([`ASKED`]) and is common to all rows stands in one line below them; what was found never does.
//! A table that is wider than the terminal has its headings folded, its long texts wrapped, or is
//! turned; nothing is cut off.

mod fit;
mod sentence;
mod turned;

use laneway_core::{Document, Row, Value};

use fit::{Cell, Grid};
pub use sentence::wrap;
pub use turned::{record, turned, turned_with};

/// How a table is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The columns of the terminal; `None` if lines may be of any length.
    pub width: Option<usize>,
    /// Whether words such as "slower" are red.
    pub colour: bool,
    /// Whether columns stay that are empty or common to all rows, as they do where a table is
    /// shown again and again.
    pub all_columns: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: Some(80), colour: false, all_columns: false }
    }
}

/// Columns that say what was asked for, and not what was found. Only these may be common to all
/// rows and stand below a table: a measured value that is equal in all rows is so by chance.
pub const ASKED: [&str; 12] = [
    "op",
    "algorithm",
    "form",
    "ranks",
    "root",
    "size_bytes",
    "timing",
    "isolation",
    "pattern",
    "platform",
    "topology",
    "model",
];

/// The rows as an aligned table for 80 columns, and the summary under it.
pub fn render(document: &Document) -> String {
    render_as(document, &Style::default())
}

/// The same in a style.
pub fn render_as(document: &Document, style: &Style) -> String {
    let rows = &document.rows;
    let names = crate::columns(document);
    let (shown, same) = worth_a_column(rows, &names, style);
    let mut parts = Vec::new();
    if !names.is_empty() {
        parts.push(grid(rows, if shown.is_empty() { names } else { shown }).fit(style));
    }
    if let (Some(first), false) = (rows.first(), same.is_empty()) {
        let kept = first.only(|name| same.contains(&name));
        parts.push(sentence::same(&kept, "rows", style));
    }
    if let Some(summary) = &document.summary {
        parts.push(sentence::summary(summary, style));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The columns that are shown, and those that are common to all rows and are printed once.
fn worth_a_column<'n>(
    rows: &[Row],
    names: &[&'n str],
    style: &Style,
) -> (Vec<&'n str>, Vec<&'n str>) {
    let (mut shown, mut same) = (names.to_vec(), Vec::new());
    if !style.all_columns {
        shown.retain(|name| !is_empty(rows, name));
        let is_common = |name: &&str| ASKED.contains(name) && is_same(rows, name);
        if rows.len() > 1 && !shown.iter().all(is_common) {
            same.extend(shown.iter().copied().filter(is_common));
            shown.retain(|name| !same.contains(name));
        }
    }
    (shown, same)
}

/// Whether no row has a value here. A text may be empty by chance: it keeps its column, unless it
/// says what was asked for.
fn is_empty(rows: &[Row], name: &str) -> bool {
    let empty = |value: &Value| match value {
        Value::Text(_) => ASKED.contains(&name) && says_nothing(value),
        value => says_nothing(value),
    };
    rows.iter().filter_map(|row| row.get(name)).all(empty)
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Nothing => true,
        Value::Text(text) => text.is_empty(),
        Value::List(numbers) => numbers.is_empty(),
        _ => false,
    }
}

fn is_same(rows: &[Row], name: &str) -> bool {
    let first = rows.first().and_then(|row| row.get(name));
    first.is_some() && rows.iter().all(|row| row.get(name) == first)
}

fn grid(rows: &[Row], names: Vec<&str>) -> Grid {
    let right = |name: &&str| {
        let mut values = rows.iter().filter_map(|row| row.get(name));
        values.all(|v| matches!(v, Value::Whole(_) | Value::Real(_) | Value::Nothing))
    };
    let of = |row: &Row, name: &str| {
        let value = row.get(name);
        let is_bad = value.is_some_and(|value| is_bad(name, value));
        Cell { text: value.map_or(String::new(), cell), is_bad }
    };
    Grid {
        right: names.iter().map(right).collect(),
        rows: rows.iter().map(|row| names.iter().map(|name| of(row, name)).collect()).collect(),
        names: names.into_iter().map(str::to_owned).collect(),
    }
}

/// Words that a person looks for: red where there is colour.
const BAD: [&str; 6] = ["slow", "slower", "error", "failed", "wrong", "missing"];

/// Whether a value is one of these words, or counts more than none of what they name.
fn is_bad(name: &str, value: &Value) -> bool {
    match value {
        Value::Text(text) => text.split(',').any(|word| BAD.contains(&word.trim())),
        Value::Whole(number) => *number > 0 && BAD.contains(&name),
        _ => false,
    }
}

/// In red, where there is colour.
fn paint(text: &str, is_bad: bool, style: &Style) -> String {
    match is_bad && style.colour && !text.is_empty() {
        true => format!("\x1b[31m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

/// Lines of cells in columns, the first line a heading.
pub fn align(lines: &[Vec<String>], right: &[bool]) -> String {
    let widths: Vec<usize> = (0..right.len())
        .map(|i| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (i, cell) in line.iter().enumerate() {
            let gap = " ".repeat(widths[i] - cell.chars().count());
            let joint = if i > 0 { "  " } else { "" };
            row += joint;
            row += &if right[i] { gap + cell } else { cell.clone() + &gap };
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}

/// A value as it stands in a table.
pub fn cell(value: &Value) -> String {
    match value {
        // A line stays a line, and a file that was read cannot control the terminal.
        Value::Text(text) => text.replace(char::is_control, " "),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => significant(*number),
        Value::Truth(true) => "yes".into(),
        Value::Truth(false) => "no".into(),
        Value::List(numbers) => format!("{} figures", numbers.len()),
        Value::Nothing => "-".into(),
    }
}

/// Four significant digits, without an exponent where a person needs none.
pub fn significant(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let magnitude = number.abs().log10().floor() as i32;
    if !(-6..=12).contains(&magnitude) {
        return format!("{number:.3e}");
    }
    format!("{number:.*}", (3 - magnitude).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(rows: Vec<Row>, summary: Option<Row>) -> Document {
        Document { verb: "t", env: Row::new(), params: Row::new(), rows, summary }
    }

    #[test]
    fn figures_stand_to_the_right() {
        let rows = vec![
            Row::new().with("op", "bcast").with("us", 1234.5),
            Row::new().with("op", "alltoall").with("us", 0.2),
        ];
        let summary = Some(Row::new().with("passed", 2u32));
        assert_eq!(
            render(&document(rows, summary)),
            "op            us\nbcast       1234\nalltoall  0.2000\n\n2 passed.\n"
        );
    }

    #[test]
    fn text_stays_in_its_cell() {
        assert_eq!(cell(&"a\x1b[2J\nb".into()), "a [2J b");
    }

    #[test]
    fn columns_do_not_depend_on_the_values_that_were_found() {
        let row = |size: u32, note: &str, ok: bool| {
            let row = Row::new().with("op", "bcast").with("root", None::<u32>);
            row.with("size", size).with("note", note).with("ok", ok)
        };
        let both = document(vec![row(8, "", false), row(16, "", false)], None);
        let wanted = "size  note  ok\n   8        no\n  16        no\n\n\
                      Common to all rows: op bcast.\n";
        assert_eq!(render(&both), wanted);
        let other = render(&document(vec![row(8, "slow", true), row(8, "", false)], None));
        let wanted = "size  note  ok\n   8  slow  yes\n   8        no\n\n\
                      Common to all rows: op bcast.\n";
        assert_eq!(other, wanted);
        // One row has nothing in common with others.
        let one = render(&document(vec![row(8, "", false)], None));
        assert_eq!(one, "op     size  note  ok\nbcast     8        no\n");
        let style = Style { all_columns: true, ..Style::default() };
        let all = render_as(&both, &style);
        assert!(
            all.starts_with("op     root  size  note  ok\nbcast     -     8        no"),
            "{all}"
        );
    }

    #[test]
    fn words_to_look_for_are_red() {
        let row = |word: &str, failed: u32| Row::new().with("verdict", word).with("failed", failed);
        let rows = vec![row("slower", 0), row("same", 2)];
        let summary = Some(Row::new().with("slower", 1u32).with("same", 1u32));
        let style = Style { colour: true, ..Style::default() };
        let (red, plain) = ("\x1b[31m", "\x1b[0m");
        let wanted = format!(
            "verdict  failed\n{red}slower{plain}        0\nsame          {red}2{plain}\n\n\
             {red}1 slower{plain}, 1 same.\n"
        );
        assert_eq!(render_as(&document(rows, summary), &style), wanted);
    }
}
