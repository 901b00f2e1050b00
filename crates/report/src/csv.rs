//! CSV (RFC 4180) by the crate `csv`: a header line, then a line for each row; written, and read
//! back more strictly than that crate does.

use ::csv::{ReaderBuilder, StringRecord, Terminator, WriterBuilder};
use laneway_core::units::counted;
use laneway_core::{Document, Value};

use crate::run::{Extent, ReadError, Record, finite};

/// The rows as CSV, under the names that any of them has.
pub fn render(document: &Document) -> String {
    render_as(document, None)
}

/// The same with a last column `complete`, which is true in the last row of a complete run alone:
/// so a file that was cut off at a line is incomplete as well.
pub fn render_marked(document: &Document, is_complete: bool) -> String {
    render_as(document, Some(is_complete))
}

const MARK: &str = "complete";

fn render_as(document: &Document, is_complete: Option<bool>) -> String {
    let mut names = crate::columns(document);
    if names.is_empty() {
        return String::new();
    }
    names.retain(|name| is_complete.is_none() || *name != MARK);
    let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(vec![]);
    // Memory takes every byte, and all lines have as many fields: nothing can be refused.
    let mark = is_complete.map(|_| MARK);
    writer.write_record(names.iter().copied().chain(mark)).expect("a header is CSV");
    for (number, row) in document.rows.iter().enumerate() {
        let fields = names.iter().map(|name| row.get(name).map_or(String::new(), field));
        let is_last = number + 1 == document.rows.len();
        let mark = is_complete.map(|is_complete| (is_complete && is_last).to_string());
        writer.write_record(fields.chain(mark)).expect("a row is CSV");
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    String::from_utf8(bytes).expect("CSV is text")
}

fn field(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) if number.is_finite() => format!("{number:?}"),
        Value::Truth(truth) => truth.to_string(),
        Value::List(numbers) => {
            let numbers = numbers.iter().filter(|number| number.is_finite());
            numbers.map(f64::to_string).collect::<Vec<_>>().join(" ")
        }
        // As in JSON, what is not a number is nothing.
        Value::Real(_) | Value::Nothing => String::new(),
    }
}

/// Whether the first line is a header as ours are: names of lower-case letters.
pub fn is_csv(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let name = |name: &str| !name.is_empty() && name.chars().all(letter);
    header.contains(',') && header.split(',').all(name)
}

/// The rows under the header.
pub fn read(text: &str) -> Result<Vec<Record>, ReadError> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    let (mut cells, mut begin) = (StringRecord::new(), 0);
    let strange = |error: ::csv::Error| ReadError::Line(0, error.to_string());
    while reader.read_record(&mut cells).map_err(strange)? {
        let end = reader.position().byte() as usize;
        let line = line_of(&text[..end], &text[begin..end]);
        if let Some(what) = fault(&cells, &text[begin..end]) {
            return Err(ReadError::Line(line, what.into()));
        }
        begin = end;
        if names.is_empty() {
            names.extend(cells.iter().map(str::to_owned));
            continue;
        }
        if cells.len() != names.len() {
            let what = format!("{} fields under {} names", cells.len(), names.len());
            return Err(ReadError::Line(line, what));
        }
        let mut record = Record::default();
        for (name, cell) in names.iter().zip(&cells) {
            record.push(name.clone(), value(cell));
        }
        rows.push(record);
    }
    if names.is_empty() { Err(ReadError::Empty) } else { Ok(rows) }
}

/// What the column `complete` says of the run, which leaves the rows.
pub fn take_extent(rows: &mut [Record]) -> Extent {
    let mark = rows.last().and_then(|row| row.fields.iter().find(|(name, _)| name == MARK));
    let extent = match mark {
        None => Extent::Unknown,
        Some((_, Value::Truth(true))) => Extent::Complete,
        Some(_) => Extent::Incomplete(counted(rows.len() as u64, "row")),
    };
    if extent != Extent::Unknown {
        rows.iter_mut().for_each(|row| row.fields.retain(|(name, _)| name != MARK));
    }
    extent
}

