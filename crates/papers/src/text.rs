//! A part for people: headings, commands, tables and remarks, no wider than the terminal.

use laneway_report::table::{Style, align, wrap};

use crate::Claim;
use crate::part::{Curve, Part, brief};

/// Lines of a table of curves at most; programs get all points.
const SHOWN: usize = 20;
/// The lengths to which labels of curves are folded, the first that suffices.
const FOLDED: [usize; 4] = [usize::MAX, 24, 16, 12];
/// Between the columns of a table.
const GAP: usize = 2;

impl Part {
    /// The same for people, for 80 columns: the claims, and a table of the curves for each
    /// operation.
    pub fn text(&self) -> String {
        self.text_as(&Style::default())
    }

    /// The same in a style.
    pub fn text_as(&self, style: &Style) -> String {
        let commands = self.commands.iter().map(|line| command(line, style.width));
        let heading = wrap(self.heading, style.width) + "\n" + &commands.collect::<String>();
        let mut sections = vec![heading, claims(&self.claims, style.width)];
        let missing = self.missing.iter().map(|what| format!("Not measured: {what}."));
        let sentences = self.remarks.iter().cloned().chain(missing);
        sections.extend(sentences.map(|sentence| wrap(&sentence, style.width) + "\n"));
        for op in self.operations() {
            let unit = self.axes.unit.map_or(String::new(), |unit| format!(", {unit}"));
            let title = wrap(&format!("{op}{unit}"), style.width);
            sections.push(format!("{title}\n{}", self.curves_of(op, style.width)));
        }
        sections.retain(|section| !section.is_empty());
        sections.join("\n")
    }

    /// A line for each place, a column for each curve.
    fn curves_of(&self, op: &str, width: Option<usize>) -> String {
        let curves: Vec<&Curve> = self.curves.iter().filter(|curve| curve.op == op).collect();
        let Some(first) = curves.first() else { return String::new() };
        // Counts and numbers of nodes are whole.
        let whole =
            curves.iter().flat_map(|curve| &curve.points).all(|point| point.1.fract() == 0.0);
        let format = |figure: f64| if whole { format!("{figure}") } else { brief(figure) };
        let every = first.points.len().div_ceil(SHOWN).max(1);
        let places: Vec<u64> = first.points.iter().step_by(every).map(|point| point.0).collect();
        let cell = |curve: &Curve, at: u64| {
            let place = curve.points.iter().position(|(other, _)| *other == at);
            let Some(place) = place else { return String::new() };
            let figure = format(curve.points[place].1);
            match curve.intervals.get(place) {
                Some((low, high)) => format!("{figure} ({} to {})", format(*low), format(*high)),
                None => figure,
            }
        };
        let heading = if self.axes.across == "size_bytes" { "size" } else { "" };
        let cells = places.iter().map(|at| self.axes.place(*at)).collect();
        let mut columns = vec![Column { label: heading, cells }];
        columns.extend(curves.iter().map(|curve| {
            let cells = places.iter().map(|at| cell(curve, *at)).collect();
            Column { label: &curve.label, cells }
        }));
        side_by_side(&columns, width)
    }
}

/// A command that can still be copied: where it is too wide, it goes on after a backslash.
fn command(line: &str, width: Option<usize>) -> String {
    const AROUND: usize = "      ".len() + " \\".len();
    // A shell would take the parts of a broken word for several.
    let longest = line.split(' ').map(length).max().unwrap_or(0);
    let room = width.map(|width| match length(line) + 2 <= width {
        true => width,
        false => width.saturating_sub(AROUND).max(longest),
    });
    format!("  {}\n", wrap(line, room).replace('\n', " \\\n      "))
}

