//! CSV (RFC 4180): a header line, then a line for each row.

use laneway_core::{Document, Value};

/// The rows as CSV; the first row's names are the header.
pub fn render(document: &Document) -> String {
    let Some(first) = document.rows.first() else { return String::new() };
    let names: Vec<&str> = first.0.iter().map(|(name, _)| *name).collect();
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
        Value::Real(number) => format!("{number:?}"),
        Value::Truth(truth) => truth.to_string(),
        Value::Nothing => String::new(),
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
    }
}
