//! Parts and cables as graphs give them: ports, and even what is a host, may be left open.

use std::collections::BTreeMap;

use super::{Builder, Discovered, MOST_HOSTS, MOST_SWITCHES, ReadError};
use crate::wiring::{End, MOST_PORTS, NO_PORT, Port};

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Switch,
    Host,
}

#[derive(Default)]
pub struct Part {
    line: usize,
    name: String,
    /// What the file says that it is; else the number of its cables decides.
    pub kind: Option<Kind>,
    /// The ports that the file says it has; else those that its cables need.
    pub ports: Option<u32>,
    cables: u32,
    /// Ports with a cable, a bit for each.
    used: [u64; 4],
}

/// One end of a cable: a part, and its port if one is given.
#[derive(Clone, Copy)]
pub struct Tip {
    pub part: usize,
    /// [`NO_PORT`] if what is given is not a port.
    pub port: Option<Port>,
}

/// A fabric in the making.
#[derive(Default)]
pub struct Sketch {
    pub parts: Vec<Part>,
    names: BTreeMap<String, usize>,
    cables: Vec<(usize, [Tip; 2])>,
}

impl Part {
    fn kind(&self) -> Result<Kind, ReadError> {
        match (self.kind, self.cables) {
            (Some(Kind::Host), _) if self.ports.is_some() => {
                let what = format!("`{}` is a host, and a host has no `ports`", self.name);
                Err(ReadError::new(self.line, what))
            }
            (Some(kind), _) => Ok(kind),
            (None, _) if self.ports.is_some() => Ok(Kind::Switch),
            (None, 0) => {
                let what = format!("`{}` has no cable and no `kind`: host, or switch?", self.name);
                Err(ReadError::new(self.line, what))
            }
            (None, 1) => Ok(Kind::Host),
            (None, _) => Ok(Kind::Switch),
        }
    }

    fn take(&mut self, port: Port) {
        self.used[usize::from(port / 64)] |= 1 << (port % 64);
    }

    /// The smallest port without a cable.
    fn free(&self) -> Port {
        let word = self.used.iter().position(|&word| word != u64::MAX);
        // A part has at most 254 cables, so that one of 256 bits is left.
        word.map_or(NO_PORT, |at| (at as u32 * 64 + self.used[at].trailing_ones()) as Port)
    }

    /// One more than the largest port with a cable.
    fn need(&self) -> u32 {
        let last = self.used.iter().rposition(|&word| word != 0);
        last.map_or(0, |at| at as u32 * 64 + 64 - self.used[at].leading_zeros())
    }
}

impl Sketch {
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The part of this name, and whether it is new.
    pub fn part(&mut self, line: usize, name: &str) -> Result<(usize, bool), ReadError> {
        if let Some(&part) = self.names.get(name) {
            return Ok((part, false));
        }
        if self.parts.len() >= MOST_SWITCHES + MOST_HOSTS {
            return Err(ReadError::new(line, "too many switches and hosts"));
        }
        let part = self.parts.len();
        self.parts.push(Part { line, name: name.to_string(), ..Part::default() });
        self.names.insert(name.to_string(), part);
        Ok((part, true))
    }

    pub fn cable(&mut self, line: usize, tips: [Tip; 2]) -> Result<(), ReadError> {
        for tip in tips {
            let part = &mut self.parts[tip.part];
            part.cables += 1;
            // Here already, because a few sets of parts stand for very many cables.
            if part.cables > MOST_PORTS {
                let what = format!("`{}` has more than {MOST_PORTS} cables", part.name);
                return Err(ReadError::new(line, what));
            }
            if let Some(port) = tip.port.filter(|&port| port != NO_PORT) {
                part.take(port);
            }
        }
        self.cables.push((line, tips));
        Ok(())
    }

    /// Ports that are given come first; every other end of a cable takes the smallest port that is
    /// free, in the order of the file.
    pub fn finish(mut self) -> Result<Discovered, ReadError> {
        let kinds: Vec<Kind> = self.parts.iter().map(Part::kind).collect::<Result<_, _>>()?;
        for (line, tips) in &mut self.cables {
            for tip in tips.iter_mut().filter(|tip| kinds[tip.part] == Kind::Switch) {
                let part = &mut self.parts[tip.part];
                let port = tip.port.unwrap_or(part.free());
                if u32::from(port) >= MOST_PORTS {
                    let what = format!("a port of `{}` is none from 1 to {MOST_PORTS}", part.name);
                    return Err(ReadError::new(*line, what));
                }
                part.take(port);
                tip.port = Some(port);
            }
        }
        let mut builder = Builder::default();
        let mut numbers = Vec::new();
        for (part, kind) in self.parts.iter().zip(&kinds) {
            numbers.push(match kind {
                Kind::Host => builder.host(part.line, &part.name)?,
                Kind::Switch => {
                    let ports = part.ports.unwrap_or(part.need());
                    builder.switch(part.line, &part.name, ports)?
                }
            });
        }
        for (line, tips) in self.cables {
            let end = |tip: Tip| match kinds[tip.part] {
                Kind::Host => End::Host(numbers[tip.part]),
                Kind::Switch => End::Switch(numbers[tip.part], tip.port.unwrap_or(NO_PORT)),
            };
            match (end(tips[0]), end(tips[1])) {
                (End::Switch(switch, port), other) | (other, End::Switch(switch, port)) => {
                    builder.plug(line, (switch, port), other)?;
                }
                _ => {
                    let [one, other] = tips.map(|tip| &self.parts[tip.part].name);
                    let what = format!("a cable between two hosts, `{one}` and `{other}`");
                    return Err(ReadError::new(line, what));
                }
            }
        }
        Ok(builder.finish())
    }
}
