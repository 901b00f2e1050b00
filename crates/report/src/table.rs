//! A table for people: columns as wide as they need to be, figures to the right, words to the left.

use laneway_core::{Document, Value};

/// The rows as an aligned table, and the summary under it.
pub fn render(document: &Document) -> String {
    let mut text = String::new();
    let names = crate::columns(document);
    if !names.is_empty() {
        let right: Vec<bool> = names
            .iter()
            .map(|name| {
                let mut values = document.rows.iter().filter_map(|row| row.get(name));
                values.all(|v| matches!(v, Value::Whole(_) | Value::Real(_) | Value::Nothing))
            })
            .collect();
        let mut lines = vec![names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
        for row in &document.rows {
            lines
                .push(names.iter().map(|name| row.get(name).map_or(String::new(), cell)).collect());
        }
        text += &align(&lines, &right);
    }
    if let Some(summary) = &document.summary {
        let parts: Vec<String> =
            summary.0.iter().map(|(name, value)| format!("{} {name}", cell(value))).collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text += &(parts.join(", ") + "\n");
    }
    text
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
        // A line stays a line, and a terminal is told nothing by a file that was read.
        Value::Text(text) => text.replace(char::is_control, " "),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => significant(*number),
        Value::Truth(true) => "yes".into(),
        Value::Truth(false) => "NO".into(),
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
    use laneway_core::Row;

    #[test]
    fn figures_stand_to_the_right() {
        let rows = vec![
            Row::new().with("op", "bcast").with("us", 1234.5),
            Row::new().with("op", "alltoall").with("us", 0.2),
        ];
        let none = Row::new();
        let summary = Some(Row::new().with("passed", 2u32));
        let document = Document { verb: "t", env: none.clone(), params: none, rows, summary };
        assert_eq!(
            render(&document),
            "op            us\nbcast       1234\nalltoall  0.2000\n\n2 passed\n"
        );
    }

    #[test]
    fn text_stays_in_its_cell() {
        assert_eq!(cell(&"a\x1b[2J\nb".into()), "a [2J b");
    }
}
