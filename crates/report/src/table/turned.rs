//! A table on its side: a column for each row, for few rows of very many values.

use laneway_core::Document;

use super::{Style, align, cell, is_empty};

/// Headings are folded to so many letters, behind a hyphen, a colon or the like.
const FOLDED: usize = 10;

/// A column for each row, headed by the row's first value, and a line for each of the others.
/// Nothing where that is wider than the terminal.
///
/// ```
/// use laneway_core::{Document, Row};
/// use laneway_report::table::{Style, turned};
///
/// let row = |name: &str, nodes: u32| Row::new().with("fabric", name).with("nodes", nodes);
/// let rows = vec![row("mesh:d=4", 80), row("fat-tree-3-half:d=4", 64)];
/// let (env, params) = (Row::new(), Row::new());
/// let document = Document { verb: "t", env, params, rows, summary: None };
/// let text = turned(&document, &Style::default()).expect("it is narrow");
/// let lines: Vec<&str> = text.lines().collect();
/// assert_eq!(lines[0], "                   fat-tree-");
/// assert_eq!(lines[1], "fabric  mesh:d=4  3-half:d=4");
/// assert_eq!(lines[2], "nodes         80          64");
/// ```
pub fn turned(document: &Document, style: &Style) -> Option<String> {
    let rows = &document.rows;
    let names = crate::columns(document);
    let (&heading, others) = names.split_first()?;
    let value = |row: usize, name: &str| rows[row].get(name).map_or(String::new(), cell);
    let folded: Vec<Vec<String>> = (0..rows.len()).map(|at| fold(&value(at, heading))).collect();
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
    for name in others.iter().filter(|name| style.all_columns || !is_empty(rows, name)) {
        let values = (0..rows.len()).map(|at| value(at, name));
        lines.push(std::iter::once((*name).to_owned()).chain(values).collect());
    }
    let right: Vec<bool> = (0..=rows.len()).map(|column| column > 0).collect();
    let text = align(&lines, &right);
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    style.width.is_none_or(|width| widest <= width).then_some(text)
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
