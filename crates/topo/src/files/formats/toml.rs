//! Any fabric as TOML: switches, hosts, and the cables between them.

use std::borrow::Cow;
use std::fmt::Write;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::{Builder, Discovered, Node, ReadError, port};
use crate::wiring::{End, Port, Wiring};

/// Bytes of a file that are read at most.
const MOST_BYTES: usize = 64 << 20;

/// Bytes that are parsed at once at most: what is parsed takes some 250 times as much memory.
const MOST_AT_ONCE: usize = 4 << 20;

/// Writes any fabric whose names differ from those of ports.
pub fn write(wiring: &dyn Wiring) -> Result<String, String> {
    super::ensure_unique_names(wiring)?;
    let mut text = String::from("# A fabric: ports count from 1.\n");
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (name, ports) = (wiring.switch_name(switch), wiring.ports(switch));
        let _ = writeln!(text, "\n[[switch]]\nname = {}\nports = {ports}", quote(&name));
    }
    for host in 0..wiring.hosts() {
        let _ = writeln!(text, "\n[[host]]\nname = {}", quote(&wiring.host_name(host)));
    }
    for switch in 0..wiring.switches() {
        for at in 0..wiring.ports(switch) as Port {
            match wiring.end(switch, at) {
                End::Nothing => continue,
                End::Switch(other, its) if (switch, at) > (other, its) => continue,
                End::Host(_) | End::Switch(..) => {}
            }
            let from = quote(&wiring.port_name(switch, at));
            let to = quote(&wiring.end_name(switch, at));
            let _ = writeln!(text, "\n[[cable]]\nfrom = {from}\nto = {to}");
        }
    }
    Ok(text)
}

/// A basic string of TOML.
fn quote(name: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in name.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[derive(Default)]
struct Source<'t> {
    builder: Builder,
    /// Ends of cables and their lines, until all switches and hosts are known.
    cables: Vec<(usize, Cow<'t, str>, Cow<'t, str>)>,
    /// The line before the part that is read, and where each line of the part begins.
    before: usize,
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    fn line(&self, at: usize) -> usize {
        self.before + self.lines.partition_point(|&begin| begin <= at).max(1)
    }

    fn wrong<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> ReadError {
        ReadError::new(self.line(at.span().start), what)
    }

    /// A part of the file with whole tables, behind `before` lines.
    fn part(&mut self, before: usize, text: &'t str) -> Result<(), ReadError> {
        if text.len() > MOST_AT_ONCE {
            let most = MOST_AT_ONCE >> 20;
            let what = format!("more than {most} MiB from here without a line of [[, as [[cable]]");
            return Err(ReadError::new(before + 1, what));
        }
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        self.lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        self.before = before;
        let document = DeTable::parse(text).map_err(|error| {
            let line = self.line(error.span().map_or(0, |span| span.start));
            ReadError::new(line, error.message().to_string())
        })?;
        for (key, value) in document.get_ref() {
            let kind = &**key.get_ref();
            if !matches!(kind, "switch" | "host" | "cable") {
                let what = format!("`{kind}` is none of switch, host and cable");
                return Err(self.wrong(value, what));
            }
            let DeValue::Array(items) = value.get_ref() else {
                return Err(self.wrong(value, format!("one is written [[{kind}]]")));
            };
            for item in items {
                let DeValue::Table(table) = item.get_ref() else {
                    return Err(self.wrong(item, format!("one is written [[{kind}]]")));
                };
                self.item(kind, table, item)?;
            }
        }
        Ok(())
    }

    fn item(
        &mut self,
        kind: &str,
        table: &DeTable<'t>,
        place: &Spanned<DeValue<'t>>,
    ) -> Result<(), ReadError> {
        let keys: &[&str] = match kind {
            "switch" => &["name", "ports"],
            "host" => &["name"],
            _ => &["from", "to"],
        };
        if let Some(key) = table.keys().find(|key| !keys.contains(&&**key.get_ref())) {
            let what = format!("a {kind} has {}, and no `{}`", keys.join(" and "), key.get_ref());
            return Err(self.wrong(key, what));
        }
        let line = self.line(place.span().start);
        match kind {
            "switch" => self.switch(table, place),
            "host" => self.builder.host(line, &self.string(table, place, "name")?).map(|_| ()),
            _ => {
                let ends = (self.string(table, place, "from")?, self.string(table, place, "to")?);
                self.cables.push((line, ends.0, ends.1));
                Ok(())
            }
        }
    }

    /// A string of a table.
    fn string(
        &self,
        table: &DeTable<'t>,
        place: &Spanned<DeValue<'t>>,
        key: &str,
    ) -> Result<Cow<'t, str>, ReadError> {
        let Some(value) = table.get(key) else {
            return Err(self.wrong(place, format!("`{key}` is missing")));
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(text.clone()),
            _ => Err(self.wrong(value, format!("`{key}` is a string"))),
        }
    }

    fn switch(
        &mut self,
        table: &DeTable<'t>,
        place: &Spanned<DeValue<'t>>,
    ) -> Result<(), ReadError> {
        let name = self.string(table, place, "name")?;
        let ports = match table.get("ports").map(Spanned::get_ref) {
            Some(DeValue::Integer(ports)) => ports.as_str().parse::<u32>().ok(),
            _ => None,
        };
        let Some(ports) = ports else {
            return Err(self.wrong(place, format!("`ports` of {name} is a number")));
        };
        let line = self.line(place.span().start);
        self.builder.switch(line, &name, ports).map(|_| ())
    }

    fn cable(&mut self, line: usize, from: &str, to: &str) -> Result<(), ReadError> {
        let (from, to) = (self.end(line, from)?, self.end(line, to)?);
        match (from, to) {
            (End::Switch(switch, port), end) | (end, End::Switch(switch, port)) => {
                self.builder.plug(line, (switch, port), end)
            }
            _ => Err(ReadError::new(line, "a cable between two hosts")),
        }
    }

    /// A host by its name, or a switch with a port: `leaf-0/1`.
    fn end(&self, line: usize, word: &str) -> Result<End, ReadError> {
        if let Some(Node::Host(host)) = self.builder.names.get(word) {
            return Ok(End::Host(*host));
        }
        let place = word.rsplit_once('/');
        let switch = place.and_then(|(name, _)| self.builder.names.get(name));
        match (switch, place) {
            (Some(Node::Switch(switch)), Some((_, at))) => {
                Ok(End::Switch(*switch, port(line, at)?))
            }
            _ => {
                let what = format!("`{word}` is neither a host nor SWITCH/PORT");
                Err(ReadError::new(line, what))
            }
        }
    }
}

/// Reads a fabric that [`write()`] wrote, or a person. Lines of `[[` part the file, so that a large
/// one need not be in memory as parsed.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    if text.len() > MOST_BYTES {
        let what = format!("a fabric as TOML takes at most {} MiB", MOST_BYTES >> 20);
        return Err(ReadError::new(0, what));
    }
    let mut source = Source::default();
    let (mut begin, mut before, mut at) = (0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_start().starts_with("[[") {
            source.part(before, &text[begin..at])?;
            (begin, before) = (at, number);
        }
        at += line.len();
    }
    source.part(before, &text[begin..])?;
    for (line, from, to) in std::mem::take(&mut source.cables) {
        source.cable(line, &from, &to)?;
    }
    Ok(source.builder.finish())
}
