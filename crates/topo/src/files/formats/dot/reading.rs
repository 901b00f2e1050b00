//! Reads a graph that we wrote, or a person.
//!
//! A part with `kind=host` is a host, one with `kind=switch` or `ports=36` a switch; of the others
//! those with one cable are hosts. `taillabel` and `headlabel`, or `name:3`, are a cable's ports.

use std::collections::BTreeSet;

use super::super::sketch::{Kind, Sketch, Tip};
use super::super::{Discovered, ReadError, port};
use super::lexer::{Lexer, Token};
use crate::wiring::{NO_PORT, Port};

/// Graphs within graphs at most.
const MOST_DEPTH: usize = 32;

/// What attributes say about a part or a cable.
#[derive(Clone, Copy, Default)]
struct Attributes {
    kind: Option<Kind>,
    ports: Option<u32>,
    tail: Option<Port>,
    head: Option<Port>,
}

/// What `node [...]` and `edge [...]` have said, until their graph ends.
#[derive(Clone, Copy, Default)]
struct Usual {
    node: Attributes,
    edge: Attributes,
}

/// An operand of `--`: parts, and the port of one.
struct Operand {
    parts: Vec<usize>,
    port: Option<Port>,
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The word that is looked at, and its line.
    line: usize,
    token: Token,
    sketch: Sketch,
    /// In a strict graph, which has no second cable between two parts.
    strict: Option<Peers>,
}

/// What each part has a cable to. A part has few, so that marking them all for a set on the other
/// side of `--` takes little, however often the same sets come.
#[derive(Default)]
struct Peers {
    all: Vec<Vec<usize>>,
    /// The turn that each part was last marked in.
    marks: Vec<u64>,
    turn: u64,
}

impl Peers {
    /// Marks the peers of a part, among `parts` parts.
    fn begin(&mut self, part: usize, parts: usize) {
        self.all.resize_with(parts.max(self.all.len()), Vec::new);
        self.marks.resize(self.all.len(), 0);
        self.turn += 1;
        for &peer in &self.all[part] {
            self.marks[peer] = self.turn;
        }
    }

    /// Whether the part that was begun with has no cable to another yet; now it has.
    fn join(&mut self, part: usize, other: usize) -> bool {
        let is_new = self.marks[other] != self.turn;
        if is_new {
            self.marks[other] = self.turn;
            self.all[part].push(other);
            if part != other {
                self.all[other].push(part);
            }
        }
        is_new
    }
}

/// Reads the cables of a graph.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let mut lexer = Lexer::new(text);
    let (line, token) = lexer.next()?;
    let mut parser = Parser { lexer, line, token, sketch: Sketch::default(), strict: None };
    parser.graph()?;
    parser.sketch.finish()
}

