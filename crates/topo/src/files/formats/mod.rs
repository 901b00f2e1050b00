//! Files of fabric software, one file a format; what is read is recognised by its content.
//!
//! Nothing here trusts a file: its size is bounded before it is read, counts are bounded while it
//! is, and whatever is wrong is an error with the number of its line.

pub mod cables;
mod cursor;
pub mod dot;
pub mod guid2lid;
pub mod identity;
pub mod lft;
pub mod netlist;
pub mod pairs;
pub mod simgrid;
mod sketch;
pub mod slurm;
pub mod toml;
mod xml;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::wiring::fabric::{Fabric, Impossible};
use crate::wiring::{End, Wiring};
pub use identity::{Id, Identity};

/// The largest file in bytes: a table for 6,156 hosts with names takes half of it.
pub const MOST_BYTES: u64 = 512 << 20;

/// The largest number of switches in a file.
pub const MOST_SWITCHES: usize = 1 << 16;
/// The largest number of hosts in a file.
pub const MOST_HOSTS: usize = 1 << 20;

/// Bytes of a name at most.
const MOST_NAME: usize = 255;

/// Letters of an error at most: a line of a hostile file has millions.
const LONGEST_MESSAGE: usize = 240;

/// A parse error in a file; lines count from 1, and 0 is the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The line of the error.
    pub line: usize,
    /// The description of the error.
    pub what: String,
    /// The kind of error.
    pub fault: ReadFault,
}

/// The kind of an error in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadFault {
    /// The file itself cannot be read, so that nothing is known of its content.
    Unreadable,
    /// The content is not what was expected.
    Malformed,
    /// The file names hosts by addresses alone, and the fabric has none.
    NoAddresses,
}

impl ReadError {
    /// Whatever it quotes of the file is cut and made harmless here, for every format.
    pub fn new(line: usize, what: impl Into<String>) -> ReadError {
        ReadError { line, what: shorten(&what.into()), fault: ReadFault::Malformed }
    }
}

/// A text that a person can read: its beginning and its end where it is long, since quotes stand in
/// the middle; and no control characters, which a terminal would obey.
fn shorten(text: &str) -> String {
    let harmless = |letter: char| match letter.is_control() && letter != '\n' {
        true => char::REPLACEMENT_CHARACTER,
        false => letter,
    };
    let shown = |part: &str| part.chars().map(harmless).collect::<String>();
    let end = LONGEST_MESSAGE / 4;
    let cut = |at: usize| text.char_indices().nth(at).map(|(at, _)| at);
    let (Some(first), true) = (cut(LONGEST_MESSAGE - end), cut(LONGEST_MESSAGE).is_some()) else {
        return shown(text);
    };
    // There are more letters than that before the last ones.
    let last = text.char_indices().rev().nth(end - 1).map_or(text.len(), |(at, _)| at);
    format!("{} … {}", shown(&text[..first]), shown(&text[last..]))
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for ReadError {}

/// A fabric as read from a file: cables, and the identities of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discovered {
    /// The cables.
    pub fabric: Fabric,
    /// The identities of its parts.
    pub identity: Identity,
}

impl Discovered {
    /// A fabric whose parts have the names and numbers that they are planned with.
    pub fn planned(fabric: Fabric) -> Discovered {
        let identity = Identity::planned(&fabric);
        Discovered { fabric, identity }
    }
}

/// A fabric in any of the formats that say what is plugged into what.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let found = recognised(text)?;
    match found.fabric.switches() {
        0 => Err(ReadError::new(text.lines().count().max(1), "there is no switch in it")),
        _ => Ok(found),
    }
}

/// Whether a line is blank or a comment.
fn is_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn recognised(text: &str) -> Result<Discovered, ReadError> {
    let first = text.lines().find(|line| !is_nothing(line)).map_or("", str::trim);
    if first.starts_with(cables::HEADER) {
        return cables::read(text);
    }
    if first.get(..10).is_some_and(|word| word.eq_ignore_ascii_case("SwitchName")) {
        return slurm::read(text);
    }
    if first.starts_with('<') {
        return simgrid::read(text);
    }
    if dot::is_begin(first) {
        return dot::read(text);
    }
    if first.starts_with("[[") || first.contains(" = ") {
        return toml::read(text);
    }
    let is_node = |line: &str| {
        ["Switch", "Ca", "Hca", "Rt"].iter().any(|word| {
            line.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace))
        })
    };
    if is_node(first) || first.split_once('=').is_some_and(|(key, _)| netlist::is_key(key)) {
        return netlist::read(text);
    }
    let what = "this is neither a netlist of ibsim or ibnetdiscover nor TOML, a list of cables, \
                topology.conf, a graph of Graphviz or a platform of SimGrid";
    let line = text.lines().position(|line| line.trim() == first).unwrap_or(0);
    Err(ReadError::new(line + 1, what))
}

