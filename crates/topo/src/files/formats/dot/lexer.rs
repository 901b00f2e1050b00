//! The words of Graphviz's language, each with its line.

use super::super::ReadError;
use super::super::cursor::Cursor;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a value.
    Id(String),
    /// One of the language's own words, in small letters.
    Keyword(&'static str),
    /// `--`, `->`, or a single letter.
    Sign(&'static str),
    End,
}

const KEYWORDS: [&str; 6] = ["strict", "graph", "digraph", "node", "edge", "subgraph"];
const SIGNS: [&str; 10] = ["--", "->", "{", "}", "[", "]", ";", ",", "=", ":"];

pub struct Lexer<'t> {
    at: Cursor<'t>,
    /// Whether nothing but space is before it in its line: then a `#` begins a comment.
    is_fresh: bool,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { at: Cursor::new(text), is_fresh: true }
    }

    /// The next word and its line.
    pub fn next(&mut self) -> Result<(usize, Token), ReadError> {
        self.skip()?;
        let line = self.at.line;
        self.is_fresh = false;
        let Some(first) = self.at.rest.chars().next() else { return Ok((line, Token::End)) };
        let token = match first {
            '"' => self.quoted()?,
            '<' => self.markup()?,
            letter if letter.is_alphabetic() || letter == '_' => {
                let is_own = |letter: char| letter.is_alphanumeric() || letter == '_';
                let word = self.at.advance_while(is_own);
                self.ensure_ended(word)?;
                let keyword = KEYWORDS.iter().find(|own| word.eq_ignore_ascii_case(own));
                keyword.map_or(Token::Id(word.to_string()), |own| Token::Keyword(own))
            }
            _ => match SIGNS.iter().find(|sign| self.at.rest.starts_with(**sign)) {
                Some(sign) => {
                    self.at.advance(sign.len());
                    Token::Sign(sign)
                }
                None => self.number(first)?,
            },
        };
        Ok((line, token))
    }

    /// Over space and comments.
    fn skip(&mut self) -> Result<(), ReadError> {
        loop {
            let space = self.at.advance_while(char::is_whitespace);
            self.is_fresh |= space.contains('\n');
            if self.at.rest.starts_with("//") || (self.is_fresh && self.at.rest.starts_with('#')) {
                self.at.advance_while(|letter| letter != '\n');
            } else if self.at.rest.starts_with("/*") {
                let end = self.at.rest[2..].find("*/").ok_or_else(|| {
                    ReadError::new(self.at.line, "a comment that begins here is not closed")
                })?;
                self.at.advance(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    /// Strings in quotes, joined by `+`.
    fn quoted(&mut self) -> Result<Token, ReadError> {
        let mut text = String::new();
        loop {
            let begun = self.at.line;
            self.at.advance(1);
            loop {
                text += self.at.advance_while(|letter| letter != '"' && letter != '\\');
                // Of a backslash only what keeps a quote, itself or a line's end is its own.
                let (bytes, kept) = match self.at.rest.get(..2).unwrap_or(self.at.rest) {
                    "\\\"" => (2, "\""),
                    "\\\\" => (2, "\\"),
                    "\\\n" => (2, ""),
                    end if end.starts_with('"') => break,
                    _ if self.at.rest.starts_with('\\') => (1, "\\"),
                    _ => {
                        let what = "a quote that begins here is not closed";
                        return Err(ReadError::new(begun, what));
                    }
                };
                self.at.advance(bytes);
                text += kept;
            }
            self.at.advance(1);
            self.skip()?;
            let behind = self.at.rest.strip_prefix('+').map(str::trim_start);
            if !behind.is_some_and(|behind| behind.starts_with('"')) {
                return Ok(Token::Id(text));
            }
            self.at.advance(1);
            self.skip()?;
        }
    }

    /// `<…>`, for labels.
    fn markup(&mut self) -> Result<Token, ReadError> {
        let mut depth = 0usize;
        for (at, byte) in self.at.rest.bytes().enumerate() {
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(Token::Id(self.at.advance(at + 1).to_string()));
            }
        }
        Err(ReadError::new(self.at.line, "a `<` that begins here is not closed"))
    }

    /// A number; no other letter can be without quotes.
    fn number(&mut self, first: char) -> Result<Token, ReadError> {
        let line = self.at.line;
        let bytes = self.at.rest.bytes().enumerate();
        let is_own = |&(at, byte): &(usize, u8)| {
            byte.is_ascii_digit() || byte == b'.' || (at == 0 && byte == b'-')
        };
        let word = self.at.advance(bytes.take_while(is_own).count());
        if !word.bytes().any(|byte| byte.is_ascii_digit()) {
            let what =
                format!("`{first}` is not a part of a graph; names that have it are in quotes");
            return Err(ReadError::new(line, what));
        }
        self.ensure_ended(word)?;
        Ok(Token::Id(word.to_string()))
    }

    /// `leaf-0` is two names, which is never meant.
    fn ensure_ended(&self, word: &str) -> Result<(), ReadError> {
        let is_cable = self.at.rest.starts_with("--") || self.at.rest.starts_with("->");
        let goes_on = |letter: char| letter.is_alphanumeric() || "-._".contains(letter);
        if is_cable || !self.at.rest.starts_with(goes_on) {
            return Ok(());
        }
        let what = format!("the name continues after `{word}`: put it in quotes");
        Err(ReadError::new(self.at.line, what))
    }
}