/// A line for each claim, or as few as there is room for: the writer of all tables takes what is
/// missing from one column of texts, and here are two that are long.
fn claims(claims: &[Claim], width: Option<usize>) -> String {
    const RIGHT: [bool; 5] = [false, true, true, true, false];
    let cells: Vec<Vec<String>> = claims.iter().map(Claim::cells).collect();
    let says = |i: &usize| cells.iter().any(|cells| !cells[*i].is_empty());
    let shown: Vec<usize> = (0..RIGHT.len()).filter(says).collect();
    let heading = ["what", "paper", "ours", "ratio", "verdict"].map(str::to_owned).to_vec();
    let lines: Vec<Vec<String>> = std::iter::once(heading).chain(cells.clone()).collect();
    let widest = |i: usize| lines.iter().map(|line| length(&line[i])).max().unwrap_or(0);
    let figures: usize = shown.iter().filter(|i| RIGHT[**i]).map(|i| widest(*i)).sum();
    let gaps = GAP * shown.len().saturating_sub(1);
    let room = width.unwrap_or(usize::MAX).saturating_sub(figures + gaps);
    let texts: Vec<(&str, &str)> =
        cells.iter().map(|cells| (cells[0].as_str(), cells[RIGHT.len() - 1].as_str())).collect();
    let (what, verdict) = divided(&texts, room);
    let mut all = Vec::new();
    for mut line in lines {
        let last = line.len() - 1;
        let wrapped = |text: &str, width| wrap(text, Some(width));
        (line[0], line[last]) = (wrapped(&line[0], what), wrapped(&line[last], verdict));
        let split: Vec<Vec<&str>> = shown.iter().map(|i| line[*i].split('\n').collect()).collect();
        let tall = split.iter().map(Vec::len).max().unwrap_or(0);
        let part = |at: usize| -> Vec<String> {
            split.iter().map(|parts| parts.get(at).copied().unwrap_or_default().into()).collect()
        };
        all.extend((0..tall).map(part));
    }
    let right: Vec<bool> = shown.iter().map(|i| RIGHT[*i]).collect();
    if claims.is_empty() { String::new() } else { align(&all, &right) }
}

/// How wide two columns of texts are that share the room, so that lines are fewest.
fn divided(texts: &[(&str, &str)], room: usize) -> (usize, usize) {
    let longest = |text: &str| text.split(' ').map(length).max().unwrap_or(0);
    let most = |of: &dyn Fn(&(&str, &str)) -> usize| texts.iter().map(of).max().unwrap_or(0);
    let whole = (most(&|(a, _)| length(a)), most(&|(_, b)| length(b)));
    if whole.0.saturating_add(whole.1) <= room {
        return whole;
    }
    let least = (most(&|(a, _)| longest(a)), most(&|(_, b)| longest(b)));
    let height = |text: &str, width: usize| wrap(text, Some(width)).split('\n').count();
    let lines = |first: &usize| -> usize {
        texts.iter().map(|(a, b)| height(a, *first).max(height(b, room - *first))).sum()
    };
    let widths = least.0..=room.saturating_sub(least.1).min(whole.0);
    // Where even single words have no room, lines are as long as they must be.
    widths.min_by_key(lines).map_or(least, |first| (first, room - first))
}

/// One curve of a table, or the places of its points.
struct Column<'a> {
    label: &'a str,
    cells: Vec<String>,
}

impl Column<'_> {
    /// As wide as its cells and the words of its label, and `folded` where the label is longer.
    fn width(&self, folded: usize) -> usize {
        let words = self.label.split(' ').map(length);
        let least = self.cells.iter().map(|cell| length(cell)).chain(words).max().unwrap_or(0);
        length(self.label).min(folded).max(least)
    }
}

/// Columns under labels that are folded between words, as the writer of all tables folds names at
/// underscores alone. Those for which there is no room stand below, beside the first one again.
fn side_by_side(columns: &[Column], width: Option<usize>) -> String {
    let Some((first, others)) = columns.split_first() else { return String::new() };
    let room = width.unwrap_or(usize::MAX);
    let total = |folded: usize, shown: &[Column]| {
        let widths = shown.iter().map(|column| column.width(folded) + GAP);
        first.width(folded) + widths.sum::<usize>()
    };
    let suffices = |folded: &usize| total(*folded, others) <= room;
    let folded = FOLDED.into_iter().find(suffices).unwrap_or(FOLDED[FOLDED.len() - 1]);
    let mut blocks = Vec::new();
    let mut left = others;
    while !left.is_empty() {
        let fits = |count: &usize| total(folded, &left[..*count]) <= room;
        let count = (1..=left.len()).rev().find(fits).unwrap_or(1);
        let (shown, rest) = left.split_at(count);
        let shown: Vec<&Column> = std::iter::once(first).chain(shown).collect();
        blocks.push(block(&shown, folded));
        left = rest;
    }
    blocks.join("\n")
}

