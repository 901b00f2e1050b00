//! Tables that are too wide for a terminal: first their headings are folded at underscores, then
//! their texts are wrapped, then they are turned, and at last their columns stand in several
//! blocks.

use super::sentence::{lines, pieces};
use super::{Style, paint};

/// Texts are not wrapped into columns narrower than this.
const NARROWEST: usize = 12;
/// Words up to this length are not broken.
const LONGEST: usize = 24;
/// A table of more rows is not turned.
const MOST_TURNED: usize = 8;
const GAP: &str = "  ";

/// One cell.
#[derive(Clone, Debug)]
pub struct Cell {
    pub text: String,
    /// Whether it is red where there is colour.
    pub is_bad: bool,
}

/// Rows under their headings.
#[derive(Clone, Debug)]
pub struct Grid {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// Which columns are aligned to the right.
    pub right: Vec<bool>,
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The parts of a heading that fit into a column, broken behind underscores.
fn fold(name: &str, width: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in name.split_inclusive('_') {
        match parts.last_mut() {
            Some(part) if length(part) + length(piece) <= width => part.push_str(piece),
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

impl Grid {
    /// The table in this style.
    pub fn fit(&self, style: &Style) -> String {
        let natural: Vec<usize> =
            (0..self.names.len()).map(|i| length(&self.names[i]).max(self.widest(i))).collect();
        let Some(room) = style.width.filter(|room| total(&natural) > *room) else {
            return self.write(&natural, style);
        };
        if self.rows.len() == 1 {
            return self.turn().list(room, style);
        }
        let folded = self.fold_headings();
        if total(&folded) <= room {
            return self.write(&unfold(folded, &natural, room), style);
        }
        if let Some(wrapped) = self.wrap_texts(folded, room) {
            return self.write(&wrapped, style);
        }
        let turned = self.turn();
        let widths: Vec<usize> = (0..=self.rows.len()).map(|i| turned.widest(i)).collect();
        if self.rows.len() <= MOST_TURNED && total(&widths) <= room {
            return turned.list(room, style);
        }
        let least = self.least_widths();
        match &self.split(&least, room)[..] {
            // No column can stand apart from the others, and nothing more can be done.
            [] | [_] => self.write(&least, style),
            blocks => blocks.iter().map(|block| block.fit(style)).collect::<Vec<_>>().join("\n"),
        }
    }

    fn widest(&self, column: usize) -> usize {
        self.rows.iter().map(|row| length(&row[column].text)).max().unwrap_or(0)
    }

    /// Widths in which a heading is only as wide as it must be.
    fn fold_headings(&self) -> Vec<usize> {
        let piece = |name: &String| name.split_inclusive('_').map(length).max().unwrap_or(0);
        self.names.iter().enumerate().map(|(i, name)| piece(name).max(self.widest(i))).collect()
    }

    /// Widths in which columns of text are narrower, the widest first; `None` if that is not
    /// enough.
    fn wrap_texts(&self, mut widths: Vec<usize>, room: usize) -> Option<Vec<usize>> {
        let least: Vec<usize> = (0..self.names.len()).map(|i| self.narrowest(i)).collect();
        while total(&widths) > room {
            let over = total(&widths) - room;
            let shrinks = |i: &usize| !self.right[*i] && widths[*i] > least[*i];
            let widest = (0..widths.len()).filter(shrinks).max_by_key(|i| widths[*i])?;
            widths[widest] = widths[widest].saturating_sub(over).max(least[widest]);
        }
        Some(widths)
    }

    /// What a column needs at least where its texts are wrapped.
    fn narrowest(&self, column: usize) -> usize {
        let words = self.rows.iter().flat_map(|row| row[column].text.split(' '));
        let least = |word: &str| match length(word) > LONGEST {
            true => pieces(word).map(length).max().unwrap_or(0),
            false => length(word),
        };
        let heading = self.names[column].split_inclusive('_').map(length);
        let piece = words.map(least).chain(heading).max().unwrap_or(0);
        piece.max(NARROWEST.min(self.widest(column)))
    }

    /// What the columns need at least.
    fn least_widths(&self) -> Vec<usize> {
        let least = |(i, folded): (usize, usize)| match self.right[i] {
            true => folded,
            false => self.narrowest(i),
        };
        self.fold_headings().into_iter().enumerate().map(least).collect()
    }

    /// The same with a line for each column.
    pub(super) fn turn(&self) -> Grid {
        let line = |i: usize| {
            let name = Cell { text: self.names[i].clone(), is_bad: false };
            std::iter::once(name).chain(self.rows.iter().map(|row| row[i].clone())).collect()
        };
        let count = self.rows.len() + 1;
        Grid {
            names: vec![String::new(); count],
            rows: (0..self.names.len()).map(line).collect(),
            right: (0..count).map(|i| i > 0 && count > 2).collect(),
        }
    }

    /// A turned table, which has no headings.
    pub(super) fn list(&self, room: usize, style: &Style) -> String {
        let widths: Vec<usize> = (0..self.names.len()).map(|i| self.widest(i)).collect();
        let widths = self.wrap_texts(widths.clone(), room).unwrap_or(widths);
        self.lines(&widths, style)
    }

    /// Several tables of fewer columns. Each begins with the columns that say which row it is.
    fn split(&self, widths: &[usize], room: usize) -> Vec<Grid> {
        let fits = |keys: &usize| total(&widths[..*keys]) <= room / 2;
        let keys = (1..=self.count_keys()).rev().find(fits).unwrap_or(1);
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for column in keys..widths.len() {
            let with = |block: &Vec<usize>| {
                let columns = (0..keys).chain(block.iter().copied()).chain([column]);
                total(&columns.map(|i| widths[i]).collect::<Vec<_>>())
            };
            match blocks.last_mut() {
                Some(block) if with(block) <= room => block.push(column),
                _ => blocks.push(vec![column]),
            }
        }
        let block = |columns: &Vec<usize>| self.only((0..keys).chain(columns.iter().copied()));
        blocks.iter().map(block).collect()
    }

    /// How many columns, from the first on, distinguish every row from the others.
    fn count_keys(&self) -> usize {
        let differ = |keys: &usize| {
            let mut rows: Vec<Vec<&str>> = self
                .rows
                .iter()
                .map(|row| row[..*keys].iter().map(|cell| cell.text.as_str()).collect())
                .collect();
            rows.sort();
            rows.dedup();
            rows.len() == self.rows.len()
        };
        (1..self.names.len()).find(differ).unwrap_or(1)
    }

    fn only(&self, columns: impl Iterator<Item = usize>) -> Grid {
        let columns: Vec<usize> = columns.collect();
        let row = |row: &Vec<Cell>| columns.iter().map(|&i| row[i].clone()).collect();
        Grid {
            names: columns.iter().map(|&i| self.names[i].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
            right: columns.iter().map(|&i| self.right[i]).collect(),
        }
    }

    fn write(&self, widths: &[usize], style: &Style) -> String {
        let folded: Vec<Vec<String>> =
            self.names.iter().zip(widths).map(|(name, width)| fold(name, *width)).collect();
        let height = folded.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for line in 0..height {
            // Headings stand on the row below them.
            let part = |parts: &Vec<String>| {
                let first = height - parts.len();
                line.checked_sub(first).map_or(String::new(), |at| parts[at].clone())
            };
            let cells: Vec<(String, bool)> =
                folded.iter().map(|parts| (part(parts), false)).collect();
            text += &self.line(&cells, widths, style);
        }
        text + &self.lines(widths, style)
    }

    fn lines(&self, widths: &[usize], style: &Style) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let wrapped: Vec<Vec<String>> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| match length(&cell.text) > *width {
                    true => lines(&cell.text, *width),
                    false => vec![cell.text.clone()],
                })
                .collect();
            let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..height {
                let part = |(parts, cell): (&Vec<String>, &Cell)| {
                    (parts.get(line).cloned().unwrap_or_default(), cell.is_bad)
                };
                let cells: Vec<(String, bool)> = wrapped.iter().zip(row).map(part).collect();
                text += &self.line(&cells, widths, style);
            }
        }
        text
    }

    fn line(&self, cells: &[(String, bool)], widths: &[usize], style: &Style) -> String {
        let mut line = String::new();
        for (i, (cell, is_bad)) in cells.iter().enumerate() {
            let gap = " ".repeat(widths[i].saturating_sub(length(cell)));
            let cell = paint(cell, *is_bad, style);
            line += if i > 0 { GAP } else { "" };
            line += &if self.right[i] { gap + &cell } else { cell + &gap };
        }
        line.trim_end().to_owned() + "\n"
    }
}

/// Gives headings the room that is left, as far as it goes.
fn unfold(mut widths: Vec<usize>, natural: &[usize], room: usize) -> Vec<usize> {
    for (i, wanted) in natural.iter().enumerate() {
        if total(&widths) + wanted - widths[i] <= room {
            widths[i] = *wanted;
        }
    }
    widths
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(names: &[&str], rows: &[&[&str]], right: &[bool]) -> Grid {
        let cell = |text: &&str| Cell { text: (*text).to_owned(), is_bad: false };
        Grid {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
            right: right.to_vec(),
        }
    }

    fn within(width: usize) -> Style {
        Style { width: Some(width), ..Style::default() }
    }

    #[test]
    fn headings_are_folded_before_texts_are_wrapped() {
        let rows: [&[&str]; 2] = [&["ring", "8", "a few words"], &["linear", "16", "more of them"]];
        let grid = grid(&["op", "size_bytes", "note"], &rows, &[false, true, false]);
        let wide = "op      size_bytes  note\nring             8  a few words\n\
                    linear          16  more of them\n";
        assert_eq!(grid.fit(&within(80)), wide);
        assert_eq!(grid.fit(&Style { width: None, ..within(0) }), wide);
        let folded = "        size_\nop      bytes  note\nring        8  a few words\n\
                      linear     16  more of them\n";
        assert_eq!(grid.fit(&within(27)), folded);
    }

    #[test]
    fn texts_are_wrapped_within_their_column() {
        let rows: [&[&str]; 2] =
            [&["ring", "a sentence that does not fit here"], &["linear", "none"]];
        let grid = grid(&["op", "note"], &rows, &[false, false]);
        let wanted = "op      note\nring    a sentence that\n        does not fit here\n\
                      linear  none\n";
        assert_eq!(grid.fit(&within(25)), wanted);
    }

    #[test]
    fn one_row_that_is_too_wide_is_a_list() {
        let grid = grid(&["name", "cost"], &[&["fat-tree", "12.5"]], &[false, true]);
        assert_eq!(grid.fit(&within(8)), "name  fat-tree\ncost  12.5\n");
    }

    #[test]
    fn many_columns_stand_in_blocks_and_nothing_is_lost() {
        let names: Vec<String> = (0..12).map(|i| format!("column{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let row: Vec<&str> = vec!["figure"; 12];
        let rows: Vec<&[&str]> = vec![&row; 20];
        let mut right = vec![true; 12];
        right[0] = false;
        let text = grid(&names, &rows, &right).fit(&within(40));
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        // Each block begins with the first column.
        assert_eq!(text.matches("column0 ").count(), text.split("\n\n").count(), "{text}");
        // Where nothing helps, lines are as long as they must be.
        assert!(grid(&names, &rows, &right).fit(&within(1)).contains("column11"));
    }

    #[test]
    fn few_rows_are_turned() {
        let names: Vec<String> = (0..9).map(|i| format!("column{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let row: Vec<&str> = vec!["12345678"; 9];
        let text = grid(&names, &[&row, &row], &[true; 9]).fit(&within(30));
        assert_eq!(text.lines().count(), 9);
        assert!(text.starts_with("column0  12345678  12345678\n"), "{text}");
    }
}
