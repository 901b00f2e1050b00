//! JSON: one object with `schema`, `tool`, `env`, `params`, `rows` and, where rows add up,
//! `summary`; written by serde_json a row a line, and read back with all members in their order.

use std::fmt;
use std::io::{self, Write};

use laneway_core::{Document, Partial, Value};
use serde_core::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_core::ser::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// The document as JSON, a row a line.
pub fn render(document: &Document) -> String {
    text(document)
}

/// What there is of a run so far, which says that it is not complete.
pub fn render_partial(partial: &Partial<'_>) -> String {
    text(partial)
}

fn text(document: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Lines::default());
    // Memory takes every byte, and names are texts: neither can be refused.
    document.serialize(&mut serializer).expect("a document is JSON");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("JSON is text")
}

/// Where lines break: the members of the document and its rows have a line each.
#[derive(Default)]
struct Lines {
    depth: usize,
    /// Whether the list of rows has one.
    has_rows: bool,
}

impl Lines {
    fn open(&mut self, bracket: &[u8], to: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.depth += 1;
        to.write_all(bracket)
    }

    fn close(&mut self, bracket: &[u8], to: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.depth -= 1;
        to.write_all(bracket)
    }
}

impl Formatter for Lines {
    fn begin_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.open(b"{", to)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        match (self.depth, first) {
            (1, true) => to.write_all(b"\n  "),
            (1, false) => to.write_all(b",\n  "),
            (_, true) => Ok(()),
            (_, false) => to.write_all(b", "),
        }
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn end_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.close(if self.depth == 1 { b"\n}" } else { b"}" }, to)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.open(b"[", to)
    }

    // Of the lists only that of the rows is a member of the document itself.
    fn begin_array_value<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        match (self.depth, first) {
            (2, true) => {
                self.has_rows = true;
                to.write_all(b"\n    ")
            }
            (2, false) => to.write_all(b",\n    "),
            (_, true) => Ok(()),
            (_, false) => to.write_all(b", "),
        }
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _to: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn end_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.close(if self.depth == 2 && self.has_rows { b"\n  ]" } else { b"]" }, to)
    }

    // With a point or an exponent always. serde_json is several times as fast as Rust's own way,
    // which its exponents do not follow; of two equally near last digits it may take the other.
    fn write_f64<W: Write + ?Sized>(&mut self, to: &mut W, number: f64) -> io::Result<()> {
        match number.abs() {
            1e-4..1e16 => CompactFormatter.write_f64(to, number),
            _ => write!(to, "{number:?}"),
        }
    }

    fn write_char_escape<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        c: CharEscape,
    ) -> io::Result<()> {
        match c {
            CharEscape::Quote => to.write_all(b"\\\""),
            CharEscape::ReverseSolidus => to.write_all(b"\\\\"),
            CharEscape::Solidus => to.write_all(b"\\/"),
            CharEscape::LineFeed => to.write_all(b"\\n"),
            CharEscape::Tab => to.write_all(b"\\t"),
            CharEscape::Backspace => to.write_all(b"\\u0008"),
            CharEscape::FormFeed => to.write_all(b"\\u000c"),
            CharEscape::CarriageReturn => to.write_all(b"\\u000d"),
            CharEscape::AsciiControl(byte) => write!(to, "\\u{byte:04x}"),
        }
    }
}

/// Any JSON text. An object keeps all its members, also those whose name stands twice: which of
/// them counts, if any, is for the caller to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// A word, a number, a truth or null.
    Plain(Value),
    /// Values in their order.
    List(Vec<Json>),
    /// Members in their order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The first member of that name; `None` also if this is not an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Plain(Value::Nothing))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Plain(Value::Truth(truth)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Plain(Value::Whole(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Plain(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Plain(Value::Real(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Plain(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Plain(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

/// Where a text stops being JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The byte of the line, from 1.
    pub column: usize,
    /// What stands there, or is missing.
    pub what: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for JsonError {}

