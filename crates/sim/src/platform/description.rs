//! What a platform says of itself, before anything is checked against anything else.

use super::background::BackgroundGroup;
use super::draw::Spread;
use super::error::{Fault, Place, PlatformError};
use super::event::Event;
use super::fields::Fields;
use super::names;
use super::quantity::{parse_drift, parse_offset};
use super::settings::Settings;
use crate::congestion::Congestion;
use crate::network::HostCost;

/// Names of hosts as they were written, perhaps in the short form, and where. They are written out
/// one at a time when the platform is built: a short file can say more of them than memory holds.
pub(super) type HostNames = (String, Place);

/// Everything said, by files or by a generator.
#[derive(Default)]
pub(super) struct Description {
    pub settings: Settings,
    pub hosts: Vec<HostGroup>,
    pub sites: Vec<Site>,
    pub wan: Option<Wan>,
    pub between: Vec<Between>,
    pub links: Vec<Link>,
    pub routes: Vec<RouteGroup>,
    pub events: Vec<Event>,
    pub background: Vec<BackgroundGroup>,
}

/// A network card, in bytes a second.
#[derive(Clone, Copy)]
pub(super) enum Card {
    Full {
        out: f64,
        into: f64,
    },
    /// Both directions share one rate.
    Half(f64),
}

/// Hosts that are alike.
#[derive(Clone)]
pub(super) struct HostGroup {
    pub place: Place,
    pub names: HostNames,
    pub site: Option<(String, Place)>,
    pub card: Option<Card>,
    /// A second card for other sites; without it the first serves both.
    pub wan_card: Option<Card>,
    pub cost: HostCost,
    pub clock: Clock,
}

/// How far each host's clock is off at the start, in seconds, and what it gains in a second.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub offset: Spread,
    pub drift: Spread,
}

/// What one connection may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limit {
    pub rate: Option<f64>,
    /// Bytes under way before the first acknowledgement is back.
    pub window: Option<u64>,
}

impl Limit {
    /// Bytes a second over a way of this latency in seconds; infinite without a limit.
    pub fn most(&self, latency: f64) -> f64 {
        // A window over no time at all limits nothing: the quotient is infinite, as it should be.
        let window = self.window.map_or(f64::INFINITY, |bytes| bytes as f64 / (2.0 * latency));
        self.rate.unwrap_or(f64::INFINITY).min(window)
    }

    pub fn or(self, other: Limit) -> Limit {
        Limit { rate: self.rate.or(other.rate), window: self.window.or(other.window) }
    }
}

/// What a rate loses when many connections share it, and where that was said.
pub(super) type Pressed = (Congestion, Place);

pub(super) fn congestion(fields: &mut Fields) -> Result<Option<Pressed>, PlatformError> {
    let curve = fields.read("congestion", Congestion::parse)?;
    Ok(curve.map(|curve| (curve, fields.place_of("congestion").clone())))
}

/// Hosts behind one switch.
pub(super) struct Site {
    pub place: Place,
    pub name: String,
    pub latency: f64,
    /// What the switch carries altogether; without it, whatever the cards send.
    pub rate: Option<f64>,
    pub limit: Limit,
    pub uplink_out: Option<f64>,
    pub uplink_in: Option<f64>,
    /// Of each uplink.
    pub congestion: Option<Pressed>,
}

/// What is between any two sites, unless the two say otherwise.
pub(super) struct Wan {
    pub place: Place,
    pub latency: Option<f64>,
    pub rate: Option<f64>,
    /// All messages between sites together.
    pub aggregate: Option<f64>,
    /// Of what two sites have between them.
    pub congestion: Option<Pressed>,
    pub limit: Limit,
}

/// What is between two given sites.
pub(super) struct Between {
    pub place: Place,
    pub sites: [(String, Place); 2],
    pub latency: Option<f64>,
    /// From the first site to the second.
    pub rate_there: Option<f64>,
    pub rate_back: Option<f64>,
    pub congestion: Option<Pressed>,
    pub limit: Limit,
}

