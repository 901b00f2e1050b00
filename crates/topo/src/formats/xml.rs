//! As much of XML as a platform needs: elements and attributes, and nothing that expands.
//!
//! A document type is passed over and never read, wherever it is; one that defines something is
//! refused, so that a text stands for no more than it has letters.

use std::borrow::Cow;

use super::ReadError;
use super::cursor::Cursor;

/// Elements within each other, and attributes of one, at most.
const MOST_DEPTH: usize = 32;
const MOST_ATTRIBUTES: usize = 32;

pub enum Event<'t> {
    Open(Element<'t>),
    Close,
    End,
}

pub struct Element<'t> {
    pub line: usize,
    pub name: &'t str,
    attributes: Vec<(&'t str, Cow<'t, str>)>,
}

impl<'t> Element<'t> {
    pub fn get(&self, name: &str) -> Option<&Cow<'t, str>> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub fn need(&self, name: &str) -> Result<&Cow<'t, str>, ReadError> {
        let missing = || ReadError::new(self.line, format!("a <{}> without `{name}`", self.name));
        self.get(name).ok_or_else(missing)
    }
}

pub struct Reader<'t> {
    at: Cursor<'t>,
    open: Vec<&'t str>,
    /// `<a/>` is open and has yet to be closed.
    is_empty: bool,
    is_begun: bool,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { at: Cursor::new(text), open: Vec::new(), is_empty: false, is_begun: false }
    }

    fn wrong<T>(&self, what: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::new(self.at.line, what))
    }

    /// Behind the next `end`; what is before it.
    fn until(&mut self, end: &str) -> Result<&'t str, ReadError> {
        match self.at.rest.find(end) {
            Some(at) => {
                let before = self.at.advance(at);
                self.at.advance(end.len());
                Ok(before)
            }
            None => self.wrong(format!("no `{end}` follows this")),
        }
    }

    pub fn next(&mut self) -> Result<Event<'t>, ReadError> {
        if std::mem::take(&mut self.is_empty) {
            self.open.pop();
            return Ok(Event::Close);
        }
        loop {
            self.at.advance_while(char::is_whitespace);
            if self.at.rest.is_empty() {
                return match self.open.last() {
                    Some(name) => self.wrong(format!("the file ends within <{name}>")),
                    None if !self.is_begun => self.wrong("no element at all"),
                    None => Ok(Event::End),
                };
            } else if self.at.rest.starts_with("<!--") {
                self.at.advance(4);
                self.until("-->")?;
            } else if self.at.rest.starts_with("<?") {
                self.until("?>")?;
            } else if self.at.rest.starts_with("<!DOCTYPE") && !self.is_begun {
                self.document_type()?;
            } else if self.at.rest.starts_with("</") {
                self.at.advance(2);
                let name = self.until(">")?.trim_end();
                return match self.open.pop() {
                    Some(open) if open == name => Ok(Event::Close),
                    Some(open) => self.wrong(format!("</{name}> and not </{open}>")),
                    None => self.wrong(format!("</{name}> closes nothing")),
                };
            } else if self.at.rest.starts_with('<') && !self.at.rest.starts_with("<!") {
                return self.element().map(Event::Open);
            } else {
                return self.wrong("neither an element nor a comment");
            }
        }
    }

    /// Passes over `<!DOCTYPE platform SYSTEM "…">`; what it names is not read.
    fn document_type(&mut self) -> Result<(), ReadError> {
        loop {
            self.at.advance_while(|letter| !"\"'[>".contains(letter));
            match self.at.rest.chars().next() {
                Some('>') => break,
                Some('[') => return self.wrong("a document type that defines things is not read"),
                Some(quote) => {
                    self.at.advance(1);
                    self.until(&quote.to_string())?;
                }
                None => return self.wrong("the document type has no end"),
            }
        }
        self.at.advance(1);
        Ok(())
    }

    fn element(&mut self) -> Result<Element<'t>, ReadError> {
        let line = self.at.line;
        if self.open.is_empty() && self.is_begun {
            return self.wrong("a second element beside the outermost one");
        }
        self.at.advance(1);
        let name = self.name()?;
        let mut element = Element { line, name, attributes: Vec::new() };
        loop {
            let space = self.at.advance_while(char::is_whitespace);
            if self.at.rest.starts_with("/>") {
                self.at.advance(2);
                self.is_empty = true;
                break;
            } else if self.at.rest.starts_with('>') {
                self.at.advance(1);
                break;
            } else if space.is_empty() {
                return self.wrong(format!("<{name}> has no end"));
            }
            let (key, value) = self.attribute()?;
            if element.get(key).is_some() {
                return self.wrong(format!("a second `{key}`"));
            } else if element.attributes.len() >= MOST_ATTRIBUTES {
                return self.wrong(format!("more than {MOST_ATTRIBUTES} attributes"));
            }
            element.attributes.push((key, value));
        }
        if self.open.len() >= MOST_DEPTH {
            return self.wrong(format!("more than {MOST_DEPTH} elements within each other"));
        }
        self.open.push(name);
        self.is_begun = true;
        Ok(element)
    }

    fn name(&mut self) -> Result<&'t str, ReadError> {
        let is_own = |letter: char| letter.is_alphanumeric() || "_-.:".contains(letter);
        match self.at.advance_while(is_own) {
            "" => self.wrong("a name is missing here"),
            name => Ok(name),
        }
    }

    fn attribute(&mut self) -> Result<(&'t str, Cow<'t, str>), ReadError> {
        let key = self.name()?;
        self.at.advance_while(char::is_whitespace);
        if !self.at.rest.starts_with('=') {
            return self.wrong(format!("`{key}` has no value"));
        }
        self.at.advance(1);
        self.at.advance_while(char::is_whitespace);
        let quote = match self.at.rest.as_bytes().first() {
            Some(b'"') => "\"",
            Some(b'\'') => "'",
            _ => return self.wrong(format!("the value of `{key}` is not in quotes")),
        };
        let line = self.at.line;
        self.at.advance(1);
        let text = self.until(quote)?;
        if text.contains('<') {
            return Err(ReadError::new(line, format!("the value of `{key}` has a `<`")));
        }
        Ok((key, unescaped(line, text)?))
    }
}

/// Letters for the names that XML has for them; it has no others here.
fn unescaped(line: usize, text: &str) -> Result<Cow<'_, str>, ReadError> {
    let Some((first, mut rest)) = text.split_once('&') else { return Ok(Cow::Borrowed(text)) };
    let mut all = first.to_string();
    loop {
        let wrong = || ReadError::new(line, "an `&` that begins no letter's name");
        let (name, behind) = rest.split_once(';').ok_or_else(wrong)?;
        let number = name.strip_prefix('#').map(|number| match number.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        });
        let letter = match (name, number) {
            ("amp", _) => Some('&'),
            ("lt", _) => Some('<'),
            ("gt", _) => Some('>'),
            ("quot", _) => Some('"'),
            ("apos", _) => Some('\''),
            (_, Some(Ok(number))) => char::from_u32(number),
            _ => None,
        };
        all.push(letter.ok_or_else(wrong)?);
        let Some((text, next)) = behind.split_once('&') else {
            return Ok(Cow::Owned(all + behind));
        };
        all += text;
        rest = next;
    }
}
