//! A run from the text of a file: our JSON, our CSV, a journal, OSU's text or IMB's.

use std::collections::BTreeSet;

use laneway_core::Value;
use laneway_core::units::counted;

use crate::json::{self, Json};
use crate::run::{Extent, ReadError, Record, Run};
use crate::{csv, imb, journal, osu};

/// A run from the text of a file: our JSON, our CSV, the journal of a run that was stopped, OSU's
/// text or IMB's, recognised by their beginnings.
pub fn read(name: &str, text: &str) -> Result<Run, ReadError> {
    let text = text.trim_start_matches('\u{feff}');
    let start = text.trim_start();
    if start.is_empty() {
        return Err(ReadError::Empty);
    }
    let mut run = if let Some((head, lines)) = journal::split(start) {
        from_journal(&head, lines)?
    } else if start.starts_with(['{', '[']) {
        from_json(&json::parse(text).map_err(ReadError::Json)?)?
    } else {
        let (source, rows, extent) = if imb::is_imb(text) {
            ("IMB", imb::read(text)?, Extent::Unknown)
        } else if osu::is_osu(text) {
            ("OSU", osu::read(text)?, osu::extent(text))
        } else if csv::is_csv(text) {
            let mut rows = csv::read(text)?;
            let extent = csv::take_extent(&mut rows);
            ("CSV", rows, extent)
        } else {
            return Err(ReadError::Unknown);
        };
        Run { source: source.into(), rows, extent, ..Run::default() }
    };
    run.name = name.to_owned();
    Ok(run)
}

fn from_json(json: &Json) -> Result<Run, ReadError> {
    let wrong = |what: &str| Err(ReadError::Schema(what.to_owned()));
    let Some(Json::Plain(Value::Text(schema))) = json.get("schema") else {
        return wrong("it is JSON without a `schema` of laneway");
    };
    if !schema.starts_with("laneway.") || !schema.ends_with("/1") {
        return wrong(&format!("its schema is {schema:?}, and only laneway.<verb>/1 is known"));
    }
    let Some(Json::List(rows)) = json.get("rows") else {
        return wrong("it has no list named `rows`");
    };
    if let Some(number) = rows.iter().position(|row| !matches!(row, Json::Object(_))) {
        return wrong(&format!("row {} is not an object", number + 1));
    }
    // Of two figures under one name neither can be trusted; an environment may repeat itself, and
    // is shown as it is.
    for (number, row) in rows.iter().enumerate() {
        if let Some(name) = repeated(row) {
            return wrong(&format!("row {} has `{}` twice", number + 1, name.escape_debug()));
        }
    }
    let (rows, extent) = (rows.iter().map(record).collect(), extent(json));
    Ok(Run { source: schema.clone(), rows, extent, ..head(json) })
}

/// What a document or a journal says beside its rows.
fn head(json: &Json) -> Run {
    let member = |name: &str| json.get(name).map(record).unwrap_or_default().fields;
    Run {
        source: word(json, "schema"),
        tool: word(json, "tool"),
        env: member("env"),
        params: member("params"),
        summary: member("summary"),
        ..Run::default()
    }
}

fn word(json: &Json, name: &str) -> String {
    match json.get(name) {
        Some(Json::Plain(Value::Text(text))) => text.clone(),
        _ => String::new(),
    }
}

/// Files of before the mark have none, but for surveys of pairs, whose summary says it.
fn extent(json: &Json) -> Extent {
    let mark = json.get("complete").or_else(|| json.get("summary")?.get("complete"));
    match mark {
        Some(Json::Plain(Value::Truth(true))) => Extent::Complete,
        Some(Json::Plain(Value::Truth(false))) => Extent::Incomplete(word(json, "done")),
        _ => Extent::Unknown,
    }
}

/// The rows of a run that was stopped. Its last line may be cut off, and counts only if it is
/// whole.
fn from_journal(json: &Json, lines: &str) -> Result<Run, ReadError> {
    let mut rows = Vec::new();
    let mut rest = lines;
    while let Some((line, after)) = rest.split_once('\n') {
        let row = json::parse(line).map_err(ReadError::Json)?;
        rows.push(record(&row));
        rest = after;
    }
    let planned = word(json, journal::PLANNED);
    let count = counted(rows.len() as u64, "row");
    let (rows, count) = match journal::merged(&rows) {
        Some((merged, launches)) => (merged, counted(launches, "launch")),
        None => (rows, count),
    };
    let done = format!("{count} of a run of {planned}");
    Ok(Run { rows, extent: Extent::Incomplete(done), ..head(json) })
}