impl Parser<'_> {
    fn wrong<T>(&self, what: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::new(self.line, what))
    }

    fn advance(&mut self) -> Result<Token, ReadError> {
        let (line, token) = self.lexer.next()?;
        self.line = line;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(own) if own == sign)
    }

    /// Whether the word is this sign; then it is passed.
    fn pass(&mut self, sign: &str) -> Result<bool, ReadError> {
        let is = self.is(sign);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn expect(&mut self, sign: &str) -> Result<(), ReadError> {
        match self.pass(sign)? {
            true => Ok(()),
            false => self.wrong(format!("expected `{sign}`, found {}", self.found())),
        }
    }

    fn found(&self) -> String {
        match &self.token {
            Token::Id(text) => format!("`{text}`"),
            Token::Keyword(word) => format!("the word `{word}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the file".to_string(),
        }
    }

    fn id(&mut self) -> Result<String, ReadError> {
        match &self.token {
            Token::Id(_) => match self.advance()? {
                Token::Id(text) => Ok(text),
                _ => Ok(String::new()),
            },
            _ => self.wrong(format!("expected a name, found {}", self.found())),
        }
    }

    fn graph(&mut self) -> Result<(), ReadError> {
        if self.token == Token::Keyword("strict") {
            self.strict = Some(Peers::default());
            self.advance()?;
        }
        match self.token {
            Token::Keyword("graph") => self.advance()?,
            Token::Keyword("digraph") => {
                return self.wrong("a cable leads both ways: write `graph` and `--`");
            }
            _ => return self.wrong(format!("expected `graph`, found {}", self.found())),
        };
        if let Token::Id(_) = self.token {
            self.advance()?;
        }
        self.expect("{")?;
        self.statements(Usual::default(), 0)?;
        match self.token {
            Token::End => Ok(()),
            _ => self.wrong("a fabric is one graph, and this follows it"),
        }
    }

    /// What is between `{` and `}`; the parts that it names.
    fn statements(&mut self, mut usual: Usual, depth: usize) -> Result<BTreeSet<usize>, ReadError> {
        if depth > MOST_DEPTH {
            return self.wrong(format!("more than {MOST_DEPTH} graphs within each other"));
        }
        let mut all = BTreeSet::new();
        while !self.pass("}")? {
            match self.token {
                Token::Sign(";") => {
                    self.advance()?;
                }
                Token::Keyword(word @ ("graph" | "node" | "edge")) => {
                    self.advance()?;
                    let own = match word {
                        "node" => &mut usual.node,
                        "edge" => &mut usual.edge,
                        _ => &mut Attributes::default(),
                    };
                    *own = self.attributes(*own)?;
                }
                _ => self.statement(&usual, depth, &mut all)?,
            }
        }
        Ok(all)
    }

    /// A part, a chain of cables, a graph within, or `key = value`, which says nothing to us.
    fn statement(
        &mut self,
        usual: &Usual,
        depth: usize,
        all: &mut BTreeSet<usize>,
    ) -> Result<(), ReadError> {
        let line = self.line;
        let Some(first) = self.operand(usual, depth)? else { return Ok(()) };
        all.extend(&first.parts);
        let mut chain = vec![first];
        while self.is("--") || self.is("->") {
            if self.is("->") {
                return self.wrong("a cable leads both ways: write `--`");
            }
            self.advance()?;
            let Some(next) = self.operand(usual, depth)? else {
                return self.wrong("an equals sign between cables");
            };
            all.extend(&next.parts);
            chain.push(next);
        }
        if let [one] = &chain[..] {
            let given = self.attributes(Attributes::default())?;
            for &part in &one.parts {
                let part = &mut self.sketch.parts[part];
                part.kind = given.kind.or(part.kind);
                part.ports = given.ports.or(part.ports);
            }
            return Ok(());
        }
        let given = self.attributes(usual.edge)?;
        for pair in chain.windows(2) {
            for &tail in &pair[0].parts {
                if let Some(peers) = &mut self.strict {
                    peers.begin(tail, self.sketch.parts.len());
                }
                for &head in &pair[1].parts {
                    if self.strict.as_mut().is_some_and(|peers| !peers.join(tail, head)) {
                        continue;
                    }
                    let tail = Tip { part: tail, port: pair[0].port.or(given.tail) };
                    let head = Tip { part: head, port: pair[1].port.or(given.head) };
                    self.sketch.cable(line, [tail, head])?;
                }
            }
        }
        Ok(())
    }

    /// One side of a cable; `None` if it is an assignment.
    fn operand(&mut self, usual: &Usual, depth: usize) -> Result<Option<Operand>, ReadError> {
        let line = self.line;
        let is_named = self.token == Token::Keyword("subgraph");
        if is_named {
            self.advance()?;
            if let Token::Id(_) = self.token {
                self.advance()?;
            }
        }
        if is_named || self.is("{") {
            self.expect("{")?;
            let parts = self.statements(*usual, depth + 1)?;
            return Ok(Some(Operand { parts: parts.into_iter().collect(), port: None }));
        }
        let name = self.id()?;
        if self.pass("=")? {
            self.id()?;
            return Ok(None);
        }
        let (part, is_new) = self.sketch.part(line, &name)?;
        if is_new {
            let Attributes { kind, ports, .. } = usual.node;
            let own = &mut self.sketch.parts[part];
            (own.kind, own.ports) = (kind, ports);
        }
        let mut given = None;
        while self.pass(":")? {
            let line = self.line;
            let word = self.id()?;
            // A side of the box in the picture is not a port.
            if !["n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_"].contains(&word.as_str()) {
                given = Some(port(line, &word)?);
            }
        }
        Ok(Some(Operand { parts: vec![part], port: given }))
    }

    /// Lists of attributes, if there are any, on top of the earlier ones.
    fn attributes(&mut self, mut given: Attributes) -> Result<Attributes, ReadError> {
        while self.pass("[")? {
            while !self.pass("]")? {
                let key = self.id()?;
                self.expect("=")?;
                let line = self.line;
                let value = self.id()?;
                match key.as_str() {
                    "kind" => given.kind = Some(kind(line, &value)?),
                    "ports" => given.ports = Some(count(line, &value)?),
                    "taillabel" => given.tail = label(line, &value),
                    "headlabel" => given.head = label(line, &value),
                    _ => {}
                }
                if !self.pass(",")? {
                    self.pass(";")?;
                }
            }
        }
        Ok(given)
    }
}

fn kind(line: usize, value: &str) -> Result<Kind, ReadError> {
    match value {
        "host" => Ok(Kind::Host),
        "switch" => Ok(Kind::Switch),
        _ => Err(ReadError::new(line, format!("`kind` is host or switch, and not `{value}`"))),
    }
}

fn count(line: usize, value: &str) -> Result<u32, ReadError> {
    let wrong = |_| ReadError::new(line, format!("`{value}` is not a number of ports"));
    value.parse().map_err(wrong)
}

/// The port of a label; one at a host may say what it likes.
fn label(line: usize, value: &str) -> Option<Port> {
    match value.trim() {
        "" => None,
        value => Some(port(line, value).unwrap_or(NO_PORT)),
    }
}