/// A link of an arbitrary graph.
pub(super) struct Link {
    pub place: Place,
    pub name: String,
    pub rate: f64,
    pub latency: f64,
    pub shared: bool,
    /// Whether each direction has the rate for itself.
    pub duplex: bool,
    pub congestion: Option<Pressed>,
}

/// One way for each pair of hosts of two groups.
pub(super) struct RouteGroup {
    pub place: Place,
    pub from: HostNames,
    pub to: HostNames,
    pub links: Vec<(String, Place)>,
    /// Seconds beyond those of the links, in each direction.
    pub latency: f64,
    pub both_ways: bool,
    pub limit: Limit,
}

/// The name of the table at hand.
fn name(fields: &mut Fields) -> Result<String, PlatformError> {
    let (name, place) = fields.needed_text("name")?;
    names::check(&name).map_err(|reason| place.refuse(Fault::Name, reason))?;
    Ok(name)
}

/// Names of two sites.
pub(super) fn two_sites(fields: &mut Fields) -> Result<[(String, Place); 2], PlatformError> {
    let sites = fields.list("sites")?.ok_or_else(|| fields.missing("sites"))?;
    <[(String, Place); 2]>::try_from(sites)
        .map_err(|_| fields.place_of("sites").refuse(Fault::Value, "sites are two names"))
}

pub(super) fn limit(fields: &mut Fields) -> Result<Limit, PlatformError> {
    let rate = fields.rate("connection")?;
    let window = fields.size("window")?;
    if window == Some(0) {
        let reason = "window: nothing passes through a window of 0";
        return Err(fields.place_of("window").refuse(Fault::Value, reason));
    }
    Ok(Limit { rate, window })
}

/// The keys of the network cards: the first card, which has a usual rate if any, and the one for
/// other sites.
pub(super) fn cards(
    fields: &mut Fields,
    usual: Option<f64>,
) -> Result<(Option<Card>, Option<Card>), PlatformError> {
    let half = !full_duplex(fields)?.unwrap_or(true);
    let usual = usual.map(|rate| match half {
        true => Card::Half(rate),
        false => Card::Full { out: rate, into: rate },
    });
    let first = card(fields, ["rate", "rate-in", "rate-out"], half)?.or(usual);
    let wan = card(fields, ["wan-rate", "wan-rate-in", "wan-rate-out"], half)?;
    Ok((first, wan))
}

fn full_duplex(fields: &mut Fields) -> Result<Option<bool>, PlatformError> {
    fields.choice("duplex", [("full", true), ("half", false)])
}

fn card(
    fields: &mut Fields,
    [both, into, out]: [&'static str; 3],
    half: bool,
) -> Result<Option<Card>, PlatformError> {
    let rates = (fields.rate(both)?, fields.rate(into)?, fields.rate(out)?);
    match rates {
        (None, None, None) => Ok(None),
        (Some(rate), None, None) if half => Ok(Some(Card::Half(rate))),
        _ if half => {
            let reason = format!("a half-duplex card has one `{both}`, not `{into}` and `{out}`");
            Err(fields.place.refuse(Fault::Value, reason))
        }
        (rate, in_rate, out_rate) => {
            let into = in_rate.or(rate).ok_or_else(|| fields.missing(into))?;
            let out = out_rate.or(rate).ok_or_else(|| fields.missing(out))?;
            Ok(Some(Card::Full { out, into }))
        }
    }
}

/// What a host adds to a message; what is not given is as in `usual`.
pub(super) fn cost(fields: &mut Fields, usual: HostCost) -> Result<HostCost, PlatformError> {
    let both = fields.time("per-byte")?;
    let mut per_byte = |name: &'static str, usual: f64| -> Result<f64, PlatformError> {
        Ok(fields.time(name)?.or(both).unwrap_or(usual))
    };
    Ok(HostCost {
        per_byte_sent: per_byte("per-byte-sent", usual.per_byte_sent)?,
        per_byte_received: per_byte("per-byte-received", usual.per_byte_received)?,
        per_send: fields.time("send")?.unwrap_or(usual.per_send),
        per_recv: fields.time("receive")?.unwrap_or(usual.per_recv),
    })
}

