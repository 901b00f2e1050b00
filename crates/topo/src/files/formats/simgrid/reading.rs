//! Reads the cables of a platform: one that we wrote, or one whose routes give them.
//!
//! SimGrid knows ways and not cables. Our platforms say of every link what it joins; of another's
//! link we know it where a route has no other link than this. Routers are switches.

use std::collections::BTreeMap;

use super::super::sketch::{Kind, Sketch, Tip};
use super::super::xml::{Element, elements, parse};
use super::super::{Discovered, ReadError, port};
use super::{FROM, PORTS, TO};

/// Links of a platform at most.
const MOST_LINKS: usize = 1 << 22;

#[derive(Default)]
struct Link<'t> {
    line: usize,
    is_duplex: bool,
    /// What our own platforms say.
    from: Option<&'t str>,
    to: Option<&'t str>,
    /// What a route of this link alone says: the parts, in the order of its line, and whether
    /// the link was seen to lead from the first to the second and back.
    ends: Option<(usize, [usize; 2])>,
    leads: [bool; 2],
    /// Where it is on a way with others; and whether it leads from a host to itself.
    shared_at: Option<usize>,
    is_loop: bool,
}

#[derive(Default)]
struct Source<'t> {
    sketch: Sketch,
    links: Vec<Link<'t>>,
    names: BTreeMap<&'t str, usize>,
    /// The ports of switches in our platforms, and where.
    ports: Vec<(usize, &'t str, &'t str)>,
    has_zone: bool,
}

/// Reads the cables of a platform.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let document = parse(text)?;
    let mut source = Source::default();
    for element in elements(&document) {
        source.take(&element?)?;
    }
    source.finish()
}

fn is_yes(element: &Element, name: &str) -> bool {
    element.get(name).is_none_or(|value| value.eq_ignore_ascii_case("yes"))
}

impl<'t> Source<'t> {
    fn take(&mut self, element: &Element<'t>) -> Result<(), ReadError> {
        let (line, parent) = (element.line, element.parent());
        match (element.name(), parent) {
            ("platform", None) | ("config", Some("platform")) => Ok(()),
            ("zone" | "AS", Some("platform")) if !self.has_zone => {
                self.has_zone = true;
                Ok(())
            }
            ("host", Some("zone" | "AS")) => self.part(element, Kind::Host),
            ("router", Some("zone" | "AS")) => self.part(element, Kind::Switch),
            ("link", Some("zone" | "AS")) => self.link(element),
            ("route", Some("zone" | "AS")) => self.route(element),
            // They were taken with their route.
            ("link_ctn", Some("route")) => Ok(()),
            ("prop", _) => self.property(element, parent.unwrap_or("")),
            // What a host has inside is not a cable.
            (_, Some("host" | "disk")) => Ok(()),
            ("zone" | "AS" | "zoneRoute" | "ASroute", _) => {
                let what = "more than one zone: how zones are cabled with each other is not known";
                Err(ReadError::new(line, what))
            }
            ("cluster" | "cabinet" | "peer", _) => {
                let what = format!("a <{}> does not list its cables one by one", element.name());
                Err(ReadError::new(line, what))
            }
            (_, None) => {
                let what = format!("<{}> and not <platform> of SimGrid", element.name());
                Err(ReadError::new(line, what))
            }
            (name, Some(parent)) => {
                Err(ReadError::new(line, format!("a <{name}> in a <{parent}> is not supported")))
            }
        }
    }

    fn part(&mut self, element: &Element, kind: Kind) -> Result<(), ReadError> {
        let name = element.need("id")?;
        match self.sketch.part(element.line, name)? {
            (part, true) => {
                self.sketch.parts[part].kind = Some(kind);
                Ok(())
            }
            _ => Err(ReadError::new(element.line, format!("a second `{name}`"))),
        }
    }

    fn link(&mut self, element: &Element<'t>) -> Result<(), ReadError> {
        let (line, name) = (element.line, element.need("id")?);
        let policy = element.get("sharing_policy").unwrap_or("SHARED");
        let link = Link { line, is_duplex: policy == "SPLITDUPLEX", ..Link::default() };
        if self.links.len() >= MOST_LINKS {
            return Err(ReadError::new(line, format!("more than {MOST_LINKS} links")));
        }
        if self.names.insert(name, self.links.len()).is_some() {
            return Err(ReadError::new(line, format!("a second link `{name}`")));
        }
        self.links.push(link);
        Ok(())
    }