/// The one value that a text consists of.
pub fn parse(text: &str) -> Result<Json, JsonError> {
    serde_json::from_str(text).map_err(|error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let what = error.to_string();
        let place = format!(" at line {line} column {column}");
        JsonError { line, column, what: what.strip_suffix(&place).unwrap_or(&what).to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::Row;

    fn document(row: Row) -> Document {
        Document { verb: "t", env: Row::new(), params: Row::new(), rows: vec![row], summary: None }
    }

    #[test]
    fn text_is_escaped_and_reals_stay_reals() {
        let row = Row::new().with("a\"b\\c\n\u{1}\r", 1u32).with("b", true).with("c", 2.0);
        let row = row.with("d", f64::NAN).with("e", vec![1e-5, f64::INFINITY, 3e20]);
        let version = env!("CARGO_PKG_VERSION");
        let wanted = format!(
            "{{\n  \"schema\": \"laneway.t/1\",\n  \"tool\": \"laneway {version}\",\n  \
             \"complete\": true,\n  \
             \"env\": {{}},\n  \"params\": {{}},\n  \"rows\": [\n    \
             {{\"a\\\"b\\\\c\\n\\u0001\\u000d\": 1, \"b\": true, \"c\": 2.0, \"d\": null, \
             \"e\": [1e-5, null, 3e20]}}\n  ]\n}}\n"
        );
        assert_eq!(render(&document(row)), wanted);
        let none = Document { rows: vec![], ..document(Row::new()) };
        assert!(render(&none).contains("\"rows\": []\n}\n"), "{}", render(&none));
    }

    /// Every figure has the digits that Rust gives it, and is the same when it is read.
    #[test]
    fn reals_are_read_back_to_the_last_bit() {
        let numbers = [1.5e-5, 12345e-9, 0.1 + 0.2, 1e16, 1.234e20, -0.0, 5e-324, f64::MAX, 1e15];
        let text = render(&document(Row::new().with("a", numbers.to_vec())));
        let words: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
        assert!(text.contains(&format!("[{}]", words.join(", "))), "{text}");
        let parsed = parse(&text).expect("JSON");
        let Some(Json::List(rows)) = parsed.get("rows") else { panic!("{parsed:?}") };
        let all = numbers.map(|number| Json::Plain(Value::Real(number)));
        assert_eq!(rows[0].get("a"), Some(&Json::List(all.to_vec())));
    }

    /// Whichever of the two ways writes a number, near their borders as well.
    #[test]
    fn every_real_is_read_back() {
        let mut draws = laneway_stats::SplitMix64::new(3);
        let mut numbers = vec![1e-4, f64::from_bits(1e-4f64.to_bits() - 1), 1e16, 1e16 - 2.0];
        numbers.extend((0..20_000).map(|_| 10f64.powf(draws.uniform() * 24.0 - 6.0)));
        let text = render(&document(Row::new().with("a", numbers.clone())));
        let parsed = parse(&text).expect("JSON");
        let Some(Json::List(rows)) = parsed.get("rows") else { panic!("{parsed:?}") };
        let all = numbers.into_iter().map(|number| Json::Plain(Value::Real(number)));
        assert_eq!(rows[0].get("a"), Some(&Json::List(all.collect())));
    }

    fn wrong(text: &str) -> String {
        parse(text).expect_err(text).to_string()
    }

    #[test]
    fn every_kind_of_value() {
        let text = r#" {"a": [1, -2.5e1, null], "b\u00e9\ud83d\ude00\n": true, "c": {}} "#;
        let plain = |value: Value| Json::Plain(value);
        let list = vec![plain(Value::Whole(1)), plain(Value::Real(-25.0)), plain(Value::Nothing)];
        let wanted = Json::Object(vec![
            ("a".into(), Json::List(list)),
            ("bé😀\n".into(), plain(Value::Truth(true))),
            ("c".into(), Json::Object(vec![])),
        ]);
        assert_eq!(parse(text), Ok(wanted));
        let large = parse("18446744073709551615");
        assert_eq!(large, Ok(plain(Value::Real(18_446_744_073_709_551_615.0))));
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(wrong("[1,\n2, }"), "line 2, column 4: expected value");
        assert_eq!(wrong("{\"é\":\n é}").split(':').next(), Some("line 2, column 2"));
        for text in [
            "",
            "\"abc",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "1e999",
            "nul",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "'a'",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\t\"",
            "[1 2]",
            "1 2",
            "\"\\u00é\"",
        ] {
            wrong(text);
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(&nested(32)).is_ok());
        assert!(wrong(&nested(1_000_000)).contains("recursion limit"));
    }
}
