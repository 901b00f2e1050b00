//! `[[event]]`: from an instant on, something of the platform is slower, faster, dead or back.

use super::build::Builder;
use super::description::{HostNames, two_sites};
use super::error::{Fault, Place, PlatformError};
use super::fields::Fields;
use super::{MOST_CHANGES, Ports};
use crate::network::{Change, ResourceId};

/// A factor is 0, or not further from 1 than this.
const MOST_FACTOR: f64 = 1e6;

/// Bytes a second of a connection without a limit.
const NO_LIMIT: f64 = 1e18;

/// One line of the story.
pub(super) struct Event {
    place: Place,
    at: f64,
    /// When the platform's rate is back.
    until: Option<f64>,
    subject: Subject,
    effect: Effect,
}

/// What changes.
enum Subject {
    /// A link, in both directions; with `:back`, in that one.
    Link(String, Place),
    Hosts {
        names: HostNames,
        card: Option<WhichCard>,
        direction: Option<Direction>,
    },
    /// The uplinks of a site.
    Site(String, Place),
    /// What is between two sites.
    Between([(String, Place); 2]),
    /// What all messages between sites share.
    Wan,
}

/// The card for the host's own site, or the second one for others.
#[derive(Clone, Copy, PartialEq)]
enum WhichCard {
    Lan,
    Wan,
}

#[derive(Clone, Copy)]
enum Direction {
    Out,
    In,
}

/// The new rate.
#[derive(Clone, Copy)]
enum Effect {
    /// Bytes a second.
    Rate(f64),
    /// Of what the platform says.
    Factor(f64),
    /// Bytes a second of each connection.
    Connection(f64),
}

impl Event {
    pub fn read(fields: &mut Fields) -> Result<Event, PlatformError> {
        let at = fields.time("at")?.ok_or_else(|| fields.missing("at"))?;
        let until = fields.until(at)?;
        let subject = Subject::read(fields)?;
        let effect = Effect::read(fields)?;
        Ok(Event { place: fields.place.clone(), at, until, subject, effect })
    }
}

impl Subject {
    fn read(fields: &mut Fields) -> Result<Subject, PlatformError> {
        let key = fields.one_of(["link", "host", "site", "sites", "wan"])?;
        if key != "host" {
            fields.belong_to("host", ["card", "direction"])?;
        }
        Ok(match key {
            "link" => {
                let (name, place) = fields.needed_text("link")?;
                Subject::Link(name, place)
            }
            "host" => Subject::Hosts {
                names: fields.needed_text("host")?,
                card: fields.choice("card", [("lan", WhichCard::Lan), ("wan", WhichCard::Wan)])?,
                direction: fields
                    .choice("direction", [("out", Direction::Out), ("in", Direction::In)])?,
            },
            "site" => {
                let (name, place) = fields.needed_text("site")?;
                Subject::Site(name, place)
            }
            "sites" => Subject::Between(two_sites(fields)?),
            _ => {
                fields.mark("wan")?;
                Subject::Wan
            }
        })
    }
}

impl Effect {
    fn read(fields: &mut Fields) -> Result<Effect, PlatformError> {
        let key = fields.one_of(["rate", "down", "up", "factor", "connection"])?;
        let effect = match key {
            "connection" => fields.rate(key)?.map(Effect::Connection),
            "rate" => fields.rate(key)?.map(Effect::Rate),
            "factor" => fields.read(key, factor)?.map(Effect::Factor),
            _ => {
                fields.mark(key)?;
                Some(if key == "down" { Effect::Rate(0.0) } else { Effect::Factor(1.0) })
            }
        };
        effect.ok_or_else(|| fields.missing(key))
    }

    fn rate(self, usual: f64) -> f64 {
        match self {
            Effect::Rate(rate) | Effect::Connection(rate) => rate,
            Effect::Factor(factor) => factor * usual,
        }
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor == 0.0 || (1.0 / MOST_FACTOR..=MOST_FACTOR).contains(&factor) => {
            Ok(factor)
        }
        _ => Err(format!("`{text}` is neither 0 nor from 0.000001 to 1000000")),
    }
}

impl Builder {
    /// The changes of all events, in the order of time.
    pub fn events(&mut self, events: &[Event]) -> Result<(), PlatformError> {
        let mut changes = Vec::new();
        for event in events {
            let touched = match event.effect {
                Effect::Connection(_) => self.connections_of(event)?,
                _ => self.touched(event)?,
            };
            for resource in touched {
                let usual = self.platform.resources[resource as usize].rate;
                changes.push(Change { at: event.at, resource, rate: event.effect.rate(usual) });
                changes.extend(event.until.map(|at| Change { at, resource, rate: usual }));
            }
            if changes.len() > MOST_CHANGES {
                let reason = format!("events change more than {MOST_CHANGES} rates altogether");
                return Err(event.place.refuse(Fault::Size, reason));
            }
        }
        // Stable: what happens at one instant happens in the order of the file.
        changes.sort_by(|a, b| a.at.total_cmp(&b.at));
        self.platform.changes = changes;
        Ok(())
    }

