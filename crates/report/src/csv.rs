//! CSV (RFC 4180): a header line, then a line for each row; written, and read back.

use laneway_core::{Document, Value};

use crate::run::{ReadError, Record, finite};

/// The rows as CSV, under the names that any of them has.
pub fn render(document: &Document) -> String {
    let names = crate::columns(document);
    if names.is_empty() {
        return String::new();
    }
    let mut text = names.join(",") + "\n";
    for row in &document.rows {
        let fields: Vec<String> =
            names.iter().map(|name| row.get(name).map_or(String::new(), field)).collect();
        text += &(fields.join(",") + "\n");
    }
    text
}

fn field(value: &Value) -> String {
    match value {
        Value::Text(text) if text.contains(['"', ',', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
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
    let mut lines = lines(text)?.into_iter();
    let Some((_, names)) = lines.next() else { return Err(ReadError::Empty) };
    lines
        .map(|(line, cells)| {
            if cells.len() != names.len() {
                let what = format!("{} fields under {} names", cells.len(), names.len());
                return Err(ReadError::Line(line, what));
            }
            let mut record = Record::default();
            for (name, cell) in names.iter().zip(cells) {
                record.push(name, value(cell));
            }
            Ok(record)
        })
        .collect()
}

/// The fields of each line that is not empty, and the number of the line that it begins on.
fn lines(text: &str) -> Result<Vec<(usize, Vec<String>)>, ReadError> {
    let (mut all, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begins, mut quoted_since) = (1, 1, None);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted_since.is_some() => match characters.next_if_eq(&'"') {
                Some(quote) => cell.push(quote),
                None => quoted_since = None,
            },
            c if quoted_since.is_some() => cell.push(c),
            '"' if cell.is_empty() => quoted_since = Some(line),
            '"' => return Err(ReadError::Line(line, "a quote inside a field".into())),
            '\r' if characters.peek() == Some(&'\n') => {}
            ',' => cells.push(std::mem::take(&mut cell)),
            '\n' => {
                if !(cells.is_empty() && cell.is_empty()) {
                    cells.push(std::mem::take(&mut cell));
                    all.push((begins, std::mem::take(&mut cells)));
                }
                begins = line;
            }
            c => cell.push(c),
        }
    }
    if let Some(line) = quoted_since {
        return Err(ReadError::Line(line, "a quote that is never closed".into()));
    }
    if !(cells.is_empty() && cell.is_empty()) {
        cells.push(cell);
        all.push((begins, cells));
    }
    Ok(all)
}

fn value(cell: String) -> Value {
    match cell.as_str() {
        "" => Value::Nothing,
        "true" => Value::Truth(true),
        "false" => Value::Truth(false),
        text => match (text.parse(), finite(text)) {
            (Ok(number), _) => Value::Whole(number),
            (_, Some(number)) => Value::Real(number),
            _ => Value::Text(cell),
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
        assert!(is_csv("op,size_bytes\n") && !is_csv("Hello, world\n") && !is_csv("op\n"));
    }
}
