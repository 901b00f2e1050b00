//! `[[background]]`: what others send, between any two hosts of two groups.

use laneway_core::units::parse_size;

use super::MOST_SOURCES;
use super::build::Builder;
use super::description::HostNames;
use super::error::{Fault, Place, PlatformError};
use super::fields::Fields;
use crate::network::{Background, Traffic};

/// A larger message than this is a mistake: a pebibyte.
const MOST_BYTES: u64 = 1 << 50;

/// One source of traffic for each pair of hosts of two groups.
pub(super) struct BackgroundGroup {
    place: Place,
    from: HostNames,
    to: HostNames,
    /// Messages at random have any seed here; each source gets its own.
    traffic: Traffic,
    start: f64,
    until: f64,
}

impl BackgroundGroup {
    pub fn read(fields: &mut Fields) -> Result<BackgroundGroup, PlatformError> {
        let from = fields.needed_text("from")?;
        let to = fields.needed_text("to")?;
        let traffic = match fields.one_of(["rate", "size"])? {
            "rate" => {
                fields.belong_to("size", ["every", "random"])?;
                let rate = fields.rate("rate")?.ok_or_else(|| fields.missing("rate"))?;
                Traffic::Steady { rate }
            }
            _ => Traffic::Messages {
                bytes: fields.read("size", size)?.ok_or_else(|| fields.missing("size"))?,
                every: fields.positive_time("every")?.ok_or_else(|| fields.missing("every"))?,
                seed: fields.flag("random")?.unwrap_or(false).then_some(0),
            },
        };
        let start = fields.time("at")?.unwrap_or(0.0);
        let until = fields.until(start)?.unwrap_or(f64::INFINITY);
        Ok(BackgroundGroup { place: fields.place.clone(), from, to, traffic, start, until })
    }
}

impl BackgroundGroup {
    /// Traffic that a generator draws, from the beginning and for ever.
    pub fn always(
        place: &Place,
        from: HostNames,
        to: HostNames,
        traffic: Traffic,
    ) -> BackgroundGroup {
        let (start, until) = (0.0, f64::INFINITY);
        BackgroundGroup { place: place.clone(), from, to, traffic, start, until }
    }
}

fn size(text: &str) -> Result<u64, String> {
    match parse_size(text)? {
        0 => Err(format!("`{text}`: a message of others must be above 0")),
        bytes if bytes > MOST_BYTES => Err(format!("`{text}`: no message is above 1024T")),
        bytes => Ok(bytes),
    }
}

impl Builder {
    pub fn background(&mut self, group: &BackgroundGroup) -> Result<(), PlatformError> {
        let before = self.platform.background.len();
        let [from, to] = [&group.from, &group.to].map(|names| {
            let mut hosts = self.host_ids(names)?;
            // A host that a pattern names twice sends no more than the others.
            hosts.sort_unstable();
            hosts.dedup();
            Ok(hosts)
        });
        let (from, to) = (from?, to?);
        let pairs = from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b)));
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            if self.platform.background.len() >= MOST_SOURCES {
                let reason = format!("more than {MOST_SOURCES} pairs of hosts have background");
                return Err(group.place.refuse(Fault::Size, reason));
            }
            let (mut traffic, gaps) = (group.traffic, self.draws.gaps());
            if let Traffic::Messages { seed: Some(own), .. } = &mut traffic {
                *own = gaps;
            }
            let (start, until) = (group.start, group.until);
            self.platform.background.push(Background { from, to, traffic, start, until });
        }
        if self.platform.background.len() == before {
            let reason = "background traffic from a host to itself";
            return Err(group.place.refuse(Fault::Way, reason));
        }
        Ok(())
    }
}
