//! JSON back from text: strict, with the line and column of what is wrong, and never deeper than a
//! document of ours needs.

use std::fmt;

use laneway_core::Value;

/// A reader that calls itself for each level must have an end before its stack has one.
const DEEPEST: usize = 32;

/// Any JSON text. An object keeps all its members, also those whose name stands twice: which of
/// them counts, if any, is for the caller to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Plain(Value),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The first member of that name; `None` also where this is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }
}

/// Where a text stops being JSON, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub line: usize,
    pub column: usize,
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
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.error(reader.at, "more text after the end of the JSON value"));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    /// Always the start of a character.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Steps over `wanted` if it stands here.
    fn take(&mut self, wanted: &str) -> bool {
        let here = self.rest().starts_with(wanted);
        self.at += if here { wanted.len() } else { 0 };
        here
    }

    fn error(&self, at: usize, what: impl Into<String>) -> JsonError {
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        JsonError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }

    /// What stands here is not what the grammar allows here.
    fn expected(&self, wanted: &str) -> JsonError {
        let found = match self.peek() {
            None => "the text ends".to_owned(),
            Some(c) => format!("{c:?} stands"),
        };
        self.error(self.at, format!("{found} where {wanted} is expected"))
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > DEEPEST {
            return Err(self.error(self.at, format!("more than {DEEPEST} levels of nesting")));
        }
        self.skip_space();
        for (word, value) in
            [("null", Value::Nothing), ("true", Value::Truth(true)), ("false", Value::Truth(false))]
        {
            if self.take(word) {
                return Ok(Json::Plain(value));
            }
        }
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some('"') => Ok(Json::Plain(Value::Text(self.string()?))),
            Some('-' | '0'..='9') => Ok(Json::Plain(self.number()?)),
            _ => Err(self.expected("a value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.take("]") {
            return Ok(Json::List(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take("]") {
                return Ok(Json::List(values));
            }
            if !self.take(",") {
                return Err(self.expected("a comma or ]"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.take("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some('"') {
                return Err(self.expected("a name in quotes"));
            }
            let name = self.string()?;
            self.skip_space();
            if !self.take(":") {
                return Err(self.expected("a colon"));
            }
            members.push((name, self.value(depth + 1)?));
            self.skip_space();
            if self.take("}") {
                return Ok(Json::Object(members));
            }
            if !self.take(",") {
                return Err(self.expected("a comma or }"));
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error(start, "the text ends before this quote is closed"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => text.push(self.escape()?),
                c if c < ' ' => return Err(self.expected("a character that needs no escape")),
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 1;
        let c = self.peek();
        self.at += c.map_or(0, char::len_utf8);
        Ok(match c {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let mut code = self.four_digits()?;
                // Beyond the first 65,536 characters JSON writes one as two halves.
                if (0xd800..0xdc00).contains(&code) && self.take("\\u") {
                    let low = self.four_digits()?;
                    code = match low {
                        0xdc00..0xe000 => 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00),
                        _ => code,
                    };
                }
                let half = || self.error(start, "half of a character");
                char::from_u32(code).ok_or_else(half)?
            }
            _ => return Err(self.error(start, "an escape that JSON does not have")),
        })
    }

    fn four_digits(&mut self) -> Result<u32, JsonError> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        self.take("-");
        if !self.take("0") {
            self.digits()?;
        }
        let mut whole = true;
        if self.take(".") {
            whole = false;
            self.digits()?;
        }
        if self.take("e") || self.take("E") {
            whole = false;
            let _signed = self.take("+") || self.take("-");
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        if let (true, Ok(number)) = (whole, text.parse()) {
            return Ok(Value::Whole(number));
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Value::Real).ok_or_else(|| self.error(start, "a number beyond all range"))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let rest = self.rest();
        let count = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(wrong(""), "line 1, column 1: the text ends where a value is expected");
        let at = "line 2, column 4: '}' stands where a value is expected";
        assert_eq!(wrong("{\"é\":\n é}").split(':').next(), Some("line 2, column 2"));
        assert_eq!(wrong("[1,\n2, }"), at);
        assert!(wrong("\"abc").contains("column 1: the text ends before this quote is closed"));
        for text in [
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
        assert!(parse(&nested(DEEPEST)).is_ok());
        assert!(wrong(&nested(1_000_000)).contains("32 levels"));
    }
}