/// A file's own name, without the prefix `file:`.
pub fn file_name(word: &Path) -> &Path {
    match word.to_str().and_then(|word| word.strip_prefix("file:")) {
        Some(name) if !word.exists() => Path::new(name),
        _ => word,
    }
}

/// The text of a file, whose name may have `file:` before it; one that is too large is not read to
/// its end. The mark that some programs put before UTF-8 is left out.
pub fn load(path: &Path) -> Result<String, ReadError> {
    let cannot = |error: std::io::Error| ReadError {
        fault: ReadFault::Unreadable,
        ..ReadError::new(0, error.to_string())
    };
    let file = std::fs::File::open(file_name(path)).map_err(cannot)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    let line = |bytes: &[u8]| 1 + bytes.iter().filter(|&&byte| byte == b'\n').count();
    if bytes.len() as u64 > MOST_BYTES {
        let what = format!("the file is longer than {} MiB", MOST_BYTES >> 20);
        return Err(ReadError::new(line(&bytes), what));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        ReadError::new(line(good), "this is not text")
    })
}

/// Refuses a host that has the name of a port with a cable, for formats that say `SWITCH/PORT`.
fn ensure_unique_names(wiring: &dyn Wiring) -> Result<(), String> {
    let hosts = (0..wiring.hosts()).map(|host| wiring.host_name(host));
    let hosts: BTreeSet<String> = hosts.filter(|name| name.contains('/')).collect();
    for switch in (0..wiring.switches()).filter(|_| !hosts.is_empty()) {
        for port in 0..wiring.ports(switch) as u8 {
            let name = wiring.port_name(switch, port);
            if wiring.end(switch, port) != End::Nothing && hosts.contains(&name) {
                let (port, switch) = (u32::from(port) + 1, wiring.switch_name(switch));
                return Err(format!("`{name}` is a host, and port {port} of switch `{switch}`"));
            }
        }
    }
    Ok(())
}

/// Builds a fabric from what a file says, and remembers names.
#[derive(Default)]
struct Builder {
    fabric: Fabric,
    names: BTreeMap<String, Node>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Switch(u32),
    Host(u32),
}

impl Builder {
    fn switch(&mut self, line: usize, name: &str, ports: u32) -> Result<u32, ReadError> {
        if self.fabric.switches() as usize >= MOST_SWITCHES {
            return Err(ReadError::new(line, format!("more than {MOST_SWITCHES} switches")));
        }
        let refused = |Impossible(what)| ReadError::new(line, what);
        let switch = self.fabric.add_switch(name, ports).map_err(refused)?;
        self.name(line, name, Node::Switch(switch))?;
        Ok(switch)
    }

    fn host(&mut self, line: usize, name: &str) -> Result<u32, ReadError> {
        if self.fabric.hosts() as usize >= MOST_HOSTS {
            return Err(ReadError::new(line, format!("more than {MOST_HOSTS} hosts")));
        }
        let host = self.fabric.add_host(name);
        self.name(line, name, Node::Host(host))?;
        Ok(host)
    }

    fn name(&mut self, line: usize, name: &str, node: Node) -> Result<(), ReadError> {
        // Every format can write what is left.
        if name.is_empty() || name.len() > MOST_NAME {
            return Err(ReadError::new(line, format!("a name has 1 to {MOST_NAME} letters")));
        }
        if name.contains(|letter: char| letter == '"' || letter.is_control()) {
            return Err(ReadError::new(line, "a name has no quotes and no control characters"));
        }
        match self.names.insert(name.to_string(), node) {
            None => Ok(()),
            Some(_) => Err(ReadError::new(line, format!("a second `{name}`"))),
        }
    }

    fn plug(&mut self, line: usize, place: (u32, u8), end: End) -> Result<(), ReadError> {
        self.fabric.plug(place, end).map_err(|Impossible(what)| ReadError::new(line, what))
    }

    fn finish(self) -> Discovered {
        let identity = Identity::planned(&self.fabric);
        Discovered { fabric: self.fabric, identity }
    }
}

/// A port as files count it, from 1.
fn port(line: usize, text: &str) -> Result<u8, ReadError> {
    match text.trim().parse::<u16>() {
        Ok(port @ 1..=254) => Ok((port - 1) as u8),
        _ => Err(ReadError::new(line, format!("`{}` is not a port from 1 to 254", text.trim()))),
    }
}