/// The number of the line that a record begins on, which empty lines may stand before.
fn line_of(until: &str, record: &str) -> usize {
    let lines = |text: &str| text.matches('\n').count();
    let empty = record.len() - record.trim_start_matches(['\r', '\n']).len();
    lines(&until[..until.len() - record.len() + empty]) + 1
}

/// What the crate lets pass: a quote within a field that has none around it, and one that is
/// never closed.
fn fault(cells: &StringRecord, record: &str) -> Option<&'static str> {
    let bare = |cell: &str| {
        cell.contains('"') && !record.contains(&format!("\"{}\"", cell.replace('"', "\"\"")))
    };
    if cells.iter().any(bare) {
        return Some("a quote inside a field");
    }
    (record.matches('"').count() % 2 == 1).then_some("a quote that is never closed")
}

fn value(cell: &str) -> Value {
    match cell {
        "" => Value::Nothing,
        "true" => Value::Truth(true),
        "false" => Value::Truth(false),
        text => match (text.parse(), finite(text)) {
            (Ok(number), _) => Value::Whole(number),
            (_, Some(number)) => Value::Real(number),
            _ => cell.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Row;

    #[test]
    fn commas_and_quotes_are_quoted() {
        let row = Row::new().with("a", "x,\"y\"").with("b", None::<u32>).with("c", 1.5);
        let none = Row::new();
        let document =
            Document { verb: "t", env: none.clone(), params: none, rows: vec![row], summary: None };
        assert_eq!(render(&document), "a,b,c\n\"x,\"\"y\"\"\",,1.5\n");
        let back = read(&render(&document)).expect("CSV");
        assert_eq!(back[0].get("a"), Some(&"x,\"y\"".into()));
        assert_eq!((back[0].get("b"), back[0].number("c")), (None, Some(1.5)));
    }

    #[test]
    fn no_column_and_no_row_is_lost() {
        let rows = vec![
            Row::new().with("a", 1u32).with("b", f64::NAN),
            Row::new().with("a", 2u32).with("samples_us", vec![1.0, f64::INFINITY, 2.5]),
        ];
        let none = Row::new();
        let document = Document { verb: "t", env: none.clone(), params: none, rows, summary: None };
        assert_eq!(render(&document), "a,b,samples_us\n1,,\n2,,1 2.5\n");
        let back = read(&render(&document)).expect("CSV");
        assert_eq!(back[1].samples_us, [1.0, 2.5]);
    }

    #[test]
    fn lines_may_end_as_on_windows_and_hold_breaks() {
        let rows = read("a,b\r\n\"x\ny\",inf\r\n\r\n2,true").expect("CSV");
        assert_eq!(rows[0].fields, [("a".into(), "x\ny".into()), ("b".into(), "inf".into())]);
        assert_eq!(rows[1].fields, [("a".into(), Value::Whole(2)), ("b".into(), true.into())]);
    }

    #[test]
    fn errors_say_the_line() {
        let wrong = |text: &str| read(text).expect_err(text).to_string();
        assert_eq!(wrong("a,b\n1,2\n3\n"), "line 3: 1 fields under 2 names");
        assert_eq!(wrong("a,b\n1,\"2\n"), "line 2: a quote that is never closed");
        assert_eq!(wrong("a,b\n1,2\"3\n"), "line 2: a quote inside a field");
        assert_eq!(wrong("a,b\n1,2\"3\"\n"), "line 2: a quote inside a field");
        assert_eq!(wrong("a,b\n\"x\ny\",2\n\n3\n"), "line 5: 1 fields under 2 names");
        assert!(is_csv("op,size_bytes\n") && !is_csv("Hello, world\n") && !is_csv("op\n"));
    }
}
