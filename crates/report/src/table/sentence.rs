//! What stands under a table, as sentences: what is common to all rows, and what they add up to.

use laneway_core::{Row, Value};

use super::{BAD, Style, cell, is_bad, paint, says_nothing};

/// What has one value in `all` of a table, by name.
pub fn same(row: &Row, all: &str, style: &Style) -> String {
    let words: Vec<String> =
        row.0.iter().map(|(name, value)| format!("{name} {}", cell(value))).collect();
    wrap(&format!("Common to all {all}: {}.", words.join(", ")), style.width) + "\n"
}

/// What the rows add up to. Counts come before what they count; other values behind their names.
pub fn summary(row: &Row, style: &Style) -> String {
    let values = row.0.iter().filter(|(_, value)| !says_nothing(value));
    let parts: Vec<String> = values.clone().map(|(name, value)| part(name, value)).collect();
    if parts.is_empty() {
        return String::new();
    }
    let text = parts.join(", ");
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    let mut text = wrap(&format!("{}{end}", capital(&text)), style.width);
    for ((name, value), part) in values.zip(&parts) {
        // What was wrapped within stays as it is.
        if BAD.contains(&name.as_ref()) && is_bad(name, value) {
            text = text.replacen(part.as_str(), &paint(part, true, style), 1);
        }
    }
    text + "\n"
}

fn part(name: &str, value: &Value) -> String {
    let words = name.replace('_', " ");
    match value {
        Value::Whole(number) if is_counted(name) => format!("{number} {words}"),
        Value::Truth(truth) => match (words.strip_prefix("is "), truth) {
            (Some(rest), true) => format!("it is {rest}"),
            (Some(rest), false) => format!("it is not {rest}"),
            (None, _) => format!("{words}: {}", cell(value)),
        },
        Value::Text(text) if text.contains(' ') => format!("{words}: {}", cell(value)),
        _ => format!("{words} {}", cell(value)),
    }
}

/// Whether a whole number under this name says how many there are, and not how large or which.
fn is_counted(name: &str) -> bool {
    let quantity = ["size", "root", "rank", "seed", "number", "degree"].contains(&name);
    !quantity && !["_bytes", "_us", "_ms", "_s", "_size"].iter().any(|unit| name.ends_with(unit))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Breaks lines between words, so that none is longer than the terminal where that can be.
pub fn wrap(text: &str, width: Option<usize>) -> String {
    width.map_or(text.to_owned(), |width| lines(text, width).join("\n"))
}

/// The lines of a text in a column of this width. A word that is longer is broken behind colons
/// and commas, as in `ring:segment=64K:window=4`, and else has a line of its own.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let long = word.chars().count() > width;
        let pieces = if long { pieces(word).collect() } else { vec![word] };
        for (i, piece) in pieces.into_iter().enumerate() {
            let gap = if i == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if line.chars().count() + gap.len() + piece.chars().count() <= width => {
                    line.push_str(gap);
                    line.push_str(piece);
                }
                _ => lines.push(piece.to_owned()),
            }
        }
    }
    lines
}

/// Where a long word may be broken.
pub fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive([':', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_a_sentence() {
        let said = |row: Row| summary(&row, &Style::default());
        let row = Row::new().with("slower", 1u32).with("only_old", 0u32);
        assert_eq!(said(row), "1 slower, 0 only old.\n");
        let row = Row::new().with("size", 4u32).with("is_shaped", true).with("gone", None::<u32>);
        assert_eq!(said(row), "Size 4, it is shaped.\n");
        let row = Row::new().with("is_shaped", false).with("worst_off", 0.25);
        assert_eq!(said(row), "It is not shaped, worst off 0.2500.\n");
        let row = Row::new().with("verdict", "all is well.").with("compared_by", "");
        assert_eq!(said(row), "Verdict: all is well.\n");
        assert_eq!(said(Row::new()), "");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", Some(7)), "one two\nthree");
        assert_eq!(wrap("endlessly long", Some(4)), "endlessly\nlong");
        assert_eq!(
            wrap("see ring:radix=4:window=8 now", Some(14)),
            "see ring:\nradix=4:\nwindow=8 now"
        );
        assert_eq!(wrap("one two three", None), "one two three");
    }
}