    fn property(&mut self, element: &Element<'t>, parent: &str) -> Result<(), ReadError> {
        let (id, value) = (element.need("id")?, element.need("value")?);
        match (parent, id, self.links.last_mut()) {
            ("link", FROM, Some(link)) => link.from = Some(value),
            ("link", TO, Some(link)) => link.to = Some(value),
            ("zone" | "AS", id, _) => {
                if let Some(switch) = id.strip_prefix(PORTS) {
                    self.ports.push((element.line, switch, value));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A route with all its links, which stand above it.
    fn route(&mut self, element: &Element) -> Result<(), ReadError> {
        let line = element.line;
        let end = |key: &str| {
            let name = element.need(key)?;
            let missing = || ReadError::new(line, format!("unknown host or router `{name}`"));
            self.sketch.find(name).ok_or_else(missing)
        };
        let ends = [end("src")?, end("dst")?];
        let is_symmetrical = is_yes(element, "symmetrical");
        let mut links = Vec::new();
        for step in element.children().filter(|child| child.name() == "link_ctn") {
            let name = step.need("id")?;
            let missing = || {
                ReadError::new(
                    line,
                    format!("unknown link `{name}`: it stands nowhere above this line"),
                )
            };
            links.push(*self.names.get(name).ok_or_else(missing)?);
        }
        if ends[0] == ends[1] {
            links.iter().for_each(|&link| self.links[link].is_loop = true);
            return Ok(());
        }
        let &[link] = &links[..] else {
            for &link in &links {
                self.links[link].shared_at.get_or_insert(line);
            }
            let nothing = || Err(ReadError::new(line, "a route without a link"));
            return if links.is_empty() { nothing() } else { Ok(()) };
        };
        let link = &mut self.links[link];
        let (_, first) = *link.ends.get_or_insert((line, ends));
        let is_back = match ends {
            ends if ends == first => false,
            [from, to] if [to, from] == first => true,
            _ => {
                let what = "this link joins two others already: a cable has only two ends";
                return Err(ReadError::new(line, what));
            }
        };
        link.leads[usize::from(is_back)] = true;
        link.leads[usize::from(!is_back)] |= is_symmetrical || link.is_duplex;
        Ok(())
    }

    /// A host by its name, or a switch with a port: `leaf-0/1`.
    fn tip(&self, line: usize, word: &str) -> Result<Tip, ReadError> {
        let is = |part: &usize, kind| self.sketch.parts[*part].kind == Some(kind);
        if let Some(part) = self.sketch.find(word).filter(|part| is(part, Kind::Host)) {
            return Ok(Tip { part, port: None });
        }
        let place = word.rsplit_once('/').and_then(|(name, at)| {
            let part = self.sketch.find(name).filter(|part| is(part, Kind::Switch));
            part.map(|part| (part, at))
        });
        match place {
            Some((part, at)) => Ok(Tip { part, port: Some(port(line, at)?) }),
            None => {
                Err(ReadError::new(line, format!("`{word}` is neither a host nor SWITCH/PORT")))
            }
        }
    }

    fn finish(mut self) -> Result<Discovered, ReadError> {
        for (line, switch, ports) in &self.ports {
            let part = self.sketch.find(switch);
            let part = part.map(|part| &mut self.sketch.parts[part]);
            match (part, ports.parse()) {
                (Some(part), Ok(ports)) => part.ports = Some(ports),
                _ => {
                    let what = format!("`{ports}` ports of `{switch}`: no number, or no router");
                    return Err(ReadError::new(*line, what));
                }
            }
        }
        for link in std::mem::take(&mut self.links) {
            let (line, tips) = match (link.from, link.to, link.ends) {
                (Some(from), Some(to), _) => {
                    (link.line, [self.tip(link.line, from)?, self.tip(link.line, to)?])
                }
                (None, None, Some((line, _))) if link.leads != [true; 2] => {
                    let what = "this link leads one way alone, and a cable both: a symmetrical \
                                route, or SPLITDUPLEX";
                    return Err(ReadError::new(line, what));
                }
                (None, None, Some((line, ends))) => {
                    (line, ends.map(|part| Tip { part, port: None }))
                }
                (None, None, None) if link.is_loop && link.shared_at.is_none() => continue,
                _ => {
                    let what = "what a link joins cannot be known: no route has it alone, and it \
                                has no properties `from` and `to`";
                    return Err(ReadError::new(link.shared_at.unwrap_or(link.line), what));
                }
            };
            self.sketch.cable(line, tips)?;
        }
        self.sketch.finish()
    }
}
