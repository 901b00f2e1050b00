//! Any fabric as TOML: switches, hosts, and the cables between them.

use std::fmt::Write;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::{Builder, Discovered, Node, ReadError, port};
use crate::wiring::{End, Port, Wiring};

/// Bytes of a file that are read at most: its parsed form takes many times as much memory.
const MOST_BYTES: usize = 64 << 20;

/// Writes any fabric.
pub fn write(wiring: &dyn Wiring) -> String {
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
    text
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

struct Source<'t> {
    /// Where each line begins.
    lines: Vec<usize>,
    builder: Builder,
    text: &'t str,
}

impl Source<'_> {
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|&begin| begin <= at).max(1)
    }

    fn wrong<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> ReadError {
        ReadError::new(self.line(at.span().start), what)
    }

    /// A string of a table.
    fn string<'v>(
        &self,
        table: &'v DeTable<'_>,
        place: &Spanned<DeValue<'_>>,
        key: &str,
    ) -> Result<&'v str, ReadError> {
        let Some(value) = table.get(key) else {
            return Err(self.wrong(place, format!("`{key}` is missing")));
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong(value, format!("`{key}` is a string"))),
        }
    }

    fn switch(
        &mut self,
        table: &DeTable<'_>,
        place: &Spanned<DeValue<'_>>,
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
        self.builder.switch(line, name, ports).map(|_| ())
    }

    fn cable(
        &mut self,
        table: &DeTable<'_>,
        place: &Spanned<DeValue<'_>>,
    ) -> Result<(), ReadError> {
        let (from, to) = (self.string(table, place, "from")?, self.string(table, place, "to")?);
        let line = self.line(place.span().start);
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
                let what = format!("`{word}` is no host and no SWITCH/PORT");
                Err(ReadError::new(line, what))
            }
        }
    }
}

/// Reads a fabric that [`write`] wrote, or a person.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    if text.len() > MOST_BYTES {
        let what = format!("a fabric as TOML takes at most {} MiB", MOST_BYTES >> 20);
        return Err(ReadError::new(0, what));
    }
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
    let mut source = Source { lines, builder: Builder::default(), text };
    let document = DeTable::parse(source.text).map_err(|error| {
        let line = source.line(error.span().map_or(0, |span| span.start));
        ReadError::new(line, error.message().to_string())
    })?;
    let document = document.get_ref();
    for (key, value) in document {
        if !matches!(&**key.get_ref(), "switch" | "host" | "cable") {
            let what = format!("`{}` is none of switch, host and cable", key.get_ref());
            return Err(source.wrong(value, what));
        }
    }
    for kind in ["switch", "host", "cable"] {
        let Some(value) = document.get(kind) else { continue };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(source.wrong(value, format!("one is written [[{kind}]]")));
        };
        for item in items {
            let DeValue::Table(table) = item.get_ref() else {
                return Err(source.wrong(item, format!("one is written [[{kind}]]")));
            };
            match kind {
                "switch" => source.switch(table, item)?,
                "host" => {
                    let name = source.string(table, item, "name")?;
                    let line = source.line(item.span().start);
                    source.builder.host(line, name)?;
                }
                _ => source.cable(table, item)?,
            }
        }
    }
    Ok(source.builder.finish())
}
