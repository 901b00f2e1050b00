//! What holds for a whole platform: the keys at the top of a file, and words of every generator.

use laneway_core::schedule::CHANNELS;
use laneway_core::units::parse_size;

use super::error::{Fault, Place, PlatformError};
use super::fields::Fields;
use crate::network::{Fairness, Overflow};

/// Where a platform says nothing: the threshold of most MPIs over TCP.
const EAGER_BYTES: u64 = 64 << 10;
/// Where a platform says nothing: the least that Linux waits before TCP sends once more.
const RETRANSMIT: f64 = 0.2;
/// A longer header than this is a mistake.
const MOST_HEADER_BYTES: u64 = 1 << 20;

/// The number of channels of a schedule; more connections than channels are idle.
const MOST_CONNECTIONS: u64 = CHANNELS as u64;

/// What a measured platform may say that it was not looked for.
const NOT_LOOKED_FOR: [&str; 4] = ["congestion", "connections", "costs", "sharing"];

/// What was said, and where.
#[derive(Default)]
pub(super) struct Settings {
    eager: Option<u64>,
    header: Option<u64>,
    seed: Option<u64>,
    in_order: Option<(bool, Place)>,
    connections: Option<(u32, Place)>,
    fairness: Option<Fairness>,
    /// `none` is said too: it stands over a buffer that an included platform has.
    receive_buffer: Option<Option<u64>>,
    retransmit: Option<(f64, Place)>,
    loss: Option<(f64, Place)>,
    not_looked_for: Option<Vec<String>>,
}

/// What holds when everything was said.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub eager_bytes: u64,
    pub header_bytes: u64,
    pub seed: u64,
    pub in_order: bool,
    pub connections: u32,
    pub fairness: Fairness,
    pub overflow: Option<Overflow>,
    pub not_looked_for: Vec<String>,
}

impl Settings {
    pub fn read(fields: &mut Fields) -> Result<Settings, PlatformError> {
        let in_order = fields.flag("in-order")?;
        let connections = fields.read("connections", connections)?;
        let retransmit = fields.positive_time("retransmit")?;
        let loss = fields.read("loss", loss)?;
        Ok(Settings {
            eager: fields.size("eager")?,
            header: fields.read("header", header)?,
            seed: fields.seed()?,
            in_order: in_order.map(|flag| (flag, fields.place_of("in-order").clone())),
            connections: connections.map(|count| (count, fields.place_of("connections").clone())),
            fairness: fields.read("sharing", sharing)?,
            receive_buffer: fields.read("receive-buffer", receive_buffer)?,
            retransmit: retransmit.map(|time| (time, fields.place_of("retransmit").clone())),
            loss: loss.map(|part| (part, fields.place_of("loss").clone())),
            not_looked_for: not_looked_for(fields)?,
        })
    }

    /// What a generator draws.
    pub fn drawn(seed: u64, eager: u64, header: u64) -> Settings {
        let (seed, eager, header) = (Some(seed), Some(eager), Some(header));
        Settings { seed, eager, header, ..Settings::default() }
    }

    /// Messages over TCP, to receivers with this buffer in bytes.
    pub fn tcp(receive_buffer: u64, place: &Place) -> Settings {
        Settings {
            in_order: Some((true, place.clone())),
            receive_buffer: Some(Some(receive_buffer)),
            ..Settings::default()
        }
    }

    /// These, and the others where these say nothing.
    pub fn over(self, others: Settings) -> Settings {
        Settings {
            eager: self.eager.or(others.eager),
            header: self.header.or(others.header),
            seed: self.seed.or(others.seed),
            in_order: self.in_order.or(others.in_order),
            connections: self.connections.or(others.connections),
            fairness: self.fairness.or(others.fairness),
            receive_buffer: self.receive_buffer.or(others.receive_buffer),
            retransmit: self.retransmit.or(others.retransmit),
            loss: self.loss.or(others.loss),
            not_looked_for: self.not_looked_for.or(others.not_looked_for),
        }
    }

    pub fn settle(&self) -> Result<Settled, PlatformError> {
        let buffer = self.receive_buffer.flatten();
        for (key, said) in [("retransmit", &self.retransmit), ("loss", &self.loss)] {
            if let (Some((_, place)), None) = (said, buffer) {
                let reason =
                    format!("`{key}` is for what `receive-buffer` cannot hold, and there is none");
                return Err(place.refuse(Fault::Word, reason));
            }
        }
        if let (Some((false, place)), Some(_)) = (&self.in_order, buffer) {
            let reason = "with a `receive-buffer` messages go in order; it can be `none`";
            return Err(place.refuse(Fault::Value, reason));
        }
        if let (Some((false, _)), Some((2.., place))) = (&self.in_order, &self.connections) {
            let reason = "`connections` is for messages in order; others flow beside each other";
            return Err(place.refuse(Fault::Value, reason));
        }
        let retransmit = self.retransmit.as_ref().map_or(RETRANSMIT, |(time, _)| *time);
        let part = self.loss.as_ref().map_or(1.0, |(part, _)| *part);
        let seed = self.seed.unwrap_or(1);
        Ok(Settled {
            eager_bytes: self.eager.unwrap_or(EAGER_BYTES),
            header_bytes: self.header.unwrap_or(0),
            seed,
            in_order: self.in_order.as_ref().is_none_or(|(flag, _)| *flag),
            connections: self.connections.as_ref().map_or(1, |(count, _)| *count),
            fairness: self.fairness.unwrap_or_default(),
            overflow: buffer.map(|buffer| Overflow { buffer, retransmit, part, seed }),
            not_looked_for: self.not_looked_for.clone().unwrap_or_default(),
        })
    }
}

fn not_looked_for(fields: &mut Fields) -> Result<Option<Vec<String>>, PlatformError> {
    let Some(list) = fields.list("not-looked-for")? else { return Ok(None) };
    let known = |(word, place): (String, Place)| match NOT_LOOKED_FOR.contains(&word.as_str()) {
        true => Ok(word),
        false => {
            let reason = format!("`{word}`: it has {}", NOT_LOOKED_FOR.join(", "));
            Err(place.refuse(Fault::Value, reason))
        }
    };
    list.into_iter().map(known).collect::<Result<_, _>>().map(Some)
}

fn header(text: &str) -> Result<u64, String> {
    match parse_size(text)? {
        bytes if bytes > MOST_HEADER_BYTES => Err(format!("`{text}`: no header is above 1M")),
        bytes => Ok(bytes),
    }
}

fn connections(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count @ 1..=MOST_CONNECTIONS) => Ok(count as u32),
        _ => Err(format!("`{text}`: two hosts have 1 to {MOST_CONNECTIONS} connections")),
    }
}

fn sharing(text: &str) -> Result<Fairness, String> {
    match text {
        "equal" => Ok(Fairness::Equal),
        "by-latency" => Ok(Fairness::ByLatency),
        _ => Err(format!("`{text}`: flows share a full link `equal` or `by-latency`")),
    }
}

fn loss(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part: &f64| (0.0..=1.0).contains(part));
    part.ok_or_else(|| format!("`{text}`: a part from 0 to 1"))
}

fn receive_buffer(text: &str) -> Result<Option<u64>, String> {
    match text {
        "none" => Ok(None),
        _ => match parse_size(text)? {
            0 => Err(format!("`{text}`: a buffer must be above 0, or `none`")),
            bytes => Ok(Some(bytes)),
        },
    }
}
