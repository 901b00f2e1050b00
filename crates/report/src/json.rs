//! JSON: one object with `schema`, `tool`, `env`, `params`, `rows` and, where rows add up,
//! `summary`.

use std::fmt::Write;

use laneway_core::{Document, Row, Value};

/// The document as JSON, a row a line.
pub fn render(document: &Document) -> String {
    let mut text = String::from("{\n");
    let mut field = |name: &str, value: &str| {
        let comma = if text.len() > 2 { ",\n" } else { "" };
        let _ = write!(text, "{comma}  {}: {value}", quoted(name));
    };
    field("schema", &quoted(&document.schema()));
    field("tool", &quoted(&format!("laneway {}", env!("CARGO_PKG_VERSION"))));
    field("env", &object(&document.env));
    field("params", &object(&document.params));
    let rows: Vec<String> =
        document.rows.iter().map(|row| format!("    {}", object(row))).collect();
    let rows = if rows.is_empty() { "[]".into() } else { format!("[\n{}\n  ]", rows.join(",\n")) };
    field("rows", &rows);
    if let Some(summary) = &document.summary {
        field("summary", &object(summary));
    }
    text + "\n}\n"
}

fn object(row: &Row) -> String {
    let fields: Vec<String> =
        row.0.iter().map(|(name, v)| format!("{}: {}", quoted(name), value(v))).collect();
    format!("{{{}}}", fields.join(", "))
}

fn value(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Whole(number) => number.to_string(),
        // JSON has no word for what is not a number.
        Value::Real(number) if number.is_finite() => format!("{number:?}"),
        Value::Truth(truth) => truth.to_string(),
        Value::List(numbers) => {
            let one = |number: &f64| self::value(&Value::Real(*number));
            format!("[{}]", numbers.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Value::Real(_) | Value::Nothing => "null".into(),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_reals_stay_reals() {
        assert_eq!(quoted("a\"b\\c\n\u{1}"), "\"a\\\"b\\\\c\\n\\u0001\"");
        assert_eq!(value(&Value::Real(2.0)), "2.0");
        assert_eq!(value(&Value::Real(f64::NAN)), "null");
        assert_eq!(object(&Row::new().with("a", 1u32).with("b", true)), "{\"a\": 1, \"b\": true}");
    }
}