/// A name that an object has twice.
fn repeated(json: &Json) -> Option<&str> {
    let Json::Object(members) = json else { return None };
    let mut seen = BTreeSet::new();
    members.iter().map(|(name, _)| name.as_str()).find(|name| !seen.insert(*name))
}

/// The members of an object that a row can hold: plain values and lists of numbers. What else a
/// later version nests into a row cannot be shown in a cell.
fn record(json: &Json) -> Record {
    let mut record = Record::default();
    let Json::Object(members) = json else { return record };
    for (name, value) in members {
        match value {
            Json::Plain(value) => record.push(name.clone(), value.clone()),
            Json::List(values) => {
                let number = |value: &Json| match value {
                    Json::Plain(Value::Whole(number)) => Some(*number as f64),
                    Json::Plain(Value::Real(number)) => Some(*number),
                    _ => None,
                };
                // Our writer says null for what is not a number.
                let numbers: Vec<f64> = values.iter().filter_map(number).collect();
                record.push(name.clone(), numbers.into());
            }
            Json::Object(_) => {}
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use laneway_core::{Document, Row};

    fn document() -> Document {
        let row = Row::new()
            .with("op", "bcast")
            .with("size_bytes", 8u32)
            .with("time_us", 2.0)
            .with("root", None::<u32>)
            .with("samples_us", vec![1.5, 2.0, 2.5]);
        Document {
            verb: "measure",
            env: Row::new().with("host", "a \"b\"\n"),
            params: Row::new().with("seed", 7u32),
            rows: vec![row],
            summary: Some(Row::new().with("points", 1u32)),
        }
    }

    #[test]
    fn what_was_written_is_read_back() {
        let wanted = Run { name: "f".into(), ..Run::from(&document()) };
        assert_eq!(wanted.rows[0].samples_us, [1.5, 2.0, 2.5]);
        assert_eq!(read("f", &json::render(&document())), Ok(wanted.clone()));
        let csv = read("f", &Format::Csv.render(&document())).expect("CSV");
        assert_eq!(csv.rows, wanted.rows);
    }

    /// Whatever a text was, serde gives its rows as any of its formats.
    #[test]
    fn a_run_is_serialized_as_its_document_is() {
        let run = read("f", &Format::Csv.render(&document())).expect("CSV");
        let json = serde_json::to_value(&run).expect("JSON");
        assert_eq!(json["rows"], serde_json::to_value(&document().rows).expect("JSON"));
        assert_eq!((&json["name"], &json["source"]), (&"f".into(), &"CSV".into()));
    }

    /// Samples are apart; any other list stays where it was.
    #[test]
    fn a_list_of_json_is_a_list() {
        let row =
            Row::new().with("launch_times_us", vec![1.5, 2.0]).with("empty", Vec::<f64>::new());
        let document = Document { rows: vec![row], ..document() };
        let back = read("f", &json::render(&document)).expect("JSON");
        assert_eq!(back.rows[0].get("launch_times_us"), Some(&Value::List(vec![1.5, 2.0])));
        assert_eq!(back.rows[0].get("empty"), Some(&Value::List(vec![])));
    }

    #[test]
    fn other_texts_are_refused() {
        let why = |text: &str| read("f", text).expect_err(text).to_string();
        assert_eq!(why(" \n"), "it holds no text");
        assert!(why("hello there").contains("neither"), "{}", why("hello there"));
        assert!(why("{}").contains("without a `schema`"));
        assert!(why("[]").contains("without a `schema`"));
        assert!(why("{\"schema\": \"laneway.measure/2\"}").contains("laneway.measure/2"));
        assert!(why("{\"schema\": \"laneway.measure/1\"}").contains("rows"));
        assert!(why("{\"schema\": \"laneway.x/1\", \"rows\": [{}, 3]}").contains("row 2"));
        let twice = "{\"schema\": \"laneway.x/1\", \"rows\": [{\"a\": 1, \"a\": 2}]}";
        assert_eq!(why(twice), "row 1 has `a` twice");
        let repeats = "{\"schema\": \"laneway.x/1\", \"env\": {\"a\": 1, \"a\": 2}, \"rows\": []}";
        assert_eq!(read("f", repeats).map(|run| run.env.len()), Ok(2));
        let text = json::render(&document());
        assert!(why(&text[..text.len() / 2]).starts_with("line "));
    }
}