    /// The limits of connections between two sites, one for each direction.
    fn connections_of(&mut self, event: &Event) -> Result<Vec<ResourceId>, PlatformError> {
        let Subject::Between([(a, at_a), (b, at_b)]) = &event.subject else {
            let reason = "`connection` changes what each connection has between two `sites`";
            return Err(event.place.refuse(Fault::Word, reason));
        };
        let (from, to) = (self.site_id(a, at_a)?, self.site_id(b, at_b)?);
        let mut touched = Vec::new();
        for pair in [(from, to), (to, from)] {
            touched.push(self.limit_of_connections(pair, event)?);
            let at = pair.0 as usize * self.platform.site_names.len() + pair.1 as usize;
            if let Some(way) = &mut self.platform.between[at] {
                way.most = way.most.max(event.effect.rate(0.0));
            }
        }
        Ok(touched)
    }

    /// The limit of each connection from one site to another as a resource that nobody shares.
    fn limit_of_connections(
        &mut self,
        (from, to): (u32, u32),
        event: &Event,
    ) -> Result<ResourceId, PlatformError> {
        if let Some(known) = self.limits.get(&(from, to)) {
            return Ok(*known);
        }
        let (names, sites) = (&self.platform.site_names, self.platform.site_names.len());
        let name = format!("{}:to:{}:connection", names[from as usize], names[to as usize]);
        let at = from as usize * sites + to as usize;
        let Some(most) = self.platform.between[at].as_ref().map(|way| way.most) else {
            let reason = "nothing is between these two sites";
            return Err(event.place.refuse(Fault::Name, reason));
        };
        let limit = self.resource(name, most.min(NO_LIMIT), false);
        self.limits.insert((from, to), limit);
        if let Some(way) = &mut self.platform.between[at] {
            way.links.push(limit);
        }
        Ok(limit)
    }

    /// What an event changes, each once.
    fn touched(&self, event: &Event) -> Result<Vec<ResourceId>, PlatformError> {
        let place = &event.place;
        match &event.subject {
            Subject::Link(word, place) => {
                let (link, backwards) = self.link(word, place)?;
                let there = (!backwards).then_some(link.there);
                Ok(there.into_iter().chain(link.back).collect())
            }
            Subject::Hosts { names, card, direction } => {
                self.cards_of_hosts(names, *card, *direction)
            }
            Subject::Site(name, place) => {
                let Ports { out, into } = self.uplinks[self.site_id(name, place)? as usize];
                at_least_one([out, into], place, || format!("{name} has no uplink"))
            }
            Subject::Between([(a, at_a), (b, at_b)]) => {
                let (from, to) = (self.site_id(a, at_a)?, self.site_id(b, at_b)?);
                let own = |pair| self.between_sites.get(&pair).copied();
                let reason = || format!("there is no rate of their own between {a} and {b}");
                at_least_one([own((from, to)), own((to, from))], at_a, reason)
            }
            Subject::Wan => at_least_one([self.aggregate, None], place, || {
                "[wan] has no `aggregate`".to_string()
            }),
        }
    }

    fn cards_of_hosts(
        &self,
        names: &HostNames,
        card: Option<WhichCard>,
        direction: Option<Direction>,
    ) -> Result<Vec<ResourceId>, PlatformError> {
        let place = &names.1;
        let mut touched = Vec::new();
        for id in self.host_ids(names)? {
            let host = &self.platform.hosts[id as usize];
            let name = &self.platform.host_names[id as usize];
            let two = host.wan.out != host.lan.out;
            if card == Some(WhichCard::Wan) && !two {
                let reason = format!("{name} has no second card: its first serves other sites too");
                return Err(place.refuse(Fault::Name, reason));
            }
            let cards = match card {
                Some(WhichCard::Lan) => vec![host.lan],
                Some(WhichCard::Wan) => vec![host.wan],
                None if two => vec![host.lan, host.wan],
                None => vec![host.lan],
            };
            for Ports { out, into } in cards {
                if direction.is_some() && out == into && out.is_some() {
                    let reason = format!("{name} has one rate for both directions: duplex is half");
                    return Err(place.refuse(Fault::Name, reason));
                }
                let ways = match direction {
                    None => [out, into.filter(|_| out != into)],
                    Some(Direction::Out) => [out, None],
                    Some(Direction::In) => [None, into],
                };
                touched.extend(at_least_one(ways, place, || {
                    format!("{name} has no card with a rate")
                })?);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        Ok(touched)
    }
}

/// Those that are there; a refusal where none is.
fn at_least_one(
    resources: [Option<ResourceId>; 2],
    place: &Place,
    reason: impl Fn() -> String,
) -> Result<Vec<ResourceId>, PlatformError> {
    let there: Vec<ResourceId> = resources.into_iter().flatten().collect();
    if there.is_empty() {
        return Err(place.refuse(Fault::Name, reason()));
    }
    Ok(there)
}