/// A host's clock; what is not given is exact.
pub(super) fn clock(fields: &mut Fields) -> Result<Clock, PlatformError> {
    Ok(Clock {
        offset: fields.read("clock-offset", parse_offset)?.unwrap_or(Spread::Same(0.0)),
        drift: fields.read("clock-drift", parse_drift)?.unwrap_or(Spread::Same(0.0)),
    })
}

impl HostGroup {
    pub fn read(fields: &mut Fields) -> Result<HostGroup, PlatformError> {
        let names = fields.needed_text("name")?;
        let site = fields.text("site")?;
        let (card, wan_card) = cards(fields, None)?;
        let cost = cost(fields, HostCost::default())?;
        let clock = clock(fields)?;
        Ok(HostGroup { place: fields.place.clone(), names, site, card, wan_card, cost, clock })
    }
}

impl Site {
    pub fn read(fields: &mut Fields) -> Result<Site, PlatformError> {
        let uplink = fields.rate("uplink")?;
        Ok(Site {
            place: fields.place.clone(),
            name: name(fields)?,
            latency: fields.time("latency")?.unwrap_or(0.0),
            rate: fields.rate("rate")?,
            limit: limit(fields)?,
            uplink_out: fields.rate("uplink-out")?.or(uplink),
            uplink_in: fields.rate("uplink-in")?.or(uplink),
            congestion: congestion(fields)?,
        })
    }
}

impl Wan {
    pub fn read(fields: &mut Fields) -> Result<Wan, PlatformError> {
        Ok(Wan {
            place: fields.place.clone(),
            latency: fields.time("latency")?,
            rate: fields.rate("rate")?,
            aggregate: fields.rate("aggregate")?,
            congestion: congestion(fields)?,
            limit: limit(fields)?,
        })
    }
}

impl Between {
    pub fn read(fields: &mut Fields) -> Result<Between, PlatformError> {
        let rate = fields.rate("rate")?;
        Ok(Between {
            place: fields.place.clone(),
            sites: two_sites(fields)?,
            latency: fields.time("latency")?,
            rate_there: fields.rate("rate-there")?.or(rate),
            rate_back: fields.rate("rate-back")?.or(rate),
            congestion: congestion(fields)?,
            limit: limit(fields)?,
        })
    }

    /// The rate from a site to the other one.
    pub fn rate_from(&self, site: &str) -> Option<f64> {
        if self.sites[0].0 == site { self.rate_there } else { self.rate_back }
    }
}

impl Link {
    pub fn read(fields: &mut Fields) -> Result<Link, PlatformError> {
        Ok(Link {
            place: fields.place.clone(),
            name: name(fields)?,
            rate: fields.rate("rate")?.ok_or_else(|| fields.missing("rate"))?,
            latency: fields.time("latency")?.unwrap_or(0.0),
            shared: fields.flag("shared")?.unwrap_or(true),
            duplex: full_duplex(fields)?.unwrap_or(false),
            congestion: congestion(fields)?,
        })
    }
}

impl RouteGroup {
    pub fn read(fields: &mut Fields) -> Result<RouteGroup, PlatformError> {
        Ok(RouteGroup {
            place: fields.place.clone(),
            from: fields.needed_text("from")?,
            to: fields.needed_text("to")?,
            links: fields.list("links")?.ok_or_else(|| fields.missing("links"))?,
            latency: fields.time("latency")?.unwrap_or(0.0),
            both_ways: fields.flag("both-ways")?.unwrap_or(true),
            limit: limit(fields)?,
        })
    }
}