fn block(columns: &[&Column], folded: usize) -> String {
    let label = |column: &&Column| -> Vec<String> {
        let text = wrap(column.label, Some(column.width(folded)));
        text.split('\n').map(str::to_owned).collect()
    };
    let labels: Vec<Vec<String>> = columns.iter().map(label).collect();
    let tall = labels.iter().map(Vec::len).max().unwrap_or(0);
    // Labels stand on the figures below them.
    let part = |label: &Vec<String>, line: usize| {
        let at = (line + label.len()).checked_sub(tall);
        at.map_or(String::new(), |at| label[at].clone())
    };
    let heading = |line| labels.iter().map(|label| part(label, line)).collect();
    let mut lines: Vec<Vec<String>> = (0..tall).map(heading).collect();
    let count = columns.iter().map(|column| column.cells.len()).min().unwrap_or(0);
    let row = |at: usize| columns.iter().map(|column| column.cells[at].clone()).collect();
    lines.extend((0..count).map(row));
    align(&lines, &vec![true; columns.len()])
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::tests::part;

    fn widest(text: &str) -> usize {
        text.lines().map(length).max().unwrap_or(0)
    }

    #[test]
    fn figures_stand_to_the_right_and_verdicts_beside_them() {
        let text = part(3.0).text();
        let wanted = "P\n\nwhat       paper    ours  ratio  verdict\n\
                      a         2.00 s  1.00 s  0.500\n\
                      a over b       4       3  0.750  holds: at least 3: it grows\n";
        assert_eq!(text, wanted);
        let text = part(2.0).text();
        assert!(text.contains("0.500  DIFFERS: not at least 3: it grows"), "{text}");
    }

    #[test]
    fn claims_take_few_lines_and_lose_no_word() {
        let words = "a mean over all sizes that were sent";
        let claim = |at: u64| {
            let what = format!("{words}, {at}").repeat(if at.is_multiple_of(5) { 2 } else { 1 });
            Claim::own_ratio(what, 1.5).above(1.0, "as the text says")
        };
        let part = Part { claims: (0..10).map(claim).collect(), ..part(3.0) };
        let text = part.text();
        assert!(widest(&text) <= 80 && !text.contains("paper"), "{text}");
        // The heading, eight claims of one line and two of two lines.
        assert_eq!(text.lines().skip(2).count(), 1 + 8 + 2 * 2, "{text}");
        let narrow = part.text_as(&Style { width: Some(40), ..Style::default() });
        assert!(widest(&narrow) <= 40, "{narrow}");
        assert_eq!(narrow.matches("sizes").count(), 12, "{narrow}");
        // Where nothing helps, lines are as long as they must be.
        assert!(part.text_as(&Style { width: Some(1), ..Style::default() }).contains("sizes"));
        let none = Part { claims: Vec::new(), ..part };
        assert_eq!(none.text(), "P\n");
    }

    #[test]
    fn remarks_stand_below_the_claims_in_short_lines() {
        let remarks = vec!["word ".repeat(40).trim_end().to_owned()];
        let part = Part { remarks, ..part(3.0) };
        let text = part.text();
        assert_eq!(text.matches("word").count(), 40);
        assert!(widest(&text) <= 80 && text.contains("grows\n\nword word"), "{text}");
        let any = Style { width: None, ..Style::default() };
        assert!(part.text_as(&any).ends_with(&format!("\n{}\n", part.remarks[0])));
    }

    #[test]
    fn long_curves_are_thinned_for_people_alone() {
        let points = (1..=100).map(|size| (size, 1.5)).collect();
        let curve = Curve::new("gather", "root", points);
        let part = Part { curves: vec![curve], ..part(3.0) };
        assert_eq!(part.text().matches("1.50").count(), SHOWN);
        assert_eq!(part.rows("p").len(), 2 + 100);
    }

    #[test]
    fn labels_are_folded_and_curves_without_room_stand_below() {
        let curve = |lanes: u64| {
            let label = format!("with {lanes} lanes, as the paper's text has it");
            Curve::new("gather", label, vec![(1, 1.5), (2, 2.5)])
        };
        let of = |count: u64| Part { curves: (1..=count).map(curve).collect(), ..part(3.0) }.text();
        assert!(of(1).contains("size  with 1 lanes, as the paper's text has it\n"));
        for (count, blocks) in [(5, 1), (12, 3)] {
            let text = of(count);
            assert!(widest(&text) <= 80, "{text}");
            assert_eq!(text.matches("size  ").count(), blocks, "{text}");
            assert_eq!(text.matches("2.50").count() as u64, count, "{text}");
        }
    }

    #[test]
    fn a_command_that_goes_on_is_the_same_to_a_shell() {
        let line = format!("laneway sim {} --platform {}", "--reps 1 ".repeat(9), "x:".repeat(20));
        for width in [20, 80] {
            let text = command(&line, Some(width));
            assert!(widest(&text) <= 80 && text.lines().count() > 1, "{text}");
            let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "\\").collect();
            assert_eq!(words, line.split_whitespace().collect::<Vec<_>>());
        }
        assert_eq!(command("laneway info", Some(14)), "  laneway info\n");
        assert_eq!(command(&line, None), format!("  {line}\n"));
    }
}
