//! A table on its side: a column for each row, for few rows of very many values.

use laneway_core::{Document, Row, Value};

use super::{Style, align, cell, grid, sentence, worth_a_column};

/// The length to which headings are folded, behind a hyphen, a colon or the like.
const FOLDED: usize = 10;

/// A column for each row, headed by the row's first value, and a line for each of the others; what
/// is common to all stands below. As many columns as the terminal has room for, and the
/// others below them.
///
/// ```
/// use laneway_core::{Document, Row};
/// use laneway_report::table::{Style, turned};
///
/// let row = |name: &str, nodes: u32| Row::new().with("fabric", name).with("nodes", nodes);
/// let rows = [row("mesh:d=4", 80), row("fat-tree-3-half:d=4", 64)];
/// let rows = rows.map(|row| row.with("ranks", 8u32)).to_vec();
/// let (env, params) = (Row::new(), Row::new());
/// let document = Document { verb: "t", env, params, rows, summary: None };
/// let text = turned(&document, &Style::default());
/// let lines: Vec<&str> = text.lines().collect();
/// assert_eq!(lines[0], "                   fat-tree-");
/// assert_eq!(lines[1], "fabric  mesh:d=4  3-half:d=4");
/// assert_eq!(lines[2], "nodes         80          64");
/// assert_eq!(lines[4], "Common to all columns: ranks 8.");
/// ```
pub fn turned(document: &Document, style: &Style) -> String {
    turned_with(document, None, style)
}

/// The same with a second column, which says what each value is in: a row with a text for each
/// name. It stands again in every block of columns.
pub fn turned_with(document: &Document, units: Option<&Row>, style: &Style) -> String {
    let rows = &document.rows[..];
    let names = crate::columns(document);
    let Some((&heading, others)) = names.split_first() else { return String::new() };
    let (shown, same) = worth_a_column(rows, others, style);
    let mut parts = Vec::new();
    let mut left = rows;
    while !left.is_empty() {
        let fits = |count: &usize| {
            let text = columns(&left[..*count], units, heading, &shown);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            style.width.is_none_or(|width| widest <= width)
        };
        let count = (1..=left.len()).rev().find(fits).unwrap_or(1);
        parts.push(columns(&left[..count], units, heading, &shown));
        left = &left[count..];
    }
    if let (Some(first), false) = (rows.first(), same.is_empty()) {
        parts.push(sentence::same(&first.only(|name| same.contains(&name)), "columns", style));
    }
    parts.join("\n")
}

/// One row as lines of a name and a value, with all its names; long texts are wrapped.
pub fn record(row: &Row, style: &Style) -> String {
    let shown = row.names().fold(Row::new(), |shown, name| {
        let value = row.get(name).filter(|value| **value != Value::Text(String::new()));
        shown.with(name.to_owned(), value.cloned().unwrap_or(Value::Nothing))
    });
    grid(std::slice::from_ref(&shown), row.names().collect())
        .turn()
        .list(style.width.unwrap_or(usize::MAX), style)
}

/// These rows beside each other, behind a column of units.
fn columns(rows: &[Row], units: Option<&Row>, heading: &str, names: &[&str]) -> String {
    let rows: Vec<&Row> = units.into_iter().chain(rows).collect();
    let value = |row: &Row, name: &str| row.get(name).map_or(String::new(), cell);
    let folded: Vec<Vec<String>> = rows.iter().map(|row| fold(&value(row, heading))).collect();
    let tall = folded.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for line in 0..tall {
        let label = if line + 1 == tall { heading.to_owned() } else { String::new() };
        // Short headings stand on the ground.
        let part = |parts: &Vec<String>| {
            let at = (line + parts.len()).checked_sub(tall);
            at.map_or(String::new(), |at| parts[at].clone())
        };
        lines.push(std::iter::once(label).chain(folded.iter().map(part)).collect());
    }
    for name in names {
        let values = rows.iter().map(|row| value(row, name));
        lines.push(std::iter::once((*name).to_owned()).chain(values).collect());
    }
    let words = 1 + usize::from(units.is_some());
    let right: Vec<bool> = (0..=rows.len()).map(|column| column >= words).collect();
    align(&lines, &right)
}

fn fold(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in name.split_inclusive(['-', ':', '/', '_', '.']) {
        match parts.last_mut() {
            Some(part) if part.chars().count() + piece.chars().count() <= FOLDED => {
                part.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}
